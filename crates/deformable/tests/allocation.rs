//! After a warm-up a step does not touch the heap.
#![allow(clippy::unwrap_used)]

#[path = "suite/common/mod.rs"]
mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use common::{MODELS, body, crooked_box, elastic};
use counting_allocator::allocations;
use sapwood_deformable::{Dynamics, Material, ThetaStep};
use spatial::Vec3;
use support::{Interrupt, ThreadPool};

#[test]
fn steps_after_warm_up_do_not_allocate() {
    for model in MODELS {
        let material = Material { damping_stiffness: 0.01, ..elastic(model, 1e5, 0.3) };
        let soft = body(crooked_box(3), material, |x| x.z < -0.5 + 1e-9);
        let mut x: Vec<f64> = soft.rest_positions().collect();
        let mut v = vec![0.0; x.len()];
        let mut all = vec![0.0; x.len()];
        let mut d = Dynamics::new(&soft);
        let touched = [40, 50, 60, 63];
        let (none, mut pool, theta) = (Interrupt::default(), ThreadPool::default(), ThetaStep::implicit_euler(0.01));
        let gravity = Vec3::new(0.0, 0.0, -9.81);
        let mut counts = [0; 2];
        for count in &mut counts {
            let before = allocations();
            for _ in 0..5 {
                d.free_motion(&x, &v, &theta, gravity, None, &touched, &none, &mut pool).unwrap();
                d.respond(&[0.001; 12], &mut all);
                for ((x, v), new) in x.iter_mut().zip(&mut v).zip(&all) {
                    *x += theta.dt * new;
                    *v = *new;
                }
                d.energy(&x, &v, gravity);
            }
            *count = allocations() - before;
        }
        assert!(counts[0] > 0, "the counter counts");
        assert_eq!(counts[1], 0, "{model:?}");
    }
}
