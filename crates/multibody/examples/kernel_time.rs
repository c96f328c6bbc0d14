//! Nanoseconds per world of the dynamics kernels: `kernel_time MODEL...`, one JSON row per line.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use multibody::kernels::{Arguments, Impedance, KernelReal, PackedTree};
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

struct State<T> {
    q: Vec<T>,
    v: Vec<T>,
    tau: Vec<T>,
    lambda: Vec<T>,
    out: Vec<T>,
}

/// Random configurations (unit quaternions), velocities and forces in every lane.
fn random<T: Real>(model: &multibody::Model, seed: u64) -> State<T> {
    let mut state = seed;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    let (nq, nv) = (model.nq(), model.nv());
    let zero = |n| vec![T::ZERO; n];
    let mut s = State { q: zero(nq), v: zero(nv), tau: zero(nv), lambda: zero(nv), out: zero(nv) };
    for k in 0..T::LANES {
        let mut q = model.q0.clone();
        let step: Vec<f64> = (0..nv).map(|_| uniform()).collect();
        multibody::integrate(&model.tree, &mut q, &step, 1.0);
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

fn time<T: KernelReal>(case: &str, model: &multibody::Model, scalar: &str) {
    if !T::is_available() {
        return;
    }
    let tree = PackedTree::new(&model.tree);
    let mut work = T::work(&tree);
    let mut s = random::<T>(model, 7);
    for (kernel, driven) in [("aba", false), ("maba", true)] {
        let (least, median) = measure(|| {
            let s = black_box(&mut s);
            let impedance = driven.then_some(Impedance { diagonal: &s.lambda, uniform: true });
            let gravity = Vec3::new(T::ZERO, T::ZERO, T::from_f64(-9.81));
            let arguments = Arguments { q: &s.q, v: &s.v, tau: &s.tau, impedance, gravity };
            T::forward_dynamics(&mut work, &tree, &arguments, &mut s.out);
        });
        let (lanes, per) = (T::LANES, 1.0 / T::LANES as f64);
        println!(
            "{{\"case\": \"{case}\", \"kernel\": \"{kernel}\", \"lanes\": {lanes}, \"scalar\": \"{scalar}\", \
             \"ns_per_world\": {:.1}, \"median_ns_per_world\": {:.1}}}",
            least * per,
            median * per
        );
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let loaded = formats::load(Path::new(&path), &formats::LoadOptions::default())?;
        let model = &loaded.model;
        let case = Path::new(&path).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        time::<f64>(&case, model, "f64");
        time::<f32>(&case, model, "f32");
        time::<F64x4>(&case, model, "f64");
        time::<F64x8>(&case, model, "f64");
        time::<F32x8>(&case, model, "f32");
        time::<F32x16>(&case, model, "f32");
    }
    Ok(())
}
