use multibody::JointKind;
use spatial::Vec3;

use super::*;

/// The model of an arm, whose reader must have nothing to complain about.
fn quiet(kind: &str, content: &str) -> Model {
    let model = load(&arm(kind, content)).model;
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    model
}

#[test]
fn revolute_about_its_axis_at_its_origin() {
    let content =
        "<origin xyz=\"1 2 3\" rpy=\"0 0 1.5707963267948966\"/><axis xyz=\"0 1 0\"/><limit lower=\"-1\" upper=\"2\"/>";
    let model = quiet("revolute", content);
    assert_eq!(model.joints[0].range, Some((-1.0, 2.0)));
    // The origin turns x to y, y to −x; then the joint turns the link's z to its x, the world's y.
    let pose = placement(&model, "arm", &[std::f64::consts::FRAC_PI_2]);
    near(pose.transform_point(Vec3::new(0.0, 0.0, 1.0)).to_array(), [1.0, 3.0, 3.0]);
}

#[test]
fn roll_pitch_yaw_turn_about_fixed_axes() {
    let model = quiet("fixed", "<origin rpy=\"1.5707963267948966 0 1.5707963267948966\"/>");
    let pose = placement(&model, "arm", &[]);
    // Roll takes y to z, which yaw leaves; about moving axes it would be x.
    near((pose.rot * Vec3::new(0.0, 1.0, 0.0)).to_array(), [0.0, 0.0, 1.0]);
    near((pose.rot * Vec3::new(1.0, 0.0, 0.0)).to_array(), [0.0, 1.0, 0.0]);
}

#[test]
fn continuous_joints_have_no_limits_and_turn_about_x_by_default() {
    let model = quiet("continuous", "<limit effort=\"7\"/>");
    let joint = &model.joints[0];
    assert_eq!(joint.kind, JointKind::Revolute { axis: Vec3::new(1.0, 0.0, 0.0) });
    assert_eq!((joint.range, joint.effort_limit), (None, Some((-7.0, 7.0))));
}

#[test]
fn prismatic() {
    let model = quiet("prismatic", "<axis xyz=\"0 0 1\"/><limit lower=\"0\" upper=\"0.5\"/>");
    near(placement(&model, "arm", &[0.25]).pos.to_array(), [0.0, 0.0, 0.25]);
}

#[test]
fn fixed_joints_leave_no_joint() {
    let model = quiet("fixed", "<origin xyz=\"0 0 4\"/><axis xyz=\"0 0 0\"/><limit effort=\"1\" velocity=\"1\"/>");
    assert!(model.joints.is_empty());
    near(placement(&model, "arm", &[]).pos.to_array(), [0.0, 0.0, 4.0]);
}

#[test]
fn planar_moves_across_its_axis_and_turns_about_it() {
    let model = quiet("planar", "<axis xyz=\"0 0 1\"/>");
    let pose = placement(&model, "arm", &[1.0, 2.0, std::f64::consts::FRAC_PI_2]);
    near(pose.pos.to_array(), [1.0, 2.0, 0.0]);
    near((pose.rot * Vec3::new(1.0, 0.0, 0.0)).to_array(), [0.0, 1.0, 0.0]);
}

#[test]
fn floating_below_a_fixed_link_is_free() {
    let model = quiet("floating", "<origin xyz=\"0 0 1\"/>");
    assert_eq!(model.joints[0].kind, JointKind::Free);
    assert_eq!(model.q0, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn floating_below_a_moving_link_is_composed() {
    let options = LoadOptions { floating_base: true, ..LoadOptions::default() };
    let text = arm("floating", "").replace("<link name=\"base\"/>", &format!("<link name=\"base\">{INERTIAL}</link>"));
    let loaded = load_str(&text, None, &options).unwrap();
    warns(&loaded, "three prismatic joints");
    let model = loaded.model;
    let joints: Vec<(&str, &str)> = model.joints[1..].iter().map(|j| (j.name.as_str(), j.kind.name())).collect();
    assert_eq!(joints, [("j_x", "prismatic"), ("j_y", "prismatic"), ("j_z", "prismatic"), ("j", "ball")]);
    let q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0];
    let pose = placement(&model, "arm", &q);
    near(pose.transform_point(Vec3::new(0.0, 0.0, 1.0)).to_array(), [1.0, 2.0, 2.0]);
}

#[test]
fn damping_and_friction() {
    let loaded = load(&arm("continuous", "<dynamics damping=\"0.5\" friction=\"0.25\"/>"));
    assert_eq!((loaded.model.damping[0], loaded.model.friction_loss[0]), (0.5, 0.25));
    assert!(loaded.model.warnings.is_empty(), "{:?}", loaded.model.warnings);
}

#[test]
fn infinite_limits_are_no_limits() {
    let model = quiet("revolute", "<limit lower=\"-inf\" upper=\"inf\" effort=\"inf\" velocity=\"inf\"/>");
    assert_eq!((model.joints[0].range, model.joints[0].effort_limit), (None, None));
}

#[test]
fn what_is_not_simulated_is_named() {
    let limit = "<limit lower=\"0\" upper=\"1\"";
    for (content, expected) in [
        (format!("{limit} velocity=\"3\"/>"), "limit velocity: speeds are not limited"),
        (format!("{limit}/><safety_controller k_velocity=\"3\"/>"), "safety_controller: not simulated"),
        (format!("{limit}/><calibration rising=\"0\"/>"), "calibration: not simulated"),
        (format!("{limit} jerk=\"3\"/>"), "limit jerk: "),
    ] {
        let loaded = load(&arm("revolute", &content));
        warns(&loaded, expected);
        assert_eq!(loaded.model.warnings[0].line, 4);
    }
    let text =
        arm("revolute", &format!("{limit}/>")).replace("</robot>", "<gazebo/>\n<gazebo/><transmission/></robot>");
    let warnings: Vec<String> = load(&text).model.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings[0].starts_with("<text>:5: ") && warnings[0].contains("gazebo: ") && warnings[0].contains("2 places"),
        "{warnings:?}"
    );
    assert!(
        warnings[1].starts_with("<text>:6: ") && warnings[1].contains("transmission: ") && warnings.len() == 2,
        "{warnings:?}"
    );
}

#[test]
fn nonsense_is_an_error_at_its_line() {
    for (kind, content, expected) in [
        ("hinge", "", "type=\"hinge\": expected revolute, continuous, prismatic, fixed, floating, planar or spherical"),
        ("revolute", "<limit lower=\"1\" upper=\"0\"/>", "expected lower ≤ upper"),
        ("revolute", "<limit lower=\"nan\"/>", "lower=\"nan\": expected a number"),
        ("revolute", "<axis xyz=\"0 1\"/>", "2 numbers: expected 3"),
        ("revolute", "<axis xyz=\"0 1 inf\"/>", "expected finite numbers"),
        ("continuous", "<dynamics damping=\"-1\"/>", "damping: -1: expected"),
        ("fixed", "<origin xyz=\"a b c\"/>", "expected finite numbers"),
    ] {
        let error = error(&arm(kind, content));
        assert!(error.message().contains(expected) && error.line() == 4, "{error}\n{expected}");
    }
}

/// Joints whose limits exclude 0, and one that follows: at 0 links are where the file draws them, and the MJCF text is the same model.
#[test]
fn joints_that_start_away_from_0_come_back() {
    let joint = |name: &str, kind: &str, [above, below]: [&str; 2], content: &str| {
        format!(
            r#"<joint name="{name}" type="{kind}"><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.7 1.1"/><axis xyz="0.6 0 0.8"/>
            <parent link="{above}"/><child link="{below}"/>{content}</joint>"#
        )
    };
    let links = ["a", "b", "c", "d"].map(|name| format!("<link name=\"{name}\">{INERTIAL}</link>")).concat();
    let text = format!(
        "<robot name=\"r\">{links}{}{}{}</robot>",
        joint("ab", "revolute", ["a", "b"], r#"<limit lower="0.3" upper="1"/>"#),
        joint("bc", "prismatic", ["b", "c"], r#"<limit lower="-2" upper="-0.7"/>"#),
        joint("cd", "continuous", ["c", "d"], r#"<mimic joint="ab" multiplier="-3" offset="0.2"/>"#),
    );
    let free = text.replace("<limit", "<safety").replace("<mimic", "<safety");
    let [mut first, free] = [text, free].map(|text| load(&text));
    assert_eq!(first.model.q0, [0.3, -0.7, -3.0 * 0.3 + 0.2]);
    assert_eq!(free.model.q0, [0.0; 3]);
    for q in [[0.0; 3], [0.4, -1.0, 2.0]] {
        for body in ["b", "c", "d"] {
            let [a, b] = [&first, &free].map(|loaded| placement(&loaded.model, body, &q));
            near(a.pos.to_array(), b.pos.to_array());
            near((a.rot * Vec3::new(1.0, 2.0, 3.0)).to_array(), (b.rot * Vec3::new(1.0, 2.0, 3.0)).to_array());
        }
    }
    let written = sapwood_formats::to_mjcf(&first.model, &first.scene, &sapwood_formats::WriteOptions::default());
    let mut second = load(&written.unwrap().text);
    first.model.warnings.clear();
    second.model.warnings.clear();
    let [first, second] = [first, second].map(|loaded| sapwood_formats::to_bytes(&loaded.model, &loaded.scene));
    assert!(first == second);
}
