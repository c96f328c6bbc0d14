use geometry::Shape;
use multibody::Material;

use super::*;

/// A link with a collision of this geometry and surface.
fn touching(geometry: &str, surface: &str) -> String {
    format!(
        "<link name=\"l\">{INERTIAL}<collision name=\"c\"><geometry>{geometry}</geometry>{surface}</collision></link>"
    )
}

#[test]
fn shapes() {
    let shape = |geometry: &str| load(&model(&touching(geometry, ""))).scene.geoms.remove(0).shape;
    assert!(matches!(shape("<box><size>1 2 3</size></box>"), Shape::Box { half_extents: [0.5, 1.0, 1.5] }));
    assert!(matches!(shape("<sphere><radius>2</radius></sphere>"), Shape::Sphere { radius: 2.0 }));
    assert!(matches!(
        shape("<ellipsoid><radii>1 2 3</radii></ellipsoid>"),
        Shape::Ellipsoid { radii: [1.0, 2.0, 3.0] }
    ));
    let tube = "<radius>0.5</radius><length>3</length>";
    assert!(matches!(
        shape(&format!("<cylinder>{tube}</cylinder>")),
        Shape::Cylinder { radius: 0.5, half_length: 1.5 }
    ));
    assert!(matches!(shape(&format!("<capsule>{tube}</capsule>")), Shape::Capsule { radius: 0.5, half_length: 1.5 }));
    assert!(load(&model(&touching("<empty/>", ""))).scene.geoms.is_empty());
    for bad in
        ["", "<box/>", "<box><size>1 2</size></box>", "<sphere><radius>-1</radius></sphere>", "<heightmap/>", "<mesh/>"]
    {
        assert!(error(&model(&touching(bad, ""))).message().contains("expected"), "{bad}");
    }
}

#[test]
fn planes_face_their_normal() {
    for normal in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.6, 0.0, -0.8]] {
        let [x, y, z] = normal;
        let geom =
            load(&model(&touching(&format!("<plane><normal>{x} {y} {z}</normal></plane>"), ""))).scene.geoms.remove(0);
        near(geom.pose.rot * Vec3::new(0.0, 0.0, 1.0), normal);
    }
}

#[test]
fn a_ground_has_no_end_in_pictures() {
    let plane = "<geometry><plane><size>100 60</size></plane></geometry>";
    let shown = |more: &str| {
        let text = format!("<link name=\"l\">{INERTIAL}<visual name=\"v\">{plane}</visual>{more}</link>");
        match load(&model(&text)).scene.geoms[0].shape {
            Shape::Plane { half_extents } => half_extents,
            _ => panic!("no plane"),
        }
    };
    assert_eq!(shown(""), [50.0, 30.0]);
    assert_eq!(shown(&format!("<collision name=\"c\">{plane}</collision>")), [0.0, 0.0]);
}

#[test]
fn names_and_groups() {
    let text = format!(
        "<link name=\"l\">{INERTIAL}<visual name=\"x\"><transparency>0.5</transparency><geometry><sphere><radius>1</radius></sphere></geometry>\
         <material><diffuse>1 0 0.5 1</diffuse></material></visual>\
         <collision name=\"x\"><pose>0 0 1 0 0 0</pose><geometry><sphere><radius>1</radius></sphere></geometry></collision></link>"
    );
    let geoms = load(&model(&text)).scene.geoms;
    assert_eq!(
        geoms.iter().map(|g| (&*g.name, g.group, g.contype)).collect::<Vec<_>>(),
        [("l::x", 1, 0), ("l::x_2", 3, 0xffff)]
    );
    assert_eq!(geoms[0].rgba, [1.0, 0.0, 0.5, 0.5]);
    near(geoms[1].pose.pos, [0.0, 0.0, 1.0]);
}

#[test]
fn the_smaller_friction_is_that_of_a_pair() {
    let ball = |name: &str, mu: f64| {
        format!(
            "<model name=\"{name}\"><link name=\"l\">{INERTIAL}<collision name=\"c\"><geometry><sphere><radius>1</radius></sphere></geometry>\
             <surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface></collision></link></model>"
        )
    };
    let loaded = load(&world(&(ball("a", 100.0) + &ball("b", 0.3) + &ball("c", 1.0))));
    let material = |geom: usize| loaded.model.materials[loaded.scene.geoms[geom].material];
    let pair = |a: usize, b: usize| Material::combine(&material(a), &material(b)).friction;
    assert_eq!([pair(0, 1), pair(0, 2), pair(1, 2), pair(0, 0)], [0.3, 1.0, 0.3, 100.0]);
}

#[test]
fn surfaces() {
    let surface = |content: &str| {
        load(&model(&touching("<sphere><radius>1</radius></sphere>", &format!("<surface>{content}</surface>"))))
    };
    let torsion = surface(
        "<friction><torsional><coefficient>2</coefficient><patch_radius>0.1</patch_radius></torsional></friction>",
    );
    let material = torsion.model.materials[torsion.scene.geoms[0].material];
    assert!((material.torsional_friction - 3.0 * std::f64::consts::PI / 16.0 * 0.2).abs() < 1e-15);
    warns(&surface("<friction><ode><mu>1</mu><mu2>0.5</mu2></ode></friction>"), "mu is taken");
    warns(&surface("<bounce><restitution_coefficient>0.5</restitution_coefficient></bounce>"), "do not bounce");
    warns(&surface("<contact><ode><kp>1e6</kp></ode></contact>"), "not simulated");
    assert_eq!(surface("<contact><collide_bitmask>0x0f</collide_bitmask></contact>").scene.geoms[0].contype, 15);
}

#[test]
fn links_of_one_model_touch_where_it_says_so() {
    let touches = |content: &str| {
        let ball = |name: &str| {
            touching("<sphere><radius>1</radius></sphere>", "").replace("name=\"l\"", &format!("name=\"{name}\""))
        };
        let joint = "<joint name=\"j\" type=\"ball\"><parent>a</parent><child>b</child></joint>";
        load(&model(&(content.to_owned() + &ball("a") + &ball("b") + &ball("c") + joint))).scene.excluded.len()
    };
    assert_eq!(touches(""), 3);
    // But for the two that a joint joins.
    assert_eq!(touches("<self_collide>true</self_collide>"), 1);
}

#[test]
fn masses() {
    let body = |content: &str| load(&model(&format!("<link name=\"l\">{content}</link>"))).model.bodies[1].inertia;
    assert_eq!((body("").mass, body("").inertia.xx()), (1.0, 1.0));
    let given = body(
        "<inertial><pose>0 0 1 0 0 1.5707963267948966</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz></inertia></inertial>",
    );
    near([given.com.z, given.inertia.xx(), given.inertia.yy()], [1.0, 0.2, 0.1]);
    let cube =
        "<collision name=\"c\"><density>500</density><geometry><box><size>1 1 1</size></box></geometry></collision>";
    assert!((body(&format!("<inertial auto=\"true\"/>{cube}")).mass - 500.0).abs() < 1e-9);
    let weighed = body(&format!("<inertial auto=\"true\"><mass>6</mass></inertial>{cube}"));
    near([weighed.mass, weighed.inertia.xx(), 0.0], [6.0, 1.0, 0.0]);
    assert!(
        error(&model("<link name=\"l\"><inertial><mass>-1</mass></inertial></link>")).message().contains("0 or more")
    );
}
