//! Forces of a medium on bodies that move in it: MuJoCo's model of an inertia box.
//!
//! A body counts as the box, along its principal axes, of the same mass and inertia. The medium resists its motion by viscosity, as that of a
//! sphere of the box's mean side (Stokes), and by its density, as that of plates: quadratic in the velocity along each axis.

use spatial::{Mat3, Pose, RigidInertia, Twist, Vec3, Wrench};

/// A medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Medium {
    /// Density, kg/m³.
    pub density: f64,
    /// Dynamic viscosity, Pa·s.
    pub viscosity: f64,
    /// Velocity of the medium in the world, m/s.
    pub wind: Vec3<f64>,
}

impl Medium {
    /// Whether it exerts forces at all.
    pub fn is_there(&self) -> bool {
        self.density > 0.0 || self.viscosity > 0.0
    }
}

/// A body in a medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    medium: Medium,
    /// Sides of the box of the body's mass and inertia, m.
    sides: Vec3<f64>,
    /// Its axes, in the frame that the body moves with.
    axes: Mat3<f64>,
    /// The body's mass, kg, and its moments about these axes, kg m².
    mass: f64,
    moments: Vec3<f64>,
}

impl Drag {
    /// A body of this inertia, whose frame is placed in the frame that it moves with. None where nothing acts on it.
    pub fn new(medium: Medium, inertia: &RigidInertia<f64>, pose: Pose<f64>) -> Option<Self> {
        const LEAST: f64 = 1e-15;
        if !medium.is_there() || inertia.mass <= LEAST {
            return None;
        }
        let (axes, [x, y, z]) = inertia.inertia.principal_axes();
        let side = |own: f64, a: f64, b: f64| (6.0 * (a + b - own).max(LEAST) / inertia.mass).sqrt();
        let sides = Vec3::new(side(x, y, z), side(y, x, z), side(z, x, y));
        let (mass, moments) = (inertia.mass, Vec3::new(x, y, z));
        Some(Self { medium, sides, axes: pose.rot.to_mat3() * axes, mass, moments })
    }

    /// Whether the medium moves, and pushes what is at rest.
    pub fn is_windy(&self) -> bool {
        self.medium.wind != Vec3::ZERO
    }

    /// The force on the body and its torque about the centre of mass, in world axes. `rot` turns the frame that it moves with into the world,
    /// twists are velocities at its centre of mass: `start` at the beginning of a step of `dt`, and where that is known `led`, which the step
    /// would lead to without drag. The force is taken at the velocity that it leaves to the body by itself along each axis,
    ///
    /// ```text
    /// v = u / (1 + dt Z(v₀)/m),     F = −Z(v₀) v
    /// ```
    ///
    /// with u that of `led`: of Z = c |v₀| this is the course of v̇ = −c |v| v itself, and what sinks does so at the speed at which drag carries its
    /// weight. Viscosity is taken at v₀, as u moves even where something holds the body; without `led` all is. So taken it removes no more
    /// than the momentum that the body has along an axis by itself: a medium stops, it does not turn back.
    ///
    /// With K the sum of the bodies' momenta that it takes in joint space, per velocity, 0 ≤ K ≤ M then: Δv = −M⁻¹ K v takes kinetic energy
    /// from a tree, whatever the time step.
    pub fn wrench(&self, rot: Mat3<f64>, start: Twist<f64>, led: Option<Twist<f64>>, dt: f64) -> Wrench<f64> {
        use std::f64::consts::PI;
        let Self { medium: Medium { density, viscosity, wind }, sides: s, axes, mass, moments } = self;
        let axes = rot * *axes;
        let relative = |twist: Twist<f64>| (axes.transpose_mul(twist.ang), axes.transpose_mul(twist.lin - *wind));
        let ((w, v), led) = (relative(start), led.map(relative));
        let mean = (s.x + s.y + s.z) / 3.0;
        let (turn, slide) = (PI * mean * mean * mean * viscosity, 3.0 * PI * mean * viscosity);
        // Resistance per velocity, quadratic and viscous.
        let plate = |v: f64, a: f64, b: f64| [0.5 * density * a * b * v.abs(), slide];
        let paddle =
            |w: f64, own: f64, a: f64, b: f64| [density * own * (a.powi(4) + b.powi(4)) * w.abs() / 64.0, turn];
        let brake = |v: f64, led: Option<f64>, [quadratic, viscous]: [f64; 2], inertia: f64| {
            let most = inertia / dt;
            match led {
                Some(u) => -(quadratic * u + viscous.min(most) * v) * most / (most + quadratic),
                None => -(quadratic + viscous).min(most) * v,
            }
        };
        let [lin_led, ang_led] = [led.map(|(_, lin)| lin), led.map(|(ang, _)| ang)];
        let force = Vec3::new(
            brake(v.x, lin_led.map(|u| u.x), plate(v.x, s.y, s.z), *mass),
            brake(v.y, lin_led.map(|u| u.y), plate(v.y, s.x, s.z), *mass),
            brake(v.z, lin_led.map(|u| u.z), plate(v.z, s.x, s.y), *mass),
        );
        let torque = Vec3::new(
            brake(w.x, ang_led.map(|u| u.x), paddle(w.x, s.x, s.y, s.z), moments.x),
            brake(w.y, ang_led.map(|u| u.y), paddle(w.y, s.y, s.x, s.z), moments.y),
            brake(w.z, ang_led.map(|u| u.z), paddle(w.z, s.z, s.x, s.y), moments.z),
        );
        Wrench { ang: axes * torque, lin: axes * force }
    }
}
