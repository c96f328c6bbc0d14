//! Forces of a step by origin add up to what the motion shows, and queries of the present state agree with each other.

use crate::common::{self, run, simulation};
use multibody::{CrbaWorkspace, Kinematics, RneaWorkspace, forward_kinematics, mass_matrix, rnea, velocities};
use sapwood_sim::{Frame, Options, Pd, Scheme, Simulation, StepForces};

/// Everything that pushes: contact, limits, a loop, dry friction, springs, dampers, gravity compensation, tendons with springs, inertia and
/// actuators, motors, servos at their limits and not, several on one joint, along the axes of a ball.
const EVERYTHING: &str = r#"<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.3"><freejoint/><geom type="capsule" size=".05" fromto="0 0 0 .4 0 0" mass="2"/>
      <body pos=".4 0 0"><joint name="a" axis="0 1 0" damping=".3" stiffness="4" springref="20" frictionloss=".2"/>
        <geom type="capsule" size=".04" fromto="0 0 0 .3 0 0" mass="1"/>
        <body pos=".3 0 0" gravcomp=".7"><joint name="b" axis="0 1 0" range="-20 20" limited="true" armature=".01"/>
          <geom type="capsule" size=".04" fromto="0 0 0 .3 0 0" mass="1"/></body></body>
      <body pos="0 0 0"><joint name="c" axis="0 0 1" actuatorfrcrange="-2 1.5" actuatorfrclimited="true"/>
        <geom type="capsule" size=".04" fromto="0 0 0 0 .3 0" mass=".5"/>
        <body pos="0 .3 0"><joint name="d" type="slide" axis="0 1 0" damping="2"/><geom type="sphere" size=".06" mass=".4"/></body></body>
      <body pos="0 0 0.1"><joint name="e" type="ball" stiffness="1" damping=".05"/>
        <geom type="capsule" size=".03" fromto="0 0 0 0 0 .3" mass=".3"/></body>
    </body>
    <body pos="1 0 1"><joint name="f" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 0 0 -.4" mass="1" contype="0" conaffinity="0"/></body>
    <body pos="1.3 0 1"><joint name="g" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 0 0 -.4" mass="1" contype="0" conaffinity="0"/></body>
    </worldbody>
    <tendon><fixed name="t" stiffness="3" damping=".1" springlength=".1" armature="0"><joint joint="a" coef="1"/><joint joint="d" coef=".5"/></fixed></tendon>
    <equality><joint joint1="f" joint2="g"/></equality>
    <actuator><motor joint="a" gear="3" ctrlrange="-1 1"/><position joint="b" kp="30" kv="1" forcerange="-2 2"/>
      <motor joint="c" gear="5"/><velocity joint="c" kv="3"/><position tendon="t" kp="5" kv=".2" gear="2"/><motor tendon="t"/>
      <motor joint="e" gear="0 .1 .2"/><position joint="f" kp="20" forcerange="-1 1"/></actuator></mujoco>"#;

fn controls(s: &mut Simulation, k: usize) {
    for (i, ctrl) in s.state_mut().ctrl.iter_mut().enumerate() {
        *ctrl = libm::sin(0.7 * i as f64 + 0.05 * k as f64);
    }
}

/// M(q₀) (v − v₀)/dt + c(q₀, v₀) less applied forces, (nv).
fn needed(s: &Simulation, (q0, v0): (&[f64], &[f64]), dt: f64) -> Vec<f64> {
    let (model, n) = (s.model(), s.model().nv());
    let (tree, mut kin) = (&model.tree, Kinematics::new(&model.tree));
    forward_kinematics(tree, tree.all(), q0, &mut kin);
    velocities(tree, tree.all(), v0, &mut kin);
    let (mut m, mut tau) = (vec![0.0; n * n], vec![0.0; n]);
    let mut ws = CrbaWorkspace::default();
    ws.resize(tree);
    mass_matrix(tree, tree.all(), &kin, None, &mut ws, &mut m, n, 0);
    rnea(tree, tree.all(), &kin, v0, None, model.gravity, &mut RneaWorkspace::new(tree), &mut tau);
    for (i, tau) in tau.iter_mut().enumerate() {
        let a = |j: usize| (s.state().v[j] - v0[j]) / dt;
        *tau += model.armature[i] * a(i) - s.state().applied_force[i];
        *tau += (0..n).map(|j| m[i * n + j] * a(j)).sum::<f64>();
    }
    tau
}

fn sum(forces: &StepForces) -> Vec<f64> {
    let StepForces { actuation, pd, passive, constraint, .. } = forces;
    (0..pd.len()).map(|i| actuation[i] + pd[i] + passive[i] + constraint[i]).collect()
}

#[test]
fn forces_by_origin_add_up_to_the_motion() {
    for limit in [f64::INFINITY, 3.0] {
        let options = Options { scheme: Scheme::SymplecticEuler, tolerance: 1e-10, ..Options::default() };
        let mut s = simulation(EVERYTHING, options);
        let n = s.model().nv();
        s.state_mut().pd = Pd {
            kp: (0..n).map(|i| if i % 3 == 0 && i > 5 { 20.0 } else { 0.0 }).collect(),
            kd: vec![0.0; n],
            target: s.model().q0.clone(),
            target_velocity: vec![0.0; n],
            effort_limit: vec![limit; n],
        };
        s.state_mut().applied_force[7] = 0.3;
        let dt = s.timestep();
        let mut greatest = [0.0_f64; 4];
        for k in 0..300 {
            controls(&mut s, k);
            let (q0, v0) = (s.state().q.clone(), s.state().v.clone());
            run(&mut s, 1);
            let needed = needed(&s, (&q0, &v0), dt);
            // Nothing that is done to the state or computed from it afterwards changes what was.
            s.state_mut().ctrl.fill(9.0);
            s.energy();
            s.body_poses(&mut Vec::new());
            if k % 50 == 0 {
                let _ = s.step_jacobians();
            }
            let forces = s.step_forces().clone();
            let scale = needed.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            for (i, (found, needed)) in sum(&forces).iter().zip(&needed).enumerate() {
                assert!((found - needed).abs() < 1e-8 * scale, "step {k}, dof {i}: {found} {needed}");
            }
            let all = [&forces.actuation, &forces.pd, &forces.passive, &forces.constraint];
            for (most, force) in greatest.iter_mut().zip(all) {
                *most = force.iter().fold(*most, |most, x| most.max(x.abs()));
            }
            assert!(forces.actuators[1].abs() <= 2.0 && forces.actuators[7].abs() <= 1.0);
            assert!(forces.actuation[8].abs() <= 2.0 + 1e-9, "{}", forces.actuation[8]);
        }
        assert!(greatest.iter().all(|most| *most > 0.1), "{greatest:?}");
    }
}

/// Those of actuators and constraints are the same whether they are asked for alone, and the others come after them as they would by themselves:
/// of models that are stepped in the lane, too, with gravity compensation and a medium.
#[test]
fn forces_of_actuators_and_constraints_come_first() {
    let in_water = EVERYTHING.replace(r#"timestep="0.004""#, r#"timestep="0.004" density="800""#);
    let in_lane = in_water.replace(r#"<motor joint="e" gear="0 .1 .2"/>"#, r#"<motor joint="d"/>"#);
    for mjcf in [EVERYTHING, &in_water, &in_lane] {
        let [mut first, mut at_once] = [(); 2].map(|()| simulation(mjcf, Options::default()));
        let mut greatest = 0.0_f64;
        for k in 0..150 {
            controls(&mut first, k);
            controls(&mut at_once, k);
            run(&mut first, 1);
            run(&mut at_once, 1);
            let acting = first.acting_forces();
            let acting = [acting.actuators, acting.actuation, acting.constraint].map(<[f64]>::to_vec);
            first.state_mut().ctrl.fill(9.0);
            first.energy();
            let expected = at_once.step_forces();
            assert_eq!(acting, [&expected.actuators[..], &expected.actuation, &expected.constraint], "step {k}");
            assert_eq!(first.step_forces(), expected, "step {k}");
            greatest = expected.passive.iter().fold(greatest, |most, x| most.max(x.abs()));
        }
        assert!(greatest > 0.1, "{greatest}");
    }
}

#[test]
fn what_rests_is_borne_by_constraints() {
    for scheme in [Scheme::Bilinear, Scheme::Midpoint, Scheme::ImplicitEuler, Scheme::SymplecticEuler] {
        let mut s = simulation(&common::towers(2), Options { scheme, ..Options::default() });
        run(&mut s, 500);
        let forces = s.step_forces();
        let weight: f64 = (0..20).map(|body| forces.constraint[6 * body + 2]).sum();
        assert!((weight / (20.0 * common::G) - 1.0).abs() < 1e-6, "{scheme}: {weight}");
        let fallen = forces.actuation.iter().chain(&forces.pd).chain(&forces.passive).all(|x| *x == 0.0);
        assert!(fallen);
    }
}

#[test]
fn acceleration_is_the_rate_of_velocity() {
    let mut s = simulation(EVERYTHING, Options { timestep: Some(1e-5), ..Options::default() });
    for k in 0..2000 {
        controls(&mut s, k);
        run(&mut s, 1);
    }
    for body in 1..s.model().bodies.len() {
        let frame = Frame::Body(body);
        let before = s.observe().velocity(frame);
        run(&mut s, 1);
        let (after, acceleration) = (s.observe().velocity(frame), s.observe().acceleration(frame));
        let found = (after - before) * 1e5;
        let scale = 1.0 + acceleration.lin.norm() + acceleration.ang.norm();
        assert!((found - acceleration).lin.norm() < 3e-3 * scale, "{body}: {found:?} {acceleration:?}");
        assert!((found - acceleration).ang.norm() < 3e-3 * scale, "{body}: {found:?} {acceleration:?}");
    }
}

#[test]
fn what_falls_accelerates_downwards_and_keeps_its_momentum() {
    let mut s = simulation(common::DOUBLE_PENDULUM, Options::default());
    s.state_mut().v.copy_from_slice(&[1.0, -2.0]);
    let n = s.model().nv();
    let (mut of_com, mut of_momentum, mut of_tip) = (vec![0.0; 3 * n], vec![0.0; 6 * n], vec![0.0; 6 * n]);
    for body in 0..3 {
        let mut now = s.observe();
        now.center_of_mass_jacobian(body, &mut of_com);
        now.momentum_jacobian(body, &mut of_momentum);
        let (momentum, mass) = (now.momentum(body), now.subtree_mass(body));
        let point = now.center_of_mass(body);
        now.jacobian(Frame::Body(2), Some(point), &mut of_tip);
        let velocity = now.velocity_at(2, point);
        let times_v = |row: &[f64]| row[0] - 2.0 * row[1];
        let rows = |matrix: &[f64]| matrix.chunks(n).map(times_v).collect::<Vec<f64>>();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
        let lin = momentum.lin.to_array();
        assert!(close(&rows(&of_com), &lin.map(|x| x / mass)));
        assert!(close(&rows(&of_momentum), &[momentum.ang.to_array(), lin].concat()));
        assert!(close(&rows(&of_tip), &[velocity.ang.to_array(), velocity.lin.to_array()].concat()));
    }
    let falling = format!("<mujoco><worldbody>{}</worldbody></mujoco>", common::tower_at(0.0, 3.0));
    let mut s = simulation(&falling, Options::default());
    run(&mut s, 1);
    assert!((s.observe().acceleration(Frame::Body(10)).lin.z + common::G).abs() < 1e-9);
}
