use crate::Error;

/// A sparse matrix by rows, columns ascending in each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    columns: usize,
    /// Where each row starts, and where the last one ends.
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// The entries of a row-major matrix that are not zero.
    ///
    /// # Errors
    /// [`Error::Dimension`] if there are not rows × columns of them, [`Error::Value`] if one is not finite; both name `argument`.
    pub fn from_dense(
        argument: &'static str,
        rows: usize,
        columns: usize,
        values: &[f64],
    ) -> Result<SparseMatrix, Error> {
        if values.len() != rows * columns {
            return Err(Error::Dimension { argument, found: values.len(), expected: rows * columns });
        }
        let mut matrix = SparseMatrix { columns, starts: vec![0], ..SparseMatrix::default() };
        for row in 0..rows {
            for (column, &value) in values[row * columns..(row + 1) * columns].iter().enumerate() {
                if value != 0.0 {
                    matrix.push(argument, row, column as u32, value)?;
                }
            }
            matrix.starts.push(matrix.indices.len());
        }
        Ok(matrix)
    }

    /// A matrix in compressed rows: row `i` has the entries `starts[i]..starts[i + 1]`, in any order; entries at the same place add up.
    ///
    /// # Errors
    /// [`Error::Value`] if `starts` do not ascend from 0 to the number of entries, an index is out of range, or a value is not finite.
    pub fn from_rows(
        argument: &'static str,
        columns: usize,
        starts: &[usize],
        indices: &[u32],
        values: &[f64],
    ) -> Result<SparseMatrix, Error> {
        let ascend = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let fit = starts.first() == Some(&0) && starts.last() == Some(&indices.len()) && indices.len() == values.len();
        if !(ascend && fit) {
            let message = "expected compressed rows whose starts ascend from 0 to the number of entries".into();
            return Err(Error::Value { argument, message });
        }
        let mut matrix = SparseMatrix { columns, starts: vec![0], ..SparseMatrix::default() };
        let mut entries = Vec::new();
        for (row, range) in starts.windows(2).map(|pair| pair[0]..pair[1]).enumerate() {
            entries.clear();
            entries.extend(indices[range.clone()].iter().copied().zip(values[range].iter().copied()));
            // Stable, so that sums do not depend on the sort.
            entries.sort_by_key(|(column, _)| *column);
            let first = matrix.indices.len();
            for &(column, value) in &entries {
                if matrix.indices.len() > first && matrix.indices.last() == Some(&column) {
                    let last = matrix.values.len() - 1;
                    matrix.values[last] += value;
                } else {
                    matrix.push(argument, row, column, value)?;
                }
            }
            matrix.starts.push(matrix.indices.len());
        }
        Ok(matrix)
    }

    fn push(&mut self, argument: &'static str, row: usize, column: u32, value: f64) -> Result<(), Error> {
        if column as usize >= self.columns {
            let message = format!("row {row} has an entry in column {column}, expected columns below {}", self.columns);
            return Err(Error::Value { argument, message });
        }
        if !value.is_finite() {
            let message = format!("entry [{row}, {column}] is {value}, expected a finite value");
            return Err(Error::Value { argument, message });
        }
        self.indices.push(column);
        self.values.push(value);
        Ok(())
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The columns of a row's entries, ascending, and their values.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The entry of a row and a column.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        let (columns, values) = self.row(row);
        columns.binary_search(&(column as u32)).map_or(0.0, |k| values[k])
    }

    /// The entries on the diagonal and below.
    pub(crate) fn lower_triangle(&self) -> SparseMatrix {
        let mut lower = SparseMatrix { columns: self.columns, starts: vec![0], ..SparseMatrix::default() };
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            let count = columns.partition_point(|column| *column as usize <= i);
            lower.indices.extend_from_slice(&columns[..count]);
            lower.values.extend_from_slice(&values[..count]);
            lower.starts.push(lower.indices.len());
        }
        lower
    }
}
