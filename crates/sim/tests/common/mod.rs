//! Scenes that the tests share, and the models they are read into.
#![allow(dead_code)]

use std::sync::Arc;

use sim::{Options, Simulation};

/// A simulation of MJCF text.
pub fn simulation(mjcf: &str, options: Options) -> Simulation {
    let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options).unwrap()
}

/// Ten cubes of 0.1 m and 1 kg, one on the other, on the ground.
pub fn tower() -> String {
    let boxes: String = (0..10)
        .map(|i| {
            let z = 0.05 + 0.1 * f64::from(i);
            format!(r#"<body pos="0 0 {z}"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>"#)
        })
        .collect();
    format!(r#"<mujoco><worldbody><geom type="plane" size="5 5 .1"/>{boxes}</worldbody></mujoco>"#)
}

/// A biped of capsules with hinges and balls, above the ground: drops, lies, touches itself.
pub const BIPED: &str = r#"
<mujoco>
  <option timestep="0.005"/>
  <default><joint armature="0.01" damping="0.5"/><geom density="1000" friction=".8"/></default>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="torso" pos="0 0 1.3">
      <freejoint/>
      <geom type="capsule" fromto="0 -.1 0 0 .1 0" size=".09"/>
      <body name="arm" pos="0 .2 .05">
        <joint type="ball" range="0 120"/>
        <geom type="capsule" fromto="0 0 0 0 .3 0" size=".04"/>
      </body>
      <body name="right thigh" pos="0 -.1 -.15">
        <joint axis="1 0 0" range="-25 5"/><joint axis="0 1 0" range="-110 20"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.35" size=".06"/>
        <body name="right shin" pos="0 0 -.4">
          <joint axis="0 1 0" range="0 160"/>
          <geom type="capsule" fromto="0 0 0 0 0 -.35" size=".05"/>
        </body>
      </body>
      <body name="left thigh" pos="0 .1 -.15">
        <joint axis="1 0 0" range="-5 25"/><joint axis="0 1 0" range="-110 20"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.35" size=".06"/>
        <body name="left shin" pos="0 0 -.4">
          <joint axis="0 1 0" range="0 160"/>
          <geom type="capsule" fromto="0 0 0 0 0 -.35" size=".05"/>
        </body>
      </body>
    </body>
    <body name="box" pos=".1 .05 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body name="ball" pos="1 1 .3"><freejoint/><geom type="sphere" size=".1"/></body>
  </worldbody>
</mujoco>"#;

/// Takes `n` steps.
pub fn run(simulation: &mut Simulation, n: usize) {
    for _ in 0..n {
        simulation.step().unwrap();
    }
}

/// By how much the present configuration misses the equality constraints: the largest of their rows, m or rad.
pub fn violation(simulation: &Simulation) -> f64 {
    let model = simulation.model();
    let mut kin = multibody::Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), &simulation.state().q, &mut kin);
    let mut residuals = Vec::new();
    multibody::equality_residuals(model, &kin, &simulation.state().q, &mut residuals);
    residuals.iter().fold(0.0, |worst, x| worst.max(x.abs()))
}

/// The period of a plane pendulum of small-angle rate `omega` and amplitude `angle`: 2π/(ω agm(1, cos(angle/2))).
pub fn pendulum_period(omega: f64, angle: f64) -> f64 {
    let (mut a, mut b) = (1.0, (0.5 * angle).cos());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    std::f64::consts::TAU / (omega * a)
}

/// The mean period of an oscillation about 0 over some time: `x` reads it after every step.
pub fn measured_period(simulation: &mut Simulation, time: f64, x: impl Fn(&Simulation) -> f64) -> f64 {
    let dt = simulation.timestep();
    let (mut first, mut last, mut crossings) = (f64::NAN, f64::NAN, 0);
    let mut before = x(simulation);
    for k in 0..(time / dt) as usize {
        simulation.step().unwrap();
        let now = x(simulation);
        if before > 0.0 && now <= 0.0 {
            last = (k as f64 + before / (before - now)) * dt;
            first = if crossings == 0 { last } else { first };
            crossings += 1;
        }
        before = now;
    }
    assert!(crossings > 2, "{crossings} periods");
    (last - first) / f64::from(crossings - 1)
}
