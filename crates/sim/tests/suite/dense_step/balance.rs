//! Energy and momentum at the end of a step, as documented (`docs/time-stepping.md`, the default step).
//!
//! The inertia of a step is that at its beginning. What kinetic energy and momentum should be at its end is known: what forces and
//! constraints lead to, ½ vᵀ M(q₀) v + dt ½ (v₀ + v)·c and Σ I J v + dt c. The root of a floating tree takes the momentum that is due, and the
//! motion within is scaled to the rest of the energy.

use multibody::{JointType, Model};
use spatial::{Mat3, Vec3};

use super::bodies::{Bodies, Pair};
use super::dense::Vector;

/// Both ends of a step.
pub struct Ends<'a> {
    pub model: &'a Model,
    pub dt: f64,
    pub before: &'a Bodies<'a>,
    pub after: &'a Bodies<'a>,
    pub v0: &'a [f64],
    pub v: &'a [f64],
    /// Those that move positions.
    pub v_of_q: &'a [f64],
    /// Inertial forces of all bodies between both velocities, about their centres of mass.
    pub forces: &'a [Pair],
}

/// A part of the energy by which a step may err, and by which the motion within is scaled at most.
const LARGEST_ERROR: f64 = 0.05;
/// Energy may grow by this factor where a body turns by more than 1 rad.
const LARGEST_GROWTH: f64 = 2.0;
/// Of a body by itself that is pushed and turns by no more than this, rad, the energy of its spin is set right, by this factor at most.
const FAR_ALONE: f64 = 0.7;
const MAX_FACTOR_ALONE: f64 = 2.0;

/// What a step leaves.
pub struct Balanced {
    pub v: Vector,
    /// What is added to positions, by degrees of freedom.
    pub places: Vector,
    /// Whether all trees resolve it.
    pub is_resolved: bool,
}

/// Mass, centre and momentum about it of some bodies.
struct Whole {
    mass: f64,
    com: Vec3<f64>,
    momentum: Pair,
    kinetic: f64,
}

impl Whole {
    /// With the rotational inertia about the centre of mass.
    fn of(bodies: &Bodies<'_>, momenta: &[(usize, Pair)], kinetic: f64) -> (Self, Mat3<f64>) {
        let mass: f64 = momenta.iter().map(|(i, _)| bodies.all[*i].mass).sum();
        let moment = momenta.iter().fold(Vec3::ZERO, |sum, (i, _)| sum + bodies.all[*i].com * bodies.all[*i].mass);
        let com = if mass > 0.0 { moment * (1.0 / mass) } else { Vec3::ZERO };
        let (mut momentum, mut inertia) = (Pair::ZERO, Mat3::IDENTITY * 0.0);
        for (i, p) in momenta {
            let (body, arm) = (&bodies.all[*i], bodies.all[*i].com - com);
            momentum = momentum.plus(1.0, Pair { ang: p.ang + arm.cross(p.lin), lin: p.lin });
            let square = Mat3::IDENTITY * arm.norm_squared() - Mat3::outer(arm, arm);
            inertia = inertia + body.inertia + square * body.mass;
        }
        (Self { mass, com, momentum, kinetic }, inertia)
    }

    /// The motion of one rigid body of this inertia with this momentum, and its energy.
    fn as_one(&self, inertia: &Mat3<f64>) -> (Pair, f64) {
        let rows = [0, 1, 2].map(|i| [0, 1, 2].map(|j| inertia.at(i, j)).to_vec()).to_vec();
        let ang = super::dense::solve(&rows, &self.momentum.ang.to_array());
        let motion = Pair { ang: Vec3::new(ang[0], ang[1], ang[2]), lin: self.momentum.lin * (1.0 / self.mass) };
        (motion, 0.5 * motion.dot(self.momentum))
    }
}

impl Ends<'_> {
    /// The end of the step with the energy and the momentum that are due.
    pub fn balanced(&self) -> Balanced {
        let mut end = Balanced { v: self.v.to_vec(), places: vec![0.0; self.v.len()], is_resolved: true };
        for tree in 0..self.model.tree.trees.len() {
            end.is_resolved &= self.balance(tree, &mut end);
        }
        end
    }

    fn balance(&self, tree: usize, balanced: &mut Balanced) -> bool {
        let Self { model, dt, before, after, v0, v, v_of_q, forces } = *self;
        let (nodes, dofs) = (model.tree.trees[tree].clone(), model.tree.dofs[tree].clone());
        let (start, led, end) = (before.motions(v0), before.motions(v), after.motions(v));
        // Trees that hardly turn have nothing to balance.
        if !turns(dt, &start[nodes.clone()]) {
            return true;
        }
        let (mut momenta, mut momenta_due) = (Vec::new(), Vec::new());
        let (mut kinetic, mut kinetic_due, mut kinetic_before) = (0.0, 0.0, 0.0);
        let (mut drift, mut impulse) = (Vec3::ZERO, Vec3::ZERO);
        for i in nodes.clone() {
            let (due, own) = (before.momentum(i, led[i]).plus(dt, forces[i]), after.momentum(i, end[i]));
            kinetic += 0.5 * end[i].dot(own);
            kinetic_before += 0.5 * start[i].dot(before.momentum(i, start[i]));
            kinetic_due += 0.5 * led[i].dot(before.momentum(i, led[i]))
                + 0.5 * dt * Pair::ZERO.plus(1.0, start[i]).plus(1.0, led[i]).dot(forces[i]);
            drift += forces[i].lin * dt;
            impulse += due.lin - before.momentum(i, start[i]).lin;
            momenta.push((i, own));
            momenta_due.push((i, due));
        }
        let (own, inertia) = Whole::of(after, &momenta, kinetic);
        let (due, _) = Whole::of(before, &momenta_due, kinetic_due);
        let geared = |v: &[f64]| dofs.clone().map(|k| 0.5 * model.armature[k] * v[k] * v[k]).sum::<f64>();
        let (geared, geared_before) = (geared(v), geared(v0));
        let root = &model.tree.nodes[nodes.start];
        let floats = root.joint == JointType::Free && own.mass > 0.0;
        // All motion is scaled but for that of the centre of mass.
        let of_com = if floats { own.momentum.lin * (1.0 / own.mass) } else { Vec3::ZERO };
        let inner = kinetic + geared - 0.5 * own.mass * of_com.norm_squared();
        // The error is a share of the energy at either end, whichever is greater: what a contact stops has little at the end.
        let of_com_before = if floats { (due.momentum.lin - impulse) * (1.0 / own.mass) } else { Vec3::ZERO };
        let inner_before = kinetic_before + geared_before - 0.5 * own.mass * of_com_before.norm_squared();
        // External forces work along the motion of the centre of mass at the end, which turning bodies change.
        let work = if floats { 0.5 * drift.dot(impulse) / own.mass } else { 0.0 };
        let weight = model.gravity * (own.mass * dt);
        let momentum = (weight.norm_squared() + own.mass * (kinetic + kinetic_before)).sqrt();
        // What flies has the centre of mass that its momentum gives it, its velocity and its place.
        let (mut of_com_due, mut missing) = (of_com, kinetic_due - kinetic);
        let recovery = dofs.clone().map(|k| (v[k] - v_of_q[k]).abs()).fold(0.0, f64::max);
        let turns_about_com = own.com == after.frames[nodes.start].pos;
        let pushed = (impulse - weight).norm().max(own.mass * recovery);
        let is_pushed = pushed > 1e-6 * momentum;
        if floats && !turns_about_com && !is_pushed {
            of_com_due = due.momentum.lin * (1.0 / own.mass);
            missing += work + 0.5 * own.mass * (of_com.norm_squared() - of_com_due.norm_squared());
            let place = of_com_due * dt - (own.com - due.com);
            balanced.places[dofs.start..dofs.start + 3].copy_from_slice(&place.to_array());
        }
        let is_far = end[nodes.clone()].iter().any(|motion| motion.ang.norm() * dt > 1.0);
        let is_resolved = missing.abs() <= LARGEST_ERROR * inner.max(inner_before)
            && !(is_far && inner > LARGEST_GROWTH * inner_before);
        let turns_by = end[nodes.clone()].iter().fold(0.0, |most, motion| f64::max(most, motion.ang.norm() * dt));
        let is_set_right = !is_resolved && floats && nodes.len() == 1 && is_pushed && turns_by <= FAR_ALONE;
        let gain = if inner > 0.0 { missing / inner } else { 0.0 };
        let gain = if is_set_right { gain.clamp(1.0 / MAX_FACTOR_ALONE - 1.0, MAX_FACTOR_ALONE - 1.0) } else { gain };
        let gain = if is_resolved { gain.clamp(-LARGEST_ERROR, LARGEST_ERROR / (1.0 - LARGEST_ERROR)) } else { gain };
        let mut scale = (1.0 + gain).max(0.0).sqrt();
        let (mut lin, mut ang) = (of_com_due - of_com * scale, Vec3::ZERO);
        let has_bare_root = model.armature[dofs.start..(dofs.start + 6).min(dofs.end)].iter().all(|x| *x == 0.0);
        if floats && nodes.len() > 1 && has_bare_root {
            let ((rigid, energy), (rigid_due, energy_due)) = (own.as_one(&inertia), {
                let as_led = Whole { mass: own.mass, ..due };
                as_led.as_one(&inertia)
            });
            let (within, within_due) = (own.kinetic + geared - energy, due.kinetic + work + geared - energy_due);
            let most = (1.0 + LARGEST_ERROR).powi(2);
            if within > 1e-9 * (own.kinetic + geared) && within_due * most >= within && within_due <= most * within {
                scale = (within_due / within).sqrt();
                ang = rigid_due.ang - rigid.ang * scale;
                let origin = after.frames[nodes.start].pos;
                lin = rigid_due.lin - rigid.lin * scale + ang.cross(origin - own.com);
                ang = after.frames[nodes.start].rot.transpose_mul(ang);
            }
        }
        dofs.clone().for_each(|k| balanced.v[k] *= scale);
        if floats {
            for (k, x) in [lin.to_array(), ang.to_array()].concat().into_iter().enumerate() {
                balanced.v[dofs.start + k] += x;
            }
        }
        is_resolved || is_set_right
    }
}

/// Whether any of these bodies turns by 1e-4 rad in a step.
pub fn turns(dt: f64, motions: &[Pair]) -> bool {
    motions.iter().any(|motion| motion.ang.norm() * dt > 1e-4)
}
