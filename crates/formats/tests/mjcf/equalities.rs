//! Equality constraints: what they hold, zero where it should be, and what is not held.

use multibody::{Compliance, Coordinate, Equality, EqualityKind, Kinematics, Model};
use spatial::{Pose, Quat, Vec3};

use crate::{close, load, try_load};

/// A free body `a` with a site, on it a hinge `h` (0.5 at the default) with body `b`, on that a slide `s` (0.2) with body
/// `c`; a ball joint beside, and a body `fix` that does not move.
const BODIES: &str = r#"<compiler angle="radian"/><worldbody><site name="w" pos="1 2 3" euler="0.1 0.2 0.3"/>
    <body name="a" pos="0 0 1" euler="0.3 0 0"><freejoint name="free"/><geom name="ga" size="0.1"/>
      <site name="sa" pos="0.1 0.2 0.3" euler="0.5 0 0"/>
      <body name="b" pos="0.3 0 0" euler="0.1 0.2 0.7"><joint name="h" ref="0.5" pos="0.1 0 0" axis="1 2 3"/>
        <geom name="gb" size="0.2"/><site name="sb" pos="0 0 0.1" euler="1 2 3"/>
        <body name="c" pos="0.3 0 0"><joint name="s" type="slide" ref="0.2"/><geom name="gc" size="0.1"/></body></body></body>
    <body name="d" pos="2 0 1"><joint name="ball" type="ball"/><geom name="gd" type="box" size="0.1 0.1 0.1"/></body>
    <body name="fix" pos="0 1 0" euler="1 0 0"><geom name="gf" size="0.1"/></body></worldbody>
    <tendon><fixed name="t"><joint joint="h" coef="2"/></fixed>
      <fixed name="u"><joint joint="h" coef="-1"/><joint joint="s" coef="2"/></fixed>
      <spatial name="far"><site site="sa"/><site site="sb"/></spatial></tendon>"#;

fn with(content: &str) -> Model {
    load(&format!("<mujoco>{BODIES}<equality>{content}</equality></mujoco>")).model
}

fn only(content: &str) -> Equality {
    let model = with(content);
    let [equality] = &model.equalities[..] else { panic!("{:?}", model.equalities) };
    equality.clone()
}

/// The residuals of every equality constraint at the configuration `q`.
fn residuals(model: &Model, q: &[f64]) -> Vec<Vec<f64>> {
    let mut kinematics = Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), q, &mut kinematics);
    let mut rows = Vec::new();
    multibody::equality_residuals(model, &kinematics, q, &mut rows);
    model.equalities.iter().map(|equality| rows.drain(..equality.kind.rows()).collect()).collect()
}

/// A configuration away from the default.
fn elsewhere(model: &Model) -> Vec<f64> {
    let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.1);
    let mut q = model.q0.clone();
    q[..9].copy_from_slice(&[0.3, -0.2, 0.9, turn.w, turn.x, turn.y, turn.z, -0.4, 0.7]);
    q[9..].copy_from_slice(&[turn.w, turn.z, turn.x, turn.y]);
    q
}

#[test]
fn what_refers_to_the_default_configuration_holds_there() {
    let model = with(
        r#"<connect body1="a" anchor="1 2 3"/><connect body1="a" body2="c" anchor="1 2 3"/>
        <connect body1="world" body2="d" anchor="1 2 3"/><weld body1="a"/><weld body1="c" body2="fix" anchor="1 2 3"/>
        <weld body1="b" body2="d" relpose="9 9 9 0 0 0 0"/><joint joint1="h"/><joint joint1="h" joint2="s"/>
        <tendon tendon1="t"/><tendon tendon1="t" tendon2="u" polycoef="0 2 3 4 5"/>"#,
    );
    assert_eq!(model.equalities.len(), 10);
    for (equality, residual) in model.equalities.iter().zip(residuals(&model, &model.q0)) {
        assert!(residual.iter().all(|r| r.abs() < 1e-14), "{equality:?}: {residual:?}");
    }
    // And not elsewhere.
    for (equality, residual) in model.equalities.iter().zip(residuals(&model, &elsewhere(&model))) {
        assert!(residual.iter().any(|r| r.abs() > 1e-3), "{equality:?}: {residual:?}");
    }
}

#[test]
fn a_connect_holds_its_anchor_in_both_bodies() {
    let equality = only(r#"<connect name="pin" body1="a" anchor="1 2 3"/>"#);
    let EqualityKind::Connect { bodies, anchors } = equality.kind else { panic!("{equality:?}") };
    assert_eq!((equality.name.as_str(), bodies, anchors[0].to_array()), ("pin", [1, 0], [1.0, 2.0, 3.0]));
    // Turned by 0.3 about x, then up by 1.
    let (sin, cos) = 0.3_f64.sin_cos();
    assert!(close(&anchors[1].to_array(), &[1.0, 2.0 * cos - 3.0 * sin, 1.0 + 2.0 * sin + 3.0 * cos], 1e-15 * 4.0));
    let model = with(r#"<connect site1="w" site2="sb"/>"#);
    let EqualityKind::Connect { bodies, anchors } = model.equalities[0].kind.clone() else { panic!("a connect") };
    assert_eq!((bodies, anchors.map(Vec3::to_array)), ([0, 2], [[1.0, 2.0, 3.0], [0.0, 0.0, 0.1]]));
}

#[test]
fn a_weld_holds_the_pose_that_it_is_given() {
    let equality = only(r#"<weld body1="a" body2="d" anchor="1 2 3" relpose="4 5 6 0 2 0 0"/>"#);
    let half_turn = Pose::new(Vec3::new(4.0, 5.0, 6.0), Quat::new(0.0, 1.0, 0.0, 0.0));
    let anchor = Pose::new(Vec3::new(1.0, 2.0, 3.0), Quat::IDENTITY);
    assert_eq!(equality.kind, EqualityKind::Weld { bodies: [1, 4], frames: [half_turn, anchor], torque_scale: 1.0 });
    let model = with(r#"<weld site1="sa" site2="sb"/>"#);
    let EqualityKind::Weld { bodies: [1, 2], frames, .. } = model.equalities[0].kind else {
        panic!("{:?}", model.equalities)
    };
    let numbers = |pose: Pose<f64>| {
        let (Vec3 { x, y, z, .. }, q) = (pose.pos, pose.rot);
        [x, y, z, q.w, q.x, q.y, q.z]
    };
    for (frame, site) in frames.into_iter().zip(&model.sites[1..]) {
        assert!(close(&numbers(frame), &numbers(site.pose), 1e-15), "{frame:?}");
    }
}

#[test]
fn a_weld_without_torque_is_a_connect() {
    let equality = only(r#"<weld body1="a" body2="d" relpose="4 5 6 0 2 0 0" torquescale="0"/>"#);
    let anchors = [Vec3::new(4.0, 5.0, 6.0), Vec3::ZERO];
    assert_eq!(equality.kind, EqualityKind::Connect { bodies: [1, 4], anchors });
    let model = with(r#"<weld body1="a" body2="d" torquescale="3"/>"#);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    assert!(matches!(model.equalities[0].kind, EqualityKind::Weld { torque_scale: 3.0, .. }));
}

#[test]
fn couplings_are_polynomials_about_the_default() {
    let equality = only(r#"<joint joint1="h" joint2="s" polycoef="1 2 3"/>"#);
    let expected = EqualityKind::Coupling {
        y: (Coordinate::Joint(1), 0.5),
        x: Some((Coordinate::Joint(2), 0.2)),
        polynomial: [1.0, 2.0, 3.0, 0.0, 0.0],
    };
    assert_eq!(equality.kind, expected);
    let model = with(
        r#"<joint joint1="h" joint2="s" polycoef="1 2 3 4 5"/><joint joint1="s" joint2="" polycoef="1"/>
        <tendon tendon1="t" tendon2="u"/><tendon tendon1="u" polycoef="0.25"/>"#,
    );
    // h = −0.4 and s = 0.7: 0.9 below and 0.5 above their references. t = 2 h, u = 2 s − h.
    let found = residuals(&model, &elsewhere(&model)).concat();
    let polynomial = 1.0 + 2.0 * 0.5 + 3.0 * 0.25 + 4.0 * 0.125 + 5.0 * 0.0625;
    assert!(close(&found, &[-0.9 - polynomial, 0.5 - 1.0, -1.8 - 1.9, 1.9 - 0.25], 1e-15 * 8.0), "{found:?}");
}

#[test]
fn a_distance_is_that_of_the_surfaces_of_spheres() {
    let equality = only(r#"<distance geom1="gb" geom2="gf" distance="0.25"/>"#);
    let EqualityKind::Distance { bodies, distance, .. } = equality.kind else { panic!("{equality:?}") };
    assert_eq!(bodies, [2, 5]);
    assert!((distance - 0.55).abs() < 1e-15);
    let model = with(r#"<distance geom1="gb" geom2="gd"/>"#);
    assert!(model.equalities.is_empty());
    assert!(model.warnings.iter().any(|w| w.message.contains("other than spheres")), "{:?}", model.warnings);
}

#[test]
fn defaults_switches_and_compliance() {
    let classes = r#"<default><equality solref="-100 -10" solimp="0.5 0.5"/>
        <default class="off"><equality active="false"/></default></default>"#;
    let content = r#"<joint joint1="h"/><joint joint1="h" class="off"/><joint joint1="h" class="off" active="true"/>"#;
    let text = |option: &str| format!("<mujoco>{option}{classes}{BODIES}<equality>{content}</equality></mujoco>");
    let active = |option: &str| load(&text(option)).model.equalities.iter().map(|e| e.active).collect::<Vec<_>>();
    assert_eq!(active(""), [true, false, true]);
    assert_eq!(active(r#"<option><flag equality="disable"/></option>"#), [false; 3]);
    assert_eq!(active(r#"<option><flag constraint="disable"/></option>"#), [false; 3]);
    let Compliance::Reference(reference) = load(&text("")).model.equalities[1].compliance else {
        panic!("a reference");
    };
    assert_eq!((reference.solref, &reference.solimp[..2]), ([-100.0, -10.0], &[0.5, 0.5][..]));
    assert_eq!(only(r#"<joint joint1="h"/>"#).compliance, Compliance::NearRigid);
}

#[test]
fn what_cannot_be_held_is_left_out_with_a_warning() {
    for (content, word) in [
        (r#"<connect body1="fix" anchor="0 0 0"/>"#, "move as one"),
        (r#"<weld body1="world" body2="fix"/>"#, "move as one"),
        (r#"<flex flex="f"/>"#, "not simulated"),
    ] {
        let model = with(content);
        assert!(model.equalities.is_empty(), "{content}: {:?}", model.equalities);
        assert!(model.warnings.iter().any(|w| w.message.contains(word)), "{content}: {:?}", model.warnings);
    }
}

#[test]
fn nonsense_is_an_error_at_its_element() {
    for (content, word) in [
        (r#"<connect body1="nowhere" anchor="0 0 0"/>"#, "nowhere"),
        (r#"<connect body1="a" body2="nowhere" anchor="0 0 0"/>"#, "nowhere"),
        (r#"<connect anchor="0 0 0"/>"#, "body1"),
        (r#"<connect body1="a"/>"#, "anchor"),
        (r#"<connect body1="a" anchor="0 0"/>"#, "expected 3 numbers"),
        (r#"<connect body1="a" anchor="0 0 nan"/>"#, "finite"),
        (r#"<connect body1="a" anchor="0 0 1e999"/>"#, "finite"),
        (r#"<connect body1="b" anchor="1.7e308 1.7e308 1.7e308"/>"#, "finite"),
        (r#"<connect body1="a" body2="a" anchor="0 0 0"/>"#, "two bodies"),
        (r#"<connect site1="sa"/>"#, "site2"),
        (r#"<connect site1="sa" body2="b"/>"#, "two sites, or bodies"),
        (r#"<connect site1="sa" site2="nowhere"/>"#, "nowhere"),
        (r#"<weld/>"#, "body1"),
        (r#"<weld body1="a" relpose="1 2 3"/>"#, "expected 7 numbers"),
        (r#"<weld body1="a" torquescale="much"/>"#, "finite"),
        (r#"<joint/>"#, "joint1"),
        (r#"<joint joint1="nowhere"/>"#, "nowhere"),
        (r#"<joint joint1="ball"/>"#, "hinge or slide"),
        (r#"<joint joint1="h" joint2="free"/>"#, "hinge or slide"),
        (r#"<joint joint1="h" joint2="h"/>"#, "twice"),
        (r#"<joint joint1="h" polycoef="1 2 3 4 5 6"/>"#, "at most 5"),
        (r#"<joint joint1="h" polycoef="inf"/>"#, "finite"),
        (r#"<joint joint1="h" active="maybe"/>"#, "active"),
        (r#"<joint joint1="h" solref="1e-200 1e-200"/>"#, "finite stiffness"),
        (r#"<joint joint1="h" class="nowhere"/>"#, "nowhere"),
        (r#"<tendon tendon1="nowhere"/>"#, "nowhere"),
        (r#"<tendon tendon1="t" tendon2="t"/>"#, "twice"),
        (r#"<distance geom1="ga" geom2="nowhere"/>"#, "nowhere"),
        (r#"<distance geom1="ga" geom2="gb" distance="-1"/>"#, "centres"),
    ] {
        let text = format!("<mujoco>{BODIES}<equality>\n{content}</equality></mujoco>");
        let error = try_load(&text).map(|_| ()).expect_err(content);
        assert!(error.message().contains(word), "{content}: {error}");
        assert_eq!(error.line() as usize, BODIES.lines().count() + 1, "{content}: {error}");
    }
    let twice = r#"<joint name="x" joint1="h"/><weld name="x" body1="a"/>"#;
    let text = format!("<mujoco>{BODIES}<equality>{twice}</equality></mujoco>");
    assert!(try_load(&text).is_err_and(|error| error.message().contains("no other equality")));
}

#[test]
fn couplings_of_strings_refer_to_their_default_lengths() {
    let model = with(r#"<tendon tendon1="t" tendon2="far"/><tendon tendon1="far"/>"#);
    let q = elsewhere(&model);
    let default = residuals(&model, &model.q0).concat();
    assert!(close(&default, &[0.0, 0.0], 1e-15), "{default:?}");
    let length = |q: &[f64]| model.tendons[2].length(&model, q) - model.tendons[2].length(&model, &model.q0);
    let expected = [2.0 * (q[7] - 0.5) - length(&q), length(&q)];
    let found = residuals(&model, &q).concat();
    assert!(length(&q).abs() > 1e-3 && close(&found, &expected, 1e-14), "{found:?} {expected:?}");
}
