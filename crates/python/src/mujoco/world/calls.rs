//! What a step calls: functions of MuJoCo, callbacks of programs.

use pyo3::prelude::*;

use super::Running;
use crate::mujoco::native::{Failure, Native, Pair, Part};

impl<'py> Running<'_, 'py> {
    pub(super) fn call(&self, function: &Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        function.bind(self.py()).call1(self.pair)
    }

    pub(super) fn call_all(&self, functions: &[Py<PyAny>]) -> PyResult<()> {
        functions.iter().try_for_each(|function| self.call(function).map(drop))
    }

    /// The library, while it calls nothing of a program.
    fn native(&self) -> Option<&Native> {
        self.world.native.as_ref().filter(|native| native.is_alone())
    }

    /// Calls functions of MuJoCo: by `native` with the interpreter's lock released, else by the binding.
    pub(super) fn call_part(&self, part: Part) -> PyResult<()> {
        let (calls, addresses) = (&self.world.calls, self.world.addresses);
        if let Some(native) = self.native() {
            let outcome = self.py().detach(|| native.call(part, addresses));
            return outcome.map_err(|Failure(text)| fatal_error(self.py(), text));
        }
        match part {
            Part::Stages => self.call_all(&calls.stages),
            Part::Rows => self.call(&calls.make_rows).map(drop),
            Part::Sensors => calls.sensors.iter().try_for_each(|sensors| self.call(sensors).map(drop)),
        }
    }

    /// The program's `mjcb_control`.
    pub(super) fn control(&self) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.world.native {
            Some(native) if !native.is_controlled() => Ok(None),
            _ => self.callback(&self.world.calls.get_control),
        }
    }

    /// The program's `mjcb_passive`.
    pub(super) fn passive(&self) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.native().is_some() { Ok(None) } else { self.callback(&self.world.calls.get_passive) }
    }

    fn callback(&self, get: &Py<PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let callback = get.bind(self.py()).call0()?;
        Ok((!callback.is_none()).then_some(callback))
    }

    pub(super) fn call_control(&self) -> PyResult<()> {
        let Some(control) = self.control()? else { return Ok(()) };
        if control.hasattr("argtypes")? {
            // One of C, by ctypes.
            let Pair(m, d) = self.world.addresses;
            control.call1((m, d))?;
        } else {
            control.call1(self.pair)?;
        }
        Ok(())
    }
}

/// `mujoco.FatalError`, as MuJoCo's own functions raise it, or what a program's handler of warnings has raised.
fn fatal_error(py: Python<'_>, text: String) -> PyErr {
    if let Some(error) = PyErr::take(py) {
        return error;
    }
    let made = py.import("mujoco").and_then(|mujoco| mujoco.getattr("FatalError")?.call1((text,)));
    made.map_or_else(|error| error, PyErr::from_value)
}
