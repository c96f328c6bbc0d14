//! A simulation from a model and a scene.

use std::sync::Arc;

use geometry::{Attachment, Collider, Scene};
use lanes::AtRest;
use multibody::Model;
use support::{Interrupt, ThreadPool};

use super::lane::Lane;
use super::planning::{attachments, rest_depths};
use super::{Simulation, accuracy, sleeping};
use crate::constrain::{ConstraintSet, JacobianDrift, Sources};
use crate::island::{Islands, NONE};
use crate::observe::Present;
use crate::report::Reports;
use crate::soft::SoftBodies;
use crate::state::StateSizes;
use crate::step_forces::LastStep;
use crate::tree_workspace::TreeWorkspace;
use crate::{Options, OwnModel, SimulationError, State, Stats, WarmStart};
use multibody::{EffectiveMass, InverseWeights};

/// Degrees of freedom from which a step is long enough to be shared: waking the threads takes tens of microseconds.
const WIDE: usize = 100;

impl Simulation {
    /// A simulation at the model's default configuration, at rest.
    ///
    /// # Errors
    /// When an option is outside its domain, or the scene is not one for this model.
    pub fn new(model: Arc<Model>, scene: Arc<Scene>, options: Options) -> Result<Self, SimulationError> {
        let mut simulation = Self::without_lane(model, scene, options)?;
        let Self { model, scene, options, extents, .. } = &simulation;
        let attachments = attachments(model, scene);
        simulation.lane = Lane::new((model, scene), options, (&attachments, extents), None);
        simulation.make_room_for_lane();
        Ok(simulation)
    }

    /// A simulation of a model and a scene with the shapes that this one has: what depends on these alone is taken from here. Where the lane
    /// can go on, it is that of this one.
    fn with_these_shapes(
        &mut self,
        model: Arc<Model>,
        scene: Arc<Scene>,
        options: Options,
        attachments: &[Attachment],
        own: Option<&OwnModel>,
    ) -> Result<Self, SimulationError> {
        let mut next = self.like_this(model, scene, options, attachments)?;
        let mut lane = self.lane.take();
        let at_rest = AtRest { weights: &next.inverse_weights, mass: &next.effective_mass };
        if !lane.as_mut().zip(own).is_some_and(|(lane, own)| lane.renumber(own, at_rest, &self.state.pd)) {
            let Self { model, scene, options, extents, .. } = &next;
            let like = lane.as_deref().map(|lane| (lane, &self.state.pd));
            lane = Lane::new((model, scene), options, (attachments, extents), like);
        }
        next.lane = lane;
        // Trees and what is fixed in them are the same: scratch has the sizes that the next step needs, and islands are joined as they were.
        std::mem::swap(&mut next.before, &mut self.before);
        std::mem::swap(&mut next.islands, &mut self.islands);
        std::mem::swap(&mut next.set, &mut self.set);
        std::mem::swap(&mut next.others, &mut self.others);
        std::mem::swap(&mut next.detected, &mut self.detected);
        std::mem::swap(&mut next.contact_outcomes, &mut self.contact_outcomes);
        next.make_room_for_lane();
        Ok(next)
    }

    /// The same without a lane.
    pub(super) fn like_this(
        &self,
        model: Arc<Model>,
        scene: Arc<Scene>,
        options: Options,
        attachments: &[Attachment],
    ) -> Result<Self, SimulationError> {
        let mut collider = self.collider.clone();
        collider.set_rest_depths(&rest_depths(&model, &scene));
        let shapes = Shapes { collider, extents: self.extents.clone() };
        Self::with_shapes(model, scene, options, attachments, shapes)
    }

    /// Solves all contact problems by the global solver, none in contact space: tests compare.
    #[doc(hidden)]
    pub fn solve_globally(&mut self) {
        self.is_global = true;
        self.lane = None;
    }

    /// A simulation all steps of which are made by the step for all models: that for few constraints is left out.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn without_lane(model: Arc<Model>, scene: Arc<Scene>, options: Options) -> Result<Self, SimulationError> {
        options.check()?;
        check_size(&model)?;
        check_scene(&model, &scene)?;
        super::soft::check_holds(&model, &scene)?;
        let attachments = attachments(&model, &scene);
        let collider = Collider::new(scene.clone(), attachments.clone()).with_rest_depths(&rest_depths(&model, &scene));
        let extents = collider.extents(model.tree.len());
        Self::with_shapes(model, scene, options, &attachments, Shapes { collider, extents })
    }

    fn with_shapes(
        model: Arc<Model>,
        scene: Arc<Scene>,
        options: Options,
        attachments: &[Attachment],
        shapes: Shapes,
    ) -> Result<Self, SimulationError> {
        crate::sensors::check(&model, &scene)?;
        let Shapes { collider, extents } = shapes;
        let ranges = model.tree.trees.iter().enumerate();
        let tree_of: Vec<usize> = ranges.flat_map(|(k, nodes)| nodes.clone().map(move |_| k)).collect();
        let inverse_weights = InverseWeights::new(&model);
        let sources = Sources::of_model(&model, &tree_of, &inverse_weights);
        let trees = TreeWorkspace::of_model(&model, &scene, &inverse_weights, &tree_of, options.scheme);
        let may_sleep = sleeping::may_sleep(&model, &tree_of);
        let soft = SoftBodies::new(&scene, attachments, |body| model.bodies[body].rigid_group)?;
        let is_wide = trees.len() > 1 && model.nv() >= WIDE || !soft.is_empty();
        let pool = ThreadPool::new(if is_wide { options.threads } else { 1 }).map_err(|_| SimulationError::Option {
            name: "threads",
            value: options.threads as f64,
            expected: "no more threads than the system grants",
        })?;
        Ok(Self {
            state: State::of(&model, &scene),
            sizes: StateSizes::of(&model, &scene),
            before: State::of(&model, &scene),
            part: None,
            is_part: false,
            meets_others: false,
            reports: Reports::default(),
            stats: Stats::default(),
            effective_mass: EffectiveMass::new(&model, &extents),
            inverse_weights,
            jacobian_drift: JacobianDrift::default(),
            sources,
            extents,
            heaviest: Vec::new(),
            tree_of_geom: attachments.iter().map(|a| a.frame.map_or(NONE, |node| tree_of[node])).collect(),
            tree_of,
            collider,
            trees,
            soft,
            soft_contacts: Vec::new(),
            soft_iterations: 0,
            soft_residual: 0.0,
            detected: Vec::new(),
            contact_outcomes: Vec::new(),
            remembered: WarmStart::default(),
            last_round: WarmStart::default(),
            is_again: false,
            earlier_iterations: 0,
            set: ConstraintSet::default(),
            others: ConstraintSet::default(),
            islands: Islands::default(),
            force: vec![0.0; model.nv()],
            other_actuation: vec![0.0; if model.joints_that_limit_others().next().is_some() { model.nv() } else { 0 }],
            v_start: vec![0.0; model.nv()],
            v_next: vec![0.0; model.nv()],
            q_at: vec![0.0; model.nq()],
            theta_at: 0.0,
            has_drives: false,
            doubling: accuracy::Doubling::default(),
            time_to_sleep: sleeping::time_to_sleep(&model, &options),
            may_sleep,
            all_slept: false,
            group: Vec::new(),
            least: Vec::new(),
            is_near: false,
            impacts: Vec::new(),
            constraint_force: vec![0.0; if options.scheme.is_implicit() { model.nv() } else { 0 }],
            free_iterations: 0,
            free_evaluations: 0,
            factorizations: 0,
            given_ctrl: Vec::new(),
            halved: 0,
            last_step: LastStep { acceleration: vec![0.0; model.nv()], ..LastStep::default() },
            present: Present::new(&model),
            queries: None,
            sensing: super::sensing::Sensing::default(),
            interrupt: Interrupt::default(),
            pool,
            lane: None,
            mocap: super::mocap::MocapBody::all(&model, &scene),
            carriers: Vec::new(),
            base_force: Vec::new(),
            base_loads: Vec::new(),
            steps_ahead: 1,
            adhesion: super::adhesion::Adhesion::new(&model),
            is_global: false,
            model,
            scene,
            options,
        })
    }
}

impl Simulation {
    /// Goes on with a model and a scene of the same structure, whose numbers may be others; sleepers wake. State, interrupt and threads stay, contact
    /// points and statistics of the last step, too. It costs what a new simulation does where shapes differ, or are elsewhere in their bodies;
    /// else all that depends on shapes stays.
    ///
    /// # Errors
    /// When they are of another structure; the simulation is then as it was.
    pub fn set_model(&mut self, model: Arc<Model>, scene: Arc<Scene>) -> Result<(), SimulationError> {
        self.change_model(model, scene, None)
    }

    /// [`set_model`](Self::set_model) of a model with parameters of its own, if it is not the present one. Where the simulation was one of the same
    /// model with others, and lanes can make both's steps, it costs a fraction.
    ///
    /// # Errors
    /// As `set_model`.
    pub fn go_to_own(&mut self, own: &OwnModel) -> Result<(), SimulationError> {
        let (model, scene) = own.get();
        if self.is_of(model, scene) {
            return Ok(());
        }
        self.change_model(model.clone(), scene.clone(), Some(own))
    }

    fn is_of(&self, model: &Arc<Model>, scene: &Arc<Scene>) -> bool {
        Arc::ptr_eq(model, &self.model) && Arc::ptr_eq(scene, &self.scene)
    }

    fn change_model(
        &mut self,
        model: Arc<Model>,
        scene: Arc<Scene>,
        own: Option<&OwnModel>,
    ) -> Result<(), SimulationError> {
        self.state.check_sizes(&model, &StateSizes::of(&model, &scene))?;
        let options = Options { threads: 1, ..self.options.clone() };
        let next = if scene.has_shapes_of(&self.scene) && is_linked_as(&model, &self.model) {
            check_scene(&model, &scene)?;
            let attachments = attachments(&model, &scene);
            if attachments == super::planning::attachments(&self.model, &self.scene) {
                self.with_these_shapes(model, scene, options, &attachments, own)?
            } else {
                Self::new(model, scene, options)?
            }
        } else {
            Self::new(model, scene, options)?
        };
        self.go_on_with(next);
        self.state.wake();
        Ok(())
    }

    /// [`set_model`](Self::set_model) where the model or the scene is not the present one.
    ///
    /// # Errors
    /// As `set_model`.
    pub fn go_to_model(&mut self, model: &Arc<Model>, scene: &Arc<Scene>) -> Result<(), SimulationError> {
        if self.is_of(model, scene) { Ok(()) } else { self.set_model(model.clone(), scene.clone()) }
    }

    /// Goes on with another time step, s.
    ///
    /// # Errors
    /// When it is outside its domain; the simulation is then as it was.
    pub fn set_timestep(&mut self, timestep: f64) -> Result<(), SimulationError> {
        if timestep != self.timestep() {
            let options = Options { timestep: Some(timestep), threads: 1, ..self.options.clone() };
            options.check()?;
            let (model, scene) = (self.model.clone(), self.scene.clone());
            let next = if scene.soft_bodies.is_empty() {
                let attachments = attachments(&model, &scene);
                self.with_these_shapes(model, scene, options, &attachments, None)?
            } else {
                Self::new(model, scene, options)?
            };
            self.go_on_with(next);
        }
        Ok(())
    }

    /// Goes on as another simulation of the same structure.
    fn go_on_with(&mut self, mut next: Self) {
        next.options.threads = self.options.threads;
        next.pool = std::mem::take(&mut self.pool);
        next.state = std::mem::take(&mut self.state);
        next.reports = std::mem::take(&mut self.reports);
        next.stats = self.stats;
        next.last_step = std::mem::take(&mut self.last_step);
        next.last_step.forget_workspaces();
        next.set_interrupt(self.interrupt.clone());
        *self = next;
    }
}

/// What a simulation has of the shapes of its scene.
struct Shapes {
    collider: Collider,
    extents: Vec<f64>,
}

/// Whether the nodes of a model hang from each other as those of another, by the same joints in the same places.
fn is_linked_as(model: &Model, other: &Model) -> bool {
    let [links, others] =
        [model, other].map(|model| model.tree.nodes.iter().map(|node| (node.parent, node.joint, node.pos, node.rot)));
    links.eq(others)
}

/// Moving trees at most: each takes about 20 kB.
const MAX_TREES: usize = 150_000;

/// Joints at most: each takes about 10 kB.
const MAX_NODES: usize = 300_000;

/// No more than memory can hold, about 4 GiB.
fn check_size(model: &Model) -> Result<(), SimulationError> {
    for (what, count, limit) in
        [("moving trees", model.tree.trees.len(), MAX_TREES), ("joints", model.tree.len(), MAX_NODES)]
    {
        if count > limit {
            return Err(SimulationError::TooLarge { what, count, limit });
        }
    }
    Ok(())
}

/// Every index of the scene must be one of the model.
fn check_scene(model: &Model, scene: &Scene) -> Result<(), SimulationError> {
    let check = |what: &dyn Fn() -> String, kind, index, count| {
        if index < count { Ok(()) } else { Err(SimulationError::Scene { what: what(), kind, index, count }) }
    };
    for (i, geom) in scene.geoms.iter().enumerate() {
        let what = || format!("geom {i} {:?}", geom.name);
        check(&what, "body", geom.body, model.bodies.len())?;
        check(&what, "material", geom.material, model.materials.len())?;
    }
    for tendon in &model.tendons {
        let multibody::TendonPath::Spatial(branches) = &tendon.path else { continue };
        for point in branches.iter().flat_map(|branch| &branch.points) {
            if let multibody::PathPoint::Obstacle(obstacle) = point {
                check(&|| format!("tendon {:?}", tendon.name), "geom", obstacle.geom, scene.geoms.len())?;
            }
        }
    }
    for (i, pair) in scene.pairs.iter().enumerate() {
        let what = || format!("contact pair {i}");
        check(&what, "material", pair.material, model.materials.len())?;
        for geom in pair.geoms {
            check(&what, "geom", geom, scene.geoms.len())?;
        }
    }
    Ok(())
}
