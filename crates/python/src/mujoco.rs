//! Models of MuJoCo, and the contacts of a step in the memory of an `MjData`: `sapwood/mujoco` says where that is.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::ContactPoint;

use crate::model::Model;
use crate::simulation::Simulation;

/// Length of an `mjContact` in words of 8 bytes, and where its parts begin. The module of Python compares these with MuJoCo's own.
const CONTACT: usize = 76;
const POSITION: usize = 1;
const FRAME: usize = 4;
const MARGIN: usize = 13;
const FRICTION: usize = 14;
const SOLREF: usize = 19;
const SOLIMP: usize = 23;
/// From here on two integers in each word.
const INTEGERS: usize = 69;
const EFC_ADDRESS: usize = 75;

/// How many numbers describe the surface of a geom: `condim`, five coefficients of friction, `solref`, `solimp`.
const SURFACE: usize = 13;

/// Two integers of 32 bits, the first in the lower half.
fn pair(first: i32, second: i32) -> u64 {
    u64::from(first as u32) | u64::from(second as u32) << 32
}

fn write(point: &ContactPoint, surfaces: &[f64], into: &mut [u64]) {
    into.fill(0);
    let mut put = |start: usize, numbers: &[f64]| {
        into[start..start + numbers.len()].iter_mut().zip(numbers).for_each(|(word, x)| *word = x.to_bits());
    };
    let [first, second] = point.geoms.map(|geom| &surfaces[SURFACE * geom..SURFACE * (geom + 1)]);
    put(0, &[point.gap]);
    put(POSITION, &point.position.to_array());
    let frame = [point.normal, point.tangents[0], point.normal.cross(point.tangents[0])];
    put(FRAME, frame.map(|axis| axis.to_array()).as_flattened());
    put(MARGIN, &[point.gap.max(0.0)]);
    let friction: [f64; 5] = std::array::from_fn(|k| first[1 + k].max(second[1 + k]));
    put(FRICTION, &friction);
    put(SOLREF, &first[6..8]);
    put(SOLIMP, &first[8..13]);
    let dim = first[0].max(second[0]) as i32;
    let [a, b] = point.geoms.map(|geom| geom as i32);
    // dim, geom1, geom2, then geom, flex, elem, vert of both, exclude, efc_address and nothing.
    let integers = [[dim, a], [b, a], [b, -1], [-1; 2], [-1; 2], [-1, 0], [-1, 0]];
    into[INTEGERS..].iter_mut().zip(integers).for_each(|(word, [low, high])| *word = pair(low, high));
}

/// The force of a contact as the rows of its constraint have it: along normal and tangents, or along the edges of a pyramid.
fn write_rows(contact: &[u64], [t1, t2, normal]: [f64; 3], is_pyramid: bool, forces: &mut [f64]) {
    let dim = contact[INTEGERS] as u32 as usize;
    let start = contact[EFC_ADDRESS] as u32 as i32;
    let (Ok(start), count) = (usize::try_from(start), if is_pyramid && dim > 1 { 2 * (dim - 1) } else { dim }) else {
        return;
    };
    // What spins and rolls has no part in it.
    let force = [normal, t1, t2, 0.0, 0.0, 0.0];
    let Some(rows) = forces.get_mut(start..start + count).filter(|_| dim <= force.len()) else { return };
    if !is_pyramid || dim == 1 {
        rows.copy_from_slice(&force[..dim]);
        return;
    }
    let share = normal / (dim - 1) as f64;
    for (k, edges) in rows.chunks_exact_mut(2).enumerate() {
        let along = force[k + 1] / f64::from_bits(contact[FRICTION + k]);
        edges.copy_from_slice(&[(share + along) / 2.0, (share - along) / 2.0]);
    }
}

#[stubdoc::documented]
#[pymethods]
impl Model {
    /// The model of the arrays of a compiled `MjModel`.
    #[staticmethod]
    #[pyo3(signature = (mj_model, *, near_rigid=false))]
    fn from_mujoco<'py>(mj_model: &Bound<'py, PyAny>, near_rigid: bool) -> PyResult<Bound<'py, PyAny>> {
        let module = mj_model.py().import("sapwood.mujoco")?;
        module.getattr("model_of")?.call1((mj_model, near_rigid))
    }
}

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    /// Writes the contacts of the last step as `mjContact`, as many as there is room for; returns how many.
    fn _write_mj_contacts(
        &self,
        surfaces: PyReadonlyArray2<'_, f64>,
        memory: &Bound<'_, PyArray2<u64>>,
    ) -> PyResult<usize> {
        let simulation = self.lock()?;
        // SAFETY: nothing else of this process looks at an `MjData` in which a step is in progress.
        let memory = unsafe { memory.as_slice_mut()? };
        let surfaces = surfaces.as_slice()?;
        if surfaces.len() != SURFACE * self.model_of().scene().geoms.len() {
            return Err(PyValueError::new_err(format!("surfaces: expected {SURFACE} numbers of each geom")));
        }
        let points = simulation.contacts().iter().zip(memory.chunks_exact_mut(CONTACT));
        Ok(points.map(|(point, contact)| write(point, surfaces, contact)).count())
    }

    /// Writes their forces into the rows of MuJoCo's constraints.
    fn _write_mj_rows(
        &self,
        memory: &Bound<'_, PyArray2<u64>>,
        is_pyramid: bool,
        timestep: f64,
        forces: &Bound<'_, PyArray1<f64>>,
    ) -> PyResult<()> {
        let simulation = self.lock()?;
        // SAFETY: as above.
        let (memory, forces) = unsafe { (memory.as_slice()?, forces.as_slice_mut()?) };
        for (point, contact) in simulation.contacts().iter().zip(memory.chunks_exact(CONTACT)) {
            // MuJoCo's second tangent is across normal and first.
            let turn = point.normal.cross(point.tangents[0]).dot(point.tangents[1]);
            let [t1, t2, normal] = point.impulse.map(|impulse| impulse / timestep);
            write_rows(contact, [t1, turn.signum() * t2, normal], is_pyramid, forces);
        }
        Ok(())
    }
}
