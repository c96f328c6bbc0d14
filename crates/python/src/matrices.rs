//! Matrices as Python has them: arrays, sparse matrices of scipy or alike, blocks on a diagonal.

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods, get_array_module};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyList, PyTuple};
use sap::SparseMatrix;

use crate::arguments::{numbers, wrong_shape};
use crate::errors::solver_error;

/// A matrix with so many columns, of as many rows as it has; one dimension is one row.
pub fn matrix(name: &'static str, value: &Bound<'_, PyAny>, columns: usize) -> PyResult<SparseMatrix> {
    if let Some(sparse) = sparse(name, value, columns)? {
        return Ok(sparse);
    }
    let array = numbers(name, value)?;
    let rows = match *array.shape() {
        [m] if m == columns => 1,
        [n, m] if m == columns => n,
        _ => return Err(wrong_shape(name, array.shape(), &format!("(any, {columns})"))),
    };
    let matrix = SparseMatrix::from_dense(name, rows, columns, &array.to_vec()?);
    matrix.map_err(|error| solver_error(value.py(), &error))
}

/// A matrix with three rows for each constraint, and how many these are.
pub fn triples(name: &'static str, value: &Bound<'_, PyAny>, columns: usize) -> PyResult<(usize, SparseMatrix)> {
    let matrix = matrix(name, value, columns)?;
    if matrix.rows().is_multiple_of(3) {
        return Ok((matrix.rows() / 3, matrix));
    }
    Err(wrong_shape(name, &[matrix.rows(), columns], &format!("(3 n, {columns}), rows t1, t2, n")))
}

/// A square matrix of this size: as an array, sparse, or as its blocks on the diagonal, equal ones in three dimensions, or any in a
/// sequence.
pub fn square(name: &'static str, value: &Bound<'_, PyAny>, size: usize) -> PyResult<SparseMatrix> {
    let matrix = match blocks(name, value)? {
        Some(blocks) => block_diagonal(name, &blocks).map_err(|error| solver_error(value.py(), &error))?,
        None => matrix(name, value, size)?,
    };
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if (rows, columns) == (size, size) && (size > 1 || rows > 0 || size == 0) {
        return Ok(matrix);
    }
    Err(wrong_shape(name, &[rows, columns], &format!("({size}, {size}), as v_star has {size} entries")))
}

/// Rows of what has `tocsr`, as sparse matrices do.
fn sparse(name: &'static str, value: &Bound<'_, PyAny>, columns: usize) -> PyResult<Option<SparseMatrix>> {
    if value.cast::<PyArrayDyn<f64>>().is_ok() || !value.hasattr("tocsr")? {
        return Ok(None);
    }
    let py = value.py();
    let csr = value.call_method0("tocsr")?;
    let shape: Vec<usize> = csr.getattr("shape")?.extract()?;
    match *shape {
        [_, found] if found == columns => {}
        _ => return Err(wrong_shape(name, &shape, &format!("(any, {columns})"))),
    }
    let starts: Vec<usize> = integers(&csr.getattr("indptr")?)?.extract()?;
    let indices: Vec<u32> = integers(&csr.getattr("indices")?)?.extract()?;
    let values = numbers(name, &csr.getattr("data")?)?.to_vec()?;
    if starts.len() != shape[0] + 1 {
        return Err(PyValueError::new_err(format!(
            "{name} has {} row starts for {} rows: expected one more than rows",
            starts.len(),
            shape[0]
        )));
    }
    let matrix = SparseMatrix::from_rows(name, columns, &starts, &indices, &values);
    matrix.map(Some).map_err(|error| solver_error(py, &error))
}

/// An array of whole numbers, 64 bits each.
fn integers<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let dtype = [("dtype", "int64")].into_py_dict(py)?;
    get_array_module(py)?.call_method("asarray", (value,), Some(&dtype))
}

/// The size of a block, and its entries, row-major.
type SquareBlock = (usize, Vec<f64>);

/// The square blocks of a block-diagonal matrix, row-major, if that is what came.
fn blocks(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<SquareBlock>>> {
    let block = |array: &Bound<'_, PyArrayDyn<f64>>, k: usize| match *array.shape() {
        [n, m] if n == m => Ok((n, array.to_vec()?)),
        _ => Err(wrong_shape(&format!("{name}[{k}]"), array.shape(), "a square block")),
    };
    let is_sequence = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if is_sequence && value.len()? > 0 {
        let dimensions = |item: &Bound<'_, PyAny>| item.getattr("ndim").and_then(|n| n.extract::<usize>()).unwrap_or(0);
        if dimensions(&value.get_item(0)?) != 2 {
            return Ok(None);
        }
        let items = value.try_iter()?.enumerate();
        let all = items.map(|(k, item)| block(&numbers(&format!("{name}[{k}]"), &item?)?, k));
        return all.collect::<PyResult<_>>().map(Some);
    }
    let Ok(array) = value.cast::<PyArrayDyn<f64>>() else { return Ok(None) };
    match *array.shape() {
        [count, n, m] if n == m => {
            let values = numbers(name, array)?.to_vec()?;
            Ok(Some((0..count).map(|k| (n, values[k * n * n..(k + 1) * n * n].to_vec())).collect()))
        }
        _ => Ok(None),
    }
}

fn block_diagonal(name: &'static str, blocks: &[SquareBlock]) -> Result<SparseMatrix, sap::Error> {
    let size = blocks.iter().map(|(n, _)| n).sum();
    let (mut starts, mut indices, mut values, mut first) = (vec![0], Vec::new(), Vec::new(), 0);
    for (n, block) in blocks {
        for row in block.chunks_exact((*n).max(1)) {
            for (k, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                indices.push((first + k) as u32);
                values.push(*value);
            }
            starts.push(indices.len());
        }
        first += n;
    }
    SparseMatrix::from_rows(name, size, &starts, &indices, &values)
}
