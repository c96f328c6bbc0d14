//! The compiled half of the Python package `sapwood`: the module `sapwood._sapwood`.
//!
//! It converts and checks: arguments into slices (`arguments`), errors into exceptions (`errors`), results into
//! numpy arrays and named tuples (`results`). The mathematics is in the crates below. What it exports is typed in
//! `python/sapwood/_sapwood.pyi`, which a test compares with the module.

mod arguments;
mod attributes;
mod batch;
mod builder;
mod characters;
mod command;
mod contacts;
mod copies;
mod cpu;
mod device_batch;
mod drawing;
mod dynamics;
mod envs;
mod errors;
mod first_words;
mod follow;
mod imitation;
mod inverse_kinematics;
mod live;
mod load;
mod lock;
mod matrices;
mod model;
mod mujoco;
mod names;
mod options;
mod parameters;
mod quantities;
mod render;
mod replay;
mod resets;
mod results;
mod sap_problem;
mod sap_solve;
mod scenes;
mod sensors;
mod signals;
mod simulation;
mod soft;
mod soft_body;
mod spd;
mod tracking;
mod viewer;
mod views;
mod world_parameters;

/// Python gives objects memory that is aligned to 16 bytes: what is aligned to more, as registers of lanes are, has to be boxed.
macro_rules! assert_alignment {
    ($($class:ty),*) => {
        $(const _: () = assert!(align_of::<$class>() <= 16);)*
    };
}

assert_alignment!(
    batch::Batch,
    device_batch::DeviceBatch,
    device_batch::DeviceArray,
    builder::Assembly,
    envs::Episodes,
    imitation::ImitationEpisodes,
    model::Model,
    render::Renderer,
    replay::Replay,
    sap_problem::SapProblem,
    simulation::Simulation,
    soft::SoftBodyView,
    soft_body::SoftBody,
    spd::SpdSolver,
    tracking::Tracking
);

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// The compiled half of sapwood. Live arrays (`live`) are copied with the interpreter's lock held and nothing else, so the
/// module must not be declared safe without the lock, which is the default.
#[pymodule(gil_used = true)]
fn _sapwood(module: &Bound<'_, PyModule>) -> PyResult<()> {
    cpu::check()?;
    // Numpy's functions are looked up now: where Ctrl-C comes meanwhile later, the call that makes the first array would panic.
    module.py().import("numpy")?;
    PyArray1::<f64>::zeros(module.py(), 1, false).readonly();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CHARACTERS", characters::names(module.py())?)?;
    module.add("SCENES", scenes::forms(module.py())?)?;
    module.add_class::<model::Model>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<device_batch::DeviceBatch>()?;
    module.add_class::<device_batch::DeviceArray>()?;
    module.add_class::<views::BodyView>()?;
    module.add_class::<views::JointView>()?;
    module.add_class::<views::GeomView>()?;
    module.add_class::<views::SiteView>()?;
    module.add_class::<views::ActuatorView>()?;
    module.add_class::<views::TendonView>()?;
    module.add_class::<views::SensorView>()?;
    module.add_class::<views::EqualityView>()?;
    module.add_class::<views::Views>()?;
    module.add_class::<soft::SoftBodyView>()?;
    module.add_class::<soft_body::SoftBody>()?;
    module.add_class::<replay::Replay>()?;
    module.add_class::<render::Renderer>()?;
    module.add_class::<envs::Episodes>()?;
    module.add_class::<imitation::ImitationEpisodes>()?;
    module.add_class::<builder::Assembly>()?;
    module.add_class::<tracking::Tracking>()?;
    module.add_class::<mujoco::MujocoNumbers>()?;
    module.add_class::<mujoco::MujocoWorld>()?;
    module.add_class::<mujoco::MujocoWorlds>()?;
    // Their names are those of the modules that they are meant for.
    module.add("SapProblem", module.py().get_type::<sap_problem::SapProblem>())?;
    module.add("SpdSolver", module.py().get_type::<spd::SpdSolver>())?;
    module.add_function(wrap_pyfunction!(load::load, module)?)?;
    module.add_function(wrap_pyfunction!(inverse_kinematics::inverse_kinematics, module)?)?;
    module.add_function(wrap_pyfunction!(characters::character, module)?)?;
    module.add_function(wrap_pyfunction!(characters::character_mjcf, module)?)?;
    module.add_function(wrap_pyfunction!(scenes::scene, module)?)?;
    module.add_function(wrap_pyfunction!(scenes::scene_mjcf, module)?)?;
    module.add_function(wrap_pyfunction!(command::_command, module)?)?;
    module.add_function(wrap_pyfunction!(mujoco::_load_mujoco, module)?)?;
    module.add_function(wrap_pyfunction!(viewer::_scene_json, module)?)?;
    module.add_function(wrap_pyfunction!(sap_solve::sap_solve, module)?)?;
    module.add_function(wrap_pyfunction!(spd::spd_solve, module)?)?;
    module.add_function(wrap_pyfunction!(tracking::track, module)?)
}
