//! Actuators that a URDF file does not have: those of its transmissions, or one for each joint.

use multibody::{ActuatorLaw, Transmission};
use sapwood_formats::{Actuators, SERVO_FREQUENCY};

use super::*;

const LIMIT: &str = "<axis xyz=\"0 1 0\"/><limit lower=\"-1\" upper=\"2\" effort=\"7\"/>";

fn with(actuators: Actuators, text: &str) -> Loaded {
    load_str(text, None, &LoadOptions { actuators, ..LoadOptions::default() }).unwrap()
}

/// Two joints, of which the second mimics the first, and what is said behind them.
fn two(transmissions: &str) -> String {
    let second = format!(
        "<link name=\"finger\">{INERTIAL}</link><joint name=\"k\" type=\"revolute\"><parent link=\"arm\"/><child link=\"finger\"/>{LIMIT}\
         <mimic joint=\"j\"/></joint>{transmissions}</robot>"
    );
    arm("revolute", LIMIT).replace("</robot>", &second)
}

#[test]
fn motors_of_joints_that_follow_no_other() {
    let loaded = with(Actuators::Motors, &two(""));
    let [motor] = &loaded.model.actuators[..] else { panic!("{:?}", loaded.model.actuators) };
    assert_eq!((motor.name.as_str(), motor.ctrl_range), ("j", Some((-7.0, 7.0))));
    assert_eq!(motor.law, ActuatorLaw::fixed(1.0, [0.0; 3]));
    assert_eq!(motor.transmission, Transmission::Joint { joint: 0, gear: 1.0 });
    assert!(load(&two("")).model.actuators.is_empty());
}

#[test]
fn servos_are_critically_damped_at_the_inertia_behind_them() {
    let loaded = with(Actuators::PositionServos, &arm("revolute", LIMIT));
    let servo = &loaded.model.actuators[0];
    // 1 kg·m² about the joint.
    let kp = SERVO_FREQUENCY * SERVO_FREQUENCY;
    assert_eq!(servo.ctrl_range, Some((-1.0, 2.0)));
    assert!((servo.law.gain / kp - 1.0).abs() < 1e-12, "{servo:?}");
    assert!((servo.law.bias[1] / -kp - 1.0).abs() < 1e-12);
    assert!((servo.law.bias[2] / (-2.0 * SERVO_FREQUENCY) - 1.0).abs() < 1e-12);
}

#[test]
fn transmissions_name_joints_and_actuators() {
    let named = "<transmission name=\"t\"><type>SimpleTransmission</type><joint name=\"k\"><hardwareInterface>EffortJointInterface\
                 </hardwareInterface></joint><actuator name=\"motor\"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>";
    let loaded = with(Actuators::Motors, &two(named));
    let [motor] = &loaded.model.actuators[..] else { panic!("{:?}", loaded.model.actuators) };
    assert_eq!(motor.name, "motor");
    assert_eq!(motor.transmission, Transmission::Joint { joint: 1, gear: 1.0 });
    assert!(loaded.model.warnings.is_empty(), "{:?}", loaded.model.warnings);
    warns(&load(&two(named)), "unless loading asks for actuators");
    let of_none = named.replace("joint name=\"k\"", "joint name=\"x\"");
    warns(&with(Actuators::Motors, &two(&of_none)), "names no joint with one degree of freedom");
}
