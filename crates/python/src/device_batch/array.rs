//! `sapwood.DeviceArray`: an array of a batch on a GPU, for NumPy, PyTorch, JAX and CuPy.

use std::ffi::{c_int, c_void};

use gpu::{Array, GpuBatch, Place, View};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::DeviceBatch;
use crate::errors::gpu_error;

/// An array of a batch on a GPU.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct DeviceArray {
    pub(super) batch: Py<DeviceBatch>,
    pub(super) array: Array,
    pub(super) view: View,
}

#[stubdoc::documented]
#[pymethods]
impl DeviceArray {
    /// Its shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.view.shape)
    }

    /// The type of its numbers.
    #[getter]
    fn dtype(&self) -> &'static str {
        match (self.view.is_whole, self.view.bytes) {
            (true, _) => "int32",
            (_, 4) => "float32",
            _ => "float64",
        }
    }

    fn __len__(&self) -> usize {
        self.view.shape[0]
    }

    /// A view or a copy has entries; this names both.
    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = index;
        Err(PyTypeError::new_err(
            "an array of a batch on a GPU has no entries by itself: torch.from_dlpack(array) or jax.dlpack.from_dlpack(array) is a view, array.numpy() a copy",
        ))
    }

    fn __setitem__(&self, index: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = value;
        self.__getitem__(index)
    }

    /// A copy on the host.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batch = self.batch.get();
        let mut guard = batch.lock()?;
        let batch: &mut GpuBatch = &mut guard;
        let values = py.detach(|| batch.read(self.array)).map_err(|error| gpu_error(&error))?;
        let array = PyArray1::from_vec(py, values).reshape(self.view.shape.clone())?;
        let keywords = PyDict::new(py);
        keywords.set_item("copy", false)?;
        array.call_method("astype", (self.dtype(),), Some(&keywords))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err("an array on a GPU cannot be seen by numpy without a copy"));
        }
        let array = self.numpy(py)?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// The array by the protocol of numba and CuPy.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if !matches!(self.batch.get().place, Place::Cuda(_)) {
            return Err(pyo3::exceptions::PyAttributeError::new_err("the array is not on a GPU"));
        }
        let interface = PyDict::new(py);
        interface.set_item("shape", self.shape(py)?)?;
        interface.set_item("typestr", format!("<{}{}", if self.view.is_whole { 'i' } else { 'f' }, self.view.bytes))?;
        interface.set_item("data", (self.view.address, false))?;
        interface.set_item("strides", py.None())?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        match self.batch.get().place {
            Place::Cuda(number) => (2, number as i32),
            Place::Host(_) => (1, 0),
        }
    }

    /// The array as a DLPack capsule: no copy.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Steps run on the stream that the user gives: order is theirs.
        let _ = (stream, max_version);
        let own = slf.get();
        if dl_device.is_some_and(|device| device != own.__dlpack_device__()) || copy == Some(true) {
            return Err(PyBufferError::new_err("the array is neither copied nor moved to another device"));
        }
        let tensor = Box::new(Managed {
            tensor: DlTensor {
                data: own.view.address as *mut c_void,
                device: own.__dlpack_device__(),
                ndim: own.view.shape.len() as c_int,
                code: if own.view.is_whole { 0 } else { 2 },
                bits: 8 * own.view.bytes as u8,
                lanes: 1,
                shape: std::ptr::null_mut(),
                strides: std::ptr::null_mut(),
                byte_offset: 0,
            },
            context: std::ptr::null_mut(),
            deleter: release,
            shape: own.view.shape.iter().map(|n| *n as i64).collect(),
            _owner: slf.clone().unbind(),
        });
        let tensor = Box::into_raw(tensor);
        // SAFETY: the tensor was just made; its shape lives as long as it does. The capsule frees it if nobody takes it.
        unsafe {
            (*tensor).tensor.shape = (*tensor).shape.as_mut_ptr();
            let capsule = ffi::PyCapsule_New(tensor.cast(), c"dltensor".as_ptr(), Some(drop_capsule));
            Bound::from_owned_ptr_or_err(slf.py(), capsule)
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<sapwood.DeviceArray of shape {:?} and type {} on {}>",
            self.view.shape,
            self.dtype(),
            self.batch.get().device()
        )
    }
}

/// `DLTensor` of dlpack.h.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: (i32, i32),
    ndim: c_int,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor` of dlpack.h, with what it keeps alive behind it.
#[repr(C)]
struct Managed {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: unsafe extern "C" fn(*mut Managed),
    shape: Vec<i64>,
    _owner: Py<DeviceArray>,
}

unsafe extern "C" fn release(tensor: *mut Managed) {
    // SAFETY: it was made by `Box::into_raw`, and its owner frees it once.
    drop(unsafe { Box::from_raw(tensor) });
}

unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that was taken has another name, and its tensor another owner.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, c"dltensor".as_ptr()) == 1 {
            release(ffi::PyCapsule_GetPointer(capsule, c"dltensor".as_ptr()).cast());
        }
    }
}
