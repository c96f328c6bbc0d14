//! What callers pass, as vectors of the right shape; anything else is a `ValueError` that names the argument, what
//! came and what was expected.

use multibody::{Model, Tree};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods, get_array_module};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyFloat, PyString, PyTuple};
use support::brief;
use support::{legible, suggest};

/// Finite numbers of exactly this shape, in row-major order. Takes whatever numpy takes: arrays, lists, scalars.
pub fn array(name: &str, value: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<f64>> {
    let values = match value.cast::<PyArrayDyn<f64>>() {
        Ok(array) if array.is_c_contiguous() && array.data().is_aligned() => {
            check_shape(name, array.shape(), shape)?;
            array.to_vec()?
        }
        _ => {
            let array = numbers(name, value)?;
            check_shape(name, array.shape(), shape)?;
            array.to_vec()?
        }
    };
    check_finite(name, &values, shape)?;
    Ok(values)
}

/// Finite numbers, `len` of them.
pub fn vector(name: &str, value: &Bound<'_, PyAny>, len: usize) -> PyResult<Vec<f64>> {
    array(name, value, &[len])
}

/// A rotation: a quaternion w x y z of any length but none.
pub fn rotation(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let quaternion = vector(name, value, 4)?;
    if quaternion.iter().all(|x| *x == 0.0) {
        return Err(PyValueError::new_err(format!("{name}: all four numbers are 0: expected a rotation, w x y z")));
    }
    Ok(quaternion)
}

/// Finite numbers in rows of `columns`: `rows` of them, or one for all, which is repeated.
pub fn rows(name: &str, value: &Bound<'_, PyAny>, rows: usize, columns: usize) -> PyResult<Vec<f64>> {
    let array = numbers(name, value)?;
    let expected = || format!("{} or {}", tuple(&[rows, columns]), tuple(&[columns]));
    let repeat = match *array.shape() {
        [n, m] if (n, m) == (rows, columns) => 1,
        [m] if m == columns => rows,
        _ => return Err(wrong_shape(name, array.shape(), &expected())),
    };
    let values = array.to_vec()?;
    check_finite(name, &values, array.shape())?;
    Ok(values.repeat(repeat))
}

/// Finite numbers of the shape (any, columns), and how many rows there are.
pub fn any_rows(name: &str, value: &Bound<'_, PyAny>, columns: usize) -> PyResult<(usize, Vec<f64>)> {
    let array = numbers(name, value)?;
    match *array.shape() {
        [n, m] if m == columns => {
            let values = array.to_vec()?;
            check_finite(name, &values, array.shape())?;
            Ok((n, values))
        }
        _ => Err(wrong_shape(name, array.shape(), &format!("(any, {columns})"))),
    }
}

/// Finite numbers of the shape (rows, any, columns), and how many the second dimension has.
pub fn sequences(name: &str, value: &Bound<'_, PyAny>, rows: usize, columns: usize) -> PyResult<(usize, Vec<f64>)> {
    let array = numbers(name, value)?;
    match *array.shape() {
        [n, horizon, m] if (n, m) == (rows, columns) => {
            let values = array.to_vec()?;
            check_finite(name, &values, array.shape())?;
            Ok((horizon, values))
        }
        _ => Err(wrong_shape(name, array.shape(), &format!("({rows}, any, {columns})"))),
    }
}

/// A boolean array of this length.
pub fn mask(name: &str, value: &Bound<'_, PyAny>, len: usize) -> PyResult<Vec<bool>> {
    let array = get_array_module(value.py())?.call_method1("asarray", (value,))?;
    let Ok(mask) = array.cast::<PyArrayDyn<bool>>() else {
        let dtype = array.getattr("dtype")?;
        return Err(PyValueError::new_err(format!("{name} has dtype {dtype}: expected a boolean array")));
    };
    check_shape(name, mask.shape(), &[len])?;
    // In the order of its index, whatever its strides.
    let mask = mask.try_readonly().map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
    Ok(mask.as_array().iter().copied().collect())
}

/// Which of `len` things: a boolean array of this length, or an index or indices, negative ones from the end.
pub fn selection(name: &str, value: &Bound<'_, PyAny>, len: usize) -> PyResult<Vec<usize>> {
    let array = get_array_module(value.py())?.call_method1("asarray", (value,))?;
    let (dtype, kind) = (array.getattr("dtype")?, array.getattr("dtype")?.getattr("kind")?.extract::<String>()?);
    match kind.as_str() {
        "b" => {
            let mask = mask(name, value, len)?;
            Ok((0..len).filter(|&k| mask[k]).collect())
        }
        "i" | "u" => {
            let shape: Vec<usize> = array.getattr("shape")?.extract()?;
            let array = if shape.is_empty() { array.call_method1("reshape", (1,))? } else { array };
            let count = match shape[..] {
                [] => 1,
                [count] => count,
                _ => return Err(wrong_shape(name, &shape, &format!("indices (any,), or booleans ({len},)"))),
            };
            if count > len {
                return Err(PyValueError::new_err(format!("{name} has {count} indices: expected at most {len}")));
            }
            let too_large = |_| PyValueError::new_err(format!("{name} is too large: expected indices below {len}"));
            let indices: Vec<i64> = array.extract().map_err(too_large)?;
            let index = |k: i64| usize::try_from(if k < 0 { k.saturating_add_unsigned(len as u64) } else { k }).ok();
            let outside = |k: i64| PyValueError::new_err(format!("{name} has {k}: expected indices below {len}"));
            indices.into_iter().map(|k| index(k).filter(|k| *k < len).ok_or_else(|| outside(k))).collect()
        }
        _ => Err(PyValueError::new_err(format!("{name} has dtype {dtype}: expected indices or a boolean array"))),
    }
}

/// Degrees of freedom of a free joint.
const FREE: usize = 6;

/// A number for every degree of freedom, or one for all; infinity and NaN are the callee's to judge.
pub fn per_dof(name: &str, value: &Bound<'_, PyAny>, nv: usize) -> PyResult<Vec<f64>> {
    let array = numbers(name, value)?;
    match *array.shape() {
        [] => return Ok(vec![array.to_vec()?[0]; nv]),
        [given] if given < nv => {
            let mut expected = format!("({nv},), a number for each of `v`");
            if nv - given == FREE {
                expected +=
                    &format!("; where a free joint comes first, np.r_[np.zeros({FREE}), {name}] leaves it free");
            }
            return Err(wrong_shape(name, &[given], &expected));
        }
        ref shape => check_shape(name, shape, &[nv])?,
    }
    Ok(array.to_vec()?)
}

/// [`per_dof`], or those of each world, (worlds, nv).
pub fn per_world_and_dof(name: &str, value: &Bound<'_, PyAny>, worlds: usize, nv: usize) -> PyResult<Vec<f64>> {
    let array = numbers(name, value)?;
    match *array.shape() {
        [given, width] if [given, width] == [worlds, nv] => Ok(array.to_vec()?),
        [_, _] => Err(wrong_shape(name, array.shape(), &format!("({nv},), or ({worlds}, {nv}) for each world"))),
        _ => per_dof(name, value, nv),
    }
}

/// Copies as many numbers as `out` has; whether they are finite is the callee's to judge. Without memory of its own for arrays as numpy
/// makes them.
pub fn copy_vector(name: &str, value: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    if let Ok(array) = value.cast::<PyArrayDyn<f64>>()
        && array.is_c_contiguous()
    {
        return copy_array(name, array, out);
    }
    copy_array(name, &numbers(name, value)?, out)
}

/// [`copy_vector`], or one number for all.
pub fn copy_per_dof(name: &str, value: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    if let Ok(array) = value.cast::<PyArrayDyn<f64>>()
        && array.is_c_contiguous()
        && array.ndim() > 0
    {
        return copy_array(name, array, out);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        out.fill(number.value());
        return Ok(());
    }
    out.copy_from_slice(&per_dof(name, value, out.len())?);
    Ok(())
}

/// Copies an array in row-major order.
fn copy_array(name: &str, array: &Bound<'_, PyArrayDyn<f64>>, out: &mut [f64]) -> PyResult<()> {
    check_shape(name, array.shape(), &[out.len()])?;
    // SAFETY: the array has as many numbers, one after the other; `out` is Rust's own memory; the lock keeps Python from writing
    // meanwhile.
    unsafe { std::ptr::copy_nonoverlapping(array.data().cast_const(), out.as_mut_ptr(), out.len()) };
    Ok(())
}

/// A configuration of the model, (nq): finite numbers, quaternions that have a direction.
pub fn configuration(name: &str, value: &Bound<'_, PyAny>, model: &Model) -> PyResult<Vec<f64>> {
    let q = vector(name, value, model.nq())?;
    check_quaternions(name, &q, &model.tree)?;
    Ok(q)
}

/// Rows of numbers with or without a leading axis.
pub struct Rows {
    /// How many, where there is the axis.
    pub count: Option<usize>,
    values: Vec<f64>,
    columns: usize,
}

impl Rows {
    /// Finite numbers, (columns,) or (any, columns).
    pub fn new(name: &str, value: &Bound<'_, PyAny>, columns: usize) -> PyResult<Self> {
        if numbers(name, value)?.ndim() == 2 {
            let (count, values) = any_rows(name, value, columns)?;
            return Ok(Self { count: Some(count), values, columns });
        }
        Ok(Self { count: None, values: vector(name, value, columns)?, columns })
    }

    /// Configurations, (nq,) or (any, nq).
    pub fn configurations(name: &str, value: &Bound<'_, PyAny>, model: &Model) -> PyResult<Self> {
        let rows = Self::new(name, value, model.nq())?;
        for k in 0..rows.len() {
            check_quaternions(&rows.name(name, k), rows.row(k), &model.tree)?;
        }
        Ok(rows)
    }

    fn name(&self, name: &str, k: usize) -> String {
        if self.count.is_some() { format!("{name}[{k}]") } else { name.into() }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count.unwrap_or(1)
    }

    /// One of them; where there is no axis, the same for all.
    pub fn row(&self, k: usize) -> &[f64] {
        let k = if self.count.is_some() { k } else { 0 };
        &self.values[k * self.columns..(k + 1) * self.columns]
    }

    /// How many rows these and others have together: as many as one of them, the other having as many or no axis.
    pub fn count_with(&self, name: &str, other: &Self, other_name: &str) -> PyResult<Option<usize>> {
        match (self.count, other.count) {
            (Some(a), Some(b)) if a != b => {
                let message = format!("{other_name} has {b} rows: expected {a}, as {name}, or one without an axis");
                Err(PyValueError::new_err(message))
            }
            (a, b) => Ok(a.or(b)),
        }
    }
}

/// An array of rows one after the other, with the leading axis where there is one.
pub fn with_axis<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    count: Option<usize>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let shape: Vec<usize> = count.into_iter().chain(shape.iter().copied()).collect();
    Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any())
}

/// Finite numbers of whatever size, as a vector.
pub fn any_vector(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array = numbers(name, value)?;
    if array.ndim() != 1 {
        return Err(wrong_shape(name, array.shape(), "one dimension"));
    }
    let values = array.to_vec()?;
    check_finite(name, &values, array.shape())?;
    Ok(values)
}

/// Red, green, blue and, if it is said, opacity.
pub fn colour(field: &str, value: &Bound<'_, PyAny>) -> PyResult<[f32; 4]> {
    let expected = "expected 3 or 4 numbers from 0 to 1";
    let count = value.len().map_err(|_| PyValueError::new_err(format!("{field}: {expected}")))?;
    let given = array(field, value, &[if count == 3 { 3 } else { 4 }])?;
    if given.iter().any(|c| !(0.0..=1.0).contains(c)) {
        return Err(PyValueError::new_err(format!("{field} is {given:?}: {expected}")));
    }
    let mut rgba = [1.0; 4];
    rgba.iter_mut().zip(&given).for_each(|(into, from)| *into = *from as f32);
    Ok(rgba)
}

/// Positions for some worlds, in rows: finite, with rotations.
pub fn configurations(name: &str, value: &Bound<'_, PyAny>, count: usize, model: &Model) -> PyResult<Vec<f64>> {
    let nq = model.nq();
    let q = rows(name, value, count, nq)?;
    let mut each = q.chunks_exact(nq.max(1)).enumerate();
    each.try_for_each(|(k, q)| check_quaternions(&format!("{name}[{k}]"), q, &model.tree))?;
    Ok(q)
}

/// Quaternions are normalised when they are used, so any length will do but none.
pub fn check_quaternions(name: &str, q: &[f64], tree: &Tree<f64>) -> PyResult<()> {
    for node in &tree.nodes {
        let Some(start) = node.quaternion() else { continue };
        let norm_squared: f64 = q[start..start + 4].iter().map(|x| x * x).sum();
        if !(1e-12..1e12).contains(&norm_squared) {
            let (found, end) = (&q[start..start + 4], start + 4);
            let message = format!("{name}[{start}:{end}] is {found:?}: expected a quaternion (w, x, y, z) of length 1");
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(())
}

/// One of a few words, or a `ValueError` that lists them.
pub fn word<T: Copy>(name: &str, value: &str, available: &[(&str, T)]) -> PyResult<T> {
    if let Some(&(_, found)) = available.iter().find(|(word, _)| *word == value) {
        return Ok(found);
    }
    let words: Vec<_> = available.iter().map(|(word, _)| format!("{word:?}")).collect();
    let hint = suggest::did_you_mean(value, available.iter().map(|(word, _)| *word));
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    let message = format!("{name}={value:?} is not in this version; available: {}{hint}", words.join(", "));
    Err(PyValueError::new_err(legible(&message)))
}

/// An argument as numpy converts it: an array of 64-bit numbers in row-major order. Its shape and values are not checked.
pub fn numbers<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let py = value.py();
    let numpy = get_array_module(py)?;
    let not_numbers = |error: PyErr| {
        if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) {
            PyValueError::new_err(format!("{name}: expected an array of numbers: {}", error.value(py)))
        } else {
            error
        }
    };
    let array = numpy.call_method1("asarray", (value,)).map_err(not_numbers)?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "b" | "i" | "u" | "f") {
        let dtype = array.getattr("dtype")?;
        return Err(PyValueError::new_err(format!("{name} has dtype {dtype}: expected an array of real numbers")));
    }
    let order = [("dtype", "float64"), ("order", "C")].into_py_dict(py)?;
    let array = numpy.call_method("asarray", (array,), Some(&order)).map_err(not_numbers)?;
    let array: Bound<'_, PyArrayDyn<f64>> = array.cast_into()?;
    // A field of packed records may lie anywhere; numpy leaves it there.
    if array.data().is_aligned() { Ok(array) } else { Ok(array.call_method0("copy")?.cast_into()?) }
}

fn check_shape(name: &str, found: &[usize], expected: &[usize]) -> PyResult<()> {
    if found == expected {
        Ok(())
    } else {
        Err(wrong_shape(name, found, &if expected.is_empty() { "one number".to_owned() } else { tuple(expected) }))
    }
}

pub fn wrong_shape(name: &str, found: &[usize], expected: &str) -> PyErr {
    PyValueError::new_err(format!("{name} has shape {}: expected {expected}", tuple(found)))
}

fn check_finite(name: &str, values: &[f64], shape: &[usize]) -> PyResult<()> {
    let Some(k) = values.iter().position(|x| !x.is_finite()) else { return Ok(()) };
    let mut index = Vec::new();
    let mut rest = k;
    for &n in shape.iter().rev() {
        index.insert(0, (rest % n).to_string());
        rest /= n;
    }
    let (at, value) = (index.join(", "), values[k]);
    let place = if shape.is_empty() { name.to_owned() } else { format!("{name}[{at}]") };
    Err(PyValueError::new_err(format!("{place} is {value}: expected a finite number")))
}

/// A shape as Python prints it.
pub fn tuple(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A finite number above 0.
pub fn positive(name: &str, value: f64) -> PyResult<f64> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(PyValueError::new_err(format!("{name} is {value}: expected a finite number above 0")))
}

/// True or False.
pub fn switch(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| {
        let found = value.repr().map_or_else(|_| String::new(), |text| brief(&text.to_string()));
        PyTypeError::new_err(format!("{name} is {found}: expected True or False"))
    })
}

/// The elements of a sequence, at most so many. (A `Vec` would reserve memory for as many as the sequence says it has,
/// which for an array without strides is more than there is.)
pub fn elements<'py, T>(
    value: &Bound<'py, PyAny>,
    most: usize,
    element: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    if value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("expected a list, not one string"));
    }
    let mut found = Vec::new();
    for item in value.try_iter()? {
        if found.len() == most {
            return Err(PyValueError::new_err(format!("expected at most {most} elements")));
        }
        found.push(element(&item?)?);
    }
    Ok(found)
}

/// The elements of a sequence that has no more than a model may have of anything.
pub fn several<'py, T: FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>) -> PyResult<Vec<T>> {
    elements(value, 100_000, |element| element.extract().map_err(Into::into))
}

/// [`several`], or None.
pub fn several_or_none<'py, T: FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<T>>> {
    if value.is_none() { Ok(None) } else { several(value).map(Some) }
}

/// A whole number. One beyond 64 bits becomes the nearest within, so that what it is for judges it.
pub fn whole(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    match value.extract::<i64>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Ok(if value.lt(0)? { i64::MIN } else { i64::MAX })
        }
        Err(_) if value.is_instance_of::<PyTuple>() => {
            Err(PyTypeError::new_err(format!("{value}: expected numbers one by one, without the brackets")))
        }
        extracted => extracted,
    }
}

/// 32 bits that say what may touch.
pub fn bits(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let message = |_| PyValueError::new_err(format!("{name}: expected an integer of 32 bits"));
    value.extract::<u32>().map_err(message)
}

/// A whole number, as [`whole`], or None.
pub fn whole_or_none(value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if value.is_none() { Ok(None) } else { whole(value).map(Some) }
}

/// One finite number.
pub fn check_scalar(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(array(name, value, &[])?[0])
}
