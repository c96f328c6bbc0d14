//! Contact points of rough height fields: as near as the nearest of all triangles.

use std::sync::Arc;

use crate::common::{Placements, box_mesh, contacts, geom, rock};
use sapwood_geometry::{HeightField, Scene, SceneQueries, Shape};
use spatial::{Pose, Quat, Vec3};
use support::SplitMix64;

const SAMPLES: usize = 13;

/// A field over 2 m × 2 m of random heights, or of such as a robot may walk on.
fn rough(random: &mut SplitMix64, height: f64) -> Shape {
    let heights = (0..SAMPLES * SAMPLES).map(|_| random.uniform(0.0, height)).collect();
    Shape::HeightField(Arc::new(HeightField::new("rough", [SAMPLES; 2], [1.0, 1.0], heights, 1.0).unwrap()))
}

fn zoo() -> Vec<Shape> {
    vec![
        Shape::Sphere { radius: 0.12 },
        Shape::Capsule { radius: 0.03, half_length: 0.25 },
        Shape::Ellipsoid { radii: [0.1, 0.15, 0.2] },
        Shape::Cylinder { radius: 0.1, half_length: 0.15 },
        Shape::Cylinder { radius: 0.25, half_length: 0.02 },
        Shape::Box { half_extents: [0.3, 0.12, 0.15] },
        rock(60, 0.18, 5),
        box_mesh([0.15, 0.1, 0.12]),
    ]
}

/// Lowers a shape until it is `gap` above the field; its pose, and the distance of all triangles.
fn lower(field: &Shape, at: Pose<f64>, shape: &Shape, from: Pose<f64>, gap: f64) -> (Pose<f64>, f64) {
    let geoms = [field, shape].into_iter().enumerate().map(|(i, s)| geom(i, s.clone())).collect();
    let mut queries = SceneQueries::new(Arc::new(Scene { geoms, ..Scene::default() }));
    let mut pose = from;
    loop {
        let distance = queries.separation([0, 1], [at, pose]).unwrap().distance;
        if distance < gap + 1e-8 {
            return (pose, distance);
        }
        pose.pos -= at.rot * Vec3::new(0.0, 0.0, distance - gap);
    }
}

#[test]
fn the_least_gap_is_that_of_the_nearest_triangle() {
    let mut random = SplitMix64(21);
    let mut failures = String::new();
    for height in [0.02, 0.1, 0.4] {
        for (name, shape) in zoo().into_iter().enumerate() {
            for k in 0..60 {
                let field = rough(&mut random, height);
                // Also in a field that is not along the world.
                let at = if k % 2 == 0 { Pose::IDENTITY } else { random.pose(1.0) };
                let above = Vec3::new(random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6), 1.0);
                let rot = if k % 3 == 0 {
                    Quat::from_axis_angle(Vec3::new(0.0, 0.0, 1.0), random.symmetric())
                } else {
                    random.rotation()
                };
                let (pose, distance) = lower(&field, at, &shape, at * Pose::new(above, rot), 1e-3);
                if distance < 0.9e-3 {
                    continue; // Through the closest points of curved shapes that miss by more.
                }
                let found = contacts(&[(field, at), (shape.clone(), pose)], 2e-3);
                let least = found.iter().fold(f64::INFINITY, |d, c| d.min(c.gap));
                if (least - distance).abs() > 1e-7 {
                    failures += &format!("shape {name} over {height}: {least} is not {distance}, run {k}\n");
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn what_is_pressed_into_a_rough_field_is_pushed_out() {
    let mut random = SplitMix64(22);
    let mut failures = String::new();
    for height in [0.02, 0.1, 0.4] {
        for (name, shape) in zoo().into_iter().enumerate() {
            for k in 0..60 {
                let field = rough(&mut random, height);
                let above = Vec3::new(random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6), 1.0);
                let rot = if k % 2 == 0 { Quat::IDENTITY } else { random.rotation() };
                let start = Pose::new(above, rot);
                let (mut pose, distance) = lower(&field, Pose::IDENTITY, &shape, start, 1e-6);
                if distance < -1e-7 {
                    continue;
                }
                for depth in [1e-5, 1e-3, 1e-2] {
                    let touching = pose.pos;
                    pose.pos.z -= distance + depth;
                    let found = contacts(&[(field.clone(), Pose::IDENTITY), (shape.clone(), pose)], 1e-4);
                    pose.pos = touching;
                    let least = found.iter().fold(f64::INFINITY, |d, c| d.min(c.gap));
                    let most_up = found.iter().fold(0.0, |z, c| f64::max(z, c.normal.z));
                    // No deeper than it was pressed; steep sides take less.
                    if least < -2.0 * depth - 1e-6 || least > -0.1 * depth || most_up < 0.1 {
                        failures += &format!("shape {name} over {height}, {depth} deep: {least}, {most_up}, run {k}\n");
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// What moves by half the field in a step meets the hills near by, not each triangle of the field in its way.
#[test]
fn hills_far_beside_a_fast_shape_wait_for_a_later_step() {
    const LENGTH: usize = 201;
    let limit = 50.0;
    for (cells_away, is_met) in [(10, true), (90, false)] {
        let hill = LENGTH / 2 + cells_away;
        let heights = (0..LENGTH * LENGTH).map(|k| if k % LENGTH >= hill { 20.0 } else { 0.0 }).collect();
        let field = HeightField::new("hill", [LENGTH; 2], [100.0, 100.0], heights, 1.0).unwrap();
        let (field, ball) = (Shape::HeightField(Arc::new(field)), Shape::Sphere { radius: 0.5 });
        let pose = Pose::new(Vec3::new(0.0, 0.0, 1.0), Quat::IDENTITY);
        let found = contacts(&[(field, Pose::IDENTITY), (ball, pose)], limit);
        let steep = found.iter().filter(|contact| contact.normal.x < -0.5).count();
        assert_eq!(steep > 0, is_met, "a hill {cells_away} cells away: {found:?}");
        let below = found.iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min);
        assert!(found.iter().any(|contact| (contact.gap - 0.5).abs() < 1e-9), "{below} above the ground");
    }
}
