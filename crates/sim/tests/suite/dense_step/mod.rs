//! The default step by dense matrices, written to be read, as an oracle of steps made otherwise.
//!
//! M (v − v₀) + dt c(q₀; v₀, v̄) = dt f + Jᵀγ, q = q₀ ⊞ dt v, then energy and momentum are balanced (`docs/time-stepping.md`). Nothing here is
//! a recursion or knows how the simulation is made: it takes the model, placements of nodes and the contact points that were found.
//!
//! Not here: implicit schemes, sleeping, soft bodies, spatial tendons, springs of joints that are not linear, sites, muscles, gains that depend on motion, actuators along axes of
//! balls, the medium.

pub mod balance;
pub mod bodies;
pub mod constraints;
pub mod dense;
pub mod drives;
pub mod laws;
mod shares;
pub mod solve;
pub mod weights;

use std::collections::HashMap;

use geometry::{Collider, Scene};
use multibody::Model;
use sapwood_sim::{ContactLaw, ContactPoint, Options, Scheme, Simulation, State, attachments};
use spatial::Vec3;

use balance::{Balanced, Ends, turns};
use bodies::{Bodies, Pair};
use constraints::{Assembly, Key, Start};
use dense::{Vector, minus, plus, solve, with_diagonal};
use drives::Forces;
use laws::Mobility;
use solve::{Bound, Constraint, Problem};
use weights::Weights;

/// Steps of a simulation, made anew.
pub struct Reference<'a> {
    model: &'a Model,
    scene: &'a Scene,
    options: &'a Options,
    dt: f64,
    extents: Vec<f64>,
    weights: Weights<'a>,
    /// Impulses of the constraints in the step before.
    pub memory: HashMap<Key, f64>,
}

/// What a step leads to.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub act: Vec<f64>,
    /// Whether it need not be made in halves.
    pub is_resolved: bool,
    /// Whether friction meets Coulomb's law where it should.
    pub is_solved: bool,
    /// Impulses by constraints, of contacts along the normal.
    pub impulses: HashMap<Key, f64>,
    /// Whether constraints right positions alone.
    pub recovers: bool,
}

impl<'a> Reference<'a> {
    pub fn of(simulation: &'a Simulation) -> Self {
        let (model, scene) = (&**simulation.model(), simulation.scene());
        let extents = Collider::new(scene.clone(), attachments(model, scene)).extents(model.tree.len());
        let dt = simulation.timestep();
        let weights = Weights::new(model);
        Self { model, scene, options: simulation.options(), dt, extents, weights, memory: HashMap::new() }
    }

    /// The step from a state with the contact points that can be reached. With `near` the solution of the contact problem is searched for
    /// next to these velocities.
    pub fn step(&self, state: &State, contacts: &[ContactPoint], near: Option<&[f64]>) -> Outcome {
        let Self { model, scene, options, dt, weights, memory, .. } = self;
        let (q, v, dt) = (&state.q[..], &state.v[..], *dt);
        let (inputs, act) = drives::inputs(model, state, dt);
        let bodies = &Bodies::at(model, q);
        let mass = bodies.mass_matrix();
        let start = Start {
            model,
            scene,
            options,
            dt,
            q,
            v,
            inputs: &inputs,
            bodies,
            weights,
            memory,
            contacts,
            belts: &state.surface_velocity,
        };
        let mut forces = Forces::new(&start, state);
        if let Some(near) = near {
            forces.drives.iter_mut().for_each(|drive| drive.is_apart |= drive.exceeds(near[drive.dof] - v[drive.dof]));
        }
        let mobility = &Mobility::new(model, &self.extents, &forces.lambda_with(true));
        let external = self.external(bodies, state);
        let inertial = self.inertial(bodies, v, &with_diagonal(&mass, &forces.lambda_with(true)), &forces, &external);
        let impulse = minus(&plus(&forces.impulse, dt, &external), &bodies.generalized(&scaled(&inertial, dt)));
        let mut is_solved = true;
        loop {
            let a = &with_diagonal(&mass, &forces.lambda_with(false));
            let mut pushed = impulse.clone();
            for drive in forces.drives.iter().filter(|drive| !drive.is_apart) {
                pushed[drive.dof] += drive.force.impulse;
            }
            let v_star = &plus(v, 1.0, &solve(a, &pushed));
            let (mut constraints, islands) =
                Assembly { start: &start, mobility, a, v_star }.constraints(&forces.drives);
            let bounds: Vec<f64> = constraints.iter().map(|constraint| constraint.bound).collect();
            let is_coulomb = options.contact == ContactLaw::Coulomb;
            let mut problem = Problem { a, v_star, constraints: &mut constraints };
            let found = match near {
                _ if !is_coulomb => Some(problem.solve_bounded()),
                Some(near) => problem.solve_nearby(near.to_vec()),
                None => problem.solve_coulomb(),
            };
            is_solved &= found.is_some();
            let solved = found.unwrap_or_else(|| v_star.clone());
            let mut is_again = false;
            for drive in forces.drives.iter_mut().filter(|drive| !drive.is_apart) {
                drive.is_apart = drive.exceeds(solved[drive.dof] - v[drive.dof]);
                is_again |= drive.is_apart;
            }
            if is_again {
                continue;
            }
            let impulses = problem.impulses(&solved, if is_coulomb { Bound::Own } else { Bound::Given });
            for (constraint, (bound, impulse)) in constraints.iter_mut().zip(bounds.iter().zip(&impulses)) {
                constraint.bound = if impulse[0] > 0.0 { *bound } else { 0.0 };
            }
            let recovers = constraints.iter().any(|constraint| constraint.recovery.is_some());
            let impulses =
                constraints.iter().zip(&impulses).map(|(constraint, impulse)| (constraint.key, impulse[0])).collect();
            let v_of_q = self.recovered(bodies, (a, v_star), &solved, constraints, &islands);
            let mut q_end = q.to_vec();
            multibody::integrate(&model.tree, &mut q_end, &v_of_q, dt);
            let after = &Bodies::at(model, &q_end);
            let ends = Ends { model, dt, before: bodies, after, v0: v, v: &solved, v_of_q: &v_of_q, forces: &inertial };
            let is_balanced = options.scheme == Scheme::Bilinear;
            let as_solved = || Balanced { v: solved.clone(), places: vec![0.0; v.len()], is_resolved: true };
            let Balanced { v, places, is_resolved } = if is_balanced { ends.balanced() } else { as_solved() };
            multibody::integrate(&model.tree, &mut q_end, &places, 1.0);
            return Outcome { q: q_end, v, act, is_resolved, is_solved, impulses, recovers };
        }
    }

    /// Weights, what compensates them and wrenches on bodies as generalised forces.
    fn external(&self, bodies: &Bodies<'_>, state: &State) -> Vector {
        let weight = |body: &bodies::Body| Pair { ang: Vec3::ZERO, lin: self.model.gravity * body.mass };
        let weights = bodies.generalized(&bodies.all.iter().map(weight).collect::<Vec<_>>());
        let mut sum = plus(&weights, 1.0, &bodies.lifts());
        for (k, body) in self.model.bodies.iter().enumerate() {
            let (Some(node), w) = (body.node, &state.applied_wrench[6 * k..6 * k + 6]) else { continue };
            let frame = &bodies.frames[node];
            let com = frame.pos + frame.rot * body.pose.transform_point(body.inertia.com);
            let wrench = Pair { ang: Vec3::new(w[0], w[1], w[2]), lin: Vec3::new(w[3], w[4], w[5]) };
            let columns = bodies.columns(Some(node), com);
            sum.iter_mut().zip(columns).for_each(|(sum, column)| *sum += column.dot(wrench));
        }
        sum
    }

    /// Inertial forces of all bodies between v₀ and the velocity that free motion would end at with those at v₀; of trees that hardly turn at
    /// v₀. Drives resist in that motion and do not push.
    fn inertial(
        &self,
        bodies: &Bodies<'_>,
        v: &[f64],
        a: &dense::Matrix,
        forces: &Forces,
        external: &[f64],
    ) -> Vec<Pair> {
        let at_start = bodies.inertial_forces(v);
        if self.options.scheme == Scheme::SymplecticEuler {
            return at_start;
        }
        let impulse = plus(&forces.impulse, self.dt, external);
        let impulse = minus(&impulse, &bodies.generalized(&scaled(&at_start, self.dt)));
        let predicted = plus(v, 1.0, &solve(a, &impulse));
        let polar = bodies.polar_forces(v, &predicted);
        let motions = bodies.motions(v);
        let mut all = at_start;
        for nodes in self.model.tree.trees.iter().filter(|nodes| turns(self.dt, &motions[(*nodes).clone()])) {
            all[nodes.clone()].copy_from_slice(&polar[nodes.clone()]);
        }
        all
    }

    /// The velocities that move positions: in islands where constraints start violated by far the same problem is solved with their other
    /// biases, friction bounded by what is known of normal impulses. What that adds moves no point faster than the speed of recovery.
    fn recovered(
        &self,
        bodies: &Bodies<'_>,
        (a, v_star): (&dense::Matrix, &[f64]),
        solved: &[f64],
        mut constraints: Vec<Constraint>,
        islands: &[usize],
    ) -> Vector {
        let tree = &self.model.tree;
        let tree_of_dof = |dof: usize| tree.dofs.iter().position(|dofs| dofs.contains(&dof)).unwrap();
        let mut recovering = Vec::new();
        for constraint in &mut constraints {
            if let Some(v_hat) = constraint.recovery {
                constraint.v_hat[0] = v_hat;
                let dof = constraint.rows[0].iter().position(|x| *x != 0.0).unwrap();
                recovering.push(islands[tree_of_dof(dof)]);
            }
        }
        let mut v_of_q = solved.to_vec();
        if recovering.is_empty() {
            return v_of_q;
        }
        let added = minus(&Problem { a, v_star, constraints: &mut constraints }.solve_bounded(), solved);
        recovering.sort_unstable();
        recovering.dedup();
        for island in recovering {
            let members = || (0..islands.len()).filter(|tree| islands[*tree] == island);
            let speed = |i: usize| {
                let motion = bodies.motion(i, bodies.frames[i].pos, &added);
                motion.lin.norm() + motion.ang.norm() * self.extents[i]
            };
            let nodes = members().flat_map(|k| tree.trees[k].clone());
            let fastest = nodes.map(speed).fold(0.0, f64::max);
            let share = (self.options.recovery_speed / fastest).min(1.0);
            for dof in members().flat_map(|k| tree.dofs[k].clone()) {
                v_of_q[dof] += share * added[dof];
            }
        }
        v_of_q
    }
}

fn scaled(forces: &[Pair], s: f64) -> Vec<Pair> {
    forces.iter().map(|force| Pair::ZERO.plus(s, *force)).collect()
}
