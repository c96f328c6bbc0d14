//! Forces on a tree in the last step, by origin.

use multibody::{add_generalized_forces, difference, forward_kinematics};
use spatial::Wrench;

use super::TreeWorkspace;
use super::actuated_lift::ActuatedLift;
use crate::actuation::Inputs;
use crate::scheme::{Discretization, SpringDamper};
use crate::step_forces::{LastStep, StepForces};

impl TreeWorkspace {
    /// Sets the forces of constraints on the tree's degrees of freedom in the last step, of drives and tendons that were some among them.
    pub fn write_constraint_forces(&mut self, last: &LastStep, out: &mut StepForces) {
        let dofs = self.dofs.clone();
        let (v0, v) = (&last.v0[dofs.clone()], &last.v[dofs.clone()]);
        self.constraint_force(v, last.dt, &mut out.constraint[dofs.clone()]);
        let before = &last.v_before[dofs.clone()];
        if before != v0 {
            // Impacts before the step, over it.
            self.impedance.diagonal.copy_from_slice(&self.armature);
            let Self { tree, kin, impedance, change, factor, momenta, rhs, .. } = self;
            for (change, (v0, before)) in change.iter_mut().zip(v0.iter().zip(before)) {
                *change = (v0 - before) / last.dt;
            }
            multibody::apply(tree, tree.all(), kin, impedance, change, &mut factor.motions, momenta, rhs);
            super::add(&mut out.constraint[dofs], rhs);
        }
    }

    /// Places the nodes at the model's positions `q`, (nq), if forces of their own on bodies depend on that.
    pub fn place_loads(&mut self, q: &[f64]) {
        if self.has_own_loads {
            forward_kinematics(&self.tree, self.tree.all(), &q[self.qs.clone()], &mut self.kin);
        }
    }

    /// Adds springs, dampers, gravity compensation and the medium to the model's passive forces, (nv).
    pub fn add_passive_forces(&mut self, last: &LastStep, step: &Discretization, passive: &mut [f64]) {
        let passive = &mut passive[self.dofs.clone()];
        let (v0, v) = (&last.v0[self.dofs.clone()], &last.v[self.dofs.clone()]);
        let theta = step.compliant;
        let q0 = &last.q[self.qs.clone()];
        let at = |theta: f64, i: usize| v0[i] + theta * (v[i] - v0[i]);
        let is_ahead = match &mut self.newton {
            Some(newton) if self.has_springs => {
                (0..v.len()).for_each(|i| self.rhs[i] = at(theta.vq, i));
                newton.q.copy_from_slice(q0);
                step.retraction.advance(&self.tree, &mut newton.q, &self.rhs, last.dt, theta.q);
                difference(&self.tree, &self.spring_reference, &newton.q, &mut self.change);
                false
            }
            _ => {
                difference(&self.tree, &self.spring_reference, q0, &mut self.change);
                true
            }
        };
        for (i, passive) in passive.iter_mut().enumerate() {
            let (k, d) = (self.stiffness[i], self.damping[i]);
            let mut force = if k == 0.0 { 0.0 } else { k * self.change[i] };
            force += if is_ahead {
                let SpringDamper { ahead, impedance } = step.resist(k, d, self.mobility[i]);
                (ahead + d) * v0[i] + impedance / step.dt * (v[i] - v0[i])
            } else {
                d * at(theta.v, i)
            };
            *passive -= force;
        }
        if self.has_own_loads {
            let mut lifts = std::mem::take(&mut self.momenta);
            lifts.fill(Wrench::ZERO);
            for load in &self.loads {
                if let Some(own) = load.about_node(load.own(), &self.kin) {
                    lifts[load.node] += own;
                }
            }
            add_generalized_forces(&self.tree, self.tree.all(), &self.kin, &mut lifts, passive);
            self.momenta = lifts;
        }
        for (dof, force) in self.lift.iter().flat_map(ActuatedLift::forces) {
            passive[dof] -= force;
        }
    }

    /// Sets the forces of actuators at the tree's joints, before their gears, (nu).
    pub fn write_actuators(&mut self, last: &LastStep, step: &Discretization, actuators: &mut [f64]) {
        self.go_to_axis_drives(last, step);
        let (q, inputs) = (&last.q[self.qs.clone()], Inputs::resolved(&last.inputs, &last.act));
        let ends = [&last.v0, &last.v].map(|v| &v[self.dofs.clone()]);
        self.servos.iter().for_each(|servo| servo.write_forces(inputs, q, ends, step, actuators));
        self.orientation_drives.iter().for_each(|drive| drive.write_torques(inputs, q, ends, step, actuators));
        for drive in &self.axis_drives {
            let (_, (ctrl, force)) = drive.force(inputs, q, &self.change, step);
            actuators[ctrl] = force;
        }
    }

    /// Sets `change` to the velocities at which drives along axes took their forces.
    fn go_to_axis_drives(&mut self, last: &LastStep, step: &Discretization) {
        let theta = if self.newton.is_some() { step.theta.v } else { 0.0 };
        let ends = last.v0[self.dofs.clone()].iter().zip(&last.v[self.dofs.clone()]);
        self.change.iter_mut().zip(ends).for_each(|(at, (v0, v))| *at = v0 + theta * (v - v0));
    }

    /// Adds actuators of joints and PD control, and takes off the constraints those that were some.
    pub fn add_drive_forces(&mut self, last: &LastStep, step: &Discretization, out: &mut StepForces) {
        let (first, per_second) = (self.dofs.start, 1.0 / last.dt);
        for i in 0..self.tree.nv {
            out.actuation[first + i] += self.constant[i] * per_second;
        }
        for (dof, force) in self.lift.iter().flat_map(ActuatedLift::forces) {
            out.actuation[first + dof] += force;
        }
        for drive in &self.drives {
            let dof = first + drive.dof;
            let force = drive.force.over(last.v[dof] - last.v0[dof]) * per_second;
            if drive.key.is_pd() {
                out.pd[dof] += force;
            } else {
                out.actuation[dof] += force;
            }
            if drive.is_saturated {
                out.constraint[dof] -= force;
            }
        }
        if !self.axis_drives.is_empty() {
            self.go_to_axis_drives(last, step);
            self.rhs.fill(0.0);
            let q = &last.q[self.qs.clone()];
            for drive in &self.axis_drives {
                drive.add_impulse(Inputs::resolved(&last.inputs, &last.act), q, &self.change, step, &mut self.rhs);
            }
            for (force, impulse) in out.actuation[self.dofs.clone()].iter_mut().zip(&self.rhs) {
                *force += impulse * per_second;
            }
        }
        let Some(limits) = last.pd_limits.get(self.dofs.clone()) else { return };
        // Control without limits is not among the drives. Control with limits is; where its impedance is 0 it is a constant force.
        let is_drives = self.newton.is_some() || limits.iter().any(|limit| *limit < f64::INFINITY);
        for (i, limit) in limits.iter().enumerate() {
            let (dof, impedance) = (first + i, self.pd.impedance[i]);
            if is_drives && impedance > 0.0 {
                continue;
            }
            let force = (self.pd.impulse[i] - impedance * (last.v[dof] - last.v0[dof])) * per_second;
            let force = force.max(-limit).min(*limit);
            out.pd[dof] += force;
            if is_drives {
                out.actuation[dof] -= force;
            }
        }
    }
}
