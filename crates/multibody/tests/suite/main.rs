//! The tests of `multibody` in one program, which is linked once. Beside it are those that want a process of their own.

mod chains;
mod common;
mod delassus;
mod dynamics;
mod effective_mass;
mod forward_dynamics;
mod free_step;
mod implicit;
mod inverse_kinematics;
mod inverse_weights;
mod references;
mod residuals;
mod unsymmetric;
