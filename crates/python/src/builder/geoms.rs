//! Geoms: shapes, surfaces, mass.

use std::sync::Arc;

use formats::assembly::{AssemblyGeom, AssemblyPair};
use geometry::{FluidCoefficients, Geom, HeightField, MassModel, Mesh, Shape};
use multibody::{Compliance, Material, Reference, Resistance};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spatial::{RigidInertia, Vec3};

use super::fields::{at_least_zero, compliance, number, unknown, with_reference};
use super::{Assembly, rotation, vector3};
use crate::arguments::{any_rows, array, bits, colour, several, tuple, word};

#[stubdoc::documented]
#[pymethods]
impl Assembly {
    /// A primitive of these sizes.
    fn add_primitive(
        &mut self,
        body: usize,
        shape: &str,
        #[pyo3(from_py_with = several)] size: Vec<f64>,
        mass: (Option<f64>, Option<f64>, bool),
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        let needed = word(
            "shape",
            shape,
            &[("plane", 2), ("sphere", 1), ("capsule", 2), ("cylinder", 2), ("ellipsoid", 3), ("box", 3)],
        )?;
        let positive = size.iter().all(|&s| s > 0.0 || shape == "plane" && s >= 0.0);
        if size.len() != needed || !positive || size.iter().any(|s| !s.is_finite()) {
            let plural = if needed == 1 { "" } else { "s" };
            let message = format!("size is {size:?}: expected {needed} number{plural} above 0 for a {shape}");
            return Err(PyValueError::new_err(message));
        }
        let shape = match (shape, &size[..]) {
            ("plane", &[x, y]) => Shape::Plane { half_extents: [x, y] },
            ("sphere", &[radius]) => Shape::Sphere { radius },
            ("capsule", &[radius, half_length]) => Shape::Capsule { radius, half_length },
            ("cylinder", &[radius, half_length]) => Shape::Cylinder { radius, half_length },
            ("ellipsoid", &[x, y, z]) => Shape::Ellipsoid { radii: [x, y, z] },
            (_, &[x, y, z]) => Shape::Box { half_extents: [x, y, z] },
            _ => return Err(PyValueError::new_err("size: expected numbers")),
        };
        self.add_shape(body, shape, mass, fields)
    }

    /// A triangle mesh; without faces the convex hull of the vertices.
    fn add_mesh(
        &mut self,
        body: usize,
        name: &str,
        vertices: &Bound<'_, PyAny>,
        faces: Option<PyReadonlyArray2<'_, i64>>,
        mass: (Option<f64>, Option<f64>, bool),
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        let (rows, numbers) = any_rows("vertices", vertices, 3)?;
        let vertices: Vec<Vec3<f64>> = numbers.chunks_exact(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect();
        let mut triangles = Vec::new();
        if let Some(faces) = faces {
            let faces = faces.as_array();
            if faces.ncols() != 3 {
                return Err(PyValueError::new_err(format!("faces has shape {:?}: expected (m, 3)", faces.dim())));
            }
            for face in faces.rows() {
                let index = |k: usize| {
                    let message =
                        || PyValueError::new_err(format!("faces has {}: expected indices below {rows}", face[k]));
                    u32::try_from(face[k]).ok().filter(|&i| (i as usize) < rows).ok_or_else(message)
                };
                triangles.push([index(0)?, index(1)?, index(2)?]);
            }
        }
        self.add_triangles(body, name, vertices, triangles, mass, fields)
    }

    /// A mesh of a file: STL, OBJ, COLLADA or MSH.
    fn add_mesh_file(
        &mut self,
        body: usize,
        name: &str,
        path: std::path::PathBuf,
        scale: &Bound<'_, PyAny>,
        mass: (Option<f64>, Option<f64>, bool),
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        let scale = array("scale", scale, &[3])?;
        if scale.contains(&0.0) {
            return Err(PyValueError::new_err(format!("scale is {scale:?}: expected numbers other than 0")));
        }
        let soup = formats::mesh_files::read(&path).map_err(|error| PyValueError::new_err(format!("mesh: {error}")))?;
        let vertices =
            soup.vertices.iter().map(|v| Vec3::new(scale[0] * v.x, scale[1] * v.y, scale[2] * v.z)).collect();
        let mut triangles = soup.triangles;
        // Colours of a model in code are those that it says, not those of the file.
        if scale.iter().product::<f64>() < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        self.add_triangles(body, name, vertices, triangles, mass, fields)
    }

    /// Heights over a grid, rows from −y, columns from −x.
    fn add_height_field(
        &mut self,
        body: usize,
        name: &str,
        heights: &Bound<'_, PyAny>,
        half_extents: [f64; 2],
        base: f64,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        let shape: Vec<usize> = heights.getattr("shape")?.extract()?;
        let &[rows, columns] = &shape[..] else {
            let shape = tuple(&shape);
            return Err(PyValueError::new_err(format!("heights has shape {shape}: expected (rows, columns)")));
        };
        let heights = array("heights", heights, &[rows, columns])?;
        let field = HeightField::new(name, [rows, columns], half_extents, heights, base);
        let field = field.map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.add_shape(body, Shape::HeightField(Arc::new(field)), (Some(0.0), None, false), fields)
    }

    fn get_geom<'py>(&self, py: Python<'py>, geom: usize, field: &str) -> PyResult<Bound<'py, PyAny>> {
        self.check("geom", &[geom])?;
        let AssemblyGeom { geom, material, inertia } = &self.inner.geoms[geom];
        Ok(match field {
            "name" => geom.name.clone().into_pyobject(py)?.into_any(),
            "body" => geom.body.into_pyobject(py)?.into_any(),
            "shape" => shape_name(&geom.shape).into_pyobject(py)?.into_any(),
            "position" => geom.pose.pos.to_array().into_pyobject(py)?.into_any(),
            "quaternion" => geom.pose.rot.to_array().into_pyobject(py)?.into_any(),
            "contype" => geom.contype.into_pyobject(py)?.into_any(),
            "conaffinity" => geom.conaffinity.into_pyobject(py)?.into_any(),
            "margin" => geom.margin.into_pyobject(py)?.into_any(),
            "color" => geom.rgba.into_pyobject(py)?.into_any(),
            "friction" => material.friction.into_pyobject(py)?.into_any(),
            "torsional_friction" => material.torsional_friction.into_pyobject(py)?.into_any(),
            "rolling_friction" => material.rolling_friction.into_pyobject(py)?.into_any(),
            "priority" => material.priority.into_pyobject(py)?.into_any(),
            "mix" => material.mix.into_pyobject(py)?.into_any(),
            "solref" => solver_reference(material).map(|of| of.solref).into_pyobject(py)?.into_any(),
            "solimp" => solver_reference(material).map(|of| of.solimp).into_pyobject(py)?.into_any(),
            "fluid" => geom.fluid.map(FluidCoefficients::to_array).into_pyobject(py)?.into_any(),
            "mass" => inertia.mass.into_pyobject(py)?.into_any(),
            _ => return Err(unknown("geom", field)),
        })
    }

    fn set_geom(&mut self, geom: usize, field: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check("geom", &[geom])?;
        let AssemblyGeom { geom, material, .. } = &mut self.inner.geoms[geom];
        set_geom(geom, material, field, value)
    }

    fn add_pair(&mut self, geoms: [usize; 2], fields: &Bound<'_, PyDict>) -> PyResult<()> {
        self.check("geom", &geoms)?;
        let mut material = Material::of_mjcf();
        let mut geom = Geom::new(0, Shape::Sphere { radius: 1.0 });
        for (name, value) in fields {
            let name = name.extract::<String>()?;
            match value.extract::<[f64; 2]>() {
                Ok(of) if name == "friction" && of.iter().all(|mu| *mu >= 0.0 && mu.is_finite()) => {
                    (material.friction, material.second_friction) = Material::of_two_tangents(of);
                }
                Ok(of)
                    if name == "rolling_friction" && of.iter().all(|length| *length >= 0.0 && length.is_finite()) =>
                {
                    (material.rolling_friction, material.second_rolling_friction) = Material::of_two_tangents(of);
                    material.resistance = Resistance::Rolling;
                }
                _ => set_geom(&mut geom, &mut material, &name, &value)?,
            }
        }
        self.inner.pairs.push(AssemblyPair { geoms, material, margin: geom.margin });
        Ok(())
    }
}

impl Assembly {
    fn add_triangles(
        &mut self,
        body: usize,
        name: &str,
        vertices: Vec<Vec3<f64>>,
        triangles: Vec<[u32; 3]>,
        mass: (Option<f64>, Option<f64>, bool),
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        let mesh = Mesh::new(name, vertices, triangles);
        let mut mesh = mesh.map_err(|error| PyValueError::new_err(format!("mesh: {error}")))?;
        if mesh.triangles.is_empty() {
            let message = || format!("vertices of mesh {name:?} span no volume: expected points that do, or faces");
            mesh = mesh.stand_for_hull().ok_or_else(|| PyValueError::new_err(message()))?;
        }
        self.add_shape(body, Shape::Mesh(Arc::new(mesh)), mass, fields)
    }

    /// A shape with mass, or density, throughout or on its surface.
    fn add_shape(
        &mut self,
        body: usize,
        shape: Shape,
        (mass, density, shell): (Option<f64>, Option<f64>, bool),
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        self.check("body", &[body])?;
        let mut geom = Geom::new(body, shape);
        let mut material = Material::of_mjcf();
        for (name, value) in fields {
            set_geom(&mut geom, &mut material, &name.extract::<String>()?, &value)?;
        }
        for (name, value) in [("mass", mass), ("density", density)] {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v >= 0.0)) {
                return Err(PyValueError::new_err(format!("{name} is {value}: expected a finite number of 0 or more")));
            }
        }
        let model = if shell { MassModel::Shell } else { MassModel::Solid };
        let weightless = mass == Some(0.0) || mass.is_none() && density == Some(0.0);
        let inertia = match mass {
            _ if weightless => Ok(RigidInertia::ZERO),
            Some(mass) => geom.shape.inertia_of_mass(mass, model),
            None => geom.shape.inertia(density.unwrap_or(1000.0), model),
        };
        let expected = "expected a closed mesh, or mass=0 for a shape without mass";
        let inertia = inertia.map_err(|error| PyValueError::new_err(format!("{error}: {expected}")))?;
        self.inner.geoms.push(AssemblyGeom { geom, material, inertia });
        Ok(self.inner.geoms.len() - 1)
    }
}

fn shape_name(shape: &Shape) -> &'static str {
    match shape {
        Shape::Plane { .. } => "plane",
        Shape::Sphere { .. } => "sphere",
        Shape::Capsule { .. } => "capsule",
        Shape::Cylinder { .. } => "cylinder",
        Shape::Ellipsoid { .. } => "ellipsoid",
        Shape::Box { .. } => "box",
        Shape::Mesh(_) => "mesh",
        Shape::HeightField(_) => "height_field",
    }
}

fn set_geom(geom: &mut Geom, material: &mut Material, field: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match field {
        "name" => geom.name = value.extract()?,
        "position" => geom.pose.pos = vector3(field, value)?,
        "quaternion" => geom.pose.rot = rotation(field, value)?,
        "contype" => geom.contype = bits(field, value)?,
        "conaffinity" => geom.conaffinity = bits(field, value)?,
        "margin" => geom.margin = number(field, value)?,
        "color" => geom.rgba = colour(field, value)?,
        "friction" => material.friction = at_least_zero(field, value)?,
        "torsional_friction" => {
            material.torsional_friction = at_least_zero(field, value)?;
            material.resistance = material.resistance.max(Resistance::Spinning);
        }
        "rolling_friction" => {
            material.rolling_friction = at_least_zero(field, value)?;
            material.resistance = Resistance::Rolling;
        }
        "compliance" => material.compliance = compliance(field, value)?,
        "solref" | "solimp" => {
            material.compliance = with_reference(material.compliance, Reference::default(), field, value)?
        }
        "priority" => material.priority = value.extract()?,
        "mix" => material.mix = at_least_zero(field, value)?,
        "fluid" => geom.fluid = fluid(field, value)?,
        _ => return Err(unknown("geom", field)),
    }
    Ok(())
}

/// The `solref` and `solimp` of a surface that has them.
fn solver_reference(material: &Material) -> Option<Reference> {
    match material.compliance {
        Compliance::Reference(reference) => Some(reference),
        Compliance::NearRigid | Compliance::Physical { .. } => None,
    }
}

/// How strongly a medium acts on an ellipsoid: true for the usual coefficients, five of them, or false or None.
fn fluid(field: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<FluidCoefficients>> {
    if let Ok(is_ellipsoid) = value.extract::<Option<bool>>() {
        return Ok((is_ellipsoid == Some(true)).then(FluidCoefficients::default));
    }
    let numbers = array(field, value, &[5])?;
    if numbers[..3].iter().any(|drag| *drag < 0.0) {
        let message = format!("{field} is {numbers:?}: expected 0 or more of the first three, which are drag");
        return Err(PyValueError::new_err(message));
    }
    Ok(<[f64; 5]>::try_from(&numbers[..]).ok().map(FluidCoefficients::from_array))
}
