//! Every law against finite differences, within its regions, across their borders, and as a convex function.

use proptest::prelude::*;
use sapwood_sap::{Block, Constraint, Law};

type Evaluation = (f64, [f64; 3], Block);

fn evaluate(constraint: &Constraint, v_c: [f64; 3]) -> Evaluation {
    let (mut gamma, mut hessian) = ([0.0; 3], Block::ZERO);
    let rows = constraint.rows();
    let cost = constraint.evaluate(&v_c[..rows], &mut gamma[..rows], &mut hessian);
    (cost, gamma, hessian)
}

/// One law of every kind, with R over three decades.
fn any_law() -> impl Strategy<Value = Constraint> {
    let r = -3.0..0.0_f64;
    (0..9_usize, r.clone(), r, 0.0..2.0_f64, -1.0..1.0_f64, 0.0..3.0_f64).prop_map(|(kind, r_t, r_n, mu, v_hat, n)| {
        let (r_t, r_n) = (10_f64.powf(r_t), 10_f64.powf(r_n));
        match kind {
            0 => Law::cone(mu, r_t, r_n, v_hat).into(),
            1 => Law::cone(mu, r_t, r_n, v_hat).with_surface_velocity([v_hat, -0.5]).into(),
            2 => Law::bounded_friction(mu, r_t, r_n, v_hat, n).into(),
            3 => Law::bounded_friction(mu, r_t, r_n, v_hat, n).with_surface_velocity([0.3, v_hat]).into(),
            4 => Law::spin_friction(r_t, 0.3 * mu, mu, n).into(),
            5 => Law::limit(r_n, v_hat).into(),
            6 => Law::bounded(r_n, v_hat, -n, n + mu).into(),
            7 => Law::equalities(r_n, [v_hat, 0.2, -v_hat]).into(),
            _ => Law::along_third(r_n, v_hat).into(),
        }
    })
}

fn any_velocity() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(-2.0..2.0_f64)
}

fn full(hessian: &Block) -> [[f64; 3]; 3] {
    let [xx, xy, xz, yy, yz, zz] = hessian.0;
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// γ = −∂ℓ/∂v_c everywhere: ℓ is continuously differentiable.
    #[test]
    fn the_impulse_is_minus_the_slope_of_the_cost(law in any_law(), v in any_velocity()) {
        let h = 1e-5;
        let (_, gamma, hessian) = evaluate(&law, v);
        let stiffest = full(&hessian).iter().flatten().fold(0.0_f64, |m, g| m.max(g.abs())).max(1e3);
        for i in 0..law.rows() {
            let at = |step: f64| {
                let mut moved = v;
                moved[i] += step;
                evaluate(&law, moved).0
            };
            let slope = (at(h) - at(-h)) / (2.0 * h);
            // A kink of the slope within the step is worth h times the greatest stiffness there, 1/R ≤ 1e3.
            prop_assert!((slope + gamma[i]).abs() < 2.0 * h * stiffest, "{law:?} at {v:?}: {slope} {}", gamma[i]);
        }
    }

    /// G = −∂γ/∂v_c within a region: where G is the same on both sides.
    #[test]
    fn the_hessian_is_minus_the_gradient_of_the_impulse(law in any_law(), v in any_velocity()) {
        let h = 1e-6;
        let here = full(&evaluate(&law, v).2);
        for i in 0..law.rows() {
            let at = |step: f64| {
                let mut moved = v;
                moved[i] += step;
                evaluate(&law, moved)
            };
            let (below, above) = (at(-h), at(h));
            let scale = here.iter().flatten().fold(1.0_f64, |m, g| m.max(g.abs()));
            let change = full(&below.2).iter().flatten().zip(full(&above.2).iter().flatten())
                .fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            // A border between, or so near the tip of a cone that the direction of slip turns within the step.
            prop_assume!(change < 1e-3 * scale);
            for k in 0..law.rows() {
                let slope = (above.1[k] - below.1[k]) / (2.0 * h);
                prop_assert!((slope + here[k][i]).abs() < 1e-3 * scale, "{law:?} at {v:?}: {slope} {}", here[k][i]);
            }
        }
    }

    /// Convexity: (γ(a) − γ(b))·(a − b) ≤ 0, and ℓ above each of its tangents.
    #[test]
    fn every_law_is_convex(law in any_law(), a in any_velocity(), b in any_velocity()) {
        let (at_a, at_b) = (evaluate(&law, a), evaluate(&law, b));
        let rows = law.rows();
        let along = |g: &[f64; 3]| (0..rows).map(|i| g[i] * (a[i] - b[i])).sum::<f64>();
        let round_off = 1e-12 * (1.0 + at_a.0.abs() + at_b.0.abs());
        prop_assert!(along(&at_a.1) - along(&at_b.1) <= round_off);
        prop_assert!(at_a.0 >= at_b.0 - along(&at_b.1) - round_off);
    }
}
