//! Parameters in which worlds of one model differ.

use geometry::{Scene, Shape};
use multibody::Model;
use spatial::Vec3;

use crate::BatchError;

/// Parameters of one world; what is `None` is the model's.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Parameters {
    /// Acceleration of gravity, m/s².
    pub gravity: Option<[f64; 3]>,
    /// Masses of the bodies, (nbody), kg; rotational inertia changes in proportion.
    pub body_mass: Option<Vec<f64>>,
    /// Factors on the rotational inertia that the mass leads to, (nbody).
    pub body_inertia_scale: Option<Vec<f64>>,
    /// Coefficients of sliding friction of the geoms, (ngeom); of two geoms the larger counts.
    pub friction: Option<Vec<f64>>,
    /// Sizes of the geoms, (ngeom): radius of a sphere; radius and half length of a capsule or cylinder; half extents of a box; semi-axes of an
    /// ellipsoid. Those of other shapes count for nothing. Masses stay.
    pub geom_size: Option<Vec<[f64; 3]>>,
    /// Inertia of the drives, (nv).
    pub armature: Option<Vec<f64>>,
    /// Damping of the joints, (nv).
    pub damping: Option<Vec<f64>>,
    /// Stiffness of the joints, (nv).
    pub stiffness: Option<Vec<f64>>,
    /// Force of the actuators per unit of control, (nu): kp of a position servo and kv of a velocity servo, whose bias follows.
    pub actuator_gain: Option<Vec<f64>>,
    /// Damping of the actuators that are position servos, (nu): kv. Those of others count for nothing.
    pub actuator_damping: Option<Vec<f64>>,
}

impl Parameters {
    /// All parameters of a model, none left out.
    pub fn of(model: &Model, scene: &Scene) -> Self {
        let surface = |geom: &geometry::Geom| &model.materials[geom.material];
        Self {
            gravity: Some(model.gravity.to_array()),
            body_mass: Some(model.bodies.iter().map(|body| body.inertia.mass).collect()),
            body_inertia_scale: Some(vec![1.0; model.bodies.len()]),
            friction: Some(scene.geoms.iter().map(|geom| surface(geom).friction).collect()),
            geom_size: Some(scene.geoms.iter().map(|geom| size(&geom.shape)).collect()),
            armature: Some(model.armature.clone()),
            damping: Some(model.damping.clone()),
            stiffness: Some(model.stiffness.clone()),
            actuator_gain: Some(model.actuators.iter().map(|actuator| actuator.law.gain).collect()),
            actuator_damping: Some(model.actuators.iter().map(|actuator| -actuator.law.bias[2]).collect()),
        }
    }

    /// These, and where they are `None` those of `other`.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self {
            gravity: self.gravity.or(other.gravity),
            body_mass: self.body_mass.or_else(|| other.body_mass.clone()),
            body_inertia_scale: self.body_inertia_scale.or_else(|| other.body_inertia_scale.clone()),
            friction: self.friction.or_else(|| other.friction.clone()),
            geom_size: self.geom_size.or_else(|| other.geom_size.clone()),
            armature: self.armature.or_else(|| other.armature.clone()),
            damping: self.damping.or_else(|| other.damping.clone()),
            stiffness: self.stiffness.or_else(|| other.stiffness.clone()),
            actuator_gain: self.actuator_gain.or_else(|| other.actuator_gain.clone()),
            actuator_damping: self.actuator_damping.or_else(|| other.actuator_damping.clone()),
        }
    }

    /// A model and its scene with these parameters.
    ///
    /// # Errors
    /// When a vector has another length or a number is outside its domain.
    pub fn apply(&self, model: &Model, scene: &Scene) -> Result<(Model, Scene), BatchError> {
        let (mut model, mut scene) = (model.clone(), scene.clone());
        if let Some(gravity) = &self.gravity {
            check("gravity", gravity, 3, f64::is_finite, "a finite number")?;
            model.gravity = Vec3::from(*gravity);
        }
        self.apply_masses(&mut model)?;
        self.apply_geoms(&mut model, &mut scene)?;
        let nv = model.nv();
        for (name, from, to) in [
            ("armature", &self.armature, &mut model.armature),
            ("damping", &self.damping, &mut model.damping),
            ("stiffness", &self.stiffness, &mut model.stiffness),
        ] {
            if let Some(values) = from {
                check(name, values, nv, is_not_negative, NOT_NEGATIVE)?;
                to.clone_from(values);
            }
        }
        self.apply_actuators(&mut model)?;
        Ok((model, scene))
    }

    fn apply_masses(&self, model: &mut Model) -> Result<(), BatchError> {
        let bodies = model.bodies.len();
        if let Some(masses) = &self.body_mass {
            check("body_mass", masses, bodies, is_not_negative, NOT_NEGATIVE)?;
            for (index, (body, mass)) in model.bodies.iter_mut().zip(masses).enumerate() {
                let before = body.inertia.mass;
                if (before > 0.0) != (*mass > 0.0) {
                    let expected = if before > 0.0 { "above 0" } else { "0, as the body has no mass in the model" };
                    return Err(BatchError::Parameter { name: "body_mass", index, value: *mass, expected });
                }
                if before > 0.0 {
                    body.inertia.mass = *mass;
                    body.inertia.inertia = body.inertia.inertia.map(|x| x * (mass / before));
                }
            }
        }
        if let Some(scales) = &self.body_inertia_scale {
            check("body_inertia_scale", scales, bodies, is_positive, POSITIVE)?;
            for (body, scale) in model.bodies.iter_mut().zip(scales) {
                body.inertia.inertia = body.inertia.inertia.map(|x| x * scale);
            }
        }
        if self.body_mass.is_some() || self.body_inertia_scale.is_some() {
            model.collect_inertias();
        }
        Ok(())
    }

    fn apply_geoms(&self, model: &mut Model, scene: &mut Scene) -> Result<(), BatchError> {
        if let Some(frictions) = &self.friction {
            check("friction", frictions, scene.geoms.len(), is_not_negative, NOT_NEGATIVE)?;
            for (geom, friction) in scene.geoms.iter_mut().zip(frictions) {
                let surface = model.materials[geom.material];
                if surface.friction != *friction {
                    // Other geoms may have the same surface.
                    geom.material = model.materials.len();
                    model.materials.push(multibody::Material { friction: *friction, ..surface });
                }
            }
        }
        if let Some(sizes) = &self.geom_size {
            check_len("geom_size", sizes.len(), scene.geoms.len())?;
            for (index, (geom, [x, y, z])) in scene.geoms.iter_mut().zip(sizes).enumerate() {
                let positive = |values: &[f64]| match values.iter().find(|x| !is_positive(**x)) {
                    None => Ok(()),
                    Some(&value) => Err(BatchError::Parameter { name: "geom_size", index, value, expected: POSITIVE }),
                };
                match &mut geom.shape {
                    Shape::Sphere { radius } => {
                        positive(&[*x])?;
                        *radius = *x;
                    }
                    Shape::Capsule { radius, half_length } | Shape::Cylinder { radius, half_length } => {
                        positive(&[*x, *y])?;
                        (*radius, *half_length) = (*x, *y);
                    }
                    Shape::Ellipsoid { radii: all } | Shape::Box { half_extents: all } => {
                        positive(&[*x, *y, *z])?;
                        *all = [*x, *y, *z];
                    }
                    Shape::Plane { .. } | Shape::Mesh(_) | Shape::HeightField(_) => {}
                }
            }
        }
        Ok(())
    }

    fn apply_actuators(&self, model: &mut Model) -> Result<(), BatchError> {
        if let Some(damping) = &self.actuator_damping {
            check("actuator_damping", damping, model.nu(), is_not_negative, NOT_NEGATIVE)?;
            for (actuator, damping) in model.actuators.iter_mut().zip(damping) {
                if actuator.law.bias[1] != 0.0 {
                    actuator.law.bias[2] = -damping;
                }
            }
        }
        if let Some(gains) = &self.actuator_gain {
            check("actuator_gain", gains, model.nu(), f64::is_finite, "a finite number")?;
            for (index, (actuator, gain)) in model.actuators.iter_mut().zip(gains).enumerate() {
                let law = &mut actuator.law;
                let servo = (1..3).find(|&k| law.bias[k] != 0.0 && law.bias[k] == -law.gain);
                if let Some(k) = servo {
                    if !is_positive(*gain) {
                        let expected = "above 0, the actuator is a servo";
                        return Err(BatchError::Parameter { name: "actuator_gain", index, value: *gain, expected });
                    }
                    law.bias[k] = -gain;
                }
                law.gain = *gain;
            }
        }
        Ok(())
    }
}

/// The numbers of [`Parameters::geom_size`].
fn size(shape: &Shape) -> [f64; 3] {
    match *shape {
        Shape::Sphere { radius } => [radius, 0.0, 0.0],
        Shape::Capsule { radius, half_length } | Shape::Cylinder { radius, half_length } => [radius, half_length, 0.0],
        Shape::Ellipsoid { radii } => radii,
        Shape::Box { half_extents } => half_extents,
        Shape::Plane { .. } | Shape::Mesh(_) | Shape::HeightField(_) => [0.0; 3],
    }
}

const NOT_NEGATIVE: &str = "a finite number, 0 or more";
const POSITIVE: &str = "a finite number above 0";

fn is_not_negative(x: f64) -> bool {
    x >= 0.0 && x.is_finite()
}

fn is_positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

fn check_len(name: &'static str, found: usize, expected: usize) -> Result<(), BatchError> {
    if found == expected { Ok(()) } else { Err(BatchError::Size { name, found, expected }) }
}

fn check(
    name: &'static str,
    values: &[f64],
    len: usize,
    is_right: impl Fn(f64) -> bool,
    expected: &'static str,
) -> Result<(), BatchError> {
    check_len(name, values.len(), len)?;
    match values.iter().position(|value| !is_right(*value)) {
        None => Ok(()),
        Some(index) => Err(BatchError::Parameter { name, index, value: values[index], expected }),
    }
}
