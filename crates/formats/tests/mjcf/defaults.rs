//! Default classes: nesting, childclass, class, and what outranks what.

use crate::load;

fn radii(text: &str) -> Vec<f64> {
    let radius = |g: &geometry::Geom| match g.shape {
        geometry::Shape::Sphere { radius } => radius,
        ref other => panic!("{other:?}"),
    };
    load(text).scene.geoms.iter().map(radius).collect()
}

#[test]
fn nested_classes_inherit_and_override() {
    let text = r#"<mujoco><default><geom size="1"/>
        <default class="a"><default class="b"><geom mass="3"/></default><geom size="2"/></default></default>
        <worldbody><geom/><geom class="a"/><geom class="b"/><geom class="b" size="4"/></worldbody></mujoco>"#;
    // Class b stands before the size of its parent and has it all the same.
    assert_eq!(radii(text), [1.0, 2.0, 2.0, 4.0]);
}

#[test]
fn childclass_reaches_down_until_another_and_yields_to_class() {
    let text = r#"<mujoco><default><default class="a"><geom size="1"/></default>
        <default class="b"><geom size="2"/></default></default>
        <worldbody><body childclass="a"><geom/><geom class="b"/><body><geom/>
          <body childclass="b"><geom/></body></body><frame childclass="b"><geom/></frame></body></worldbody></mujoco>"#;
    // Geoms of a body come before those of its children.
    assert_eq!(radii(text), [1.0, 2.0, 2.0, 1.0, 2.0]);
}

#[test]
fn a_section_may_be_repeated_and_the_outermost_class_may_have_a_name() {
    let text = r#"<mujoco><default class="main"><geom size="1"/></default><default><geom size="2"/></default>
        <worldbody><geom/><geom class="main"/></worldbody></mujoco>"#;
    assert_eq!(radii(text), [2.0, 2.0]);
}

#[test]
fn an_orientation_of_the_element_replaces_another_form_of_its_class() {
    let text = r#"<mujoco><default><geom euler="90 0 0" size="1 2 3"/></default>
        <worldbody><geom type="box" quat="1 0 0 0"/></worldbody></mujoco>"#;
    assert_eq!(load(text).scene.geoms[0].pose.rot, spatial::Quat::IDENTITY);
}
