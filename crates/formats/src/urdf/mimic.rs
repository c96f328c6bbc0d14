//! `<mimic>`: joints that follow others.

use std::collections::BTreeMap;

use multibody::{Compliance, Coordinate, Equality, EqualityKind, ModelBuilder};

use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// What a joint of the file has become.
#[derive(Clone, Copy)]
enum Motion {
    Fixed,
    /// One joint of the model with one degree of freedom.
    Scalar(usize),
    Other,
}

/// Collects the joints that follow others, and what the names of these mean.
#[derive(Default)]
pub(super) struct Mimics<'a> {
    motions: BTreeMap<&'a str, Motion>,
    followers: Vec<Follower<'a>>,
}

/// A joint that follows another.
struct Follower<'a> {
    mimic: Element<'a>,
    name: &'a str,
    motion: Motion,
}

/// `q[joint] = multiplier · q[leader] + offset`; without a leader the offset alone.
#[derive(Clone, Copy)]
struct Rule {
    leader: Option<usize>,
    multiplier: f64,
    offset: f64,
}

impl<'a> Mimics<'a> {
    /// Notes a `<joint>` that has become `joints` of the model, given by their indices and degrees of freedom.
    pub fn add(&mut self, element: Element<'a>, joints: &[(usize, usize)]) -> Result<(), LoadError> {
        let name = element.required("name")?;
        let motion = match *joints {
            [] => Motion::Fixed,
            [(joint, 1)] => Motion::Scalar(joint),
            _ => Motion::Other,
        };
        self.motions.insert(name, motion);
        // At a joint that does not move it means nothing.
        if let Some(mimic) = element.child("mimic").filter(|_| !joints.is_empty()) {
            self.followers.push(Follower { mimic, name, motion });
        }
        Ok(())
    }

    /// Adds the couplings to the model. The joints of the whole file must be known.
    pub fn finish(&self, builder: &mut ModelBuilder, warnings: &mut Warnings) -> Result<(), LoadError> {
        for follower in &self.followers {
            let Motion::Scalar(joint) = follower.motion else {
                return Err(follower.mimic.error("expected it at a revolute, continuous or prismatic joint"));
            };
            let rule = self.rule(follower.mimic, joint, warnings)?;
            let Some(Rule { leader, multiplier, offset }) = rule else { continue };
            let kind = EqualityKind::Coupling {
                y: (Coordinate::Joint(joint), 0.0),
                x: leader.map(|leader| (Coordinate::Joint(leader), 0.0)),
                polynomial: [offset, multiplier, 0.0, 0.0, 0.0],
            };
            let name = follower.name.into();
            builder.equalities.push(Equality { name, kind, compliance: Compliance::NearRigid, active: true });
        }
        Ok(())
    }

    fn rule(&self, mimic: Element<'a>, joint: usize, warnings: &mut Warnings) -> Result<Option<Rule>, LoadError> {
        let name = mimic.required("joint")?;
        let multiplier = mimic.number("multiplier")?.unwrap_or(1.0);
        let offset = mimic.number("offset")?.unwrap_or(0.0);
        let leader = match self.motions.get(name) {
            Some(&Motion::Scalar(leader)) if leader != joint => Some(leader),
            Some(Motion::Fixed) => {
                warnings.add(mimic, "the joint that it names is fixed: this one is held at the offset");
                None
            }
            Some(_) => {
                let expected = "expected the name of another revolute, continuous or prismatic joint";
                return Err(mimic.error(format!("joint=\"{name}\": {expected}")));
            }
            // Files that are cut out of larger robots have such.
            None => {
                warnings.add(mimic, "names no joint of this robot: this one moves freely");
                return Ok(None);
            }
        };
        Ok(Some(Rule { leader, multiplier, offset }))
    }
}
