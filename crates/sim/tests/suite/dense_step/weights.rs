//! Inverse weights at the default configuration, by dense matrices: means of the diagonal of J M⁻¹ Jᵀ.

use multibody::{Coordinate, EqualityKind, Model, Transmission};
use spatial::Vec3;

use super::bodies::Bodies;
use super::dense::{Matrix, Vector, dot, solve, with_diagonal};

/// M at the default configuration, armature included.
pub struct Weights<'a> {
    model: &'a Model,
    bodies: Bodies<'a>,
    mass: Matrix,
}

impl<'a> Weights<'a> {
    pub fn new(model: &'a Model) -> Self {
        let bodies = Bodies::at(model, &model.q0);
        let mass = with_diagonal(&bodies.mass_matrix(), &model.armature);
        Self { model, bodies, mass }
    }

    fn of_row(&self, row: &[f64]) -> f64 {
        dot(row, &solve(&self.mass, row))
    }

    fn of_axes(&self, rows: [Vector; 3]) -> f64 {
        rows.iter().map(|row| self.of_row(row)).sum::<f64>() / 3.0
    }

    /// Of a body's centre of mass, and of its rotation.
    pub fn of_body(&self, body: usize) -> [f64; 2] {
        let body = &self.model.bodies[body];
        let Some(node) = body.node else { return [0.0; 2] };
        let frame = &self.bodies.frames[node];
        let com = frame.pos + frame.rot * body.pose.transform_point(body.inertia.com);
        let columns = self.bodies.columns(Some(node), com);
        let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        [
            self.of_axes(axes.map(|e| columns.iter().map(|c| c.lin.dot(e)).collect())),
            self.of_axes(axes.map(|e| columns.iter().map(|c| c.ang.dot(e)).collect())),
        ]
    }

    pub fn of_dof(&self, dof: usize) -> f64 {
        let node = self.model.tree.nodes.iter().find(|node| (node.v..node.v + node.joint.nv()).contains(&dof)).unwrap();
        let first = if node.joint.nv() < 3 { dof } else { node.v + 3 * ((dof - node.v) / 3) };
        let together = first..first + node.joint.nv().min(3);
        together.clone().map(|k| self.of_axis(k)).sum::<f64>() / together.len() as f64
    }

    /// Of one degree of freedom by itself.
    pub fn of_axis(&self, dof: usize) -> f64 {
        self.of_row(&(0..self.model.nv()).map(|i| if i == dof { 1.0 } else { 0.0 }).collect::<Vector>())
    }

    pub fn of_tendon(&self, tendon: usize) -> f64 {
        let mut row = vec![0.0; self.model.nv()];
        for (joint, coefficient) in self.model.tendons[tendon].terms() {
            row[self.model.joints[*joint].v] += coefficient;
        }
        self.of_row(&row)
    }

    pub fn of_actuator(&self, ctrl: usize) -> f64 {
        match self.model.actuators[ctrl].transmission {
            Transmission::Joint { joint, gear } => gear * gear * self.of_dof(self.model.joints[joint].v),
            Transmission::Tendon { tendon, gear } => gear * gear * self.of_tendon(tendon),
            _ => panic!("an actuator that is not here"),
        }
    }

    /// Of the point of an equality, or of its turn.
    pub fn of_equality(&self, index: usize, is_turn: bool) -> f64 {
        let of = |coordinate: Coordinate| match coordinate {
            Coordinate::Joint(joint) => self.of_dof(self.model.joints[joint].v),
            Coordinate::Tendon(tendon) => self.of_tendon(tendon),
        };
        let sum = |bodies: [usize; 2], k: usize| bodies.iter().map(|body| self.of_body(*body)[k]).sum::<f64>();
        match self.model.equalities[index].kind {
            EqualityKind::Coupling { y, x, .. } => of(y.0) + x.map_or(0.0, |(x, _)| of(x)),
            // Its rows are the halves of angles times the scale.
            EqualityKind::Weld { bodies, torque_scale, .. } if is_turn => sum(bodies, 1) / (0.5 * torque_scale).powi(2),
            EqualityKind::Connect { bodies, .. }
            | EqualityKind::Weld { bodies, .. }
            | EqualityKind::Distance { bodies, .. } => sum(bodies, 0),
        }
    }
}
