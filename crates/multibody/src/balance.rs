//! Energy and momentum at the end of a step that takes inertia at its beginning, of one world or of one in each lane.
//!
//! Such a step errs in energy by the square of the rotation. At its end the error is known:
//!
//! ```text
//! δ = ½ vᵀ (M(q) − M(q₀)) v − dt ½ (v₀ + v) · c(q₀; v₀, v)
//! ```
//!
//! is zero in exact motion. Velocities are scaled by it, except that of the centre of mass of a floating tree: kinetic energy then changes
//! by the work of forces and constraints alone, however far bodies turn, but for what a step that stops bodies leaves of its error: 5 % of
//! the energy before it at most. Positions stay as they are, but for the place of a tree that nothing but its weight pushes: its centre of mass
//! goes where its momentum takes it.

use spatial::masks::{select, select3, wide};
use spatial::{ArticulatedInertia, PointInertia, Real, RigidInertia, Sym3, Twist, Vec3, Wrench};

use crate::{JointType, Kinematics, Model};

/// The part of the kinetic energy, the greater of that at the beginning and that at the end of a step, that the step may err by. One that errs
/// by more turns too far to be made in one piece.
pub const LARGEST_ERROR: f64 = 0.05;

/// The motion within a tree is scaled by no more than this, 5 % as [`LARGEST_ERROR`]. Where a joint turns around, the motion within has as
/// little energy as a step may err by, of second order in its length: scaled to what is left of it, it would stay where it is.
pub const MAX_SCALING: f64 = 1.05;

/// Motion within that has no more than this part of the kinetic energy is known with too few digits.
pub const LITTLE: f64 = 1e-9;
const SINGLE_LITTLE: f64 = 1e-3;

/// Energy within a tree may grow by this factor in a step in which a body turns by more than [`FAR`].
pub const LARGEST_GROWTH: f64 = 2.0;
/// rad
pub const FAR: f64 = 1.0;

/// A body by itself that is pushed is not asked to make its step in halves while it turns by no more than this, rad: all that errs is the
/// energy of its spin, which is set right. Of a heap, one such body would ask it of all.
pub const FAR_ALONE: f64 = 0.7;
/// That energy is changed by this factor at most.
pub const MAX_FACTOR_ALONE: f64 = 2.0;

/// Nothing but its weight pushes a tree whose impulse is that of its weight to this part of it and of the tree's momentum.
pub const UNPUSHED: f64 = 1e-6;
const SINGLE_UNPUSHED: f64 = 1e-5;

/// A tree as one body in motion, about a fixed point.
#[derive(Clone, Copy, Debug)]
pub struct Whole<T: Real> {
    /// Mass, kg.
    pub mass: T,
    /// Σ m c with centres of mass from the fixed point, kg·m.
    pub moment: Vec3<T>,
    /// Rotational inertia about the fixed point, kg·m².
    pub rotation: Sym3<T>,
    /// Momentum about the fixed point.
    pub momentum: Wrench<T>,
    /// Kinetic energy, J.
    pub kinetic: T,
}

impl<T: Real> Whole<T> {
    /// Nothing.
    pub const ZERO: Self =
        Self { mass: T::ZERO, moment: Vec3::ZERO, rotation: Sym3::ZERO, momentum: Wrench::ZERO, kinetic: T::ZERO };

    /// Adds a body.
    #[inline(always)]
    pub fn add(&mut self, body: &PointInertia<T>) {
        self.mass += body.mass;
        self.moment += body.moment;
        self.rotation += body.rotational;
    }

    /// Adds the motion of a body; inertia and motion are about the point at `arm`, the fixed point if there is none.
    #[inline(always)]
    pub fn add_motion(&mut self, body: &PointInertia<T>, motion: Twist<T>, arm: Option<Vec3<T>>) {
        let momentum = body.momentum(motion);
        self.kinetic += motion.dot(momentum) * wide(0.5);
        self.momentum += about_fixed_point(momentum, arm);
    }
}

impl Whole<f64> {
    /// A tree whose nodes are placed and move as in `kin`, about `origin`.
    pub fn of(kin: &Kinematics<f64>, origin: Vec3<f64>) -> Self {
        let mut whole = Self::ZERO;
        for (frame, twist) in kin.frames.iter().zip(&kin.twists) {
            let (own, arm) = (frame.inertia, frame.pos - origin);
            whole.add_motion(&own.about_origin(), *twist, Some(arm));
            whole.add(&RigidInertia { com: own.com + arm, ..own }.about_origin());
        }
        whole
    }

    /// The centre of mass from the fixed point, m; that point where there is no mass.
    pub fn center(&self) -> Vec3<f64> {
        if self.mass > 0.0 { self.moment * (1.0 / self.mass) } else { Vec3::ZERO }
    }

    /// The inertia of the body about the fixed point.
    pub fn inertia(&self) -> ArticulatedInertia<f64> {
        PointInertia { mass: self.mass, moment: self.moment, rotational: self.rotation }.articulated()
    }
}

/// What a step with the inertia at its beginning, q₀, owes its end, about a fixed point:
///
/// ```text
/// ½ vᵀM v + dt ½ (v₀ + v)·c,      Σ J_bᵀ (I_b J_b v + dt c_b),      M = M(q₀), c = c(q₀; v₀, v)
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StepBalance<T: Real> {
    /// The kinetic energy that the work of forces and constraints leads to, without that of armature, J.
    kinetic: T,
    /// The kinetic energy at v₀, likewise, J.
    at_start: T,
    /// The momentum that their impulses lead to.
    momentum: Wrench<T>,
    /// Σ m c at q₀, kg·m.
    moment: Vec3<T>,
    /// The impulse of external forces, N·s.
    impulse: Vec3<T>,
    /// The force of dt c on all bodies: what linear momentum gains at the velocities v since bodies turn.
    drift: Vec3<T>,
}

/// A body in a step; inertia and motions are about the point at `arm`, the fixed point if there is none.
#[derive(Clone, Copy, Debug)]
pub struct BodyInStep<T: Real> {
    /// At q₀.
    pub inertia: PointInertia<T>,
    /// J v₀
    pub start: Twist<T>,
    /// J v
    pub end: Twist<T>,
    /// dt c
    pub coriolis: Wrench<T>,
    /// The point, m.
    pub arm: Option<Vec3<T>>,
}

impl<T: Real> StepBalance<T> {
    /// That of no bodies.
    pub const ZERO: Self = Self {
        kinetic: T::ZERO,
        at_start: T::ZERO,
        momentum: Wrench::ZERO,
        moment: Vec3::ZERO,
        impulse: Vec3::ZERO,
        drift: Vec3::ZERO,
    };

    /// Adds a body.
    #[inline(always)]
    pub fn add(&mut self, body: &BodyInStep<T>) {
        let BodyInStep { inertia, start, end, coriolis, arm } = *body;
        let momentum = inertia.momentum(end);
        self.kinetic += end.dot(momentum) * wide(0.5);
        self.at_start += start.dot(inertia.momentum(start)) * wide(0.5);
        self.momentum += about_fixed_point(momentum, arm);
        self.moment += inertia.moment;
        if let Some(arm) = arm {
            self.moment += arm * inertia.mass;
        }
        self.kinetic += (start + end).dot(coriolis) * wide(0.5);
        self.momentum += about_fixed_point(coriolis, arm);
        self.drift += coriolis.lin;
        self.impulse += inertia.linear_momentum(end + -start) + coriolis.lin;
    }

    /// Adds energy that is due to the motion within, J.
    pub fn add_work(&mut self, work: T) {
        self.kinetic += work;
    }
}

#[inline(always)]
fn about_fixed_point<T: Real>(w: Wrench<T>, arm: Option<Vec3<T>>) -> Wrench<T> {
    match arm {
        Some(arm) => w.shifted_back(arm),
        None => w,
    }
}

/// What of a tree's momentum changes by external forces alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Nothing: it hangs on the world, or has no mass.
    Bound,
    /// That of the centre of mass.
    Floating,
    /// The same of one body by itself.
    Body,
    /// All.
    KeepsMomentum,
}

impl Freedom {
    /// That of a tree of the model: one that floats keeps its momentum if it is more than one body, and its armature, if it has any, leaves the
    /// momentum alone.
    pub fn of(model: &Model, tree: usize) -> Self {
        let (nodes, dofs) = (&model.tree.trees[tree], &model.tree.dofs[tree]);
        let of_tree = &model.tree.nodes[nodes.clone()];
        if of_tree[0].joint != JointType::Free || of_tree.iter().all(|node| node.inertia.mass <= 0.0) {
            return Self::Bound;
        }
        let is_geared = model.armature[dofs.clone()][..6].iter().any(|armature| *armature != 0.0);
        match of_tree.len() {
            1 => Self::Body,
            _ if is_geared => Self::Floating,
            _ => Self::KeepsMomentum,
        }
    }
}

/// The end of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepEnd<'a, T: Real> {
    /// The tree where positions are at the end, about its root's origin there.
    pub whole: &'a Whole<T>,
    /// About the root's origin at q₀.
    pub due: &'a StepBalance<T>,
    /// The tree's mass, kg.
    pub mass: T,
    /// Half of it.
    pub half_mass: T,
    /// 1 over the mass, 0 of what has none.
    pub per_mass: T,
    /// Kinetic energy of armature, J.
    pub geared: T,
    /// The same at v₀.
    pub geared_at_start: T,
    /// The velocity of a free root's origin, m/s.
    pub root: Vec3<T>,
    /// The greatest difference between its velocities and those that move positions.
    pub recovery: T,
    /// The length of the step, s.
    pub dt: T,
    /// The square of the largest turn of a body in it, rad².
    pub most_turn: T,
    /// The impulse of the tree's weight, N·s.
    pub weight: Vec3<T>,
    /// Whether it turns so fast that this matters, 1 or 0.
    pub turns: T,
    /// What of its momentum is kept.
    pub freedom: Freedom,
}

/// The velocities at the end of a step, from those that were solved for: all of them times `scale`, then those of the root and these.
#[derive(Clone, Copy, Debug)]
pub struct Correction<T: Real> {
    /// Factor of all velocities.
    pub scale: T,
    /// What is added to a free root's linear velocity.
    pub lin: Vec3<T>,
    /// What is added to its angular velocity, world axes; zero but where all momentum is kept.
    pub ang: Vec3<T>,
    /// What is added to a free root's place, m.
    pub place: Vec3<T>,
    /// Whether the step errs by so much that it is not to be made in one piece, 1 or 0.
    pub errs: T,
}

impl<T: Real> StepEnd<'_, T> {
    /// The correction with which energy and momentum are those that are due.
    #[inline(always)]
    pub fn correction(&self) -> Correction<T> {
        let Self { whole: end, due, mass, half_mass, per_mass, geared, geared_at_start, turns, freedom, .. } = *self;
        let of_com = if freedom == Freedom::Bound { Vec3::ZERO } else { end.momentum.lin * per_mass };
        let carried = of_com.norm_squared() * half_mass;
        let own = end.kinetic + geared - carried;
        // External forces work along the motion of the centre of mass as it is at the end. It has gained what the bodies' turning does to it, half
        // of which is not in the energy of a step with Jacobians at q₀: as much as the internal motion has where a joint turns around.
        let work = due.drift.dot(due.impulse) * per_mass * wide(0.5);
        let flies = self.flies();
        let of_com_due = select3(flies, due.momentum.lin * per_mass, of_com);
        let gain = (work + carried - of_com_due.norm_squared() * half_mass) * flies;
        let error = due.kinetic - end.kinetic + gain;
        // What stops in the step, at a contact or a limit, is not asked for a part of the little that is left of its energy.
        let of_com_at_start =
            if freedom == Freedom::Bound { Vec3::ZERO } else { (due.momentum.lin - due.impulse) * per_mass };
        let own_at_start = due.at_start + geared_at_start - of_com_at_start.norm_squared() * half_mass;
        let most = own.max(own_at_start);
        let errs = (most * wide(LARGEST_ERROR)).if_less(error.abs(), T::ONE, T::ZERO);
        let errs = errs.max(self.bursts(own, own_at_start)) * turns;

        // All motion is scaled, but for that of the centre of mass.
        let moves = turns * T::ZERO.if_less(own, T::ONE, T::ZERO);
        let ratio = error / select(moves, own, T::ONE) + T::ONE;
        let within_most = ratio.max(wide(1.0 - LARGEST_ERROR)).min(wide(1.0 / (1.0 - LARGEST_ERROR)));
        let ratio = select(errs, ratio, within_most);
        let is_set_right = errs * self.is_pushed_alone();
        let spin = ratio.max(wide(1.0 / MAX_FACTOR_ALONE)).min(wide(MAX_FACTOR_ALONE));
        let (ratio, errs) = (select(is_set_right, spin, ratio), errs - is_set_right);
        let scale = select(moves, ratio.max(T::ZERO).sqrt(), T::ONE);
        let rest = of_com_due - of_com * scale;
        let place = self.lack_of_place(flies);
        if freedom != Freedom::KeepsMomentum {
            return Correction { scale, lin: rest, ang: Vec3::ZERO, place, errs };
        }
        // The root takes the momentum that is due, and the motion within, which has none, is scaled to the rest of the energy.
        let centre = end.moment * per_mass;
        let d = mass * centre.norm_squared();
        let central = end.rotation - Sym3::diagonal(Vec3::new(d, d, d)) + Sym3::outer(mass, centre);
        let inverse = central.inverse();
        let rigid = Rigid::new(end.momentum, centre, inverse, per_mass);
        let rigid_due = Rigid::new(due.momentum, due.moment * per_mass, inverse, per_mass);
        let kinetic = end.kinetic + geared;
        let (within, within_due) = (kinetic - rigid.energy, due.kinetic + work + geared - rigid_due.energy);
        let most = wide::<T>(MAX_SCALING * MAX_SCALING);
        let little = wide(if T::IS_SINGLE { SINGLE_LITTLE } else { LITTLE });
        let is_scaled = turns
            * (kinetic * little).if_less(within, T::ONE, T::ZERO)
            * (T::ONE - (within_due * most).if_less(within, T::ONE, T::ZERO))
            * (T::ONE - (within * most).if_less(within_due, T::ONE, T::ZERO));
        let inner = (within_due / select(is_scaled, within, T::ONE)).max(T::ZERO).sqrt();
        let scale = select(is_scaled, inner, scale);
        let (ang, lin) = (rigid_due.ang - rigid.ang * scale, rigid_due.lin - rigid.lin * scale);
        let lin = lin - ang.cross(centre);
        Correction { scale, lin: select3(is_scaled, lin, rest), ang: select3(is_scaled, ang, Vec3::ZERO), place, errs }
    }

    /// Whether nothing but its weight pushes the tree or moves it, and it turns, 1 or 0. A body about its centre of mass is right as it is.
    #[inline(always)]
    fn flies(&self) -> T {
        if self.freedom == Freedom::Bound {
            return T::ZERO;
        }
        let turns = T::ZERO.if_less(self.whole.moment.norm_squared(), self.turns, T::ZERO);
        turns * (T::ONE - self.is_pushed())
    }

    /// Whether more than its weight pushes the tree or moves it, 1 or 0.
    #[inline(always)]
    fn is_pushed(&self) -> T {
        let Self { whole: end, due, mass, weight, recovery, .. } = *self;
        let little = wide::<T>(if T::IS_SINGLE { SINGLE_UNPUSHED } else { UNPUSHED });
        let most = weight.norm_squared() + mass * (end.kinetic + due.at_start);
        let pushed = (due.impulse - weight).norm_squared().max((mass * recovery) * (mass * recovery));
        (most * little * little).if_less(pushed, T::ONE, T::ZERO)
    }

    /// Whether the tree is one body by itself, is pushed and does not turn far, 1 or 0.
    #[inline(always)]
    fn is_pushed_alone(&self) -> T {
        if self.freedom != Freedom::Body {
            return T::ZERO;
        }
        wide::<T>(FAR_ALONE * FAR_ALONE).if_less(self.most_turn, T::ZERO, self.is_pushed())
    }

    /// Whether energy within the tree grows by more than what a step can find whose bodies turn so far, 1 or 0: contacts where bodies would turn
    /// to push as if they had been there all along.
    #[inline(always)]
    fn bursts(&self, own: T, own_at_start: T) -> T {
        let grows = (own_at_start * wide(LARGEST_GROWTH)).if_less(own, T::ONE, T::ZERO);
        grows * wide::<T>(FAR * FAR).if_less(self.most_turn, T::ONE, T::ZERO)
    }

    /// What the centre of mass of a tree that flies lacks of the way on which its momentum takes it. Bodies that turn lead it elsewhere, by
    /// ½ dt² J̇ v in a step.
    #[inline(always)]
    fn lack_of_place(&self, flies: T) -> Vec3<T> {
        let Self { whole: end, due, per_mass, root, dt, .. } = *self;
        let turned = (end.moment - due.moment) * per_mass;
        ((due.momentum.lin * per_mass - root) * dt - turned) * flies
    }
}

/// How a rigid body with some momentum moves: angular velocity, velocity of its centre of mass, energy.
struct Rigid<T: Real> {
    ang: Vec3<T>,
    lin: Vec3<T>,
    energy: T,
}

impl<T: Real> Rigid<T> {
    /// The body with the momentum about a point, the centre of mass from there, and the rotational inertia about that centre, given inverse.
    #[inline(always)]
    fn new(momentum: Wrench<T>, centre: Vec3<T>, inverse: Sym3<T>, per_mass: T) -> Self {
        let spin = momentum.ang - centre.cross(momentum.lin);
        let (ang, lin) = (inverse * spin, momentum.lin * per_mass);
        Self { ang, lin, energy: (ang.dot(spin) + lin.dot(momentum.lin)) * wide(0.5) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of a tree that hangs on the world, of 1 J at its end where 1.2 J are due.
    fn correction(at_start: f64) -> Correction<f64> {
        let whole = Whole { kinetic: 1.0, ..Whole::ZERO };
        let due = StepBalance { kinetic: 1.2, at_start, ..StepBalance::ZERO };
        StepEnd {
            whole: &whole,
            due: &due,
            mass: 0.0,
            half_mass: 0.0,
            per_mass: 0.0,
            geared: 0.0,
            geared_at_start: 0.0,
            root: Vec3::ZERO,
            recovery: 0.0,
            dt: 0.0,
            most_turn: 0.0,
            weight: Vec3::ZERO,
            turns: 1.0,
            freedom: Freedom::Bound,
        }
        .correction()
    }

    #[test]
    fn what_is_stopped_errs_by_a_share_of_what_it_had() {
        let (in_motion, stopped) = (correction(1.0), correction(10.0));
        assert_eq!([in_motion.errs, stopped.errs], [1.0, 0.0]);
        assert!((in_motion.scale - 1.2_f64.sqrt()).abs() < 1e-15);
        // Nothing is scaled by more than a step may err by.
        assert!((stopped.scale - 0.95_f64.sqrt().recip()).abs() < 1e-15);
    }
}
