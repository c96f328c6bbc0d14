//! Contact detection takes no memory once it has run.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Placements, box_mesh, collider, geom, rock};
use random::SplitMix64;
use sapwood_geometry::{HeightField, Shape};
use spatial::{Mat3, Vec3};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn frames(n: usize, size: f64, random: &mut SplitMix64) -> Vec<(Mat3<f64>, Vec3<f64>)> {
    (0..n)
        .map(|_| {
            let p = random.pose(size);
            (p.rot.to_mat3(), p.pos)
        })
        .collect()
}

/// One test alone in this binary: another thread's allocations would count.
#[test]
fn steps_do_not_allocate_after_warm_up() {
    let mut random = SplitMix64(11);
    for (copies, size) in [(3, 0.5), (20, 0.8)] {
        let mut shapes = vec![
            Shape::Plane { half_extents: [0.0; 2] },
            Shape::HeightField(Arc::new(
                HeightField::new("field", [5, 5], [1.0, 1.0], (0..25).map(|i| 0.02 * (i % 4) as f64).collect(), 0.1)
                    .unwrap(),
            )),
        ];
        for i in 0..copies {
            shapes.extend([
                Shape::Sphere { radius: 0.12 },
                Shape::Capsule { radius: 0.08, half_length: 0.15 },
                Shape::Ellipsoid { radii: [0.1, 0.15, 0.2] },
                Shape::Cylinder { radius: 0.1, half_length: 0.15 },
                Shape::Box { half_extents: [0.1, 0.12, 0.15] },
                rock(60, 0.18, i),
                box_mesh([0.15, 0.1, 0.12]),
            ]);
        }
        let geoms: Vec<_> = shapes.iter().enumerate().map(|(i, s)| geom(i + 1, s.clone())).collect();
        let n = geoms.len();
        let mut collider = collider(geoms, &[0, 1]);
        let reach = vec![sapwood_geometry::Sweep::from(0.01); n];
        let mut out = vec![];
        let states: Vec<_> = (0..300).map(|_| frames(n, size, &mut random)).collect();
        for state in &states {
            collider.contacts(|i| state[i], &reach, &mut out);
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let mut total = 0;
        for state in states.iter().rev() {
            collider.contacts(|i| state[i], &reach, &mut out);
            total += out.len();
        }
        assert!(total > 10_000, "{total}");
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "{n} geoms");
    }
}
