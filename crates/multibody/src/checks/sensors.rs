//! What sensors refer to must be there. (Geoms are checked where the scene is known.)

use super::{check_at_least_zero, check_index, check_positive, check_scalar, element};
use crate::build_error::ElementKind;
use crate::{
    BuildError, CameraMode, Delay, Joint, JointKind, JointQuantity, Model, RaySource, Sensor, SensorDelay, SensorKind,
    SensorTarget, SiteShape,
};

/// Most numbers that one sensor may have, and all together (128 MiB): beyond that a file is in error.
const MAX_SENSOR_NUMBERS: usize = 1 << 20;
const MAX_NUMBERS: usize = 1 << 24;

/// Checks the volumes of sites, and every sensor.
pub(super) fn check(model: &Model) -> Result<(), BuildError> {
    for (index, site) in model.sites.iter().enumerate() {
        let what = element("site", index, &site.name);
        check_index("body", site.body, model.bodies.len(), &what)?;
        if !site.pose.pos.is_finite() {
            return Err(BuildError::NotFinite { what });
        }
        sizes(site.shape).into_iter().try_for_each(|size| check_positive(size, || format!("{what}: size")))?;
    }
    let mut numbers = 0;
    for (index, sensor) in model.sensors.iter().enumerate() {
        let what = element("sensor", index, &sensor.name);
        let in_sensor = |error: BuildError| error.in_element(ElementKind::Sensor, index);
        check_sensor(sensor, model, &what).map_err(in_sensor)?;
        check_delay(sensor, &what).map_err(in_sensor)?;
        let kept = sensor.delay.map_or(0, |delay| delay.line.samples * (1 + sensor.kind.dim()));
        numbers += sensor.kind.dim() + kept;
        if numbers > MAX_NUMBERS {
            let (what, expected) =
                (format!("{what}: numbers of all sensors so far, with past readings"), "at most 16777216");
            return Err(in_sensor(BuildError::OutOfRange { what, value: numbers as f64, expected }));
        }
    }
    Ok(())
}

fn sizes(shape: SiteShape) -> Vec<f64> {
    match shape {
        SiteShape::Sphere { radius } => vec![radius],
        SiteShape::Capsule { radius, half_length } | SiteShape::Cylinder { radius, half_length } => {
            vec![radius, half_length]
        }
        SiteShape::Ellipsoid { radii: sizes } | SiteShape::Box { half_extents: sizes } => sizes.to_vec(),
    }
}

fn check_sensor(sensor: &Sensor, model: &Model, what: &str) -> Result<(), BuildError> {
    check_at_least_zero(sensor.cutoff, || format!("{what}: cutoff"))?;
    check_at_least_zero(sensor.noise, || format!("{what}: noise"))?;
    let there = |kind, index, count| check_index(kind, index, count, what);
    for (of, index) in sensor.kind.targets() {
        match of {
            SensorTarget::Body => there("body", index, model.bodies.len())?,
            SensorTarget::Joint => there("joint", index, model.joints.len())?,
            SensorTarget::Site => there("site", index, model.sites.len())?,
            SensorTarget::Tendon => there("tendon", index, model.tendons.len())?,
            SensorTarget::Actuator => there("actuator", index, model.actuators.len())?,
            SensorTarget::Camera => fixed_camera(index, model, what)?,
            SensorTarget::Geom => {}
        }
    }
    match &sensor.kind {
        SensorKind::Joint { joint, quantity } => check_joint(&model.joints, *joint, *quantity, what)?,
        SensorKind::Rangefinder { rays: RaySource::Camera { camera, pixels }, .. }
            if *pixels != model.cameras[*camera].pixels() =>
        {
            let what = format!("{what}: number of rays");
            let expected = "as many as its camera has pixels";
            return Err(BuildError::OutOfRange { what, value: rays_of(*pixels), expected });
        }
        _ => {}
    }
    let dim = sensor.kind.dim();
    if dim > MAX_SENSOR_NUMBERS {
        let what = format!("{what}: numbers");
        return Err(BuildError::OutOfRange { what, value: dim as f64, expected: "at most 1048576" });
    }
    Ok(())
}

fn rays_of([columns, rows]: [u32; 2]) -> f64 {
    f64::from(columns) * f64::from(rows)
}

/// A camera that is there and keeps its place in its body.
fn fixed_camera(camera: usize, model: &Model, what: &str) -> Result<(), BuildError> {
    match model.cameras.get(camera) {
        Some(of) if of.mode == CameraMode::Fixed => Ok(()),
        _ => Err(BuildError::NoSuch { what: what.into(), kind: "camera of mode fixed", index: camera }),
    }
}

/// A scalar joint, or a ball where the quantity is one of balls.
fn check_joint(joints: &[Joint], joint: usize, quantity: JointQuantity, what: &str) -> Result<(), BuildError> {
    use JointQuantity::{AngularVelocity, LimitDistance, LimitForce, LimitVelocity, Quaternion};
    let of = &joints[joint];
    match quantity {
        Quaternion | AngularVelocity if of.kind == JointKind::Ball => Ok(()),
        LimitDistance | LimitVelocity | LimitForce if of.kind == JointKind::Ball => Ok(()),
        Quaternion | AngularVelocity => {
            let (what, joint) = (what.into(), of.name.clone());
            Err(BuildError::NotBall { what, joint, kind: of.kind.name() })
        }
        _ => check_scalar(joint, joints, what),
    }
}

fn check_delay(sensor: &Sensor, what: &str) -> Result<(), BuildError> {
    let Some(SensorDelay { line: Delay { time, samples, .. }, interval, phase }) = sensor.delay else { return Ok(()) };
    for (name, value) in [("delay", time), ("interval", interval)] {
        if !(value >= 0.0 && value.is_finite()) {
            let what = format!("{what}: {name}");
            return Err(BuildError::OutOfRange { what, value, expected: "a finite time of 0 or more" });
        }
    }
    if !(phase <= 0.0 && (phase == 0.0 || phase > -interval)) {
        let (what, expected) = (format!("{what}: phase"), "0, or less but more than -interval");
        return Err(BuildError::OutOfRange { what, value: phase, expected });
    }
    let numbers = samples.saturating_mul(1 + sensor.kind.dim());
    if !(1..=Delay::MAX_SAMPLES).contains(&samples) || numbers > MAX_SENSOR_NUMBERS {
        let (what, expected) = (format!("{what}: samples"), "1 to 10,000, and at most 1,048,576 numbers of them");
        return Err(BuildError::OutOfRange { what, value: samples as f64, expected });
    }
    Ok(())
}
