//! Forces of a medium on ellipsoids: MuJoCo's model of drag, lift and added mass.
//!
//! Of an ellipsoid that moves in the medium with v and ω, in its own axes (`docs/time-stepping.md`):
//!
//! ```text
//! F = −z_l v + (k + c ω) × v + p × ω
//! τ = −z_a ω + h × ω + p × v
//! ```
//!
//! z are drag, quadratic and viscous, k the circulation of Kutta's lift, c ω × v is Magnus' force, p and h are the momenta of the medium that
//! moves with the ellipsoid. The accelerations of that medium are left out. All of it but drag does no work: of the motion at the
//! centre of mass the sum is −(Z + N) (ω, v), Z ≥ 0 symmetric and N skew.

use std::f64::consts::PI;

use geometry::{FluidCoefficients, FluidEllipsoid};
use multibody::Medium;
use spatial::{Mat3, Pose, RigidInertia, Twist, Vec3, Wrench};

type Vector6 = [f64; 6];
type Matrix6 = [Vector6; 6];

/// A body in a medium that acts on ellipsoids.
#[derive(Clone, Debug)]
pub(super) struct EllipsoidDrag {
    medium: Medium,
    /// Principal axes of the body, in the frame that it moves with.
    axes: Mat3<f64>,
    /// 1/√ of the moments of inertia about them, and of the mass: velocities over these have the kinetic energy as half their square.
    scale: Vector6,
    hulls: Vec<Hull>,
    /// Viscous resistance to such velocities, 1/s, and a bound of each row's part: the sum of its magnitudes.
    viscous: Matrix6,
    viscous_rates: Vector6,
}

/// An ellipsoid.
#[derive(Clone, Debug)]
struct Hull {
    /// Its axes in the body's principal axes, and its centre, from the body's centre of mass.
    axes: Mat3<f64>,
    centre: Vec3<f64>,
    /// Semi-axes, m.
    semi_axes: Vec3<f64>,
    coefficients: FluidCoefficients,
    /// m³
    volume: f64,
    /// The greatest area that it shows, m².
    greatest_area: f64,
    /// Quadratic drag of rotation about each axis per density, m⁵.
    paddles: Vec3<f64>,
    /// Mass (m³) and moment of inertia (m⁵) of the medium that moves with it, per density.
    added_mass: Vec3<f64>,
    added_inertia: Vec3<f64>,
}

/// What acts on an ellipsoid in motion, see the [module](self).
#[derive(Clone, Copy, Debug)]
struct Action {
    /// z_l, kg/s.
    slide: f64,
    /// z_a, kg m²/s.
    turn: f64,
    /// p, kg m/s.
    momentum: Vec3<f64>,
    /// h, kg m²/s.
    spin: Vec3<f64>,
    /// k + c ω, kg/s.
    circulation: Vec3<f64>,
}

impl EllipsoidDrag {
    /// A body of this inertia, whose frame is placed in the frame that it moves with, and its ellipsoids in the body's frame.
    pub fn new(medium: Medium, inertia: &RigidInertia<f64>, pose: Pose<f64>, ellipsoids: &[FluidEllipsoid]) -> Self {
        const LEAST: f64 = 1e-15;
        let (axes, [x, y, z]) = inertia.inertia.principal_axes();
        let scale = [x, y, z, inertia.mass, inertia.mass, inertia.mass].map(|m| 1.0 / m.max(LEAST).sqrt());
        let hulls: Vec<Hull> = ellipsoids.iter().map(|ellipsoid| Hull::new(ellipsoid, inertia.com, axes)).collect();
        let mut viscous = [[0.0; 6]; 6];
        for hull in &hulls {
            hull.stokes(medium.viscosity).add_resistance(hull, &mut viscous);
        }
        scale_by(&scale, &mut viscous);
        let viscous_rates = viscous.map(|row| row.iter().map(|entry| entry.abs()).sum());
        Self { medium, axes: pose.rot.to_mat3() * axes, scale, hulls, viscous, viscous_rates }
    }

    /// Whether the medium moves, and pushes what is at rest.
    pub fn is_windy(&self) -> bool {
        self.medium.wind != Vec3::ZERO
    }

    /// The force on the body and its torque about the centre of mass, in world axes; arguments as of [`multibody::Drag::wrench`]. Drag that
    /// is quadratic and what does no work are taken, with B = Z(v₀) + N(v₀), at the velocity that they leave to the body by itself,
    ///
    /// ```text
    /// (M + dt B) v = M u − dt C v₀,    F = M (v − u) / dt,
    /// ```
    ///
    /// with u that of `led`, or v₀. Viscosity C is taken at v₀, as u moves even where something holds the body, and no more of it than M / dt.
    /// As B has no negative part, the kinetic energy of the motion in the medium never grows, whatever the time step.
    pub fn wrench(&self, rot: Mat3<f64>, start: Twist<f64>, led: Option<Twist<f64>>, dt: f64) -> Wrench<f64> {
        let axes = rot * self.axes;
        let relative = |twist: Twist<f64>| Twist {
            ang: axes.transpose_mul(twist.ang),
            lin: axes.transpose_mul(twist.lin - self.medium.wind),
        };
        let start = relative(start);
        let mut resistance = [[0.0; 6]; 6];
        for hull in &self.hulls {
            hull.action(self.medium.density, start).add_resistance(hull, &mut resistance);
        }
        scale_by(&self.scale, &mut resistance);
        let push = self.viscous_push(self.scaled(start), dt);
        let led = self.scaled(led.map_or(start, relative));
        let mut change: Vector6 = std::array::from_fn(|i| push[i] + product(&resistance[i], &led));
        for (i, row) in resistance.iter_mut().enumerate() {
            row.iter_mut().for_each(|entry| *entry *= dt);
            row[i] += 1.0;
        }
        solve(&mut resistance, &mut change);
        let [a, b, c, d, e, f] = std::array::from_fn(|i| -change[i] / self.scale[i]);
        Wrench { ang: axes * Vec3::new(a, b, c), lin: axes * Vec3::new(d, e, f) }
    }

    /// A velocity over [`scale`](Self::scale).
    fn scaled(&self, Twist { ang, lin }: Twist<f64>) -> Vector6 {
        let velocity = [ang.x, ang.y, ang.z, lin.x, lin.y, lin.z];
        std::array::from_fn(|i| velocity[i] / self.scale[i])
    }

    /// C v₀. Rows and columns of Stokes' resistance V are scaled down so far that what is left is at most 1/dt: V is at most the diagonal
    /// matrix of its rows' sums of magnitudes.
    fn viscous_push(&self, velocity: Vector6, dt: f64) -> Vector6 {
        let part = self.viscous_rates.map(|rate| if dt * rate > 1.0 { 1.0 / (dt * rate).sqrt() } else { 1.0 });
        let velocity: Vector6 = std::array::from_fn(|i| part[i] * velocity[i]);
        std::array::from_fn(|i| part[i] * product(&self.viscous[i], &velocity))
    }
}

impl Hull {
    /// In a body with this centre of mass and these principal axes, both in the body's frame.
    fn new(ellipsoid: &FluidEllipsoid, com: Vec3<f64>, principal: Mat3<f64>) -> Self {
        let FluidEllipsoid { pose, semi_axes: sizes, coefficients } = *ellipsoid;
        let mut sorted = sizes;
        sorted.sort_by(f64::total_cmp);
        let [_, middle, most] = sorted;
        // Moments of inertia per density, of the plates that turn about an axis.
        let moment = |along: f64, across: f64| 8.0 / 15.0 * PI * along * across.powi(4);
        let greatest = moment(middle, most);
        let paddle = |axis: usize| {
            let own = moment(sizes[axis], sizes[(axis + 1) % 3].max(sizes[(axis + 2) % 3]));
            coefficients.angular_drag * own + coefficients.slender_drag * (greatest - own)
        };
        Self {
            axes: principal.transpose() * pose.rot.to_mat3(),
            centre: principal.transpose_mul(pose.pos - com),
            semi_axes: sizes.into(),
            coefficients,
            volume: ellipsoid.volume(),
            greatest_area: PI * most * middle,
            paddles: [paddle(0), paddle(1), paddle(2)].into(),
            added_mass: ellipsoid.added_mass().into(),
            added_inertia: ellipsoid.added_inertia().into(),
        }
    }

    /// Resistance to creeping flow: that of a ball of the mean diameter.
    fn stokes(&self, viscosity: f64) -> Action {
        let diameter = 2.0 / 3.0 * (self.semi_axes.x + self.semi_axes.y + self.semi_axes.z);
        Action {
            slide: 3.0 * PI * diameter * viscosity,
            turn: PI * diameter * diameter * diameter * viscosity,
            momentum: Vec3::ZERO,
            spin: Vec3::ZERO,
            circulation: Vec3::ZERO,
        }
    }

    /// What acts without viscosity, vectors in the body's principal axes, where the body moves as `twist` says at its centre of mass.
    fn action(&self, density: f64, twist: Twist<f64>) -> Action {
        // None of what is at rest.
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        let Self { semi_axes: s, coefficients, .. } = self;
        let v = self.axes.transpose_mul(twist.shifted(self.centre).lin);
        let w = self.axes.transpose_mul(twist.ang);
        // Normal to the ellipse that the flow sees, and that ellipse's area.
        let faces = Vec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let normal = scaled(faces, scaled(faces, v));
        let (along, squared) = (normal.dot(v), normal.norm_squared());
        let area = PI * ratio(squared, along).sqrt();
        let slope = ratio(along, v.norm() * squared);
        let lift =
            normal.cross(v) * (coefficients.kutta_lift * slope * area) + w * (coefficients.magnus_lift * self.volume);
        let face = coefficients.blunt_drag * area + coefficients.slender_drag * (self.greatest_area - area);
        Action {
            slide: density * v.norm() * face.max(0.0),
            turn: density * scaled(self.paddles, w).norm(),
            momentum: self.axes * (scaled(self.added_mass, v) * density),
            spin: self.axes * (scaled(self.added_inertia, w) * density),
            circulation: self.axes * (lift * density),
        }
    }
}

impl Action {
    /// Adds Z + N, angular part first, of the body's motion at its centre of mass.
    fn add_resistance(&self, hull: &Hull, matrix: &mut Matrix6) {
        let arm = Mat3::skew(hull.centre);
        let momentum = Mat3::skew(self.momentum);
        // Force against motion at the ellipsoid's centre, and what its arms make of it.
        let lin_lin = Mat3::skew(self.circulation * -1.0).plus_diagonal(self.slide);
        let lin_ang = lin_lin.mul_skew_transpose(hull.centre) - momentum;
        let ang_lin = arm * lin_lin - momentum;
        let ang_ang = Mat3::skew(self.spin * -1.0).plus_diagonal(self.turn) + momentum * arm + arm * lin_ang;
        for (block, row, column) in [(ang_ang, 0, 0), (ang_lin, 0, 3), (lin_ang, 3, 0), (lin_lin, 3, 3)] {
            for (j, entries) in [block.x, block.y, block.z].into_iter().enumerate() {
                for (i, entry) in entries.to_array().into_iter().enumerate() {
                    matrix[row + i][column + j] += entry;
                }
            }
        }
    }
}

/// Products of components.
fn scaled(a: Vec3<f64>, b: Vec3<f64>) -> Vec3<f64> {
    Vec3::new(a.x * b.x, a.y * b.y, a.z * b.z)
}

fn product(row: &Vector6, x: &Vector6) -> f64 {
    row.iter().zip(x).map(|(a, b)| a * b).sum()
}

/// Rows and columns times `scale`.
fn scale_by(scale: &Vector6, matrix: &mut Matrix6) {
    for (row, s) in matrix.iter_mut().zip(scale) {
        row.iter_mut().zip(scale).for_each(|(entry, t)| *entry *= s * t);
    }
}

/// x ← A⁻¹ x by elimination with pivots; A is used up.
fn solve(a: &mut Matrix6, x: &mut Vector6) {
    for k in 0..6 {
        let greater = |best: usize, i: usize| if a[i][k].abs() > a[best][k].abs() { i } else { best };
        let best = (k + 1..6).fold(k, greater);
        a.swap(k, best);
        x.swap(k, best);
        let (pivot, known) = (a[k], x[k]);
        for (row, x) in a.iter_mut().zip(x.iter_mut()).skip(k + 1) {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).skip(k).for_each(|(entry, above)| *entry -= factor * above);
            *x -= factor * known;
        }
    }
    for k in (0..6).rev() {
        let known: f64 = (k + 1..6).map(|j| a[k][j] * x[j]).sum();
        x[k] = (x[k] - known) / a[k][k];
    }
}

#[cfg(test)]
mod tests {
    use spatial::{Quat, Sym3};

    use super::*;

    const INERTIA: RigidInertia<f64> = RigidInertia {
        mass: 0.1,
        com: Vec3::new(0.01, 0.0, 0.02),
        inertia: Sym3::new([2e-4, 1e-5, 0.0, 1e-4, 2e-5, 3e-4]),
    };

    /// A thin ellipsoid and a round one, off the centre of mass, in a medium with this density and viscosity.
    fn drag(density: f64, viscosity: f64, coefficients: [f64; 5]) -> EllipsoidDrag {
        let coefficients = FluidCoefficients::from_array(coefficients);
        let rot = Quat::new(0.5, -0.1, 0.7, 0.2).normalized().expect("a rotation");
        let thin = FluidEllipsoid {
            pose: Pose::new(Vec3::new(0.1, 0.0, 0.0), rot),
            semi_axes: [0.1, 0.002, 0.05],
            coefficients,
        };
        let round = FluidEllipsoid {
            pose: Pose::new(Vec3::new(-0.1, 0.02, 0.0), Quat::IDENTITY),
            semi_axes: [0.03; 3],
            coefficients,
        };
        EllipsoidDrag::new(Medium { density, viscosity, wind: Vec3::ZERO }, &INERTIA, Pose::IDENTITY, &[thin, round])
    }

    fn twists() -> impl Iterator<Item = Twist<f64>> {
        (0..20).map(|k| {
            let wave = |m: f64| (f64::from(k) * m + m).sin() * 5.0;
            Twist { ang: Vec3::new(wave(1.1), wave(2.3), wave(3.7)), lin: Vec3::new(wave(4.1), wave(0.7), wave(1.9)) }
        })
    }

    #[test]
    fn lift_and_added_mass_do_no_work() {
        let drag = drag(1000.0, 0.0, [0.0, 0.0, 0.0, 1.5, 0.7]);
        for twist in twists() {
            let wrench = drag.wrench(Mat3::IDENTITY, twist, None, 1e-12);
            let size = wrench.ang.norm() * twist.ang.norm() + wrench.lin.norm() * twist.lin.norm();
            assert!(size > 1.0 && twist.dot(wrench).abs() < 1e-6 * size, "{} of {size}", twist.dot(wrench));
        }
    }

    #[test]
    fn the_body_by_itself_never_gains_energy() {
        let energy = |twist: Twist<f64>| {
            0.5 * INERTIA.mass * twist.lin.norm_squared() + 0.5 * twist.ang.dot(INERTIA.inertia * twist.ang)
        };
        for (density, viscosity) in [(1.2, 1e-5), (1000.0, 0.0), (1000.0, 1e-3), (0.0, 50.0), (1e6, 100.0)] {
            let drag = drag(density, viscosity, [0.5, 0.25, 1.5, 1.0, 1.0]);
            for (twist, dt) in twists().flat_map(|twist| [1e-5, 1e-3, 0.1, 10.0].map(|dt| (twist, dt))) {
                let wrench = drag.wrench(Mat3::IDENTITY, twist, None, dt);
                let lin = twist.lin + wrench.lin * (dt / INERTIA.mass);
                let ang = twist.ang + INERTIA.inertia.inverse() * wrench.ang * dt;
                let (before, after) = (energy(twist), energy(Twist { ang, lin }));
                assert!(after < before, "{density} {viscosity} {dt}: {before} {after}");
            }
        }
    }
}
