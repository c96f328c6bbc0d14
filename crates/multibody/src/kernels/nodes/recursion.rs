//! What goes from node to node: numbers in all lanes alike, and rows of matrices.

use spatial::{Mat3, Quat, Real, Sym3, Twist, Vec3, Wrench};

use super::plan::{Place, Plan};
use super::whole::{Drive, Reduced, Whole};
use super::{LEVER, NUMBERS, OMEGA, OWN, QUAT, RATE, REACH, RELATIVE, ROT, SWING, TURN};
use crate::kernels::Impedance;
use crate::kernels::broadcast::{Coordinates, read_vec};
use crate::kernels::fused::{plus_cross, plus_product};
use crate::kernels::packed::{PackedNode, PackedTree};
use crate::kernels::placed::{centripetal, slide, sliding};
use crate::wide::Wide;
use crate::{JointType, NO_PARENT};

/// Numbers of one node among those of a row.
#[derive(Clone, Copy)]
pub(super) struct Seat<'a>(&'a [f64]);

impl<'a> Seat<'a> {
    /// In the lane that begins at `first`; a row has `N` numbers a lane.
    #[inline(always)]
    fn new<const N: usize>(rows: &'a [[Wide; N]], first: usize) -> Self {
        Self(&Wide::scalars(rows.as_flattened())[first..][..(N - 1) * Wide::LANES + 1])
    }

    #[inline(always)]
    fn number(self, k: usize) -> Wide {
        Wide::splat(self.0[k * Wide::LANES])
    }

    #[inline(always)]
    fn vector(self, k: usize) -> Vec3<Wide> {
        Vec3::new(self.number(k), self.number(k + 1), self.number(k + 2))
    }

    #[inline(always)]
    fn quat(self, k: usize) -> Quat<Wide> {
        Quat::new(self.number(k), self.number(k + 1), self.number(k + 2), self.number(k + 3))
    }

    #[inline(always)]
    fn rot(self) -> Mat3<Wide> {
        Mat3::from_columns(self.vector(ROT), self.vector(ROT + 3), self.vector(ROT + 6))
    }
}

/// Sets numbers of one node, from `k` on.
#[inline(always)]
fn put<const N: usize, const M: usize>(rows: &mut [[Wide; N]], first: usize, k: usize, x: [Wide; M]) {
    let out = &mut Wide::scalars_mut(rows.as_flattened_mut())[first..][..(N - 1) * Wide::LANES + 1];
    for (j, x) in x.into_iter().enumerate() {
        out[(k + j) * Wide::LANES] = x.lane(0);
    }
}

/// From the roots to the leaves: orientations.
#[inline(always)]
pub(super) fn orient(tree: &PackedTree<f64>, plan: &Plan, nodes: &mut [[Wide; NUMBERS]]) {
    let mut last = Quat::IDENTITY;
    for (i, (node, place)) in tree.nodes.iter().zip(&plan.places).enumerate() {
        let turn = Seat::new(nodes, place.node).quat(TURN);
        last = match node.parent {
            NO_PARENT => turn,
            parent if parent + 1 == i => last * turn,
            _ => Seat::new(nodes, place.parent).quat(QUAT) * turn,
        };
        put(nodes, place.node, QUAT, [last.w, last.x, last.y, last.z]);
    }
}

/// From the roots to the leaves: angular velocities, and the offsets that are no reach of the parent's.
#[inline(always)]
pub(super) fn swing(
    tree: &PackedTree<f64>,
    plan: &Plan,
    (q, v): (&[f64], &[f64]),
    (nodes, reaches): (&mut [[Wide; NUMBERS]], &mut [[Wide; REACH]]),
) {
    let mut last = Vec3::ZERO;
    for (i, (node, place)) in tree.nodes.iter().zip(&plan.places).enumerate() {
        let own = Seat::new(nodes, place.node).vector(RATE);
        let above = match node.parent {
            NO_PARENT => Vec3::ZERO,
            parent if parent + 1 == i => last,
            _ => Seat::new(nodes, place.parent).vector(OMEGA),
        };
        if place.apart {
            let offset = Seat::new(nodes, place.parent).rot() * read_vec(node.constants.pos);
            let axis = Seat::new(nodes, place.node).vector(LEVER);
            put(reaches, place.reach, 0, reach_apart(node, (above, offset, axis), (&q[node.q..], &v[node.v..])));
        }
        last = above + own;
        put(nodes, place.node, OMEGA, last.to_array());
    }
}

/// The offset and the linear acceleration that velocities cause of a node that slides, or is not the first of its parent's children
/// that do not.
#[inline(always)]
fn reach_apart(
    node: &PackedNode<f64>,
    (swing, offset, axis): (Vec3<Wide>, Vec3<Wide>, Vec3<Wide>),
    (q, v): (&[f64], &[f64]),
) -> [Wide; REACH] {
    let (joint, constants) = (node.joint, &node.constants);
    if !joint.slides() {
        let lin = centripetal(swing, offset);
        return [offset.x, offset.y, offset.z, lin.x, lin.y, lin.z];
    }
    let offset = offset.add_scaled(slide(joint, constants, q), axis);
    let rate: Wide = v.read1();
    let rate = if joint == JointType::Screw { rate * Wide::splat(constants.pitch) } else { rate };
    let lin = sliding(swing, axis, rate) + centripetal(swing, offset);
    [offset.x, offset.y, offset.z, lin.x, lin.y, lin.z]
}

/// What a joint carries.
#[derive(Clone, Copy)]
struct Behind<'a> {
    seat: Seat<'a>,
    mass: f64,
    /// What its node's children have left.
    left: &'a Whole,
}

impl Behind<'_> {
    /// The inertia of all of it. Put together where it is used: so many numbers would go through memory once more.
    #[inline(always)]
    fn whole(self) -> Whole {
        let Self { seat, mass, left } = self;
        let (x, y) = (seat.vector(OWN), seat.vector(OWN + 3));
        let inertia = Sym3 { xx: x.x, xy: x.y, xz: x.z, yy: y.x, yz: y.y, zz: y.z };
        let bias = Wrench { ang: seat.vector(OWN + 9), lin: seat.vector(OWN + 12) };
        left.with(inertia, seat.vector(OWN + 6), Wide::splat(mass), bias)
    }
}

/// Scratch of the ways up and down.
#[derive(Clone, Debug)]
pub(super) struct Recursion {
    reduced: Vec<Reduced>,
    store: Vec<Whole>,
    /// Accelerations of nodes, angular and linear.
    twists: Vec<[f64; 6]>,
}

impl Recursion {
    /// Scratch for so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self { reduced: vec![Reduced::ZERO; nodes], store: vec![Whole::ZERO; nodes], twists: vec![[0.0; 6]; nodes] }
    }

    /// Both ways; `impedance` is read with IMPEDANCE only. Angular accelerations of ball and free joints are left among the
    /// `nodes`, those of others and linear ones in `acceleration`.
    #[inline(always)]
    pub fn run<const IMPEDANCE: bool>(
        &mut self,
        tree: &PackedTree<f64>,
        plan: &Plan,
        (nodes, reaches): (&mut [[Wide; NUMBERS]], &[[Wide; REACH]]),
        tau: &[f64],
        impedance: Impedance<'_, f64>,
        gravity: Vec3<f64>,
        acceleration: &mut [f64],
    ) {
        self.reduce::<IMPEDANCE>(tree, plan, (nodes, reaches), tau, impedance, gravity);
        self.expand::<IMPEDANCE>(tree, plan, (nodes, reaches), gravity, acceleration);
    }

    /// From the leaves to the roots: eliminates the joints.
    #[inline(always)]
    fn reduce<const IMPEDANCE: bool>(
        &mut self,
        tree: &PackedTree<f64>,
        plan: &Plan,
        (nodes, reaches): (&[[Wide; NUMBERS]], &[[Wide; REACH]]),
        tau: &[f64],
        impedance: Impedance<'_, f64>,
        gravity: Vec3<f64>,
    ) {
        let n = tree.len();
        let (places, store, reduced) = (&plan.places[..n], &mut self.store[..n], &mut self.reduced[..n]);
        let mut apart = Whole::ZERO;
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let Place { node: at, reach, inherits, adds, .. } = places[i];
            let (seat, reach) = (Seat::new(nodes, at), Seat::new(reaches, reach));
            let (before, here) = store.split_at_mut(i);
            let behind =
                Behind { seat, mass: node.constants.mass, left: if inherits { &here[0] } else { &Whole::ZERO } };
            let is_root = node.parent == NO_PARENT;
            let left = if adds || is_root { &mut apart } else { &mut before[node.parent] };
            let swing = Twist { ang: seat.vector(SWING), lin: reach.vector(3) };
            let drive = Drive {
                tau: &tau[node.v..],
                lambda: if IMPEDANCE { &impedance.diagonal[node.v..] } else { &[] },
                uniform: impedance.uniform,
            };
            let (offset, out) = (reach.vector(0), &mut reduced[i]);
            match node.joint {
                JointType::Ball if !IMPEDANCE => {
                    behind.whole().eliminate_ball(seat.vector(LEVER), (offset, swing.lin), out, left);
                }
                JointType::Ball if drive.uniform => {
                    behind.whole().eliminate_ball_uniform(seat.vector(LEVER), (offset, swing), drive, out, left);
                }
                JointType::Ball => {
                    let (tau, rot) = (seat.vector(LEVER), seat.rot());
                    behind.whole().eliminate_ball_impeded(tau, rot, (offset, swing), drive, out, left);
                }
                JointType::Free => behind.whole().eliminate_free::<IMPEDANCE>(seat.rot(), drive, gravity, out),
                JointType::Revolute | JointType::Prismatic | JointType::Screw => {
                    let axis = seat.vector(LEVER);
                    behind.whole().eliminate_single::<IMPEDANCE>(node, axis, (offset, swing), drive, out, left);
                }
            }
            if adds {
                before[node.parent].add(&apart);
            }
        }
    }

    /// From the roots to the leaves: accelerations.
    #[inline(always)]
    fn expand<const IMPEDANCE: bool>(
        &mut self,
        tree: &PackedTree<f64>,
        plan: &Plan,
        (nodes, reaches): (&mut [[Wide; NUMBERS]], &[[Wide; REACH]]),
        gravity: Vec3<f64>,
        acceleration: &mut [f64],
    ) {
        // An accelerated world is a world with gravity.
        let gravity: Vec3<Wide> = read_vec(gravity);
        let world = Twist { ang: Vec3::ZERO, lin: -gravity };
        let mut last = world;
        for (i, node) in tree.nodes.iter().enumerate() {
            let place = &plan.places[i];
            let base = match node.parent {
                NO_PARENT => world,
                parent if parent + 1 == i => last,
                parent => {
                    let [a, b, c, x, y, z] = self.twists[parent].map(Wide::splat);
                    Twist { ang: Vec3::new(a, b, c), lin: Vec3::new(x, y, z) }
                }
            };
            let (seat, reach, reduced) =
                (Seat::new(nodes, place.node), Seat::new(reaches, place.reach), &self.reduced[i]);
            let lin = plus_cross(base.lin, base.ang, reach.vector(0));
            let carried = Twist { ang: base.ang + seat.vector(SWING), lin: lin + reach.vector(3) };
            last = match node.joint {
                JointType::Ball if IMPEDANCE => {
                    // What the velocities do is in E u already.
                    let turn = reduced.turn(plus_product(reduced.eu(), reduced.ea(), -base.ang), lin);
                    put(nodes, place.node, RELATIVE, turn.to_array());
                    Twist { ang: carried.ang + turn, lin: carried.lin }
                }
                JointType::Ball => {
                    // E A = 1: the parent's rotation does not turn the child.
                    let ang = reduced.turn(reduced.eu(), carried.lin);
                    put(nodes, place.node, RELATIVE, (ang - carried.ang).to_array());
                    Twist { ang, lin: carried.lin }
                }
                JointType::Free => {
                    let (ang, lin) = reduced.free();
                    put(nodes, place.node, RELATIVE, ang.to_array());
                    acceleration[node.v..node.v + 3].copy_from_slice(&lin.map(|x| x.lane(0)).to_array());
                    Twist { ang, lin: lin - gravity }
                }
                JointType::Revolute | JointType::Prismatic | JointType::Screw => {
                    let x = reduced.rate(Twist { ang: base.ang, lin });
                    acceleration[node.v] = x.lane(0);
                    carried + reduced.motion(node) * x
                }
            };
            let (a, l) = (last.ang, last.lin);
            self.twists[i] = [a.x, a.y, a.z, l.x, l.y, l.z].map(|x| x.lane(0));
        }
    }
}
