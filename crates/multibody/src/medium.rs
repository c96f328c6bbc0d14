//! Forces of a medium on bodies that move in it: MuJoCo's model of an inertia box.
//!
//! A body counts as the box, along its principal axes, of the same mass and inertia. The medium resists its motion by viscosity, as that of a
//! sphere of the box's mean side (Stokes), and by its density, as that of plates: quadratic in the velocity along each axis.

use spatial::{Mat3, Pose, Quat, Real, RigidInertia, Sym3, Twist, Vec3, Wrench};

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
pub struct Drag<T: Real = f64> {
    wind: Vec3<T>,
    /// The body's principal axes, in the frame that it moves with.
    axes: Mat3<T>,
    /// How it slides along them, and how it turns about them.
    slide: Resistance<T>,
    turn: Resistance<T>,
}

/// What resists motion along or about each of three axes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Resistance<T: Real> {
    /// Force per squared velocity.
    quadratic: Vec3<T>,
    /// Force per velocity.
    viscous: T,
    /// Mass, or moments of inertia.
    inertia: Vec3<T>,
}

impl Drag<f64> {
    /// A body of this inertia, with [`axes`](crate::Body::axes) where that leaves them open, whose frame is placed in the frame that it moves
    /// with. None where nothing acts on it.
    pub fn new(medium: Medium, inertia: &RigidInertia<f64>, axes: Option<Quat<f64>>, pose: Pose<f64>) -> Option<Self> {
        use std::f64::consts::PI;
        const LEAST: f64 = 1e-15;
        if !medium.is_there() || inertia.mass <= LEAST {
            return None;
        }
        let Medium { density, viscosity, wind } = medium;
        let (axes, [x, y, z]) = axes_and_moments(inertia.inertia, axes);
        let side = |own: f64, a: f64, b: f64| (6.0 * (a + b - own).max(LEAST) / inertia.mass).sqrt();
        let sides @ [a, b, c] = [side(x, y, z), side(y, x, z), side(z, x, y)];
        let mean = sides.iter().sum::<f64>() / 3.0;
        let plate = |a: f64, b: f64| 0.5 * density * a * b;
        let paddle = |own: f64, a: f64, b: f64| density * own * (a.powi(4) + b.powi(4)) / 64.0;
        let slide = Resistance {
            quadratic: Vec3::new(plate(b, c), plate(a, c), plate(a, b)),
            viscous: 3.0 * PI * mean * viscosity,
            inertia: Vec3::new(inertia.mass, inertia.mass, inertia.mass),
        };
        let turn = Resistance {
            quadratic: Vec3::new(paddle(a, b, c), paddle(b, a, c), paddle(c, a, b)),
            viscous: PI * mean * mean * mean * viscosity,
            inertia: Vec3::new(x, y, z),
        };
        Some(Self { wind, axes: pose.rot.to_mat3() * axes, slide, turn })
    }

    /// Whether the medium moves, and pushes what is at rest.
    pub fn is_windy(&self) -> bool {
        self.wind != Vec3::ZERO
    }

    /// The same in a frame whose axes, in the present one, are the columns of `turn`.
    pub fn turned(&self, turn: &Mat3<f64>) -> Self {
        Self { axes: turn.transpose() * self.axes, ..*self }
    }
}

/// The axes that the medium acts along: principal ones, those of the model where the inertia leaves them open.
fn axes_and_moments(inertia: Sym3<f64>, axes: Option<Quat<f64>>) -> (Mat3<f64>, [f64; 3]) {
    /// Beside the moments, of what is left off the diagonal: more where a program has changed the inertia.
    const ROUND_OFF: f64 = 1e-9;
    if let Some(axes) = axes.and_then(|axes| axes.normalized()).map(|axes| axes.to_mat3()) {
        let [xx, xy, xz, yy, yz, zz] = inertia.rotated(axes.transpose()).entries();
        if [xy, xz, yz].iter().all(|off| off.abs() <= ROUND_OFF * (xx + yy + zz)) {
            return (axes, [xx, yy, zz]);
        }
    }
    inertia.principal_axes()
}

impl<T: Real> Drag<T> {
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
    #[inline(always)]
    pub fn wrench(&self, rot: Mat3<T>, start: Twist<T>, led: Option<Twist<T>>, dt: T) -> Wrench<T> {
        let axes = rot * self.axes;
        let (ang, lin) = (axes.transpose_mul(start.ang), axes.transpose_mul(start.lin - self.wind));
        let (ang_led, lin_led) = match led {
            Some(led) => (Some(axes.transpose_mul(led.ang)), Some(axes.transpose_mul(led.lin - self.wind))),
            None => (None, None),
        };
        Wrench { ang: axes * self.turn.force(ang, ang_led, dt), lin: axes * self.slide.force(lin, lin_led, dt) }
    }

    /// The same of each number, in an order that is always the same.
    pub fn map<U: Real>(&self, f: &mut impl FnMut(T) -> U) -> Drag<U> {
        let Self { wind, axes, slide, turn } = self;
        let (wind, axes) = (wind.map(&mut *f), axes.map(&mut *f));
        Drag { wind, axes, slide: slide.map(f), turn: turn.map(f) }
    }
}

impl<T: Real> Resistance<T> {
    #[inline(always)]
    fn force(&self, v: Vec3<T>, led: Option<Vec3<T>>, dt: T) -> Vec3<T> {
        let Self { quadratic, viscous, inertia } = *self;
        let most = Vec3::new(inertia.x / dt, inertia.y / dt, inertia.z / dt);
        match led {
            Some(u) => Vec3::new(
                brake(v.x, u.x, quadratic.x, viscous, most.x),
                brake(v.y, u.y, quadratic.y, viscous, most.y),
                brake(v.z, u.z, quadratic.z, viscous, most.z),
            ),
            None => Vec3::new(
                -(quadratic.x * v.x.abs() + viscous).min(most.x) * v.x,
                -(quadratic.y * v.y.abs() + viscous).min(most.y) * v.y,
                -(quadratic.z * v.z.abs() + viscous).min(most.z) * v.z,
            ),
        }
    }

    fn map<U: Real>(&self, f: &mut impl FnMut(T) -> U) -> Resistance<U> {
        let Self { quadratic, viscous, inertia } = self;
        Resistance { quadratic: quadratic.map(&mut *f), viscous: f(*viscous), inertia: inertia.map(&mut *f) }
    }
}

/// The force along an axis on what moves with `v` and would be led to `u`; `most` takes all of a velocity in the step.
#[inline(always)]
fn brake<T: Real>(v: T, u: T, quadratic: T, viscous: T, most: T) -> T {
    let quadratic = quadratic * v.abs();
    // Of what has no inertia about an axis there is nothing to take.
    let sum = (most + quadratic).max(T::from_f64(1e-37));
    -(quadratic * u + viscous.min(most) * v) * most / sum
}
