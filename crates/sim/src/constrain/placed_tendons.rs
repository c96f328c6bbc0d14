//! Where tendons are: lengths and rows of those that depend on the configuration, taken once for a step and for programs that look.

use multibody::{EffectiveMass, Model, TendonRow, place_nodes};
use spatial::Vec3;

use super::equalities::Tie;
use super::sums::Sum;
use super::tendons::TendonForces;
use super::{Regularization, Sources};

/// Tendons where the state is.
#[derive(Clone, Copy, Debug)]
pub struct PlacedTendons<'a> {
    of_model: &'a [TendonForces],
    q: &'a [f64],
    /// Of each obstacle of all of them, in their order along the way, where the string comes to it and leaves it, world, m; none where it passes by.
    pub touches: &'a [Option<[Vec3<f64>; 2]>],
}

impl<'a> PlacedTendons<'a> {
    /// How many there are: all of the model.
    pub fn count(&self) -> usize {
        self.of_model.len()
    }

    /// The length of each, and its derivative: degrees of freedom, ascending, and the entries.
    pub fn rows(&self) -> impl Iterator<Item = (f64, impl Iterator<Item = (usize, f64)> + 'a)> + 'a {
        let Self { of_model, q, .. } = *self;
        of_model.iter().map(move |tendon| tendon.row(q))
    }
}

impl Sources {
    /// Finds lengths and rows of spatial tendons at `q`: the next step, up to the next call, takes them from there.
    pub fn place_tendons(&mut self, model: &Model, tree_of: &[usize], q: &[f64]) {
        let is_placed = self.acting_tendons().any(|(_, tendon)| tendon.is_spatial());
        if !is_placed && !self.ties.iter().any(Tie::is_spatial) {
            return;
        }
        let Self { tendons, ties, kinematics, row, placed_at, have_bases_moved, touches, .. } = self;
        if are_same(placed_at, q) && !*have_bases_moved {
            return;
        }
        placed_at.clear();
        placed_at.extend_from_slice(q);
        place_nodes(&model.tree, model.tree.all(), q, kinematics);
        let has_moved = std::mem::take(have_bases_moved);
        let place = |sum: &mut Sum, row: &mut TendonRow| {
            if has_moved {
                sum.route_again(model);
            }
            sum.place(model, tree_of, kinematics, row);
        };
        ties.iter_mut().flat_map(Tie::sums_mut).for_each(|sum| place(sum, row));
        touches.clear();
        for tendon in tendons.iter_mut().filter(|tendon| tendon.is_spatial() && tendon.acts()) {
            place(tendon.sum_mut(), row);
            touches.extend_from_slice(&row.touches);
        }
    }

    /// Places spatial tendons where the last step has begun, at `q`, if they have been placed elsewhere since.
    pub fn place_tendons_again(&mut self, model: &Model, tree_of: &[usize], q: &[f64]) {
        if !self.placed_at.is_empty() && !are_same(&self.placed_at, q) {
            self.place_tendons(model, tree_of, q);
        }
    }

    /// The tendons of the model where they are placed, if all spatial ones are: those that do nothing are not.
    pub fn placed_tendons<'a>(&'a self, model: &Model, q: &'a [f64]) -> Option<PlacedTendons<'a>> {
        let of_model = &self.tendons[..model.tendons.len()];
        let are_placed = of_model.iter().filter(|tendon| tendon.is_spatial()).all(TendonForces::acts);
        (are_placed && !self.placed_at.is_empty()).then_some(PlacedTendons { of_model, q, touches: &self.touches })
    }

    /// Bodies without joints have moved, and what hangs on them with them.
    pub fn move_bases(&mut self) {
        self.have_bases_moved = true;
    }

    /// Says where in the step an implicit scheme takes the forces of spatial tendons, which have been placed: those that it does not resolve
    /// at its end.
    pub fn choose_evaluations(&mut self, model: &Model, mass: &EffectiveMass, rule: &Regularization) {
        let all = self.tendons.iter_mut().zip(&model.tendons);
        for (tendon, of_model) in all.filter(|(tendon, _)| tendon.acts()) {
            // No less than the inverse of the mass that the tendon moves.
            let mut root = 0.0;
            of_model.each_strand(model, &self.kinematics, |strand| {
                let along = (strand.points[1] - strand.points[0]).normalized().unwrap_or(Vec3::ZERO);
                let of_end = |(body, point): (&usize, &Vec3<f64>)| {
                    let Some(node) = model.bodies[*body].node else { return 0.0 };
                    let frame = &self.kinematics.frames[node];
                    mass.node(node).bare_inverse(&frame.rot, *point - frame.pos, along)
                };
                if !strand.is_arc && strand.bodies[0] != strand.bodies[1] {
                    let mobility: f64 = strand.bodies.iter().zip(&strand.points).map(of_end).sum();
                    root += strand.weight * mobility.max(0.0).sqrt();
                }
            });
            tendon.choose_evaluation(root * root, rule);
        }
    }
}

/// Whether these are the same numbers, bit for bit.
fn are_same(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
}
