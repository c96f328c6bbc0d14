//! The factor of small matrices: residuals on random ones, with the zeros of trees.

use random::SplitMix64;
use sap::{Block, SmallCholesky};

const MOST: usize = SmallCholesky::MOST;

/// B Bᵀ + 1/10, and which entries the limbs of a tree leave zero: those of the two halves that follow the first third.
fn matrix(rng: &mut SplitMix64, n: usize) -> Vec<Vec<f64>> {
    let (trunk, split) = (n / 3, n * 2 / 3);
    let limb = |i: usize| usize::from(i >= trunk) + usize::from(i >= split);
    let meet = |i: usize, j: usize| limb(i) == limb(j) || limb(i) == 0 || limb(j) == 0;
    let b: Vec<Vec<f64>> = (0..n).map(|_| (0..n).map(|_| rng.uniform(-1.0, 1.0)).collect()).collect();
    // Columns that belong to one limb each, and to the trunk: their products have no entries between the limbs.
    let entry = |i: usize, j: usize| -> f64 {
        let share = |k: usize| if meet(i, k) && meet(j, k) && limb(k) != 0 { b[i][k] * b[j][k] } else { 0.0 };
        (0..n).map(share).sum::<f64>() + if i == j { 0.1 } else { 0.0 }
    };
    (0..n).map(|i| (0..n).map(|j| if meet(i, j) { entry(i, j) } else { 0.0 }).collect()).collect()
}

fn fill(h: &mut SmallCholesky, m: &[Vec<f64>]) {
    let rows = h.start(m.len());
    for (i, row) in m.iter().enumerate() {
        // What is beyond the diagonal has no meaning.
        rows[i * MOST..(i + 1) * MOST].fill(f64::MAX);
        rows[i * MOST..=i * MOST + i].copy_from_slice(&row[..=i]);
    }
}

fn times(m: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    m.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}

#[test]
fn solutions_have_small_residuals_at_every_size() {
    let mut rng = SplitMix64(1);
    let mut h = SmallCholesky::new();
    for n in (1..=MOST).chain((1..=MOST).rev()) {
        let m = matrix(&mut rng, n);
        fill(&mut h, &m);
        h.factor().unwrap();
        let b: Vec<f64> = (0..n).map(|_| rng.uniform(-1.0, 1.0)).collect();
        let mut x = vec![0.0; n];
        h.solve(&b, &mut x);
        let size: f64 = x.iter().map(|x| x.abs()).fold(1.0, f64::max);
        for (y, b) in times(&m, &x).iter().zip(&b) {
            // Backward stable: n ε ‖H‖ ‖x‖.
            assert!((y - b).abs() < 1e-14 * (n * n) as f64 * size, "{n}: {y} {b}");
        }
    }
}

#[test]
fn rows_are_added_with_their_block() {
    let mut rng = SplitMix64(2);
    let mut h = SmallCholesky::new();
    for n in [1, 4, 7, 27, MOST] {
        let mut m = matrix(&mut rng, n);
        fill(&mut h, &m);
        let mut j = [[0.0; MOST]; 3];
        j.iter_mut().for_each(|row| row[..n].iter_mut().for_each(|x| *x = rng.uniform(-1.0, 1.0)));
        let block = Block([2.0, 0.3, -0.1, 1.0, 0.2, 30.0]);
        h.add(&j, &block);
        for (i, row) in m.iter_mut().enumerate() {
            let g = block.apply([j[0][i], j[1][i], j[2][i]]);
            row.iter_mut().enumerate().for_each(|(k, x)| *x += g[0] * j[0][k] + g[1] * j[1][k] + g[2] * j[2][k]);
        }
        h.factor().unwrap();
        let b = times(&m, &vec![1.0; n]);
        let mut x = vec![0.0; n];
        h.solve(&b, &mut x);
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-9), "{n}: {x:?}");
    }
}

#[test]
fn what_is_not_positive_definite_is_refused_with_its_row() {
    let mut h = SmallCholesky::new();
    for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let mut m = matrix(&mut SplitMix64(3), 11);
        m[6][6] = bad;
        fill(&mut h, &m);
        assert_eq!(h.factor().unwrap_err().row, 6, "{bad}");
    }
}
