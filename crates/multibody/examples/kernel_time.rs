//! Nanoseconds per world of the dynamics kernels: `kernel_time MODEL...`, one JSON row per line.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use sapwood_multibody::kernels::{Arguments, Impedance, KernelReal, LimbDynamics, NodeDynamics, PackedTree};
use sapwood_multibody::{
    CrbaWorkspace, Kinematics, Model, RneaWorkspace, difference_ahead, forward_kinematics, mass_matrix, rnea,
    velocities,
};
use spatial::{F32x8, F32x16, F64x4, F64x8, Real, Vec3};

/// Nanoseconds per call: the least and the median over batches.
fn measure(mut call: impl FnMut()) -> (f64, f64) {
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
    (times[0], times[times.len() / 2])
}

/// Prints the times of a kernel over `lanes` worlds at once.
fn row(case: &str, kernel: &str, lanes: usize, scalar: &str, call: impl FnMut()) {
    let (least, median) = measure(call);
    let per = 1.0 / lanes as f64;
    println!(
        "{{\"case\": \"{case}\", \"kernel\": \"{kernel}\", \"lanes\": {lanes}, \"scalar\": \"{scalar}\", \
         \"ns_per_world\": {:.1}, \"median\": {:.1}}}",
        least * per,
        median * per
    );
}

struct State<T> {
    q: Vec<T>,
    v: Vec<T>,
    tau: Vec<T>,
    lambda: Vec<T>,
    out: Vec<T>,
}

impl<T: Real> State<T> {
    /// Random configurations (unit quaternions), velocities and forces in every lane.
    fn random(model: &Model, seed: u64) -> Self {
        let mut state = seed;
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let (nq, nv) = (model.nq(), model.nv());
        let zero = |n| vec![T::ZERO; n];
        let mut s = Self { q: zero(nq), v: zero(nv), tau: zero(nv), lambda: zero(nv), out: zero(nv) };
        for k in 0..T::LANES {
            let mut q = model.q0.clone();
            let step: Vec<f64> = (0..nv).map(|_| uniform()).collect();
            sapwood_multibody::integrate(&model.tree, &mut q, &step, 1.0);
            let scalar = |x: f64| <T::Scalar as Real>::from_f64(x);
            for (i, x) in q.iter().enumerate() {
                s.q[i].set_lane(k, scalar(*x));
            }
            for i in 0..nv {
                s.v[i].set_lane(k, scalar(uniform()));
                s.tau[i].set_lane(k, scalar(10.0 * uniform()));
                s.lambda[i].set_lane(k, scalar(20.0));
            }
        }
        s
    }

    fn arguments(&self, driven: bool) -> Arguments<'_, T> {
        let impedance = driven.then_some(Impedance { diagonal: &self.lambda, uniform: true });
        let gravity = Vec3::new(T::ZERO, T::ZERO, T::from_f64(-9.81));
        Arguments { q: &self.q, v: &self.v, tau: &self.tau, impedance, gravity }
    }
}

/// Worlds in lanes.
fn time<T: KernelReal>(case: &str, model: &Model, scalar: &str) {
    if !T::is_available() {
        return;
    }
    let tree = PackedTree::new(&model.tree);
    let s = State::<T>::random(model, 7);
    let mut out = s.out.clone();
    let mut work = T::work(&tree);
    for (kernel, driven) in [("aba", false), ("maba", true)] {
        row(case, kernel, T::LANES, scalar, || {
            T::forward_dynamics(&mut work, &tree, &black_box(&s).arguments(driven), &mut out);
        });
    }
}

/// The algorithms that a simulation calls, each from the state.
fn time_algorithms(case: &str, model: &Model) {
    let (tree, all) = (&model.tree, model.tree.all());
    let s = State::<f64>::random(model, 7);
    let (mut kin, mut out, nv) = (Kinematics::new(tree), s.out.clone(), tree.nv);
    let mut ws = RneaWorkspace::new(tree);
    row(case, "rnea", 1, "f64", || {
        let Arguments { q, v, tau, gravity, .. } = black_box(&s).arguments(false);
        forward_kinematics(tree, all.clone(), q, &mut kin);
        velocities(tree, all.clone(), v, &mut kin);
        rnea(tree, all.clone(), &kin, v, Some(tau), gravity, &mut ws, &mut out);
    });
    let (mut ws, mut m) = (CrbaWorkspace::new(tree), vec![0.0; nv * nv]);
    row(case, "crba", 1, "f64", || {
        forward_kinematics(tree, all.clone(), &black_box(&s).q, &mut kin);
        mass_matrix(tree, all.clone(), &kin, None, &mut ws, &mut m, nv, 0);
    });
    row(case, "kinematics", 1, "f64", || forward_kinematics(tree, all.clone(), &black_box(&s).q, &mut kin));
}

/// One world node by node, numbers of a node across lanes.
fn time_nodes(case: &str, model: &Model) {
    let mut nodes = NodeDynamics::new(&model.tree);
    let s = State::<f64>::random(model, 7);
    let mut out = s.out.clone();
    for (kernel, driven) in [("aba+nodes", false), ("maba+nodes", true)] {
        row(case, kernel, 1, "f64", || nodes.forward_dynamics(&black_box(&s).arguments(driven), &mut out));
    }
}

/// One world, its limbs across lanes, where that pays.
fn time_limbs(case: &str, model: &Model) {
    let mut limbs = LimbDynamics::<F64x4>::new(&model.tree);
    if !limbs.pays() {
        return;
    }
    let s = State::<f64>::random(model, 7);
    let mut out = s.out.clone();
    for (kernel, driven) in [("aba+limbs", false), ("maba+limbs", true)] {
        row(case, kernel, 1, "f64", || limbs.forward_dynamics(&black_box(&s).arguments(driven), &mut out));
    }
}

/// Every joint driven, forces included: explicit PD with armature, and stable PD, whose impedance has dt K_d as well.
fn time_driven(case: &str, model: &Model) {
    const DT: f64 = 1.0 / 120.0;
    let tree = PackedTree::new(&model.tree);
    let s = State::<f64>::random(model, 7);
    let target = State::<f64>::random(model, 8).q;
    let (kp, kd, zero) = (vec![300.0; model.nv()], vec![30.0; model.nv()], vec![0.0; model.nv()]);
    let (mut work, mut force, mut out) = (f64::work(&tree), zero.clone(), zero.clone());
    for (kernel, ahead, impedance) in [("pd+aba", 0.0, 0.01), ("pd+maba", DT, 0.01 + DT * 30.0)] {
        let lambda = vec![impedance; model.nv()];
        row(case, kernel, 1, "f64", || {
            let s = black_box(&s);
            difference_ahead(&model.tree, &target, &s.q, &s.v, ahead, &mut force);
            for i in 0..model.nv() {
                force[i] = -kp[i] * force[i] - kd[i] * s.v[i];
            }
            let impedance = Some(Impedance { diagonal: &lambda[..], uniform: true });
            let arguments = Arguments { tau: &force, impedance, ..s.arguments(false) };
            f64::forward_dynamics(&mut work, &tree, &arguments, &mut out);
        });
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let loaded = formats::load(Path::new(&path), &formats::LoadOptions::default())?;
        let model = &loaded.model;
        let case = Path::new(&path).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        time::<f64>(&case, model, "f64");
        time_nodes(&case, model);
        time_limbs(&case, model);
        time_driven(&case, model);
        time_algorithms(&case, model);
        time::<f32>(&case, model, "f32");
        time::<F64x4>(&case, model, "f64");
        time::<F64x8>(&case, model, "f64");
        time::<F32x8>(&case, model, "f32");
        time::<F32x16>(&case, model, "f32");
    }
    Ok(())
}
