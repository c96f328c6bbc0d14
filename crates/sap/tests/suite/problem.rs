//! Problems of matrices: every structure leads to the same solution, whatever the order of constraints.

use crate::common::{dot, norm};
use sapwood_sap::{
    Criterion, Error, Factorization, FrictionLaw, Kind, Options, Problem, ProblemSolution, SparseMatrix, Start,
    Strategy,
};
use support::SplitMix64;

const EXACT: Options = Options {
    tolerance: 1e-13,
    absolute_tolerance: 1e-14,
    max_iterations: 300,
    factorization_budget: None,
    friction: FrictionLaw::Lagged,
    expects_guess: false,
};

/// Bodies of six velocities in a row that meet their neighbours, with constraints of every kind.
struct Chain {
    nv: usize,
    a: Vec<f64>,
    v_star: Vec<f64>,
    kinds: Vec<Kind>,
    j: Vec<Vec<f64>>,
}

fn chain(seed: u64, bodies: usize) -> Chain {
    let mut rng = SplitMix64(seed);
    let nv = 6 * bodies;
    let mut chain = Chain { nv, a: vec![0.0; nv * nv], v_star: rng.vector(nv, 1.0), kinds: vec![], j: vec![] };
    for body in 0..bodies {
        for _ in 0..8 {
            let x = rng.vector(6, 1.0);
            for i in 0..6 {
                for k in 0..6 {
                    chain.a[(6 * body + i) * nv + 6 * body + k] += x[i] * x[k];
                }
            }
        }
    }
    let push = |chain: &mut Chain, rng: &mut SplitMix64, kind: Kind, body: usize| {
        for _ in 0..kind.rows() {
            let mut row = vec![0.0; nv];
            // Every third constraint is with the world.
            let to = if chain.kinds.len().is_multiple_of(3) { 6 * body + 6 } else { (6 * body + 12).min(nv) };
            for x in &mut row[6 * body..to] {
                *x = rng.uniform(-1.0, 1.0);
            }
            chain.j.push(row);
        }
        chain.kinds.push(kind);
    };
    for body in 0..bodies {
        let r = Some(10f64.powf(rng.uniform(-5.0, -2.0)));
        let v_hat = rng.uniform(-0.3, 0.3);
        let contact =
            Kind::Contact { mu: rng.uniform(0.0, 0.8), r_t: r, r_n: r, v_hat: [0.1, 0.0, v_hat], normal_impulse: None };
        push(&mut chain, &mut rng, contact, body);
        push(&mut chain, &mut rng, Kind::Limit { r, v_hat }, body);
        push(&mut chain, &mut rng, Kind::Equality { r, v_hat }, body);
        push(&mut chain, &mut rng, Kind::Bounded { r, v_hat, lower: -0.2, upper: 0.1 }, body);
    }
    for body in 0..bodies {
        let spin = Kind::SpinFriction { contact: 4 * body, rolling: 0.1, torsional: 0.2, r: Some(1e-4) };
        push(&mut chain, &mut rng, spin, body);
    }
    chain
}

impl Chain {
    fn problem(&self) -> Problem {
        let a = SparseMatrix::from_dense("A", self.nv, self.nv, &self.a).unwrap();
        let mut problem = Problem::new(a, self.v_star.clone()).unwrap();
        let j: Vec<f64> = self.j.concat();
        problem.push(&self.kinds, &SparseMatrix::from_dense("J", self.j.len(), self.nv, &j).unwrap()).unwrap_or_else(
            |_| {
                // Spin friction is of contacts that are there already.
                let first = 4 * self.nv / 6;
                let rows = self.kinds[..first].iter().map(Kind::rows).sum::<usize>();
                for (kinds, j) in [(&self.kinds[..first], &self.j[..rows]), (&self.kinds[first..], &self.j[rows..])] {
                    let matrix = SparseMatrix::from_dense("J", j.len(), self.nv, &j.concat()).unwrap();
                    problem.push(kinds, &matrix).unwrap();
                }
                0
            },
        );
        problem
    }

    /// ‖A (v − v*) − Jᵀγ‖ relative to ‖Jᵀγ‖, and ‖J v − v_c‖.
    fn imbalance(&self, solution: &ProblemSolution) -> (f64, f64) {
        let change: Vec<f64> = solution.v.iter().zip(&self.v_star).map(|(v, free)| v - free).collect();
        let mut push = vec![0.0; self.nv];
        for (row, impulse) in self.j.iter().zip(&solution.impulses) {
            push.iter_mut().zip(row).for_each(|(push, j)| *push += j * impulse);
        }
        let left: Vec<f64> =
            (0..self.nv).map(|i| dot(&self.a[i * self.nv..(i + 1) * self.nv], &change) - push[i]).collect();
        let of_rows: Vec<f64> =
            self.j.iter().zip(&solution.velocities).map(|(row, v_c)| dot(row, &solution.v) - v_c).collect();
        (norm(&left) / norm(&push), norm(&of_rows))
    }
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn every_factorization_finds_the_same() {
    use Factorization::{Auto, ContactSpace, Sparse};
    let (mut in_contact_space, mut unsymmetric) = (0, 0);
    for (seed, bodies) in [(1, 1), (2, 2), (3, 3), (4, 12), (5, 40)] {
        let chain = chain(seed, bodies);
        let mut problem = chain.problem();
        for law in [FrictionLaw::Sap, FrictionLaw::Lagged, FrictionLaw::Coulomb] {
            let before = problem.solve(FrictionLaw::Coulomb, Sparse, &EXACT, None).unwrap();
            let start = Start { v: &before.v, rows: Some([&before.impulses, &before.velocities]) };
            let start = (law != FrictionLaw::Coulomb).then_some(&start);
            let solution = problem.solve(law, Sparse, &EXACT, start).unwrap();
            assert_ne!(solution.report.criterion, Criterion::FrictionBounds);
            let (momentum, rows) = chain.imbalance(&solution);
            assert!(momentum < 1e-10 && rows < 1e-12, "{law:?} {bodies}: {momentum:e} {rows:e}");
            let strategy = solution.report.strategy;
            unsymmetric += usize::from(matches!(strategy, Strategy::SemismoothNewton | Strategy::ProximalPoint));
            // For the other laws `Auto` is `Sparse`.
            let others = if law == FrictionLaw::Coulomb { &[Auto, ContactSpace][..] } else { &[ContactSpace] };
            for &factorization in others {
                let other = match problem.solve(law, factorization, &EXACT, start) {
                    Ok(other) => other,
                    // No line search, no guarantee; and too many rows.
                    Err(Error::ContactSpace { .. }) => continue,
                    Err(Error::Value { argument, .. }) if bodies > 3 => {
                        assert_eq!((argument, factorization), ("factorization", ContactSpace));
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                };
                in_contact_space += usize::from(other.report.strategy == Strategy::ContactSpace);
                let (v, impulses) = (distance(&other.v, &solution.v), distance(&other.impulses, &solution.impulses));
                assert!(v < 1e-9 && impulses < 1e-8, "{law:?} {factorization:?} {bodies}: {v:e} {impulses:e}");
            }
        }
    }
    assert!(in_contact_space >= 4 && unsymmetric >= 1, "{in_contact_space} {unsymmetric}");
}

#[test]
fn nothing_is_remembered() {
    let chain = chain(7, 12);
    let bits = |problem: &mut Problem| {
        let solution = problem.solve(FrictionLaw::Coulomb, Factorization::Sparse, &Options::default(), None).unwrap();
        solution.v.iter().chain(&solution.impulses).map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    let mut problem = chain.problem();
    let first = bits(&mut problem);
    let other: Vec<f64> = chain.v_star.iter().map(|v| -3.0 * v).collect();
    problem.set_v_star(other).unwrap();
    assert_ne!(bits(&mut problem), first);
    problem.set_v_star(chain.v_star.clone()).unwrap();
    assert_eq!(bits(&mut problem), first);
    assert_eq!(bits(&mut chain.problem()), first);
}

#[test]
fn a_warm_start_leaves_nothing_to_do() {
    let mut problem = chain(8, 12).problem();
    let options = Options::default();
    for factorization in [Factorization::Auto, Factorization::Sparse] {
        let cold = problem.solve(FrictionLaw::Coulomb, factorization, &options, None).unwrap();
        let start = Start { v: &cold.v, rows: Some([&cold.impulses, &cold.velocities]) };
        let warm = problem.solve(FrictionLaw::Coulomb, factorization, &options, Some(&start)).unwrap();
        assert!(warm.report.iterations <= 1 && cold.report.iterations > 3, "{:?}", warm.report);
        assert!(distance(&warm.v, &cold.v) < 1e-4);
    }
}

#[test]
fn near_rigid_by_default() {
    // 2 kg: w = 1/2, R_n = 0.01/(4π²) w; a limit that stops 1 m/s leaves R γ = R/(R + w) of it.
    let a = SparseMatrix::from_dense("A", 1, 1, &[2.0]).unwrap();
    let mut problem = Problem::new(a, vec![-1.0]).unwrap();
    problem
        .push(&[Kind::Limit { r: None, v_hat: 0.0 }], &SparseMatrix::from_dense("J", 1, 1, &[1.0]).unwrap())
        .unwrap();
    let solution = problem.solve(FrictionLaw::Sap, Factorization::Auto, &EXACT, None).unwrap();
    let r = 0.01 / (4.0 * std::f64::consts::PI.powi(2));
    assert!((solution.v[0] + r / (1.0 + r)).abs() < 1e-14);
    let zero = SparseMatrix::from_dense("J", 1, 1, &[0.0]).unwrap();
    problem.push(&[Kind::Limit { r: None, v_hat: 0.0 }], &zero).unwrap();
    let message = problem.solve(FrictionLaw::Sap, Factorization::Auto, &EXACT, None).unwrap_err().to_string();
    assert!(message.contains("the rows of J are zero"), "{message}");
}
