//! Actuators.

use multibody::{JointKind, Transmission};

use super::numbers::{list, number};
use super::xml::{Attributes, Xml};
use super::{WriteError, Writer, label, named};

/// The group of actuators that give no force.
pub(super) const DISABLED_GROUP: u32 = 30;

impl Writer<'_> {
    pub(super) fn actuators(&mut self, xml: &mut Xml) -> Result<(), WriteError> {
        if self.model.actuators.is_empty() {
            return Ok(());
        }
        xml.open("actuator", &[]);
        for (index, actuator) in self.model.actuators.iter().enumerate() {
            let label = label("actuator", &actuator.name, index);
            let mut attributes = named(&self.actuators[index]);
            attributes.extend(self.transmission(&actuator.transmission, &label)?);
            let (gain, bias) = (actuator.law.gain, actuator.law.bias);
            // MuJoCo and the reader take this one for a damping ratio.
            if gain == -bias[1] && bias[2] > 0.0 {
                let reason = "a position servo that pushes along its velocity: MJCF takes that for a damping ratio";
                return Err(WriteError { element: label, reason: reason.into() });
            }
            let (kind, law): (_, Attributes) = match bias {
                [0.0, 0.0, 0.0] if gain == 1.0 => ("motor", Vec::new()),
                [0.0, p, d] if p == -gain && gain > 0.0 => {
                    let kv = if d == 0.0 { Vec::new() } else { vec![("kv", number(-d))] };
                    ("position", [("kp", number(gain))].into_iter().chain(kv).collect())
                }
                [0.0, 0.0, d] if d == -gain && gain > 0.0 => ("velocity", vec![("kv", number(gain))]),
                [0.0, 0.0, 0.0] => ("general", vec![("gainprm", number(gain))]),
                _ => {
                    let bias = vec![("biastype", "affine".into()), ("biasprm", list(&bias))];
                    ("general", [("gainprm", number(gain))].into_iter().chain(bias).collect())
                }
            };
            attributes.extend(law);
            for (range, key, flag) in [
                (actuator.ctrl_range, "ctrlrange", "ctrllimited"),
                (actuator.force_range, "forcerange", "forcelimited"),
            ] {
                if let Some(range) = range {
                    attributes.extend([(key, self.interval(range, false, &label)), (flag, "true".into())]);
                }
            }
            xml.empty(kind, &attributes);
        }
        xml.close("actuator");
        Ok(())
    }

    fn transmission(&mut self, transmission: &Transmission, label: &str) -> Result<Attributes, WriteError> {
        let fail = |reason: &str| Err(WriteError { element: label.into(), reason: reason.into() });
        let geared = |gear: &[f64]| if gear == [1.0] { Vec::new() } else { vec![("gear", list(gear))] };
        match *transmission {
            Transmission::Joint { joint, gear } => match self.model.joints[joint].kind {
                JointKind::Universal { .. } | JointKind::Planar { .. } => {
                    fail("acts on a joint of several axes, which MJCF has not: expected single axes")
                }
                _ => Ok([("joint", self.joints[joint].clone())].into_iter().chain(geared(&[gear])).collect()),
            },
            Transmission::JointAxes { joint, gear } => match self.model.joints[joint].kind {
                JointKind::Ball | JointKind::Free => {
                    Ok(vec![("joint", self.joints[joint].clone()), ("gear", list(&gear))])
                }
                _ => fail("acts along axes of a joint that MJCF has not: expected a ball or free joint"),
            },
            Transmission::Tendon { tendon, gear } => {
                Ok([("tendon", self.tendons[tendon].clone())].into_iter().chain(geared(&[gear])).collect())
            }
            Transmission::Unsupported => {
                let Some(joint) = self.model.joints.iter().position(|joint| joint.kind != JointKind::Weld) else {
                    return fail("gives no force, and there is no joint that it could stand at");
                };
                self.note(label, "gives no force in this model: it is written as one of a group that is switched off");
                Ok(vec![("joint", self.joints[joint].clone()), ("group", DISABLED_GROUP.to_string())])
            }
        }
    }
}
