//! Surfaces, filters, pairs, and the rule for `solref` and `solimp`.

use multibody::{Compliance, Material, Reference, Resistance};

use crate::{load, try_load, world};

fn material(attributes: &str) -> Material {
    let loaded = world(&format!(r#"<geom size="1" {attributes}/>"#));
    loaded.model.materials[loaded.scene.geoms[0].material]
}

#[test]
fn friction_and_condim() {
    // MuJoCo's defaults.
    let plain = Material::of_mjcf();
    assert_eq!(material(""), plain);
    let set = material(r#"friction="0.3 0.1 0.2" condim="1" priority="2""#);
    let (torsional_friction, rolling_friction, resistance) = (0.1, 0.2, Resistance::None);
    let expected = Material { torsional_friction, rolling_friction, resistance, priority: 2, ..plain };
    assert_eq!(set, Material { friction: 0.3, ..expected });
    let resistance = |condim| material(&format!(r#"condim="{condim}""#)).resistance;
    assert_eq!(
        [1, 3, 4, 6].map(resistance),
        [Resistance::None, Resistance::Sliding, Resistance::Spinning, Resistance::Rolling]
    );
}

#[test]
fn coefficients_that_are_missing_come_from_the_class() {
    let text = r#"<mujoco><default><geom friction="0.7 0.1 0.2"/><default class="k"><geom friction="0.6 0.3"/></default>
        </default><worldbody><geom size="1" friction="0.9"/><geom size="1" class="k"/></worldbody></mujoco>"#;
    let loaded = load(text);
    let friction = |geom: usize| {
        let surface = loaded.model.materials[loaded.scene.geoms[geom].material];
        [surface.friction, surface.torsional_friction, surface.rolling_friction]
    };
    assert_eq!((friction(0), friction(1)), ([0.9, 0.1, 0.2], [0.6, 0.3, 0.2]));
}

#[test]
fn short_time_constants_count_as_the_flag_says() {
    for (flag, least) in [("", 2.0), (r#"<flag refsafe="enable"/>"#, 2.0), (r#"<flag refsafe="disable"/>"#, 0.0)] {
        let text = format!(
            r#"<mujoco><option>{flag}</option><worldbody><body><joint solreflimit=".001 1" range="-1 1"/>
            <geom size="1" solref=".001 1"/></body></worldbody></mujoco>"#
        );
        let loaded = load(&text);
        let of_surface = loaded.model.materials[loaded.scene.geoms[0].material].compliance;
        for compliance in [of_surface, loaded.model.joints[0].limit_compliance] {
            assert!(
                matches!(compliance, Compliance::Reference(of) if of.least_steps == least),
                "{flag}: {compliance:?}"
            );
        }
    }
}

#[test]
fn compliance_is_near_rigid_unless_the_file_says_otherwise() {
    assert_eq!(material("").compliance, Compliance::NearRigid);
    let reference = |attributes: &str| match material(attributes).compliance {
        Compliance::Reference(reference) => reference,
        other => panic!("{attributes}: {other:?}"),
    };
    let default = Reference::default();
    let found = reference(r#"solref="0.1 2" solimp="0.5 0.6 0.01""#);
    assert_eq!(found, Reference { solref: [0.1, 2.0], solimp: [0.5, 0.6, 0.01, 0.5, 2.0], ..default });
    // What one attribute leaves out has MuJoCo's default, and so has a pair of numbers of which one alone is positive.
    assert_eq!(reference(r#"solref="-100 0""#), Reference { solref: [-100.0, 0.0], ..default });
    assert_eq!(reference(r#"solimp="0.5""#).solimp, [0.5, 0.95, 0.001, 0.5, 2.0]);
    assert_eq!(reference(r#"solref="0.1 -1""#), default);
}

#[test]
fn cones_and_weights_of_surfaces_are_read() {
    let text = |option: &str| {
        format!(r#"<mujoco>{option}<worldbody><geom size="1" solref=".1 1" solmix="3"/></worldbody></mujoco>"#)
    };
    for (option, expected) in [
        ("", 1.0),
        (r#"<option impratio="4"/>"#, 0.25),
        (r#"<option cone="elliptic" impratio="4"/>"#, 0.0),
        (r#"<option cone="pyramidal"/>"#, 1.0),
    ] {
        let material = load(&text(option)).model.materials[0];
        let Compliance::Reference(reference) = material.compliance else { panic!("{material:?}") };
        assert_eq!((reference.pyramid, material.mix), (expected, 3.0), "{option}");
    }
}

#[test]
fn defaults_count_as_set_by_the_file() {
    let text = r#"<mujoco><default><geom solref="0.02 1"/><joint solreflimit="0.02 1"/></default><worldbody><body>
        <joint range="0 1"/><geom size="1"/></body></worldbody></mujoco>"#;
    let loaded = load(text);
    assert!(matches!(loaded.model.materials[0].compliance, Compliance::Reference(_)));
    assert!(matches!(loaded.model.joints[0].limit_compliance, Compliance::Reference(_)));
}

#[test]
fn equal_surfaces_are_one() {
    let loaded = world(r#"<geom size="1"/><geom size="2"/><geom size="1" friction="0.1"/>"#);
    let indices: Vec<usize> = loaded.scene.geoms.iter().map(|g| g.material).collect();
    assert_eq!((loaded.model.materials.len(), indices), (2, vec![0, 0, 1]));
}

#[test]
fn filters_margins_and_exclusions() {
    let text = r#"<mujoco><worldbody><geom size="1" contype="2" conaffinity="5" margin=".1"/>
        <body name="a"/><body name="b"/></worldbody><contact><exclude body1="b" body2="world"/></contact></mujoco>"#;
    let scene = load(text).scene;
    let geom = &scene.geoms[0];
    assert_eq!((geom.contype, geom.conaffinity, geom.margin), (2, 5, 0.1));
    assert_eq!(scene.excluded, [[2, 0]]);
}

#[test]
fn pairs_have_a_surface_of_their_own() {
    let text = |pair: &str| {
        format!(
            r#"<mujoco><worldbody><geom name="g" size="1" friction="0.2"/><body><geom name="h" size="1" friction="0.4"/></body>
            </worldbody><contact><pair geom1="g" geom2="h" {pair}/></contact></mujoco>"#
        )
    };
    let loaded = load(&text(r#"friction="0.7 0.7" condim="1" margin=".1""#));
    let pair = loaded.scene.pairs[0];
    let material = loaded.model.materials[pair.material];
    assert_eq!((pair.geoms, pair.margin), ([0, 1], 0.1));
    assert_eq!((material.friction, material.resistance), (0.7, Resistance::None));
    // What it does not say has its default, whatever the geoms say.
    let loaded = load(&text(""));
    let plain = Material::of_mjcf();
    assert_eq!(loaded.model.materials[loaded.scene.pairs[0].material], plain);
    // Two coefficients of sliding, one of spinning, two of rolling.
    let loaded = load(&text(r#"friction="0.7 0.7 0.5 0.3 0.3" condim="6""#));
    let material = loaded.model.materials[loaded.scene.pairs[0].material];
    assert_eq!((material.torsional_friction, material.rolling_friction), (0.5, 0.3));
    assert_eq!((material.resistance, loaded.model.warnings), (Resistance::Rolling, vec![]));
    let loaded = load(&text(r#"friction="0.7 0.6 0.5 0.3 0.3""#));
    let material = loaded.model.materials[loaded.scene.pairs[0].material];
    assert_eq!((material.friction, material.second_friction, loaded.model.warnings), (0.7, Some(0.6), vec![]));
    let uneven = load(&text(r#"friction="0.7 0.7 0.5 0.3 0.2""#));
    let material = uneven.model.materials[uneven.scene.pairs[0].material];
    assert_eq!((material.rolling_friction, material.second_rolling_friction), (0.3, Some(0.2)));
    assert_eq!(uneven.model.warnings, vec![]);
    assert!(try_load(&text(r#"condim="2""#)).is_err());
}

#[test]
fn the_contact_flag_switches_contacts_off() {
    let text = r#"<mujoco><option><flag contact="disable"/></option><worldbody><geom size="1"/></worldbody></mujoco>"#;
    let scene = load(text).scene;
    assert_eq!((scene.geoms[0].contype, scene.geoms[0].conaffinity), (0, 0));
}
