//! How impulses change with what constraints are made of: the derivative of all laws in one formula.

use crate::block::{narrow, widened};
use crate::law::{Bounds, LawKind, OwnBounds};
use crate::{Block, Constraint, FactorError, Law, Structure};

/// The numbers of a law that may change from step to step, per row: or the change of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LawData {
    /// The regularisation R (velocity per impulse).
    pub r: [f64; 3],
    /// The bias v̂ (velocity).
    pub v_hat: [f64; 3],
    /// n₀, the normal impulse that bounds friction.
    pub normal_impulse: f64,
    /// Friction relative to n₀: μ, lengths of rolling and torsional friction.
    pub friction: [f64; 3],
    /// The bounds of [`Law::bounded`].
    pub low: [f64; 3],
    /// The upper ones.
    pub high: [f64; 3],
}

/// The impulses of constraints at `v_c`, and their first derivative.
///
/// Every law is `γ = argmin_{γ ∈ C} ½ γᵀRγ − γᵀu`, `u = v̂ − v_c`, over a convex set `C`, so that a change of `R` acts as one
/// of `u` does:
///
/// ```text
/// dγ = G (dv̂ − dv_c − dR γ) + (∂γ/∂n₀) dn₀ + (∂γ/∂c) dc
/// ```
///
/// where `C` grows with a normal impulse `n₀`, given or, under Coulomb's law, the contact's own, and with `c`: friction coefficients and the
/// bounds of [`Law::bounded`].
#[derive(Clone, Debug)]
pub struct Linearization {
    laws: Vec<Law<f64>>,
    v_c: Vec<f64>,
    gamma: Vec<f64>,
    hessian: Vec<Block>,
    /// ∂γ/∂n₀
    slopes: Vec<[f64; 3]>,
    /// Whether `n₀` is the contact's own normal impulse.
    is_coulomb: bool,
}

impl Linearization {
    /// The constraints at `v_c`, one entry per row. With `coulomb`, friction is bounded by the normal impulse there, whatever
    /// bound the laws come with.
    ///
    /// # Panics
    /// If `v_c` does not have the constraints' rows.
    pub fn new(constraints: &[Constraint], v_c: &[f64], coulomb: bool) -> Linearization {
        let mut all = Linearization {
            laws: constraints.iter().map(|c| c.law).collect(),
            v_c: v_c.to_vec(),
            gamma: vec![0.0; v_c.len()],
            hessian: vec![Block::ZERO; constraints.len()],
            slopes: vec![[0.0; 3]; constraints.len()],
            is_coulomb: coulomb,
        };
        let (mut row, mut own) = (0, OwnBounds::default());
        for (k, law) in all.laws.iter_mut().enumerate() {
            let rows = row..row + law.rows();
            row = rows.end;
            let here = widened(&v_c[rows.clone()]);
            if coulomb {
                own.respond(law, here, 0.0);
                law.set_normal_impulse(own.normal);
            }
            let response = law.respond(here, law.stiffness(0.0), Bounds::Given, [0.0; 3]);
            narrow(response.impulse, &mut all.gamma[rows.clone()]);
            (all.hessian[k], all.slopes[k]) = (response.hessian(), response.slope);
        }
        all
    }

    /// The impulses γ, one entry per row.
    pub fn impulses(&self) -> &[f64] {
        &self.gamma
    }

    /// Whether constraint `k` pushes, or would if it moved a little.
    pub fn is_active(&self, k: usize) -> bool {
        self.hessian[k].is_active() || self.slopes[k] != [0.0; 3]
    }

    /// Factors `A − Jᵀ (∂γ/∂v_c) J`, as [`Structure::factor_unsymmetric`] does; `constraints` are those that it was made of.
    ///
    /// # Errors
    /// If a pivot is zero.
    pub fn factor(&self, structure: &mut impl Structure, constraints: &[Constraint]) -> Result<(), FactorError> {
        if self.is_coulomb {
            return structure.factor_unsymmetric(constraints, &self.hessian, &self.slopes);
        }
        // Bounds that are given do not follow the velocities.
        structure.factor_unsymmetric(constraints, &self.hessian, &vec![[0.0; 3]; constraints.len()])
    }

    /// Writes dγ for the changes `dv_c` (one entry per row) and `data` (one per constraint; none: all zero).
    ///
    /// # Panics
    /// If sizes do not fit.
    pub fn change(&self, dv_c: &[f64], data: Option<&[LawData]>, out: &mut [f64]) {
        let (mut row, mut normal) = (0, 0.0);
        for (k, law) in self.laws.iter().enumerate() {
            let change = data.map_or(LawData::default(), |data| data[k]);
            let rows = row..row + law.rows();
            let mut du = [0.0; 3];
            for (i, row) in rows.clone().enumerate() {
                du[i] = change.v_hat[i] - dv_c[row] - change.r[i] * self.gamma[row];
            }
            let mut dgamma = self.hessian[k].apply(du);
            if data.is_some() {
                let grown = law.change_of_set(widened(&self.v_c[rows.clone()]), &change);
                dgamma.iter_mut().zip(grown).for_each(|(d, grown)| *d += grown);
            }
            if law.kind == LawKind::BoundedFriction {
                normal = dgamma[2];
            }
            let dn = if self.is_coulomb { normal } else { change.normal_impulse };
            for (d, slope) in dgamma.iter_mut().zip(self.slopes[k]) {
                *d += slope * dn;
            }
            if law.kind == LawKind::Cone {
                normal = dgamma[2];
            }
            narrow(dgamma, &mut out[rows.clone()]);
            row = rows.end;
        }
    }
}

impl Law<f64> {
    /// The numbers of the law that may change from step to step.
    pub fn data(&self) -> LawData {
        let Self { r, v_hat, friction, low, high, .. } = *self;
        LawData { r, v_hat, normal_impulse: self.normal_impulse[0], friction, low, high }
    }

    /// How the impulses at `v` change as friction and bounds do, at a normal impulse that stays.
    fn change_of_set(&self, v: [f64; 3], change: &LawData) -> [f64; 3] {
        let &LawData { friction, low, high, .. } = change;
        let mut d = [0.0; 3];
        if [friction, low, high] == [[0.0; 3]; 3] {
            return d;
        }
        let k = self.stiffness(0.0);
        // At which of the bounds a row is, which lie `more` farther out by friction, and what friction adds there.
        let row = |i: usize, more: f64, grows: f64| match (self.v_hat[i] - v[i]) * k[i] {
            whole if whole < self.low[i] - more => low[i] - grows,
            whole if whole > self.high[i] + more => high[i] + grows,
            _ => 0.0,
        };
        let slip = [v[0] - self.v_hat[0], v[1] - self.v_hat[1]];
        let speed = slip[0].hypot(slip[1]);
        let n = self.normal_impulse;
        let disc = |n: f64| {
            let slides = speed * k[0] > self.friction[0] * n;
            if slides { slip.map(|x| -x / speed * n * friction[0]) } else { [0.0; 2] }
        };
        match self.kind {
            LawKind::One => d[0] = row(0, 0.0, 0.0),
            LawKind::Three => (0..3).for_each(|i| d[i] = row(i, 0.0, 0.0)),
            LawKind::Torsion => (0..3).for_each(|i| d[i] = row(i, self.friction[i] * n[i], friction[i] * n[i])),
            LawKind::Rolling => {
                [d[0], d[1]] = disc(n[0]);
                d[2] = row(2, self.friction[2] * n[2], friction[2] * n[2]);
            }
            LawKind::BoundedFriction => [d[0], d[1]] = disc(n[2]),
            LawKind::Cone => {
                let (mu, lacks, [k_t, _, k_n]) = (self.friction[0], self.v_hat[2] - v[2], k);
                let reach = mu * speed + lacks;
                if reach > 0.0 && mu * k_n * lacks < speed * k_t {
                    // γ_n = a (μ |s| + v̂_n − v_n), γ_t = −μ γ_n s/|s|, a = k_n k_t / (μ² k_n + k_t).
                    let along = k_n * k_t / (mu * mu * k_n + k_t);
                    let normal = along * (speed - 2.0 * mu * along / k_t * reach);
                    let tangential = along * reach + mu * normal;
                    d = [-slip[0] / speed * tangential, -slip[1] / speed * tangential, normal].map(|x| x * friction[0]);
                }
            }
        }
        d
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Law;

    /// The constraints with data `[r_t, r_n, v̂₁, v̂₂, v̂₃, n₀, c]`, the spin bounded by the contact before it, `c` what friction and bounds
    /// are multiplied by.
    fn constraints(x: &[f64; 7]) -> Vec<Constraint> {
        let [r_t, r_n, v1, v2, v3, n0, c] = *x;
        let belt = [v1, v2];
        vec![
            Law::cone(0.7 * c, r_t, r_n, v3).with_surface_velocity(belt).into(),
            Law::bounded_friction(0.7 * c, r_t, r_n, v3, n0).with_surface_velocity(belt).into(),
            Law::spin_friction(r_t, 0.3 * c, 0.2 * c, n0).into(),
            Law::limit(r_n, v3).into(),
            Law::bounded(r_n, v3, -0.4 * c, 0.6 * c).into(),
            Law::equality(r_n, v3).into(),
            Law::equalities(r_t, [v1, v2, v3]).into(),
            Law::along_third(r_n, v3).into(),
        ]
    }

    const ROWS: usize = 18;

    /// Differences of the impulses and of the constraints' data along a change of everything.
    fn check(v_c: &[f64; 3], x: &[f64; 7], coulomb: bool) {
        let all = |v: [f64; 3], n: [f64; 3]| {
            let one = [v[2]];
            [&v[..], &v, &n, &one, &one, &one, &v, &v].concat()
        };
        let (turn, dv, dx) = ([0.3, -0.5, 0.2], [0.6, -0.2, 0.9], [0.1, 0.2, -0.4, 0.3, 0.7, 0.5, 0.6]);
        let h = 1e-6;
        let at = |h: f64| {
            let v = std::array::from_fn(|i| v_c[i] + h * dv[i]);
            let n = std::array::from_fn(|i| turn[i] * v_c[i] - h * dv[i]);
            (constraints(&std::array::from_fn(|i| x[i] + h * dx[i])), all(v, n))
        };
        let ((plus, v_plus), (minus, v_minus)) = (at(h), at(-h));
        let gamma = |constraints: &[Constraint], v: &[f64]| Linearization::new(constraints, v, coulomb).gamma;
        let (here, v) = at(0.0);
        let linear = Linearization::new(&here, &v, coulomb);
        let data: Vec<LawData> = plus.iter().zip(&minus).map(|(a, b)| scaled(a.law.data(), b.law.data(), h)).collect();
        let dv_c: Vec<f64> = v_plus.iter().zip(&v_minus).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        let mut out = [0.0; ROWS];
        linear.change(&dv_c, Some(&data), &mut out);
        let (plus, minus) = (gamma(&plus, &v_plus), gamma(&minus, &v_minus));
        for i in 0..ROWS {
            let expected = (plus[i] - minus[i]) / (2.0 * h);
            assert!((out[i] - expected).abs() < 1e-7 * (1.0 + expected.abs()), "row {i}: {} {expected}", out[i]);
        }
    }

    fn scaled(a: LawData, b: LawData, h: f64) -> LawData {
        let d = |a: f64, b: f64| (a - b) / (2.0 * h);
        LawData {
            r: std::array::from_fn(|i| d(a.r[i], b.r[i])),
            v_hat: std::array::from_fn(|i| d(a.v_hat[i], b.v_hat[i])),
            normal_impulse: d(a.normal_impulse, b.normal_impulse),
            friction: std::array::from_fn(|i| d(a.friction[i], b.friction[i])),
            low: std::array::from_fn(|i| d(a.low[i], b.low[i])),
            high: std::array::from_fn(|i| d(a.high[i], b.high[i])),
        }
    }

    #[test]
    fn every_law_in_every_region() {
        let x = [0.3, 0.5, 0.1, -0.2, 0.4, 0.8, 1.0];
        // Sticks, slides, slides fast and parts, parts.
        for v_c in [[0.12, -0.21, -0.5], [1.5, -0.8, -0.3], [-3.0, 2.0, 0.5], [0.1, 0.0, 9.0]] {
            for coulomb in [false, true] {
                check(&v_c, &x, coulomb);
            }
        }
    }
}
