//! A step of all lanes.

use super::{Bundle, Lanes, lanes_of, select, select3, vec3, wide};
use crate::constants::{FASTEST, LARGEST_TURN, MAX_DRIVE_ROUNDS};
use crate::plan::Plan;
use spatial::Vec3;
use spatial::masks::all_lanes;

impl<T: Bundle> Lanes<T> {
    /// Moves every lane by one time step, but those that [fall back](Self::fallback): these stay as they were.
    #[inline(always)]
    pub(super) fn step(&mut self, plan: &Plan) {
        self.steps += 1;
        self.residual = 0.0;
        self.v_start.copy_from_slice(&self.v);
        self.fallback = self.untried;
        self.unresolved = 0;
        self.find_moving_surfaces(plan);
        if !self.is_placed {
            self.make_quaternions_unit(plan);
            T::place(self, plan);
        }
        self.q_start.copy_from_slice(&self.q);
        T::move_nodes(self, plan);
        if self.has_wrenches {
            self.apply_wrenches(plan);
        }
        if self.is_single_world {
            self.recall_all_but_contacts(plan);
        }
        self.advance_activations(plan);
        self.begin_adhesion(plan);
        T::gather_impulses(self, plan);
        self.load_coriolis(plan);
        let mut pending = all_lanes::<T>();
        for round in 0..MAX_DRIVE_ROUNDS {
            self.move_freely(plan);
            if round == 0 {
                if self.is_single_world && self.is_calm() {
                    self.fallback = all_lanes::<T>();
                    self.act.copy_from_slice(&self.act_start);
                    return;
                }
                // Which points the step can reach does not depend on drives that turn out to be at their limits.
                T::collide(self, plan);
                if !plan.adhesions.is_empty() {
                    self.adhere(plan);
                }
            }
            let again = T::mask(pending);
            for &k in &self.near {
                let slot = &mut self.slots[k];
                slot.step = self.steps;
                slot.impulse = select3(again, Vec3::ZERO, slot.impulse);
                slot.pushes = select(again, T::ZERO, slot.pushes);
            }
            if round == 0 && self.is_single_world {
                self.recall_contacts(plan);
            }
            T::regularise_contacts(self, plan);
            self.resolve(plan, pending);
            // Steps in which drives exceed their limits are made again, with these drives as constraints.
            pending &= self.saturate_drives(plan);
            if pending == 0 {
                break;
            }
        }
        self.fallback |= pending;
        // Lanes that fall back from here on keep what constraints met in the step that is taken back: halves of it meet much the same.
        self.remember();
        self.check_velocities(plan);
        self.v_solved.copy_from_slice(&self.v);
        T::note_due(self, plan);
        self.remember_apart(plan);
        self.advance(plan);
        if self.is_single_world {
            for (axis, dof) in self.axes_at_start.iter_mut().zip(&self.dofs) {
                *axis = dof.axis;
            }
        }
        T::place(self, plan);
        T::balance_all(self, plan);
        if self.fallback != 0 {
            self.restore();
        }
    }

    /// Leaves the lanes that diverge or turn far to a simulation.
    #[inline(always)]
    fn check_velocities(&mut self, plan: &Plan) {
        let mut is_fine = T::ONE;
        for v in &self.v {
            is_fine *= v.abs().if_less(wide(FASTEST), T::ONE, T::ZERO);
        }
        let most = LARGEST_TURN / plan.dt;
        for node in &plan.nodes {
            let Some(offset) = node.joint.rotation_offset() else { continue };
            is_fine *= vec3(&self.v[node.v + offset..]).norm_squared().if_less(wide(most * most), T::ONE, T::ZERO);
        }
        self.fallback |= lanes_of(T::ONE - is_fine);
    }

    /// Takes back the step of the lanes that fall back.
    #[inline(always)]
    fn restore(&mut self) {
        let fallback = T::mask(self.fallback);
        for (q, start) in self.q.iter_mut().zip(&self.q_start) {
            *q = select(fallback, *start, *q);
        }
        for (v, start) in self.v.iter_mut().zip(&self.v_start) {
            *v = select(fallback, *start, *v);
        }
        for (act, start) in self.act.iter_mut().zip(&self.act_start) {
            *act = select(fallback, *start, *act);
        }
        self.is_placed = false;
    }
}
