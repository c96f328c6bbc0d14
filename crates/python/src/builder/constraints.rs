//! Actuators, tendons, equality constraints, keyframes.

use std::collections::BTreeMap;

use formats::assembly::AssemblyKey;
use geometry::Shape;
use multibody::{
    Actuator, ActuatorLaw, Branch, Compliance, Coordinate, Delay, Equality, EqualityKind, GearFrame, Obstacle,
    ObstacleShape, PathPoint, PolynomialForces, Reading, Tendon, TendonLook, TendonPath, Transmission,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spatial::{Pose, Vec3};

use super::fields::{self, at_least_zero, coefficients, interval};
use super::{Assembly, rotation, vector3};
use crate::arguments::{colour, several};

/// What a string passes: "site" or "geom", its index, and the site on the side of a geom.
type PassedThing = (String, usize, Option<usize>);

/// How a delayed control is read between two that were given.
const READINGS: [(&str, Reading); 3] =
    [("latest", Reading::Latest), ("linear", Reading::Linear), ("cubic", Reading::Cubic)];

fn read_delay(time: f64, samples: usize, reading: &str) -> PyResult<Delay> {
    if !(time > 0.0 && time.is_finite()) {
        return Err(PyValueError::new_err(format!("delay is {time}: expected a finite time above 0, s")));
    }
    if !(1..=Delay::MAX_SAMPLES).contains(&samples) {
        let most = Delay::MAX_SAMPLES;
        return Err(PyValueError::new_err(format!("samples is {samples}: expected 1 to {most}")));
    }
    Ok(Delay { time, samples, reading: crate::arguments::word("reading", reading, &READINGS)? })
}

/// Lower and upper end.
type Interval = Option<(f64, f64)>;

#[stubdoc::documented]
#[pymethods]
impl Assembly {
    /// An actuator on a joint or a tendon, with the law (gain, constant, per length, per velocity).
    #[expect(clippy::too_many_arguments, reason = "they are the fields of one record")]
    fn add_actuator(
        &mut self,
        name: String,
        on: &str,
        target: usize,
        #[pyo3(from_py_with = several)] gear: Vec<f64>,
        law: [f64; 4],
        ctrl_range: &Bound<'_, PyAny>,
        force_range: &Bound<'_, PyAny>,
        delay: Option<(f64, usize, String)>,
    ) -> PyResult<usize> {
        self.check(if on == "tendon" { on } else { "joint" }, &[target])?;
        if gear.iter().chain(&law).any(|x| !x.is_finite()) {
            return Err(PyValueError::new_err("gear and gains: expected finite numbers"));
        }
        let first = gear.first().copied().unwrap_or(1.0);
        let several = on == "joint" && self.inner.joints[target].spec.kind.nv() != 1;
        let transmission = match on {
            "tendon" => Transmission::Tendon { tendon: target, gear: first },
            _ if several => {
                let mut axes = [0.0; 6];
                let nv = self.inner.joints[target].spec.kind.nv();
                if gear.len() != nv {
                    let found = gear.len();
                    return Err(PyValueError::new_err(format!(
                        "gear has {found} numbers: expected {nv}, one for each degree of freedom"
                    )));
                }
                axes.iter_mut().zip(&gear).for_each(|(to, from)| *to = *from);
                Transmission::JointAxes { joint: target, gear: axes, frame: GearFrame::Child }
            }
            _ => Transmission::Joint { joint: target, gear: first },
        };
        let [gain, constant, length, velocity] = law;
        let (ctrl_range, force_range) = (interval("ctrl_range", ctrl_range)?, interval("force_range", force_range)?);
        let law = ActuatorLaw::fixed(gain, [constant, length, velocity]);
        self.inner.actuators.push(Actuator {
            name,
            transmission,
            law,
            activation: None,
            motor: None,
            ctrl_range,
            force_range,
            delay: delay.map(|(time, samples, reading)| read_delay(time, samples, &reading)).transpose()?,
            group: 0,
        });
        Ok(self.inner.actuators.len() - 1)
    }

    /// A fixed tendon; stiffness, damping, friction loss and armature in this order.
    fn add_tendon(
        &mut self,
        name: String,
        #[pyo3(from_py_with = several)] terms: Vec<(usize, f64)>,
        range: &Bound<'_, PyAny>,
        rest: &Bound<'_, PyAny>,
        parameters: [Bound<'_, PyAny>; 4],
    ) -> PyResult<usize> {
        self.check("joint", &terms.iter().map(|(joint, _)| *joint).collect::<Vec<_>>())?;
        let spring = |&(joint, c): &(usize, f64)| c * self.inner.joints[joint].spec.spring_reference;
        let default: f64 = terms.iter().map(spring).sum();
        let [stiffness, damping, friction_loss, armature] = &parameters;
        let (stiffness, damping) = (coefficients("stiffness", stiffness)?, coefficients("damping", damping)?);
        let tendon = Tendon {
            name,
            range: interval("range", range)?,
            rest: interval("rest", rest)?.unwrap_or((default, default)),
            limit_compliance: Compliance::NearRigid,
            stiffness: stiffness.linear,
            damping: damping.linear,
            friction_loss: at_least_zero("friction_loss", friction_loss)?,
            friction_compliance: Compliance::NearRigid,
            armature: at_least_zero("armature", armature)?,
            effort_limit: None,
            polynomial: PolynomialForces { spring: stiffness.higher, damper: damping.higher },
            path: TendonPath::Joints(terms),
            look: TendonLook::default(),
        };
        self.inner.tendons.push(tendon);
        Ok(self.inner.tendons.len() - 1)
    }

    /// A string: for each branch its divisor, and sites and geoms with a side's site; stiffness, damping, friction loss, armature and radius.
    fn add_spatial_tendon(
        &mut self,
        name: String,
        #[pyo3(from_py_with = several)] branches: Vec<(f64, Vec<PassedThing>)>,
        range: &Bound<'_, PyAny>,
        rest: &Bound<'_, PyAny>,
        parameters: [Bound<'_, PyAny>; 5],
        rgba: &Bound<'_, PyAny>,
        group: u32,
    ) -> PyResult<usize> {
        let branches = branches.into_iter().map(|(divisor, points)| {
            let points = points.into_iter().map(|(kind, index, side)| self.point_of_path(&kind, index, side));
            Ok(Branch { divisor, points: points.collect::<PyResult<_>>()? })
        });
        let branches = branches.collect::<PyResult<_>>()?;
        let [stiffness, damping, friction_loss, armature, radius] = &parameters;
        let (stiffness, damping) = (coefficients("stiffness", stiffness)?, coefficients("damping", damping)?);
        let rest = interval("rest", rest)?;
        let rgba = colour("color", rgba)?;
        let tendon = Tendon {
            name,
            range: interval("range", range)?,
            rest: rest.unwrap_or((0.0, 0.0)),
            limit_compliance: Compliance::NearRigid,
            stiffness: stiffness.linear,
            damping: damping.linear,
            friction_loss: at_least_zero("friction_loss", friction_loss)?,
            friction_compliance: Compliance::NearRigid,
            armature: at_least_zero("armature", armature)?,
            effort_limit: None,
            polynomial: PolynomialForces { spring: stiffness.higher, damper: damping.higher },
            path: TendonPath::Spatial(branches),
            look: TendonLook { radius: at_least_zero("radius", radius)?, rgba, group },
        };
        let index = self.inner.tendons.len();
        if rest.is_none() {
            self.inner.strings_at_rest.push(index);
        }
        self.inner.tendons.push(tendon);
        Ok(index)
    }

    /// Two points coincide; the second one, where it is None, lies where the first does in the default configuration.
    fn add_connect(
        &mut self,
        name: String,
        bodies: [usize; 2],
        first: &Bound<'_, PyAny>,
        second: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        self.check("body", &bodies)?;
        let anchor = vector3("position", first)?;
        let anchors = [anchor, self.second_point(bodies, anchor, second)?];
        Ok(self.push_equality(name, EqualityKind::Connect { bodies, anchors }))
    }

    /// Two points keep a distance.
    fn add_distance(
        &mut self,
        name: String,
        bodies: [usize; 2],
        anchors: [[f64; 3]; 2],
        distance: Option<f64>,
    ) -> PyResult<usize> {
        self.check("body", &bodies)?;
        let anchors = anchors.map(Vec3::from);
        let [a, b] = [0, 1].map(|k| self.inner.default_pose(bodies[k]).transform_point(anchors[k]));
        let distance = distance.unwrap_or((a - b).norm());
        if !(distance > 0.0 && distance.is_finite()) {
            return Err(PyValueError::new_err(format!("distance is {distance}: expected a finite number above 0, m")));
        }
        Ok(self.push_equality(name, EqualityKind::Distance { bodies, anchors, distance }))
    }

    /// Two frames coincide: that at `anchor` in the second body, and `pose` in the first, or where they are by default.
    fn add_weld(
        &mut self,
        name: String,
        bodies: [usize; 2],
        anchor: &Bound<'_, PyAny>,
        pose: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    ) -> PyResult<usize> {
        self.check("body", &bodies)?;
        let second = Pose::new(vector3("anchor", anchor)?, spatial::Quat::IDENTITY);
        let first = match pose {
            Some((position, quaternion)) => {
                Pose::new(vector3("position", &position)?, rotation("quaternion", &quaternion)?)
            }
            None => self.relative_pose(bodies) * second,
        };
        Ok(self.push_equality(name, EqualityKind::Weld { bodies, frames: [first, second], torque_scale: 1.0 }))
    }

    /// y − y₀ = p(x − x₀) of joints or tendons ("joint" or "tendon", index).
    fn add_coupling(
        &mut self,
        name: String,
        y: (String, usize),
        x: Option<(String, usize)>,
        #[pyo3(from_py_with = several)] polynomial: Vec<f64>,
    ) -> PyResult<usize> {
        if polynomial.is_empty() || polynomial.len() > 5 || polynomial.iter().any(|c| !c.is_finite()) {
            let message =
                format!("polynomial is {polynomial:?}: expected 1 to 5 finite coefficients, the constant first");
            return Err(PyValueError::new_err(message));
        }
        let mut coefficients = [0.0; 5];
        coefficients.iter_mut().zip(&polynomial).for_each(|(to, from)| *to = *from);
        for (kind, index) in std::iter::once(&y).chain(&x) {
            self.check(if kind == "tendon" { kind } else { "joint" }, &[*index])?;
            if let Some(tendon) =
                self.inner.tendons.get(*index).filter(|tendon| kind == "tendon" && tendon.is_spatial())
            {
                let message = format!(
                    "tendon {:?} is spatial: expected a tendon along joints; couple its joints instead",
                    tendon.name
                );
                return Err(PyValueError::new_err(message));
            }
        }
        let coordinate = |(kind, index): &(String, usize)| match kind.as_str() {
            "tendon" => {
                let terms = self.inner.tendons[*index].terms();
                let reference = terms.iter().map(|&(joint, c)| c * self.inner.joints[joint].spec.reference).sum();
                (Coordinate::Tendon(*index), reference)
            }
            _ => (Coordinate::Joint(*index), self.inner.joints[*index].spec.reference),
        };
        let (y, x) = (coordinate(&y), x.as_ref().map(coordinate));
        Ok(self.push_equality(name, EqualityKind::Coupling { y, x, polynomial: coefficients }))
    }

    /// Whether a constraint is in force, and how much it yields.
    fn set_equality(
        &mut self,
        equality: usize,
        active: bool,
        compliance: &Bound<'_, PyAny>,
        solref: Option<&Bound<'_, PyAny>>,
        solimp: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut compliance = fields::compliance("compliance", compliance)?;
        if compliance != Compliance::NearRigid && (solref.is_some() || solimp.is_some()) {
            return Err(PyValueError::new_err("compliance is given with solref or solimp: expected one of both"));
        }
        for (name, value) in [("solref", solref), ("solimp", solimp)] {
            if let Some(value) = value {
                compliance = fields::with_reference_of_row(compliance, name, value)?;
            }
        }
        self.check("equality", &[equality])?;
        (self.inner.equalities[equality].active, self.inner.equalities[equality].compliance) = (active, compliance);
        Ok(())
    }

    /// A named state: coordinates and velocities of joints, controls of actuators, poses of bodies that are moved from outside.
    fn add_keyframe(
        &mut self,
        name: String,
        time: f64,
        q: BTreeMap<usize, Vec<f64>>,
        v: BTreeMap<usize, Vec<f64>>,
        ctrl: BTreeMap<usize, f64>,
        mocap: BTreeMap<usize, [f64; 7]>,
    ) -> PyResult<()> {
        self.check("body", &mocap.keys().copied().collect::<Vec<_>>())?;
        if let Some(body) = mocap.keys().map(|&body| &self.inner.bodies[body].spec).find(|body| !body.is_mocap) {
            let message = format!("mocap: body {:?} is not moved from outside: expected mocap=True of it", body.name);
            return Err(PyValueError::new_err(message));
        }
        self.check("joint", &q.keys().chain(v.keys()).copied().collect::<Vec<_>>())?;
        self.check("actuator", &ctrl.keys().copied().collect::<Vec<_>>())?;
        self.inner.keyframes.push(AssemblyKey { name, time, q, v, ctrl, mocap });
        Ok(())
    }

    fn get_actuator(&self, actuator: usize) -> PyResult<([f64; 4], Interval, Interval)> {
        self.check("actuator", &[actuator])?;
        let actuator = &self.inner.actuators[actuator];
        let [constant, length, velocity] = actuator.law.bias;
        Ok(([actuator.law.gain, constant, length, velocity], actuator.ctrl_range, actuator.force_range))
    }

    /// How long its control takes to act, s, how many samples are kept and how they are read; None where it acts at once.
    fn get_delay(&self, actuator: usize) -> PyResult<Option<(f64, usize, &'static str)>> {
        self.check("actuator", &[actuator])?;
        Ok(self.inner.actuators[actuator].delay.map(|Delay { time, samples, reading }| {
            let word = READINGS.iter().find(|(_, of)| *of == reading).map_or("latest", |(word, _)| word);
            (time, samples, word)
        }))
    }

    fn set_actuator(
        &mut self,
        actuator: usize,
        law: [f64; 4],
        ctrl_range: &Bound<'_, PyAny>,
        force_range: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.check("actuator", &[actuator])?;
        let (ctrl, force) = (interval("ctrl_range", ctrl_range)?, interval("force_range", force_range)?);
        let actuator = &mut self.inner.actuators[actuator];
        let [gain, constant, length, velocity] = law;
        actuator.law = ActuatorLaw::fixed(gain, [constant, length, velocity]);
        (actuator.ctrl_range, actuator.force_range) = (ctrl, force);
        Ok(())
    }
}

impl Assembly {
    /// A site, or a geom with the site of a side, of a string.
    fn point_of_path(&self, kind: &str, index: usize, side: Option<usize>) -> PyResult<PathPoint> {
        self.check(kind, &[index])?;
        self.check("site", side.as_slice())?;
        if kind == "site" {
            return Ok(PathPoint::Site(index));
        }
        let geom = &self.inner.geoms[index].geom;
        let (shape, radius) = match geom.shape {
            Shape::Sphere { radius } => (ObstacleShape::Sphere, radius),
            Shape::Cylinder { radius, .. } => (ObstacleShape::Cylinder, radius),
            _ => {
                let message = format!("path: geom {:?} is neither: expected a sphere or a cylinder", geom.name);
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(PathPoint::Obstacle(Obstacle { geom: index, body: geom.body, pose: geom.pose, shape, radius, side }))
    }

    fn relative_pose(&self, bodies: [usize; 2]) -> Pose<f64> {
        let [first, second] = bodies.map(|body| self.inner.default_pose(body));
        first.inverse() * second
    }

    fn second_point(&self, bodies: [usize; 2], first: Vec3<f64>, second: &Bound<'_, PyAny>) -> PyResult<Vec3<f64>> {
        match second.is_none() {
            true => Ok(self.relative_pose(bodies).inverse().transform_point(first)),
            false => vector3("position2", second),
        }
    }

    fn push_equality(&mut self, name: String, kind: EqualityKind) -> usize {
        self.inner.equalities.push(Equality { name, kind, compliance: Compliance::NearRigid, active: true });
        self.inner.equalities.len() - 1
    }
}
