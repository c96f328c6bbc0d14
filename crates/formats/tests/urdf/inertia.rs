use super::*;

/// The text of an arm whose `<inertial>` is this.
fn with_inertial(inertial: &str) -> String {
    arm("continuous", "<axis xyz=\"0 0 1\"/>").replace(INERTIAL, inertial)
}

#[test]
fn inertia_is_about_the_centre_of_mass_in_the_axes_of_its_origin() {
    let inertial = "<inertial><origin xyz=\"3 4 5\" rpy=\"0 1.5707963267948966 0\"/><mass value=\"2\"/>\
                    <inertia ixx=\"0.3\" iyy=\"0.2\" izz=\"0.25\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";
    let loaded = load(&with_inertial(inertial));
    let model = &loaded.model;
    assert!(model.warnings.is_empty());
    assert_eq!((model.bodies[2].inertia.mass, model.bodies[2].inertia.com.to_array()), (2.0, [3.0, 4.0, 5.0]));
    // About the joint's axis z, which is the inertia's x: 0.3 + 2 (3² + 4²).
    let mut kinematics = Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), &[0.7], &mut kinematics);
    let mut matrix = [0.0];
    let mut workspace = multibody::CrbaWorkspace::new(&model.tree);
    multibody::mass_matrix(&model.tree, model.tree.all(), &kinematics, None, &mut workspace, &mut matrix, 1, 0);
    assert!((matrix[0] - 50.3).abs() < 1e-13, "{matrix:?}");
}

#[test]
fn products_of_inertia() {
    let inertial = "<inertial><mass value=\"2\"/>\
                    <inertia ixx=\"0.3\" iyy=\"0.2\" izz=\"0.25\" ixy=\"0.01\" ixz=\"0.02\" iyz=\"0.03\"/></inertial>";
    let i = load(&with_inertial(inertial)).model.bodies[2].inertia.inertia;
    near([i.xy(), i.xz(), i.yz()], [0.01, 0.02, 0.03]);
    near([i.xx(), i.yy(), i.zz()], [0.3, 0.2, 0.25]);
}

#[test]
fn a_link_that_does_not_move_needs_no_mass() {
    assert_eq!(load(&arm("fixed", "").replace(INERTIAL, "")).model.mass(), 0.0);
}

#[test]
fn a_link_that_moves_needs_mass() {
    for inertial in ["", "<inertial><mass value=\"0\"/></inertial>"] {
        let error = error(&with_inertial(inertial));
        assert!(error.line() == 3 && error.message().contains("body \"arm\" moves by joint \"j\""), "{error}");
    }
}

#[test]
fn the_mass_may_be_in_a_link_that_is_fixed_to_it() {
    let tool = format!(
        "<link name=\"tool\">{INERTIAL}</link><joint name=\"f\" type=\"fixed\"><parent link=\"arm\"/><child link=\"tool\"/></joint></robot>"
    );
    let text = with_inertial("").replace("</robot>", &tool);
    assert_eq!(load(&text).model.nv(), 1);
}

/// An `<inertial>` of 1 kg with these moments.
fn moments(xx: f64, yy: f64, zz: f64) -> String {
    let inertia = format!("<inertia ixx=\"{xx}\" iyy=\"{yy}\" izz=\"{zz}\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>");
    format!("<inertial><mass value=\"1\"/>{inertia}</inertial>")
}

#[test]
fn moments_that_no_body_has_are_used_with_a_warning() {
    let loaded = load(&with_inertial(&moments(1.0, 1.0, 3.0)));
    warns(&loaded, "<text>:3: inertial: an inertia that no rigid body has");
    assert_eq!(loaded.model.bodies[2].inertia.inertia.zz(), 3.0);
}

#[test]
fn negative_moments_matter_only_where_something_moves() {
    let negative = moments(-1.0, 1.0, 1.0);
    warns(&load(&arm("fixed", "").replace(INERTIAL, &negative)), "an inertia that no rigid body has");
    let error = error(&with_inertial(&negative));
    assert!(error.line() == 3 && error.element() == "inertial", "{error}");
    assert!(error.message().contains("expected a positive semi-definite matrix"), "{error}");
}

#[test]
fn nonsense_is_an_error_at_its_line() {
    for (inertial, expected) in [
        (INERTIAL.replace("value=\"1\"", "value=\"-1\""), "mass -1 kg: expected a mass of 0 or more"),
        (INERTIAL.replace("value=\"1\"", "value=\"nan\""), "expected finite numbers"),
        (INERTIAL.replace("value=\"1\"", ""), "no attribute `value`"),
        (INERTIAL.replace("ixx=\"1\"", ""), "no attribute `ixx`"),
    ] {
        let error = error(&with_inertial(&inertial));
        assert!(error.line() == 3 && error.message().contains(expected), "{error}\n{expected}");
    }
}

#[test]
fn a_link_without_inertia_is_a_point() {
    let loaded = load(&with_inertial("<inertial><origin xyz=\"1 0 0\"/><mass value=\"1\"/></inertial>"));
    warns(&loaded, "no <inertia>: the link is a point mass");
}
