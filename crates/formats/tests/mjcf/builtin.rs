//! Meshes that MuJoCo makes, and settings of `<option>` that change contacts.

use geometry::{MassModel, Shape};
use multibody::{Compliance, Material};

use super::{load, try_load, world};

fn mesh(attributes: &str) -> Shape {
    let text = format!(
        r#"<mujoco><asset><mesh name="m" {attributes}/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"#
    );
    load(&text).scene.geoms[0].shape.clone()
}

/// Volumes are MuJoCo 4.0's.
#[test]
fn builtin_meshes_have_the_volumes_of_mujoco() {
    let cases = [
        ("sphere", "0", 2.5361504726624075),
        ("sphere", "2", 4.047044661651024),
        ("hemisphere", "0", 0.6666666666666665),
        ("hemisphere", "3", 1.9097436909829885),
        ("cone", "4 .5", 2.333333333333333),
        ("cone", "3 0", 0.8660253882408142),
        ("supersphere", "4 .5 .2", 3.5655121446664766),
        ("supersphere", "3 .5 2", 0.8936110289244893),
        ("supertorus", "4 .5 1 1", 3.0),
        ("supertorus", "5 .5 .5 2", 3.1239193054247557),
        ("wedge", "3 3 10 20 0", 0.0017601977278176952),
        ("wedge", "2 3 10 20 .5", 0.0007191876675610324),
        ("box", "3 3 3 .1 .2 .3", 0.048),
        ("cylinder", "3 4 2 .1 .2 .3 3", 0.02617776932566753),
        ("ellipsoid", "3 3 3 .1 .2 .3", 0.019595918718849617),
    ];
    for (kind, params, volume) in cases {
        let shape = mesh(&format!(r#"builtin="{kind}" params="{params}""#));
        let found = shape.inertia(1.0, MassModel::Pyramids).expect("a volume").mass;
        assert!((found / volume - 1.0).abs() < 2e-6, "{kind} {params}: {found}, expected {volume}");
    }
}

/// A plate of 3 × 4 cells of the square from −1 to 1, without half a cell at each end.
#[test]
fn plates_are_shells() {
    let area = mesh(r#"builtin="plate" params="3 4""#).inertia(1.0, MassModel::Shell).expect("an area").mass;
    assert!((area - 4.0 / 3.0 * 1.5).abs() < 1e-12, "{area}");
}

#[test]
fn parameters_of_builtin_meshes_are_checked() {
    let cases = [
        (r#"builtin="sphere""#, "params"),
        (r#"builtin="sphere" params="1 2""#, "expected 1"),
        (r#"builtin="sphere" params="5""#, "expected 0 to 4"),
        (r#"builtin="cone" params="2 1""#, "expected 3 to 1000"),
        (r#"builtin="cone" params="4 2""#, "expected 0 to 1"),
        (r#"builtin="supersphere" params="5 -1 1""#, "exponents of 0 or more"),
        (r#"builtin="plate" params="2 1""#, "expected 2 to 1000"),
        (r#"builtin="box" params="2 2 2 0 1 1""#, "above 0"),
        (r#"builtin="torus" params="1""#, "expected sphere"),
    ];
    for (mesh, expected) in cases {
        let text = format!("<mujoco>\n<asset><mesh name=\"m\" {mesh}/></asset></mujoco>");
        let error = try_load(&text).map(|_| ()).expect_err(mesh);
        assert!(error.line() == 2 && error.message().contains(expected), "{mesh}: {error}");
    }
}

#[test]
fn overrides_count_for_all_contacts() {
    let text = r#"<mujoco><option o_friction=".7 .6 .5 .4 .3" o_margin=".02" o_solimp=".5 .5"><flag override="enable"/></option>
        <default><geom friction="2" priority="1"/></default><worldbody><geom name="a" size="1" margin=".3" solref=".1 1"/>
        <body pos="5 0 0"><freejoint/><geom name="b" size="1" condim="6"/></body></worldbody>
        <contact><pair geom1="a" geom2="b" friction="3 3"/></contact></mujoco>"#;
    let loaded = load(text);
    let (model, scene) = (&loaded.model, &loaded.scene);
    assert_eq!((scene.geoms[0].margin, scene.geoms[1].margin, scene.pairs[0].margin), (0.01, 0.01, 0.02));
    for material in scene.geoms.iter().map(|geom| geom.material).chain([scene.pairs[0].material]) {
        let Material { friction, torsional_friction, rolling_friction, compliance, .. } = model.materials[material];
        assert_eq!([friction, torsional_friction], [0.7, 0.5]);
        assert_eq!(rolling_friction, 0.4);
        let plain = world(r#"<geom size="1" solref="0.02 1" solimp=".5 .5"/>"#).model.materials[0].compliance;
        assert!(compliance == plain && compliance != Compliance::NearRigid);
    }
    let off = load(&text.replace("enable", "disable"));
    assert_eq!(off.scene.geoms[0].margin, 0.3);
}

#[test]
fn parents_touch_where_the_filter_is_off() {
    let text = |flag: &str| {
        format!(
            r#"<mujoco><option><flag filterparent="{flag}"/></option><worldbody><body><freejoint/><geom size="1"/>
            <body><joint/><geom size=".1"/></body></body></worldbody></mujoco>"#
        )
    };
    assert!(load(&text("disable")).scene.parents_touch);
    assert!(!load(&text("enable")).scene.parents_touch);
}
