//! Numbers that lie in memory of MuJoCo.
//!
//! An `MjModel` and an `MjData` never move their arrays. Their addresses are kept without what owns them, which is alive while one of its
//! steps runs: the step has it as an argument.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An array.
pub struct Numbers<T> {
    at: *mut T,
    len: usize,
}

// SAFETY: an address alone; that no two threads use an `MjData` at once is for programs to see to, as with MuJoCo.
unsafe impl<T> Send for Numbers<T> {}
unsafe impl<T> Sync for Numbers<T> {}

impl<T: Element> Numbers<T> {
    /// The array that an attribute of an `MjModel` or an `MjData` shows.
    pub fn of(owner: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let array = owner.getattr(name)?;
        let array = array.cast::<PyArrayDyn<T>>().map_err(|_| {
            PyTypeError::new_err(format!(
                "{name}: the numbers of this build of MuJoCo have another type: expected that of its wheel"
            ))
        })?;
        if !array.is_c_contiguous() {
            return Err(PyValueError::new_err(format!("{name}: expected an array without gaps")));
        }
        Ok(Self { at: array.data(), len: array.len() })
    }
}

impl Numbers<bool> {
    /// The same as bytes: a program may have written others than 0 and 1.
    pub fn bytes(self) -> Numbers<u8> {
        Numbers { at: self.at.cast(), len: self.len }
    }
}

impl<T: Copy> Numbers<T> {
    /// The numbers.
    ///
    /// # Safety
    /// What owns them is alive, and nothing else writes into them meanwhile.
    pub unsafe fn get(&self) -> &[T] {
        // SAFETY: as the caller says; an array without entries may have no address.
        if self.len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.at, self.len) } }
    }

    /// The same to write into.
    ///
    /// # Safety
    /// As of [`get`](Self::get), and nothing else looks at them meanwhile.
    #[expect(clippy::mut_from_ref, reason = "the memory is MuJoCo's")]
    pub unsafe fn get_mut(&self) -> &mut [T] {
        // SAFETY: as the caller says.
        if self.len == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(self.at, self.len) } }
    }
}

/// One number of a structure.
pub struct Field<T>(*mut T);

// SAFETY: as of `Numbers`.
unsafe impl<T> Send for Field<T> {}
unsafe impl<T> Sync for Field<T> {}

impl<T: Copy> Field<T> {
    /// The field at the address that a dictionary gives for its name.
    pub fn of(fields: &Bound<'_, PyDict>, name: &str) -> PyResult<Self> {
        let at =
            fields.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("{name}: expected its address")))?;
        Ok(Self(at.extract::<usize>()? as *mut T))
    }

    /// # Safety
    /// As of [`Numbers::get`].
    pub unsafe fn get(&self) -> T {
        // SAFETY: as the caller says.
        unsafe { self.0.read() }
    }

    /// # Safety
    /// As of [`Numbers::get_mut`].
    pub unsafe fn set(&self, value: T) {
        // SAFETY: as the caller says.
        unsafe { self.0.write(value) }
    }
}

impl<T> Field<*mut T> {
    /// What a field points to.
    ///
    /// # Safety
    /// There is as much; as of [`Numbers::get_mut`].
    pub unsafe fn pointed<'a>(&self, len: usize) -> &'a mut [T] {
        // SAFETY: as the caller says.
        let at = unsafe { self.get() };
        if at.is_null() { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(at, len) } }
    }
}

/// Numbers of an `MjModel`, and a copy of them.
#[pyclass(module = "sapwood._sapwood", name = "_MujocoNumbers")]
#[derive(Default)]
pub struct MujocoNumbers {
    spans: Vec<Numbers<u8>>,
    /// One span after the other: a step reads it from end to end, mostly from outside the caches.
    copy: Vec<u8>,
    /// How often they were kept.
    #[pyo3(get)]
    version: usize,
}

#[pymethods]
impl MujocoNumbers {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Keeps what lies in these spans of memory now: addresses and bytes.
    fn keep(&mut self, spans: Vec<(usize, usize)>) {
        self.spans = spans.into_iter().map(|(at, len)| Numbers { at: at as *mut u8, len }).collect();
        self.copy.clear();
        for span in &self.spans {
            // SAFETY: Python calls this with the model at hand.
            self.copy.extend_from_slice(unsafe { span.get() });
        }
        self.version += 1;
    }

    pub fn differ(&self) -> bool {
        let mut rest = &self.copy[..];
        self.spans.iter().any(|span| {
            let (before, others) = rest.split_at(span.len);
            rest = others;
            // SAFETY: as of `keep`.
            unsafe { span.get() != before }
        })
    }
}

impl MujocoNumbers {
    /// Whether they are those that were kept when this was the version.
    pub fn are_of(&self, version: usize) -> bool {
        self.version == version && !self.differ()
    }
}
