//! What a step calls: functions of MuJoCo, callbacks of programs.

use pyo3::prelude::*;

use super::Running;
use crate::mujoco::native::{Failure, Native, Pair, Part};

impl Running<'_> {
    pub(super) fn call(&self, function: &Py<PyAny>) -> PyResult<()> {
        let (m, d) = self.pair;
        Python::attach(|py| function.bind(py).call1((m, d)).map(drop))
    }

    pub(super) fn call_all(&self, functions: &[Py<PyAny>]) -> PyResult<()> {
        functions.iter().try_for_each(|function| self.call(function))
    }

    /// The library, while it calls nothing of a program.
    pub(super) fn native(&self) -> Option<&Native> {
        self.world.native.as_ref().filter(|native| native.is_alone())
    }

    /// Calls functions of MuJoCo, where nothing of a program is called by `native`, else by the binding.
    pub(super) fn call_part(&self, part: Part) -> PyResult<()> {
        let (calls, addresses) = (&self.world.calls, self.world.addresses);
        if let Some(native) = self.native() {
            let outcome = native.call(part, addresses);
            return outcome.map_err(|Failure(text)| Python::attach(|py| fatal_error(py, text)));
        }
        match part {
            Part::Kinematics => self.call(&calls.kinematics),
            Part::Bodies => self.call_all(&calls.bodies),
            Part::Stages => self.call_all(&calls.stages),
            Part::Actuation => self.call(&calls.actuate),
            Part::Rows => self.call(&calls.make_rows),
            Part::Sensors => calls.sensors.iter().try_for_each(|sensors| self.call(sensors)),
            // Python has no name for it: MuJoCo goes on with all that is awake.
            Part::Sleep => Ok(()),
        }
    }

    /// The program's `mjcb_control`.
    pub(super) fn control(&self) -> PyResult<Option<Py<PyAny>>> {
        match &self.world.native {
            Some(native) if !native.is_controlled() => Ok(None),
            _ => callback(&self.world.calls.get_control),
        }
    }

    /// The program's `mjcb_passive`.
    pub(super) fn passive(&self) -> PyResult<Option<Py<PyAny>>> {
        if self.native().is_some() { Ok(None) } else { callback(&self.world.calls.get_passive) }
    }

    pub(super) fn call_control(&self) -> PyResult<()> {
        let Some(control) = self.control()? else { return Ok(()) };
        if Python::attach(|py| control.bind(py).hasattr("argtypes"))? {
            // One of C, by ctypes.
            let Pair(m, d) = self.world.addresses;
            return Python::attach(|py| control.bind(py).call1((m, d)).map(drop));
        }
        self.call(&control)
    }
}

fn callback(get: &Py<PyAny>) -> PyResult<Option<Py<PyAny>>> {
    Python::attach(|py| {
        let callback = get.bind(py).call0()?;
        Ok((!callback.is_none()).then(|| callback.unbind()))
    })
}

/// `mujoco.FatalError`, as MuJoCo's own functions raise it, or what a program's handler of warnings has raised.
fn fatal_error(py: Python<'_>, text: String) -> PyErr {
    if let Some(error) = PyErr::take(py) {
        return error;
    }
    let made = py.import("mujoco").and_then(|mujoco| mujoco.getattr("FatalError")?.call1((text,)));
    made.map_or_else(|error| error, PyErr::from_value)
}
