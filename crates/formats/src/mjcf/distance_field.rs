//! Meshes of MuJoCo's plugins `mujoco.sdf.*`: where a function of the distance is zero, on the grid that MuJoCo has for it.

use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

use spatial::Vec3;

use super::marching_cubes::{Grid, surface};
use super::plugin::Plugin;
use crate::LoadError;
use crate::mesh_files::TriangleSoup;
use crate::xml::Element;

/// Cells along the three sides of the grid, together.
const CELLS: f64 = 300.0;

/// A shape that a plugin makes, with its lengths.
#[derive(Clone, Copy, Debug)]
enum Field {
    Bolt { radius: f64 },
    Bowl { height: f64, radius: f64, thickness: f64 },
    Gear { alpha: f64, diameter: f64, teeth: f64, thickness: f64, inner_diameter: f64 },
    Nut { radius: f64 },
    Torus { radius: f64, thickness: f64 },
}

/// The mesh that `plugin`, at `element`, makes.
pub(super) fn make(element: Element<'_>, plugin: Plugin<'_>) -> Result<TriangleSoup, LoadError> {
    let mut field = Field::default_of(plugin.name).ok_or_else(|| {
        element.error(format!(
            "is made by the plugin {:?}, which is not read: expected mujoco.sdf.bolt, bowl, gear, nut or torus, or an attribute `file` or `vertex`",
            plugin.name
        ))
    })?;
    for setting in plugin.numbers() {
        let setting = setting?;
        let number = field.number(setting.key);
        *number.ok_or_else(|| setting.at.error(format!("key: {} has no such number", plugin.name)))? = setting.value;
    }
    let half = field.half_extents();
    let sum: f64 = half.iter().sum();
    if !half.iter().all(|h| h.is_finite() && *h > 0.0) || !sum.is_finite() {
        return Err(element.error("plugin: expected lengths above 0"));
    }
    let grid = Grid { half, counts: half.map(|h| (CELLS * (h / sum)).floor() as usize + 1) };
    if grid.counts.iter().any(|n| *n < 2) {
        return Err(element.error("plugin: a side is less than a 300th of all: expected a thicker shape"));
    }
    Ok(surface(&grid, |p| field.distance(p)))
}

impl Field {
    fn default_of(plugin: &str) -> Option<Self> {
        Some(match plugin.strip_prefix("mujoco.sdf.")? {
            "bolt" => Self::Bolt { radius: 0.26 },
            "bowl" => Self::Bowl { height: 0.4, radius: 1.0, thickness: 0.02 },
            "gear" => Self::Gear { alpha: 0.0, diameter: 2.8, teeth: 25.0, thickness: 0.2, inner_diameter: -1.0 },
            "nut" => Self::Nut { radius: 0.26 },
            "torus" => Self::Torus { radius: 0.35, thickness: 0.15 },
            _ => return None,
        })
    }

    /// The number of this name.
    fn number(&mut self, key: &str) -> Option<&mut f64> {
        Some(match (self, key) {
            (Self::Bolt { radius } | Self::Nut { radius } | Self::Bowl { radius, .. }, "radius")
            | (Self::Torus { radius, .. }, "radius1") => radius,
            (Self::Bowl { height, .. }, "height") => height,
            (Self::Bowl { thickness, .. } | Self::Gear { thickness, .. }, "thickness")
            | (Self::Torus { thickness, .. }, "radius2") => thickness,
            (Self::Gear { alpha, .. }, "alpha") => alpha,
            (Self::Gear { diameter, .. }, "diameter") => diameter,
            (Self::Gear { teeth, .. }, "teeth") => teeth,
            (Self::Gear { inner_diameter, .. }, "innerdiameter") => inner_diameter,
            _ => return None,
        })
    }

    /// Half the sides of the box in which MuJoCo looks for the surface.
    fn half_extents(&self) -> [f64; 3] {
        match *self {
            Self::Bolt { .. } | Self::Nut { .. } => [0.6, 0.6, 1.0],
            Self::Bowl { radius, thickness, .. } => [radius + thickness; 3],
            Self::Gear { diameter, thickness, .. } => [0.625 * diameter, 0.625 * diameter, thickness / 2.0 * 1.1],
            Self::Torus { radius, thickness } => [radius + thickness, radius + thickness, thickness],
        }
    }

    /// Below zero inside.
    fn distance(&self, p: Vec3<f64>) -> f64 {
        let rho = length(p.x, p.y);
        match *self {
            Self::Torus { radius, thickness } => length(rho - radius, p.z) - thickness,
            Self::Bowl { height, radius, thickness } => {
                let width = (radius * radius - height * height).sqrt();
                let shell = match height * rho < width * p.z {
                    true => length(rho - width, p.z - height),
                    false => (length(rho, p.z) - radius).abs(),
                };
                shell - thickness
            }
            Self::Bolt { radius } => {
                let thread = thread(p, rho - radius);
                let cone = (p.z - (rho - radius)) * FRAC_1_SQRT_2;
                let shaft = without(without(thread, 0.5 - (p.z + 0.5).abs()), cone + FRAC_1_SQRT_2);
                shaft.min(hexagon(p, rho - radius))
            }
            Self::Nut { radius } => {
                let thread = thread(p, rho - radius);
                let cone = (p.z - (rho - radius)) * FRAC_1_SQRT_2;
                let hole = without(thread, cone + 0.5 * FRAC_1_SQRT_2).min(-cone - 0.05 * FRAC_1_SQRT_2);
                without(hexagon(p, rho - radius), hole)
            }
            Self::Gear { alpha, diameter, teeth, thickness, inner_diameter } => {
                let profile = Involute { alpha, diameter, teeth, inner_diameter }.distance(p, rho);
                let (side, top) = (profile, p.z.abs() - thickness / 2.0);
                side.max(top).min(0.0) + length(side.max(0.0), top.max(0.0))
            }
        }
    }
}

/// What is in `a` and not in `b`.
fn without(a: f64, b: f64) -> f64 {
    a.max(-b)
}

/// A triangular wave around z, 12 turns a metre; `depth` is the distance from the cylinder it lies on.
fn thread(p: Vec3<f64>, depth: f64) -> f64 {
    const TURNS: f64 = 12.0;
    let turns = p.z * TURNS - libm::atan2(p.y, p.x) / TAU;
    (depth - (turns - turns.floor() - 0.5).abs() / TURNS) * FRAC_1_SQRT_2
}

/// The head of a bolt: a hexagon 1 wide with round edges on top.
fn hexagon(p: Vec3<f64>, depth: f64) -> f64 {
    let sixth = PI / 3.0;
    let angle = -(libm::atan2(p.y, p.x) / sixth + 0.5).floor() * sixth;
    let (sine, cosine) = libm::sincos(angle);
    let side = cosine * p.x - sine * p.y - 0.5;
    side.max((p.z + 0.25).abs() - 0.25).max((p.z + depth - 0.22) * FRAC_1_SQRT_2)
}

/// The outline of a gear with involute teeth, <https://www.shadertoy.com/view/3lG3WR>.
#[derive(Clone, Copy, Debug)]
struct Involute {
    alpha: f64,
    diameter: f64,
    teeth: f64,
    inner_diameter: f64,
}

impl Involute {
    fn distance(self, p: Vec3<f64>, rho: f64) -> f64 {
        let Self { alpha, diameter, teeth, inner_diameter } = self;
        let pressure_angle = 3.096e-5 * teeth * teeth - 6.557e-3 * teeth + 0.551;
        let pitch_radius = diameter / 2.0;
        let addendum = diameter / teeth;
        let outer = (diameter + 2.0 * addendum) / 2.0;
        let height = 2.2 * addendum;
        let inner = if inner_diameter >= 0.0 { inner_diameter / 2.0 } else { outer - height - 0.14 * diameter };
        if inner - rho > 0.0 {
            return inner - rho;
        }
        if outer - rho < -0.2 {
            return rho - outer;
        }
        let base = diameter * libm::cos(pressure_angle) / 2.0;
        let stride = PI * addendum / pitch_radius;
        let at_pitch = libm::acos(base / pitch_radius);
        let shift = stride / 2.0 - 2.0 * (libm::tan(at_pitch) - at_pitch);
        // Angles from both flanks of the nearest tooth.
        let nearest = |x: f64| x - stride * (x / stride).floor() - shift / 2.0;
        let phi = libm::atan2(p.y, p.x) + alpha;
        let flanks = [nearest(phi + shift / 2.0), nearest(-phi - shift + shift / 2.0)];
        let involute = |angle: f64| match base < rho {
            true => (rho * rho - base * base).sqrt() - base * (angle + libm::acos(base / rho)),
            false => -1e6,
        };
        let teeth = involute(flanks[0]).max(involute(flanks[1]));
        let walls = (flanks[0] - (stride - shift)).max(flanks[1] - (stride - shift));
        let teeth = smooth_intersection(rho - outer, walls.max(teeth), 0.0035 * diameter);
        without(smooth_union(rho - (outer - height), teeth, base - outer + height), rho - inner)
    }
}

fn smooth_union(a: f64, b: f64, width: f64) -> f64 {
    let h = (0.5 + 0.5 * (b - a) / width).clamp(0.0, 1.0);
    b * (1.0 - h) + a * h - width * h * (1.0 - h)
}

fn smooth_intersection(a: f64, b: f64, width: f64) -> f64 {
    without(a.max(b), smooth_union(without(a, b), without(b, a), width))
}

/// √(a² + b²), rounded as MuJoCo's.
fn length(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}
