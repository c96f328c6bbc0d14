//! Worlds on a device.

mod parameters;

use std::collections::BTreeMap;
use std::sync::Arc;

use geometry::Scene;
use lanes::{NotInLanes, Plan, SensorTables};
use multibody::{KeyframeKey, Model};
use sim::{Options, Parameters, Pd};

use crate::device::{Kernels, Memory};
use crate::source::MAX_ROWS;
use crate::{Arguments, GpuError, Place, Precision, Source};

/// Tangential regularisation of worlds of 32 bits at least, as of batches on the processor.
const SINGLE_SIGMA: f64 = 1e-3;

/// Numbers of a world's status, as `world.h` has them.
const STATUS: usize = 8;

/// What a user may choose.
#[derive(Clone, Debug)]
pub struct GpuOptions {
    /// How worlds are stepped.
    pub simulation: Options,
    /// Where.
    pub place: Place,
    /// The numbers that worlds are computed with.
    pub precision: Precision,
    /// Room for rows of constraints that push in a step, 3 to a contact; what the model is thought to need when none.
    pub rows: Option<usize>,
}

/// The arrays of worlds, (worlds, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Array {
    /// Positions, (worlds, nq).
    Q,
    /// Velocities, (worlds, nv).
    V,
    /// Controls, (worlds, nu).
    Ctrl,
    /// Activations, (worlds, na).
    Act,
    /// Time, s, (worlds).
    Time,
    /// Targets of PD control, (worlds, nq); empty without.
    PdTarget,
    /// Forces on the degrees of freedom, (worlds, nv); from when it is first asked for.
    AppliedForce,
    /// Torques and forces on bodies, (worlds, nbody, 6); from when it is first asked for.
    AppliedWrench,
    /// Counts of each world, (worlds, 8) of 32 bits: see [`Status`].
    Status,
    /// What constraints met, which the next step starts from.
    Met,
    /// Which numbers a world has: 0 are the model's.
    OwnOf,
    /// What sensors show, (worlds, numbers of all sensors): at the end of each launch, from when it is first asked for.
    Sensors,
}

/// Counts of a world since the batch was made or the world was reset, in the order of [`Array::Status`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Constraints whose solution the next step starts from.
    pub remembered: i32,
    /// Iterations of the contact solver.
    pub iterations: i32,
    /// Steps whose contact problem was not solved to the tolerance.
    pub unsettled: i32,
    /// Constraints that had no room.
    pub overflow: i32,
    /// Steps that turn or move bodies so far that the processor makes them in parts.
    pub coarse: i32,
    /// 1 if the last step failed; the world is as it was before it.
    pub failed: i32,
    /// Steps.
    pub steps: i32,
    /// Constraints that pushed in the last step.
    pub pushing: i32,
}

/// An array on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Where it is.
    pub address: u64,
    /// Its shape, rows one after the other.
    pub shape: Vec<usize>,
    /// Bytes of a number.
    pub bytes: usize,
    /// Whether numbers are whole.
    pub is_whole: bool,
}

/// Worlds of one model on a device.
pub struct GpuBatch {
    model: Arc<Model>,
    scene: Arc<Scene>,
    options: GpuOptions,
    plan: Plan,
    source: Source,
    kernels: Kernels,
    worlds: usize,
    arrays: BTreeMap<Array, Memory>,
    /// Of the plan, indices and numbers; the numbers of the model, then those of worlds that have some of their own.
    tables: [Memory; 3],
    pd: Option<Pd>,
    sensors: SensorTables,
    /// What worlds were given beside the model.
    own: BTreeMap<usize, Parameters>,
}

impl GpuBatch {
    /// `worlds` worlds at the model's default configuration, at rest.
    ///
    /// # Errors
    /// When the model or an option is beyond the kernels, or the device or its compiler is not there.
    pub fn new(model: Arc<Model>, scene: Arc<Scene>, worlds: usize, options: GpuOptions) -> Result<Self, GpuError> {
        let mut options = options;
        if worlds == 0 {
            return Err(GpuError::Option("n is 0: expected 1 or more worlds".into()));
        }
        check_count("n", worlds)?;
        if options.rows.is_some_and(|rows| !(1..=MAX_ROWS).contains(&rows)) {
            return Err(GpuError::Option(format!("rows: expected 1 to {MAX_ROWS}, three to a contact")));
        }
        if !options.simulation.conserve {
            return Err(GpuError::Option(
                "conserve=False: the GPU does not make such steps, device=\"cpu\" does".into(),
            ));
        }
        if options.simulation.impratio.is_some() {
            return Err(GpuError::Option(
                "impratio: the GPU has rigid friction, device=\"cpu\" does what yields".into(),
            ));
        }
        if options.precision == Precision::F32 && options.simulation.sigma > 0.0 {
            options.simulation.sigma = options.simulation.sigma.max(SINGLE_SIGMA);
        }
        let plan = plan(&model, &scene, &options, None)?;
        let sensors = plan.sensors(&model, &scene);
        let source = Source::new(&plan, &sensors, options.precision, options.rows)?;
        let kernels = Kernels::new(options.place, &source)?;
        let tables = upload(&kernels, &source, options.precision)?;
        let mut batch = Self {
            model,
            scene,
            options,
            plan,
            source,
            kernels,
            worlds,
            arrays: BTreeMap::new(),
            tables,
            pd: None,
            sensors,
            own: BTreeMap::new(),
        };
        let all = [Array::Q, Array::V, Array::Ctrl, Array::Act, Array::Time, Array::Status, Array::Met];
        all.into_iter().try_for_each(|array| batch.allocate(array))?;
        let q0 = batch.model.q0.repeat(worlds);
        batch.write(Array::Q, &q0)?;
        Ok(batch)
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Number of worlds.
    pub fn worlds(&self) -> usize {
        self.worlds
    }

    /// The options.
    pub fn options(&self) -> &GpuOptions {
        &self.options
    }

    /// The room for constraints, and how threads are laid out.
    pub fn layout(&self) -> crate::Layout {
        self.source.layout
    }

    /// Bytes of shared memory that a world takes.
    pub fn world_size(&self) -> usize {
        self.kernels.world_size()
    }

    /// Barriers, and rounds of loops over items by the lanes of a world, that a GPU would have made for the steps of this thread: counted on the
    /// host alone, in order ([`Order::Forwards`](crate::Order::Forwards)).
    pub fn work(&self) -> Option<[i64; 2]> {
        self.kernels.work()
    }

    /// PD control of all worlds, with the targets that it began with.
    pub fn pd(&self) -> Option<&Pd> {
        self.pd.as_ref()
    }

    fn allocate(&mut self, array: Array) -> Result<(), GpuError> {
        let memory = self.zeros(&self.shape(array))?;
        self.arrays.insert(array, memory);
        Ok(())
    }

    fn zeros(&self, view: &View) -> Result<Memory, GpuError> {
        self.kernels.allocate(view.shape.iter().product::<usize>() * view.bytes)
    }

    fn shape(&self, array: Array) -> View {
        self.shape_in(&self.source, array)
    }

    /// The shape of an array of the kernels of `source`.
    fn shape_in(&self, source: &Source, array: Array) -> View {
        let (model, n) = (&self.model, self.worlds);
        let (columns, is_whole) = match array {
            Array::Q | Array::PdTarget => (vec![model.nq()], false),
            Array::V | Array::AppliedForce => (vec![model.nv()], false),
            Array::Ctrl => (vec![model.nu()], false),
            Array::Act => (vec![model.na()], false),
            Array::Time => (vec![], false),
            Array::AppliedWrench => (vec![model.bodies.len(), 6], false),
            Array::Status => (vec![STATUS], true),
            Array::Met => (vec![source.layout.candidates * source.layout.met], false),
            Array::OwnOf => (vec![], true),
            Array::Sensors => (vec![self.sensors.numbers], false),
        };
        let bytes = if is_whole || self.options.precision == Precision::F32 { 4 } else { 8 };
        // An index stands where numbers of 64 bits leave room for two.
        View { address: 0, shape: std::iter::once(n).chain(columns).collect(), bytes, is_whole }
    }

    /// An array on the device; forces are made when they are first asked for.
    ///
    /// # Errors
    /// When there is no memory for it, or no PD control.
    pub fn view(&mut self, array: Array) -> Result<View, GpuError> {
        if array == Array::Sensors && !self.sensors.missing.is_empty() {
            return Err(GpuError::Missing(self.sensors.missing.clone()));
        }
        if array == Array::PdTarget && self.pd.is_none() {
            return Err(GpuError::Option("there is no PD control: call pd first".into()));
        }
        if !self.arrays.contains_key(&array) {
            self.allocate(array)?;
            if array == Array::Sensors {
                // What they show now: after steps on other streams, and before the next ones.
                self.synchronize()?;
                self.step(0, 0)?;
                self.synchronize()?;
            }
        }
        Ok(View { address: self.address(array), ..self.shape(array) })
    }

    fn address(&self, array: Array) -> u64 {
        self.arrays.get(&array).map_or(0, Memory::address)
    }

    /// Copies an array from the device, after all steps that were launched.
    ///
    /// # Errors
    /// When the device fails.
    pub fn read(&mut self, array: Array) -> Result<Vec<f64>, GpuError> {
        let view = self.view(array)?;
        self.kernels.synchronize()?;
        let mut bytes = vec![0; view.shape.iter().product::<usize>() * view.bytes];
        self.kernels.read(&self.arrays[&array], &mut bytes)?;
        Ok(match (view.is_whole, view.bytes) {
            (true, _) => {
                bytes.chunks_exact(4).map(|b| f64::from(i32::from_ne_bytes([b[0], b[1], b[2], b[3]]))).collect()
            }
            (_, 4) => bytes.chunks_exact(4).map(|b| f64::from(f32::from_ne_bytes([b[0], b[1], b[2], b[3]]))).collect(),
            _ => bytes
                .chunks_exact(8)
                .map(|b| f64::from_ne_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
                .collect(),
        })
    }

    /// Copies numbers to an array on the device.
    ///
    /// # Errors
    /// When they are not as many as it has, or the device fails.
    pub fn write(&mut self, array: Array, values: &[f64]) -> Result<(), GpuError> {
        let view = self.view(array)?;
        self.write_as(&view, array, values)
    }

    /// Writes an array that there is.
    fn write_as(&mut self, view: &View, array: Array, values: &[f64]) -> Result<(), GpuError> {
        let expected: usize = view.shape.iter().product();
        if values.len() != expected {
            return Err(GpuError::Option(format!("{array:?} has {} entries: expected {expected}", values.len())));
        }
        self.kernels.synchronize()?;
        let bytes: Vec<u8> = if view.is_whole {
            values.iter().flat_map(|x| (*x as i32).to_ne_bytes()).collect()
        } else {
            bytes_of(values, self.options.precision)
        };
        let Some(memory) = self.arrays.get_mut(&array) else { return Ok(()) };
        self.kernels.write(memory, &bytes)
    }

    /// The counts of all worlds, after all steps that were launched.
    ///
    /// # Errors
    /// When the device fails.
    pub fn status(&mut self) -> Result<Vec<Status>, GpuError> {
        let all = self.read(Array::Status)?;
        let of = |c: &[f64]| Status {
            remembered: c[0] as i32,
            iterations: c[1] as i32,
            unsettled: c[2] as i32,
            overflow: c[3] as i32,
            coarse: c[4] as i32,
            failed: c[5] as i32,
            steps: c[6] as i32,
            pushing: c[7] as i32,
        };
        Ok(all.chunks_exact(STATUS).map(of).collect())
    }

    /// Launches `steps` time steps of every world on a stream (0 is the default one); they may be under way when this returns.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn step(&mut self, steps: usize, stream: u64) -> Result<(), GpuError> {
        let arguments = Arguments {
            q: self.address(Array::Q),
            v: self.address(Array::V),
            act: self.address(Array::Act),
            ctrl: self.address(Array::Ctrl),
            pd_target: self.address(Array::PdTarget),
            force: self.address(Array::AppliedForce),
            wrench: self.address(Array::AppliedWrench),
            met: self.address(Array::Met),
            status: self.address(Array::Status),
            whole: self.tables[0].address(),
            reals: self.tables[1].address(),
            own: self.tables[2].address(),
            own_of: self.address(Array::OwnOf),
            time: self.address(Array::Time),
            sensors: self.address(Array::Sensors),
            worlds: self.worlds as i32,
            steps: check_count("k", steps)?,
        };
        // SAFETY: every array has the size that its shape says, and the kernels were made for these shapes.
        unsafe { self.kernels.steps(&arguments, stream) }
    }

    /// Waits for all steps that were launched.
    ///
    /// # Errors
    /// When a step failed on the device.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.kernels.synchronize()
    }

    /// Takes the worlds that `mask` says to a keyframe, or to the default configuration at rest for `None`: positions, velocities, controls,
    /// activations, time and applied forces, which become zero. What their constraints met is forgotten, counts begin anew; PD control stays.
    ///
    /// # Errors
    /// When the model has no such keyframe, or the device fails.
    pub fn reset<'a>(&mut self, mask: &[bool], keyframe: impl Into<KeyframeKey<'a>>) -> Result<(), GpuError> {
        let keyframe = sim::SimulationError::keyframe(&self.model, keyframe.into());
        let keyframe = keyframe.map_err(|error| GpuError::Option(error.to_string()))?;
        let worlds: Vec<usize> = (0..self.worlds).filter(|world| mask[*world]).collect();
        self.reset_rows(&worlds, |_| (&keyframe.q, &keyframe.v))?;
        let rows = [(Array::Ctrl, &keyframe.ctrl[..]), (Array::Act, &keyframe.act), (Array::Time, &[keyframe.time])];
        rows.into_iter().try_for_each(|(array, row)| self.write_rows(array, &worlds, |_| row))
    }

    /// Takes the worlds that `mask` says to states of their own, one row of `q` and `v` for each of these worlds in order; all else becomes zero
    /// as in [`reset`](Self::reset).
    ///
    /// # Errors
    /// When the device fails.
    pub fn reset_to(&mut self, mask: &[bool], q: &[f64], v: &[f64]) -> Result<(), GpuError> {
        let (nq, nv) = (self.model.nq(), self.model.nv());
        let worlds: Vec<usize> = (0..self.worlds).filter(|world| mask[*world]).collect();
        self.reset_rows(&worlds, |k| (&q[k * nq..(k + 1) * nq], &v[k * nv..(k + 1) * nv]))
    }

    /// Takes worlds to states, all else to zero.
    fn reset_rows<'a, R: AsRef<[f64]> + ?Sized + 'a>(
        &mut self,
        worlds: &[usize],
        of: impl Fn(usize) -> (&'a R, &'a R),
    ) -> Result<(), GpuError> {
        self.write_rows(Array::Q, worlds, |k| of(k).0.as_ref())?;
        self.write_rows(Array::V, worlds, |k| of(k).1.as_ref())?;
        let others = [Array::Ctrl, Array::Act, Array::Time, Array::AppliedForce, Array::AppliedWrench, Array::Status];
        for array in others.into_iter().filter(|array| self.arrays.contains_key(array)).collect::<Vec<_>>() {
            let zeros = vec![0.0; self.shape(array).shape[1..].iter().product()];
            self.write_rows(array, worlds, |_| &zeros)?;
        }
        Ok(())
    }

    /// Writes rows of an array: the k-th for the k-th of these worlds.
    fn write_rows<'a>(
        &mut self,
        array: Array,
        worlds: &[usize],
        row: impl Fn(usize) -> &'a [f64],
    ) -> Result<(), GpuError> {
        let mut all = self.read(array)?;
        let width = all.len() / self.worlds;
        for (k, world) in worlds.iter().enumerate() {
            all[world * width..(world + 1) * width].copy_from_slice(row(k));
        }
        self.write(array, &all)
    }

    /// Controls all worlds by stable PD of the same gains; `None` ends it.
    ///
    /// # Errors
    /// When the gains are none of the model, the kernels cannot be compiled or do not take what worlds have of their own, or there is no
    /// memory: all is then as it was. When the device fails.
    pub fn set_pd(&mut self, pd: Option<Pd>) -> Result<(), GpuError> {
        let pd = pd.filter(Pd::is_active);
        let plan = plan(&self.model, &self.scene, &self.options, pd.as_ref())?;
        let sensors = plan.sensors(&self.model, &self.scene);
        let source = Source::new(&plan, &sensors, self.options.precision, self.options.rows)?;
        // Kernels of one layout write beyond arrays of another: whatever may fail comes before anything is exchanged.
        self.kernels.synchronize()?;
        let kernels =
            if source.text == self.source.text { None } else { Some(Kernels::new(self.options.place, &source)?) };
        let mut tables = upload(kernels.as_ref().unwrap_or(&self.kernels), &source, self.options.precision)?;
        if let Some(sets) = self.sets(&plan, &source)? {
            tables[2] = sets;
        }
        // Constraints keep their numbers unless the drives of PD control are others: what they met is forgotten then.
        let has_moved = source.layout != self.source.layout || plan.constraint_count() != self.plan.constraint_count();
        let met = if has_moved { Some(self.zeros(&self.shape_in(&source, Array::Met))?) } else { None };
        let targets = pd.as_ref().map(|pd| pd.target.repeat(self.worlds));
        if targets.is_some() && !self.arrays.contains_key(&Array::PdTarget) {
            self.allocate(Array::PdTarget)?;
        }
        if let Some(targets) = &targets {
            self.write_as(&self.shape(Array::PdTarget), Array::PdTarget, targets)?;
        }
        if has_moved {
            let mut status = self.read(Array::Status)?;
            status.iter_mut().step_by(STATUS).for_each(|remembered| *remembered = 0.0);
            self.write(Array::Status, &status)?;
        }
        // Targets stay where they are without PD control, too: programs have views of them.
        self.arrays.extend(met.map(|met| (Array::Met, met)));
        if let Some(kernels) = kernels {
            self.kernels = kernels;
        }
        (self.plan, self.source, self.sensors, self.tables, self.pd) = (plan, source, sensors, tables, pd);
        Ok(())
    }
}

fn plan(model: &Model, scene: &Scene, options: &GpuOptions, pd: Option<&Pd>) -> Result<Plan, GpuError> {
    sim::plan(model, scene, &options.simulation, pd).map_err(|NotInLanes(reason)| GpuError::Missing(vec![reason]))
}

fn bytes_of(values: &[f64], precision: Precision) -> Vec<u8> {
    match precision {
        Precision::F32 => values.iter().flat_map(|x| (*x as f32).to_ne_bytes()).collect(),
        Precision::F64 => values.iter().flat_map(|x| x.to_ne_bytes()).collect(),
    }
}

/// The tables of a model on the device: of the plan, indices and numbers, and those that worlds may have of their own.
fn upload(kernels: &Kernels, source: &Source, precision: Precision) -> Result<[Memory; 3], GpuError> {
    let whole: Vec<u8> = source.whole.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let put = |values: &[f64]| put(kernels, &bytes_of(values, precision));
    Ok([self::put(kernels, &whole)?, put(&source.reals)?, put(&source.own)?])
}

/// A count as kernels have it.
fn check_count(name: &str, count: usize) -> Result<i32, GpuError> {
    i32::try_from(count).map_err(|_| GpuError::Option(format!("{name} is {count}: expected at most {}", i32::MAX)))
}

/// Memory on the device that has these bytes.
fn put(kernels: &Kernels, bytes: &[u8]) -> Result<Memory, GpuError> {
    let mut memory = kernels.allocate(bytes.len())?;
    kernels.write(&mut memory, bytes)?;
    Ok(memory)
}
