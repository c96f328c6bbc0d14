//! Scenes that the tests share, and the models they are read into.
#![allow(dead_code)]

pub mod soft;

use std::sync::Arc;

use sapwood_sim::{Options, Simulation};

/// A simulation of MJCF text.
pub fn simulation(mjcf: &str, options: Options) -> Simulation {
    let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options).unwrap()
}

/// The simulation as it is, and one whose contact problems are all solved by the global solver.
pub fn both_ways(of: impl Fn() -> Simulation) -> [Simulation; 2] {
    let mut global = of();
    global.solve_globally();
    [of(), global]
}

/// The greatest difference between the velocities of two simulations of one model.
pub fn difference(a: &Simulation, b: &Simulation) -> f64 {
    a.state().v.iter().zip(&b.state().v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Gravity, m/s².
pub const G: f64 = 9.81;

/// A block of 0.2 × 0.2 × 0.1 m on a plane, gravity at `angle` from the plane's normal towards x.
pub fn block(mu: f64, angle: f64, options: Options) -> Simulation {
    let (s, c) = angle.sin_cos();
    let mjcf = format!(
        r#"<mujoco><option gravity="{} 0 {}"/><worldbody><geom type="plane" size="9 9 1" friction="{mu}"/>
        <body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="{mu}"/></body>
        </worldbody></mujoco>"#,
        G * s,
        -G * c
    );
    simulation(&mjcf, options)
}

/// Two rods of 1 m and 1 kg.
pub const DOUBLE_PENDULUM: &str = r#"<mujoco><worldbody>
    <body><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -1" mass="1"/>
    <body pos="0 0 -1"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -1" mass="1"/></body></body>
    </worldbody></mujoco>"#;

/// A free body whose principal moments differ, its centre of mass at its origin.
pub const TUMBLING: &str = r#"<mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/>
    <inertial pos="0 0 0" mass="1" diaginertia=".15 .2 .3"/></body></worldbody></mujoco>"#;

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

/// A tower at (x, y), the text of its bodies.
pub fn tower_at(x: f64, y: f64) -> String {
    let text = tower().replace("pos=\"0 0", &format!("pos=\"{x} {y}"));
    text[text.find("<body").unwrap()..text.rfind("</worldbody>").unwrap()].to_owned()
}

/// Towers side by side.
pub fn towers(count: u8) -> String {
    let towers: String = (0..count).map(|k| tower_at(f64::from(k), 0.0)).collect();
    format!(r#"<mujoco><worldbody><geom type="plane" size="9 9 .1"/>{towers}</worldbody></mujoco>"#)
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

/// Every kind of constraint at once, in several islands: contacts with spinning and rolling friction, a belt, joint limits,
/// all equalities, dry friction, a tendon with all that it may have, and drives at their limits.
pub const EVERYTHING: &str = r#"
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom type="box" size="5 5 .1" pos="0 0 -.1" condim="6" friction=".8 .005 .001"/>
    <body name="ball" pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" condim="6" friction=".8 .005 .001"/></body>
    <body name="disc" pos="1 0 .06" euler="3 0 0"><freejoint/><geom type="cylinder" size=".1 .05" condim="4"/></body>
    <body name="crank" pos="0 2 1"><joint name="crank" axis="0 1 0" frictionloss=".01"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" contype="0" conaffinity="0"/>
      <body name="coupler" pos="0 0 -.3"><joint axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" contype="0" conaffinity="0"/></body></body>
    <body name="rocker" pos=".4 2 1"><joint axis="0 1 0" range="-30 30"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" contype="0" conaffinity="0"/></body>
    <body name="left" pos="2 0 .4"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body name="right" pos="2.2 0 .4"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body name="pivot" pos="3 0 2"><joint type="ball" frictionloss=".02" range="0 40"/>
      <geom name="pivot" type="sphere" size=".05" pos="0 .2 0" contype="0" conaffinity="0"/></body>
    <body name="bob" pos="3 .6 2"><freejoint/>
      <geom name="bob" type="sphere" size=".05" contype="0" conaffinity="0"/></body>
    <body name="arm" pos="0 -2 1"><joint name="shoulder" axis="0 1 0" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body pos=".3 0 0"><joint name="elbow" axis="0 1 0" frictionloss=".1"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body></body>
    <body name="wheel" pos="0 -3 1"><joint name="wheel" axis="0 1 0"/><geom type="cylinder" size=".2 .02"/></body>
    <body name="gear" pos="1 -3 1"><joint name="gear" axis="0 1 0"/><geom type="cylinder" size=".1 .02"/></body>
    <body name="third" pos="2 -3 1"><joint name="third" axis="0 1 0"/><geom type="cylinder" size=".1 .02"/></body>
  </worldbody>
  <tendon>
    <fixed name="cable" range="-.5 .3" limited="true" stiffness="5" springlength="-.1 .1" damping=".1" frictionloss=".05"
      armature=".02"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-.5"/></fixed>
    <fixed name="belt"><joint joint="gear" coef=".1"/></fixed>
    <fixed name="chain"><joint joint="third" coef=".1"/></fixed>
  </tendon>
  <equality>
    <connect body1="coupler" body2="rocker" anchor=".4 0 0"/>
    <weld body1="left" body2="right"/>
    <distance geom1="pivot" geom2="bob" distance=".3"/>
    <joint joint1="gear" joint2="wheel" polycoef="0 -2 .1 0 0"/>
    <tendon tendon1="chain" tendon2="belt"/>
  </equality>
  <actuator>
    <position joint="shoulder" kp="1e5" kv="1e3" forcelimited="true" forcerange="-8 8"/>
    <position tendon="cable" kp="1e4" kv="100" forcelimited="true" forcerange="-3 3"/>
    <motor tendon="cable" gear="2" forcelimited="true" forcerange="-1 1"/>
    <motor joint="crank"/>
    <motor joint="wheel"/>
  </actuator>
</mujoco>"#;

/// The simulation of [`EVERYTHING`], its drives and its belt in motion; a controller holds the crank weakly.
pub fn everything(options: Options) -> Simulation {
    let mut s = simulation(EVERYTHING, options);
    set_going(&mut s);
    s
}

/// Sets what a reset forgets.
pub fn set_going(s: &mut Simulation) {
    let model = s.model().clone();
    let (nv, geoms) = (model.nv(), s.scene().geoms.len());
    let state = s.state_mut();
    state.ctrl.copy_from_slice(&[0.8, 0.5, 3.0, 0.3, 0.05]);
    state.surface_velocity = vec![0.0; 3 * geoms];
    state.surface_velocity[0] = 0.3;
    let crank = model.joints[model.joint("crank").unwrap()].v;
    let elbow = model.joints[model.joint("elbow").unwrap()].v;
    let (mut kp, mut kd) = (vec![0.0; nv], vec![0.0; nv]);
    (kp[crank], kd[crank], kp[elbow], kd[elbow]) = (5.0, 1.0, 1e3, 1e2);
    let effort_limit = vec![1.0; nv];
    state.pd = sapwood_sim::Pd { kp, kd, target: model.q0.clone(), target_velocity: vec![0.0; nv], effort_limit };
    // A ball that spins and rolls.
    state.v[..6].copy_from_slice(&[0.5, 0.0, 0.0, 0.0, 5.0, 3.0]);
}

/// Trunks with four limbs of three links each, above the ground in a row: ball joints and hinges with limits.
pub fn crawlers(count: usize) -> String {
    let mut limbs = String::new();
    for (x, y) in [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)] {
        limbs += &format!(
            r#"<body pos="{x} {y} 0"><joint type="ball" damping=".3"/><geom type="capsule" fromto="0 0 0 {x} 0 -.1" size=".03"/>
            <body pos="{x} 0 -.1"><joint axis="0 1 0" range="-30 20" damping=".1"/>
            <geom type="capsule" fromto="0 0 0 0 {y} -.2" size=".03"/>
            <body pos="0 {y} -.2"><joint type="ball" damping=".1"/><geom type="sphere" pos="0 0 -.05" size=".04"/>
            </body></body></body>"#
        );
    }
    let bodies: String = (0..count)
        .map(|k| {
            format!(r#"<body pos="{} 0 .42"><freejoint/><geom type="box" size=".25 .1 .05"/>{limbs}</body>"#, 2 * k)
        })
        .collect();
    format!(
        r#"<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="50 50 .1"/>{bodies}</worldbody></mujoco>"#
    )
}

/// Balls that fall into a narrow box, nine in a layer, hit each other and roll.
pub fn balls_in_a_box(count: usize) -> String {
    let wall = |(x, y, sx, sy): (f64, f64, f64, f64)| {
        format!(r#"<geom type="box" pos="{x} {y} .4" size="{sx} {sy} .4" friction=".5"/>"#)
    };
    let walls: String =
        [(0.25, 0.0, 0.05, 0.3), (-0.25, 0.0, 0.05, 0.3), (0.0, 0.25, 0.3, 0.05), (0.0, -0.25, 0.3, 0.05)]
            .map(wall)
            .concat();
    let balls: String = (0..count)
        .map(|i| {
            let at = |k: usize| 0.13 * (k % 3) as f64 - 0.13 + 0.005 * (7 * i % 5) as f64 - 0.01;
            let (x, y, z) = (at(i), at(i / 3), 0.12 + 0.13 * (i / 9) as f64);
            format!(r#"<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size=".05" friction=".5"/></body>"#)
        })
        .collect();
    format!(r#"<mujoco><worldbody><geom type="plane" size="5 5 .1"/>{walls}{balls}</worldbody></mujoco>"#)
}

/// Largest difference of velocities, and of what contacts do, in 300 steps made from the same states in the lane and for all models; and in
/// how many steps there was any.
pub fn beside(text: &str, options: &Options, mut prepare: impl FnMut(&mut Simulation, u64)) -> (f64, usize) {
    let loaded = formats::load_str(text, None, &formats::LoadOptions::default()).unwrap();
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let mut lane = Simulation::new(model.clone(), scene.clone(), options.clone()).unwrap();
    let mut all = Simulation::without_lane(model, scene, options.clone()).unwrap();
    let (mut worst, mut in_lane) = (0.0_f64, 0);
    let largest = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    for step in 0..300 {
        prepare(&mut lane, step);
        all.state_mut().clone_from(lane.state());
        lane.step().unwrap();
        all.step().unwrap();
        let (a, b) = (lane.state(), all.state());
        in_lane += usize::from(a.v != b.v);
        assert_eq!((&a.mocap_from, a.time), (&b.mocap_from, b.time));
        worst = worst.max(largest(&a.v, &b.v));
        let (touching, expected) = (lane.contacts(), all.contacts());
        assert_eq!(touching.len(), expected.len(), "{step}");
        for (a, b) in touching.iter().zip(expected) {
            assert_eq!(a.geoms, b.geoms, "{step}");
            worst = worst.max(largest(&a.position.to_array(), &b.position.to_array())).max((a.gap - b.gap).abs());
            if a.impulse[2] > 0.0 && b.impulse[2] > 0.0 {
                worst = worst.max(largest(&a.velocity, &b.velocity)).max(largest(&a.impulse, &b.impulse));
            }
        }
    }
    (worst, in_lane)
}
