//! `solref` and `solimp`: how much a contact, a limit or an equality yields.

use multibody::Compliance;

use super::defaults::Attributes;
use crate::LoadError;
use crate::warnings::Warnings;

/// MuJoCo's defaults of `solref` and `solimp`.
const SOLREF: [f64; 2] = [0.02, 1.0];
const SOLIMP: [f64; 5] = [0.9, 0.95, 0.001, 0.5, 2.0];

/// The load per effective mass under which a spring is pressed in as deep as a constraint of MuJoCo whose impedance depends on
/// the depth, m/s² or rad/s²: five times gravity. A foot bears the robot, of which its effective mass is a fraction, and more when it
/// lands.
const LOAD: f64 = 49.05;

/// MuJoCo takes impedances to lie in this interval, and so the place of the middle of their course.
const LEAST: f64 = 1e-4;
const GREATEST: f64 = 0.9999;

/// Whether a constraint bears loads or ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A contact or a limit: what is seen of it is how deep it is pressed in, and how much it bounces.
    One,
    /// An equality: what is seen of it is how it swings back.
    Both,
}

/// The compliance that a pair of attributes like `solref` and `solimp` asks for: near-rigid when neither the element nor its
/// defaults set them, else what [`spring`] makes of them.
pub(super) fn compliance(
    attributes: &Attributes<'_, '_>,
    [solref, solimp]: [&'static str; 2],
    side: Side,
    warnings: &mut Warnings,
) -> Result<Compliance, LoadError> {
    let Some((at, _, _)) = attributes.find(&[solref]).or_else(|| attributes.find(&[solimp])) else {
        return Ok(Compliance::NearRigid);
    };
    let [first, second] = attributes.leading(solref, SOLREF)?;
    let impedance = Impedance::new(attributes.leading(solimp, SOLIMP)?);
    if attributes.has(&[solimp]) && !impedance.is_constant() {
        let message = match side {
            Side::One => "the stiffness is constant: that of the depth under five times gravity",
            Side::Both => "the stiffness is constant: it follows from solref",
        };
        warnings.add_attribute(at, solimp, message);
    }
    if (first > 0.0) != (second > 0.0) {
        let message = format!("{solref}=\"{first} {second}\": expected both numbers positive or both negative");
        return Err(at.error(message));
    }
    match spring([first, second], impedance, side) {
        Some(Spring { stiffness: 0.0, .. }) => {
            warnings.add_attribute(at, solref, "a stiffness of 0 is replaced by near-rigid");
            Ok(Compliance::NearRigid)
        }
        Some(Spring { stiffness, relaxation }) => Ok(Compliance::PerMass { stiffness, relaxation }),
        None => {
            let message =
                format!("{solref}=\"{first} {second}\": expected numbers that make a finite stiffness and damping");
            Err(at.error(message))
        }
    }
}

/// A spring and damper per unit of effective mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spring {
    /// 1/s².
    pub stiffness: f64,
    /// Damping over stiffness, s.
    pub relaxation: f64,
}

/// The spring that rests as deep as MuJoCo's constraint and bounces as much, or that swings as it does.
///
/// MuJoCo's constraint of impedance d has the acceleration a = (1 − d) a₀ − d (b v + d k r) at the depth r, where a₀ is what it would
/// have without the constraint: a spring d² k and a damper d b on a mass that is 1/(1 − d) times as large to all other forces. With
/// `solref` = (timeconst, dampratio) > 0
///
/// k = 1 / (dmax² timeconst² dampratio²),  b = 2 / (dmax timeconst),
///
/// and with (−stiffness, −damping), k = stiffness / dmax², b = damping / dmax. A spring without that mass cannot do all of what it
/// does. What one sees is kept. A one-sided constraint keeps the depth r under the load a₀ = g, where (1 − d) g = d² k r, so that the stiffness is K = g / r, and the damping ratio ζ = b / (2 √k), which decides how much it bounces: relaxation time 2 ζ / √K. What it takes
/// to settle is shorter by √(1 − d). A two-sided one keeps its motion while nothing else acts: K = dmax² k, relaxation time b / (dmax k),
/// whatever the impedance.
///
/// None where that is not finite.
pub(super) fn spring([first, second]: [f64; 2], impedance: Impedance, side: Side) -> Option<Spring> {
    // dmax² k and dmax b.
    let (given, damping) = if first > 0.0 { (1.0 / (first * second).powi(2), 2.0 / first) } else { (-first, -second) };
    if given == 0.0 {
        return Some(Spring { stiffness: 0.0, relaxation: 0.0 });
    }
    let stiffness = match side {
        Side::Both => given,
        Side::One if impedance.is_constant() => given / (1.0 - impedance.greatest),
        Side::One => LOAD / impedance.depth(given / impedance.greatest.powi(2)),
    };
    let relaxation = damping / (given * stiffness).sqrt();
    (stiffness.is_finite() && stiffness > 0.0 && relaxation.is_finite()).then_some(Spring { stiffness, relaxation })
}

/// MuJoCo's impedance as a function of the depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Impedance {
    least: f64,
    greatest: f64,
    width: f64,
    middle: f64,
    power: f64,
}

impl Impedance {
    /// From the five numbers of `solimp`: at depth 0, at `width` and beyond, `width`, where the middle lies, and the power.
    pub fn new([least, greatest, width, middle, power]: [f64; 5]) -> Self {
        let inside = |value: f64| value.clamp(LEAST, GREATEST);
        Self {
            least: inside(least),
            greatest: inside(greatest),
            width: width.max(0.0),
            middle: inside(middle),
            power: power.max(1.0),
        }
    }

    /// One that does not depend on the depth.
    pub fn constant(d: f64) -> Self {
        Self::new([d, d, SOLIMP[2], SOLIMP[3], SOLIMP[4]])
    }

    /// Whether it does not depend on the depth.
    pub fn is_constant(&self) -> bool {
        self.least == self.greatest || self.width == 0.0
    }

    /// At a depth of 0 or more.
    pub fn at(&self, depth: f64) -> f64 {
        let x = depth / self.width;
        if x >= 1.0 {
            return self.greatest;
        }
        let part = |x: f64, whole: f64| whole * libm::pow(x / whole, self.power);
        let y = if x <= self.middle { part(x, self.middle) } else { 1.0 - part(1.0 - x, 1.0 - self.middle) };
        self.least + y * (self.greatest - self.least)
    }

    /// The depth r at which (1 − d) g = d² k r, by bisection.
    fn depth(&self, k: f64) -> f64 {
        let is_beyond = |r: f64| {
            let d = self.at(r);
            d * d * k * r > (1.0 - d) * LOAD
        };
        let [mut low, mut high] = [0.0, LOAD / (LEAST * LEAST * k)];
        for _ in 0..200 {
            let between = 0.5 * (low + high);
            if between <= low || between >= high {
                break;
            }
            if is_beyond(between) { high = between } else { low = between }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impedance_follows_its_course() {
        // As MuJoCo's documentation draws it: from dmin at 0 by the middle at half the way to dmax at the width.
        let d = Impedance::new([0.1, 0.9, 0.01, 0.5, 2.0]);
        for (depth, expected) in [(0.0, 0.1), (0.0025, 0.2), (0.005, 0.5), (0.0075, 0.8), (0.01, 0.9), (1.0, 0.9)] {
            assert!((d.at(depth) - expected).abs() < 1e-15, "{depth}: {} for {expected}", d.at(depth));
        }
        let straight = Impedance::new([0.1, 0.9, 0.01, 0.3, 1.0]);
        assert!((straight.at(0.002) - 0.26).abs() < 1e-15);
    }

    #[test]
    fn the_depth_under_the_load_is_the_constraints() {
        for (solref, solimp) in [
            ([0.02, 1.0], [0.0, 0.8, 0.01, 0.5, 2.0]),
            ([0.02, 1.0], SOLIMP),
            ([0.005, 0.3], [0.0, 0.99, 0.03, 0.7, 6.0]),
            ([-1000.0, -3.0], [0.5, 0.9, 0.001, 0.5, 2.0]),
            // Falling impedances are allowed.
            ([0.02, 1.0], [0.95, 0.5, 0.01, 0.5, 2.0]),
            ([0.02, 1.0], [0.7, 0.7, 0.01, 0.5, 2.0]),
        ] {
            let impedance = Impedance::new(solimp);
            let spring = spring(solref, impedance, Side::One).unwrap();
            let depth = LOAD / spring.stiffness;
            let (d, dmax) = (impedance.at(depth), impedance.greatest);
            let k = if solref[0] > 0.0 { (dmax * solref[0] * solref[1]).powi(-2) } else { -solref[0] / (dmax * dmax) };
            assert!(((1.0 - d) * LOAD / (d * d * k * depth) - 1.0).abs() < 1e-9, "{solref:?} {solimp:?}");
        }
    }

    #[test]
    fn damping_ratios_are_kept() {
        // ζ = relaxation √K / 2.
        let found = spring([0.02, 0.4], Impedance::constant(0.64), Side::One).unwrap();
        assert!((0.5 * found.relaxation * found.stiffness.sqrt() - 0.4).abs() < 1e-15);
    }
}
