//! The algorithms of `multibody` on whole models, with their scratch in one place.

use multibody::{
    CrbaWorkspace, DynamicsInput, ForwardDynamics, Kinematics, Model, RneaWorkspace, Tendon, TendonRow,
    equality_residuals, forward_kinematics, joint_columns, rnea, velocities,
};
use spatial::{Pose, Vec3};

/// Scratch for every algorithm, sized once.
pub struct Workspace {
    kinematics: Kinematics<f64>,
    rnea: RneaWorkspace<f64>,
    crba: CrbaWorkspace<f64>,
    forward: ForwardDynamics,
}

impl Workspace {
    pub fn new(model: &Model) -> Self {
        let tree = &model.tree;
        Self {
            kinematics: Kinematics::new(tree),
            rnea: RneaWorkspace::new(tree),
            crba: CrbaWorkspace::new(tree),
            forward: ForwardDynamics::new(tree),
        }
    }

    /// M(q) with the armature on its diagonal, (nv, nv).
    pub fn mass_matrix(&mut self, model: &Model, q: &[f64]) -> Vec<f64> {
        let (tree, nv) = (&model.tree, model.nv());
        forward_kinematics(tree, tree.all(), q, &mut self.kinematics);
        let mut m = vec![0.0; nv * nv];
        multibody::mass_matrix(tree, tree.all(), &self.kinematics, None, &mut self.crba, &mut m, nv, 0);
        for i in 0..nv {
            m[i * nv + i] += model.armature[i];
        }
        for Rotor { inertia, row, .. } in rotors(model, &self.kinematics, q) {
            for (i, j) in (0..nv).flat_map(|i| (0..nv).map(move |j| (i, j))) {
                m[i * nv + j] += inertia * (row[i] * row[j]);
            }
        }
        m
    }

    /// C(q, v): the forces that keep the acceleration at zero, (nv).
    pub fn bias_forces(&mut self, model: &Model, q: &[f64], v: &[f64]) -> Vec<f64> {
        self.place(model, q, v);
        let mut tau = self.rnea(model, v, None);
        for Rotor { inertia, row, drift } in rotors(model, &self.kinematics, q) {
            add_scaled(&mut tau, inertia * drift, &row);
        }
        tau
    }

    /// τ = M a + C, armature included, (nv).
    pub fn inverse_dynamics(&mut self, model: &Model, q: &[f64], v: &[f64], a: &[f64]) -> Vec<f64> {
        self.place(model, q, v);
        let mut tau = self.rnea(model, v, Some(a));
        for i in 0..tau.len() {
            tau[i] += model.armature[i] * a[i];
        }
        for Rotor { inertia, row, drift } in rotors(model, &self.kinematics, q) {
            add_scaled(&mut tau, inertia * (dot(&row, a) + drift), &row);
        }
        tau
    }

    /// a = M⁻¹ (τ − C), armature included, by the articulated-body algorithm, (nv).
    ///
    /// Tendons with armature are added one by one, M + m c cᵀ (Sherman, Morrison).
    pub fn forward_dynamics(&mut self, model: &Model, q: &[f64], v: &[f64], tau: &[f64]) -> Vec<f64> {
        let nv = model.nv();
        let mut a = vec![0.0; nv];
        self.place(model, q, v);
        let rotors: Vec<Rotor> = rotors(model, &self.kinematics, q).collect();
        let mut tau = tau.to_vec();
        rotors.iter().for_each(|Rotor { inertia, row, drift }| add_scaled(&mut tau, -inertia * drift, row));
        let input = DynamicsInput { q, v, tau: &tau, impedance: &model.armature, gravity: model.gravity };
        self.forward.solve(&model.tree, &input, &mut a);
        // Of each tendon c, M⁻¹ c with those before it, and m/(1 + m cᵀ M⁻¹ c).
        let mut added: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
        for Rotor { inertia, row, .. } in rotors {
            let (at_rest, mut response) = (vec![0.0; nv], vec![0.0; nv]);
            let input = DynamicsInput { v: &at_rest, tau: &row, gravity: Vec3::ZERO, ..input };
            self.forward.solve(&model.tree, &input, &mut response);
            for (earlier, response_before, share) in &added {
                let along = dot(earlier, &response);
                add_scaled(&mut response, -share * along, response_before);
            }
            let share = inertia / (1.0 + inertia * dot(&row, &response));
            let along = dot(&row, &a);
            add_scaled(&mut a, -share * along, &response);
            added.push((row, response, share));
        }
        a
    }

    /// The placements of all bodies, the world first.
    pub fn body_poses(&mut self, model: &Model, q: &[f64]) -> Vec<Pose<f64>> {
        let tree = &model.tree;
        forward_kinematics(tree, tree.all(), q, &mut self.kinematics);
        (0..model.bodies.len()).map(|body| self.kinematics.body_pose(model, body)).collect()
    }

    /// The Jacobian (6, nv) of the origin of a frame of a body: angular, then linear, world axes.
    pub fn jacobian(&mut self, model: &Model, q: &[f64], body: usize, pose: Pose<f64>) -> Vec<f64> {
        let (tree, nv) = (&model.tree, model.nv());
        let mut jacobian = vec![0.0; 6 * nv];
        let body = &model.bodies[body];
        let Some(node) = body.node else { return jacobian };
        forward_kinematics(tree, tree.all(), q, &mut self.kinematics);
        let (kin, frame) = (&self.kinematics, &self.kinematics.frames[node]);
        let point = frame.pos + frame.rot * (body.pose * pose).pos;
        for (dof, motion) in tree.path_to_root(node).flat_map(|node| joint_columns(tree, kin, node, point)) {
            let column = motion.ang.to_array().into_iter().chain(motion.lin.to_array());
            column.enumerate().for_each(|(row, x)| jacobian[row * nv + dof] = x);
        }
        jacobian
    }

    /// The rows of all equality constraints.
    pub fn equality_residuals(&mut self, model: &Model, q: &[f64]) -> Vec<f64> {
        let tree = &model.tree;
        forward_kinematics(tree, tree.all(), q, &mut self.kinematics);
        let mut residuals = Vec::new();
        equality_residuals(model, &self.kinematics, q, &mut residuals);
        residuals
    }

    /// The lengths of all tendons.
    pub fn tendon_lengths(&mut self, model: &Model, q: &[f64]) -> Vec<f64> {
        let tree = &model.tree;
        forward_kinematics(tree, tree.all(), q, &mut self.kinematics);
        let mut row = TendonRow::default();
        let length = |tendon: &Tendon| {
            tendon.write_row(model, &self.kinematics, q, &mut row);
            row.length
        };
        model.tendons.iter().map(length).collect()
    }

    fn place(&mut self, model: &Model, q: &[f64], v: &[f64]) {
        let tree = &model.tree;
        forward_kinematics(tree, tree.all(), q, &mut self.kinematics);
        velocities(tree, tree.all(), v, &mut self.kinematics);
    }

    fn rnea(&mut self, model: &Model, v: &[f64], a: Option<&[f64]>) -> Vec<f64> {
        let tree = &model.tree;
        let mut tau = vec![0.0; model.nv()];
        rnea(tree, tree.all(), &self.kinematics, v, a, model.gravity, &mut self.rnea, &mut tau);
        tau
    }
}

/// The armature of a tendon: what its length's acceleration costs.
struct Rotor {
    /// kg·m², or kg.
    inertia: f64,
    /// The rate of the length per rate of each degree of freedom, (nv).
    row: Vec<f64>,
    /// The length's acceleration where those of the degrees of freedom are 0.
    drift: f64,
}

/// Those of a model's tendons where its nodes are placed and move.
fn rotors<'a>(model: &'a Model, kinematics: &'a Kinematics<f64>, q: &'a [f64]) -> impl Iterator<Item = Rotor> + 'a {
    let mut of_tendon = TendonRow::default();
    model.tendons.iter().filter(|tendon| tendon.armature > 0.0).map(move |tendon| {
        tendon.write_row(model, kinematics, q, &mut of_tendon);
        let mut row = vec![0.0; model.nv()];
        of_tendon.terms.iter().for_each(|term| row[term.dof] += term.coefficient);
        Rotor { inertia: tendon.armature, row, drift: tendon.drift(model, kinematics) }
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// to += s x
fn add_scaled(to: &mut [f64], s: f64, x: &[f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += s * x);
}
