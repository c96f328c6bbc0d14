//! The derivative of a step by the implicit function theorem.
//!
//! The velocities v⁺ at the end of a step solve g(v; x) = A (v − v*) − Jᵀγ(J v) = 0, x = (q, v, ctrl), so that
//!
//! ```text
//! dv⁺/dx = −H⁻¹ ∂g/∂x,      H = ∂g/∂v = A − Jᵀ (∂γ/∂v_c) J
//! ∂g/∂x  = ∂[A (v − v*)]/∂x − (∂Jᵀ/∂x) γ − Jᵀ ∂γ/∂x      at fixed v = v⁺
//! ```
//!
//! H is not symmetric under Coulomb's law, whose bounds of friction follow the normal impulses. What is smooth in x (A (v
//! − v*), J, R, v̂) is differenced; the laws, which are not, are differentiated (`sap::Linearization`).

mod parameters;

use lanes::ConstraintName;
use multibody::integrate;
use sap::{BlockCholesky, Constraint, LawData, Linearization, Structure};
use spatial::{Mat3, Vec3};

use super::Simulation;
use crate::clique::Cliques;
use crate::constrain::{Regularization, push_contacts};
use crate::constraint_jacobian::{ConstraintJacobian, is_elliptic};
use crate::coupled::{CliqueSlot, Coupled, CoupledScratch};
use crate::step_jacobians::{EndDerivative, EndDerivatives, StepJacobians};
use crate::{ContactLaw, Options, Parameters, Scheme, SimulationError};
use parameters::Numbers;

/// Tolerance of the contact problem whose solution is differentiated.
const TOLERANCE: f64 = 1e-10;
/// Where Coulomb's law is not met as closely as this, there is no solution to differentiate.
const FRICTION: f64 = 1e-6;
/// Half the width of the differences in q, m or rad: round-off 1e-10, truncation 1e-12 over squared lengths.
const WIDTH_Q: f64 = 1e-6;
/// That in v and ctrl, of which what is differenced is a polynomial of second degree, mostly.
const WIDTH_V: f64 = 1e-4;
/// That of what is added to velocities to conserve energy and momentum: differences of energies, the round-off of which is a hundred times that of
/// a number. Velocities at the end of the step are moved by no more.
const WIDTH_LACK: f64 = 2e-5;
/// What pushes must be found where it is moved out of reach of the step, too: m or rad.
const MARGIN: f64 = 10.0 * WIDTH_Q;
/// A contact point that moves so many times farther than the configuration is another one.
const JUMP: f64 = 100.0;

/// The constraints of the step from the present state.
struct Reference {
    /// Which drives are constraints.
    saturated: Vec<bool>,
    keys: Vec<ConstraintName>,
    jacobians: Vec<ConstraintJacobian>,
    /// Where those between two bodies are.
    points: Vec<Option<Vec3<f64>>>,
    /// The first row of each.
    rows: Vec<usize>,
    linear: Linearization,
    v: Vec<f64>,
}

/// What is smooth in the state, in one place near the reference; constraints and rows are the reference's.
struct Sample {
    /// A (v − v*) − Jᵀγ, v and γ those of the reference.
    balance: Vec<f64>,
    v_c: Vec<f64>,
    data: Vec<LawData>,
}

/// Scratch of the recursions.
#[derive(Default)]
pub(super) struct Scratch {
    slots: Vec<CliqueSlot>,
    coupled: CoupledScratch,
    cholesky: BlockCholesky,
    gamma: Vec<f64>,
    pull: Vec<f64>,
    j_x: Vec<f64>,
    x: Vec<f64>,
    unused: Vec<f64>,
}

impl Simulation {
    /// The Jacobians of the step that would come next; the simulation stays as it is.
    ///
    /// By the implicit function theorem at the solution of the contact problem (to a tolerance of 1e-10 or the
    /// simulation's): what is smooth is differenced at fixed velocities, the laws of constraints are differentiated in
    /// closed form. Beside differences of whole steps they are right to 1e-6 of the largest entry or better. Modes stay
    /// as they are: what sticks, slides, is saturated or is cut to a bound does so in every direction. The bounds of friction
    /// of [`ContactLaw::Lagged`] are those of the last step, constants. Where contacts or limits start violated, what recovery does to
    /// positions ([`Options::recovery_speed`]) is left out.
    ///
    /// Costs a step, and 4 nv + 2 nu evaluations of the momentum balance and 2 nv + nu solutions in O(n + n_c) where bodies push against the
    /// world alone; solutions with a factor in blocks where they push against each other.
    ///
    /// # Errors
    /// Those of [`step`](Self::step), and [`SimulationError::NoJacobian`] where the contacts that push change within 1e-6
    /// m or rad of the present configuration, where there is no unique solution, and under schemes other than the default and
    /// symplectic Euler.
    pub fn step_jacobians(&mut self) -> Result<StepJacobians, SimulationError> {
        let (model, scene) = (self.model.clone(), self.scene.clone());
        self.jacobians_with(&Numbers::none((&model, &scene), &Parameters::default()))
    }

    /// The Jacobians with numbers of parameters as further controls.
    fn jacobians_with(&mut self, numbers: &Numbers<'_>) -> Result<StepJacobians, SimulationError> {
        self.check_linear()?;
        if self.model.na() > 0 {
            let reason = "actuators have states of their own, of which steps are not differentiated in this version";
            return Err(self.no_jacobian(reason.into()));
        }
        if !self.state.past_ctrl.is_empty() {
            let reason = "controls act with a delay, through which steps are not differentiated in this version";
            return Err(self.no_jacobian(reason.into()));
        }
        self.keep_forces();
        let state = self.state.clone();
        let tolerance = self.options.tolerance;
        self.options.tolerance = tolerance.min(TOLERANCE);
        let jacobians = self.linearize(numbers);
        self.options.tolerance = tolerance;
        self.state = state;
        jacobians
    }

    /// Whether the momentum of a step is linear in the velocities at its end.
    pub(super) fn check_linear(&self) -> Result<(), SimulationError> {
        let Options { scheme, accuracy, .. } = &self.options;
        if !scheme.is_linear() || accuracy.is_some() || self.time_to_sleep.is_some() {
            let reason = "only steps of fixed length by bilinear or symplectic-euler, of what does not sleep, are differentiated in this version";
            return Err(self.no_jacobian(reason.into()));
        }
        if !self.soft.is_empty() {
            return Err(self.no_jacobian("steps of soft bodies are not differentiated in this version".into()));
        }
        Ok(())
    }

    /// Makes all constraints of the step in one set; a step itself makes them island by island.
    pub(super) fn constrain_all(&mut self, rule: Regularization) {
        let step = self.discretization(rule.of_step.dt);
        let mut set = std::mem::take(&mut self.set);
        set.clear();
        let cx = self.context(rule, &step);
        push_contacts(&cx, &self.detected, 0..self.detected.len(), &mut set, &mut Vec::new());
        self.sources.push(&cx, self.has_drives, &mut set);
        self.set = set;
    }

    fn linearize(&mut self, numbers: &Numbers<'_>) -> Result<StepJacobians, SimulationError> {
        let dt = self.timestep();
        self.find_velocities(dt, false)?;
        self.check_friction_law()?;
        self.constrain_all(self.rule(dt, 0.0));
        let mut scratch = Scratch::new(self);
        let reference = self.reference(&mut scratch);
        let (nv, nu) = (self.model.nv(), self.model.nu());
        let of_state = 2 * nv + nu;
        let columns = of_state + numbers.numbers.len();
        let rows = reference.linear.impulses().len();
        // −∂g/∂x but for −Jᵀ∂γ/∂x, and ∂γ/∂x.
        let (mut rhs, mut impulses) = (vec![0.0; nv * columns], vec![0.0; rows * columns]);
        let mut samples = [Sample::new(&reference), Sample::new(&reference)];
        for column in 0..columns {
            self.check_interrupt()?;
            if let Some(number) = column.checked_sub(of_state) {
                self.sample_number(numbers, &numbers.numbers[number], &reference, &mut samples)?;
            } else {
                let width = if column < nv { WIDTH_Q } else { WIDTH_V };
                for (sample, width) in samples.iter_mut().zip([width, -width]) {
                    self.sample(column, width, &reference, &mut scratch, sample)?;
                }
                let [plus, minus] = &mut samples;
                plus.subtract(minus, 0.5 / width);
            }
            let plus = &samples[0];
            for (out, balance) in rhs[column * nv..(column + 1) * nv].iter_mut().zip(&plus.balance) {
                *out = -balance;
            }
            reference.linear.change(&plus.v_c, Some(&plus.data), &mut impulses[column * rows..(column + 1) * rows]);
        }
        self.replace(&reference, dt, 0.0);
        let mut coupled = scratch.coupled(self);
        for column in 0..columns {
            if coupled.is_interrupted() {
                break;
            }
            let impulses = &impulses[column * rows..(column + 1) * rows];
            coupled.add_transpose(impulses, &mut rhs[column * nv..(column + 1) * nv]);
        }
        let is_regular = reference.linear.factor(&mut coupled, &self.set.constraints).is_ok();
        if is_regular {
            let mut right = vec![0.0; nv];
            for column in rhs.chunks_exact_mut(nv.max(1)) {
                if coupled.is_interrupted() {
                    break;
                }
                right.copy_from_slice(column);
                coupled.solve_unsymmetric(&right, column);
            }
        }
        self.check_interrupt()?;
        if !is_regular || !rhs.iter().all(|x| x.is_finite()) {
            return Err(self.no_jacobian("the contact problem has no unique solution".into()));
        }
        let ends = self.differentiate_corrections(numbers, &reference.v, &rhs, dt)?;
        Ok(StepJacobians::new(&self.model.tree, columns - 2 * nv, &reference.v, dt, &rhs, &ends))
    }

    /// The derivatives of the velocities that the step leaves in the state, those that it ends with, `v`, of which `dv` is the derivative, and
    /// what is added to conserve energy and momentum; and of what is added to positions. What is added is differenced.
    fn differentiate_corrections(
        &mut self,
        numbers: &Numbers<'_>,
        v: &[f64],
        dv: &[f64],
        dt: f64,
    ) -> Result<EndDerivatives, SimulationError> {
        let (nv, nu) = (v.len(), self.model.nu());
        let mut ends = EndDerivatives { v: dv.to_vec(), added_q: vec![0.0; dv.len()] };
        if self.options.scheme != Scheme::Bilinear {
            return Ok(ends);
        }
        for (column, dv) in dv.chunks_exact(nv.max(1)).enumerate() {
            self.check_interrupt()?;
            if let Some(number) = column.checked_sub(2 * nv + nu) {
                self.correct_number(numbers, &numbers.numbers[number], v, dv, ends.column(column, nv))?;
                continue;
            }
            let width = WIDTH_LACK / dv.iter().fold(1.0, |most, dv| f64::max(most, dv.abs()));
            for width in [width, -width] {
                let kept = self.perturb(column, width);
                self.v_start.copy_from_slice(&self.state.v);
                self.gather_forces(dt);
                self.v_next.iter_mut().zip(v.iter().zip(dv)).for_each(|(out, (v, dv))| *out = v + width * dv);
                // What the step does not resolve is taken as it is.
                let _ = self.conserve();
                self.add_corrections(0.5 / width, &mut ends.column(column, nv));
                self.restore(kept);
            }
        }
        Ok(ends)
    }

    /// Adds what the last step has added to velocities and positions, times `factor`.
    fn add_corrections(&self, factor: f64, to: &mut EndDerivative<'_>) {
        for workspace in &self.trees {
            let first = workspace.dofs.start;
            let lack_of_place = workspace.lack_of_place().map(Vec3::to_array);
            let [of_v, of_q] = [workspace.lack(), lack_of_place.as_ref().map(<[f64; 3]>::as_slice)];
            for (lack, out) in [(of_v, &mut *to.v), (of_q, &mut *to.added_q)] {
                let lack = lack.unwrap_or_default();
                out[first..].iter_mut().zip(lack).for_each(|(out, lack)| *out += factor * lack);
            }
        }
    }

    /// Moves entry `column` of (q, v, ctrl) by `width`; what was there is returned.
    pub(super) fn perturb(&mut self, column: usize, width: f64) -> [Vec<f64>; 3] {
        let nv = self.model.nv();
        let kept = [self.state.q.clone(), self.state.v.clone(), self.state.ctrl.clone()];
        if column < nv {
            let mut unit = vec![0.0; nv];
            unit[column] = 1.0;
            integrate(&self.model.tree, &mut self.state.q, &unit, width);
        } else if column < 2 * nv {
            self.state.v[column - nv] += width;
        } else {
            self.state.ctrl[column - 2 * nv] += width;
        }
        kept
    }

    /// Undoes [`perturb`](Self::perturb).
    fn restore(&mut self, kept: [Vec<f64>; 3]) {
        [self.state.q, self.state.v, self.state.ctrl] = kept;
    }

    pub(super) fn no_jacobian(&self, reason: String) -> SimulationError {
        SimulationError::NoJacobian { step: self.state.step, time: self.state.time, reason }
    }

    /// Where Coulomb's law was not met, g is not zero.
    fn check_friction_law(&self) -> Result<(), SimulationError> {
        let reports = self.islands.active().iter().filter_map(|island| island.outcome.as_ref()?.as_ref().ok());
        let residual = reports.fold(0.0, |most, report| f64::max(most, report.friction_residual));
        if residual > FRICTION {
            return Err(self.no_jacobian(format!("Coulomb's law is met to {residual:.1e} only, expected {FRICTION:e}")));
        }
        Ok(())
    }

    /// The constraints as [`find_velocities`](Self::find_velocities) left them.
    fn reference(&self, scratch: &mut Scratch) -> Reference {
        let v = self.v_next.clone();
        let (rows, count) = first_rows(&self.set.constraints);
        let (mut v_c, mut a_v) = (vec![0.0; count], vec![0.0; v.len()]);
        scratch.coupled(self).products(&v, &mut a_v, &mut v_c);
        let is_coulomb = self.options.contact == ContactLaw::Coulomb;
        Reference {
            saturated: self
                .trees
                .iter()
                .flat_map(|workspace| workspace.drives.iter().map(|drive| drive.is_saturated))
                .collect(),
            keys: self.set.keys.clone(),
            jacobians: self.set.jacobians.clone(),
            points: (0..rows.len()).map(|k| self.point(k)).collect(),
            rows,
            linear: Linearization::new(&self.set.constraints, &v_c, is_coulomb),
            v,
        }
    }

    /// The point of a constraint between two bodies.
    fn point(&self, k: usize) -> Option<Vec3<f64>> {
        let ConstraintJacobian::Ends { ends: [a, b], .. } = &self.set.jacobians[k] else { return None };
        let end = a.or(*b)?;
        Some(self.trees[end.tree].kin.frames[end.node].pos + end.arm)
    }

    /// Free motion and constraints at the state, the same drives saturated as in the reference.
    fn replace(&mut self, reference: &Reference, dt: f64, margin: f64) {
        self.v_start.copy_from_slice(&self.state.v);
        self.q_at.copy_from_slice(&self.state.q);
        self.gather_forces(dt);
        let mut saturated = reference.saturated.iter();
        for workspace in &mut self.trees {
            workspace
                .drives
                .iter_mut()
                .zip(&mut saturated)
                .for_each(|(drive, saturated)| drive.is_saturated = *saturated);
            workspace.move_freely(&self.v_start);
        }
        self.detect(dt, margin);
        self.constrain_all(self.rule(dt, margin));
    }

    /// Samples at the state with entry `column` of (q, v, ctrl) moved by `width`; the state is as it was afterwards.
    fn sample(
        &mut self,
        column: usize,
        width: f64,
        reference: &Reference,
        scratch: &mut Scratch,
        sample: &mut Sample,
    ) -> Result<(), SimulationError> {
        let dt = self.timestep();
        let kept = self.perturb(column, width);
        self.replace(reference, dt, MARGIN);
        self.restore(kept);
        self.gather(reference, scratch, sample)
    }

    /// Brings the present constraints into the reference's order and bases.
    fn gather(&mut self, reference: &Reference, s: &mut Scratch, sample: &mut Sample) -> Result<(), SimulationError> {
        let (rows, count) = first_rows(&self.set.constraints);
        s.gamma.clear();
        s.gamma.resize(count, 0.0);
        let mut matches = Vec::new();
        let (mut next, mut remembered) = (0, 0);
        for (k, key) in reference.keys.iter().enumerate() {
            let first = reference.rows[k];
            let width = reference.rows.get(k + 1).map_or(sample.v_c.len(), |&next| next) - first;
            if !reference.linear.is_active(k) && reference.linear.impulses()[first..first + width] == [0.0; 3][..width]
            {
                continue;
            }
            let found =
                self.find(*key, reference.points[k], &mut next).filter(|&i| self.set.constraints[i].rows() == width);
            let Some(i) = found else {
                return Err(self.no_jacobian("the contacts that push change next to this state".into()));
            };
            sample.data[k] = self.set.constraints[i].law.data();
            if self.state.warm_start.of(*key, &mut remembered).is_some() {
                // The bound is that of the last step.
                sample.data[k].normal_impulse = 0.0;
            }
            // Tangents of friction that has directions are those of the directions, wherever the normal turns.
            if let (ConstraintJacobian::Ends { basis, .. }, ConstraintJacobian::Ends { basis: old, .. }) =
                (&mut self.set.jacobians[i], &reference.jacobians[k])
                && !is_elliptic(old)
            {
                let carried = carry(old, basis.z);
                let v_hat = Vec3::from(sample.data[k].v_hat);
                sample.data[k].v_hat = carried.transpose_mul(*basis * v_hat).to_array();
                *basis = carried;
            }
            s.gamma[rows[i]..rows[i] + width].copy_from_slice(&reference.linear.impulses()[first..first + width]);
            matches.push((first, rows[i], width));
        }
        let gamma = std::mem::take(&mut s.gamma);
        s.balance(self, &reference.v, &gamma, &mut sample.balance);
        s.gamma = gamma;
        for (first, row, width) in matches {
            sample.v_c[first..first + width].copy_from_slice(&s.j_x[row..row + width]);
        }
        Ok(())
    }

    /// The present constraint that is `key` in the reference: of the points of two geoms the one nearest to `point`, if
    /// it can be the same. `next` is where to look first.
    fn find(&self, key: ConstraintName, point: Option<Vec3<f64>>, next: &mut usize) -> Option<usize> {
        let keys = &self.set.keys;
        let first = (*next..keys.len()).chain(0..*next).find(|&i| keys[i].has_source_of(key))?;
        *next = first;
        let all = (first..keys.len()).take_while(|&i| keys[i].has_source_of(key)).filter(|&i| keys[i].may_be(key));
        let distance = |i: &usize| point.zip(self.point(*i)).map_or(0.0, |(was, is)| (is - was).norm());
        let nearest = all.min_by(|i, j| distance(i).total_cmp(&distance(j)))?;
        let reach = JUMP * WIDTH_Q * (1.0 + point.map_or(0.0, Vec3::norm));
        (distance(&nearest) <= reach).then_some(nearest)
    }
}

impl Sample {
    fn new(reference: &Reference) -> Self {
        Self {
            balance: vec![0.0; reference.v.len()],
            v_c: vec![0.0; reference.linear.impulses().len()],
            data: vec![LawData::default(); reference.keys.len()],
        }
    }

    /// Becomes (self − other) · scale.
    fn subtract(&mut self, other: &Self, scale: f64) {
        let d = |a: &mut f64, b: &f64| *a = (*a - b) * scale;
        self.balance.iter_mut().zip(&other.balance).for_each(|(a, b)| d(a, b));
        self.v_c.iter_mut().zip(&other.v_c).for_each(|(a, b)| d(a, b));
        for (a, b) in self.data.iter_mut().zip(&other.data) {
            a.r.iter_mut().zip(&b.r).for_each(|(a, b)| d(a, b));
            a.v_hat.iter_mut().zip(&b.v_hat).for_each(|(a, b)| d(a, b));
            d(&mut a.normal_impulse, &b.normal_impulse);
            a.friction.iter_mut().zip(&b.friction).for_each(|(a, b)| d(a, b));
            // Bounds at infinity stay there.
            let finite = |a: &mut f64, b: &f64| *a = if *a == *b { 0.0 } else { (*a - b) * scale };
            a.low.iter_mut().zip(&b.low).for_each(|(a, b)| finite(a, b));
            a.high.iter_mut().zip(&b.high).for_each(|(a, b)| finite(a, b));
        }
    }
}

impl Scratch {
    pub fn new(simulation: &Simulation) -> Self {
        let trees = simulation.trees.iter().enumerate();
        let slot = |(tree, workspace): (usize, &crate::tree_workspace::TreeWorkspace)| CliqueSlot {
            tree,
            dof: workspace.dofs.start,
            node: workspace.nodes.start,
        };
        Self { slots: trees.map(slot).collect(), ..Self::default() }
    }

    /// All trees and constraints as one problem.
    pub fn coupled<'a>(&'a mut self, simulation: &'a Simulation) -> Coupled<'a> {
        whole_problem(simulation, &self.slots, &mut self.coupled, &mut self.cholesky)
    }

    /// Writes A (v − v*) − Jᵀγ to `balance` and J v to `j_x`.
    pub fn balance(&mut self, simulation: &Simulation, v: &[f64], gamma: &[f64], balance: &mut [f64]) {
        let Self { slots, coupled, cholesky, j_x, x, unused, pull, .. } = self;
        j_x.resize(gamma.len(), 0.0);
        let mut problem = whole_problem(simulation, slots, coupled, cholesky);
        unused.resize(v.len().max(j_x.len()), 0.0);
        problem.products(v, &mut unused[..v.len()], j_x);
        x.clear();
        x.extend_from_slice(v);
        let v_star = simulation.trees.iter().flat_map(|workspace| &workspace.v_star);
        x.iter_mut().zip(v_star).for_each(|(x, v_star)| *x -= v_star);
        problem.products(x, balance, &mut unused[..j_x.len()]);
        pull.clear();
        pull.extend(gamma.iter().map(|gamma| -gamma));
        problem.add_transpose(pull, balance);
    }
}

fn whole_problem<'a>(
    simulation: &'a Simulation,
    slots: &'a [CliqueSlot],
    scratch: &'a mut CoupledScratch,
    cholesky: &'a mut BlockCholesky,
) -> Coupled<'a> {
    let Simulation { trees, v_start, set, interrupt, .. } = simulation;
    let cliques = Cliques { trees, soft: &[] };
    Coupled::new(cliques, v_start, slots, &set.jacobians, &set.terms, scratch, cholesky, interrupt)
}

/// The first row of every constraint, and how many rows there are.
pub(super) fn first_rows(constraints: &[Constraint]) -> (Vec<usize>, usize) {
    let mut end = 0;
    let next = |law: &Constraint| {
        end += law.rows();
        end - law.rows()
    };
    let first = constraints.iter().map(next).collect();
    (first, end)
}

/// The basis (t1, t2, n) carried to a normal close by, without a turn about it: bases of contacts may jump, laws do not
/// care.
fn carry(basis: &Mat3<f64>, normal: Vec3<f64>) -> Mat3<f64> {
    if normal == basis.z {
        return *basis;
    }
    let across = basis.x - normal * normal.dot(basis.x);
    let t1 = across.normalized().unwrap_or(basis.x);
    Mat3::from_columns(t1, normal.cross(t1), normal)
}
