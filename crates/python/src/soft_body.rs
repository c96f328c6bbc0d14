//! `sapwood.SoftBody`: a mesh of tetrahedra and a material, for `ModelBuilder.add_soft_body`.

use std::path::PathBuf;

use deformable::{MassModel, Material, MaterialModel, Order, SoftBody as Inner, SoftBodyDescription, TetMesh};
use formats::mesh_files::volume::{self, VolumeMesh};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spatial::Vec3;
use support::suggest;

use crate::arguments::{any_rows, array, check_scalar, positive, word};
use crate::soft::table;

const ORDERS: [(&str, Order); 2] = [("P1", Order::Linear), ("P2", Order::Quadratic)];
const MASSES: [(&str, MassModel); 2] = [("lumped", MassModel::Lumped), ("consistent", MassModel::Consistent)];
const PROPERTIES: [&str; 9] =
    ["order", "material", "young", "poisson", "density", "mass", "damping", "mass_damping", "mass_matrix"];

/// A mesh of tetrahedra and what it is made of.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct SoftBody {
    inner: Inner,
}

impl SoftBody {
    /// What it is made of, as in a model.
    pub fn description(&self) -> &SoftBodyDescription {
        self.inner.description()
    }

    fn of(mesh: TetMesh, properties: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let refused = |error: deformable::Error| PyValueError::new_err(error.to_string());
        let properties = Properties::read(properties)?;
        let mesh = match (properties.order, mesh.order()) {
            (Some(Order::Quadratic), _) => mesh.to_quadratic().map_err(refused)?,
            (Some(Order::Linear), Order::Quadratic) => {
                return Err(PyValueError::new_err("order=\"P1\": the tetrahedra have ten nodes, expected \"P2\""));
            }
            _ => mesh,
        };
        let Properties { material, mass, mass_model, .. } = properties;
        let description =
            SoftBodyDescription { mass: mass_model, ..SoftBodyDescription::new(String::new(), mesh, material) };
        let mut inner = Inner::new(description).map_err(refused)?;
        if let Some(mass) = mass {
            inner = inner.with_total_mass(mass);
        }
        Ok(Self { inner })
    }
}

/// Keyword arguments of all constructors.
#[derive(Default)]
struct Properties {
    order: Option<Order>,
    material: Material,
    mass: Option<f64>,
    mass_model: MassModel,
}

impl Properties {
    fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut read = Self::default();
        let mut has_density = false;
        for (name, value) in given.into_iter().flatten() {
            let name = name.extract::<String>()?;
            let text =
                || value.extract::<String>().map_err(|_| PyTypeError::new_err(format!("{name}: expected a str")));
            let number = || check_scalar(&name, &value);
            match name.as_str() {
                "order" if value.is_none() => {}
                "order" => read.order = Some(word("order", &text()?, &ORDERS)?),
                "material" => read.material.model = word("material", &text()?, &MaterialModel::NAMED)?,
                "mass_matrix" => read.mass_model = word("mass_matrix", &text()?, &MASSES)?,
                "young" => read.material.young = number()?,
                "poisson" => read.material.poisson = number()?,
                "density" => (read.material.density, has_density) = (number()?, true),
                "damping" => read.material.damping_stiffness = number()?,
                "mass_damping" => read.material.damping_mass = number()?,
                "mass" if value.is_none() => {}
                "mass" => read.mass = Some(positive("mass", number()?)?),
                _ => {
                    let hint = suggest::did_you_mean(&name, PROPERTIES);
                    let hint = hint.unwrap_or_else(|| format!("expected one of {}", PROPERTIES.join(", ")));
                    return Err(PyTypeError::new_err(support::legible(&format!(
                        "unexpected keyword argument {name:?}; {hint}"
                    ))));
                }
            }
        }
        if has_density && read.mass.is_some() {
            return Err(PyValueError::new_err("mass and density are both given: expected one of them"));
        }
        Ok(read)
    }
}

/// The mesh of arrays.
fn mesh_of(vertices: &Bound<'_, PyAny>, tetrahedra: &Bound<'_, PyAny>) -> PyResult<VolumeMesh> {
    let (rows, numbers) = any_rows("vertices", vertices, 3)?;
    let integers = tetrahedra.py().import("numpy")?.call_method1("asarray", (tetrahedra,))?;
    let shape: Vec<usize> = integers.getattr("shape")?.extract()?;
    let kind: String = integers.getattr("dtype")?.getattr("kind")?.extract()?;
    let (&[_, width @ (4 | 10)], "i" | "u") = (&shape[..], kind.as_str()) else {
        let found = format!("shape {} of {}", crate::arguments::tuple(&shape), integers.getattr("dtype")?);
        let expected = "expected integers of shape (m, 4), or (m, 10) with the nodes on the edges";
        return Err(PyValueError::new_err(format!("tetrahedra has {found}: {expected}")));
    };
    let integers = integers.call_method1("astype", ("int64",))?;
    let integers: PyReadonlyArray2<'_, i64> = integers.extract()?;
    let mut elements = Vec::with_capacity(shape[0] * width);
    for ((element, _), &node) in integers.as_array().indexed_iter() {
        let index = u32::try_from(node).ok().filter(|&index| (index as usize) < rows);
        elements.push(index.ok_or_else(|| {
            let message = format!("element {element} has node {node}: expected indices below {rows}, that of vertices");
            PyValueError::new_err(format!("tetrahedra: {message}"))
        })?);
    }
    let nodes = numbers.chunks_exact(3).map(|x| Vec3::new(x[0], x[1], x[2])).collect();
    Ok(VolumeMesh { nodes, nodes_per_element: width, elements })
}

/// How many cells in each of `N` directions: one number for all, or one for each.
fn cells<const N: usize>(value: &Bound<'_, PyAny>) -> PyResult<[usize; N]> {
    let wrong = || {
        let expected = format!(
            "expected a whole number above 0{}",
            if N > 1 { format!(", or {N} of them") } else { String::new() }
        );
        PyValueError::new_err(format!("cells is {value}: {expected}"))
    };
    // As many as are wanted are taken: an array may be longer than memory.
    let list: [i64; N] = match value.extract::<i64>() {
        Ok(n) => [n; N],
        Err(_) => value.extract().map_err(|_| wrong())?,
    };
    if list.iter().any(|&n| n < 0) {
        return Err(wrong());
    }
    Ok(list.map(|n| n as usize))
}

fn generated(mesh: Result<TetMesh, deformable::Error>) -> PyResult<TetMesh> {
    mesh.map_err(|error| PyValueError::new_err(error.to_string()))
}

#[stubdoc::documented]
#[pymethods]
impl SoftBody {
    #[new]
    #[pyo3(signature = (vertices, tetrahedra, **properties))]
    fn new(
        vertices: &Bound<'_, PyAny>,
        tetrahedra: &Bound<'_, PyAny>,
        properties: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let VolumeMesh { nodes, nodes_per_element, elements } = mesh_of(vertices, tetrahedra)?;
        let order = if nodes_per_element == 10 { Order::Quadratic } else { Order::Linear };
        Self::of(generated(TetMesh::new(order, nodes, elements))?, properties)
    }

    /// A box.
    #[staticmethod]
    #[pyo3(name = "box", signature = (size, cells, **properties))]
    fn cuboid(
        size: &Bound<'_, PyAny>,
        cells: &Bound<'_, PyAny>,
        properties: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let size = array("size", size, &[3])?;
        let mesh = TetMesh::cuboid(Vec3::new(size[0], size[1], size[2]), self::cells(cells)?);
        Self::of(generated(mesh)?, properties)
    }

    /// A cylinder along z.
    #[staticmethod]
    #[pyo3(signature = (radius, length, cells, **properties))]
    fn cylinder(
        radius: &Bound<'_, PyAny>,
        length: &Bound<'_, PyAny>,
        cells: &Bound<'_, PyAny>,
        properties: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (radius, length) = (check_scalar("radius", radius)?, check_scalar("length", length)?);
        Self::of(generated(TetMesh::cylinder(radius, length, self::cells(cells)?))?, properties)
    }

    /// A ball.
    #[staticmethod]
    #[pyo3(signature = (radius, cells, **properties))]
    fn ball(
        radius: &Bound<'_, PyAny>,
        cells: &Bound<'_, PyAny>,
        properties: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let [cells] = self::cells(cells)?;
        Self::of(generated(TetMesh::ball(check_scalar("radius", radius)?, cells))?, properties)
    }

    /// Tetrahedra of a file.
    #[staticmethod]
    #[pyo3(signature = (path, *, scale=1.0, **properties))]
    fn from_file(path: PathBuf, scale: f64, properties: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let scale = positive("scale", scale)?;
        let mut mesh = volume::read(&path).map_err(|error| PyValueError::new_err(error.to_string()))?;
        mesh.nodes.iter_mut().for_each(|x| *x = *x * scale);
        let mesh = mesh.into_mesh();
        let refused = |error: deformable::Error| PyValueError::new_err(format!("{}: {error}", path.display()));
        Self::of(mesh.map_err(refused)?, properties)
    }

    /// The inside of a closed surface, by a package that makes tetrahedra.
    #[staticmethod]
    #[pyo3(signature = (vertices, faces, *, edge=None, **properties))]
    fn from_surface(
        vertices: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        edge: Option<&Bound<'_, PyAny>>,
        properties: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = vertices.py();
        let filled = py.import("sapwood.builder._tetrahedra")?.getattr("fill")?.call1((vertices, faces, edge))?;
        let mesh = mesh_of(&filled.get_item(0)?, &filled.get_item(1)?)?;
        Self::of(generated(mesh.into_mesh())?, properties)
    }

    /// Positions of the nodes.
    #[getter]
    fn vertices(&self, py: Python<'_>) -> PyResult<Py<PyArray2<f64>>> {
        table(py, self.inner.rest_positions().collect(), 3)
    }

    /// The nodes of the tetrahedra.
    #[getter]
    fn tetrahedra(&self, py: Python<'_>) -> PyResult<Py<PyArray2<u32>>> {
        let mesh = &self.inner.mesh;
        table(py, mesh.elements().to_vec(), mesh.order().nodes_per_element())
    }

    /// Triangles of the surface.
    #[getter]
    fn triangles(&self, py: Python<'_>) -> PyResult<Py<PyArray2<u32>>> {
        table(py, self.inner.surface().triangles.as_flattened().to_vec(), 3)
    }

    /// P1 or P2.
    #[getter]
    fn order(&self) -> &'static str {
        name_of(&ORDERS, self.inner.mesh.order())
    }

    /// The law of its material.
    #[getter]
    fn material(&self) -> &'static str {
        name_of(&MaterialModel::NAMED, self.inner.material.model)
    }

    #[getter]
    fn young(&self) -> f64 {
        self.inner.material.young
    }

    #[getter]
    fn poisson(&self) -> f64 {
        self.inner.material.poisson
    }

    #[getter]
    fn density(&self) -> f64 {
        self.inner.material.density
    }

    #[getter]
    fn mass(&self) -> f64 {
        self.inner.total_mass()
    }

    #[getter]
    fn volume(&self) -> f64 {
        self.inner.total_mass() / self.inner.material.density
    }

    #[getter]
    fn damping(&self) -> f64 {
        self.inner.material.damping_stiffness
    }

    #[getter]
    fn mass_damping(&self) -> f64 {
        self.inner.material.damping_mass
    }

    fn __repr__(&self) -> String {
        let (nodes, elements) = (self.inner.node_count(), self.inner.mesh.element_count());
        format!("<sapwood.SoftBody: {nodes} nodes, {elements} {} tetrahedra, {:.4} kg>", self.order(), self.mass())
    }
}

fn name_of<T: PartialEq + Copy>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}
