//! The arrays through which Python sees and changes the state of a simulation.
//!
//! Their memory is as old as the simulation, and outlives it as long as someone looks at them. The state of the simulation
//! is copied out of them before every use and q and v back into them after, with the interpreter's lock held: a few
//! hundred numbers. So whatever Python does with a view, at whatever time and in whatever thread, no
//! memory is shared with a step that runs with the lock released.

use std::cell::UnsafeCell;
use std::ops::Range;

use geometry::Scene;
use multibody::Model;
use numpy::PyArrayDyn;
use numpy::ndarray::{ArrayViewD, IxDyn};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PySlice, PyType};
use sim::State;

/// The vectors of a state, as arrays that never move.
pub struct LiveState {
    pub q: LiveArray,
    pub v: LiveArray,
    pub ctrl: LiveArray,
    pub act: LiveArray,
    pub applied_force: LiveArray,
    pub applied_wrench: LiveArray,
    pub surface_velocity: LiveArray,
    pub equality_active: LiveArray,
    pub mocap: LiveArray,
    pub soft: LiveSoft,
}

/// Nodes of soft bodies, (nodes, 3) each, one body after the other.
pub struct LiveSoft {
    pub positions: LiveArray,
    pub velocities: LiveArray,
    pub forces: LiveArray,
}

impl LiveState {
    pub fn new(py: Python<'_>, model: &Model, scene: &Scene) -> PyResult<Self> {
        let nodes = scene.soft_bodies.iter().map(|body| body.node_count()).sum();
        Ok(Self {
            q: LiveArray::new(py, "q", &[model.nq()])?,
            v: LiveArray::new(py, "v", &[model.nv()])?,
            ctrl: LiveArray::new(py, "ctrl", &[model.nu()])?,
            act: LiveArray::new(py, "act", &[model.na()])?,
            applied_force: LiveArray::new(py, "applied_force", &[model.nv()])?,
            applied_wrench: LiveArray::new(py, "applied_wrench", &[model.bodies.len(), 6])?,
            surface_velocity: LiveArray::new(py, "surface_velocity", &[scene.geoms.len(), 3])?,
            equality_active: LiveArray::new(py, "equality_active", &[model.equalities.len()])?,
            mocap: LiveArray::new(py, "mocap", &[model.mocap_bodies().count(), 7])?,
            soft: LiveSoft {
                positions: LiveArray::new(py, "soft_positions", &[nodes, 3])?,
                velocities: LiveArray::new(py, "soft_velocities", &[nodes, 3])?,
                forces: LiveArray::new(py, "soft_forces", &[nodes, 3])?,
            },
        })
    }

    /// Arrays to state.
    pub fn read(&self, py: Python<'_>, state: &mut State) -> PyResult<()> {
        self.q.read(py, &mut state.q)?;
        self.v.read(py, &mut state.v)?;
        self.ctrl.read(py, &mut state.ctrl)?;
        self.act.read(py, &mut state.act)?;
        self.applied_force.read(py, &mut state.applied_force)?;
        self.applied_wrench.read(py, &mut state.applied_wrench)?;
        state.surface_velocity.resize(self.surface_velocity.len(), 0.0);
        self.surface_velocity.read(py, &mut state.surface_velocity)?;
        if self.equality_active.differs(py, &state.equality_active) {
            state.wake();
            self.equality_active.read(py, &mut state.equality_active)?;
        }
        self.mocap.read(py, &mut state.mocap)?;
        self.soft.positions.read(py, &mut state.soft_positions)?;
        self.soft.velocities.read(py, &mut state.soft_velocities)?;
        self.soft.forces.read(py, &mut state.soft_forces)?;
        // Of belts that stand still nothing is kept.
        if state.surface_velocity.iter().all(|&x| x == 0.0) {
            state.surface_velocity.clear();
        }
        Ok(())
    }

    /// What a step changes, to arrays. Inputs that Python changed meanwhile stay.
    pub fn write_motion(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.q.write(py, &state.q)?;
        self.v.write(py, &state.v)?;
        self.act.write(py, &state.act)?;
        self.soft.positions.write(py, &state.soft_positions)?;
        self.soft.velocities.write(py, &state.soft_velocities)
    }

    /// State to arrays.
    pub fn write(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.write_motion(py, state)?;
        self.soft.forces.write(py, &state.soft_forces)?;
        self.ctrl.write(py, &state.ctrl)?;
        self.applied_force.write(py, &state.applied_force)?;
        self.applied_wrench.write(py, &state.applied_wrench)?;
        self.equality_active.write(py, &state.equality_active)?;
        self.mocap.write(py, &state.mocap)?;
        if state.surface_velocity.is_empty() {
            self.surface_velocity.write(py, &vec![0.0; self.surface_velocity.len()])
        } else {
            self.surface_velocity.write(py, &state.surface_velocity)
        }
    }
}

/// Some columns of an array, a view of the same numbers.
pub fn columns<'py>(array: &Bound<'py, PyAny>, first: isize, end: isize) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    array.get_item((py.Ellipsis(), PySlice::new(py, first, end, 1)))
}

/// The memory of one array: the owner (`base`) of every view that Python gets, with nothing in it that Python can reach. A
/// numpy array in its place could be given another type, shape or size through `view.base`.
#[pyclass(frozen, module = "sapwood", name = "Memory")]
struct Memory {
    lines: Box<[Line]>,
}

/// Eight numbers in a line of the cache: programs that share arrays (JAX) take those alone that begin at one.
#[repr(align(64))]
#[derive(Default)]
#[expect(dead_code, reason = "read through pointers to numbers")]
struct Line(UnsafeCell<[f64; 8]>);

// SAFETY: Python reads and writes the numbers through views, and `LiveArray` copies them, all with the interpreter's lock
// held; no reference into them is kept.
unsafe impl Sync for Memory {}

/// One array. Python gets views of it, so that nothing done to a view's shape, type or flags reaches the array itself.
pub struct LiveArray {
    name: &'static str,
    shape: Vec<usize>,
    memory: Py<Memory>,
}

impl LiveArray {
    pub fn new(py: Python<'_>, name: &'static str, shape: &[usize]) -> PyResult<Self> {
        let lines = (0..shape.iter().product::<usize>().div_ceil(8)).map(|_| Line::default()).collect();
        Ok(Self { name, shape: shape.to_vec(), memory: Py::new(py, Memory { lines })? })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// A view for Python.
    pub fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let memory = self.memory.bind(py).clone();
        // SAFETY: the memory holds as many numbers as the shape says, in C order; the view, which keeps the memory alive,
        // has no other way to them than numpy's, which needs the interpreter's lock.
        unsafe {
            let numbers = ArrayViewD::from_shape_ptr(IxDyn(&self.shape), self.data());
            Ok(PyArrayDyn::borrow_from_array(&numbers, memory.into_any()).into_any())
        }
    }

    /// A view of controls: of a model without actuators one that says so where it is written to.
    pub fn view_of_controls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let view = self.view(py)?;
        match self.len() {
            0 => view.call_method1("view", (CLASS.import(py, "sapwood._controls", "NoControls")?,)),
            _ => Ok(view),
        }
    }

    /// A view that Python cannot write into.
    pub fn fixed_view(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let view = self.view(py)?;
        view.getattr("flags")?.setattr("writeable", false)?;
        Ok(view.unbind())
    }

    /// Array to slice, which is as long.
    pub fn read(&self, _py: Python<'_>, out: &mut [f64]) -> PyResult<()> {
        self.check(out.len())?;
        // SAFETY: both are as long, `out` is Rust's own memory, and the lock keeps Python from writing meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(self.data(), out.as_mut_ptr(), out.len()) };
        Ok(())
    }

    /// Whether the array holds other bits than these, or not as many.
    pub fn differs(&self, _py: Python<'_>, values: &[f64]) -> bool {
        let own = self.data().cast_const();
        // SAFETY: no index is beyond the array, and the lock keeps Python from writing meanwhile.
        let at = |k: usize| unsafe { own.add(k).read() };
        // All of them, without a branch at each: arrays are compared before every step, and hardly ever differ.
        self.len() != values.len()
            || values.iter().enumerate().fold(0, |bits, (k, x)| bits | (at(k).to_bits() ^ x.to_bits())) != 0
    }

    /// Slice to array, which is as long.
    pub fn write(&self, _py: Python<'_>, values: &[f64]) -> PyResult<()> {
        self.check(values.len())?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.data(), values.len()) };
        Ok(())
    }

    /// Some of the numbers to a slice, which is as long.
    pub fn read_range(&self, _py: Python<'_>, range: Range<usize>, out: &mut [f64]) -> PyResult<()> {
        let first = self.check_range(&range, out.len())?;
        // SAFETY: as in `read`; the range is within the array.
        unsafe { std::ptr::copy_nonoverlapping(self.data().add(first), out.as_mut_ptr(), out.len()) };
        Ok(())
    }

    /// Slice to some of the numbers, which are as many.
    pub fn write_range(&self, _py: Python<'_>, range: Range<usize>, values: &[f64]) -> PyResult<()> {
        let first = self.check_range(&range, values.len())?;
        // SAFETY: as in `read_range`.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.data().add(first), values.len()) };
        Ok(())
    }

    /// Where a range of this length begins.
    fn check_range(&self, range: &Range<usize>, len: usize) -> PyResult<usize> {
        if range.len() == len && range.end <= self.len() {
            return Ok(range.start);
        }
        let (name, own) = (self.name, self.len());
        Err(PyRuntimeError::new_err(format!("{len} entries of {name} at {range:?}: expected as many, within {own}")))
    }

    /// One row (of the first dimension) to a slice, which is as long.
    pub fn read_row(&self, _py: Python<'_>, row: usize, out: &mut [f64]) -> PyResult<()> {
        let first = self.check_row(row, out.len())?;
        // SAFETY: as in `read`; the row is within the array.
        unsafe { std::ptr::copy_nonoverlapping(self.data().add(first), out.as_mut_ptr(), out.len()) };
        Ok(())
    }

    /// Slice to one row, which is as long.
    pub fn write_row(&self, _py: Python<'_>, row: usize, values: &[f64]) -> PyResult<()> {
        let first = self.check_row(row, values.len())?;
        // SAFETY: as in `read_row`.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.data().add(first), values.len()) };
        Ok(())
    }

    /// Where a row of this length begins.
    fn check_row(&self, row: usize, len: usize) -> PyResult<usize> {
        let (rows, width) = (self.shape[0], self.shape[1..].iter().product::<usize>());
        if row < rows && len == width {
            return Ok(row * width);
        }
        let name = self.name;
        Err(PyRuntimeError::new_err(format!("row {row} of {len} entries of {name}: expected one of {rows} of {width}")))
    }

    /// The numbers, contiguous. No reference into them is kept. (The checked borrows of the numpy crate take 60 ns each, a
    /// sixth of a step of a small model for the seven of a call.)
    fn data(&self) -> *mut f64 {
        self.memory.get().lines.as_ptr().cast_mut().cast()
    }

    fn check(&self, len: usize) -> PyResult<()> {
        if len == self.len() {
            return Ok(());
        }
        let (name, own) = (self.name, self.len());
        Err(PyRuntimeError::new_err(format!("{name} has {own} entries, the state {len}: expected as many")))
    }
}
