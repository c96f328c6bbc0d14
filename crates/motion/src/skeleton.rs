//! Who hangs on whom, and where.

use multibody::{Model, NO_PARENT, forward_kinematics};
use spatial::{Pose, Quat, Vec3};

use crate::{Channel, ChannelKind, Posture};

/// A joint of a [`Skeleton`].
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletonJoint {
    /// Name.
    pub name: String,
    /// Index of the parent, less than this one's; `None` for the root alone.
    pub parent: Option<usize>,
    /// Where it is in the parent's frame, with the figure at rest and in the world's axes, m; of the root, where it is
    /// in the world.
    pub offset: Vec3<f64>,
    /// Ends of bones that bear no joint (BVH `End Site`), in this joint's frame, m.
    pub ends: Vec<Vec3<f64>>,
}

/// The joints of a figure, the root first, in a rest pose in which all frames have the world's axes.
///
/// A posture over a skeleton has the skeleton's joints but the root as its channels, in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    joints: Vec<SkeletonJoint>,
}

/// Why joints are no skeleton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkeletonError {
    /// No joints at all.
    #[error("no joints: expected a root")]
    Empty,
    /// The first joint has a parent, or another one has none before it.
    #[error("joint {name:?}: expected {expected}")]
    Parent {
        /// The joint.
        name: String,
        /// What was expected.
        expected: &'static str,
    },
    /// An offset that is no place.
    #[error("joint {name:?}: offset: expected finite numbers")]
    Offset {
        /// The joint.
        name: String,
    },
}

impl Skeleton {
    /// The skeleton of these joints, the root first and parents before their children.
    ///
    /// # Errors
    /// When there are no joints, they are in another order, or an offset is not finite.
    pub fn new(joints: Vec<SkeletonJoint>) -> Result<Self, SkeletonError> {
        if joints.is_empty() {
            return Err(SkeletonError::Empty);
        }
        for (k, joint) in joints.iter().enumerate() {
            let expected = match (k, joint.parent) {
                (0, Some(_)) => Some("no parent, as it is the root"),
                (0, None) => None,
                (_, Some(parent)) if parent < k => None,
                _ => Some("a parent that comes before it"),
            };
            if let Some(expected) = expected {
                return Err(SkeletonError::Parent { name: joint.name.clone(), expected });
            }
            if !joint.offset.is_finite() {
                return Err(SkeletonError::Offset { name: joint.name.clone() });
            }
        }
        Ok(Self { joints })
    }

    /// The joints, the root first and parents before their children.
    pub fn joints(&self) -> &[SkeletonJoint] {
        &self.joints
    }

    /// The skeleton of the tree of `model` whose root is its first free joint, at rest in the model's default
    /// configuration. Joints without a name have their body's. `None` if nothing moves freely.
    pub fn of_model(model: &Model) -> Option<Self> {
        let tree = &model.tree;
        let range = tree.trees.iter().find(|r| tree.nodes[r.start].joint == multibody::JointType::Free)?.clone();
        let mut kinematics = multibody::Kinematics::new(tree);
        forward_kinematics(tree, range.clone(), &model.q0, &mut kinematics);
        let mut joints = Vec::with_capacity(range.len());
        for i in range.clone() {
            let parent = tree.nodes[i].parent;
            let owner = model.joints.iter().find(|j| j.nodes.contains(&i))?;
            let name = if owner.name.is_empty() { &model.bodies[owner.body].name } else { &owner.name };
            let at = kinematics.frames[i].pos;
            let (parent, offset) = match parent {
                NO_PARENT => (None, at),
                p => (Some(p - range.start), at - kinematics.frames[p].pos),
            };
            joints.push(SkeletonJoint { name: name.clone(), parent, offset, ends: Vec::new() });
        }
        Self::new(joints).ok()
    }

    /// The index of the joint of this name.
    pub fn joint(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|j| j.name == name)
    }

    /// The channels of a motion of this skeleton: a ball for every joint but the root.
    pub fn channels(&self) -> Vec<Channel> {
        let rest = self.joints.iter().skip(1);
        rest.map(|j| Channel { name: j.name.clone(), kind: ChannelKind::Ball }).collect()
    }

    /// The frame of joint `joint` in the world in a posture over this skeleton, by the chain up to the root.
    ///
    /// # Panics
    /// When the skeleton has no such joint or the posture is not over it.
    pub fn frame(&self, joint: usize, posture: &Posture) -> Pose<f64> {
        let mut pose = Pose::IDENTITY;
        let mut at = joint;
        while let Some(parent) = self.joints[at].parent {
            let rotation = posture.joints[at - 1].rotation(ChannelKind::Ball);
            pose = Pose::new(self.joints[at].offset, rotation) * pose;
            at = parent;
        }
        posture.root * pose
    }

    /// The position of every joint in the world at rest, m.
    pub fn rest_positions(&self) -> Vec<Vec3<f64>> {
        let mut at: Vec<Vec3<f64>> = Vec::with_capacity(self.joints.len());
        for joint in &self.joints {
            let base = joint.parent.map_or(Vec3::ZERO, |p| at[p]);
            at.push(base + joint.offset);
        }
        at
    }

    /// The posture at rest.
    pub fn rest(&self) -> Posture {
        let joints = vec![crate::JointValue::Rotation(Quat::IDENTITY); self.joints.len() - 1];
        Posture { root: Pose::new(self.joints[0].offset, Quat::IDENTITY), joints }
    }
}
