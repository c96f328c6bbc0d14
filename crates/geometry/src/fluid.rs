//! Geoms as ellipsoids in a medium: what drag, lift and added mass depend on.
//!
//! The model is MuJoCo's (`fluidshape="ellipsoid"`). Added mass and added inertia are those of an ellipsoid in potential flow (Lamb,
//! *Hydrodynamics*, §§ 114, 115; Tuckerman, *Inertia factors of ellipsoids for use in airship design*, NACA report 210, 1925).

use std::f64::consts::PI;

use spatial::{Pose, Quat, Vec3};

use crate::inertia::MassModel;
use crate::scene::{FluidCoefficients, Geom};
use crate::shape::{Mesh, Shape};

/// The ellipsoid that stands for a geom in a medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidEllipsoid {
    /// Its centre and axes, in the frame of the geom's body.
    pub pose: Pose<f64>,
    /// Semi-axes, m.
    pub semi_axes: [f64; 3],
    /// How strongly the medium acts on it.
    pub coefficients: FluidCoefficients,
}

impl FluidEllipsoid {
    /// Volume, m³.
    pub fn volume(&self) -> f64 {
        4.0 / 3.0 * PI * self.semi_axes.iter().product::<f64>()
    }

    /// Added mass along each axis per density of the medium, m³.
    pub fn added_mass(&self) -> [f64; 3] {
        let volume = self.volume();
        self.kappas().map(|kappa| volume * kappa / (2.0 - kappa).max(LEAST_DENOMINATOR))
    }

    /// Added moment of inertia about each axis per density of the medium, m⁵.
    pub fn added_inertia(&self) -> [f64; 3] {
        let (volume, kappas) = (self.volume(), self.kappas());
        std::array::from_fn(|axis| {
            let [j, k] = [(axis + 1) % 3, (axis + 2) % 3];
            let [b, c] = [j, k].map(|at| self.semi_axes[at] * self.semi_axes[at]);
            let (difference, sum, kappa) = (b - c, b + c, kappas[k] - kappas[j]);
            // Numerator and denominator have the same sign: both are zero in a body of revolution.
            let denominator = (2.0 * difference - sum * kappa).abs().max(LEAST_DENOMINATOR);
            volume / 5.0 * difference * difference * kappa.abs() / denominator
        })
    }

    /// κ = abc ∫₀^∞ dλ / √((a² + λ)³ (b² + λ) (c² + λ)) for each of the semi-axes as a: Lamb's α₀, β₀, γ₀.
    fn kappas(&self) -> [f64; 3] {
        std::array::from_fn(|axis| kappa(std::array::from_fn(|k| self.semi_axes[(axis + k) % 3])))
    }
}

/// Below this denominators count as this, as MuJoCo has it.
const LEAST_DENOMINATOR: f64 = 1e-14;

/// Kronrod's rule of 15 points on \[0, 1\]: the nodes up to its middle and their weights, to as many digits as MuJoCo has. In thin ellipsoids
/// the ninth changes the added mass by some 1e-6 of it.
const KRONROD: [[f64; 2]; 8] = [
    [0.00427231, 0.01146766],
    [0.02544604, 0.03154605],
    [0.06756779, 0.05239501],
    [0.12923441, 0.07032663],
    [0.20695638, 0.08450236],
    [0.29707742, 0.09517529],
    [0.39610752, 0.10221647],
    [0.5, 0.10474107],
];

/// The κ of the first of these semi-axes. It is found as MuJoCo does, by Kronrod's rule after the substitution λ = s x³ / (1 − x)²,
/// s = (a³bc)^(2/5), so that thin ellipsoids, where the rule is off, are those of MuJoCo too.
fn kappa([a, b, c]: [f64; 3]) -> f64 {
    let scale = libm::pow(a * a * a * b * c, 0.4);
    let integrand = |x: f64| {
        let rest = 1.0 - x;
        let lambda = scale * x * x * x / (rest * rest);
        let rate = scale * x * x * (3.0 - x) / (rest * rest * rest);
        let [a, b, c] = [a, b, c].map(|axis| 1.0 + lambda / (axis * axis));
        rate / (a * (a * b * c).sqrt())
    };
    let pairs = KRONROD.iter().map(|[x, weight]| {
        let mirrored = if *x == 0.5 { 0.0 } else { integrand(1.0 - x) };
        weight * (integrand(*x) + mirrored)
    });
    pairs.sum::<f64>() / (a * a)
}

impl Geom {
    /// The ellipsoid that stands for it in a medium. None without coefficients, and of planes and height fields.
    ///
    /// Primitives lend it their half sizes. That of a mesh lies about its centre of mass along its principal axes, as long as the mesh
    /// reaches to either side.
    pub fn fluid_ellipsoid(&self) -> Option<FluidEllipsoid> {
        let coefficients = self.fluid?;
        let (within, semi_axes) = match &self.shape {
            Shape::Plane { .. } | Shape::HeightField(_) => return None,
            Shape::Mesh(mesh) => {
                let within = principal_frame(&self.shape);
                (within, half_sizes(mesh, within))
            }
            _ => (Pose::IDENTITY, self.half_size()),
        };
        Some(FluidEllipsoid { pose: self.pose * within, semi_axes, coefficients })
    }
}

/// The centre of mass and principal axes of a shape in its own frame. A frame that is the principal one up to the rounding of single
/// precision, in which files have vertices, stays as it is: of a cube any other would do.
fn principal_frame(shape: &Shape) -> Pose<f64> {
    const ROUNDING: f64 = 1e-5;
    let solid = shape.inertia(1.0, MassModel::Solid).or_else(|_| shape.inertia(1.0, MassModel::Shell));
    let Ok(inertia) = solid else { return Pose::IDENTITY };
    let [xx, xy, xz, yy, yz, zz] = inertia.inertia.entries();
    let sum = xx + yy + zz;
    let is_centred = inertia.com.norm() <= ROUNDING * (sum / inertia.mass).sqrt();
    let pos = if is_centred { Vec3::ZERO } else { inertia.com };
    if [xy, xz, yz].iter().all(|product| product.abs() <= ROUNDING * sum) {
        return Pose::new(pos, Quat::IDENTITY);
    }
    let (axes, _) = inertia.inertia.principal_axes();
    Pose::new(pos, Quat::from_mat3(&axes))
}

/// How far a mesh reaches along the axes of a frame from its origin, to either side, m.
fn half_sizes(mesh: &Mesh, frame: Pose<f64>) -> [f64; 3] {
    let axes = frame.rot.to_mat3();
    let mut sizes = [0.0_f64; 3];
    for vertex in &mesh.vertices {
        let at = axes.transpose_mul(*vertex - frame.pos).to_array();
        sizes.iter_mut().zip(at).for_each(|(size, x)| *size = size.max(x.abs()));
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ellipsoid(semi_axes: [f64; 3]) -> FluidEllipsoid {
        FluidEllipsoid { pose: Pose::IDENTITY, semi_axes, coefficients: FluidCoefficients::default() }
    }

    #[test]
    fn a_ball_moves_half_its_volume() {
        let ball = ellipsoid([0.3; 3]);
        for mass in ball.added_mass() {
            assert!((mass / ball.volume() - 0.5).abs() < 1e-6, "{mass}");
        }
        assert_eq!(ball.added_inertia(), [0.0; 3]);
    }

    /// The closed forms of Lamb, *Hydrodynamics*, § 114, of a spheroid with a/b = 2, by its volume and its moment of inertia.
    #[test]
    fn a_spheroid_has_the_inertia_coefficients_of_lamb() {
        let spheroid = ellipsoid([0.5, 0.25, 0.25]);
        let volume = spheroid.volume();
        let [along, across, _] = spheroid.added_mass().map(|mass| mass / volume);
        let turn = spheroid.added_inertia()[1] / (volume / 5.0 * (0.25 + 0.0625));
        for (found, expected) in [(along, 0.210_015), (across, 0.704_210), (turn, 0.239_424)] {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}
