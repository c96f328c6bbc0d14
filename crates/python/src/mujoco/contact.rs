//! Contacts as MuJoCo has them.

use std::collections::BTreeMap;

use multibody::ellipse_tangents;
use sim::ContactPoint;
use spatial::Vec3;

/// An `mjContact`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MjContact {
    distance: f64,
    position: [f64; 3],
    frame: [[f64; 3]; 3],
    margin: f64,
    friction: [f64; 5],
    solref: [f64; 2],
    friction_solref: [f64; 2],
    solimp: [f64; 5],
    adhesion: f64,
    surface_velocity: [f64; 3],
    mu: f64,
    hessian: [f64; 36],
    dim: i32,
    geom1: i32,
    geom2: i32,
    geoms: [i32; 2],
    flexes: [i32; 2],
    elements: [i32; 2],
    vertices: [i32; 2],
    exclude: i32,
    efc_address: i32,
}

/// Where the parts that are written begin, and the length of all, bytes.
pub const LAYOUT: [(&str, usize); 10] = [
    ("dist", std::mem::offset_of!(MjContact, distance)),
    ("pos", std::mem::offset_of!(MjContact, position)),
    ("frame", std::mem::offset_of!(MjContact, frame)),
    ("friction", std::mem::offset_of!(MjContact, friction)),
    ("solref", std::mem::offset_of!(MjContact, solref)),
    ("solimp", std::mem::offset_of!(MjContact, solimp)),
    ("dim", std::mem::offset_of!(MjContact, dim)),
    ("geom", std::mem::offset_of!(MjContact, geoms)),
    ("exclude", std::mem::offset_of!(MjContact, exclude)),
    ("efc_address", std::mem::offset_of!(MjContact, efc_address)),
];

/// How the surface of a geom is described.
#[derive(Clone, Copy)]
pub struct Surface {
    pub dim: i32,
    pub priority: i32,
    pub friction: [f64; 5],
    pub solref: [f64; 2],
    pub solimp: [f64; 5],
    /// Those of two add up, m.
    pub margin: f64,
}

impl Surface {
    /// Of `condim`, `priority`, five coefficients of friction, `solref`, `solimp` and `margin`.
    pub fn new(numbers: &[f64; Self::LEN]) -> Self {
        let part = |start: usize| std::array::from_fn(|k| numbers[start + k]);
        Self {
            dim: numbers[0] as i32,
            priority: numbers[1] as i32,
            friction: part(2),
            solref: std::array::from_fn(|k| numbers[7 + k]),
            solimp: part(9),
            margin: numbers[14],
        }
    }

    pub const LEN: usize = 15;

    /// Of two that touch. `solref` and `solimp` are the first's, as they have no part in the forces here.
    fn with(&self, other: &Self) -> Self {
        let margin = self.margin + other.margin;
        match self.priority.cmp(&other.priority) {
            std::cmp::Ordering::Greater => Self { margin, ..*self },
            std::cmp::Ordering::Less => Self { margin, ..*other },
            std::cmp::Ordering::Equal => Self {
                dim: self.dim.max(other.dim),
                friction: std::array::from_fn(|k| self.friction[k].max(other.friction[k])),
                margin,
                ..*self
            },
        }
    }
}

/// The surfaces of all geoms, and those of explicit pairs by the numbers of their geoms, the lower first.
pub struct Surfaces {
    pub of_geoms: Vec<Surface>,
    pub of_pairs: BTreeMap<[usize; 2], Surface>,
}

impl Surfaces {
    /// Of two geoms that touch.
    fn of(&self, [a, b]: [usize; 2]) -> Surface {
        match self.of_pairs.get(&[a.min(b), a.max(b)]) {
            Some(of_pair) => *of_pair,
            None => self.of_geoms[a].with(&self.of_geoms[b]),
        }
    }
}

/// The tangents of MuJoCo's frame of a contact, along which friction has its coefficients.
fn tangents(normal: Vec3<f64>) -> [Vec3<f64>; 2] {
    ellipse_tangents([1.0; 2], normal)
}

impl MjContact {
    pub fn new(point: &ContactPoint, surfaces: &Surfaces) -> Self {
        let surface = surfaces.of(point.geoms);
        let [t1, t2] = tangents(point.normal);
        let geoms = point.geoms.map(|geom| geom as i32);
        Self {
            // Gaps are less the margin.
            distance: point.gap + surface.margin,
            position: point.position.to_array(),
            frame: [point.normal, t1, t2].map(|axis| axis.to_array()),
            margin: surface.margin + point.gap.max(0.0),
            friction: surface.friction,
            solref: surface.solref,
            friction_solref: [0.0; 2],
            solimp: surface.solimp,
            adhesion: 0.0,
            surface_velocity: [0.0; 3],
            mu: 0.0,
            hessian: [0.0; 36],
            dim: surface.dim,
            geom1: geoms[0],
            geom2: geoms[1],
            geoms,
            flexes: [-1; 2],
            elements: [-1; 2],
            vertices: [-1; 2],
            exclude: 0,
            efc_address: -1,
        }
    }

    /// Writes the force of the point into the rows of the constraint: along normal and tangents, or along the edges of a pyramid.
    pub fn write_rows(&self, point: &ContactPoint, timestep: f64, is_pyramid: bool, forces: &mut [f64]) {
        let Ok(dim @ 1..=6) = usize::try_from(self.dim) else { return };
        let count = if is_pyramid && dim > 1 { 2 * (dim - 1) } else { dim };
        let Ok(start) = usize::try_from(self.efc_address) else { return };
        let Some(rows) = forces.get_mut(start..start + count) else { return };
        let [along_first, along_second, normal] = point.impulse.map(|impulse| impulse / timestep);
        let [first, second] = point.tangents;
        let rubbing = first * along_first + second * along_second;
        let [t1, t2] = tangents(point.normal).map(|tangent| tangent.dot(rubbing));
        // What spins and rolls has no part in it.
        let force = [normal, t1, t2, 0.0, 0.0, 0.0];
        if !is_pyramid || dim == 1 {
            rows.copy_from_slice(&force[..dim]);
            return;
        }
        let share = normal / (dim - 1) as f64;
        for (k, edges) in rows.chunks_exact_mut(2).enumerate() {
            let along = force[k + 1] / self.friction[k];
            edges.copy_from_slice(&[(share + along) / 2.0, (share - along) / 2.0]);
        }
    }
}
