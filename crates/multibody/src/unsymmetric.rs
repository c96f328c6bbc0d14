//! The impedance articulated-body algorithm where impedances of nodes are not symmetric:
//!
//! ```text
//! (M + Λ + Σ_b J_bᵀ Ĝ_b J_b) x = r,    Ĝ_b = G_b + Σ w fᵀ
//! ```
//!
//! in O(n). Friction that is bounded by its contact's own normal impulse pushes with a wrench w for each unit of the motion that f
//! measures, and nothing pushes back. What a joint leaves of an inertia is then made of two products, one for the wrenches on it and one
//! for the motions that they come from: forces are reduced by the first, motions expanded by the second, each as
//! [`Factor`](crate::Factor) does.

use spatial::{ArticulatedInertia, Mat3, Sym3, Twist, Vec3, Wrench};

use crate::elimination::Eliminated;
use crate::kinematics::{joint_axis, set3, vec3};
use crate::{JointImpedance, JointType, Kinematics, NO_PARENT, Node, NodeFrame, Tree};

/// An operator from the motion of a node to the wrench `wrench` for each unit of power that the motion has with `per_motion`, both about
/// the node's origin in world axes.
#[derive(Clone, Copy, Debug)]
pub struct Dyad {
    /// The node, in its tree.
    pub node: usize,
    /// The wrench.
    pub wrench: Wrench<f64>,
    /// What the motion is measured by.
    pub per_motion: Wrench<f64>,
}

/// An operator from twists to wrenches, in blocks \[\[a, b\], \[d, c\]\], angular first.
#[derive(Clone, Copy, Debug)]
struct Operator {
    a: Mat3<f64>,
    b: Mat3<f64>,
    c: Mat3<f64>,
    d: Mat3<f64>,
}

impl Operator {
    const ZERO: Self = Self { a: Mat3::ZERO, b: Mat3::ZERO, c: Mat3::ZERO, d: Mat3::ZERO };

    fn new(ArticulatedInertia { a, b, c }: &ArticulatedInertia<f64>) -> Self {
        Self { a: a.to_mat3(), b: *b, c: c.to_mat3(), d: b.transpose() }
    }

    fn plus(&self, o: &Self) -> Self {
        Self { a: self.a + o.a, b: self.b + o.b, c: self.c + o.c, d: self.d + o.d }
    }

    /// `self` + w fᵀ.
    fn plus_outer(&self, w: Wrench<f64>, f: Wrench<f64>) -> Self {
        Self {
            a: self.a.plus_outer(w.ang, f.ang),
            b: self.b.plus_outer(w.ang, f.lin),
            c: self.c.plus_outer(w.lin, f.lin),
            d: self.d.plus_outer(w.lin, f.ang),
        }
    }

    fn transpose(&self) -> Self {
        Self { a: self.a.transpose(), b: self.d.transpose(), c: self.c.transpose(), d: self.b.transpose() }
    }

    fn apply(&self, v: Twist<f64>) -> Wrench<f64> {
        Wrench { ang: self.a * v.ang + self.b * v.lin, lin: self.d * v.ang + self.c * v.lin }
    }

    /// About a point that lies `r` before: with r̂ the cross product, d' = d + c r̂ᵀ, b' = b + r̂ c, a' = a + b r̂ᵀ + r̂ d'.
    fn shifted_back(&self, r: Vec3<f64>) -> Self {
        let cross = |m: Mat3<f64>| Mat3::from_columns(r.cross(m.x), r.cross(m.y), r.cross(m.z));
        let d = self.d + self.c.mul_skew_transpose(r);
        Self { a: self.a + self.b.mul_skew_transpose(r) + cross(d), b: self.b + cross(self.c), c: self.c, d }
    }
}

/// What the elimination of a joint leaves for the way down of a solve.
#[derive(Clone, Copy, Debug)]
enum OfMotions {
    /// One or three degrees of freedom.
    Inner(Eliminated<f64>),
    /// All six, at a root: E = (a + Λ_ω − b C⁻¹ d)⁻¹, the inverse of c + Λ_v, b and d.
    Free { e: Mat3<f64>, c_inv: Mat3<f64>, b: Mat3<f64>, d: Mat3<f64> },
}

/// The factor, and the scratch of its solves.
///
/// # Examples
///
/// A hinge that friction drives on: the force grows with the speed.
///
/// ```
/// use sapwood_multibody::{BodySpec, Dyad, JointImpedance, JointKind, JointSpec, Kinematics, ModelBuilder};
/// use sapwood_multibody::{UnsymmetricFactor, forward_kinematics};
/// use spatial::{ArticulatedInertia, RigidInertia, Sym3, Vec3, Wrench};
///
/// let mut builder = ModelBuilder::new("wheel");
/// let moments = Sym3::diagonal(Vec3::new(1.0, 1.0, 1.0));
/// let inertia = RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: moments };
/// let body = builder.add_body(BodySpec { name: "wheel".into(), inertia, ..BodySpec::default() }).unwrap();
/// builder.add_joint(body, JointSpec::new(JointKind::Revolute { axis: Vec3::new(0.0, 0.0, 1.0) })).unwrap();
/// let model = builder.build().unwrap();
/// let (tree, mut kin) = (&model.tree, Kinematics::new(&model.tree));
/// forward_kinematics(tree, tree.all(), &model.q0, &mut kin);
///
/// let about_z = Wrench { ang: Vec3::new(0.0, 0.0, 1.0), lin: Vec3::ZERO };
/// let dyad = Dyad { node: 0, wrench: about_z * -0.5, per_motion: about_z };
/// let mut factor = UnsymmetricFactor::default();
/// assert!(factor.factor(tree, &kin, &JointImpedance::new(tree), &[ArticulatedInertia::ZERO], [dyad]));
/// let mut speed = [0.0];
/// factor.solve(tree, &kin, &[1.0], &mut speed);
/// assert_eq!(speed, [2.0]);
/// // As much as the inertia resists: nothing would stop it.
/// let most = Dyad { wrench: about_z * -1.0, ..dyad };
/// assert!(!factor.factor(tree, &kin, &JointImpedance::new(tree), &[ArticulatedInertia::ZERO], [most]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct UnsymmetricFactor {
    of_forces: Vec<Eliminated<f64>>,
    of_motions: Vec<OfMotions>,
    whole: Vec<Operator>,
    bias: Vec<Wrench<f64>>,
    motions: Vec<Twist<f64>>,
}

impl UnsymmetricFactor {
    /// Factors the matrix of a tree; false where a pivot is zero or a value is not finite. Allocates only for a tree of more nodes than
    /// any before it.
    ///
    /// `impedance` has the symmetric part of the nodes' impedances, one per node about its origin in world axes; `dyads` are added to it.
    pub fn factor(
        &mut self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        joints: &JointImpedance<f64>,
        impedance: &[ArticulatedInertia<f64>],
        dyads: impl IntoIterator<Item = Dyad>,
    ) -> bool {
        self.of_forces.resize(tree.len(), Eliminated::NONE);
        self.of_motions.resize(tree.len(), OfMotions::Inner(Eliminated::NONE));
        self.whole.resize(tree.len(), Operator::ZERO);
        self.bias.resize(tree.len(), Wrench::ZERO);
        self.motions.resize(tree.len(), Twist::ZERO);
        for ((whole, frame), impedance) in self.whole.iter_mut().zip(&kin.frames).zip(impedance) {
            let mut inertia = frame.inertia.articulated();
            inertia += *impedance;
            *whole = Operator::new(&inertia);
        }
        for Dyad { node, wrench, per_motion } in dyads {
            self.whole[node] = self.whole[node].plus_outer(wrench, per_motion);
        }
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let frame = &kin.frames[i];
            let Some(left) = self.eliminate(node, frame, joints, i) else { return false };
            if node.parent != NO_PARENT {
                self.whole[node.parent] = self.whole[node.parent].plus(&left.shifted_back(frame.offset));
            }
        }
        true
    }

    /// Eliminates the joint of node `i` from the inertia of all that is behind it: keeps what solves need, each of some hundred bytes in its
    /// place, and returns what is left about the node's origin.
    fn eliminate(
        &mut self,
        node: &Node<f64>,
        frame: &NodeFrame<f64>,
        impedance: &JointImpedance<f64>,
        i: usize,
    ) -> Option<Operator> {
        let whole = &self.whole[i];
        match node.joint {
            JointType::Revolute | JointType::Prismatic | JointType::Screw => {
                let motion = joint_axis(node, frame, 0);
                let (column, row) = (whole.apply(motion), whole.transpose().apply(motion));
                let d_inv = reciprocal(motion.dot(column) + impedance.diagonal[node.v])?;
                self.of_forces[i] = Eliminated::Single { h: column, d_inv };
                self.of_motions[i] = OfMotions::Inner(Eliminated::Single { h: row, d_inv });
                Some(whole.plus_outer(column * -d_inv, row))
            }
            JointType::Ball => {
                let Operator { a, b, c, d } = *whole;
                let k = impedance.ball_block(node, i).rotated(frame.rot).to_mat3();
                let e = inverse(a + k)?;
                self.of_forces[i] = Eliminated::Ball { e, a, b: d.transpose(), k };
                self.of_motions[i] = OfMotions::Inner(Eliminated::Ball { e, a, b, k });
                let (ea, eb) = (e * a, e * b);
                Some(Operator { a: k * ea, b: k * eb, c: c - d * eb, d: d * (e * k) })
            }
            JointType::Free => {
                let Operator { a, b, c, d } = *whole;
                let joints = &impedance.diagonal[node.v..node.v + 6];
                let spin = Sym3::diagonal(vec3(&joints[3..])).rotated(frame.rot).to_mat3();
                let c_inv = inverse(c + Sym3::diagonal(vec3(joints)).to_mat3())?;
                let e = inverse(a + spin - b * (c_inv * d))?;
                // Forces on a root are reduced by none of it.
                self.of_forces[i] = Eliminated::Free { e: Sym3::ZERO, c_inv: Sym3::ZERO, b: Mat3::ZERO };
                self.of_motions[i] = OfMotions::Free { e, c_inv, b, d };
                Some(Operator::ZERO)
            }
        }
    }

    /// Solves for `x`, both (nv), by the last factor.
    pub fn solve(&mut self, tree: &Tree<f64>, kin: &Kinematics<f64>, r: &[f64], x: &mut [f64]) {
        self.bias.fill(Wrench::ZERO);
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let frame = &kin.frames[i];
            let left = self.of_forces[i].reduce(node, frame, self.bias[i], r, x);
            if node.parent != NO_PARENT {
                self.bias[node.parent] += left.shifted_back(frame.offset);
            }
        }
        for (i, node) in tree.nodes.iter().enumerate() {
            let frame = &kin.frames[i];
            let carried = match node.parent {
                NO_PARENT => Twist::ZERO,
                parent => self.motions[parent].shifted(frame.offset),
            };
            self.motions[i] = match &self.of_motions[i] {
                OfMotions::Inner(joint) => joint.expand(node, frame, carried, x),
                OfMotions::Free { e, c_inv, b, d } => {
                    let (lin, ang) = (vec3(&x[node.v..]), vec3(&x[node.v + 3..]));
                    let turn = *e * (ang - *b * (*c_inv * lin));
                    let shift = *c_inv * (lin - *d * turn);
                    set3(&mut x[node.v..], shift);
                    set3(&mut x[node.v + 3..], frame.rot.transpose_mul(turn));
                    Twist { ang: turn, lin: shift }
                }
            };
        }
    }
}

/// 1/d, where it is finite.
fn reciprocal(d: f64) -> Option<f64> {
    Some(d.recip()).filter(|inverse| inverse.is_finite())
}

fn inverse(m: Mat3<f64>) -> Option<Mat3<f64>> {
    let (x, y, z) = (m.y.cross(m.z), m.z.cross(m.x), m.x.cross(m.y));
    Some(Mat3::from_columns(x, y, z).transpose() * reciprocal(m.x.dot(x))?)
}
