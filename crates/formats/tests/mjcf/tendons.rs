//! Tendons: lengths, limits, springs, and what acts along them.

use multibody::{Compliance, PathPoint, Tendon, TendonLook, TendonPath, Transmission};

use crate::{close, load, try_load};

/// A hinge `h` (1 at the default, its spring at rest at 3) and a slide `s` (2 and 5) in a row, and a ball joint.
const BODIES: &str = r#"<compiler angle="radian"/><worldbody><body><joint name="h" ref="1" springref="3"/>
      <geom size="1" mass="1"/><site name="x"/><body><joint name="s" type="slide" ref="2" springref="5"/>
      <geom size="1" mass="2"/><site name="y"/></body></body>
    <body><joint name="ball" type="ball"/><geom name="ball" size="1"/><geom name="box" type="box" size="1 1 1"/></body></worldbody>"#;
const BOTH: &str = r#"<joint joint="h" coef="2"/><joint joint="s" coef="-3"/>"#;

fn text(defaults: &str, tendon: &str, rest: &str) -> String {
    format!("<mujoco>{defaults}{BODIES}<tendon>\n{tendon}</tendon>{rest}</mujoco>")
}

/// The only tendon, along [`BOTH`] with these attributes.
fn tendon(defaults: &str, attributes: &str) -> Tendon {
    load(&text(defaults, &format!("<fixed {attributes}>{BOTH}</fixed>"), "")).model.tendons.remove(0)
}

#[test]
fn a_plain_tendon_is_a_sum_of_coordinates() {
    let expected = Tendon {
        name: "t".into(),
        path: TendonPath::Joints(vec![(0, 2.0), (1, -3.0)]),
        range: None,
        limit_compliance: Compliance::NearRigid,
        stiffness: 0.0,
        damping: 0.0,
        // Where the springs of the joints are at rest.
        rest: (2.0 * 3.0 - 3.0 * 5.0, 2.0 * 3.0 - 3.0 * 5.0),
        friction_loss: 0.0,
        friction_compliance: Compliance::NearRigid,
        armature: 0.0,
        effort_limit: None,
        polynomial: multibody::PolynomialForces::NONE,
        look: TendonLook::default(),
    };
    assert_eq!(tendon("", r#"name="t""#), expected);
}

#[test]
fn parameters_come_from_the_element_and_its_class() {
    let classes = r#"<default><tendon stiffness="4" damping="5" width="1" rgba="1 0 0 1"/><default class="k">
        <tendon range="-1 2" frictionloss="0.5" armature="0.25" springlength="0.1 0.2" solreflimit="-100 -10"/></default></default>"#;
    let found = tendon(classes, r#"class="k" stiffness="6""#);
    assert_eq!((found.stiffness, found.damping, found.range), (6.0, 5.0, Some((-1.0, 2.0))));
    assert_eq!((found.friction_loss, found.armature, found.rest), (0.5, 0.25, (0.1, 0.2)));
    assert!(matches!(found.limit_compliance, Compliance::Reference(_)));
    assert_eq!(tendon(classes, r#"class="k" limited="false""#).range, None);
    let model = load(&text(classes, &format!("<fixed>{BOTH}</fixed>"), "")).model;
    assert_eq!(model.warnings, []);
}

#[test]
fn the_spring_is_slack_between_its_lengths() {
    assert_eq!(tendon("", r#"springlength="0.3""#).rest, (0.3, 0.3));
    assert_eq!(tendon("", r#"springlength="-0.5 0.3""#).rest, (-0.5, 0.3));
    // −1 alone stands for the springs of the joints, beside another number for itself.
    assert_eq!(tendon("", r#"springlength="-1""#).rest, (-9.0, -9.0));
    assert_eq!(tendon("", r#"springlength="-1 0.3""#).rest, (-1.0, 0.3));
}

#[test]
fn flags_switch_parts_off() {
    let all = r#"stiffness="1" damping="2" range="0 1" frictionloss="3""#;
    let parts = |flag: &str| {
        let t = tendon(&format!("<option><flag {flag}=\"disable\"/></option>"), all);
        (t.stiffness, t.damping, t.range.is_some(), t.friction_loss)
    };
    assert_eq!(parts("spring"), (0.0, 2.0, true, 3.0));
    assert_eq!(parts("damper"), (1.0, 0.0, true, 3.0));
    assert_eq!(parts("limit"), (1.0, 2.0, false, 3.0));
    assert_eq!(parts("frictionloss"), (1.0, 2.0, true, 0.0));
    assert_eq!(parts("constraint"), (1.0, 2.0, false, 0.0));
}

#[test]
fn actuators_pull_along_tendons() {
    let tendons = format!(
        r#"<spatial name="far"><site site="x"/><site site="y"/></spatial><fixed name="t" range="-4 8">{BOTH}</fixed>"#
    );
    let actuators = r#"<actuator><motor tendon="t" gear="2"/><position tendon="t" inheritrange="0.5"/>
        <motor tendon="far"/></actuator>"#;
    let loaded = load(&text("", &tendons, actuators));
    let found: Vec<&Transmission> = loaded.model.actuators.iter().map(|a| &a.transmission).collect();
    assert_eq!(found[0], &Transmission::Tendon { tendon: 1, gear: 2.0 });
    assert_eq!(found[1], &Transmission::Tendon { tendon: 1, gear: 1.0 });
    assert_eq!(found[2], &Transmission::Tendon { tendon: 0, gear: 1.0 });
    let (low, high) = loaded.model.actuators[1].ctrl_range.unwrap_or_default();
    assert!(close(&[low, high], &[-1.0, 5.0], 1e-15));
    assert_eq!(loaded.model.warnings, []);
}

#[test]
fn a_tendon_limits_the_force_of_its_actuator() {
    let range = |motor: &str| {
        let tendon = format!(r#"<fixed name="t" actuatorfrcrange="-20 5">{BOTH}</fixed>"#);
        let actuator = format!(r#"<actuator><motor tendon="t" gear="3" {motor}/></actuator>"#);
        load(&text("", &tendon, &actuator)).model.actuators[0].force_range
    };
    assert_eq!(range(""), Some((-20.0, 5.0)));
    assert_eq!(range(r#"forcerange="-2 9""#), Some((-2.0, 5.0)));
    assert_eq!(range(r#"forcerange="6 9""#), Some((5.0, 5.0)));
}

#[test]
fn a_tendon_limits_the_sum_of_the_forces_of_its_actuators() {
    let tendon = format!(r#"<fixed name="t" actuatorfrcrange="-20 5">{BOTH}</fixed>"#);
    let actuators = r#"<actuator><motor tendon="t" forcerange="-2 9"/><motor tendon="t"/></actuator>"#;
    let model = load(&text("", &tendon, actuators)).model;
    assert_eq!((model.tendons[0].effort_limit, &model.warnings[..]), (Some((-20.0, 5.0)), &[][..]));
    assert_eq!((model.actuators[0].force_range, model.actuators[1].force_range), (Some((-2.0, 9.0)), None));
}

#[test]
fn damping_ratio_counts_the_inertia_along_the_tendon() {
    // The hinge and the slide are along z through the centres: inertias 0.4 + 0.8 and mass 2. Along the tendon with
    // armature a: 1/I₀ = 4/1.2 + 9/2, I = I₀ + a, seen through a gear of 2 as I/4.
    let inertia = 1.0 / (4.0 / 1.2 + 9.0 / 2.0) + 0.5;
    let servo = r#"<actuator><position tendon="t" kp="10" dampratio="0.7" gear="2"/></actuator>"#;
    let model = load(&text("", &format!(r#"<fixed name="t" armature="0.5">{BOTH}</fixed>"#), servo)).model;
    let expected = -2.0 * 0.7 * (10.0 * inertia / 4.0_f64).sqrt();
    assert!((model.actuators[0].law.bias[2] - expected).abs() < 1e-14, "{:?}", model.actuators[0].law);
}

#[test]
fn nonsense_is_an_error_at_its_element() {
    for (content, word) in [
        ("<fixed/>", "at least one"),
        (r#"<fixed><joint joint="nowhere" coef="1"/></fixed>"#, "nowhere"),
        (r#"<fixed><joint joint="ball" coef="1"/></fixed>"#, "hinge or slide"),
        (r#"<fixed><joint joint="h"/></fixed>"#, "coef"),
        (r#"<fixed><joint coef="1"/></fixed>"#, "joint"),
        (r#"<fixed><joint joint="h" coef="nan"/></fixed>"#, "finite"),
        (r#"<fixed><joint joint="h" coef="1 2"/></fixed>"#, "expected 1 number"),
        (r#"<fixed><joint joint="h" coef="1"/><joint joint="h" coef="1"/></fixed>"#, "second time"),
        (r#"<fixed range="1 -1"><joint joint="h" coef="1"/></fixed>"#, "range"),
        (r#"<fixed limited="true"><joint joint="h" coef="1"/></fixed>"#, "range"),
        (r#"<fixed springlength="2 1"><joint joint="h" coef="1"/></fixed>"#, "ascending"),
        (r#"<fixed springlength="1 2 3"><joint joint="h" coef="1"/></fixed>"#, "one number"),
        (r#"<fixed springlength=""><joint joint="h" coef="1"/></fixed>"#, "one number"),
        (r#"<fixed stiffness="-1"><joint joint="h" coef="1"/></fixed>"#, "tendon 0: stiffness"),
        (r#"<fixed damping="-1"><joint joint="h" coef="1"/></fixed>"#, "damping"),
        (r#"<fixed name="t" frictionloss="-1"><joint joint="h" coef="1"/></fixed>"#, "tendon \"t\": friction loss"),
        (r#"<fixed armature="-1"><joint joint="h" coef="1"/></fixed>"#, "armature"),
        (r#"<fixed><joint joint="h" coef="1e308"/><joint joint="s" coef="1e308"/></fixed>"#, "rest length"),
    ] {
        let error = try_load(&text("", content, "")).map(|_| ()).expect_err(content);
        assert!(error.message().contains(word), "{content}: {error}");
        assert_eq!(error.line() as usize, BODIES.lines().count() + 1, "{content}: {error}");
    }
    for (content, word) in [
        ("<spatial/>", "expected two sites or more"),
        (r#"<spatial><site site="x"/></spatial>"#, "two sites or more"),
        (r#"<spatial><site site="x"/><site site="x"/></spatial>"#, "site 0 comes twice"),
        (r#"<spatial><site site="x"/><site site="nowhere"/></spatial>"#, "nowhere"),
        (r#"<spatial><site site="x"/><joint joint="h"/></spatial>"#, "<site>, <geom> or <pulley>"),
        (r#"<spatial><site/><site site="x"/></spatial>"#, "site"),
        (r#"<spatial><geom geom="ball"/><site site="x"/></spatial>"#, "before and after each geom"),
        (r#"<spatial><site site="x"/><geom geom="ball"/></spatial>"#, "before and after each geom"),
        (r#"<spatial><site site="x"/><geom geom="ball"/><geom geom="ball"/><site site="y"/></spatial>"#, "each geom"),
        (r#"<spatial><site site="x"/><geom geom="box"/><site site="y"/></spatial>"#, "a sphere or a cylinder"),
        (r#"<spatial><site site="x"/><geom geom="ball" sidesite="z"/><site site="y"/></spatial>"#, "\"z\""),
        (r#"<spatial><site site="x"/><pulley/><site site="y"/></spatial>"#, "divisor"),
        (r#"<spatial><site site="x"/><site site="y"/><pulley divisor="0"/><site site="x"/></spatial>"#, "above 0"),
        (r#"<spatial><site site="x"/><pulley divisor="2"/><site site="y"/></spatial>"#, "stands alone"),
        (r#"<spatial><site site="x"/><site site="y"/><pulley divisor="2"/></spatial>"#, "behind the last one"),
        (r#"<spatial springlength="2 1"><site site="x"/><site site="y"/></spatial>"#, "ascending"),
        (r#"<spatial damping="-1"><site site="x"/><site site="y"/></spatial>"#, "damping"),
    ] {
        let error = try_load(&text("", content, "")).map(|_| ()).expect_err(content);
        assert!(error.message().contains(word), "{content}: {error}");
        assert_eq!(error.line() as usize, BODIES.lines().count() + 1, "{content}: {error}");
    }
    let missing = r#"<actuator><motor tendon="nowhere"/></actuator>"#;
    assert!(try_load(&text("", "", missing)).is_err_and(|error| error.message().contains("nowhere")));
}

#[test]
fn strings_pass_sites_pulleys_and_geoms() {
    let path = r#"<pulley divisor="4"/><site site="x"/><geom geom="ball" sidesite="y"/><site site="y"/>
        <pulley divisor="2"/><site site="y"/><site site="x"/>"#;
    let model = load(&text("", &format!(r#"<spatial stiffness="1" armature="2">{path}</spatial>"#), "")).model;
    let TendonPath::Spatial(branches) = &model.tendons[0].path else { panic!("{:?}", model.tendons[0]) };
    assert_eq!(branches.iter().map(|branch| branch.divisor).collect::<Vec<_>>(), [4.0, 2.0]);
    let PathPoint::Obstacle(obstacle) = &branches[0].points[1] else { panic!("{branches:?}") };
    assert_eq!((obstacle.body, obstacle.radius, obstacle.side), (3, 1.0, Some(1)));
    assert_eq!(branches[1].points, [PathPoint::Site(1), PathPoint::Site(0)]);
    // The spring rests where those of the joints do: the slide 3 from its reference, along which the sites are apart.
    let apart = model.tendons[0].length(&model, &model.spring_reference);
    assert_eq!(model.tendons[0].rest, (apart, apart));
    assert!(model.tendons[0].armature == 2.0 && model.warnings.is_empty(), "{:?}", model.warnings);
}
