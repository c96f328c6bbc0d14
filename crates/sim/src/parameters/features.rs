//! What of a model can be switched off as a whole.

use geometry::Scene;
use multibody::{ActuatorLaw, Model};

/// A part of the dynamics, as MJCF's flags name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Contacts of geoms.
    Contact,
    /// Gravity.
    Gravity,
    /// Limits of joints and tendons.
    Limit,
    /// Forces of actuators.
    Actuation,
    /// Dry friction of joints and tendons.
    Frictionloss,
    /// Springs of joints and tendons.
    Spring,
    /// Damping of joints and tendons.
    Damper,
}

impl Feature {
    /// All of them, in the order of [`Parameter::Disabled`](super::Parameter::Disabled).
    pub const ALL: [Self; 7] =
        [Self::Contact, Self::Gravity, Self::Limit, Self::Actuation, Self::Frictionloss, Self::Spring, Self::Damper];

    /// Takes it out of a model.
    pub(super) fn disable(self, model: &mut Model, scene: &mut Scene) {
        let Model { joints, tendons, .. } = model;
        match self {
            Self::Contact => {
                scene.pairs.clear();
                scene.geoms.iter_mut().for_each(|geom| (geom.contype, geom.conaffinity) = (0, 0));
            }
            Self::Gravity => model.gravity = spatial::Vec3::ZERO,
            Self::Limit => {
                joints.iter_mut().for_each(|joint| joint.range = None);
                tendons.iter_mut().for_each(|tendon| tendon.range = None);
            }
            Self::Actuation => {
                model.actuators.iter_mut().for_each(|actuator| actuator.law = ActuatorLaw::fixed(0.0, [0.0; 3]));
            }
            Self::Frictionloss => {
                model.friction_loss.fill(0.0);
                tendons.iter_mut().for_each(|tendon| tendon.friction_loss = 0.0);
            }
            Self::Spring => {
                model.stiffness.fill(0.0);
                joints.iter_mut().for_each(|joint| joint.polynomial.spring = [0.0; 2]);
                for tendon in tendons {
                    (tendon.stiffness, tendon.polynomial.spring) = (0.0, [0.0; 2]);
                }
            }
            Self::Damper => {
                model.damping.fill(0.0);
                joints.iter_mut().for_each(|joint| joint.polynomial.damper = [0.0; 2]);
                for tendon in tendons {
                    (tendon.damping, tendon.polynomial.damper) = (0.0, [0.0; 2]);
                }
            }
        }
    }
}
