//! Actuators: force laws of the shortcuts, transmissions, ranges.

use multibody::{Actuator, GearFrame, Transmission};

use crate::{close, load};

/// The actuators of a model with a hinge "j" (range −1…3 rad), a ball "b" and a free joint "f".
fn actuators(defaults: &str, content: &str) -> Vec<Actuator> {
    let text = format!(
        r#"<mujoco><compiler angle="radian"/><default>{defaults}</default><worldbody>
        <body><joint name="j" range="-1 3"/><geom size="1" mass="1"/><site name="s"/></body>
        <body><joint name="b" type="ball"/><geom size="1" mass="1"/></body>
        <body><freejoint name="f"/><geom size="1" mass="1"/></body></worldbody><actuator>{content}</actuator></mujoco>"#
    );
    load(&text).model.actuators
}

/// Gain and bias of the only actuator.
fn law(defaults: &str, content: &str) -> (f64, [f64; 3]) {
    let law = actuators(defaults, content)[0].law;
    (law.gain, law.bias)
}

#[test]
fn force_laws() {
    assert_eq!(law("", r#"<motor joint="j"/>"#), (1.0, [0.0; 3]));
    assert_eq!(law("", r#"<position joint="j" kp="5" kv="2"/>"#), (5.0, [0.0, -5.0, -2.0]));
    assert_eq!(law("", r#"<velocity joint="j" kv="2"/>"#), (2.0, [0.0, 0.0, -2.0]));
    let general = r#"<general joint="j" gainprm="3" biastype="affine" biasprm="1 2 -4"/>"#;
    assert_eq!(law("", general), (3.0, [1.0, 2.0, -4.0]));
    // Without a bias type the numbers have no effect.
    assert_eq!(law("", r#"<general joint="j" gainprm="3" biasprm="1 2 -4"/>"#), (3.0, [0.0; 3]));
}

#[test]
fn shortcuts_share_one_default() {
    let servo = r#"<position kp="5" kv="3"/>"#;
    assert_eq!(law(servo, r#"<position joint="j" kv="1"/>"#), (5.0, [0.0, -5.0, -1.0]));
    assert_eq!(law(servo, r#"<general joint="j" gainprm="7"/>"#), (7.0, [0.0, -5.0, -3.0]));
    // Another shortcut starts anew; what `general` sets is kept.
    assert_eq!(law(servo, r#"<motor joint="j"/>"#), (1.0, [0.0; 3]));
    assert_eq!(law(servo, r#"<velocity joint="j"/>"#), (1.0, [0.0, 0.0, -1.0]));
    assert_eq!(law(r#"<general gainprm="4"/>"#, r#"<position joint="j"/>"#), (4.0, [0.0, -4.0, 0.0]));
    let ranges = actuators(r#"<motor ctrlrange="-2 2"/>"#, r#"<position joint="j"/>"#);
    assert_eq!(ranges[0].ctrl_range, Some((-2.0, 2.0)));
}

#[test]
fn damping_ratio_is_relative_to_critical() {
    // Inertia 0.4 about the hinge; through a gear of 2 it appears as 0.1.
    let (_, bias) = law("", r#"<position joint="j" kp="10" dampratio="0.5" gear="2"/>"#);
    assert!((bias[2] + 2.0 * 0.5 * (10.0_f64 * 0.1).sqrt()).abs() < 1e-15);
}

#[test]
fn transmissions() {
    let content = r#"<motor joint="j" gear="3"/><motor jointinparent="j"/><motor joint="b" gear="1 2 3"/>
        <motor joint="f" gear="0 0 0 1 2 3"/><motor site="s"/><dcmotor joint="b" motorconst="1" resistance="1" input="pos vel" controller="1"/><muscle joint="b"/><muscle joint="j"/>
        <motor jointinparent="b"/><position site="s" refsite="s"/><motor cranksite="s" slidersite="s" cranklength=".3" gear="2"/>"#;
    let found: Vec<Transmission> = actuators("", content).into_iter().map(|a| a.transmission).collect();
    assert_eq!(found[0], Transmission::Joint { joint: 0, gear: 3.0 });
    assert_eq!(found[1], Transmission::Joint { joint: 0, gear: 1.0 });
    let (gear, x) = ([1.0, 2.0, 3.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(found[2], Transmission::JointAxes { joint: 1, gear, frame: GearFrame::Child });
    let turning = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0];
    assert_eq!(found[3], Transmission::JointAxes { joint: 2, gear: turning, frame: GearFrame::Child });
    assert_eq!(found[4], Transmission::Site { site: 0, reference: None, gear: x });
    // Not simulated, but they keep their controls.
    assert_eq!(found[5..8], [Transmission::Unsupported, Transmission::Unsupported, Transmission::Unsupported]);
    let found = &found[1..];
    assert_eq!(found[7], Transmission::Joint { joint: 0, gear: 1.0 });
    assert_eq!(found[8], Transmission::JointAxes { joint: 1, gear: x, frame: GearFrame::Parent });
    assert_eq!(found[9], Transmission::Site { site: 0, reference: Some(0), gear: x });
    assert_eq!(found[10], Transmission::SliderCrank { crank: 0, slider: 0, rod: 0.3, gear: 2.0 });
}

#[test]
fn ranges_of_controls_and_forces() {
    let content = r#"<motor joint="j" ctrlrange="-1 2" forcerange="-3 4"/><motor joint="j" ctrlrange="-1 2" ctrllimited="false"/>
        <position joint="j" inheritrange="0.5"/>"#;
    let found = actuators("", content);
    assert_eq!((found[0].ctrl_range, found[0].force_range), (Some((-1.0, 2.0)), Some((-3.0, 4.0))));
    assert_eq!((found[1].ctrl_range, found[1].force_range), (None, None));
    // Half of −1…3 about its middle.
    let (low, high) = found[2].ctrl_range.unwrap_or_default();
    assert!(close(&[low, high], &[0.0, 2.0], 1e-15));
}

#[test]
fn groups_can_be_disabled() {
    let text = r#"<mujoco><option actuatorgroupdisable="2 5"/><worldbody><body><joint name="j"/><geom size="1"/></body>
        </worldbody><actuator><motor joint="j" group="5"/><motor joint="j" group="1"/></actuator></mujoco>"#;
    let found = load(text).model.actuators;
    assert_eq!(found[0].transmission, Transmission::Unsupported);
    assert_ne!(found[1].transmission, Transmission::Unsupported);
}

/// As many controls as MuJoCo has.
#[test]
fn actuators_with_several_controls_keep_them() {
    let body = "<body><joint name='b' type='ball'/><geom size='1'/></body>";
    let nu = |actuators: &str| {
        let text = format!("<mujoco><worldbody>{body}</worldbody><actuator>{actuators}</actuator></mujoco>");
        crate::load(&text).model.nu()
    };
    assert_eq!(nu("<motor joint='b'/>"), 1);
    assert_eq!(nu("<orientation name='o' joint='b' kp='1'/>"), 3);
    assert_eq!(nu("<orientation name='o' joint='b' kp='1' input='quat'/>"), 4);
    assert_eq!(nu("<pid joint='b' kp='1'/><motor joint='b'/>"), 3);
    assert_eq!(nu("<general joint='b' gaintype='so3' biastype='so3' gainprm='1' biasprm='0 -1'/>"), 3);
}
