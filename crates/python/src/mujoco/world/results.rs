//! What a step has found, in an `MjData`: accelerations, forces, contacts and the rows of constraints.

use pyo3::prelude::*;
use sim::ContactPoint;

use super::{Running, is_good};
use crate::mujoco::contact::MjContact;
use crate::mujoco::native::Part;

impl Running<'_> {
    /// What the last step has found: accelerations, forces, contacts; then the sensors of these.
    pub(super) fn write_forces(&mut self) -> PyResult<()> {
        self.wake()?;
        let (memory, world) = (self.memory, self.world);
        // SAFETY: as in `write`; no slice of these is in use. Of controls that are not finite MuJoCo has said so already.
        if unsafe { !memory.act.get().is_empty() && is_good(memory.ctrl.get()) } {
            // Rates of activations are those of the state, as MuJoCo has them; the forces that it finds are not those of the step.
            self.call_part(Part::Actuation)?;
            unsafe { memory.actuator_force.get_mut().fill(0.0) };
        }
        // SAFETY: as in `write`.
        unsafe {
            memory.qacc.get_mut().copy_from_slice(self.simulation.acceleration());
            memory.warmstart.get_mut().copy_from_slice(self.simulation.acceleration());
            let forces = self.simulation.acting_forces();
            memory.actuation.get_mut().copy_from_slice(forces.actuation);
            let outputs = memory.actuator_force.get_mut();
            world.outputs.iter().for_each(|&[output, ctrl]| outputs[output] = forces.actuators[ctrl]);
        }
        self.write_constraint()?;
        self.fall_asleep()
    }

    /// Tells MuJoCo which of its sleepers the step has woken, and has it find all that follows from the state once more.
    fn wake(&mut self) -> PyResult<()> {
        if !self.simulation.may_sleep() {
            return Ok(());
        }
        let rests = &self.simulation.state().rests;
        let group = |tree: usize| rests.get(tree).and_then(|rest| rest.asleep_with);
        let mut has_woken = false;
        // SAFETY: as in `write`.
        let awake = unsafe { self.memory.tree_awake.get_mut() };
        for (tree, awake) in awake.iter_mut().enumerate() {
            if *awake == 0 && group(tree).is_none() {
                *awake = 1;
                has_woken = true;
            }
        }
        if has_woken { self.state_stages() } else { Ok(()) }
    }

    /// Tells MuJoCo which trees have fallen asleep. It makes no rows for contacts of sleepers: those of the step have been made.
    fn fall_asleep(&mut self) -> PyResult<()> {
        if !self.simulation.may_sleep() || self.native().is_none() {
            return Ok(());
        }
        // SAFETY: as in `write`.
        let (awake, next) = unsafe { (self.memory.tree_awake.get(), self.memory.tree_asleep.get_mut()) };
        let rests = &self.simulation.state().rests;
        let fallen = || (0..awake.len()).filter_map(|tree| Some((tree, rests.get(tree)?.asleep_with? as usize)));
        let fallen = || fallen().filter(|(tree, _)| awake[*tree] != 0);
        // Those of a group follow one another in a circle.
        fallen().for_each(|(tree, _)| next[tree] = tree as i32);
        fallen().filter(|(tree, first)| tree != first).for_each(|(tree, first)| next.swap(tree, first));
        if fallen().next().is_some() { self.call_part(Part::Sleep) } else { Ok(()) }
    }

    /// The forces of contacts and other constraints in the last step; then the sensors of accelerations and forces.
    pub(super) fn write_constraint(&mut self) -> PyResult<()> {
        let (memory, world) = (self.memory, self.world);
        // SAFETY: as in `write`.
        unsafe {
            // Forces between bodies are those of the forces below.
            memory.is_computed[3].set(false);
            memory.constraint.get_mut().copy_from_slice(self.simulation.acting_forces().constraint);
        }
        let count = self.write_contacts();
        if count > 0 || world.reads_rows {
            self.call_part(Part::Rows)?;
            self.write_rows(count);
        }
        if world.calls.sensors.is_some() { self.call_part(Part::Sensors) } else { Ok(()) }
    }

    /// The points that are in contact or push: near ones, which a step looks at as well, are no contacts in MuJoCo.
    fn touching(&self) -> impl Iterator<Item = &ContactPoint> {
        self.simulation.contacts().iter().filter(|point| point.gap <= 0.0 || point.impulse[2] > 0.0)
    }

    /// Writes the contacts of the last step, as many as there is room for; returns how many.
    fn write_contacts(&self) -> usize {
        let memory = self.memory;
        // SAFETY: as in `write`; an arena begins with the contacts, and they may fill half of it.
        let contacts = unsafe {
            let room = usize::try_from(memory.arena_size.get()).unwrap_or(0) / size_of::<MjContact>() / 2;
            memory.contacts.pointed(room)
        };
        let points = self.touching().zip(contacts);
        let count = points.map(|(point, contact)| *contact = MjContact::new(point, &self.world.surfaces)).count();
        // SAFETY: as in `write`.
        unsafe {
            memory.ncon.set(count as i32);
            memory.arena_used.set(count * size_of::<MjContact>());
        }
        count
    }

    /// The forces of the rows of MuJoCo's constraints: of contacts, of the others where something asks for them.
    fn write_rows(&mut self, count: usize) {
        let (memory, timestep) = (self.memory, self.simulation.timestep());
        // SAFETY: as in `write`; `mj_makeConstraint` has made as many.
        let (contacts, forces) = unsafe {
            let rows = usize::try_from(memory.nefc.get()).unwrap_or(0);
            (&*memory.contacts.pointed(count), memory.row_forces.pointed(rows))
        };
        forces.fill(0.0);
        for (point, contact) in self.touching().zip(contacts) {
            contact.write_rows(point, timestep, self.world.is_pyramidal, forces);
        }
        if self.world.reads_rows {
            // SAFETY: as above.
            unsafe { self.kept.row_forces.write(&memory.rows, memory.constraint.get(), forces) };
        }
    }
}
