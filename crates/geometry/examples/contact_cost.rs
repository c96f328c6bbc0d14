//! What contact detection costs: each kind of pair, and whole scenes. Run with `--release`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use sapwood_geometry::{Attachment, Collider, Contact, Geom, HeightField, Mesh, Scene, Shape};
use spatial::{Mat3, Pose, Quat, Vec3};

type Frame = (Mat3<f64>, Vec3<f64>);

/// A point sequence that fills the unit cube evenly.
fn even(i: usize) -> Vec3<f64> {
    let part = |a: f64| (0.5 + a * (i + 1) as f64).fract();
    Vec3::new(part(0.819_172_513_396_164_4), part(0.671_043_606_703_789_3), part(0.549_700_477_901_970_4))
}

fn rotation(i: usize) -> Quat<f64> {
    let v = (even(i + 1000) - Vec3::new(0.5, 0.5, 0.5)) * 6.0;
    Quat::from_rotation_vector(v)
}

/// A collider of shapes on frames of their own, but for the first `fixed`.
fn collider(shapes: &[Shape], fixed: usize, parent: impl Fn(usize) -> usize) -> Collider {
    let attachments = (0..shapes.len()).map(|i| Attachment {
        frame: (i >= fixed).then_some(i),
        pose: Pose::IDENTITY,
        group: if i >= fixed { i + 1 } else { 0 },
        parent_group: parent(i),
    });
    let geoms = shapes.iter().enumerate().map(|(i, s)| Geom::new(i, s.clone())).collect();
    Collider::new(Arc::new(Scene { geoms, ..Scene::default() }), attachments.collect())
}

fn rock(n: usize, size: f64) -> Shape {
    let points = (0..n).map(|i| {
        let z = 1.0 - 2.0 * (i as f64 + 0.5) / n as f64;
        let (r, phi) = ((1.0 - z * z).sqrt(), 2.4 * i as f64);
        Vec3::new(r * libm::cos(phi), r * libm::sin(phi), z) * size
    });
    Shape::Mesh(Arc::new(Mesh::new("rock", points.collect(), vec![]).expect("finite points")))
}

/// Nanoseconds for one call, the best of several rounds, and the mean number of contacts.
fn time(collider: &mut Collider, states: &[Vec<Frame>], reach: f64) -> (f64, f64) {
    let reach = vec![sapwood_geometry::Sweep::from(reach); states[0].len()];
    let mut out: Vec<Contact> = vec![];
    let (mut best, mut count) = (f64::INFINITY, 0);
    for _ in 0..7 {
        let start = Instant::now();
        count = 0;
        for state in states {
            collider.contacts(|i| state[i], &reach, &mut out);
            count += black_box(&out).len();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / states.len() as f64);
    }
    (best, count as f64 / states.len() as f64)
}

fn pairs() {
    let field = HeightField::new("field", [41, 41], [2.0, 2.0], vec![0.0; 1681], 0.1).expect("a valid field");
    let shapes = [
        ("plane", Shape::Plane { half_extents: [0.0; 2] }),
        ("field", Shape::HeightField(Arc::new(field))),
        ("sphere", Shape::Sphere { radius: 0.12 }),
        ("capsule", Shape::Capsule { radius: 0.08, half_length: 0.15 }),
        ("ellipsoid", Shape::Ellipsoid { radii: [0.1, 0.15, 0.2] }),
        ("cylinder", Shape::Cylinder { radius: 0.1, half_length: 0.15 }),
        ("box", Shape::Box { half_extents: [0.1, 0.12, 0.15] }),
        ("hull 16", rock(16, 0.17)),
        ("hull 200", rock(200, 0.17)),
    ];
    println!("pair: ns when shallow (placement included), contacts");
    for (i, (a, s)) in shapes.iter().enumerate() {
        for (b, t) in &shapes[i.max(2)..] {
            let mut collider = collider(&[s.clone(), t.clone()], 0, |_| 0);
            // Poses at which the pair penetrates by at most 1 cm: found by moving the second away.
            let mut states = vec![];
            for k in 0..400 {
                let upright = i < 2;
                let rot = if upright { Mat3::IDENTITY } else { rotation(2 * k).to_mat3() };
                let way = if upright {
                    Vec3::new(0.0, 0.0, 1.0)
                } else {
                    (even(k) - Vec3::new(0.5, 0.5, 0.5)).normalized().expect("not the centre")
                };
                let (mut low, mut high) = (0.0, 1.0);
                let mut out = vec![];
                let at = |d: f64| vec![(rot, Vec3::ZERO), (rotation(2 * k + 1).to_mat3(), way * d)];
                for _ in 0..12 {
                    let d = 0.5 * (low + high);
                    let state = at(d);
                    collider.contacts(|i| state[i], &[sapwood_geometry::Sweep::default(); 2], &mut out);
                    let depth = out.iter().fold(0.0_f64, |m, c| m.min(c.gap));
                    if depth < -0.01 { low = d } else { high = d }
                }
                states.push(at(high));
            }
            let (ns, count) = time(&mut collider, &states, 1e-3);
            println!("{a:>10} – {b:<10} {ns:8.0} {count:6.1}");
        }
    }
}

/// Twenty capsules in a tree of limbs over a plane, like a person who stands.
fn humanoid() {
    let mut shapes = vec![Shape::Plane { half_extents: [0.0; 2] }];
    shapes.extend((0..20).map(|_| Shape::Capsule { radius: 0.05, half_length: 0.1 }));
    let parent = |i: usize| {
        if i <= 1 {
            0
        } else if i % 4 == 2 {
            2
        } else {
            i
        }
    };
    let mut collider = collider(&shapes, 1, parent);
    let states: Vec<Vec<Frame>> = (0..50)
        .map(|k| {
            let mut frames = vec![(Mat3::IDENTITY, Vec3::ZERO)];
            frames.extend((0..20).map(|i| {
                let (limb, link) = (i / 4, i % 4);
                let jitter = (even(20 * k + i) - Vec3::new(0.5, 0.5, 0.5)) * 0.02;
                let foot = Vec3::new(0.3 * limb as f64 - 0.6, 0.0, 0.14 + 0.3 * link as f64);
                (Quat::from_rotation_vector(jitter * 5.0).to_mat3(), foot + jitter)
            }));
            frames
        })
        .collect();
    let (ns, count) = time(&mut collider, &states, 5e-3);
    println!("20 capsules over a plane: {ns:.0} ns, {count:.1} contacts");
}

/// A heap of `n` boxes on a plane.
fn heap(n: usize) {
    let mut shapes = vec![Shape::Plane { half_extents: [0.0; 2] }];
    shapes.extend((0..n).map(|_| Shape::Box { half_extents: [0.1, 0.1, 0.1] }));
    let mut collider = collider(&shapes, 1, |_| 0);
    let side = (n as f64).cbrt().ceil() as usize;
    let states: Vec<Vec<Frame>> = (0..20)
        .map(|k| {
            let mut frames = vec![(Mat3::IDENTITY, Vec3::ZERO)];
            frames.extend((0..n).map(|i| {
                let cell = Vec3::new((i % side) as f64, (i / side % side) as f64, (i / side / side) as f64);
                let jitter = (even(n * k + i) - Vec3::new(0.5, 0.5, 0.5)) * 0.01;
                (Quat::from_rotation_vector(jitter).to_mat3(), cell * 0.2 + Vec3::new(0.0, 0.0, 0.1) + jitter)
            }));
            frames
        })
        .collect();
    let (ns, count) = time(&mut collider, &states, 1e-3);
    println!("{n} boxes in a heap: {:.1} µs, {count:.0} contacts", ns / 1e3);
}

fn main() {
    pairs();
    humanoid();
    for n in [10, 30, 50, 80, 100, 125, 200, 400, 1000] {
        heap(n);
    }
}
