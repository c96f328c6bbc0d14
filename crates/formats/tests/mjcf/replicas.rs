//! What names an element in `<replicate>` is copied with it, in MuJoCo's order.

use sapwood_formats::Loaded;

use super::{load, try_load};

fn sensors(loaded: &Loaded) -> Vec<&str> {
    loaded.model.sensors.iter().map(|sensor| sensor.name.as_str()).collect()
}

#[test]
fn all_that_refers_to_a_replica_is_copied() {
    let loaded = load(
        r#"<mujoco><worldbody><body name="base"><geom name="g0" size=".1"/><joint name="bj"/><site name="frame"/>
        <replicate count="2" sep="-" offset="0 1 0"><body name="b" pos=".5 0 0"><joint name="j"/><geom name="g" size=".1"/><site name="rf"/>
        <body name="c" pos="1 0 0"><joint name="k"/><geom name="h" size=".1"/></body></body></replicate></body></worldbody>
        <sensor><jointpos name="s" joint="bj"/><tendonpos name="tp" tendon="t"/><actuatorpos name="ap" actuator="mt"/>
        <framepos name="fp" objtype="site" objname="frame" reftype="xbody" refname="b"/><jointpos name="one" joint="j-1"/></sensor>
        <contact><exclude body1="base" body2="b"/><pair geom1="g" geom2="g0"/></contact>
        <tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="bj" coef="2"/></fixed></tendon>
        <equality><joint name="q" joint1="j" joint2="k"/><weld body1="base" body2="c"/></equality>
        <actuator><motor name="m" joint="j"/><motor name="m0" joint="bj"/><motor name="mt" tendon="t"/></actuator></mujoco>"#,
    );
    assert_eq!(sensors(&loaded), ["s", "one", "tp-0", "ap-0", "fp-0", "tp-1", "ap-1", "fp-1"]);
    let model = &loaded.model;
    let actuators: Vec<&str> = model.actuators.iter().map(|actuator| actuator.name.as_str()).collect();
    assert_eq!(actuators, ["m0", "m-0", "mt-0", "m-1", "mt-1"]);
    assert_eq!(loaded.scene.excluded, [[1, 2], [1, 4]]);
    assert_eq!(loaded.scene.pairs.iter().map(|pair| pair.geoms).collect::<Vec<_>>(), [[1, 0], [3, 0]]);
    assert_eq!((model.tendons.len(), model.equalities.len()), (2, 4));
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
}

#[test]
fn replicas_in_replicas_are_copied_from_the_inside() {
    let loaded = load(
        r#"<mujoco><worldbody><replicate count="2" sep="-"><body name="o"><joint name="jo"/><geom size=".1"/>
        <replicate count="3" sep="_"><body name="i"><joint name="ji"/><geom size=".1"/></body></replicate></body></replicate></worldbody>
        <sensor><jointpos name="x" joint="jo"/><jointpos name="y" joint="ji"/>
        <framepos name="z" objtype="body" objname="i" reftype="body" refname="o"/></sensor></mujoco>"#,
    );
    let half = |k: &str| ["x", "y_0", "z_0", "y_1", "z_1", "y_2", "z_2"].map(|name| format!("{name}{k}"));
    assert_eq!(sensors(&loaded), [half("-0"), half("-1")].concat());
}

#[test]
fn copies_of_references_count_towards_the_limit() {
    let sensors = r#"<jointpos joint="j"/>"#.repeat(40);
    let text = format!(
        r#"<mujoco><worldbody><replicate count="30000"><body><joint name="j"/><geom size=".1"/></body></replicate></worldbody>
        <sensor>{sensors}</sensor></mujoco>"#
    );
    let error = try_load(&text).map(|_| ()).expect_err("1.2 million sensors").to_string();
    assert!(error.contains("expected at most 1000000 copied elements"), "{error}");
}
