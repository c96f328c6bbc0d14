//! Newton's method on blocks in lanes: what a lane finds does not depend on its neighbours, to the last bit.

use sapwood_sap::Law;
use sapwood_sap::contact_blocks::{Block3, BlockRows, Bounds, DenseScratch, Limits};
use spatial::masks::{select, wide};
use spatial::{F64x4, Real, Three};

const LIMITS: Limits = Limits {
    bounds: Bounds::Given,
    steps: 12,
    excess: 1e-8,
    round_off: 1e-15,
    at_start: 1e-9,
    late: 1e-9,
    residual: f64::INFINITY,
    near: 1e-9,
};

/// Two contacts that push on each other's velocities. Where `rubs` is 1 the first pushes, elsewhere it parts, and what it pushed with before is
/// zero but for round-off, of either sign.
fn rows<T: Real>(rubs: T, round_off: f64) -> [BlockRows<T>; 2] {
    let contact = |v_free: [T; 3], bound: T| {
        let mut rows = BlockRows::none();
        rows.law = Law::bounded_friction(T::ONE, wide(1e-3), wide(1e-3), T::ZERO, bound);
        rows.w = [wide(0.7), wide(0.8), wide(0.9)];
        (rows.v_free, rows.z) = (v_free, v_free);
        rows
    };
    let normal = select(rubs, wide(-0.6), wide(0.6));
    [
        contact([wide(0.3), wide(-0.2), normal], select(rubs, wide(0.1), wide(round_off))),
        contact([wide(-0.1), wide(0.25), wide(-0.5)], wide(0.2)),
    ]
}

fn delassus<T: Real>() -> Vec<Block3<T>> {
    let block = |own: f64, other: f64| -> Block3<T> {
        std::array::from_fn(|i| {
            T::Three::new(std::array::from_fn(|j| {
                wide(if i == j { own * (0.7 + 0.1 * i as f64) } else { other + 0.01 * (i + j) as f64 })
            }))
        })
    };
    vec![block(1.0, 0.0), block(0.2, 0.05), block(0.2, 0.05), block(1.0, 0.0)]
}

fn solve<T: Real>(rubs: T, round_off: f64) -> Vec<[T; 3]> {
    let (mut rows, all) = (rows(rubs, round_off), (1 << T::LANES) - 1);
    let outcome = DenseScratch::new(2).solve(&mut rows, &delassus::<T>(), T::ONE, all, &LIMITS);
    assert_eq!(outcome.solved, all);
    rows.iter().flat_map(|rows| [rows.solved_lambda, rows.solved_v]).collect()
}

#[test]
fn a_bound_of_round_off_counts_alike_with_neighbours_and_alone() {
    for round_off in [-1e-5, -1e-12, 0.0, 1e-12, 1e-5] {
        let rubs = [0.0, 1.0, 0.0, 1.0];
        let together = solve(F64x4::from_array(rubs), round_off);
        for (lane, rubs) in rubs.into_iter().enumerate() {
            for (found, expected) in together.iter().zip(solve(rubs, round_off)) {
                assert_eq!(found.map(|x| x.lane(lane)), expected, "lane {lane}, {round_off}");
            }
        }
    }
}
