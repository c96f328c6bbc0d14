//! What a character is made of, before it becomes text.
//!
//! All coordinates are those of the default pose in the world, in metres: x forwards, y to the left, z up, the ground at
//! z = 0. Since every frame is parallel to the world's in that pose, a point of a body's frame is the point less the
//! place of the body's joint.

use std::f64::consts::PI;

/// A point or a direction, m.
pub type Point = [f64; 3];

/// Red, green and blue, 0 to 1, as MJCF has them (sRGB).
pub type Colour = [f64; 3];

/// The sides by name, and the sign of their y.
pub const SIDES: [(&str, f64); 2] = [("right", -1.0), ("left", 1.0)];

/// A character: bodies from the root to the leaves, each after its parent.
pub struct Figure {
    pub name: &'static str,
    /// Coulomb coefficient of its surface and of its ground.
    pub friction: f64,
    pub bodies: Vec<Body>,
    /// Pairs of bodies, besides neighbours, that lie against each other and never collide.
    pub touching: Vec<[usize; 2]>,
    pub keyframes: Vec<Keyframe>,
}

/// A rigid body and the joint that moves it against its parent.
pub struct Body {
    /// Name of the body and of its joint.
    pub name: String,
    /// Index of the parent; `None` for the root.
    pub parent: Option<usize>,
    pub joint: Joint,
    /// Where the joint is; the origin of the body's frame.
    pub at: Point,
    /// Mass, kg; the solid shapes share it by volume.
    pub mass: f64,
    pub geoms: Vec<Geom>,
}

/// The ways in which bodies of characters move.
pub enum Joint {
    Free,
    Ball,
    /// About this axis.
    Hinge(Point),
}

/// A shape with its colour.
pub struct Geom {
    pub shape: Shape,
    pub colour: Colour,
    /// Whether it has mass and touches things, or is only there to be seen.
    pub solid: bool,
}

/// Shapes, placed.
pub enum Shape {
    Sphere {
        centre: Point,
        radius: f64,
    },
    Capsule {
        from: Point,
        to: Point,
        radius: f64,
    },
    Cylinder {
        from: Point,
        to: Point,
        radius: f64,
    },
    /// An ellipsoid of revolution about the segment between its poles.
    Spheroid {
        from: Point,
        to: Point,
        radius: f64,
    },
    /// An ellipsoid along the axes.
    Ellipsoid {
        centre: Point,
        radii: Point,
    },
    /// A box along the axes.
    Box {
        centre: Point,
        half: Point,
    },
}

/// A configuration with a name.
pub struct Keyframe {
    pub name: &'static str,
    /// As MuJoCo's qpos.
    pub q: Vec<f64>,
}

impl Figure {
    /// A figure without bodies.
    pub fn new(name: &'static str, friction: f64) -> Self {
        Self { name, friction, bodies: Vec::new(), touching: Vec::new(), keyframes: Vec::new() }
    }

    /// Adds a body and returns its index.
    pub fn add(&mut self, body: Body) -> usize {
        self.bodies.push(body);
        self.bodies.len() - 1
    }

    /// The children of a body, in order.
    pub fn children(&self, parent: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        (0..self.bodies.len()).filter(move |&i| self.bodies[i].parent == parent)
    }
}

impl Shape {
    /// Volume, m³.
    pub fn volume(&self) -> f64 {
        let sphere = |radius: f64| 4.0 / 3.0 * PI * radius.powi(3);
        match *self {
            Self::Sphere { radius, .. } => sphere(radius),
            Self::Capsule { from, to, radius } => sphere(radius) + PI * radius * radius * distance(from, to),
            Self::Cylinder { from, to, radius } => PI * radius * radius * distance(from, to),
            Self::Spheroid { from, to, radius } => 4.0 / 3.0 * PI * radius * radius * distance(from, to) / 2.0,
            Self::Ellipsoid { radii: [a, b, c], .. } => 4.0 / 3.0 * PI * a * b * c,
            Self::Box { half: [a, b, c], .. } => 8.0 * a * b * c,
        }
    }
}

fn distance(a: Point, b: Point) -> f64 {
    let [x, y, z] = minus(a, b);
    (x * x + y * y + z * z).sqrt()
}

/// a − b.
pub fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// A solid shape.
pub fn solid(colour: Colour, shape: Shape) -> Geom {
    Geom { shape, colour, solid: true }
}

/// A shape that is only seen.
pub fn mark(colour: Colour, shape: Shape) -> Geom {
    Geom { shape, colour, solid: false }
}

/// A sphere.
pub fn sphere(centre: Point, radius: f64) -> Shape {
    Shape::Sphere { centre, radius }
}

/// A capsule about a segment.
pub fn capsule(from: Point, to: Point, radius: f64) -> Shape {
    Shape::Capsule { from, to, radius }
}

/// A cylinder about a segment.
pub fn cylinder(from: Point, to: Point, radius: f64) -> Shape {
    Shape::Cylinder { from, to, radius }
}

/// An ellipsoid of revolution between two poles.
pub fn spheroid(from: Point, to: Point, radius: f64) -> Shape {
    Shape::Spheroid { from, to, radius }
}

/// An ellipsoid along the axes.
pub fn ellipsoid(centre: Point, radii: Point) -> Shape {
    Shape::Ellipsoid { centre, radii }
}

/// A box along the axes.
pub fn cuboid(centre: Point, half: Point) -> Shape {
    Shape::Box { centre, half }
}
