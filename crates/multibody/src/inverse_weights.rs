//! How easily bodies, joints and tendons are moved at the default configuration.

use spatial::{ArticulatedInertia, Vec3};

use crate::{
    Coordinate, EqualityKind, Factor, JointImpedance, JointType, Kinematics, Model, NO_PARENT, TendonRow, Transmission,
    forward_kinematics,
};

/// Inverse weights: means of the diagonal of J M⁻¹ Jᵀ at the default configuration, M with armature. They are what MuJoCo has as
/// `body_invweight0`, `dof_invweight0` and `tendon_invweight0`; `solref` and `solimp` are relative to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InverseWeights {
    /// Of the bodies' centres of mass, 1/kg; 0 for what is fixed in the world.
    pub shifts: Vec<f64>,
    /// Of the bodies' rotations, 1/(kg·m²).
    pub turns: Vec<f64>,
    /// Of the degrees of freedom, (nv): those of a ball and the shifts and rotations of a free joint have one mean.
    pub dofs: Vec<f64>,
    /// The same of each by itself, as springs of joints meet it.
    pub axes: Vec<f64>,
    /// Of the lengths of tendons.
    pub tendons: Vec<f64>,
}

impl InverseWeights {
    /// Those of a model; O(n) but for tendons, each of which takes a solve.
    pub fn new(model: &Model) -> Self {
        let tree = &model.tree;
        let mut kin = Kinematics::new(tree);
        forward_kinematics(tree, tree.all(), &model.q0, &mut kin);
        let mut impedance = JointImpedance::new(tree);
        impedance.diagonal.copy_from_slice(&model.armature);
        let mut factor = Factor::new(tree);
        factor.factor(tree, tree.all(), &kin, &impedance, None);
        let nv = model.nv();
        let mut weights = Self { dofs: vec![0.0; nv], axes: vec![0.0; nv], ..Self::default() };
        let blocks = weights.walk(model, &kin, &factor);
        weights.push_bodies(model, &kin, &blocks);
        weights.push_tendons(model, &kin, &mut factor);
        weights
    }

    /// That of a part of an equality of the model: the point or the row, then the turn.
    pub fn of_equality(&self, model: &Model, index: usize, part: usize) -> f64 {
        let sum = |weights: &[f64], bodies: &[usize; 2]| weights[bodies[0]] + weights[bodies[1]];
        let of = |coordinate: Coordinate| match coordinate {
            Coordinate::Joint(joint) => self.dofs[model.joints[joint].v],
            Coordinate::Tendon(tendon) => self.tendons[tendon],
        };
        match &model.equalities[index].kind {
            EqualityKind::Coupling { y, x, .. } => of(y.0) + x.map_or(0.0, |x| of(x.0)),
            // The violation is half the angle, times the scale, and so is its rate.
            EqualityKind::Weld { bodies, torque_scale, .. } if part == 1 => {
                4.0 / (torque_scale * torque_scale) * sum(&self.turns, bodies)
            }
            EqualityKind::Connect { bodies, .. }
            | EqualityKind::Weld { bodies, .. }
            | EqualityKind::Distance { bodies, .. } => sum(&self.shifts, bodies),
        }
    }

    /// That of what an actuator acts on, a joint with one degree of freedom, a tendon or sites, its gear included; infinite for others.
    ///
    /// Of sites it is the mean over all directions: one in which nothing moves at the default configuration may move at others.
    pub fn of_actuator(&self, model: &Model, index: usize) -> f64 {
        let of_site = |weights: &[f64], site: usize| weights[model.sites[site].body];
        match model.actuators[index].transmission {
            Transmission::Joint { joint, gear } => gear * gear * self.dofs[model.joints[joint].v],
            Transmission::Tendon { tendon, gear } => gear * gear * self.tendons[tendon],
            Transmission::Site { site, reference, gear } => {
                let sites = [Some(site), reference].into_iter().flatten();
                let squared = |gear: &[f64]| gear.iter().map(|x| x * x).sum::<f64>();
                let [linear, angular] = [squared(&gear[..3]), squared(&gear[3..])];
                sites.map(|site| linear * of_site(&self.shifts, site) + angular * of_site(&self.turns, site)).sum()
            }
            Transmission::SliderCrank { crank, slider, gear, .. } => {
                gear * gear * (of_site(&self.shifts, crank) + of_site(&self.shifts, slider))
            }
            Transmission::Orientation { joint, .. } => self.dofs[model.joints[joint].v],
            Transmission::JointAxes { .. }
            | Transmission::Input
            | Transmission::Unsupported
            | Transmission::Adhesion { .. } => f64::INFINITY,
        }
    }

    /// Sets those of the degrees of freedom; returns Ω of every node in world axes.
    fn walk(&mut self, model: &Model, kin: &Kinematics<f64>, factor: &Factor<f64>) -> Vec<ArticulatedInertia<f64>> {
        let tree = &model.tree;
        let mut blocks: Vec<ArticulatedInertia<f64>> = Vec::with_capacity(tree.len());
        for (i, node) in tree.nodes.iter().enumerate() {
            let of_parent = (node.parent != NO_PARENT).then(|| &blocks[node.parent]);
            let nv = node.joint.nv();
            for k in 0..nv {
                self.axes[node.v + k] = factor.inverse_entry(tree, kin, i, k, of_parent);
            }
            self.dofs[node.v..node.v + nv].copy_from_slice(&self.axes[node.v..node.v + nv]);
            for together in self.dofs[node.v..node.v + nv].chunks_mut(3) {
                let mean = together.iter().sum::<f64>() / together.len() as f64;
                together.fill(mean);
            }
            blocks.push(factor.delassus_block(tree, kin, i, of_parent));
        }
        blocks
    }

    fn push_bodies(&mut self, model: &Model, kin: &Kinematics<f64>, blocks: &[ArticulatedInertia<f64>]) {
        for (index, body) in model.bodies.iter().enumerate() {
            if body.inertia.mass > 0.0 && slides_alone(model, index) {
                let weight = body.inertia.mass.recip();
                let nodes = model.tree.path_to_root(body.node.unwrap_or(NO_PARENT));
                nodes.for_each(|node| self.dofs[model.tree.nodes[node].v] = weight);
                self.shifts.push(weight);
                self.turns.push(0.0);
                continue;
            }
            let [shift, turn] = body.node.map_or([0.0; 2], |node| {
                let ArticulatedInertia { a, b, c } = blocks[node];
                let r = kin.frames[node].rot * body.pose.transform_point(body.inertia.com);
                // tr (c − r̂ b − (r̂ b)ᵀ + r̂ a r̂ᵀ), see `NodeMobility`.
                let skew = Vec3::new(b.y.z - b.z.y, b.z.x - b.x.z, b.x.y - b.y.x);
                let t = a.trace();
                [c.trace() + 2.0 * skew.dot(r) + t * r.dot(r) - (a * r).dot(r), t].map(|trace| trace / 3.0)
            });
            self.shifts.push(shift);
            self.turns.push(turn);
        }
    }

    fn push_tendons(&mut self, model: &Model, kin: &Kinematics<f64>, factor: &mut Factor<f64>) {
        let tree = &model.tree;
        let (mut row, mut force, mut x) = (TendonRow::default(), vec![0.0; model.nv()], vec![0.0; model.nv()]);
        for tendon in &model.tendons {
            tendon.write_row(model, kin, &model.q0, &mut row);
            force.fill(0.0);
            row.terms.iter().for_each(|term| force[term.dof] = term.coefficient);
            factor.solve(tree, tree.all(), kin, &force, None, &mut x);
            self.tendons.push(force.iter().zip(&x).map(|(f, x)| f * x).sum());
        }
    }
}

/// Whether a body of the world alone only slides along its own axes, its centre of mass at its origin. For such bodies and
/// their joints MuJoCo has 1/m: no mean over directions in some of which they do not move, no armature.
fn slides_alone(model: &Model, index: usize) -> bool {
    const LEAST: f64 = 1e-14;
    let (body, tree) = (&model.bodies[index], &model.tree);
    let has_axis = |axis: Vec3<f64>| axis.to_array().iter().filter(|x| x.abs() > LEAST).count() == 1;
    let slides = |node: usize| tree.nodes[node].joint == JointType::Prismatic && has_axis(tree.nodes[node].axis);
    if !tree.path_to_root(body.node.unwrap_or(NO_PARENT)).all(slides) {
        return false;
    }
    let [_, xy, xz, _, yz, _] = body.inertia.inertia.entries();
    let centre = body.inertia.com;
    let is_centred = [centre.x, centre.y, centre.z, xy, xz, yz].iter().all(|x| x.abs() < LEAST);
    let parent = &model.bodies[body.parent];
    let is_of_world = body.parent == 0 || (parent.node.is_none() && parent.parent == 0);
    body.node.is_some() && is_centred && is_of_world && model.bodies.iter().skip(1).all(|other| other.parent != index)
}
