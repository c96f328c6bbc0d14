//! `sapwood.load`.

use std::path::{Path, PathBuf};

use formats::{Actuators, Assets, LoadOptions};
use models::{characters, scenes};
use multibody::JointKind;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use support::suggest;

use crate::arguments::{elements, word};
use crate::errors::{missing_model, model_error, warn};
use crate::first_words::no_arguments;
use crate::model::Model;
use crate::signals::in_background;

/// Load a model from an MJCF, URDF or SDFormat file, or from its XML text.
#[stubdoc::documented]
#[pyfunction]
#[pyo3(
    signature = (source, *, ground=None, package_path=None, floating_base=false, actuators=None, xacro=None, assets=None,
        strict=false, **others),
    text_signature = "(source, *, ground=None, package_path=None, floating_base=False, actuators=None, xacro=None, \
                      assets=None, strict=False)"
)]
pub fn load(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    ground: Option<&Bound<'_, PyAny>>,
    package_path: Option<&Bound<'_, PyAny>>,
    floating_base: bool,
    actuators: Option<&str>,
    xacro: Option<&Bound<'_, PyAny>>,
    assets: Option<&Bound<'_, PyAny>>,
    strict: bool,
    others: Option<&Bound<'_, PyDict>>,
) -> PyResult<Model> {
    let known = ["ground", "package_path", "floating_base", "actuators", "xacro", "assets", "strict"];
    no_arguments("load", others, &known)?;
    let kinds = [("motor", Actuators::Motors), ("position", Actuators::PositionServos)];
    let options = LoadOptions {
        package_path: package_path.map_or(Ok(Vec::new()), folders)?,
        floating_base,
        actuators: actuators.map_or(Ok(Actuators::None), |kind| word("actuators", kind, &kinds))?,
        is_strict: strict,
    };
    let ground = ground.map_or(Ok(None), height)?;
    let text =
        source.extract::<String>().ok().filter(|s| s.trim_start_matches('\u{feff}').trim_start().starts_with('<'));
    let path = match text {
        Some(_) => PathBuf::new(),
        None => source.extract().map_err(|_| wrong_source(source))?,
    };
    if text.is_none() && path.as_os_str().is_empty() {
        return Err(PyValueError::new_err("source is empty: expected a path, or XML text"));
    }
    let is_xacro = text.is_none() && path.extension().is_some_and(|extension| extension == "xacro") && path.exists();
    if xacro.is_some() && !is_xacro {
        return Err(PyValueError::new_err("xacro: expected None but with a file whose name ends with .xacro"));
    }
    let assets = assets.map(contents).transpose()?;
    if assets.is_some() && text.is_none() {
        return Err(PyValueError::new_err("assets: expected None with a path, whose files are beside it"));
    }
    let expanded = is_xacro.then(|| expand(py, &path, xacro, &options)).transpose()?;
    let named = built_in(&path).or_else(|| made_otherwise(&path));
    let is_missing = text.is_none() && !path.exists();
    let loaded = in_background(py, move || match (text, assets, expanded) {
        (Some(text), Some(assets), _) => formats::load_with_assets(&text, assets, &options),
        (Some(text), None, _) => formats::load_str(&text, None, &options),
        (None, _, Some(urdf)) => formats::load_str(&urdf, path.parent(), &options),
        (None, _, None) => formats::load(&path, &options),
    })?;
    let mut loaded = loaded.map_err(|error| {
        let error = error.with_hint(named.as_deref());
        if is_missing { missing_model(py, &error) } else { model_error(py, &error) }
    })?;
    if let Some(height) = ground {
        formats::add_ground(&mut loaded, height);
    }
    if floating_base && !loaded.model.joints.iter().any(|joint| joint.kind == JointKind::Free) {
        let builder = "sapwood.ModelBuilder.from_model(model) with body(name).add_joint(\"root\", \"free\")";
        warn(
            py,
            &format!("floating_base=True frees the root of a URDF file alone: here a <freejoint/> does, or {builder}"),
        )?;
    }
    Ok(Model::new(loaded))
}

/// The URDF text of a xacro file.
fn expand(
    py: Python<'_>,
    path: &Path,
    arguments: Option<&Bound<'_, PyAny>>,
    options: &LoadOptions,
) -> PyResult<String> {
    let arguments = arguments.cloned().unwrap_or_else(|| PyDict::new(py).into_any());
    let module = py.import("sapwood._xacro")?;
    module.call_method1("expand", (path, arguments, &options.package_path))?.extract()
}

/// For a file that is not there: how to load the character or the scene of that name. The command takes these as models, with an @.
fn built_in(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|_| !path.exists())?;
    let name = text.strip_prefix('@').unwrap_or(text);
    let call = |module: &str, name: &str| format!("sapwood.load(sapwood.{module}.mjcf({name:?}))");
    if name.parse::<characters::Character>().is_ok() {
        return suggest::question([call("characters", name)]);
    }
    if name.parse::<scenes::Scene>().is_ok() {
        return suggest::question([call("scenes", name)]);
    }
    if name == text {
        return None;
    }
    let characters = characters::similar(name).into_iter().map(|name| call("characters", name));
    suggest::question(characters.chain(scenes::similar(name).iter().map(|name| call("scenes", name))).take(3))
}

/// The height of a ground, if there is to be one.
fn height(value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    if let Ok(is_wanted) = value.extract::<bool>() {
        return Ok(is_wanted.then_some(0.0));
    }
    let height: f64 = value.extract().map_err(|_| wrong_type("ground", value, "None, True or a height"))?;
    if height.is_finite() {
        return Ok(Some(height));
    }
    Err(PyValueError::new_err(format!("ground is {height}: expected a finite height")))
}

/// A model from MJCF text that refers to no files.
pub fn load_text(py: Python<'_>, text: &str) -> PyResult<Model> {
    let text = text.to_owned();
    let loaded = in_background(py, move || formats::load_str(&text, None, &LoadOptions::default()))?;
    loaded.map(Model::new).map_err(|error| model_error(py, &error))
}

/// Files by name: bytes, or text.
pub fn contents(value: &Bound<'_, PyAny>) -> PyResult<Assets> {
    let wrong = || wrong_type("assets", value, "a mapping from names of files to bytes or text");
    let mut assets = Assets::new();
    for item in value.call_method0("items").map_err(|_| wrong())?.try_iter()? {
        let (name, content): (String, Bound<'_, PyAny>) = item?.extract().map_err(|_| wrong())?;
        let bytes = content.extract::<String>().map(String::into_bytes);
        let bytes = bytes.or_else(|_| content.extract::<PyBackedBytes>().map(|bytes| bytes.to_vec()));
        assets.insert(name, bytes.map_err(|_| wrong())?);
    }
    Ok(assets)
}

/// One folder or a sequence of them.
fn folders(value: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    match value.extract::<PathBuf>() {
        Ok(folder) => Ok(vec![folder]),
        Err(_) => elements(value, 10_000, |folder| folder.extract::<PathBuf>())
            .map_err(|_| wrong_type("package_path", value, "a path or a list of paths")),
    }
}

/// What a file is for that has no model.
fn made_otherwise(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_lowercase();
    let words = match extension.as_str() {
        "stl" | "obj" | "dae" | "msh" | "ply" => {
            "this is a mesh: body.add_mesh(file) of a ModelBuilder makes a geom of it"
        }
        "mjb" => "this is a compiled model of MuJoCo: sapwood.Model.from_mujoco(mj_model)",
        _ => return None,
    };
    path.exists().then(|| words.into())
}

fn wrong_source(source: &Bound<'_, PyAny>) -> PyErr {
    let expected = match source.get_type().name().map(|name| name.to_string()) {
        Ok(name) if name == "bytes" => "a path, or XML text: source.decode()",
        Ok(name) if name == "MjModel" => "a path, or XML text: sapwood.Model.from_mujoco takes a model of MuJoCo",
        Ok(name) if name == "MjSpec" => "a path, or XML text: spec.to_xml()",
        _ => "a path, or XML text",
    };
    wrong_type("source", source, expected)
}

fn wrong_type(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{name} is of type {found}: expected {expected}"))
}
