//! Forces that users apply.

use super::Batch;

impl Batch {
    /// Forces on the degrees of freedom, (worlds, nv), N or N·m; empty where [nobody changes them](Self::applied_force_mut).
    pub fn applied_force(&self) -> &[f64] {
        &self.applied_force
    }

    /// Forces on the degrees of freedom, (worlds, nv), N or N·m, to be changed between steps; they stay until changed, or a reset.
    pub fn applied_force_mut(&mut self) -> &mut [f64] {
        let len = self.v.len();
        self.applied_force.resize(len, 0.0);
        &mut self.applied_force
    }

    /// Torque and force at the centre of mass of each body in world axes, (worlds, nbody, 6), N·m and N; empty where
    /// [nobody changes them](Self::applied_wrench_mut).
    pub fn applied_wrench(&self) -> &[f64] {
        &self.applied_wrench
    }

    /// Torque and force at the centre of mass of each body in world axes, (worlds, nbody, 6), N·m and N, to be changed between steps; they
    /// stay until changed, or a reset.
    pub fn applied_wrench_mut(&mut self) -> &mut [f64] {
        let len = 6 * self.model.bodies.len() * self.worlds();
        self.applied_wrench.resize(len, 0.0);
        &mut self.applied_wrench
    }

    /// Those of one world, empty where nobody set any.
    pub(super) fn forces_of(&self, world: usize) -> &[f64] {
        of_world(&self.applied_force, world, self.worlds())
    }

    pub(super) fn wrenches_of(&self, world: usize) -> &[f64] {
        of_world(&self.applied_wrench, world, self.worlds())
    }

    /// Takes applied forces off a world.
    pub(super) fn end_forces(&mut self, world: usize) {
        let worlds = self.worlds();
        for all in [&mut self.applied_force, &mut self.applied_wrench] {
            let n = all.len() / worlds;
            all[world * n..(world + 1) * n].fill(0.0);
        }
    }
}

fn of_world(all: &[f64], world: usize, worlds: usize) -> &[f64] {
    let n = all.len() / worlds;
    &all[world * n..(world + 1) * n]
}
