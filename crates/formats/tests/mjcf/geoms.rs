//! Geoms: sizes, segments, meshes, height fields, colours.

use geometry::Shape;
use spatial::Vec3;

use crate::{close, load, world};

fn shapes(content: &str) -> Vec<Shape> {
    world(content).scene.geoms.into_iter().map(|g| g.shape).collect()
}

#[test]
fn primitives_take_their_sizes() {
    let content: String = ["plane", "sphere", "capsule", "cylinder", "ellipsoid", "box"]
        .map(|kind| format!(r#"<geom type="{kind}" size="1 2 3"/>"#))
        .concat();
    let shapes = shapes(&content);
    assert!(matches!(shapes[0], Shape::Plane { half_extents: [1.0, 2.0] }));
    assert!(matches!(shapes[1], Shape::Sphere { radius: 1.0 }));
    assert!(matches!(shapes[2], Shape::Capsule { radius: 1.0, half_length: 2.0 }));
    assert!(matches!(shapes[3], Shape::Cylinder { radius: 1.0, half_length: 2.0 }));
    assert!(matches!(shapes[4], Shape::Ellipsoid { radii: [1.0, 2.0, 3.0] }));
    assert!(matches!(shapes[5], Shape::Box { half_extents: [1.0, 2.0, 3.0] }));
}

#[test]
fn fromto_places_and_sizes() {
    let loaded = world(
        r#"<geom type="capsule" size=".1" fromto="1 0 0 1 0 4"/><geom type="box" size=".1" fromto="0 0 0 2 0 0"/>"#,
    );
    let [capsule, cuboid] = &loaded.scene.geoms[..] else { panic!("two geoms") };
    assert!(matches!(capsule.shape, Shape::Capsule { radius: 0.1, half_length: 2.0 }));
    assert_eq!(capsule.pose.pos.to_array(), [1.0, 0.0, 2.0]);
    assert!(matches!(cuboid.shape, Shape::Box { half_extents: [0.1, 0.1, 1.0] }));
    let z = Vec3::new(0.0, 0.0, 1.0);
    // z runs from the second point to the first.
    assert!((cuboid.pose.rot * z - Vec3::new(-1.0, 0.0, 0.0)).norm() < 1e-15);
}

#[test]
fn meshes_are_moved_turned_scaled_and_mirrored() {
    let text = r#"<mujoco><asset><mesh name="m" vertex="1 1 1 2 1 1 1 2 1 1 1 2" face="0 2 1 0 1 3 0 3 2 1 2 3"
        refpos="1 1 1" refquat="1 0 0 1" scale="1 1 -3"/></asset>
        <worldbody><geom type="mesh" mesh="m" pos="1 2 3"/></worldbody></mujoco>"#;
    let loaded = load(text);
    let geom = &loaded.scene.geoms[0];
    let Shape::Mesh(mesh) = &geom.shape else { panic!("a mesh") };
    // A quarter turn back about z takes x to −y and y to x.
    let expected = [[0.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -3.0]];
    for (vertex, expected) in mesh.vertices.iter().zip(expected) {
        assert!(close(&vertex.to_array(), &expected, 1e-15), "{vertex:?}");
    }
    // Triangles still face outwards: the volume is positive.
    assert!((geom.shape.volume().unwrap_or(0.0) - 0.5).abs() < 1e-15);
    assert_eq!(geom.pose.pos.to_array(), [1.0, 2.0, 3.0]);
}

#[test]
fn points_without_faces_are_their_hull() {
    let text = r#"<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1 .1 .1 .1"/></asset>
        <worldbody><body><geom type="mesh" mesh="m" mass="1"/></body></worldbody></mujoco>"#;
    let loaded = load(text);
    assert!(matches!(&loaded.scene.geoms[0].shape, Shape::Mesh(m) if m.vertices.len() == 4 && m.triangles.len() == 4));
    assert!(close(&loaded.model.bodies[1].inertia.com.to_array(), &[0.25; 3], 1e-15));
}

#[test]
fn primitives_fit_meshes_by_inertia_or_by_bounds() {
    // A box of half extents 1, 2, 3 about (5, 0, 0).
    let corners: String = (0..8)
        .map(|i| {
            [
                5.0 + if i & 1 == 0 { -1.0 } else { 1.0 },
                if i & 2 == 0 { -2.0 } else { 2.0 },
                if i & 4 == 0 { -3.0 } else { 3.0 },
            ]
        })
        .map(|[x, y, z]: [f64; 3]| format!("{x} {y} {z} "))
        .collect();
    let fitted = |bounds: bool, kind: &str| {
        let text = format!(
            r#"<mujoco><compiler fitaabb="{bounds}"/><asset><mesh name="m" vertex="{corners}"/></asset><worldbody>
            <geom type="{kind}" mesh="m"/></worldbody></mujoco>"#
        );
        let geom = load(&text).scene.geoms.remove(0);
        assert!((geom.pose.pos - Vec3::new(5.0, 0.0, 0.0)).norm() < 1e-13);
        geom.shape
    };
    for bounds in [false, true] {
        let Shape::Box { half_extents } = fitted(bounds, "box") else { panic!("a box") };
        assert!(close(&half_extents, &[1.0, 2.0, 3.0], 1e-13), "{half_extents:?}");
    }
    assert!(matches!(fitted(false, "sphere"), Shape::Sphere { radius } if (radius - 2.0).abs() < 1e-13));
    assert!(matches!(fitted(true, "sphere"), Shape::Sphere { radius } if (radius - 3.0).abs() < 1e-13));
    assert!(matches!(fitted(true, "capsule"), Shape::Capsule { radius, half_length }
        if (radius - 2.0).abs() < 1e-13 && (half_length - 1.0).abs() < 1e-13));
}

#[test]
fn height_fields_are_normalised_and_read_like_a_map() {
    let text = r#"<mujoco><asset><hfield name="h" nrow="2" ncol="3" size="1 2 10 .5" elevation="0 1 2 3 4 5"/></asset>
        <worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>"#;
    let loaded = load(text);
    let Shape::HeightField(field) = &loaded.scene.geoms[0].shape else { panic!("a height field") };
    assert_eq!((field.size, field.half_extents, field.base), ([2, 3], [1.0, 2.0], 0.5));
    // The first row of the text lies at +y.
    assert!(close(&field.heights, &[6.0, 8.0, 10.0, 0.0, 2.0, 4.0], 1e-14));
}

#[test]
fn colours_come_from_the_geom_then_its_material() {
    let text = r#"<mujoco><default><material rgba="0 1 0 1"/></default><asset><material name="green"/>
        <material name="blue" rgba="0 0 1 1"/></asset><worldbody><geom size="1"/><geom size="1" material="green"/>
        <geom size="1" material="blue"/><geom size="1" material="blue" rgba="1 0 0 .5"/></worldbody></mujoco>"#;
    let colours: Vec<[f32; 4]> = load(text).scene.geoms.iter().map(|g| g.rgba).collect();
    let expected = [[0.5, 0.5, 0.5, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.5]];
    assert_eq!(colours, expected);
}
