//! The recursive Newton–Euler algorithm in two passes (RBDA §5.3), in world axes with classical accelerations.

use spatial::{Mat3, Real, Twist, Vec3, Wrench};

use super::articulated::joint_motion;
use super::broadcast::{Accelerations, Broadcast, Coordinates, read_sym, read_vec};
use super::fused::{plus_cross, plus_product};
use super::packed::{PackedNode, PackedTree};
use super::placed::{Frame, PLACED, Placed, centripetal, place_joint};
use crate::{JointType, NO_PARENT};

/// Scratch of inverse dynamics.
#[derive(Clone, Debug, Default)]
pub struct InverseDynamics<T> {
    placed: Vec<[T; PLACED]>,
    accelerations: Vec<Twist<T>>,
    wrenches: Vec<Wrench<T>>,
}

impl<T: Real> InverseDynamics<T> {
    /// Scratch for a tree.
    pub fn new(tree: &PackedTree<T::Scalar>) -> Self {
        let n = tree.len();
        Self {
            placed: vec![[T::ZERO; PLACED]; n],
            accelerations: vec![Twist::ZERO; n],
            wrenches: vec![Wrench::ZERO; n],
        }
    }
}

impl<T: Real> InverseDynamics<T>
where
    T::Scalar: Broadcast<T>,
{
    /// τ = M v̇ + C, at `q` (nq), `v`, `acceleration` (nv), in the field `gravity`; `q` as in
    /// [`ForwardDynamics::aba`](super::ForwardDynamics::aba).
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn rnea<I: Broadcast<T>>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        q: &[I],
        v: &[I],
        acceleration: &[I],
        gravity: Vec3<T>,
        tau: &mut [I],
    ) {
        for (i, node) in tree.nodes.iter().enumerate() {
            let (constants, q, v) = (&node.constants, &q[node.q..], &v[node.v..]);
            let pos = read_vec(constants.pos);
            let (before, out) = self.placed.split_at_mut(i);
            let out = &mut out[0];
            // An accelerated world is a world with gravity.
            let base = if node.parent == NO_PARENT {
                place_joint(node.joint, node.turned, constants, &Frame::WORLD, pos, q, v, out);
                Twist { ang: Vec3::ZERO, lin: -gravity }
            } else {
                let parent = Placed::from_array(&before[node.parent]).frame;
                place_joint(node.joint, node.turned, constants, &parent, parent.rot * pos, q, v, out);
                self.accelerations[node.parent]
            };
            let placed = Placed::from_array(out);
            let motion = accelerate(node, &placed, base, gravity, &acceleration[node.v..]);
            self.accelerations[i] = motion;
            self.wrenches[i] = inertial_force(node, &placed.frame, motion);
        }
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let (placed, f) = (Placed::from_array(&self.placed[i]), self.wrenches[i]);
            project(node, placed.frame.rot, f, &mut tau[node.v..]);
            if node.parent != NO_PARENT {
                let parent = &mut self.wrenches[node.parent];
                parent.ang = plus_cross(parent.ang + f.ang, placed.offset, f.lin);
                parent.lin += f.lin;
            }
        }
    }
}

/// The acceleration of a node, given its parent's.
#[inline(always)]
fn accelerate<T: Real, C: Broadcast<T>, I: Broadcast<T>>(
    node: &PackedNode<C>,
    placed: &Placed<T>,
    base: Twist<T>,
    gravity: Vec3<T>,
    x: &[I],
) -> Twist<T> {
    let rot = placed.frame.rot;
    let ang = base.ang + placed.coriolis.ang;
    let lin = plus_cross(base.lin + placed.coriolis.lin, base.ang, placed.offset);
    match node.joint {
        JointType::Ball => Twist { ang: plus_product(ang, rot, x.read3()), lin },
        JointType::Free => Twist { ang: rot * (&x[3..]).read3(), lin: x.read3() - gravity },
        _ => {
            let axis = rot * read_vec(node.constants.axis);
            Twist { ang, lin } + joint_motion(node.joint, &node.constants, axis) * x.read1()
        }
    }
}

/// The force that the node's own inertia takes, about its origin (Newton, Euler; the moments of inertia in its own
/// axes).
#[inline(always)]
fn inertial_force<T: Real, C: Broadcast<T>>(node: &PackedNode<C>, frame: &Frame<T>, motion: Twist<T>) -> Wrench<T> {
    let (rot, omega) = (frame.rot, frame.omega);
    let inertia = read_sym(node.constants.inertia);
    let (ang, spin) = (rot.transpose_mul(motion.ang), rot.transpose_mul(omega));
    let own = plus_cross(inertia * ang, spin, inertia * spin);
    let moment = rot * read_vec(node.constants.moment);
    let lin =
        plus_cross(centripetal(omega, moment).add_scaled(node.constants.mass.read(), motion.lin), motion.ang, moment);
    Wrench { ang: plus_product(moment.cross(motion.lin), rot, own), lin }
}

/// Sᵀ f.
#[inline(always)]
pub(super) fn project<T: Real, C: Broadcast<T>>(
    node: &PackedNode<C>,
    rot: Mat3<T>,
    f: Wrench<T>,
    mut out: impl Accelerations<T>,
) {
    let (ang, lin) = (f.ang, f.lin);
    match node.joint {
        JointType::Ball => {
            let x = rot.transpose_mul(ang);
            out.write([x.x, x.y, x.z]);
        }
        JointType::Free => {
            let x = rot.transpose_mul(ang);
            out.write([lin.x, lin.y, lin.z, x.x, x.y, x.z]);
        }
        _ => {
            let axis = rot * read_vec(node.constants.axis);
            out.write([joint_motion(node.joint, &node.constants, axis).dot(f)]);
        }
    }
}
