//! What tasks are made of: elements of a model by name, and quantities and rewards that several tasks have.

use geometry::{Geom, Scene, Shape};
use multibody::{JointKind, Model, SiteShape};
use spatial::Vec3;

use super::quantity::{Point, Quantity, center_of, subtree};
use super::reward::{Fall, Reward, Tolerance};
use super::variation::Variation;
use super::{Part, Suite};
use crate::error::EnvError;

/// What a task names, found in a model.
pub(super) struct Names<'a> {
    pub model: &'a Model,
    pub scene: &'a Scene,
    pub task: &'static str,
}

impl<'a> Names<'a> {
    pub(super) fn find<T>(&self, found: Option<T>, kind: &str, name: &str) -> Result<T, EnvError> {
        found.ok_or_else(|| EnvError::Missing { task: self.task, what: format!("{kind} {name:?}") })
    }

    pub(super) fn body(&self, name: &str) -> Result<usize, EnvError> {
        self.find(self.model.body(name), "body", name)
    }

    pub(super) fn joint(&self, name: &str) -> Result<&'a multibody::Joint, EnvError> {
        self.find(self.model.joint(name).map(|joint| &self.model.joints[joint]), "joint", name)
    }

    pub(super) fn geom(&self, name: &str) -> Result<&'a Geom, EnvError> {
        self.find(self.scene.geoms.iter().find(|geom| geom.name == name), "geom", name)
    }

    pub(super) fn site(&self, name: &str) -> Result<usize, EnvError> {
        self.find(self.model.sites.iter().position(|site| site.name == name), "site", name)
    }

    pub(super) fn origin(&self, body: &str) -> Result<Point, EnvError> {
        Ok(Point::InBody(self.body(body)?, Vec3::ZERO))
    }

    pub(super) fn center(&self, body: &str) -> Result<Point, EnvError> {
        let body = self.body(body)?;
        Ok(Point::InBody(body, self.model.bodies[body].inertia.com))
    }

    pub(super) fn center_of_geom(&self, name: &str) -> Result<Point, EnvError> {
        Ok(center_of(self.geom(name)?))
    }

    pub(super) fn site_point(&self, name: &str) -> Result<Point, EnvError> {
        let site = &self.model.sites[self.site(name)?];
        Ok(Point::InBody(site.body, site.pose.pos))
    }

    /// The first size of a round geom, m.
    pub(super) fn radius(&self, name: &str) -> Result<f64, EnvError> {
        match self.geom(name)?.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } | Shape::Cylinder { radius, .. } => Ok(radius),
            Shape::Box { half_extents } => Ok(half_extents[0]),
            _ => self.find(None, "round geom", name),
        }
    }

    /// The first size of a round site, m.
    pub(super) fn site_radius(&self, name: &str) -> Result<f64, EnvError> {
        match self.model.sites[self.site(name)?].shape {
            SiteShape::Sphere { radius } | SiteShape::Capsule { radius, .. } | SiteShape::Cylinder { radius, .. } => {
                Ok(radius)
            }
            _ => self.find(None, "round site", name),
        }
    }

    /// Half the length of the floor, m.
    pub(super) fn floor(&self) -> Result<f64, EnvError> {
        match self.geom("floor")?.shape {
            Shape::Plane { half_extents } => Ok(half_extents[0]),
            _ => self.find(None, "plane as geom", "floor"),
        }
    }

    pub(super) fn positions(&self, joints: &[&str]) -> Result<Quantity, EnvError> {
        Ok(Quantity::Q(joints.iter().map(|name| Ok(self.joint(name)?.q)).collect::<Result<_, EnvError>>()?))
    }

    pub(super) fn velocities(&self, joints: &[&str]) -> Result<Quantity, EnvError> {
        Ok(Quantity::V(joints.iter().map(|name| Ok(self.joint(name)?.v)).collect::<Result<_, EnvError>>()?))
    }

    /// Positions from one on.
    pub(super) fn q_from(&self, first: usize) -> Quantity {
        Quantity::Q((first..self.model.nq()).collect())
    }

    pub(super) fn v(&self) -> Quantity {
        Quantity::V((0..self.model.nv()).collect())
    }

    pub(super) fn center_velocity(&self, body: &str, entries: &'static [usize]) -> Result<Quantity, EnvError> {
        Ok(Quantity::CenterVelocity(subtree(self.model, self.body(body)?), entries))
    }

    pub(super) fn rotation(&self, body: &str, entries: &'static [(usize, usize)]) -> Result<Quantity, EnvError> {
        Ok(Quantity::Rotations(vec![self.body(body)?], entries))
    }

    /// The numbers of sensors.
    pub(super) fn sensors(&self, names: &[&str]) -> Result<Quantity, EnvError> {
        let mut numbers = Vec::new();
        for name in names {
            let index = self.model.sensors.iter().position(|sensor| sensor.name == *name);
            numbers.extend(self.model.sensor_ranges().nth(self.find(index, "sensor", name)?).unwrap_or_default());
        }
        Ok(Quantity::Sensors(numbers))
    }

    /// Positions and velocities of all hinges.
    pub(super) fn hinges(&self) -> [Quantity; 2] {
        let hinges = || self.model.joints.iter().filter(|joint| matches!(joint.kind, JointKind::Revolute { .. }));
        [Quantity::Q(hinges().map(|joint| joint.q).collect()), Quantity::V(hinges().map(|joint| joint.v).collect())]
    }

    pub(super) fn activations(&self) -> Quantity {
        Quantity::Activations(self.model.na())
    }

    pub(super) fn touch(&self, sites: &[&str]) -> Result<Quantity, EnvError> {
        Ok(Quantity::Touch(sites.iter().map(|name| self.site(name)).collect::<Result<_, _>>()?))
    }
}

pub(super) fn part<const N: usize>(name: &'static str, quantities: [Quantity; N]) -> Part {
    Part { name, quantities: quantities.into() }
}

pub(super) fn suite(observation: Vec<Part>, reward: Reward, goal: usize) -> Result<Suite, EnvError> {
    Ok(Suite { observation, reward, goal, variation: None, rest: 0.0 })
}

/// The same task on a model that differs from episode to episode.
pub(super) fn varied(suite: Suite, variation: Variation) -> Suite {
    Suite { goal: variation.len(), variation: Some(variation), ..suite }
}

/// Between 4/5 and 1 for controls between their ranges' ends and zero.
pub(super) fn small_control() -> Reward {
    let tolerance = Tolerance::within(0.0, 0.0).margin(1.0).falling(Fall::Quadratic, 0.0);
    Reward::score(Quantity::Controls, tolerance).scaled(0.8, 0.2)
}

/// A speed at least so high; at `margin` below, `value_at_margin`.
pub(super) fn fast(speed: f64, margin: f64, value_at_margin: f64) -> Tolerance {
    Tolerance::within(speed, f64::INFINITY).margin(margin).falling(Fall::Linear, value_at_margin)
}

pub(super) fn length(from: Point, to: Point, entries: &'static [usize]) -> Quantity {
    Quantity::Length(Box::new(Quantity::Between { from, to, axes: None, entries }), 0.0)
}
