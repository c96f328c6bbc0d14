//! Inertia along spatial tendons: how their rows turn in a step, and the energy that this costs at its end.
//!
//! The default step takes the row J₀ of a string's length at its beginning. Its impulse −a (J₀ (v − v₀) + dt J̇ v₀) and the motion leave
//! kinetic energy of ½ a (J₀ v)² + a dt J̇ v₀ ½ J₀ (v₀ + v), where the string has ½ a (J v)² with the row J at the end. The difference is of
//! second order in the turn of the row, as that of bodies which turn, and is added to theirs.

use multibody::{Model, place_nodes, velocities};

use super::Sources;
use super::tendons::{StringEnd, TendonForces};
use crate::tree_workspace::{StringEnergy, TreeWorkspace};

impl Sources {
    /// Whether there are spatial tendons with inertia.
    pub fn have_string_inertia(&self) -> bool {
        self.tendons.iter().any(TendonForces::has_spatial_inertia)
    }

    /// Finds how the rows of spatial tendons with inertia turn at the velocities `v` (nv) where they have been placed.
    pub fn find_tendon_drifts(&mut self, model: &Model, v: impl Iterator<Item = f64>) {
        if !self.have_string_inertia() {
            return;
        }
        let Self { tendons, kinematics, v: at_drift, .. } = self;
        at_drift.clear();
        at_drift.extend(v);
        velocities(&model.tree, model.tree.all(), at_drift, kinematics);
        tendons.iter_mut().enumerate().for_each(|(k, tendon)| tendon.find_drift(model, k, kinematics));
    }

    /// Gives the trees their shares of the strings' energy at the end of a step of `dt` s from the velocities `v0` to `v`, (nv), at the positions
    /// `q`, (nq).
    pub fn share_string_energy(
        &mut self,
        model: &Model,
        tree_of: &[usize],
        end: &StringEnd<'_>,
        trees: &mut [TreeWorkspace],
    ) {
        let Self { tendons, kinematics, row, placed_at, .. } = self;
        // The nodes are no longer where the strings are placed.
        placed_at.clear();
        place_nodes(&model.tree, model.tree.all(), end.q, kinematics);
        for (k, tendon) in tendons.iter().enumerate().filter(|(_, tendon)| tendon.has_spatial_inertia()) {
            model.tendons[k].write_row(model, kinematics, &[], row);
            let (armature, rate) = (model.tendons[k].armature, row.rate(end.v));
            let [start, due] = tendon.string_energy(end);
            let own = |terms: &[multibody::TendonTerm]| -> f64 {
                terms.iter().map(|term| term.coefficient * end.v[term.dof]).sum()
            };
            // By what each tree has of the rate.
            let of_trees = row.terms.chunk_by(|a, b| tree_of[a.node] == tree_of[b.node]);
            let squares: f64 = of_trees.clone().map(|terms| own(terms).powi(2)).sum();
            if squares == 0.0 {
                continue;
            }
            for terms in of_trees {
                let (own, workspace) = (own(terms), &mut trees[tree_of[terms[0].node]]);
                let share = own * own / squares;
                workspace.add_string_energy(StringEnergy {
                    at_start: share * start,
                    at_end: 0.5 * armature * rate * own,
                    missing: share * (due - 0.5 * armature * rate * rate),
                });
            }
        }
    }
}
