//! Stable PD control of articulated bodies.
//!
//! A PD controller that acts on where the step leads instead of where it starts (Tan, Liu, Turk, *Stable Proportional-Derivative
//! Controllers*, 2011) stays stable at any gain. With positions extrapolated by the present velocity and velocities implicit,
//!
//! ```text
//! τ = −K_p (q ⊞ dt q̇ ⊟ q̄) − K_d (q̇ + dt q̈ − q̇̄)
//! (M + dt K_d) q̈ = Q − C,      Q = −K_p (q ⊞ dt q̇ ⊟ q̄) − K_d (q̇ − q̇̄),      τ = Q − dt K_d q̈
//! ```
//!
//! `M` includes the joints' armature, `C` is the bias force. For ball and free joints the error is the rotation vector of
//! `q̄⁻¹ ∘ (q ⊞ dt q̇)`, the shorter arc, in the frame of the velocity. Four [methods](Method) solve the same system.
//! K_d alone is implicit in all of them, as in the papers; what a step does under [`Pd`](crate::Pd) has a share of K_p as well where K_d is below
//! 1.5 dt K_p.
//!
//! ```
//! use sapwood_sim::stable_pd::{Command, Method, Solver};
//! let mjcf = r#"<mujoco><worldbody><body><joint axis="0 1 0"/><geom type="sphere" size=".1" pos="0 0 -1" mass="1"/></body>
//!     </worldbody></mujoco>"#;
//! let model = formats::load_str(mjcf, None, &formats::LoadOptions::default())?.model;
//! let mut solver = Solver::new(&model, Method::Maba);
//! let command = Command { kp: &[1e6], kd: &[1e4], target: &[0.5], target_velocity: None, effort_limit: None };
//! solver.solve(&[0.0], &[0.0], &command, 1.0 / 30.0)?;
//! assert!(solver.acceleration()[0] > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod command;
mod pcg;
mod solver;
mod sparse;

pub use command::{Command, Error, pd_force};
pub use solver::{Method, Report, Solver};
