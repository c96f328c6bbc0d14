//! From contact points to friction cones.

use multibody::{Compliance, Material, Model, Resistance};
use sap::{Constraint, Contact as Cone, Limit};
use spatial::{Mat3, Vec3};

use crate::ContactPoint;
use crate::link::Link;

/// Parameters that turn compliance into regularisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regularization {
    pub dt: f64,
    pub beta: f64,
    pub sigma: f64,
    pub recovery_speed: f64,
}

impl Regularization {
    /// (R_n, v̂_n) of a one-sided constraint with gap `gap`, where an impulse meets the inverse effective mass `w`:
    /// R_n = max(β²/(4π²) w, 1/(dt k (dt + τ_d))), v̂_n = −φ₀/(dt + τ_d); near-rigid, τ_d = β dt/π.
    ///
    /// A near-rigid constraint that starts violated would be right within the step, whatever the speed; it recovers at
    /// `recovery_speed` at most.
    pub fn normal(&self, compliance: Compliance, gap: f64, w: f64) -> (f64, f64) {
        let Self { dt, beta, .. } = *self;
        let rigid = (beta * beta / (4.0 * std::f64::consts::PI.powi(2)) * w, beta * dt / std::f64::consts::PI);
        let (stiffness, relaxation) = match compliance {
            Compliance::NearRigid => (f64::INFINITY, rigid.1),
            Compliance::Physical { stiffness, relaxation } => (stiffness, relaxation),
            Compliance::PerMass { stiffness, relaxation } => (stiffness / w, relaxation),
        };
        let compliant = 1.0 / (dt * stiffness * (dt + relaxation));
        if compliant > rigid.0 {
            return (compliant, -gap / (dt + relaxation));
        }
        (rigid.0, (-gap / (dt + rigid.1)).min(self.recovery_speed))
    }

    /// The cone of a contact, to be predicted from its free velocity in the last step.
    pub fn cone(&self, surface: &Material, gap: f64, w: f64, free: [f64; 3]) -> Constraint {
        let (r_n, vn_hat) = self.normal(surface.compliance, gap, w);
        let mu = if surface.resistance >= Resistance::Sliding { surface.friction } else { 0.0 };
        Constraint::Contact(Cone::new(mu, self.sigma * w, r_n, vn_hat).with_delassus(w).with_free_velocity(free))
    }

    /// The constraint of a joint limit, to be predicted like a contact.
    pub fn limit(&self, compliance: Compliance, gap: f64, w: f64, free: f64) -> Constraint {
        let (r, v_hat) = self.normal(compliance, gap, w);
        Constraint::Limit(Limit::new(r, v_hat).with_delassus(w).with_free_velocity(free))
    }
}

/// The surface that two surfaces make together: the one of higher priority, or the rougher friction and both
/// compliances together.
pub(crate) fn combine(a: &Material, b: &Material) -> Material {
    if a.priority != b.priority {
        return if a.priority > b.priority { *a } else { *b };
    }
    Material {
        friction: a.friction.max(b.friction),
        torsional_friction: a.torsional_friction.max(b.torsional_friction),
        rolling_friction: a.rolling_friction.max(b.rolling_friction),
        resistance: a.resistance.max(b.resistance),
        compliance: together(a.compliance, b.compliance),
        priority: a.priority,
    }
}

/// Physical springs act in series, the softer one's damping counting in proportion. Stiffnesses per unit of mass, which
/// in MJCF describe the contact and not the body, are averaged. A rigid surface changes nothing; of two kinds of units
/// the physical one wins.
fn together(a: Compliance, b: Compliance) -> Compliance {
    match (a, b) {
        (Compliance::NearRigid, other) | (other, Compliance::NearRigid) => other,
        (
            Compliance::Physical { stiffness: k1, relaxation: t1 },
            Compliance::Physical { stiffness: k2, relaxation: t2 },
        ) => {
            Compliance::Physical { stiffness: 1.0 / (1.0 / k1 + 1.0 / k2), relaxation: (k2 * t1 + k1 * t2) / (k1 + k2) }
        }
        (
            Compliance::PerMass { stiffness: k1, relaxation: t1 },
            Compliance::PerMass { stiffness: k2, relaxation: t2 },
        ) => Compliance::PerMass { stiffness: 0.5 * (k1 + k2), relaxation: 0.5 * (t1 + t2) },
        (physical @ Compliance::Physical { .. }, _) | (_, physical @ Compliance::Physical { .. }) => physical,
    }
}

/// A contact point as reported, before the solve.
pub(crate) fn report(model_bodies: [usize; 2], contact: &geometry::Contact) -> (ContactPoint, Mat3<f64>) {
    let (t1, t2) = contact.normal.tangents();
    let point = ContactPoint {
        geoms: contact.geoms,
        bodies: model_bodies,
        position: contact.position,
        normal: contact.normal,
        tangents: [t1, t2],
        gap: contact.gap,
        impulse: [0.0; 3],
        velocity: [0.0; 3],
    };
    (point, Mat3::from_columns(t1, t2, contact.normal))
}

/// A joint limit of the model, with indices of its tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointLimit {
    pub tree: usize,
    pub node: usize,
    /// First coordinate and degree of freedom within the tree.
    pub q: usize,
    pub dof: usize,
    pub ball: bool,
    pub range: (f64, f64),
    pub compliance: Compliance,
}

impl JointLimit {
    /// The limits of the joints with one coordinate and of the balls.
    pub fn of_model(model: &Model) -> Vec<Self> {
        let limit = |joint: &multibody::Joint| {
            let range = joint.range?;
            let ball = joint.kind == multibody::JointKind::Ball;
            if joint.kind.nv() != 1 && !ball {
                return None;
            }
            let node = joint.nodes.start;
            let tree = model.tree.trees.partition_point(|r| r.end <= node);
            let first = &model.tree.nodes[model.tree.trees[tree].start];
            Some(Self {
                tree,
                node: node - model.tree.trees[tree].start,
                q: joint.q - first.q,
                dof: joint.v - first.v,
                ball,
                range,
                compliance: joint.limit_compliance,
            })
        };
        model.joints.iter().filter_map(limit).collect()
    }

    /// The sides that the motion can reach in a step: the gap and the row of J (over the joint's degrees of freedom).
    ///
    /// `q` and the velocities before and after free motion are the tree's. Limits further off than twice what the
    /// joint moves at either velocity are left out.
    pub fn candidates(&self, q: &[f64], v: &[f64], v_star: &[f64], dt: f64) -> [Option<(f64, Link)>; 2] {
        let (tree, node, dof) = (self.tree, self.node, self.dof);
        let width = if self.ball { 3 } else { 1 };
        let speed = |v: &[f64]| v[dof..dof + width].iter().map(|x| x * x).sum::<f64>().sqrt();
        let reach = 2.0 * dt * (speed(v) + speed(v_star));
        let side =
            |gap: f64, axis: [f64; 3]| (gap <= reach).then_some((gap, Link::Joint { tree, node, dof, width, axis }));
        if self.ball {
            let turn = spatial::Quat::new(q[self.q], q[self.q + 1], q[self.q + 2], q[self.q + 3]).unit();
            let turn = turn.rotation_vector();
            let away = turn.normalized().unwrap_or(Vec3::ZERO) * -1.0;
            return [None, side(self.range.1 - turn.norm(), away.to_array())];
        }
        let x = q[self.q];
        [side(x - self.range.0, [1.0, 0.0, 0.0]), side(self.range.1 - x, [-1.0, 0.0, 0.0])]
    }
}
