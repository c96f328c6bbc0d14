//! The world of an `MjData`: what a step reads of it and leaves in it.

mod calls;
mod history;
mod results;
mod rows;
mod state;
mod tendons;

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyWeakrefMethods, PyWeakrefReference};
use sim::{Simulation as Sim, SimulationError};

use self::rows::{RowForces, RowMemory};
use self::tendons::{TendonMemory, TendonNumbers};
use super::contact::{LAYOUT, MjContact, Surface, Surfaces};
use super::memory::{Field, MujocoNumbers, Numbers};
use super::native::{Native, Pair, Part};
use crate::errors::simulation_error;
use crate::lock::try_lock;
use crate::simulation::Simulation;

/// Numbers beyond this are bad in MuJoCo.
const MAX: f64 = 1e10;

/// Degrees of freedom times steps of a call that keeps the interpreter's lock, and contacts of the step before: to release and take it takes as
/// long as a small stage, and a thread that waits for it gets it after some tens of µs.
const BRIEF: i64 = 16;
const FEW_CONTACTS: usize = 8;

/// What Python says of a world, beside its [`Calls`]: `_Parts` in `sapwood/mujoco/_world.py`.
#[derive(FromPyObject)]
struct Parts<'py> {
    simulation: Py<Simulation>,
    model: Py<PyWeakrefReference>,
    numbers: Py<MujocoNumbers>,
    version: usize,
    fields: Bound<'py, PyDict>,
    addresses: [usize; 2],
    native: Option<Native>,
    activations: Vec<usize>,
    equalities: Vec<usize>,
    histories: Vec<usize>,
    readings: Vec<usize>,
    mocap: Vec<usize>,
    outputs: Vec<[usize; 2]>,
    surfaces: Vec<[f64; Surface::LEN]>,
    pairs: Vec<[usize; 2]>,
    pair_surfaces: Vec<[f64; Surface::LEN]>,
    is_pyramidal: bool,
    /// Whether something asks for the forces of rows that are none of contacts, and whether MuJoCo's rows are sparse.
    reads_rows: bool,
    is_sparse: bool,
    tendons: Option<TendonNumbers>,
}

/// Of which calls of MuJoCo a step consists, as `_Parts` has them.
#[derive(FromPyObject)]
struct Calls {
    /// What is done about a state that is not finite.
    checks: Vec<Py<PyAny>>,
    /// What says of controls that they are not finite, and finds rates of activations.
    actuate: Py<PyAny>,
    /// Places, masses and tendons; the parts of that without tendons.
    kinematics: Py<PyAny>,
    bodies: Vec<Py<PyAny>>,
    /// All else that follows from a state but contact and constraints.
    stages: Vec<Py<PyAny>>,
    /// MuJoCo's own contacts.
    collide: Py<PyAny>,
    /// The rows of constraints, from contacts.
    make_rows: Py<PyAny>,
    /// Adds the forces on bodies to `qfrc_inverse`.
    add_wrenches: Py<PyAny>,
    /// Sensors of accelerations and forces.
    sensors: Option<Py<PyAny>>,
    /// What gives the callbacks of programs.
    get_control: Py<PyAny>,
    get_passive: Py<PyAny>,
}

/// Where things are in an `MjData`, and of its `MjModel` the time step and the flags of what is enabled.
struct Memory {
    timestep: Field<f64>,
    enabled: Field<i32>,
    time: Field<f64>,
    qpos: Numbers<f64>,
    qvel: Numbers<f64>,
    act: Numbers<f64>,
    history: Numbers<f64>,
    ctrl: Numbers<f64>,
    applied_force: Numbers<f64>,
    applied_wrench: Numbers<f64>,
    mocap_pos: Numbers<f64>,
    mocap_quat: Numbers<f64>,
    eq_active: Numbers<u8>,
    tree_awake: Numbers<i32>,
    /// Of what sleeps the next one that fell asleep with it.
    tree_asleep: Numbers<i32>,
    qacc: Numbers<f64>,
    warmstart: Numbers<f64>,
    constraint: Numbers<f64>,
    actuation: Numbers<f64>,
    actuator_force: Numbers<f64>,
    inverse: Numbers<f64>,
    /// All passive forces, and those that Sapwood knows.
    passive: Numbers<f64>,
    own_passive: [Numbers<f64>; 5],
    /// What has been computed already of energies, momenta and forces between bodies.
    is_computed: [Field<bool>; 4],
    ncon: Field<i32>,
    nefc: Field<i32>,
    arena_used: Field<usize>,
    arena_size: Field<i64>,
    contacts: Field<*mut MjContact>,
    row_forces: Field<*mut f64>,
    rows: RowMemory,
    /// How long all steps took, ms, and how many there were.
    duration: Field<f64>,
    steps: Field<i32>,
}

impl Memory {
    fn new(d: &Bound<'_, PyAny>, fields: &Bound<'_, PyDict>, is_sparse: bool) -> PyResult<Self> {
        let numbers = |name| Numbers::of(d, name);
        let flag = |name| Field::of(fields, name);
        Ok(Self {
            timestep: Field::of(fields, "timestep")?,
            enabled: Field::of(fields, "enableflags")?,
            time: Field::of(fields, "time")?,
            qpos: numbers("qpos")?,
            qvel: numbers("qvel")?,
            act: numbers("act")?,
            history: numbers("history")?,
            ctrl: numbers("ctrl")?,
            applied_force: numbers("qfrc_applied")?,
            applied_wrench: numbers("xfrc_applied")?,
            mocap_pos: numbers("mocap_pos")?,
            mocap_quat: numbers("mocap_quat")?,
            eq_active: Numbers::<bool>::of(d, "eq_active")?.bytes(),
            tree_awake: Numbers::of(d, "tree_awake")?,
            tree_asleep: Numbers::of(d, "tree_asleep")?,
            qacc: numbers("qacc")?,
            warmstart: numbers("qacc_warmstart")?,
            constraint: numbers("qfrc_constraint")?,
            actuation: numbers("qfrc_actuator")?,
            actuator_force: numbers("actuator_force")?,
            inverse: numbers("qfrc_inverse")?,
            passive: numbers("qfrc_passive")?,
            own_passive: [
                numbers("qfrc_spring")?,
                numbers("qfrc_damper")?,
                numbers("qfrc_gravcomp")?,
                numbers("qfrc_fluid")?,
                numbers("qfrc_adhesion")?,
            ],
            is_computed: [
                flag("flg_energypos")?,
                flag("flg_energyvel")?,
                flag("flg_subtreevel")?,
                flag("flg_rnepost")?,
            ],
            ncon: Field::of(fields, "ncon")?,
            nefc: Field::of(fields, "nefc")?,
            arena_used: Field::of(fields, "parena")?,
            arena_size: Field::of(fields, "narena")?,
            contacts: Field::of(fields, "contact")?,
            row_forces: Field::of(fields, "efc_force")?,
            rows: RowMemory::new(fields, is_sparse)?,
            duration: Field::of(fields, "duration")?,
            steps: Field::of(fields, "steps")?,
        })
    }

    /// What a program may set between steps: positions, velocities, activations.
    ///
    /// # Safety
    /// As of [`Numbers::get`].
    unsafe fn state(&self) -> [&[f64]; 3] {
        // SAFETY: as the caller says.
        unsafe { [self.qpos.get(), self.qvel.get(), self.act.get()] }
    }
}

/// What a call needs of the `MjModel`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Which of MuJoCo's stages there are.
    Stages,
    /// All numbers.
    Numbers,
}

/// A simulation, and the memory of the `MjData` that it belongs to.
///
/// Each method has as arguments the `MjModel` and the `MjData` that the world was made for, so that these are alive:
/// [`MujocoWorlds`](super::MujocoWorlds) sees to that.
#[pyclass(frozen, module = "sapwood._sapwood", name = "_MujocoWorld")]
pub struct MujocoWorld {
    simulation: Py<Simulation>,
    /// The `MjModel` that it was made of, when its numbers had which version, and what was enabled.
    model: Py<PyWeakrefReference>,
    numbers: Py<MujocoNumbers>,
    version: usize,
    enabled: i32,
    memory: Memory,
    calls: Calls,
    /// The addresses of the `MjModel` and the `MjData`.
    addresses: Pair,
    /// MuJoCo's library, where it can be called directly.
    native: Option<Native>,
    /// MuJoCo's address of each activation, its index of each equality, its address of each line of past controls and of past readings, its
    /// number of each body that is moved from outside.
    activations: Vec<usize>,
    equalities: Vec<usize>,
    histories: Vec<usize>,
    readings: Vec<usize>,
    mocap: Vec<usize>,
    /// Where MuJoCo has the force of which actuator.
    outputs: Vec<[usize; 2]>,
    surfaces: Surfaces,
    is_pyramidal: bool,
    reads_rows: bool,
    /// The tendons, where some are strings that Sapwood may place for both.
    tendons: Option<TendonMemory>,
    kept: Mutex<Kept>,
}

/// What a world keeps between calls, beside its simulation.
#[derive(Default)]
struct Kept {
    /// The state that the last step has left.
    left: Vec<f64>,
    row_forces: RowForces,
}

/// A world while one of its calls runs, with the interpreter's lock released unless the call is brief.
struct Running<'a> {
    world: &'a MujocoWorld,
    memory: &'a Memory,
    simulation: &'a mut Sim,
    kept: &'a mut Kept,
    /// The `MjModel` and the `MjData`.
    pair: (&'a Py<PyAny>, &'a Py<PyAny>),
}

#[pymethods]
impl MujocoWorld {
    #[new]
    fn new(parts: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<Self> {
        let calls = parts.extract()?;
        let own: Parts<'_> = parts.extract()?;
        let memory = Memory::new(d, &own.fields, own.is_sparse)?;
        // SAFETY: Python calls this with the model at hand.
        let enabled = unsafe { memory.enabled.get() };
        Ok(Self {
            simulation: own.simulation,
            model: own.model,
            numbers: own.numbers,
            version: own.version,
            enabled,
            memory,
            calls,
            addresses: Pair(own.addresses[0], own.addresses[1]),
            native: own.native,
            activations: own.activations,
            equalities: own.equalities,
            histories: own.histories,
            readings: own.readings,
            mocap: own.mocap,
            outputs: own.outputs,
            surfaces: Surfaces {
                of_geoms: own.surfaces.iter().map(Surface::new).collect(),
                of_pairs: own.pairs.into_iter().zip(own.pair_surfaces.iter().map(Surface::new)).collect(),
            },
            is_pyramidal: own.is_pyramidal,
            reads_rows: own.reads_rows,
            tendons: own.tendons.map(|tendons| TendonMemory::new(d, tendons)).transpose()?,
            kept: Mutex::default(),
        })
    }

    /// Where the parts of an `mjContact` that a step writes begin, and its length, bytes.
    #[staticmethod]
    fn contact_layout() -> (Vec<(&'static str, usize)>, usize) {
        (LAYOUT.to_vec(), size_of::<MjContact>())
    }
}

impl MujocoWorld {
    /// Whether it was made of this `MjModel`, which has not changed since in what is needed.
    pub fn is_of(&self, m: &Bound<'_, PyAny>, need: Need) -> bool {
        let py = m.py();
        let is_own = self.model.bind(py).upgrade().is_some_and(|own| own.is(m));
        is_own
            && match need {
                // SAFETY: the `MjModel` is an argument of the call.
                Need::Stages => unsafe { self.memory.enabled.get() == self.enabled },
                Need::Numbers => self.numbers.borrow(py).are_of(self.version),
            }
    }

    pub fn step(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>, nstep: i64) -> PyResult<()> {
        if nstep < 1 { Ok(()) } else { self.run(m, d, nstep, |running| running.timed_step(nstep)) }
    }

    pub fn step1(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<()> {
        self.run(m, d, 1, |running| running.step1())
    }

    pub fn step2(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<()> {
        self.run(m, d, 1, |running| running.step2())
    }

    pub fn forward(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<()> {
        self.run(m, d, 1, |running| running.forward())
    }

    pub fn inverse(&self, m: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<()> {
        self.run(m, d, 1, |running| running.inverse())
    }

    /// Works on as many steps.
    fn run(
        &self,
        m: &Bound<'_, PyAny>,
        d: &Bound<'_, PyAny>,
        nstep: i64,
        work: impl FnOnce(&mut Running<'_>) -> PyResult<()> + Send,
    ) -> PyResult<()> {
        let mut simulation = self.simulation.get().lock()?;
        let mut kept = try_lock(&self.kept, "a step of this MjData is in progress", "a step was aborted")?;
        let mut running = Running {
            world: self,
            memory: &self.memory,
            simulation: &mut simulation,
            kept: &mut kept,
            pair: (m.as_unbound(), d.as_unbound()),
        };
        let (nv, contacts) = (running.simulation.model().nv() as i64, running.simulation.stats().contacts);
        if nv.saturating_mul(nstep) <= BRIEF && contacts <= FEW_CONTACTS {
            return work(&mut running);
        }
        m.py().detach(|| work(&mut running))
    }
}

impl Running<'_> {
    /// Makes steps, and adds the time that they took to MuJoCo's timer of steps.
    fn timed_step(&mut self, nstep: i64) -> PyResult<()> {
        let native = self.world.native.as_ref();
        let now = || native.and_then(Native::now);
        let start = now();
        self.step(nstep)?;
        // SAFETY: as in `write`.
        unsafe {
            self.memory.steps.set(self.memory.steps.get().wrapping_add(nstep as i32));
            if let (Some(start), Some(end)) = (start, now()) {
                self.memory.duration.set(self.memory.duration.get() + end - start);
            }
        }
        Ok(())
    }

    /// Makes steps. As of MuJoCo's, positions and all that follows from them are then those before the last.
    fn step(&mut self, nstep: i64) -> PyResult<()> {
        self.check_state()?;
        self.follow_timestep()?;
        if self.control()?.is_some() || self.passive()?.is_some() {
            // These are asked at every step, in the midst of MuJoCo's stages.
            for _ in 0..nstep {
                self.stages()?;
                self.evaluate()?;
                self.write();
            }
            return Ok(());
        }
        self.read()?;
        if nstep > 1 {
            let outcome = self.advance(nstep - 1);
            self.write();
            outcome?;
        }
        self.stages()?;
        self.advance(1)?;
        self.write_forces()?;
        self.write();
        Ok(())
    }

    /// The part of a step before a program's controls: what follows from the state.
    ///
    /// Contacts stay those of the last step, as finding MuJoCo's own takes as long as all else; they are MuJoCo's where someone has set
    /// the state since.
    fn step1(&mut self) -> PyResult<()> {
        self.check_state()?;
        // SAFETY: as in `write`.
        let (counts, state) = unsafe { ((self.memory.ncon.get(), self.memory.nefc.get()), self.memory.state()) };
        let is_ours = is_same(&self.kept.left, state);
        self.state_stages()?;
        if is_ours {
            // SAFETY: as in `write`; none of the stages has written where contacts and rows lie.
            unsafe {
                self.memory.ncon.set(counts.0);
                self.memory.nefc.set(counts.1);
            }
        } else {
            self.call(&self.world.calls.collide)?;
            self.call_part(Part::Rows)?;
        }
        self.call_control()
    }

    /// The part of a step after a program's controls: the motion, with what `step1` or `forward` has left of the state before.
    fn step2(&mut self) -> PyResult<()> {
        self.follow_timestep()?;
        self.evaluate()?;
        self.write();
        Ok(())
    }

    fn check_state(&self) -> PyResult<()> {
        // SAFETY: the `MjData` is an argument of the call.
        if !unsafe { self.memory.state() }[..2].iter().all(|of| is_good(of)) {
            self.call_all(&self.world.calls.checks)?;
        }
        Ok(())
    }

    /// What a step would leave, but for the motion.
    fn forward(&mut self) -> PyResult<()> {
        self.follow_timestep()?;
        self.stages()?;
        if self.world.activations.is_empty() && self.passive()?.is_none() {
            self.read()?;
            self.compute(Sim::forward)?;
            return self.write_forces();
        }
        // What changes activations, and forces of a callback, are only seen in a step.
        self.read()?;
        let before = self.simulation.state().clone();
        let outcome = self.evaluate();
        self.simulation.state_mut().copy_from(&before);
        outcome
    }

    /// The forces of the acceleration in the `MjData`: of actuators and applied ones together, with contacts and sensors as they then are.
    fn inverse(&mut self) -> PyResult<()> {
        self.follow_timestep()?;
        self.state_stages()?;
        self.read_all()?;
        let before = self.simulation.state().clone();
        let outcome = self.find_forces();
        self.simulation.state_mut().copy_from(&before);
        outcome
    }

    fn find_forces(&mut self) -> PyResult<()> {
        let memory = self.memory;
        // SAFETY: as in `write`.
        let (acceleration, applied, total) =
            unsafe { (memory.qacc.get(), memory.applied_force.get(), memory.inverse.get_mut()) };
        if !is_good(acceleration) {
            return Err(PyValueError::new_err("qacc: expected finite numbers"));
        }
        let mut missing = Vec::new();
        self.compute(|simulation| {
            missing = simulation.inverse_dynamics(acceleration)?;
            simulation
                .state_mut()
                .applied_force
                .iter_mut()
                .zip(&missing)
                .for_each(|(applied, missing)| *applied += missing);
            simulation.step()
        })?;
        let actuation = self.simulation.acting_forces().actuation;
        for (v, total) in total.iter_mut().enumerate() {
            *total = missing[v] + applied[v] + actuation[v];
        }
        self.call(&self.world.calls.add_wrenches)?;
        self.write_constraint()
    }

    /// Moves the simulation by a step, and writes the accelerations and forces of that step.
    fn evaluate(&mut self) -> PyResult<()> {
        self.read_all()?;
        self.advance(1)?;
        self.write_forces()
    }

    /// Takes over the state and the inputs, the forces of a program's callback among them.
    fn read_all(&mut self) -> PyResult<()> {
        self.read()?;
        if self.passive()?.is_some() {
            let force = &mut self.simulation.state_mut().applied_force;
            // SAFETY: as in `step`.
            let (all, own) =
                unsafe { (self.memory.passive.get(), self.memory.own_passive.each_ref().map(|of| of.get())) };
            for (v, force) in force.iter_mut().enumerate() {
                *force += all[v] - own.iter().map(|of| of[v]).sum::<f64>();
            }
        }
        Ok(())
    }

    fn advance(&mut self, steps: i64) -> PyResult<()> {
        self.compute(|simulation| (0..steps).try_for_each(|_| simulation.step()))
    }

    fn compute(&mut self, work: impl FnOnce(&mut Sim) -> Result<(), SimulationError>) -> PyResult<()> {
        let watch = self.world.simulation.get().watch();
        watch.begin();
        work(self.simulation).map_err(|error| Python::attach(|py| watch.error(py, &error)))
    }

    fn follow_timestep(&mut self) -> PyResult<()> {
        // SAFETY: the `MjModel` is an argument of the call.
        let timestep = unsafe { self.memory.timestep.get() };
        if timestep != self.simulation.timestep() {
            self.simulation.set_timestep(timestep).map_err(|error| raised(&error))?;
        }
        Ok(())
    }

    /// What MuJoCo computes of a state, all but contact and constraints; then a program's controls.
    fn stages(&mut self) -> PyResult<()> {
        self.state_stages()?;
        self.call_control()
    }

    fn state_stages(&mut self) -> PyResult<()> {
        let memory = self.memory;
        // SAFETY: as in `write`.
        unsafe {
            memory.ncon.set(0);
            memory.nefc.set(0);
            memory.is_computed.iter().for_each(|flag| flag.set(false));
        }
        if !self.place_tendons()? {
            self.call_part(Part::Kinematics)?;
        }
        self.call_part(Part::Stages)
    }

    /// Places bodies, and the tendons where the simulation, which stands at the same state, takes them in its step; false if that cannot be, and
    /// MuJoCo is to place all.
    fn place_tendons(&mut self) -> PyResult<bool> {
        let (memory, Some(tendons)) = (self.memory, &self.world.tendons) else { return Ok(false) };
        // SAFETY: as in `write`.
        let is_there = are_same(&self.simulation.state().q, unsafe { memory.qpos.get() });
        if !is_there || !self.simulation.place_tendons().is_some_and(|placed| tendons.are_those(&placed)) {
            return Ok(false);
        }
        self.call_part(Part::Bodies)?;
        if let Some(placed) = self.simulation.place_tendons() {
            // SAFETY: as in `write`; sites are placed.
            unsafe { tendons.write(&placed) };
        }
        Ok(true)
    }
}

/// The exception of a simulation's error.
fn raised(error: &SimulationError) -> PyErr {
    Python::attach(|py| simulation_error(py, error))
}

fn is_good(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.abs() <= MAX)
}

/// Whether these are the same numbers, bit for bit.
fn is_same(left: &[f64], now: [&[f64]; 3]) -> bool {
    let mut rest = left;
    now.iter().map(|of| of.len()).sum::<usize>() == left.len()
        && now.into_iter().all(|of| {
            let (own, others) = rest.split_at(of.len());
            rest = others;
            are_same(own, of)
        })
}

fn are_same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
