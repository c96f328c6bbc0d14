//! Times Rapier on a scene: JSON on the standard input, JSON on the standard output; the types below are the formats.
//!
//! Rapier runs with its defaults but for the time step, on one thread; bodies never sleep, since a pile that is not
//! simulated costs nothing and says nothing.

use std::io::{Read, stdin};
use std::process::ExitCode;

use rapier3d_f64::prelude::*;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// What to simulate, SI units, z up.
#[derive(Deserialize)]
struct Scene {
    timestep: f64,
    gravity: [f64; 3],
    /// Steps before anything is timed.
    settle: usize,
    /// Steps of a batch.
    steps: usize,
    /// Batches; each is timed on its own.
    batches: usize,
    bodies: Vec<Body>,
}

#[derive(Deserialize)]
struct Body {
    /// Does not move.
    fixed: bool,
    shape: Shape,
    /// kg; of no meaning where it is fixed.
    mass: f64,
    friction: f64,
    pos: [f64; 3],
    /// w x y z.
    quat: [f64; 4],
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shape {
    /// Half extents.
    Box([f64; 3]),
    /// Radius.
    Sphere(f64),
    /// The half space below the plane of x and y.
    Plane,
}

#[derive(Serialize)]
struct Answer {
    /// Thread CPU time of a step, s, of every batch.
    times: Vec<f64>,
    /// Contact points with an impulse at the end.
    contacts: usize,
    /// Positions (3) and orientations (w x y z) of the bodies that move, in order, at the end.
    poses: Vec<[f64; 7]>,
}

fn main() -> ExitCode {
    match answer() {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let scene: Scene = serde_json::from_str(&text)?;
    Ok(serde_json::to_string(&run(&scene))?)
}

fn run(scene: &Scene) -> Answer {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::from_array(scene.gravity);
    world.integration_parameters.dt = scene.timestep;
    let moving: Vec<RigidBodyHandle> = scene.bodies.iter().filter_map(|body| add(&mut world, body)).collect();
    for _ in 0..scene.settle {
        world.step();
    }
    let times = (0..scene.batches).map(|_| batch(&mut world, scene.steps)).collect();
    let pose = |&handle: &RigidBodyHandle| {
        let body = &world.bodies[handle];
        let (p, q) = (body.translation(), body.rotation());
        [p.x, p.y, p.z, q.w, q.x, q.y, q.z]
    };
    Answer { times, contacts: contacts(&world), poses: moving.iter().map(pose).collect() }
}

/// Adds a body; its handle if it moves.
fn add(world: &mut PhysicsWorld, body: &Body) -> Option<RigidBodyHandle> {
    let collider = match body.shape {
        Shape::Box([x, y, z]) => ColliderBuilder::cuboid(x, y, z),
        Shape::Sphere(radius) => ColliderBuilder::ball(radius),
        Shape::Plane => ColliderBuilder::new(SharedShape::halfspace(Vector::Z)),
    };
    let collider = collider.friction(body.friction).restitution(0.0);
    let [w, x, y, z] = body.quat;
    let pose = Pose::from_parts(Vector::from_array(body.pos), Rotation::from_xyzw(x, y, z, w));
    if body.fixed {
        world.insert(RigidBodyBuilder::fixed().pose(pose), collider);
        return None;
    }
    let rigid = RigidBodyBuilder::dynamic().pose(pose).can_sleep(false);
    Some(world.insert(rigid, collider.mass(body.mass)).0)
}

/// Seconds of CPU time of a step.
fn batch(world: &mut PhysicsWorld, steps: usize) -> f64 {
    let start = now();
    for _ in 0..steps {
        world.step();
    }
    (now() - start) / steps as f64
}

fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn contacts(world: &PhysicsWorld) -> usize {
    let points = |manifold: &ContactManifold| manifold.points.iter().filter(|point| point.data.impulse > 0.0).count();
    world.narrow_phase.contact_pairs().flat_map(ContactPair::manifolds).map(points).sum()
}
