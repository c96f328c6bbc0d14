//! A pendulum made in code, beside the closed form of its small oscillations.

use std::f64::consts::TAU;

use sapwood::math::{RigidInertia, Sym3, Vec3};
use sapwood::model::{BodySpec, JointKind, JointSpec, ModelBuilder};
use sapwood::scene::Scene;
use sapwood::{Options, Scheme, World};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mass, length) = (1.5, 0.8);
    let inertia =
        RigidInertia { mass, com: Vec3::new(0.0, 0.0, -length), inertia: Sym3::diagonal(Vec3::new(1e-9, 1e-9, 1e-9)) };
    let mut builder = ModelBuilder::new("pendulum");
    let bob = builder.add_body(BodySpec { name: "bob".into(), inertia, ..BodySpec::default() })?;
    builder.add_joint(bob, JointSpec::new(JointKind::Revolute { axis: Vec3::new(0.0, 1.0, 0.0) }))?;
    let world = World::new(builder.build()?, Scene::default());

    let options = Options { timestep: Some(1e-3), scheme: Scheme::Midpoint, ..Options::default() };
    let mut simulation = world.simulate(options)?;
    simulation.state_mut().q[0] = 0.01;
    let period = TAU * (length / 9.81_f64).sqrt();
    let steps = (period / 1e-3).round() as usize;
    (0..steps).try_for_each(|_| simulation.step())?;
    let angle = simulation.state().q[0];
    println!("period {period:.4} s; after one of them the angle is {angle:.6} rad, at the start 0.01");
    assert!((angle - 0.01).abs() < 1e-6);
    Ok(())
}
