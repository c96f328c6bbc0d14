//! Isotropic elastic materials with Rayleigh damping.

use serde::{Deserialize, Serialize};

use crate::Error;

/// The stress that a deformation makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MaterialModel {
    /// Hooke's law of small strains: right for small rotations only, cheapest.
    Linear,
    /// Hooke's law in axes that turn with each element, turned as at the start of the step: one positive definite system a step,
    /// large rotations, moderate strains.
    #[default]
    LinearCorotated,
}

/// An isotropic material. SI units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// The stress that a deformation makes.
    pub model: MaterialModel,
    /// Young's modulus E, Pa, positive.
    pub young: f64,
    /// Poisson's ratio ν, −1 < ν < ½.
    pub poisson: f64,
    /// Mass density of the undeformed body ρ, kg/m³, positive.
    pub density: f64,
    /// Rayleigh damping α: damping α M, 1/s.
    pub damping_mass: f64,
    /// Rayleigh damping β: damping β K, s.
    pub damping_stiffness: f64,
}

impl Default for Material {
    /// Soft rubber foam: E 10⁵ Pa, ν 0.4, ρ 1000 kg/m³, β 0.01 s, linear-corotated.
    fn default() -> Self {
        Self {
            model: MaterialModel::default(),
            young: 1e5,
            poisson: 0.4,
            density: 1000.0,
            damping_mass: 0.0,
            damping_stiffness: 0.01,
        }
    }
}

impl Material {
    /// Lamé's parameters λ and μ, Pa.
    pub fn lame(&self) -> (f64, f64) {
        let (e, nu) = (self.young, self.poisson);
        (e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu)))
    }

    /// # Errors
    /// The first parameter that is out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        let check = |what, got: f64, expected, ok: bool| {
            if ok && got.is_finite() { Ok(()) } else { Err(Error::Parameter { what, got, expected }) }
        };
        let Self { young, poisson, density, damping_mass, damping_stiffness, .. } = *self;
        check("Young's modulus", young, "a positive number, Pa", young > 0.0)?;
        check(
            "Poisson's ratio",
            poisson,
            "a number above -1 and at most 0.4999 (0.5 is incompressible, which these elements cannot be)",
            poisson > -1.0 && poisson <= 0.4999,
        )?;
        check("the density", density, "a positive number, kg/m³", density > 0.0)?;
        check("the mass-proportional damping", damping_mass, "a number of 0 or more, 1/s", damping_mass >= 0.0)?;
        check(
            "the stiffness-proportional damping",
            damping_stiffness,
            "a number of 0 or more, s",
            damping_stiffness >= 0.0,
        )?;
        Ok(())
    }
}
