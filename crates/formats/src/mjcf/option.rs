//! `<option>`: time step, gravity, and settings of MuJoCo's solver, which is not ours.

use multibody::Medium;
use spatial::Vec3;

use super::defaults::parse_keyword;
use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// What `<option>` sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Time step, s.
    pub timestep: f64,
    /// Below which speed islands rest that may fall asleep, m/s.
    pub sleep_speed: f64,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3<f64>,
    /// The magnetic field.
    pub magnetic_field: Vec3<f64>,
    /// What bodies move in.
    pub medium: Medium,
    /// Bit k is set when actuators of group k give no force.
    pub disabled_actuators: u32,
    /// Switches of `<flag>`.
    pub flags: Flags,
    /// What friction cones make of `solref`, see [`multibody::Reference`].
    pub pyramid: f64,
}

/// Parts of the simulation that `<flag>` can switch off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags {
    /// Contacts.
    pub contact: bool,
    /// Equality constraints.
    pub equality: bool,
    /// Limits of joints and tendons.
    pub limit: bool,
    /// Springs of joints and tendons.
    pub spring: bool,
    /// Damping of joints and tendons.
    pub damper: bool,
    /// Forces of actuators.
    pub actuation: bool,
    /// Clamping of controls.
    pub clamp_ctrl: bool,
    /// Dry friction of joints and tendons.
    pub friction_loss: bool,
    /// That geoms of parent and child never touch.
    pub filter_parent: bool,
    /// That time constants of `solref` count as two steps at least.
    pub safe_references: bool,
    /// That islands fall asleep that rest.
    pub sleep: bool,
}

/// Settings of the solver that have no counterpart here, each with MuJoCo's default.
const SOLVER: [(&str, &str); 12] = [
    ("jacobian", "auto"),
    ("solver", "Newton"),
    ("iterations", "100"),
    ("tolerance", "1e-8"),
    ("ls_iterations", "50"),
    ("ls_tolerance", "0.01"),
    ("noslip_iterations", "0"),
    ("noslip_tolerance", "1e-6"),
    ("ccd_iterations", "35"),
    ("ccd_tolerance", "1e-6"),
    ("sdf_iterations", "10"),
    ("sdf_initpoints", "40"),
];

impl Options {
    /// Reads every `<option>` below the root.
    pub fn read(root: Element<'_>, warnings: &mut Warnings) -> Result<Self, LoadError> {
        let flags = Flags {
            contact: true,
            equality: true,
            limit: true,
            spring: true,
            damper: true,
            actuation: true,
            clamp_ctrl: true,
            friction_loss: true,
            filter_parent: true,
            safe_references: true,
            sleep: false,
        };
        let (gravity, magnetic_field) = (Vec3::new(0.0, 0.0, -9.81), Vec3::new(0.0, -0.5, 0.0));
        let medium = Medium::default();
        let mut options = Self {
            timestep: 0.002,
            sleep_speed: 1e-3,
            gravity,
            magnetic_field,
            medium,
            disabled_actuators: 0,
            flags,
            pyramid: 1.0,
        };
        let (mut no_gravity, mut is_elliptic, mut impratio) = (false, false, 1.0);
        for element in root.children_named("option") {
            if let Some(timestep) = element.number("timestep")? {
                if timestep <= 0.0 {
                    return Err(element.error(format!("timestep=\"{timestep}\": expected a number above 0")));
                }
                options.timestep = timestep;
            }
            if let Some(speed) = element.number("sleep_tolerance")? {
                if speed < 0.0 {
                    return Err(element.error(format!("sleep_tolerance=\"{speed}\": expected a number of 0 or more")));
                }
                options.sleep_speed = speed;
            }
            if let Some(gravity) = element.array("gravity")? {
                options.gravity = gravity.into();
            }
            if let Some(field) = element.array("magnetic")? {
                options.magnetic_field = field.into();
            }
            if let Some(groups) = element.numbers("actuatorgroupdisable")? {
                options.disabled_actuators = group_bits(&groups).map_err(|message| element.error(message))?;
            }
            if let Some(cone) = element.attribute("cone") {
                is_elliptic = cone == "elliptic";
            }
            impratio = element.number("impratio")?.filter(|ratio| *ratio > 0.0).unwrap_or(impratio);
            warn_about_solver(element, warnings);
            read_medium(element, &mut options.medium)?;
            // In force already where the flag `override` says so, see `overrides`.
            element.skip(&["o_margin", "o_solref", "o_solimp", "o_friction"]);
            for flag in element.children_named("flag") {
                no_gravity = options.flags.read(flag)?.unwrap_or(no_gravity);
            }
        }
        options.pyramid = if is_elliptic { 0.0 } else { 1.0 / impratio };
        if no_gravity {
            options.gravity = Vec3::ZERO;
        }
        Ok(options)
    }
}

fn group_bits(groups: &[f64]) -> Result<u32, String> {
    groups.iter().try_fold(0, |bits, &group| match group.fract() == 0.0 && (0.0..=30.0).contains(&group) {
        true => Ok(bits | 1 << group as u32),
        false => Err(format!("actuatorgroupdisable: {group}: expected integers from 0 to 30")),
    })
}

fn warn_about_solver(element: Element<'_>, warnings: &mut Warnings) {
    for (name, default) in SOLVER {
        if element.attribute(name).is_some_and(|value| value != default) {
            warnings.add_attribute(element, name, "a setting of MuJoCo's solver: ignored, the solver here is another");
        }
    }
    if element.attribute("integrator").is_some_and(|value| value != "Euler") {
        let message = "ignored: the scheme of integration is an option of the simulation";
        warnings.add_attribute(element, "integrator", message);
    }
    if element.attribute("cone").is_some_and(|value| value != "elliptic") {
        warnings.add_attribute(
            element,
            "cone",
            "friction cones are elliptic here; what a pyramid makes of `solref` counts",
        );
    }
    if element.attribute("impratio").is_some_and(|value| value.parse() != Ok(1.0)) {
        warnings.add_attribute(
            element,
            "impratio",
            "ignored: friction is Coulomb's, unless the simulation has an option of this name",
        );
    }
}

fn read_medium(element: Element<'_>, medium: &mut Medium) -> Result<(), LoadError> {
    for (name, value) in [("density", &mut medium.density), ("viscosity", &mut medium.viscosity)] {
        if let Some(given) = element.number(name)? {
            if given < 0.0 {
                return Err(element.error(format!("{name}=\"{given}\": expected a number of 0 or more")));
            }
            *value = given;
        }
    }
    if let Some(wind) = element.array("wind")? {
        medium.wind = wind.into();
    }
    Ok(())
}

impl Flags {
    /// Reads the switches; returns whether gravity is switched off where that is said.
    fn read(&mut self, element: Element<'_>) -> Result<Option<bool>, LoadError> {
        const SWITCH: [(&str, bool); 2] = [("enable", true), ("disable", false)];
        let read = |name: &str| -> Result<Option<bool>, LoadError> {
            element.attribute(name).map(|value| parse_keyword(element, name, value, &SWITCH)).transpose()
        };
        let fields: [(&str, &mut bool); 11] = [
            ("contact", &mut self.contact),
            ("equality", &mut self.equality),
            ("limit", &mut self.limit),
            ("spring", &mut self.spring),
            ("damper", &mut self.damper),
            ("actuation", &mut self.actuation),
            ("clampctrl", &mut self.clamp_ctrl),
            ("frictionloss", &mut self.friction_loss),
            ("filterparent", &mut self.filter_parent),
            ("refsafe", &mut self.safe_references),
            ("sleep", &mut self.sleep),
        ];
        for (name, field) in fields {
            *field = read(name)?.unwrap_or(*field);
        }
        if read("constraint")? == Some(false) {
            (self.contact, self.equality, self.limit, self.friction_loss) = (false, false, false, false);
        }
        // In force already, see `overrides`.
        element.skip(&["override"]);
        // Ways of computing and reporting, none of which changes what is modelled.
        element.skip(&["autoreset", "diagexact", "energy", "eulerdamp", "fwdinv", "invdiscrete", "island"]);
        element.skip(&["midphase", "multiccd", "nativeccd", "sensor", "speculative", "warmstart"]);
        Ok(read("gravity")?.map(|on| !on))
    }
}
