//! From contact points to contacts with friction.

use geometry::Contact as Detected;
use lanes::{ConstraintName, RowWeight, Slider, WarmStartEntry, pair_surface, spring_depth};
use multibody::{Compliance, Material, Resistance};
use sap::Law;
use spatial::{Mat3, Vec3};

use super::regularization::Start;
use super::{ConstraintSet, Context, Report};
use crate::ContactLaw;
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Motion};

/// Adds the contacts at some of the `detected` points that something can move, and the gap that every point starts the step
/// with. `which` are ascending, all points of two geoms among them or none; constraints report to their places among them.
pub(crate) fn push_contacts(
    cx: &Context<'_>,
    detected: &[Detected],
    which: impl Iterator<Item = usize>,
    set: &mut ConstraintSet,
    gaps: &mut Vec<f64>,
) {
    let (mut pair, mut ordinal): (Option<BodyPair>, _) = (None, 0);
    for index in which {
        let contact = &detected[index];
        ordinal += 1;
        if pair.as_ref().is_none_or(|pair| pair.geoms != contact.geoms) {
            (pair, ordinal) = (Some(BodyPair::new(cx, contact)), 0);
        }
        let Some(pair) = &pair else { continue };
        // Arrays are spelt out: `map` is not inlined, which costs a tenth of a small step.
        // Positions are midway between the surfaces, which may be far apart where bodies are fast. Mobility is that of each body at its own
        // surface.
        let apart = contact.normal * (0.5 * contact.gap);
        let mut ends = [pair.end(0, contact.position - apart), pair.end(1, contact.position + apart)];
        let w = ends.iter().flatten().fold(0.0, |sum, e| sum + cx.mobility(e));
        if let [Some(a), Some(b)] = &mut ends {
            // Where both move, the impulse acts midway: equal and opposite at one point, it keeps angular momentum.
            (a.arm, b.arm) = (a.arm + apart, b.arm - apart);
        }
        gaps.push(if w > 0.0 {
            push_contact(cx, set, pair, contact, ends, w, Place { index, ordinal, report: gaps.len() })
        } else {
            contact.gap
        });
    }
}

/// What the points of two geoms have in common.
struct BodyPair {
    geoms: [usize; 2],
    /// The tree and the node that each moves with, and where that is; none for what is fixed in the world.
    homes: [Option<(usize, usize, Vec3<f64>)>; 2],
    surface: Material,
    /// See [`lanes::spring_depth`].
    spring_depth: f64,
    /// Of the bodies' centres of mass, and what the cone of friction makes of it.
    inverse_weight: f64,
    /// The velocity of the second geom's surface on its body, less that of the first's, but for what turns.
    surface_velocity: Vec3<f64>,
    /// Whether a surface turns.
    has_turning: bool,
}

impl BodyPair {
    fn new(cx: &Context<'_>, contact: &Detected) -> Self {
        let [first, second] = contact.geoms;
        let bodies = [cx.scene.geoms[first].body, cx.scene.geoms[second].body];
        let radii = contact.geoms.map(|geom| cx.scene.geoms[geom].shape.inner_radius());
        let homes = [cx.home(bodies[0]), cx.home(bodies[1])];
        let surface = pair_surface(cx.model, cx.scene, contact.geoms, contact.pair);
        let shifts = bodies.map(|body| cx.inverse_weights.shifts[body]);
        Self {
            geoms: contact.geoms,
            homes,
            inverse_weight: (shifts[0] + shifts[1]) * surface.share_of_cone(),
            spring_depth: spring_depth(&surface.compliance, radii),
            surface,
            surface_velocity: cx.surface_velocity(contact.geoms),
            has_turning: contact.geoms.iter().any(|geom| cx.scene.geoms[*geom].surface_motion.is_some()),
        }
    }

    #[inline(always)]
    fn end(&self, side: usize, position: Vec3<f64>) -> Option<ConstraintEnd> {
        let (tree, node, origin) = self.homes[side]?;
        Some(ConstraintEnd { tree, node, arm: position - origin })
    }
}

/// Where a contact point stands: among those detected, those of its geoms, and those reported.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    ordinal: usize,
    report: usize,
}

/// A contact of rigid or soft bodies.
pub(super) struct Touching<'a> {
    pub surface: &'a Material,
    /// See [`BodyPair`].
    pub spring_depth: f64,
    /// See [`multibody::InverseWeights`].
    pub inverse_weight: f64,
    pub surface_velocity: Vec3<f64>,
    /// The velocity of the second body's point less that of the first's, of those that are moved from outside.
    pub carried: Vec3<f64>,
    pub normal: Vec3<f64>,
    pub gap: f64,
    pub key: ConstraintName,
    /// Of rolling and torsional friction.
    pub spin_key: ConstraintName,
    pub report: Report,
}

/// Adds a contact between bodies; returns the gap that it started the step with.
///
/// Inlined with all that it calls: what is built in registers and stored once need not be read again in another width, for which
/// processors wait.
#[inline(always)]
fn push_contact(
    cx: &Context<'_>,
    set: &mut ConstraintSet,
    pair: &BodyPair,
    contact: &Detected,
    ends: [Option<ConstraintEnd>; 2],
    w: f64,
    Place { index, ordinal, report }: Place,
) -> f64 {
    let turning = if pair.has_turning { cx.surface_turning(contact.geoms, contact.position) } else { Vec3::ZERO };
    let [first, second] = contact.geoms.map(|geom| cx.scene.geoms[geom].body);
    let carried = cx.carried(second, contact.position) - cx.carried(first, contact.position);
    let touching = Touching {
        surface: &pair.surface,
        spring_depth: pair.spring_depth,
        inverse_weight: pair.inverse_weight / contact.stiffness_share,
        surface_velocity: pair.surface_velocity + turning,
        carried,
        normal: contact.normal,
        gap: contact.gap,
        key: ConstraintName::contact(contact.geoms, ordinal),
        spin_key: ConstraintName::spin(contact.geoms, ordinal),
        report: Report::Contact(report),
    };
    push_touching(cx, set, &touching, ends, w, || {
        let [start, led] = cx.velocities(&ends, Motion::Linear);
        let reach = cx.rule.of_step.dt * (start.norm() + led.norm() + cx.spin(&ends)) + contact.gap.abs();
        cx.jacobian_drift.of_contact(contact, ordinal, start, reach, index)
    })
}

/// Adds a contact, its rolling and torsional friction behind it; returns the gap that it started the step with. `drift` tells what its
/// velocity changes by because its rows turn, in the world and along the normal.
#[inline(always)]
pub(super) fn push_touching(
    cx: &Context<'_>,
    set: &mut ConstraintSet,
    touching: &Touching<'_>,
    ends: [Option<ConstraintEnd>; 2],
    w: f64,
    drift: impl FnOnce() -> (Vec3<f64>, f64),
) -> f64 {
    let &Touching { surface, inverse_weight, surface_velocity, carried, normal, gap, key, report, .. } = touching;
    let (coefficient, [t1, t2]) = surface.friction_tangents(normal);
    let basis = Mat3::from_columns(t1, t2, normal);
    // What is moved from outside is detected where the step ends: the contact starts with the gap before that.
    let approach = carried.dot(normal);
    let gap = gap - approach * cx.rule.of_step.dt;
    let is_stop = gap < -touching.spring_depth;
    let (spring_or_stop, stop) =
        if is_stop { (Compliance::NearRigid, touching.spring_depth) } else { (surface.compliance, 0.0) };
    let stiff = cx.stiff_mobility(&ends, w);
    // The rows have the motion of trees alone.
    let of_trees = || cx.velocities(&ends, Motion::Linear).map(|v| v.dot(normal));
    let start = cx.rule.start(spring_or_stop, gap, || of_trees().map(|v| v + approach));
    let beyond_spring = Start { violation: start.violation + stop, ..start };
    let weight = RowWeight { w: stiff, inverse: inverse_weight };
    let mut one_sided = cx.rule.normal(spring_or_stop, beyond_spring, weight);
    let (r_n, is_rigid, is_midway) = (one_sided.of.r, one_sided.is_rigid(), one_sided.is_midway);
    if is_rigid && one_sided.of.v_hat > 0.0 && cx.effective_mass.has_fulcrums() {
        one_sided.of.v_hat = one_sided.of.v_hat.min(cx.recovery_speed(&ends, normal));
    }
    let mu = if surface.resistance >= Resistance::Sliding { coefficient } else { 0.0 };
    let slider = Slider { friction: mu, resistance: surface.resistance };
    let friction = cx.rule.of_step.friction(&slider, &surface.compliance, weight, gap);
    let r_t = friction.r;
    let memory = set.recall(key, cx);
    let is_spinning = surface.resistance >= Resistance::Spinning;
    let remembered = memory.map(|m| m.normal);
    let (vn_hat, recovery) = one_sided.split(remembered, &cx.rule.of_step);
    let isolated = || ((vn_hat - approach - of_trees()[1]) / (r_n + w)).max(0.0);
    let normal_impulse =
        if cx.law == ContactLaw::Sap && !is_spinning { 0.0 } else { remembered.unwrap_or_else(isolated) };
    let (jacobian_drift, normal_turning) = if cx.jacobian_drift.is_known() { drift() } else { (Vec3::ZERO, 0.0) };
    let turned = |vn_hat: f64| if is_midway { vn_hat - approach } else { vn_hat - approach - normal_turning };
    let mut surface_velocity = surface_velocity + jacobian_drift + carried;
    if friction.per_rate != 0.0 {
        let [start, _] = cx.velocities(&ends, Motion::Linear);
        surface_velocity -= (start + surface_velocity) * friction.per_rate;
    }
    let law = if cx.law == ContactLaw::Sap {
        Law::cone(mu, r_t, r_n, turned(vn_hat))
    } else {
        Law::bounded_friction(mu, r_t, r_n, turned(vn_hat), normal_impulse)
    };
    let law = law.with_surface_velocity([-t1.dot(surface_velocity), -t2.dot(surface_velocity)]);
    let memory = memory.map(|m| WarmStartEntry { free_velocity: basis.transpose_mul(m.free_velocity), ..m });
    set.push_recalled(law, w, ConstraintJacobian::Ends { ends, basis, motion: Motion::Linear }, key, memory, report);
    set.set_rigid(is_rigid);
    set.set_recovery(recovery.map(turned));
    if is_spinning {
        let (rolling, [t1, t2]) = surface.rolling_tangents(normal);
        push_spin(cx, set, touching, ends, (rolling, Mat3::from_columns(t1, t2, normal)), normal_impulse, is_rigid);
    }
    start.violation
}

/// Adds the rolling and torsional friction of the last contact. What cannot turn resists no spin.
#[inline(always)]
fn push_spin(
    cx: &Context<'_>,
    set: &mut ConstraintSet,
    &Touching { surface, spin_key, .. }: &Touching<'_>,
    ends: [Option<ConstraintEnd>; 2],
    (rolling, basis): (f64, Mat3<f64>),
    normal_impulse: f64,
    is_rigid: bool,
) {
    let w = cx.mobility_between(&ends, Motion::Angular);
    if w > 0.0 {
        let law = Law::spin_friction(cx.rule.of_step.sigma * w, rolling, surface.torsional_friction, normal_impulse);
        let memory = set.recall(spin_key, cx);
        let memory = memory.map(|m| WarmStartEntry { free_velocity: basis.transpose_mul(m.free_velocity), ..m });
        let jacobian = ConstraintJacobian::Ends { ends, basis, motion: Motion::Angular };
        set.push_recalled(law, w, jacobian, spin_key, memory, Report::None);
        set.set_rigid(is_rigid);
    }
}
