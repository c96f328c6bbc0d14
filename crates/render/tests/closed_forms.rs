//! Depth, outlines and geoms of pictures against the formulas of rays in f64.

#![allow(missing_docs, reason = "tests have no users")]

use std::sync::Arc;

use deformable::{Material, SoftBody, TetMesh};
use geometry::{Geom, HeightField, Mesh, Scene, Shape};
use multibody::{Lens, Model, ModelBuilder};
use sapwood_render::{Eye, FreeCamera, Options, RenderError, Renderer, Stage};
use spatial::{Pose, Quat, Vec3};
use support::Interrupt;

type Vector = Vec3<f64>;

const SIZE: [usize; 2] = [160, 120];

fn model() -> Arc<Model> {
    Arc::new(ModelBuilder::new("world").build().expect("a world alone is a model"))
}

fn geom(shape: Shape, pose: Pose<f64>) -> Geom {
    Geom { pose, contype: 0, conaffinity: 0, ..Geom::new(0, shape) }
}

fn renderer(geoms: Vec<Geom>, threads: usize) -> Renderer {
    let scene = Arc::new(Scene { geoms, ..Scene::default() });
    Renderer::new(Arc::new(Stage::new(model(), scene)), threads).expect("threads")
}

fn camera(distance: f64) -> FreeCamera {
    FreeCamera { lookat: Vec3::ZERO, distance, azimuth: 0.7, elevation: -0.5, lens: Lens::Fovy(0.6), track: None }
}

fn depth(geoms: Vec<Geom>, camera: FreeCamera) -> Vec<f32> {
    let mut out = vec![0.0; SIZE[0] * SIZE[1]];
    renderer(geoms, 1).depth(&[], &Eye::Free(camera), SIZE, &mut out).expect("a picture");
    out
}

/// The origin and the direction, of unit length along the axis, of a pixel's ray.
fn ray(camera: &FreeCamera, column: usize, row: usize) -> (Vector, Vector) {
    let pose = camera.pose(Vec3::ZERO);
    let ([p, r], (middle, _)) = (pitch(camera), camera.lens.window(SIZE[0] as f64, SIZE[1] as f64));
    let x = middle[0] + p * (column as f64 + 0.5 - 0.5 * SIZE[0] as f64);
    let y = middle[1] + r * (0.5 * SIZE[1] as f64 - row as f64 - 0.5);
    (pose.pos, pose.rot * Vec3::new(x, y, -1.0))
}

/// Width and height of a pixel at depth 1.
fn pitch(camera: &FreeCamera) -> [f64; 2] {
    let (_, [x, y]) = camera.lens.window(SIZE[0] as f64, SIZE[1] as f64);
    [2.0 * x / SIZE[0] as f64, 2.0 * y / SIZE[1] as f64]
}

fn pose() -> Pose<f64> {
    Pose::new(Vec3::new(0.1, -0.2, 0.05), Quat::new(0.8, 0.3, -0.4, 0.2).normalized().expect("not zero"))
}

/// The lesser root of a t² + 2 b t + c.
fn entry(a: f64, b: f64, c: f64) -> f64 {
    let d = b * b - a * c;
    if d < 0.0 { f64::INFINITY } else { (-b - d.sqrt()) / a }
}

fn sphere(o: Vector, d: Vector, r: f64) -> f64 {
    entry(d.dot(d), o.dot(d), o.dot(o) - r * r)
}

fn side(o: Vector, d: Vector, r: f64, h: f64) -> f64 {
    let t = entry(d.x * d.x + d.y * d.y, o.x * d.x + o.y * d.y, o.x * o.x + o.y * o.y - r * r);
    if (o.z + t * d.z).abs() <= h { t } else { f64::INFINITY }
}

fn slabs(o: Vector, d: Vector, half: [f64; 3]) -> f64 {
    let (mut first, mut last) = (f64::NEG_INFINITY, f64::INFINITY);
    for ((o, d), h) in o.to_array().into_iter().zip(d.to_array()).zip(half) {
        let (a, b) = ((-h - o) / d, (h - o) / d);
        first = first.max(a.min(b));
        last = last.min(a.max(b));
    }
    if first <= last { first } else { f64::INFINITY }
}

/// Where the ray meets a shape in its own frame.
fn hit(shape: &Shape, o: Vector, d: Vector) -> f64 {
    match *shape {
        Shape::Sphere { radius } => sphere(o, d, radius),
        Shape::Ellipsoid { radii: [x, y, z] } => {
            let scaled = |v: Vector| Vec3::new(v.x / x, v.y / y, v.z / z);
            sphere(scaled(o), scaled(d), 1.0)
        }
        Shape::Capsule { radius, half_length } => {
            let end = |z: f64| sphere(o - Vec3::new(0.0, 0.0, z), d, radius);
            side(o, d, radius, half_length).min(end(half_length)).min(end(-half_length))
        }
        Shape::Cylinder { radius, half_length } => {
            let t = (half_length * o.z.signum() - o.z) / d.z;
            let p = o + d * t;
            let cap = if p.x.hypot(p.y) <= radius { t } else { f64::INFINITY };
            side(o, d, radius, half_length).min(cap)
        }
        Shape::Box { half_extents } => slabs(o, d, half_extents),
        _ => f64::INFINITY,
    }
}

/// Compares a picture's depths with the formula; outlines may miss by a few pixels whose centre they cross to round-off.
fn check(name: &str, found: &[f32], expected: impl Fn(usize, usize) -> f64, tolerance: f64) {
    let (mut seen, mut other) = (0, 0);
    for (k, &found) in found.iter().enumerate() {
        let expected = expected(k % SIZE[0], k / SIZE[0]);
        if found.is_finite() != expected.is_finite() {
            other += 1;
            continue;
        }
        if expected.is_finite() {
            seen += 1;
            let error = (f64::from(found) - expected).abs() / expected;
            assert!(error < tolerance, "{name}: pixel {k}: depth {found}, expected {expected}");
        }
    }
    assert!(seen > 200, "{name}: only {seen} pixels see it");
    assert!(other <= 2, "{name}: {other} pixels on the other side of the outline");
}

fn shapes() -> [(&'static str, Shape); 5] {
    [
        ("sphere", Shape::Sphere { radius: 0.4 }),
        ("ellipsoid", Shape::Ellipsoid { radii: [0.5, 0.2, 0.35] }),
        ("capsule", Shape::Capsule { radius: 0.15, half_length: 0.4 }),
        ("cylinder", Shape::Cylinder { radius: 0.25, half_length: 0.3 }),
        ("box", Shape::Box { half_extents: [0.3, 0.2, 0.4] }),
    ]
}

#[test]
fn depth_of_primitives_is_that_of_rays() {
    for (name, shape) in shapes() {
        for distance in [1.2, 3.0] {
            let camera = camera(distance);
            let found = depth(vec![geom(shape.clone(), pose())], camera);
            let expected = |column, row| {
                let (o, d) = ray(&camera, column, row);
                let back = pose().inverse();
                hit(&shape, back.transform_point(o), back.rot * d)
            };
            // A curved surface is seen at grazing angles at its outline, where round-off grows with the root.
            check(name, &found, expected, 1e-4);
            let mean = found.iter().enumerate().filter(|(_, w)| w.is_finite()).map(|(k, &w)| {
                let expected = expected(k % SIZE[0], k / SIZE[0]);
                if expected.is_finite() { (f64::from(w) / expected - 1.0).abs() } else { 0.0 }
            });
            let (sum, n) = mean.fold((0.0, 0), |(sum, n), e| (sum + e, n + 1));
            assert!(sum / f64::from(n) < 3e-7, "{name}: mean relative error {}", sum / f64::from(n));
        }
    }
}

#[test]
fn far_things_keep_their_outline() {
    // 1 cm from 100 m, through a lens that shows it as large as the picture.
    let shape = Shape::Sphere { radius: 0.01 };
    let camera = FreeCamera { lens: Lens::Fovy(3e-4), ..camera(100.0) };
    let found = depth(vec![geom(shape.clone(), Pose::IDENTITY)], camera);
    check(
        "far sphere",
        &found,
        |column, row| {
            let (o, d) = ray(&camera, column, row);
            hit(&shape, o, d)
        },
        2e-7,
    );
}

#[test]
fn a_sensor_sees_what_its_lens_throws_on_it() {
    // Pixels that are no squares, and an axis that does not meet the middle.
    let lens = Lens::Sensor { focal: [200.0, 260.0], size: [160.0, 150.0], principal: [12.0, -9.0] };
    assert_eq!(lens.window(1.0, 1.0), ([0.06, 9.0 / 260.0], [0.4, 75.0 / 260.0]));
    let camera = FreeCamera { lens, ..camera(3.0) };
    let shapes = [
        Shape::Sphere { radius: 0.4 },
        Shape::Ellipsoid { radii: [0.3, 0.5, 0.2] },
        Shape::Box { half_extents: [0.3, 0.2, 0.4] },
        Shape::Cylinder { radius: 0.3, half_length: 0.4 },
    ];
    for shape in shapes {
        let found = depth(vec![geom(shape.clone(), pose())], camera);
        let expected = |column, row| {
            let ((o, d), back) = (ray(&camera, column, row), pose().inverse());
            hit(&shape, back.transform_point(o), back.rot * d)
        };
        check(&format!("{shape:?} on a sensor"), &found, expected, 2e-6);
    }
}

#[test]
fn the_outline_of_a_sphere_has_the_area_of_its_projection() {
    // Seen along the axis a sphere of radius r at distance D shows as a disc of radius r / √(D² − r²) at depth 1.
    let (r, distance) = (0.4, 2.0);
    let camera = camera(distance);
    let found = depth(vec![geom(Shape::Sphere { radius: r }, Pose::IDENTITY)], camera);
    let [pitch, _] = pitch(&camera);
    let area = std::f64::consts::PI * r * r / (distance * distance - r * r) / (pitch * pitch);
    let count = found.iter().filter(|w| w.is_finite()).count() as f64;
    assert!((count / area - 1.0).abs() < 2e-3, "{count} pixels, expected {area}");
}

#[test]
fn planes_reach_to_the_horizon() {
    let camera = camera(2.0);
    let at = Pose::new(Vec3::new(3.0, 1.0, -0.5), Quat::IDENTITY);
    let found = depth(vec![geom(Shape::Plane { half_extents: [0.0, 0.0] }, at)], camera);
    check(
        "plane",
        &found,
        |column, row| {
            let (o, d) = ray(&camera, column, row);
            let t = (-0.5 - o.z) / d.z;
            if t > 0.0 { t } else { f64::INFINITY }
        },
        1e-5,
    );
}

#[test]
fn meshes_and_height_fields_are_their_triangles() {
    // A box of triangles is a box, a flat height field is one too.
    let [x, y, z] = [0.3, 0.2, 0.4];
    let corner = |k: usize, h: f64| if k == 0 { -h } else { h };
    let vertices = (0..8).map(|k| Vec3::new(corner(k & 1, x), corner(k >> 1 & 1, y), corner(k >> 2, z))).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mesh = Mesh { vertices, triangles, ..Mesh::default() };
    let field = HeightField {
        size: [7, 5],
        half_extents: [x, y],
        heights: vec![0.25; 35],
        base: 0.15,
        ..HeightField::default()
    };
    let lifted = Pose::new(pose().transform_point(Vec3::new(0.0, 0.0, 0.05)), pose().rot);
    let cases = [
        ("mesh", Shape::Mesh(Arc::new(mesh)), pose(), [x, y, z]),
        ("height field", Shape::HeightField(Arc::new(field)), pose(), [x, y, 0.2]),
    ];
    for (name, shape, at, half_extents) in cases {
        let place = if name == "mesh" { at } else { lifted };
        let camera = camera(2.0);
        let ours = depth(vec![geom(shape, at)], camera);
        let boxes = depth(vec![geom(Shape::Box { half_extents }, place)], camera);
        check(name, &ours, |column, row| f64::from(boxes[row * SIZE[0] + column]), 1e-5);
    }
}

#[test]
fn what_is_near_hides_what_is_far_in_any_order() {
    let near = geom(Shape::Sphere { radius: 0.1 }, Pose::new(Vec3::new(-0.5, -0.4, 0.4), Quat::IDENTITY));
    let far = geom(Shape::Box { half_extents: [0.5, 0.5, 0.5] }, Pose::IDENTITY);
    let picture = |geoms: Vec<Geom>| {
        let mut out = vec![0; SIZE[0] * SIZE[1]];
        renderer(geoms, 1).segmentation(&[], &Eye::Free(camera(3.0)), SIZE, &mut out).expect("a picture");
        out
    };
    let (a, b) = (picture(vec![near.clone(), far.clone()]), picture(vec![far, near]));
    let swapped: Vec<i32> = b.iter().map(|&geom| if geom < 0 { -1 } else { 1 - geom }).collect();
    assert_eq!(a, swapped);
    assert!((0..2).all(|geom| a.contains(&geom)) && a.contains(&-1));
}

#[test]
fn bits_do_not_depend_on_threads() {
    let mut geoms: Vec<Geom> = shapes().into_iter().map(|(_, shape)| geom(shape, pose())).collect();
    geoms[1].rgba[3] = 0.4;
    geoms.push(geom(Shape::Plane { half_extents: [0.0, 0.0] }, Pose::new(Vec3::new(0.0, 0.0, -0.5), Quat::IDENTITY)));
    let picture = |threads: usize| {
        let mut renderer = renderer(geoms.clone(), threads);
        let mut out = vec![0; SIZE[0] * SIZE[1] * 3];
        for _ in 0..2 {
            renderer.rgb(&[], &Eye::Free(camera(2.0)), SIZE, &Options::default(), &mut out).expect("a picture");
        }
        out
    };
    assert_eq!(picture(1), picture(3));
}

#[test]
fn a_picture_that_is_interrupted_says_so_and_the_next_is_whole() {
    let mut renderer = renderer(shapes().into_iter().map(|(_, shape)| geom(shape, pose())).collect(), 2);
    let mut picture = |interrupt: Interrupt| {
        renderer.set_interrupt(interrupt);
        let mut out = vec![0; SIZE[0] * SIZE[1] * 3];
        let outcome = renderer.rgb(&[], &Eye::Free(camera(2.0)), SIZE, &Options::default(), &mut out);
        (outcome, out)
    };
    let whole = picture(Interrupt::default());
    // Shadows are the first half of it.
    for looks in [0, 3, 20] {
        let seen = std::sync::atomic::AtomicUsize::new(0);
        let raised = Interrupt::new(move || seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= looks);
        assert_eq!(picture(raised).0, Err(RenderError::Interrupted));
    }
    assert_eq!(picture(Interrupt::default()), whole);
}

#[test]
fn a_shadow_lies_opposite_to_the_light_and_what_is_seen_through_shows_what_is_behind() {
    let ground = geom(Shape::Plane { half_extents: [0.0, 0.0] }, Pose::IDENTITY);
    let ball = |alpha: f32| {
        let mut ball = geom(Shape::Sphere { radius: 0.2 }, Pose::new(Vec3::new(0.0, 0.0, 1.0), Quat::IDENTITY));
        ball.rgba = [0.6, 0.0, 0.0, alpha];
        ball
    };
    // Straight down; the light comes from (0.302, −0.402, 0.864).
    let eye = FreeCamera {
        elevation: 1e-4 - std::f64::consts::FRAC_PI_2,
        azimuth: std::f64::consts::FRAC_PI_2,
        ..camera(4.0)
    };
    let picture = |geoms: Vec<Geom>, shadows: bool| {
        let mut out = vec![0; SIZE[0] * SIZE[1] * 3];
        let options = Options { shadows, ..Options::default() };
        renderer(geoms, 1).rgb(&[], &Eye::Free(eye), SIZE, &options, &mut out).expect("a picture");
        out
    };
    let with = picture(vec![ground.clone(), ball(1.0)], true);
    let without = picture(vec![ground.clone(), ball(1.0)], false);
    let pixel = |image: &[u8], x: f64, y: f64, z: f64| {
        let [pitch, _] = pitch(&eye);
        let column = (x / (4.0 - z) / pitch + 0.5 * SIZE[0] as f64) as usize;
        let row = (0.5 * SIZE[1] as f64 - y / (4.0 - z) / pitch) as usize;
        let at = 3 * (row * SIZE[0] + column);
        [image[at], image[at + 1], image[at + 2]].map(i32::from)
    };
    let (x, y) = (-0.302 / 0.864, 0.402 / 0.864);
    let (dark, bright) = (pixel(&with, x, y, 0.0), pixel(&without, x, y, 0.0));
    assert!(dark[0] < bright[0] - 20, "{dark:?} in the shadow, {bright:?} without");
    assert_eq!(pixel(&with, -x, -y, 0.0), pixel(&without, -x, -y, 0.0));
    let [solid, clear, none] =
        [1.0, 0.5, 0.0].map(|alpha| pixel(&picture(vec![ground.clone(), ball(alpha)], false), 0.0, 0.0, 1.2));
    for k in 0..3 {
        assert!((clear[k] - (solid[k] + none[k]) / 2).abs() <= 1, "{solid:?} {clear:?} {none:?}");
    }
    assert!(solid[0] > solid[1] + 50 && none[0] == none[1]);
}

/// A soft block looks like a box: where it is at rest, and where its nodes are put.
#[test]
fn a_soft_body_is_seen_where_its_nodes_are() {
    let size = Vec3::new(0.6, 0.8, 1.0);
    let mesh = TetMesh::cuboid(size, [3, 2, 4]).expect("a block");
    let body = Arc::new(SoftBody::of("block", mesh, Material::default()).expect("a body"));
    let rest: Vec<f64> = body.rest_positions().collect();
    let scene = Scene { soft_bodies: vec![body], ..Scene::default() };
    let mut soft = Renderer::new(Arc::new(Stage::new(model(), Arc::new(scene))), 1).expect("threads");
    let moved = |x: Vector, stretch: f64| pose().transform_point(Vec3::new(x.x * stretch, x.y, x.z));
    for stretch in [1.0, 1.5] {
        if stretch > 1.0 {
            let there: Vec<f64> =
                rest.as_chunks::<3>().0.iter().flat_map(|x| moved(Vec3::from(*x), stretch).to_array()).collect();
            soft.place_soft_bodies(&there).expect("as many nodes");
        }
        let place = if stretch > 1.0 { pose() } else { Pose::IDENTITY };
        let half_extents = [0.3 * stretch, 0.4, 0.5];
        let mut rigid = renderer(vec![geom(Shape::Box { half_extents }, place)], 1);
        let eye = Eye::Free(camera(3.0));
        let pixels = SIZE[0] * SIZE[1];
        let (mut a, mut b) = (vec![0; pixels], vec![0; pixels]);
        soft.segmentation(&[], &eye, SIZE, &mut a).expect("a picture");
        rigid.segmentation(&[], &eye, SIZE, &mut b).expect("a picture");
        // A pixel whose centre an edge meets may go either way.
        let differ = a.iter().zip(&b).filter(|&(&a, &b)| (a == -2) != (b == 0)).count();
        assert!(differ <= 2 && a.contains(&-2) && a.contains(&-1), "{differ} pixels");
        let (mut a, mut b) = (vec![0; 3 * pixels], vec![0; 3 * pixels]);
        let mean = |renderer: &mut Renderer, out: &mut Vec<u8>| {
            renderer.rgb(&[], &eye, SIZE, &Options { shadows: false, ..Options::default() }, out).expect("a picture");
            let [x, y] = SIZE.map(|n| n / 2);
            let at = 3 * (y * SIZE[0] + x);
            [out[at], out[at + 1], out[at + 2]].map(f64::from)
        };
        // Flat faces have their own normals: one brightness, whatever the colour.
        let (soft, rigid) = (mean(&mut soft, &mut a), mean(&mut rigid, &mut b));
        let colour = [0.85, 0.45, 0.4].map(|c| c / 0.5);
        (0..3).for_each(|k| assert!((soft[k] - colour[k] * rigid[k]).abs() < 4.0, "{soft:?} {rigid:?}"));
    }
    assert_eq!(soft.place_soft_bodies(&rest[1..]), Err(RenderError::SoftPositions));
    assert_eq!(soft.place_soft_bodies(&vec![f64::NAN; rest.len()]), Err(RenderError::SoftPositions));
}
