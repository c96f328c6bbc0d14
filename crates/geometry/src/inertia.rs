//! Mass, centre of mass and rotational inertia of shapes of uniform density.

use std::f64::consts::PI;

use spatial::{RigidInertia, Sym3, Vec3};

use crate::prepared::Surface;
use crate::shape::{Mesh, Shape};

/// Where the mass of a shape is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MassModel {
    /// Throughout the volume. For a mesh: the volume that its triangles bound, which must be closed and
    /// oriented outwards.
    #[default]
    Solid,
    /// On the surface.
    Shell,
    /// Throughout the convex hull of a mesh; other shapes as `Solid`.
    ConvexHull,
    /// For a mesh, pyramids from the centroid of its surface to the triangles, each counted positively: the
    /// rule of old MJCF files, which counts some of a non-convex mesh twice. Other shapes as `Solid`.
    Pyramids,
}

/// Why a shape has no inertia.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InertiaError {
    /// The volume (or for a shell the area) of a mesh is not positive.
    #[error(
        "mesh \"{mesh}\" has {what} {value:e}, not above 0 (a volume needs a closed surface whose triangles \
         are counter-clockwise seen from outside)"
    )]
    NotPositive {
        /// The mesh's name.
        mesh: String,
        /// Volume or area.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The volume or area of a mesh is so small that products of its moments are none.
    #[error("mesh \"{mesh}\" has {what} {value:e}, too little to compute with (is its scale right?)")]
    TooSmall {
        /// The mesh's name.
        mesh: String,
        /// Volume or area.
        what: &'static str,
        /// Its value.
        value: f64,
    },
}

/// The size below which a mesh is too small, m: that of the nucleus of an atom. Of some 1e-21 m products of three inertias are 0.
const LEAST_SIZE: f64 = 1e-15;

/// The moments of order 0, 1 and 2 of a shape of density 1.
struct Moments {
    mass: f64,
    first: Vec3<f64>,
    /// ∫ x xᵀ.
    second: Sym3<f64>,
}

impl Shape {
    /// The inertia of the shape about its own frame's axes, with `density` in kg/m³ (kg/m² for
    /// [`MassModel::Shell`]). Planes and height fields have no mass.
    ///
    /// Exact closed forms, but for the shell of an ellipsoid: its mass follows from Thomsen's formula for the area
    /// (within 1.1 %), spread as in the layer between it and the ellipsoid with semi-axes longer by ε → 0, which
    /// is not quite of even thickness.
    ///
    /// # Errors
    /// When a mesh bounds no positive volume.
    pub fn inertia(&self, density: f64, model: MassModel) -> Result<RigidInertia<f64>, InertiaError> {
        let mut inertia = match self {
            Self::Plane { .. } | Self::HeightField(_) => RigidInertia::ZERO,
            Self::Mesh(mesh) => mesh.inertia(model)?,
            _ if model == MassModel::Shell => self.shell(),
            _ => self.solid(),
        };
        inertia.mass *= density;
        inertia.inertia = inertia.inertia * density;
        Ok(inertia)
    }

    /// The inertia of the shape when its mass is `mass`, in kg.
    ///
    /// # Errors
    /// As for [`Shape::inertia`].
    pub fn inertia_of_mass(&self, mass: f64, model: MassModel) -> Result<RigidInertia<f64>, InertiaError> {
        let unit = self.inertia(1.0, model)?;
        let scale = if unit.mass > 0.0 { mass / unit.mass } else { 0.0 };
        Ok(RigidInertia { mass: unit.mass * scale, com: unit.com, inertia: unit.inertia * scale })
    }

    /// The volume in m³; 0 for planes and height fields.
    ///
    /// # Errors
    /// When a mesh bounds no positive volume.
    pub fn volume(&self) -> Result<f64, InertiaError> {
        Ok(self.inertia(1.0, MassModel::Solid)?.mass)
    }

    /// A primitive of density 1 throughout.
    fn solid(&self) -> RigidInertia<f64> {
        match *self {
            Self::Sphere { radius: r } => {
                let m = 4.0 / 3.0 * PI * r * r * r;
                centred(m, [0.4 * m * r * r; 3])
            }
            Self::Capsule { radius: r, half_length: h } => {
                let (tube, ball) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r * r * r);
                // A half ball's centre of mass is 3r/8 from its flat face.
                let across = tube * (r * r / 4.0 + h * h / 3.0) + ball * (0.4 * r * r + h * h + 0.75 * h * r);
                let along = tube * r * r / 2.0 + ball * 0.4 * r * r;
                centred(tube + ball, [across, across, along])
            }
            Self::Cylinder { radius: r, half_length: h } => {
                let m = 2.0 * PI * r * r * h;
                let across = m * (r * r / 4.0 + h * h / 3.0);
                centred(m, [across, across, m * r * r / 2.0])
            }
            Self::Ellipsoid { radii: [a, b, c] } => {
                let m = 4.0 / 3.0 * PI * a * b * c;
                centred(m, [b * b + c * c, a * a + c * c, a * a + b * b].map(|s| m * s / 5.0))
            }
            Self::Box { half_extents: [a, b, c] } => {
                let m = 8.0 * a * b * c;
                centred(m, [b * b + c * c, a * a + c * c, a * a + b * b].map(|s| m * s / 3.0))
            }
            Self::Plane { .. } | Self::Mesh(_) | Self::HeightField(_) => RigidInertia::ZERO,
        }
    }

    /// The surface of a primitive, with density 1 per area.
    fn shell(&self) -> RigidInertia<f64> {
        match *self {
            Self::Sphere { radius: r } => {
                let m = 4.0 * PI * r * r;
                centred(m, [m * r * r / 1.5; 3])
            }
            Self::Capsule { radius: r, half_length: h } => {
                let (tube, ball) = (4.0 * PI * r * h, 4.0 * PI * r * r);
                // A half sphere's centre of mass is r/2 from its rim's plane.
                let across = tube * (r * r / 2.0 + h * h / 3.0) + ball * (r * r / 1.5 + h * h + h * r);
                let along = tube * r * r + ball * r * r / 1.5;
                centred(tube + ball, [across, across, along])
            }
            Self::Cylinder { radius: r, half_length: h } => {
                let (tube, discs) = (4.0 * PI * r * h, 2.0 * PI * r * r);
                let across = tube * (r * r / 2.0 + h * h / 3.0) + discs * (r * r / 4.0 + h * h);
                centred(tube + discs, [across, across, tube * r * r + discs * r * r / 2.0])
            }
            Self::Ellipsoid { radii: [a, b, c] } => {
                // Derivatives by ε of the solid's volume and moments at semi-axes a + ε, b + ε, c + ε.
                let (volume, slope) = (a * b * c, a * b + b * c + c * a);
                let area = ellipsoid_area([a, b, c]);
                let about = |p: f64, q: f64| area * (p * p + q * q + 2.0 * (p + q) * volume / slope) / 5.0;
                centred(area, [about(b, c), about(a, c), about(a, b)])
            }
            Self::Box { half_extents: [a, b, c] } => {
                let (x, y, z) = (8.0 * b * c, 8.0 * a * c, 8.0 * a * b);
                // ∫ x² over the three pairs of faces, and so on.
                let second = [a * a * (x + (y + z) / 3.0), b * b * (y + (x + z) / 3.0), c * c * (z + (x + y) / 3.0)];
                centred(x + y + z, [second[1] + second[2], second[0] + second[2], second[0] + second[1]])
            }
            Self::Plane { .. } | Self::Mesh(_) | Self::HeightField(_) => RigidInertia::ZERO,
        }
    }
}

impl Mesh {
    fn inertia(&self, model: MassModel) -> Result<RigidInertia<f64>, InertiaError> {
        let none = Surface::default();
        let (vertices, triangles) = if model == MassModel::ConvexHull {
            let hull = self.hull().unwrap_or(&none);
            (&hull.vertices, &hull.triangles)
        } else {
            (&self.vertices, &self.triangles)
        };
        let triangles = || triangles.iter().map(|t| t.map(|i| vertices[i as usize]));
        // Moments about a point near the mesh: no cancellation when it lies far from its frame's origin.
        let near = vertices.first().copied().unwrap_or(Vec3::ZERO);
        let (moments, origin) = match model {
            MassModel::ConvexHull => (pyramids(triangles(), near, |v| v), near),
            MassModel::Shell => (surface(triangles(), near), near),
            MassModel::Solid | MassModel::Pyramids => {
                let count = if model == MassModel::Solid { |v| v } else { f64::abs };
                let area = self.checked(surface(triangles(), near), "area")?;
                let centroid = near + area.first * (1.0 / area.mass);
                let about_centroid = self.checked(pyramids(triangles(), centroid, count), "volume")?;
                let com = centroid + about_centroid.first * (1.0 / about_centroid.mass);
                // Mass and second moments are those of pyramids with this point as their apex, as MuJoCo takes them. Where a mesh has
                // holes, they depend on it.
                let mut moments = pyramids(triangles(), com, count);
                moments.first = Vec3::ZERO;
                (moments, com)
            }
        };
        let what = if model == MassModel::Shell { "area" } else { "volume" };
        let Moments { mass, first, second } = self.checked(moments, what)?;
        let r = first * (1.0 / mass);
        let central = second - Sym3::outer(mass, r);
        let trace = central.xx() + central.yy() + central.zz();
        let inertia = Sym3::diagonal(Vec3::new(trace, trace, trace)) - central;
        Ok(RigidInertia { mass, com: origin + r, inertia })
    }

    fn checked(&self, moments: Moments, what: &'static str) -> Result<Moments, InertiaError> {
        let value = moments.mass;
        let least = if what == "area" { LEAST_SIZE.powi(2) } else { LEAST_SIZE.powi(3) };
        if value > least {
            return Ok(moments);
        }
        let mesh = self.name.clone();
        Err(if value > 0.0 {
            InertiaError::TooSmall { mesh, what, value }
        } else {
            InertiaError::NotPositive { mesh, what, value }
        })
    }
}

/// Moments about `apex` of the pyramids (tetrahedra) from there to the triangles, with signed volumes passed
/// through `count`.
fn pyramids(triangles: impl Iterator<Item = [Vec3<f64>; 3]>, apex: Vec3<f64>, count: impl Fn(f64) -> f64) -> Moments {
    let mut m = Moments { mass: 0.0, first: Vec3::ZERO, second: Sym3::ZERO };
    for t in triangles {
        let [a, b, c] = t.map(|p| p - apex);
        let volume = count(a.dot(b.cross(c)) / 6.0);
        m.add(volume, volume / 4.0, volume / 20.0, [a, b, c]);
    }
    m
}

/// Moments about `origin` of the triangles with density 1 per area.
fn surface(triangles: impl Iterator<Item = [Vec3<f64>; 3]>, origin: Vec3<f64>) -> Moments {
    let mut m = Moments { mass: 0.0, first: Vec3::ZERO, second: Sym3::ZERO };
    for t in triangles {
        let [a, b, c] = t.map(|p| p - origin);
        let area = (b - a).cross(c - a).norm() / 2.0;
        m.add(area, area / 3.0, area / 12.0, [a, b, c]);
    }
    m
}

impl Moments {
    /// Adds a simplex: its measure, and the weights of Σ corners and of Σ corner cornerᵀ + (Σ corners)(Σ corners)ᵀ.
    fn add(&mut self, measure: f64, first: f64, second: f64, [a, b, c]: [Vec3<f64>; 3]) {
        let sum = a + b + c;
        self.mass += measure;
        self.first = self.first.add_scaled(first, sum);
        for v in [a, b, c, sum] {
            self.second += Sym3::outer(second, v);
        }
    }
}

/// The area of an ellipsoid by Thomsen's formula, within 1.1 %.
fn ellipsoid_area([a, b, c]: [f64; 3]) -> f64 {
    const P: f64 = 1.6075;
    let power = |x: f64| libm::pow(x, P);
    let mean = (power(a * b) + power(b * c) + power(c * a)) / 3.0;
    4.0 * PI * libm::pow(mean, 1.0 / P)
}

/// A body with its centre of mass at the origin and its principal axes along the frame's.
fn centred(mass: f64, [x, y, z]: [f64; 3]) -> RigidInertia<f64> {
    RigidInertia { mass, com: Vec3::ZERO, inertia: Sym3::diagonal(Vec3::new(x, y, z)) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Masses and principal moments that MuJoCo 3 compiles for density 700.
    #[test]
    fn primitives_agree_with_mujoco() {
        let sphere = Shape::Sphere { radius: 0.3 };
        let capsule = Shape::Capsule { radius: 0.1, half_length: 0.4 };
        let cylinder = Shape::Cylinder { radius: 0.1, half_length: 0.4 };
        let ellipsoid = Shape::Ellipsoid { radii: [0.1, 0.2, 0.4] };
        let cuboid = Shape::Box { half_extents: [0.1, 0.2, 0.4] };
        // The reference differentiates the ellipsoid's shell with a step of 1e-6: 1e-5 is what it is good for.
        for (shape, model, expected, tolerance) in [
            (&sphere, MassModel::Solid, [79.1681348704628, 2.8500528553366604, 2.8500528553366604], 1e-14),
            (&capsule, MassModel::Solid, [20.52507200345332, 1.5511090128324012, 0.09969320687391614], 1e-14),
            (&cylinder, MassModel::Solid, [17.592918860102845, 0.9822713030224092, 0.08796459430051423], 1e-14),
            (&ellipsoid, MassModel::Solid, [23.457225146803793, 0.938289005872152, 0.234572251468038], 1e-14),
            (&cuboid, MassModel::Solid, [44.80000000000001, 2.986666666666668, 0.746666666666667], 1e-14),
            (&sphere, MassModel::Shell, [791.6813487046279, 47.50088092227767, 47.50088092227767], 1e-14),
            (&capsule, MassModel::Shell, [439.822971502571, 38.70442149222626, 4.1050144006906635], 1e-14),
            (&cylinder, MassModel::Shell, [395.84067435231395, 27.6721952903701, 3.738495257771854], 1e-14),
            (&ellipsoid, MassModel::Shell, [444.96441653626397, 23.901032252819277, 7.500877046433743], 1e-5),
            (&cuboid, MassModel::Shell, [784.0000000000001, 70.1866666666667, 22.026666666666674], 1e-14),
        ] {
            let b = shape.inertia(700.0, model).unwrap();
            for (ours, theirs) in [b.mass, b.inertia.xx(), b.inertia.zz()].into_iter().zip(expected) {
                assert!((ours / theirs - 1.0).abs() < tolerance, "{shape:?} {model:?}: {ours} and {theirs}");
            }
            let scaled = shape.inertia_of_mass(b.mass, model).unwrap();
            assert!((scaled.inertia.yy() / b.inertia.yy() - 1.0).abs() < 1e-14);
        }
    }

    /// An L-shaped sheared prism, against MuJoCo's four rules. MuJoCo keeps vertices in single precision.
    #[test]
    fn mesh_rules_agree_with_mujoco() {
        let outline = [[0.0, 0.0], [0.3, 0.0], [0.3, 0.1], [0.1, 0.1], [0.1, 0.2], [0.0, 0.2]];
        let bottom = outline.map(|[x, y]| Vec3::new(x, y, 0.0));
        let top = outline.map(|[x, y]| Vec3::new(x + 0.05, y, 0.15));
        let mut triangles = vec![];
        for i in 1..5u32 {
            triangles.extend([[0, i + 1, i], [6, i + 6, i + 7]]);
        }
        for i in 0..6u32 {
            let j = (i + 1) % 6;
            triangles.extend([[i, j, j + 6], [i, j + 6, i + 6]]);
        }
        let mesh = Mesh::new("L", [bottom, top].concat(), triangles).unwrap();
        let shape = Shape::Mesh(Arc::new(mesh.clone()));
        for (model, mass, com, moments) in [
            (
                MassModel::ConvexHull,
                5.2500003650784555,
                [0.15833333497866994, 0.08666666839271786, 0.07500000232830642],
                [0.02261378043695358, 0.04862447706312273, 0.05260342087155665],
            ),
            (
                MassModel::Solid,
                4.200000292062765,
                [0.15000000114863124, 0.07500000158324838, 0.07500000251457095],
                [0.016487939233837005, 0.04325940582697146, 0.045252664587693746],
            ),
            (
                MassModel::Pyramids,
                4.369397549441994,
                [0.14919961044890376, 0.07753617227921605, 0.07500000252659951],
                [0.017149565144308803, 0.04371639671709963, 0.045972800099253676],
            ),
            (
                MassModel::Shell,
                163.2718939414078,
                [0.15286762755480285, 0.07856336573980839, 0.07500000220161973],
                [1.0580587139895832, 2.2956117022695244, 2.4196134986876734],
            ),
        ] {
            let b = shape.inertia(700.0, model).unwrap();
            assert!((b.mass / mass - 1.0).abs() < 1e-6, "{model:?}: mass {} and {mass}", b.mass);
            assert!((b.com - Vec3::from(com)).norm() < 1e-7, "{model:?}: {:?}", b.com);
            for (ours, theirs) in b.inertia.eigenvalues().into_iter().zip(moments) {
                assert!((ours / theirs - 1.0).abs() < 1e-6, "{model:?}: {ours} and {theirs}");
            }
        }
        let inside_out = mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        let shape = Shape::Mesh(Arc::new(Mesh { triangles: inside_out, ..mesh }));
        let error = shape.volume().unwrap_err();
        assert!(matches!(&error, InertiaError::NotPositive { value, .. } if (value + 0.006).abs() < 1e-15), "{error}");
        assert!(error.to_string().contains("\"L\" has volume -"));
    }
}
