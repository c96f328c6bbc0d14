//! Contact detection takes no memory once it has run.

#[path = "suite/common/mod.rs"]
mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use std::sync::Arc;

use common::{Placements, box_mesh, collider, geom, rock};
use counting_allocator::allocations;
use sapwood_geometry::{HeightField, Shape};
use spatial::{Mat3, Vec3};
use support::SplitMix64;

fn frames(n: usize, size: f64, random: &mut SplitMix64) -> Vec<(Mat3<f64>, Vec3<f64>)> {
    (0..n)
        .map(|_| {
            let p = random.pose(size);
            (p.rot.to_mat3(), p.pos)
        })
        .collect()
}

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
        let before = allocations();
        let mut total = 0;
        for state in states.iter().rev() {
            collider.contacts(|i| state[i], &reach, &mut out);
            total += out.len();
        }
        assert!(total > 10_000, "{total}");
        assert_eq!(allocations() - before, 0, "{n} geoms");
        // A copy has lists that are just as long as what is in them: room grows to what is needed, and no more.
        let mut copy = collider.clone();
        for state in &states {
            copy.contacts(|i| state[i], &reach, &mut out);
        }
        let before = allocations();
        for state in &states {
            copy.contacts(|i| state[i], &reach, &mut out);
        }
        assert_eq!(allocations() - before, 0, "a copy of {n} geoms");
    }
}
