//! Nanoseconds of the algorithms of dynamics: `dynamics_time MODEL...`, one JSON row per line.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use sapwood_multibody::{
    CrbaWorkspace, DynamicsInput, ForwardDynamics, Kinematics, Model, RneaWorkspace, difference_ahead,
    forward_kinematics, mass_matrix, rnea, velocities,
};
use spatial::Vec3;
use support::SplitMix64;

/// Prints the times of a call in nanoseconds: the least and the median over batches.
fn measure(case: &str, kernel: &str, mut call: impl FnMut()) {
    let mut times: Vec<f64> = (0..200)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..50 {
                call();
            }
            start.elapsed().as_secs_f64() * 1e9 / 50.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (least, median) = (times[0], times[times.len() / 2]);
    println!("{{\"case\": \"{case}\", \"kernel\": \"{kernel}\", \"ns\": {least:.1}, \"median\": {median:.1}}}");
}

/// A random configuration (unit quaternions), velocities and forces.
struct Sample {
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
}

impl Sample {
    fn new(model: &Model, seed: u64) -> Self {
        let mut random = SplitMix64(seed);
        let mut q = model.q0.clone();
        sapwood_multibody::integrate(&model.tree, &mut q, &random.vector(model.nv(), 1.0), 1.0);
        Self { q, v: random.vector(model.nv(), 1.0), tau: random.vector(model.nv(), 10.0) }
    }

    fn with<'a>(&'a self, impedance: &'a [f64], gravity: Vec3<f64>) -> DynamicsInput<'a> {
        DynamicsInput { q: &self.q, v: &self.v, tau: &self.tau, impedance, gravity }
    }
}

/// Without impedance, and with one at every joint.
fn time_forward_dynamics(case: &str, model: &Model) {
    let (mut dynamics, s) = (ForwardDynamics::new(&model.tree), Sample::new(model, 7));
    let mut out = s.v.clone();
    for (kernel, impedance) in [("aba", 0.0), ("maba", 20.0)] {
        let impedance = vec![impedance; model.nv()];
        measure(case, kernel, || {
            dynamics.solve(&model.tree, &black_box(&s).with(&impedance, model.gravity), &mut out);
        });
    }
}

/// Every joint driven, forces included: explicit PD with armature, and stable PD, whose impedance has dt K_d as well.
fn time_driven(case: &str, model: &Model) {
    const DT: f64 = 1.0 / 120.0;
    let (mut dynamics, s, target) = (ForwardDynamics::new(&model.tree), Sample::new(model, 7), Sample::new(model, 8).q);
    let (kp, kd, zero) = (vec![300.0; model.nv()], vec![30.0; model.nv()], vec![0.0; model.nv()]);
    let (mut force, mut out) = (zero.clone(), zero);
    for (kernel, ahead, impedance) in [("pd+aba", 0.0, 0.01), ("pd+maba", DT, 0.01 + DT * 30.0)] {
        let impedance = vec![impedance; model.nv()];
        measure(case, kernel, || {
            let s = black_box(&s);
            difference_ahead(&model.tree, &target, &s.q, &s.v, ahead, &mut force);
            for i in 0..model.nv() {
                force[i] = -kp[i] * force[i] - kd[i] * s.v[i];
            }
            let input = DynamicsInput { tau: &force, ..s.with(&impedance, model.gravity) };
            dynamics.solve(&model.tree, &input, &mut out);
        });
    }
}

/// Inverse dynamics, the mass matrix and placements, each from the state.
fn time_parts(case: &str, model: &Model) {
    let (tree, all, nv) = (&model.tree, model.tree.all(), model.nv());
    let s = Sample::new(model, 7);
    let (mut kin, mut out, mut ws) = (Kinematics::new(tree), s.v.clone(), RneaWorkspace::new(tree));
    measure(case, "rnea", || {
        let Sample { q, v, tau } = black_box(&s);
        forward_kinematics(tree, all.clone(), q, &mut kin);
        velocities(tree, all.clone(), v, &mut kin);
        rnea(tree, all.clone(), &kin, v, Some(tau), model.gravity, &mut ws, &mut out);
    });
    let (mut ws, mut m) = (CrbaWorkspace::new(tree), vec![0.0; nv * nv]);
    measure(case, "crba", || {
        forward_kinematics(tree, all.clone(), &black_box(&s).q, &mut kin);
        mass_matrix(tree, all.clone(), &kin, None, &mut ws, &mut m, nv, 0);
    });
    measure(case, "kinematics", || forward_kinematics(tree, all.clone(), &black_box(&s).q, &mut kin));
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let model = formats::load(Path::new(&path), &formats::LoadOptions::default())?.model;
        let case = Path::new(&path).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        time_forward_dynamics(&case, &model);
        time_driven(&case, &model);
        time_parts(&case, &model);
    }
    Ok(())
}
