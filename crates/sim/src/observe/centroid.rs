//! Centre of mass and momentum of the whole model, or of a body with all that hangs on it.

use multibody::{NO_PARENT, joint_axis};
use spatial::{RigidInertia, Vec3, Wrench};

use super::Observation;
use crate::State;

/// Scratch, sized by use.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Whether each body is in the subtree, (nbody).
    is_in: Vec<bool>,
    /// What of the subtree moves with each node, and what moves with it and all nodes below, about its origin in world axes, (nnode).
    inertias: Vec<RigidInertia<f64>>,
}

impl Observation<'_> {
    /// Notes the bodies of the subtree of `root`; all for the world.
    fn select(&mut self, root: usize) {
        let is_in = &mut self.present.centroid.is_in;
        is_in.clear();
        is_in.resize(self.model.bodies.len(), false);
        // Parents come before children.
        for (k, body) in self.model.bodies.iter().enumerate() {
            is_in[k] = k == root || (k != 0 && is_in[body.parent]);
        }
    }

    /// Places all nodes that bodies of the subtree move with, `moving` or not.
    fn place_subtree(&mut self, root: usize, moving: bool) {
        self.select(root);
        let State { q, v, .. } = self.state;
        for (k, body) in self.model.bodies.iter().enumerate() {
            let Some(node) = body.node.filter(|_| self.present.centroid.is_in[k]) else { continue };
            // Only the first body of a tree finds anything to do.
            if moving {
                self.present.place_moving(self.model, self.tree_of[node], q, v);
            } else {
                self.present.place(self.model, self.tree_of[node], q);
            }
        }
    }

    /// Mass and centre of mass of what is selected and placed.
    fn centroid(&self) -> (f64, Vec3<f64>) {
        let (mut mass, mut moment) = (0.0, Vec3::ZERO);
        for (body, _) in self.model.bodies.iter().zip(&self.present.centroid.is_in).filter(|(_, is_in)| **is_in) {
            let com = body.pose.transform_point(body.inertia.com);
            let com = body.node.map_or(com, |node| {
                let frame = &self.present.kin.frames[node];
                frame.pos + frame.rot * com
            });
            mass += body.inertia.mass;
            moment += com * body.inertia.mass;
        }
        (mass, if mass > 0.0 { moment * (1.0 / mass) } else { Vec3::ZERO })
    }

    /// The mass of a body and all that hangs on it, kg; of the whole model for body 0, the world.
    pub fn subtree_mass(&mut self, body: usize) -> f64 {
        self.select(body);
        let all = self.model.bodies.iter().zip(&self.present.centroid.is_in);
        all.filter(|(_, is_in)| **is_in).map(|(body, _)| body.inertia.mass).sum()
    }

    /// The centre of mass of a body and all that hangs on it, m; of the whole model for body 0, the world. Bodies that are fixed in the
    /// world count. The origin of the body where there is no mass.
    pub fn center_of_mass(&mut self, body: usize) -> Vec3<f64> {
        self.place_subtree(body, false);
        let (mass, center) = self.centroid();
        if mass > 0.0 { center } else { self.pose(super::Frame::Body(body)).pos }
    }

    /// Momentum of a body and all that hangs on it, about their centre of mass: angular, then linear, kg·m²/s and kg·m/s. Armature has
    /// none.
    pub fn momentum(&mut self, body: usize) -> Wrench<f64> {
        self.place_subtree(body, true);
        let (mass, center) = self.centroid();
        let mut momentum = Wrench::ZERO;
        for (k, body) in self.model.bodies.iter().enumerate().filter(|(k, _)| self.present.centroid.is_in[*k]) {
            let Some(node) = body.node else { continue };
            let frame = &self.present.kin.frames[node];
            let twist = self.in_world(k, self.present.kin.twists[node], frame.pos);
            let rot = (frame.quat * body.pose.rot).to_mat3();
            let com = frame.rot * body.pose.transform_point(body.inertia.com);
            let lin = (twist.lin + twist.ang.cross(com)) * body.inertia.mass;
            let ang = body.inertia.inertia.rotated(rot) * twist.ang;
            momentum += Wrench { ang: ang + (frame.pos + com - center).cross(lin), lin };
        }
        if mass > 0.0 { momentum } else { Wrench::ZERO }
    }

    /// The centre of mass' Jacobian, (3, nv), row by row: its velocity is J v.
    ///
    /// # Panics
    /// When `out` has not 3 nv entries.
    pub fn center_of_mass_jacobian(&mut self, body: usize, out: &mut [f64]) {
        self.momentum_rows(body, out, |h, mass| h.lin.to_array().map(|x| x / mass));
    }

    /// The centroidal momentum matrix, (6, nv), row by row: the momentum is that times v.
    ///
    /// # Panics
    /// When `out` has not 6 nv entries.
    pub fn momentum_jacobian(&mut self, body: usize, out: &mut [f64]) {
        self.momentum_rows(body, out, |Wrench { ang, lin }, _| [ang.x, ang.y, ang.z, lin.x, lin.y, lin.z]);
    }

    /// N rows of what `rows` makes of the momentum of each degree of freedom at unit velocity, and of the mass.
    fn momentum_rows<const N: usize>(
        &mut self,
        body: usize,
        out: &mut [f64],
        rows: impl Fn(Wrench<f64>, f64) -> [f64; N],
    ) {
        let nv = self.model.nv();
        assert_eq!(out.len(), N * nv, "the Jacobian has {N} nv entries");
        out.fill(0.0);
        let (mass, center) = self.gather_inertias(body);
        if mass == 0.0 {
            return;
        }
        let super::Present { kin, centroid: Scratch { inertias, .. }, .. } = &*self.present;
        for (i, (node, inertia)) in self.model.tree.nodes.iter().zip(inertias).enumerate() {
            if *inertia == RigidInertia::ZERO {
                continue;
            }
            let frame = &kin.frames[i];
            for k in 0..node.joint.nv() {
                let h = inertia.momentum(joint_axis(node, frame, k)).shifted_back(frame.pos - center);
                for (row, x) in rows(h, mass).into_iter().enumerate() {
                    out[row * nv + node.v + k] = x;
                }
            }
        }
    }

    /// Gathers what moves with each node of the subtree of `root`; its mass and centre of mass.
    fn gather_inertias(&mut self, root: usize) -> (f64, Vec3<f64>) {
        self.place_subtree(root, false);
        let super::Present { kin, centroid, .. } = &mut *self.present;
        let super::centroid::Scratch { is_in, inertias } = centroid;
        inertias.clear();
        inertias.resize(self.model.tree.len(), RigidInertia::ZERO);
        for (body, _) in self.model.bodies.iter().zip(is_in).filter(|(_, is_in)| **is_in) {
            let Some(node) = body.node else { continue };
            let frame = &kin.frames[node];
            let here = RigidInertia {
                mass: body.inertia.mass,
                com: frame.rot * body.pose.transform_point(body.inertia.com),
                inertia: body.inertia.inertia.rotated((frame.quat * body.pose.rot).to_mat3()),
            };
            inertias[node] = inertias[node].combined(&here);
        }
        for i in (0..inertias.len()).rev() {
            let (parent, offset) = (self.model.tree.nodes[i].parent, kin.frames[i].offset);
            if parent != NO_PARENT && inertias[i] != RigidInertia::ZERO {
                let below = RigidInertia { com: inertias[i].com + offset, ..inertias[i] };
                inertias[parent] = inertias[parent].combined(&below);
            }
        }
        self.centroid()
    }
}
