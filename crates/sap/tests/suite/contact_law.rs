//! The constraints alone: values by hand, derivatives against finite differences in each region, across boundaries.

use proptest::prelude::*;
use sapwood_sap::{Block, Constraint, Law};

fn evaluate(constraint: &Constraint, v_c: &[f64]) -> (f64, Vec<f64>, Block) {
    let mut gamma = vec![0.0; v_c.len()];
    let mut hessian = Block::ZERO;
    let cost = constraint.evaluate(v_c, &mut gamma, &mut hessian);
    (cost, gamma, hessian)
}

/// A contact given by y instead of v_c = v̂ − R y.
fn at(contact: &Law<f64>, y: [f64; 3]) -> (f64, [f64; 3], Block) {
    contact.evaluate([-contact.r[0] * y[0], -contact.r[0] * y[1], contact.v_hat[2] - contact.r[2] * y[2]])
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} and {b} differ by more than {tolerance}");
}

#[test]
fn stiction_is_the_identity() {
    let contact = Law::cone(0.5, 0.25, 0.5, 0.125);
    let (cost, gamma, hessian) = at(&contact, [0.3, 0.4, 1.0]); // |y_t| = 0.5 = μ y_n: on the edge
    assert_eq!(hessian, Block::diagonal(4.0, 4.0, 2.0));
    for (gamma, expected) in gamma.iter().zip([0.3, 0.4, 1.0]) {
        close(*gamma, expected, 1e-15);
    }
    close(cost, 0.5 * (0.25 * 0.25 + 0.5), 1e-15);
}

#[test]
fn sliding_by_hand() {
    // μ̂ = μ R_t/R_n = 0.5, μ̃² = μ μ̂ = 0.5: γ_n = (1 + 0.5·5) / 1.5 = 7/3 for y = (3, 4, 1).
    let contact = Law::cone(1.0, 0.5, 1.0, 0.0);
    let (cost, gamma, hessian) = at(&contact, [3.0, 4.0, 1.0]);
    let n = 7.0 / 3.0;
    for (gamma, expected) in gamma.iter().zip([0.6 * n, 0.8 * n, n]) {
        close(*gamma, expected, 1e-15);
    }
    close(cost, 0.5 * (0.5 * n * n + n * n), 1e-14);
    close(hessian.0[5], 1.0 / 1.5, 1e-15); // 1 / (R_n (1 + μ̃²))
    close(hessian.0[2], 0.6 / 1.5, 1e-15); // μ t̂₁ / (R_n (1 + μ̃²))
}

#[test]
fn no_contact_is_zero_on_and_beyond_its_edge() {
    let contact = Law::cone(1.0, 0.5, 1.0, 0.0); // edge: y_n = −y_r/2
    assert_eq!(at(&contact, [3.0, 4.0, -2.5]), (0.0, [0.0; 3], Block::ZERO));
    assert_eq!(at(&contact, [0.0, 0.0, 0.0]), (0.0, [0.0; 3], Block::ZERO));
    assert_eq!(at(&contact, [0.0, 0.0, -1.0]), (0.0, [0.0; 3], Block::ZERO));
    assert!(at(&contact, [3.0, 4.0, -2.4999]).1[2] > 0.0);
}

#[test]
fn no_friction() {
    let contact = Law::cone(0.0, 0.5, 0.25, 0.0);
    for y_t in [[0.0, 0.0], [3.0, -4.0]] {
        let (cost, gamma, hessian) = at(&contact, [y_t[0], y_t[1], 2.0]);
        assert_eq!(gamma, [0.0, 0.0, 2.0]);
        assert_eq!(cost, 0.5);
        assert_eq!(hessian, Block::diagonal(0.0, 0.0, 4.0));
        assert!(!at(&contact, [y_t[0], y_t[1], -2.0]).2.is_active());
    }
}

#[test]
fn no_tangential_velocity() {
    let contact = Law::cone(0.5, 1e-6, 1e-4, 0.0);
    let (_, gamma, hessian) = at(&contact, [0.0, 0.0, 1.0]);
    assert_eq!(gamma, [0.0, 0.0, 1.0]);
    assert_eq!(hessian, Block::diagonal(1.0 / 1e-6, 1.0 / 1e-6, 1.0 / 1e-4));
}

#[test]
fn limit_by_hand() {
    let limit = Constraint::from(Law::limit(0.5, 1.0));
    assert_eq!(evaluate(&limit, &[0.0]), (1.0, vec![2.0], Block::scalar(2.0)));
    assert_eq!(evaluate(&limit, &[1.0]), (0.0, vec![0.0], Block::ZERO));
    assert_eq!(evaluate(&limit, &[3.0]), (0.0, vec![0.0], Block::ZERO));
}

#[test]
fn nan_does_not_vanish() {
    let contact = Law::cone(0.5, 1.0, 1.0, 0.0);
    for row in 0..3 {
        for v_n in [-1.0, 0.1] {
            let mut v_c = [0.3, 0.2, v_n];
            v_c[row] = f64::NAN;
            assert!(contact.evaluate(v_c).0.is_nan(), "{v_c:?}");
        }
    }
    assert!(Law::limit(1.0, 0.0).evaluate([f64::NAN, 0.0, 0.0]).0.is_nan());
}

fn contacts() -> impl Strategy<Value = Law<f64>> {
    (0.0..2.0, -3.0..0.0, -3.0..0.0, -1.0..1.0f64)
        .prop_map(|(mu, t, n, vn_hat)| Law::cone(mu, 10f64.powf(t), 10f64.powf(n), vn_hat))
}

/// `y` in every region: the normal component relative to the tangential.
fn points() -> impl Strategy<Value = [f64; 3]> {
    (-2.0..2.0, -2.0..2.0, -4.0..4.0f64).prop_map(|(a, b, n)| [a, b, n])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn impulse_is_in_the_cone(contact in contacts(), y in points()) {
        let (_, gamma, _) = at(&contact, y);
        prop_assert!(gamma[0].hypot(gamma[1]) <= contact.friction[0] * gamma[2] * (1.0 + 1e-15) + 1e-300);
    }

    /// γ = −∂ℓ/∂v_c everywhere: ℓ is C¹, so central differences work across boundaries too.
    #[test]
    fn impulse_is_minus_the_gradient(contact in contacts(), y in points()) {
        let v_c = [-contact.r[0] * y[0], -contact.r[0] * y[1], contact.v_hat[2] - contact.r[2] * y[2]];
        let (_, gamma, _) = contact.evaluate(v_c);
        let r = [contact.r[0], contact.r[0], contact.r[2]];
        for i in 0..3 {
            // Steps in units of y: differences in ℓ of order R·h·γ, curvature at most 1/R.
            let h = 1e-6;
            let moved = |step: f64| { let mut v = v_c; v[i] += step * r[i]; contact.evaluate(v).0 };
            let difference = -(moved(h) - moved(-h)) / (2.0 * h * r[i]);
            // h for the curvature's jump; ε ℓ/(h R) for round-off.
            let scale = 1.0 + contact.evaluate(v_c).0 / r[i];
            prop_assert!((difference - gamma[i]).abs() <= 2.0 * h + 1e-9 * scale, "{i}: {difference} {}", gamma[i]);
        }
    }

    /// G = −∂γ/∂v_c inside the regions.
    #[test]
    fn hessian_is_minus_the_gradient_of_the_impulse(contact in contacts(), y in points()) {
        let y_r = y[0].hypot(y[1]);
        let (mu, mu_hat) = (contact.friction[0], contact.friction[0] * contact.r[0] / contact.r[2]);
        prop_assume!((y_r - mu * y[2]).abs() > 1e-3 && (y[2] + mu_hat * y_r).abs() > 1e-3 && y_r > 1e-2);
        let v_c = [-contact.r[0] * y[0], -contact.r[0] * y[1], contact.v_hat[2] - contact.r[2] * y[2]];
        let (_, _, hessian) = contact.evaluate(v_c);
        let r = [contact.r[0], contact.r[0], contact.r[2]];
        for i in 0..3 {
            let h = 1e-5;
            let moved = |step: f64| { let mut v = v_c; v[i] += step * r[i]; contact.evaluate(v).1 };
            let (plus, minus) = (moved(h), moved(-h));
            let mut unit = [0.0; 3];
            unit[i] = 1.0;
            let column = hessian.apply(unit);
            for k in 0..3 {
                // In units of ∂γ/∂y (times R_i); third derivatives are at most of order μ (y_n + y_r) / y_r³.
                let difference = -(plus[k] - minus[k]) / (2.0 * h);
                prop_assert!((difference - column[k] * r[i]).abs() <= 2e-3 * (h / y_r).powi(2) / 1e-6 + 1e-8,
                    "{i} {k}: {difference} {}", column[k] * r[i]);
            }
        }
    }

    /// ℓ convex: −γ is a monotone function of v_c; G ⪰ 0.
    #[test]
    fn gradient_is_monotone(contact in contacts(), y in points(), z in points(), x in points()) {
        let v_c = |y: [f64; 3]| [-contact.r[0] * y[0], -contact.r[0] * y[1], contact.v_hat[2] - contact.r[2] * y[2]];
        let ((_, a, hessian), (_, b, _)) = (at(&contact, y), at(&contact, z));
        let (u, w) = (v_c(y), v_c(z));
        let product: f64 = (0..3).map(|i| -(a[i] - b[i]) * (u[i] - w[i])).sum();
        prop_assert!(product >= -1e-14);
        prop_assert!(hessian.quadratic_form(&x) >= -1e-12 * hessian.quadratic_form(&[1.0; 3]).abs());
    }

    /// Continuous across both boundaries: a point on the edge and its neighbours.
    #[test]
    fn continuous_across_boundaries(contact in contacts(), angle in 0.0..std::f64::consts::TAU, y_r in 0.1..2.0f64) {
        prop_assume!(contact.friction[0] > 1e-2);
        let mu_hat = contact.friction[0] * contact.r[0] / contact.r[2];
        for edge in [y_r / contact.friction[0], -mu_hat * y_r] {
            let y = |y_n: f64| [y_r * angle.cos(), y_r * angle.sin(), y_n];
            let (a, b) = (at(&contact, y(edge - 1e-9)), at(&contact, y(edge + 1e-9)));
            for i in 0..3 {
                prop_assert!((a.1[i] - b.1[i]).abs() <= 1e-8 * (1.0 + contact.friction[0]));
            }
            prop_assert!((a.0 - b.0).abs() <= 1e-8 * (1.0 + edge.abs()) * contact.r[2].max(contact.r[0]) * (1.0 + mu_hat).powi(2));
        }
    }
}
