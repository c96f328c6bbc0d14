//! Joints that follow others.

use multibody::{Compliance, Coordinate, Equality, EqualityKind};

use crate::{INERTIAL, error, load, warns};

/// Links in a row, the joints `j0`, `j1`, … between them of these types and with this content, one to a line from 2 on.
fn chain(joints: &[(&str, &str)]) -> String {
    let link = |i: usize| format!("<link name=\"l{i}\">{INERTIAL}</link>");
    let joint = |(i, (kind, content)): (usize, &(&str, &str))| {
        let ends = format!("<parent link=\"l{i}\"/><child link=\"l{}\"/>", i + 1);
        format!("\n<joint name=\"j{i}\" type=\"{kind}\">{ends}{content}</joint>")
    };
    let links: String = (0..=joints.len()).map(link).collect();
    let joints: String = joints.iter().enumerate().map(joint).collect();
    format!("<robot name=\"r\">{links}{joints}</robot>")
}

#[test]
fn a_mimic_is_a_coupling() {
    let text = chain(&[
        ("continuous", r#"<mimic joint="j2" multiplier="-2" offset="0.5"/>"#),
        ("fixed", r#"<mimic joint="nowhere"/>"#),
        ("prismatic", r#"<limit lower="-1" upper="1" effort="3"/>"#),
        ("continuous", r#"<mimic joint="j0"/>"#),
    ]);
    let model = load(&text).model;
    let coupling = |name: &str, y, x, slope| Equality {
        name: name.into(),
        kind: EqualityKind::Coupling { y, x: Some(x), polynomial: [0.0, slope, 0.0, 0.0, 0.0] },
        compliance: Compliance::NearRigid,
        active: true,
    };
    // About where the joints start: j0 and j3 at 0.5.
    let [j0, j2, j3] = [(0, 0.5), (1, 0.0), (2, 0.5)].map(|(joint, start)| (Coordinate::Joint(joint), start));
    let expected = [coupling("j0", j0, j2, -2.0), coupling("j3", j3, j0, 1.0)];
    assert_eq!(model.equalities, expected);
    assert_eq!((model.joints[1].effort_limit, model.warnings.len()), (Some((-3.0, 3.0)), 0));
}

#[test]
fn the_default_configuration_obeys_a_chain_of_them() {
    // j2 starts at its lower limit 0.5, j1 follows it, j0 follows j1.
    let text = chain(&[
        ("continuous", r#"<mimic joint="j1" multiplier="3" offset="-1"/>"#),
        ("continuous", r#"<mimic joint="j2" multiplier="2" offset="0.25"/>"#),
        ("revolute", r#"<limit lower="0.5" upper="1"/>"#),
    ]);
    assert_eq!(load(&text).model.q0, [3.0 * 1.25 - 1.0, 1.25, 0.5]);
}

#[test]
fn rings_leave_the_default_alone() {
    let text = chain(&[
        ("continuous", r#"<mimic joint="j1" multiplier="1e200" offset="1e200"/>"#),
        ("continuous", r#"<mimic joint="j0" multiplier="1e200" offset="1e200"/>"#),
    ]);
    let model = load(&text).model;
    assert_eq!((model.q0, model.equalities.len()), (vec![0.0, 0.0], 2));
}

#[test]
fn to_follow_a_fixed_joint_is_to_be_held() {
    let loaded = load(&chain(&[("continuous", r#"<mimic joint="j1" offset="0.5"/>"#), ("fixed", "")]));
    warns(&loaded, "held at the offset");
    let [equality] = &loaded.model.equalities[..] else { panic!("{:?}", loaded.model.equalities) };
    let EqualityKind::Coupling { y, x: None, polynomial: [constant, ..] } = equality.kind else {
        panic!("{equality:?}")
    };
    assert_eq!((y, constant), ((Coordinate::Joint(0), 0.5), 0.0));
    assert_eq!(loaded.model.q0, [0.5]);
}

#[test]
fn to_follow_what_is_not_there_is_to_move_freely() {
    let loaded = load(&chain(&[("continuous", r#"<mimic joint="nowhere" offset="0.5"/>"#)]));
    warns(&loaded, "names no joint of this robot: this one moves freely");
    assert_eq!((loaded.model.equalities.len(), loaded.model.q0), (0, vec![0.0]));
}

#[test]
fn nonsense_is_an_error_at_its_line() {
    let planar = ("planar", "");
    for (kind, mimic, expected) in [
        ("continuous", r#"<mimic/>"#, "no attribute `joint`"),
        ("continuous", r#"<mimic joint="j0"/>"#, "another revolute, continuous or prismatic joint"),
        ("continuous", r#"<mimic joint="j1"/>"#, "another revolute, continuous or prismatic joint"),
        ("continuous", r#"<mimic joint="j2" multiplier="nan"/>"#, "expected finite numbers"),
        ("continuous", r#"<mimic joint="j2" offset="1 2"/>"#, "2 numbers: expected 1 number"),
        ("planar", r#"<mimic joint="j2"/>"#, "at a revolute, continuous or prismatic joint"),
    ] {
        let error = error(&chain(&[(kind, mimic), planar, ("continuous", "")]));
        assert!(error.message().contains(expected) && error.line() == 2, "{mimic}: {error}");
    }
}
