//! Parameters of worlds, to and from arrays.

use batch::Parameters;
use geometry::Scene;
use multibody::Model;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use crate::arguments::rows;
use crate::results;

type Argument<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// What Python passes: a row for each of some worlds, or one for all of them.
pub struct ParameterArguments<'a, 'py> {
    pub gravity: Argument<'a, 'py>,
    pub body_mass: Argument<'a, 'py>,
    pub body_inertia_scale: Argument<'a, 'py>,
    pub friction: Argument<'a, 'py>,
    pub geom_size: Argument<'a, 'py>,
    pub armature: Argument<'a, 'py>,
    pub damping: Argument<'a, 'py>,
    pub stiffness: Argument<'a, 'py>,
    pub actuator_gain: Argument<'a, 'py>,
    pub actuator_damping: Argument<'a, 'py>,
}

impl ParameterArguments<'_, '_> {
    /// The parameters of each of `worlds` worlds.
    pub fn parameters(&self, model: &Model, scene: &Scene, worlds: usize) -> PyResult<Vec<Parameters>> {
        let (bodies, geoms, nv, nu) = (model.bodies.len(), scene.geoms.len(), model.nv(), model.nu());
        let mut all = vec![Parameters::default(); worlds];
        let mut set = |name, from: Argument<'_, '_>, len: usize, to: fn(&mut Parameters) -> &mut Option<Vec<f64>>| {
            let Some(from) = from else { return PyResult::Ok(()) };
            let values = rows(name, from, worlds, len)?;
            for (k, parameters) in all.iter_mut().enumerate() {
                *to(parameters) = Some(values[k * len..(k + 1) * len].to_vec());
            }
            Ok(())
        };
        set("body_mass", self.body_mass, bodies, |p| &mut p.body_mass)?;
        set("body_inertia_scale", self.body_inertia_scale, bodies, |p| &mut p.body_inertia_scale)?;
        set("friction", self.friction, geoms, |p| &mut p.friction)?;
        set("armature", self.armature, nv, |p| &mut p.armature)?;
        set("damping", self.damping, nv, |p| &mut p.damping)?;
        set("stiffness", self.stiffness, nv, |p| &mut p.stiffness)?;
        set("actuator_gain", self.actuator_gain, nu, |p| &mut p.actuator_gain)?;
        set("actuator_damping", self.actuator_damping, nu, |p| &mut p.actuator_damping)?;
        if let Some(gravity) = self.gravity {
            let values = rows("gravity", gravity, worlds, 3)?;
            let values = values.as_chunks::<3>().0;
            all.iter_mut().zip(values).for_each(|(parameters, gravity)| parameters.gravity = Some(*gravity));
        }
        if let Some(sizes) = self.geom_size {
            let values = tables("geom_size", sizes, worlds, geoms)?;
            let sizes = values.as_chunks::<3>().0;
            for (k, parameters) in all.iter_mut().enumerate() {
                parameters.geom_size = Some(sizes[k * geoms..(k + 1) * geoms].to_vec());
            }
        }
        Ok(all)
    }
}

/// Finite numbers (worlds, count, 3), or (count, 3) for all.
fn tables(name: &str, value: &Bound<'_, PyAny>, worlds: usize, count: usize) -> PyResult<Vec<f64>> {
    let dimensions: usize = value.py().import("numpy")?.call_method1("ndim", (value,))?.extract()?;
    if dimensions == 2 {
        Ok(crate::arguments::array(name, value, &[count, 3])?.repeat(worlds))
    } else {
        crate::arguments::array(name, value, &[worlds, count, 3])
    }
}

/// `sapwood.Parameters` of a world.
pub fn tuple(py: Python<'_>, parameters: Parameters) -> PyResult<Bound<'_, PyAny>> {
    let vector = |values: Option<Vec<f64>>| PyArray1::from_vec(py, values.unwrap_or_default());
    let sizes = parameters.geom_size.unwrap_or_default();
    let count = sizes.len();
    let fields = (
        PyArray1::from_slice(py, &parameters.gravity.unwrap_or_default()),
        vector(parameters.body_mass),
        vector(parameters.body_inertia_scale),
        vector(parameters.friction),
        PyArray1::from_vec(py, sizes.into_flattened()).reshape([count, 3])?,
        vector(parameters.armature),
        vector(parameters.damping),
        vector(parameters.stiffness),
        vector(parameters.actuator_gain),
        vector(parameters.actuator_damping),
    );
    results::parameters(py, fields)
}
