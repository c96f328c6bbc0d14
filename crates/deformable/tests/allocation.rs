//! After a warm-up a step does not touch the heap.
#![allow(clippy::unwrap_used)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{MODELS, body, crooked_box, elastic};
use crew::Crew;
use interrupt::Interrupt;
use sapwood_deformable::{Dynamics, Material, ThetaStep};
use spatial::Vec3;

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn steps_after_warm_up_do_not_allocate() {
    // One test in this file: the counter is the process's.
    for model in MODELS {
        let material = Material { damping_stiffness: 0.01, ..elastic(model, 1e5, 0.3) };
        let soft = body(crooked_box(3), material, |x| x.z < -0.5 + 1e-9);
        let mut x: Vec<f64> = soft.rest_positions().collect();
        let mut v = vec![0.0; x.len()];
        let mut all = vec![0.0; x.len()];
        let mut d = Dynamics::new(&soft);
        let touched = [40, 50, 60, 63];
        let (none, mut crew, theta) = (Interrupt::default(), Crew::default(), ThetaStep::implicit_euler(0.01));
        let gravity = Vec3::new(0.0, 0.0, -9.81);
        let mut counts = [0; 2];
        for count in &mut counts {
            let before = COUNT.load(Ordering::Relaxed);
            for _ in 0..5 {
                d.free_motion(&x, &v, &theta, gravity, None, &touched, &none, &mut crew).unwrap();
                d.respond(&[0.001; 12], &mut all);
                for ((x, v), new) in x.iter_mut().zip(&mut v).zip(&all) {
                    *x += theta.dt * new;
                    *v = *new;
                }
                d.energy(&x, &v, gravity);
            }
            *count = COUNT.load(Ordering::Relaxed) - before;
        }
        assert!(counts[0] > 0, "the counter counts");
        assert_eq!(counts[1], 0, "{model:?}");
    }
}
