//! Numbers of a model that change while it runs: what is kept of a simulation leads to the bits of a new one.

use std::sync::Arc;

use crate::common::simulation;
use sapwood_sim::{Options, OwnModel, Parameter, Parameters, Pd, Simulation};

/// A body of a mesh with an arm, on the ground.
const ROBOT: &str = r#"<mujoco><compiler autolimits="true"/><option timestep=".004"/>
    <asset><mesh name="tip" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .15  .1 .1 .02"/></asset>
    <worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .2"><freejoint/><geom type="mesh" mesh="tip"/><geom type="box" size=".1 .05 .03" condim="6" friction="1 .02 .01"/>
      <body pos=".1 0 0"><joint name="arm" axis="0 1 0" range="-90 40" stiffness="2" damping=".2"/>
        <geom type="capsule" fromto="0 0 0 .15 0 0" size=".02"/></body></body></worldbody>
    <actuator><position joint="arm" kp="3" kv=".1" forcerange="-2 2"/></actuator></mujoco>"#;

fn changed(s: &Simulation) -> Parameters {
    let (model, scene) = (s.model(), s.scene());
    // They have shapes, places and links of their own tests, or 1.3 times them is none.
    let others = [
        Parameter::GeomSizes,
        Parameter::GeomPositions,
        Parameter::GeomQuaternions,
        Parameter::BodyPositions,
        Parameter::BodyQuaternions,
        Parameter::JointRanges,
        Parameter::JointLocks,
        Parameter::JointAnchors,
        Parameter::ActuatorsEnabled,
        Parameter::Contypes,
        Parameter::Conaffinities,
        Parameter::Condims,
    ];
    let all = Parameter::ALL.into_iter().filter(|parameter| !others.contains(parameter));
    all.map(|parameter| (parameter, parameter.of(model, scene).iter().map(|x| 1.3 * x).collect())).collect()
}

fn control(s: &mut Simulation) {
    let mut pd = Pd { target: s.model().q0.clone(), kp: vec![0.0; 7], kd: vec![0.0; 7], ..Pd::default() };
    (pd.kp[6], pd.kd[6], pd.target_velocity) = (20.0, 1.0, vec![0.0; 7]);
    pd.effort_limit = vec![f64::INFINITY; 7];
    s.state_mut().pd = pd;
}

/// Pairs and points are the same then, of other trees.
#[test]
fn geoms_that_change_bodies_make_the_steps_of_a_new_simulation() {
    let balls = r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/>
        <body pos="0 0 .1"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/><geom size=".1"/></body>
        <body pos="1 0 .1"><freejoint/><inertial pos="0 0 0" mass="5" diaginertia=".1 .1 .1"/><geom size=".1"/></body></worldbody></mujoco>"#;
    let mut s = simulation(balls, Options::default());
    s.state_mut().v[0] = 1.0;
    (0..5).for_each(|_| s.step().unwrap());
    let mut scene = (**s.scene()).clone();
    (scene.geoms[1].body, scene.geoms[2].body) = (scene.geoms[2].body, scene.geoms[1].body);
    let (model, scene) = (s.model().clone(), Arc::new(scene));
    let mut new = Simulation::new(model.clone(), scene.clone(), s.options().clone()).unwrap();
    new.state_mut().clone_from(s.state());
    s.set_model(model, scene).unwrap();
    new.state_mut().wake();
    for _ in 0..20 {
        s.step().unwrap();
        new.step().unwrap();
        assert_eq!((&s.state().q, &s.state().v), (&new.state().q, &new.state().v));
    }
}

#[test]
fn a_simulation_that_goes_on_with_other_numbers_makes_the_steps_of_a_new_one() {
    for (is_controlled, accuracy) in [(false, None), (true, None), (false, Some(1e-4))] {
        let mut s = simulation(ROBOT, Options { accuracy, ..Options::default() });
        if is_controlled {
            control(&mut s);
        }
        (0..80).for_each(|_| s.step().unwrap());
        let (base, base_scene) = (s.model().clone(), s.scene().clone());
        let (model, scene) = changed(&s).apply(&base, &base_scene).unwrap();
        let (model, scene) = (Arc::new(model), Arc::new(scene));
        let mut new = Simulation::new(model.clone(), scene.clone(), s.options().clone()).unwrap();
        new.state_mut().clone_from(s.state());
        s.set_model(model, scene).unwrap();
        for _ in 0..80 {
            s.step().unwrap();
            new.step().unwrap();
            assert_eq!((&s.state().q, &s.state().v), (&new.state().q, &new.state().v));
        }
        // And back.
        let mut new = Simulation::new(base.clone(), base_scene.clone(), s.options().clone()).unwrap();
        new.state_mut().clone_from(s.state());
        s.set_model(base, base_scene).unwrap();
        s.set_timestep(0.003).unwrap();
        new.set_timestep(0.003).unwrap();
        for _ in 0..80 {
            s.step().unwrap();
            new.step().unwrap();
            assert_eq!((&s.state().q, &s.state().v), (&new.state().q, &new.state().v));
        }
    }
}

#[test]
fn a_lane_that_goes_on_with_other_parameters_makes_the_steps_of_a_new_one() {
    let (mut s, mut fewer) = (simulation(ROBOT, Options::default()), 0);
    let (base, base_scene) = (s.model().clone(), s.scene().clone());
    (0..80).for_each(|_| s.step().unwrap());
    let all = changed(&s);
    let frictions = Parameter::Frictions.of(&base, &base_scene).iter().map(|x| 0.5 * x).collect();
    let gravity = vec![0.5, 0.0, -9.0];
    let surfaces =
        Parameters::default().with(Parameter::Frictions, frictions).with(Parameter::Gravity, gravity.clone());
    // With friction where the model has none, steps in lanes need another plan.
    let dry = surfaces.clone().with(Parameter::Frictionloss, vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1]);
    let none = Parameters::default();
    for is_controlled in [false, true, false] {
        if is_controlled {
            control(&mut s);
        } else {
            s.state_mut().pd = Pd::default();
        }
        for own in [&all, &surfaces, &all, &none, &dry, &surfaces, &none, &surfaces] {
            let own = OwnModel::made(&base, &base_scene, own.clone()).unwrap();
            s.go_to_own(&own).unwrap();
            let mut new = Simulation::new(own.get().0.clone(), own.get().1.clone(), s.options().clone()).unwrap();
            new.state_mut().clone_from(s.state());
            for _ in 0..20 {
                s.step().unwrap();
                new.step().unwrap();
                fewer += usize::from(s.stats().substeps > 1);
                assert_eq!((&s.state().q, &s.state().v), (&new.state().q, &new.state().v));
                assert_eq!(s.acceleration(), new.acceleration());
            }
            // Halves of steps are those of the present numbers, too.
            s.state_mut().v[3..].iter_mut().for_each(|v| *v += 40.0);
            new.state_mut().clone_from(s.state());
        }
    }
    assert!(fewer > 0, "no step was halved");
}

#[test]
fn parameters_written_over_others_are_those_of_the_model_alone() {
    let s = simulation(ROBOT, Options::default());
    let (base, base_scene) = (s.model(), s.scene());
    let (mut model, mut scene) = changed(&s).apply(base, base_scene).unwrap();
    let one = Parameters::default().with(Parameter::Damping, vec![0.7; 7]);
    one.write(base, base_scene, &mut model, &mut scene).unwrap();
    let (expected, expected_scene) = one.apply(base, base_scene).unwrap();
    assert_eq!(Parameters::of(&model, &scene), Parameters::of(&expected, &expected_scene));
    let inertias = |model: &multibody::Model| model.tree.nodes.iter().map(|node| node.inertia).collect::<Vec<_>>();
    assert_eq!(inertias(&model), inertias(&expected));
    assert_eq!(model.materials, expected.materials);
}

#[test]
fn solref_of_a_world_is_that_of_a_model_with_it() {
    let text = |solref: &str| {
        format!(
            r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/>
            <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" solref="{solref}" solimp=".8 .9 .001 .5 2"/></body>
            <body pos="1 0 .1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"#
        )
    };
    let mut s = simulation(&text(".02 1"), Options::default());
    let (base, base_scene) = (s.model().clone(), s.scene().clone());
    for (solref, values) in [(".05 .7", [0.05, 0.7]), ("-900 -20", [-900.0, -20.0])] {
        let mut all = Parameter::Solref.of(&base, &base_scene);
        assert_eq!((all[0], all[2], all[4]), (0.0, 0.02, 0.0));
        all[2..4].copy_from_slice(&values);
        let own = Parameters::default().with(Parameter::Solref, all.clone());
        s.go_to_own(&OwnModel::made(&base, &base_scene, own).unwrap()).unwrap();
        let mut other = simulation(&text(solref), Options::default());
        other.state_mut().clone_from(s.state());
        for _ in 0..200 {
            s.step().unwrap();
            other.step().unwrap();
            assert_eq!(s.state().q, other.state().q);
        }
        all[4] = 0.02;
        let near_rigid = Parameters::default().with(Parameter::Solref, all);
        let error = near_rigid.apply(&base, &base_scene).unwrap_err().to_string();
        assert!(error.starts_with("solref[2, 0] is 0.02: expected 0, as the model has neither"), "{error}");
    }
    let mixed = Parameters::default().with(Parameter::Solref, vec![0.0, 0.0, 0.02, -1.0, 0.0, 0.0]);
    assert!(mixed.apply(&base, &base_scene).is_err());
}
