//! Dense vectors and matrices, as rows.

pub type Vector = Vec<f64>;
pub type Matrix = Vec<Vec<f64>>;

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// a + s b.
pub fn plus(a: &[f64], s: f64, b: &[f64]) -> Vector {
    a.iter().zip(b).map(|(a, b)| a + s * b).collect()
}

pub fn minus(a: &[f64], b: &[f64]) -> Vector {
    plus(a, -1.0, b)
}

pub fn times(m: &Matrix, x: &[f64]) -> Vector {
    m.iter().map(|row| dot(row, x)).collect()
}

/// The largest absolute value.
pub fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// The part of a matrix in these rows and columns.
pub fn part(m: &Matrix, of: &[usize]) -> Matrix {
    of.iter().map(|i| of.iter().map(|j| m[*i][*j]).collect()).collect()
}

/// The matrix with this added to its diagonal.
pub fn with_diagonal(m: &Matrix, diagonal: &[f64]) -> Matrix {
    let mut sum = m.clone();
    diagonal.iter().enumerate().for_each(|(i, d)| sum[i][i] += d);
    sum
}

/// The solution of A x = b, by Gaussian elimination with pivots.
pub fn solve(a: &Matrix, b: &[f64]) -> Vector {
    let columns = solve_all(a, &[b.to_vec()]);
    columns.into_iter().next().unwrap()
}

/// The solutions of A x = b for several b.
pub fn solve_all(a: &Matrix, sides: &[Vector]) -> Vec<Vector> {
    let (n, mut a, mut sides) = (a.len(), a.clone(), sides.to_vec());
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap();
        a.swap(k, pivot);
        sides.iter_mut().for_each(|b| b.swap(k, pivot));
        let (above, below) = a.split_at_mut(k + 1);
        for (i, row) in (k + 1..).zip(below) {
            let factor = row[k] / above[k][k];
            if factor != 0.0 {
                row.iter_mut().zip(&above[k]).skip(k).for_each(|(x, y)| *x -= factor * y);
                sides.iter_mut().for_each(|b| b[i] -= factor * b[k]);
            }
        }
    }
    for b in &mut sides {
        for k in (0..n).rev() {
            b[k] = (b[k] - dot(&a[k][k + 1..], &b[k + 1..])) / a[k][k];
        }
    }
    sides
}

/// J A⁻¹ Jᵀ.
pub fn response(a: &Matrix, rows: &[Vector]) -> Matrix {
    let columns = solve_all(a, rows);
    rows.iter().map(|row| columns.iter().map(|x| dot(row, x)).collect()).collect()
}
