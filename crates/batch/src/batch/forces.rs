//! Forces that users apply.

use super::Batch;

impl Batch {
    /// Forces on the degrees of freedom, (worlds, nv), N or N·m; empty where [nobody changes them](Self::applied_force_mut).
    pub fn applied_force(&self) -> &[f64] {
        &self.arrays.applied_force
    }

    /// Forces on the degrees of freedom, (worlds, nv), N or N·m, to be changed between steps; they stay until changed, or a reset.
    pub fn applied_force_mut(&mut self) -> &mut [f64] {
        let len = self.arrays.v.len();
        self.arrays.applied_force.resize(len, 0.0);
        &mut self.arrays.applied_force
    }

    /// Torque and force at the centre of mass of each body in world axes, (worlds, nbody, 6), N·m and N; empty where
    /// [nobody changes them](Self::applied_wrench_mut).
    pub fn applied_wrench(&self) -> &[f64] {
        &self.arrays.applied_wrench
    }

    /// Torque and force at the centre of mass of each body in world axes, (worlds, nbody, 6), N·m and N, to be changed between steps; they
    /// stay until changed, or a reset.
    pub fn applied_wrench_mut(&mut self) -> &mut [f64] {
        let len = 6 * self.model.bodies.len() * self.worlds();
        self.arrays.applied_wrench.resize(len, 0.0);
        &mut self.arrays.applied_wrench
    }

    /// Velocities of the geoms' surfaces on their bodies, (worlds, ngeom, 3), in the axes of the bodies' nodes, world axes where the body is
    /// fixed, m/s; empty where none moves and [nobody changes them](Self::surface_velocity_mut).
    pub fn surface_velocity(&self) -> &[f64] {
        &self.arrays.surface_velocity
    }

    /// Velocities of the geoms' surfaces, to be changed between steps; they stay until changed, or a reset.
    pub fn surface_velocity_mut(&mut self) -> &mut [f64] {
        let len = 3 * self.scene.geoms.len() * self.worlds();
        self.arrays.surface_velocity.resize(len, 0.0);
        &mut self.arrays.surface_velocity
    }
}
