//! Sensors: what they measure, how many numbers they have, and what is wrong with those that make no sense.

use multibody::{ContactField, ContactFilter, Reduction, SensorFrame, SensorKind, SiteShape};

use crate::{load, try_load};

const WORLD: &str = r#"<worldbody><site name="w" type="box" size=".1 .2"/><camera name="c" resolution="2 3"/><body name="b">
    <joint name="ball" type="ball"/><geom name="g" size=".1"/><site name="s" type="cylinder" size=".01 .02"/></body>
    <body name="b2" pos="1 0 0"><joint name="h" range="-1 1" limited="true"/><geom name="g2" type="capsule" size=".1 .3"/></body></worldbody>
    <tendon><fixed name="t"><joint joint="h" coef="2"/></fixed></tendon><actuator><motor name="m" joint="h"/></actuator>"#;

fn sensors(text: &str) -> multibody::Model {
    load(&format!("<mujoco>{WORLD}<sensor>{text}</sensor></mujoco>")).model
}

#[test]
fn numbers_stand_where_mujoco_has_them() {
    let model = sensors(
        r#"<gyro name="a" site="s"/><touch site="s"/><framequat objtype="body" objname="b2"/><contact data="found force dist" num="3" subtree1="b"
        reduce="maxforce"/><rangefinder site="s" data="dist normal"/><fromto body1="b" geom2="g2" cutoff="9"/><clock/><user dim="2"/>
        <rangefinder camera="c"/><camprojection site="s" camera="c"/><jointpos name="z" joint="h" noise=".1" cutoff=".5"/>"#,
    );
    let layout: Vec<(String, usize, usize)> = model
        .sensors
        .iter()
        .zip(model.sensor_ranges())
        .map(|(sensor, range)| (sensor.kind.element().to_owned(), range.start, range.len()))
        .collect();
    let expected = [
        ("gyro", 0, 3),
        ("touch", 3, 1),
        ("framequat", 4, 4),
        ("contact", 8, 15),
        ("rangefinder", 23, 4),
        ("fromto", 27, 6),
        ("clock", 33, 1),
        ("user", 34, 2),
        ("rangefinder", 36, 6),
        ("camprojection", 42, 2),
        ("jointpos", 44, 1),
    ];
    assert_eq!(layout, expected.map(|(element, start, len)| (element.to_owned(), start, len)));
    assert_eq!(model.sensor_data_len(), 45);
    assert_eq!((model.sensors[10].name.as_str(), model.sensors[10].noise, model.sensors[10].cutoff), ("z", 0.1, 0.5));
    let SensorKind::Contact(contact) = &model.sensors[3].kind else { panic!("{:?}", model.sensors[3]) };
    assert_eq!((contact.first, contact.second), (ContactFilter::Subtree(1), ContactFilter::Any));
    assert_eq!(contact.fields, [ContactField::Found, ContactField::Force, ContactField::Distance]);
    assert_eq!(contact.reduction, Reduction::LargestForce);
    let warnings: Vec<(&str, &str)> =
        model.warnings.iter().map(|w| (w.element.as_str(), w.message.split(':').next().unwrap_or_default())).collect();
    assert_eq!(warnings.iter().map(|w| w.0).collect::<Vec<_>>(), ["user"]);
}

#[test]
fn plugins_and_tactile_sensors_keep_their_places() {
    let text = format!(
        r#"<mujoco><asset><mesh name="plate" builtin="plate" params="3 4"/></asset>{WORLD}<sensor>
        <plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="s"><config key="size" value="7 3"/><config key="nchannel" value="2"/></plugin>
        <plugin plugin="other"/><tactile geom="g" mesh="plate"/><clock/></sensor></mujoco>"#
    );
    let model = load(&text).model;
    let places: Vec<usize> = model.sensor_ranges().map(|range| range.start).collect();
    assert_eq!(places, [0, 42, 42 + 36]);
    let warned: Vec<&str> = model.warnings.iter().map(|w| w.message.split(": ").nth(1).unwrap_or_default()).collect();
    let zeros = "the sensor keeps its place, its numbers are zero";
    assert_eq!(warned, [zeros, "left out", zeros]);
}

#[test]
fn sites_have_volumes() {
    let model = sensors("<clock/>");
    assert_eq!(model.sites[0].shape, SiteShape::Box { half_extents: [0.1, 0.2, 0.005] });
    assert_eq!(model.sites[1].shape, SiteShape::Cylinder { radius: 0.01, half_length: 0.02 });
}

#[test]
fn principal_axes_are_those_of_the_only_geom() {
    let model = sensors(r#"<framequat objtype="body" objname="b2"/><framequat objtype="xbody" objname="b2"/>"#);
    let frame = |k: usize| match model.sensors[k].kind {
        SensorKind::Frame { frame, .. } => frame,
        _ => panic!(),
    };
    assert_eq!(frame(0), SensorFrame::Inertial { body: 2, axes: spatial::Quat::IDENTITY });
    assert_eq!(frame(1), SensorFrame::Body(2));
}

#[test]
fn what_makes_no_sense_is_an_error_with_its_line() {
    let cases = [
        ("<touch/>", "no attribute `site`"),
        (r#"<touch site="nowhere"/>"#, "expected the name of a site"),
        (r#"<jointpos joint="ball"/>"#, "expected a joint of type hinge or slide"),
        (r#"<ballquat joint="h"/>"#, "expected a joint of type ball"),
        (r#"<jointlimitpos joint="ball"/>"#, "expected a joint with limits"),
        (r#"<tendonlimitfrc tendon="t"/>"#, "expected a tendon with limits"),
        (r#"<framepos objname="b"/>"#, "no attribute `objtype`"),
        (r#"<framepos objtype="joint" objname="h"/>"#, "expected one of body, xbody, geom, site, camera"),
        (r#"<framepos objtype="body" objname="b" refname="s"/>"#, "no attribute `reftype`"),
        (r#"<framequat objtype="body" objname="b" cutoff="1"/>"#, "cutoff: expected none"),
        (r#"<clock cutoff="-1"/>"#, "expected 0 or more"),
        (r#"<clock noise="nan"/>"#, "expected finite numbers"),
        (r#"<contact data="force found"/>"#, "in the order found force"),
        (r#"<contact data="force force"/>"#, "at most once"),
        (r#"<contact num="0"/>"#, "expected an integer above 0"),
        (r#"<contact num="99999999999"/>"#, "at most 1048576"),
        (r#"<contact geom1="g" body1="b"/>"#, "has both `geom1` and `body1`"),
        (r#"<contact reduce="most"/>"#, "expected one of none, mindist, maxforce, netforce"),
        (r#"<distance geom1="g" geom2="g"/>"#, "twice"),
        (r#"<distance geom1="g"/>"#, "no attribute `geom2` or `body2`"),
        (r#"<rangefinder/>"#, "no attribute `site` or `camera`"),
        (r#"<user dim="-1"/>"#, "expected an integer, 0 or more"),
        (r#"<user/>"#, "no attribute `dim`"),
        (r#"<clock name="n"/><clock name="n"/>"#, "expected a name that no other sensor has"),
    ];
    for (text, expected) in cases {
        let text = format!("<mujoco>{WORLD}<sensor>\n{text}</sensor></mujoco>");
        let error = try_load(&text).expect_err(expected).to_string();
        assert!(error.contains(expected) && error.contains(":5:"), "{error}\nexpected: {expected}");
    }
}

/// Rays against points along them: what contains a point of the ray is hit, and hardly anything else is.
#[test]
fn volumes_are_met_by_the_rays_that_pass_through_them() {
    let shapes = [
        SiteShape::Sphere { radius: 0.5 },
        SiteShape::Capsule { radius: 0.3, half_length: 0.4 },
        SiteShape::Cylinder { radius: 0.4, half_length: 0.3 },
        SiteShape::Ellipsoid { radii: [0.3, 0.6, 0.4] },
        SiteShape::Box { half_extents: [0.2, 0.5, 0.4] },
    ];
    let mut seed = 1_u64;
    let mut number = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        2.0 * (seed >> 11) as f64 / (1_u64 << 53) as f64 - 1.0
    };
    for shape in shapes {
        let (mut hits, mut passes) = (0, 0);
        for _ in 0..500 {
            let origin = spatial::Vec3::new(number(), number(), number());
            let direction = spatial::Vec3::new(number(), number(), number()) * 1.7;
            let is_hit = shape.is_hit_by(origin, direction);
            let passes_through = (0..2000).any(|k| shape.contains(origin + direction * (0.005 * f64::from(k))));
            assert!(is_hit || !passes_through, "{shape:?} from {origin:?} along {direction:?}");
            hits += usize::from(is_hit);
            passes += usize::from(passes_through);
        }
        assert!(passes > 50 && passes < 450 && hits - passes < 15, "{shape:?}: {hits} hits, {passes} pass");
    }
}
