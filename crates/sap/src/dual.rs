//! Hessians of sliding friction with a direction that Newton's method can rely on.
//!
//! Friction on a slip `u` has the Hessian `s (I − t̂t̂ᵀ)`, `t̂ = u/|u|`, `s = |γ_t|/|u|`: stiff across the slip, none along it. While
//! the slip's direction is not yet found this is wrong by as much as it can be, and the line search cuts Newton's steps down.
//! The direction of the impulse, `λ̂ = λ/|γ_t|` from the last step's linear model, changes less. Linearising `γ_t |u| = |γ_t| u`
//! instead of `γ_t = |γ_t| u/|u|` gives
//!
//! ```text
//! s (I − ½ (λ̂ t̂ᵀ + t̂ λ̂ᵀ)),   |λ̂| ≤ 1
//! ```
//!
//! which is positive semidefinite, and the Hessian where `λ̂ = t̂`: at the solution. It is the primal-dual method of Chan, Golub and
//! Mulet for sums of norms (*A Nonlinear Primal-Dual Method for Total Variation-Based Image Restoration*, 1999).
//!
//! In the friction cone `|γ_t| = μ γ_n`, and `s` is the curvature of a stiff surface times the impulse that holds the velocity on it.
//! An iterate a little beside the surface has an impulse many times too great, and steps that bend with it many times too
//! short (Maratos' effect): `γ_n`, too, is better taken from the linear model.

use crate::{Block, SolverParameters};

/// A contact with the friction cone: it slides where the normal and tangential rows are coupled, and
/// `G = c [μt̂; 1][μt̂; 1]ᵀ + s (I − t̂t̂ᵀ)`.
#[inline]
pub(crate) fn of_cone(block: &Block, gamma: &[f64], dual: &[f64]) -> Block {
    let [g11, _, g13, g22, g23, c] = block.0;
    let along = g13 * g13 + g23 * g23;
    if along == 0.0 {
        return *block;
    }
    let friction = norm(gamma);
    if friction == 0.0 {
        return *block;
    }
    // c μ² = |G_tn|² / c
    let s = g11 + g22 - along / c;
    let t = [gamma[0] / friction, gamma[1] / friction];
    let share = (dual[2] / gamma[2]).clamp(SolverParameters::STANDARD.convex.min_curvature_share, 1.0);
    let mut flatter = *block;
    add_across(&mut flatter, (share - 1.0) * s, t);
    turned(&flatter, share * s, t, dual, friction / gamma[2] * dual[2])
}

/// `block += s (I − t̂t̂ᵀ)`
#[inline]
fn add_across(block: &mut Block, s: f64, t: [f64; 2]) {
    block.0[0] += s * t[1] * t[1];
    block.0[1] -= s * t[0] * t[1];
    block.0[3] += s * t[0] * t[0];
}

/// Friction in a disc: `G_t = s (I − t̂t̂ᵀ)` where it slides, `I / r` where it sticks.
#[inline]
pub(crate) fn of_disc(block: &Block, gamma: &[f64], dual: &[f64], r: f64) -> Block {
    let s = block.0[0] + block.0[3];
    let friction = norm(gamma);
    if s * r > 1.5 || friction == 0.0 {
        return *block;
    }
    turned(block, s, [gamma[0] / friction, gamma[1] / friction], dual, friction)
}

/// `block + s (t̂t̂ᵀ − ½ (λ̂ t̂ᵀ + t̂ λ̂ᵀ))`, `λ̂ = λ/bound` cut to length 1.
#[inline]
fn turned(block: &Block, s: f64, t: [f64; 2], dual: &[f64], bound: f64) -> Block {
    let size = norm(dual).max(bound);
    if size.is_nan() || size <= 0.0 || bound <= 0.0 {
        return *block;
    }
    let l = [dual[0] / size, dual[1] / size];
    let mut turned = *block;
    turned.0[0] += s * t[0] * (t[0] - l[0]);
    turned.0[1] += s * (t[0] * t[1] - 0.5 * (l[0] * t[1] + t[0] * l[1]));
    turned.0[3] += s * t[1] * (t[1] - l[1]);
    turned
}

#[inline]
fn norm(x: &[f64]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]).sqrt()
}
