//! Isotropic elastic materials with Rayleigh damping.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

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
    /// Energy μ ‖F − R‖² + λ/2 (det F − 1)²: large strains, and elements that resist losing their volume; Newton's method in every step.
    Corotated,
    /// The stable Neo-Hookean energy μ/2 (‖F‖² − 3) − μ (J − 1) + (λ + μ)/2 (J − 1)², J = det F (Smith, de Goes, Kim 2018): rubber at any strain,
    /// elements that recover from inversion; Newton's method in every step.
    StableNeoHookean,
}

impl MaterialModel {
    /// The models by their names.
    pub const NAMED: [(&str, Self); 4] = [
        ("linear", Self::Linear),
        ("linear-corotated", Self::LinearCorotated),
        ("corotated", Self::Corotated),
        ("stable-neo-hookean", Self::StableNeoHookean),
    ];

    /// Whether a step is a nonlinear equation.
    pub fn is_nonlinear(self) -> bool {
        matches!(self, Self::Corotated | Self::StableNeoHookean)
    }
}

impl Display for MaterialModel {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let name = Self::NAMED.iter().find(|(_, model)| model == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// Reads what `Display` writes:
///
/// ```
/// use sapwood_deformable::MaterialModel;
/// assert_eq!("stable-neo-hookean".parse(), Ok(MaterialModel::StableNeoHookean));
/// assert!("neo-hookean".parse::<MaterialModel>().is_err());
/// ```
impl FromStr for MaterialModel {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, model)| *model).ok_or_else(|| Error::Model { name: name.into() })
    }
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
        // λ < 0 would reward elements that lose their volume.
        if self.model.is_nonlinear() {
            check("Poisson's ratio", poisson, "a number of 0 or more for a nonlinear material", poisson >= 0.0)?;
        }
        Ok(())
    }
}
