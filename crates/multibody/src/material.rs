//! Surfaces: friction and compliance, and what two of them make together.

use spatial::masks::{select3, wide};
use spatial::{Quat, Real, Vec3};

use crate::Reference;

/// How much a contact or a joint limit yields.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Compliance {
    /// As stiff as the time step can resolve.
    #[default]
    NearRigid,
    /// A spring and damper in physical units.
    Physical {
        /// N/m, or N·m/rad at a joint that turns.
        stiffness: f64,
        /// Kelvin–Voigt relaxation time (damping over stiffness), s.
        relaxation: f64,
    },
    /// As MJCF's `solref` and `solimp` describe.
    Reference(Reference),
}

impl Compliance {
    /// What a weld with this compliance makes of the turn from one frame to another: the rotation vector; of references, as in MuJoCo, a vector
    /// along it as long as the sine of the angle.
    pub fn violation_of_turn(&self, turn: Quat<f64>) -> Vec3<f64> {
        match self {
            Self::Reference(_) => turn.vector() * (2.0 * turn.w),
            Self::NearRigid | Self::Physical { .. } => turn.rotation_vector(),
        }
    }
}

/// The motions of a contact that friction resists (MJCF `condim` 1, 3, 4, 6), each one those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Resistance {
    /// None: friction coefficients count for nothing.
    None,
    /// Sliding.
    #[default]
    Sliding,
    /// Spinning about the normal.
    Spinning,
    /// Rolling.
    Rolling,
}

impl Resistance {
    /// Of a contact: that along the normal, and those of the motions that are resisted.
    pub const fn rows(self) -> usize {
        match self {
            Self::None => 1,
            Self::Sliding => 3,
            Self::Spinning => 4,
            Self::Rolling => 6,
        }
    }

    /// The one of so many rows, MJCF's `condim`. None of another number.
    pub fn of_rows(rows: f64) -> Option<Self> {
        [Self::None, Self::Sliding, Self::Spinning, Self::Rolling].into_iter().find(|one| one.rows() as f64 == rows)
    }
}

/// The surface of a geom.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Material {
    /// Coulomb coefficient of friction; the pair takes the larger of the two.
    pub friction: f64,
    /// That along the second tangent of [`friction_tangents`](Self::friction_tangents), of explicit pairs; none where it is the same in all
    /// directions.
    pub second_friction: Option<f64>,
    /// Greatest torque about the normal over normal force, m; the pair takes the larger one, and uses it if either spins
    /// with resistance.
    pub torsional_friction: f64,
    /// Greatest torque about a tangent over normal force, m; as [`torsional_friction`](Self::torsional_friction).
    pub rolling_friction: f64,
    /// That about the second tangent of [`rolling_tangents`](Self::rolling_tangents), of explicit pairs; none where it is the same in all directions.
    pub second_rolling_friction: Option<f64>,
    /// What it resists; the pair resists what either does.
    pub resistance: Resistance,
    /// How much it yields; two surfaces act in series.
    pub compliance: Compliance,
    /// Its weight against another surface's where references are mixed, 0 or more (MJCF `solmix`).
    pub mix: f64,
    /// Of two surfaces with different priorities the higher one decides alone.
    pub priority: i32,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            friction: 1.0,
            second_friction: None,
            torsional_friction: 0.0,
            rolling_friction: 0.0,
            second_rolling_friction: None,
            resistance: Resistance::Sliding,
            compliance: Compliance::NearRigid,
            mix: 1.0,
            priority: 0,
        }
    }
}

impl Material {
    /// Coefficients of sliding, spinning and rolling friction, the latter two in m, where an MJCF file says nothing.
    pub const MJCF_FRICTION: [f64; 3] = [1.0, 0.005, 0.0001];

    /// The surface of a geom of which an MJCF file says nothing.
    pub fn of_mjcf() -> Self {
        let [friction, torsional_friction, rolling_friction] = Self::MJCF_FRICTION;
        Self { friction, torsional_friction, rolling_friction, ..Self::default() }
    }

    /// The surface that two surfaces make together: the one of higher priority, or the rougher friction and both
    /// compliances together.
    pub fn combine(a: &Self, b: &Self) -> Self {
        if a.priority != b.priority {
            return if a.priority > b.priority { *a } else { *b };
        }
        Self {
            friction: a.friction.max(b.friction),
            second_friction: None,
            torsional_friction: a.torsional_friction.max(b.torsional_friction),
            rolling_friction: a.rolling_friction.max(b.rolling_friction),
            second_rolling_friction: None,
            resistance: a.resistance.max(b.resistance),
            compliance: together([a.compliance, b.compliance], share(a.mix, b.mix)),
            mix: a.mix.max(b.mix),
            priority: a.priority,
        }
    }
}

/// The least coefficient of an ellipse of friction, MuJoCo's, also in m: along a direction without any, rows would have no length.
const LEAST_FRICTION: f64 = 1e-5;

impl Material {
    /// What a pair has of friction: sliding along both tangents of [`friction_tangents`](Self::friction_tangents), torsional and rolling, m.
    pub fn pair_frictions(&self) -> [f64; 4] {
        let Self { friction, second_friction, torsional_friction, rolling_friction, .. } = *self;
        [friction, second_friction.unwrap_or(friction), torsional_friction, rolling_friction]
    }

    /// With other [`pair_frictions`](Self::pair_frictions). Another length of rolling friction counts about both axes.
    pub fn with_pair_frictions(self, [first, second, torsional_friction, rolling_friction]: [f64; 4]) -> Self {
        let (friction, second_friction) = Self::of_two_tangents([first, second]);
        let second_rolling_friction =
            self.second_rolling_friction.filter(|_| rolling_friction == self.rolling_friction);
        Self { friction, second_friction, torsional_friction, rolling_friction, second_rolling_friction, ..self }
    }

    /// Coefficients along both tangents as [`friction`](Self::friction) and [`second_friction`](Self::second_friction), or as their
    /// counterparts of rolling: no second one where they are the same.
    pub fn of_two_tangents([first, second]: [f64; 2]) -> (f64, Option<f64>) {
        (first, (second != first).then_some(second))
    }

    /// The coefficient of sliding friction and the tangents at a contact with this normal. Where friction has two coefficients, the bound
    /// |γ_t| ≤ μ γ_n is an ellipse: the coefficient is the larger one, and the tangent of the other is shorter by their ratio, so that along the
    /// tangents as they are the ellipse is a circle. Its axes are those of MuJoCo's contact frames: the first is the part of the world's y axis, of
    /// the z axis where the normal is nearer to y, across the normal.
    #[inline(always)]
    pub fn friction_tangents(&self, normal: Vec3<f64>) -> (f64, [Vec3<f64>; 2]) {
        let [first, second] = self.frictions();
        if self.second_friction.is_none() {
            let (t1, t2) = normal.tangents();
            return (first, [t1, t2]);
        }
        (first.max(second), ellipse_tangents([first, second], normal))
    }

    /// The coefficients of sliding friction along both tangents: the same where there is one.
    pub fn frictions(&self) -> [f64; 2] {
        let both = |second: f64| [self.friction, second].map(|mu| mu.max(LEAST_FRICTION));
        self.second_friction.map_or([self.friction; 2], both)
    }

    /// The length of rolling friction and the tangents about which it acts, as [`friction_tangents`](Self::friction_tangents): where it has two
    /// lengths, the longer one, and the tangent of the other is shorter by their ratio. 0 of what does not resist rolling.
    #[inline(always)]
    pub fn rolling_tangents(&self, normal: Vec3<f64>) -> (f64, [Vec3<f64>; 2]) {
        let rolls = self.resistance == Resistance::Rolling;
        match self.second_rolling_friction.filter(|_| rolls) {
            None => {
                let (t1, t2) = normal.tangents();
                (if rolls { self.rolling_friction } else { 0.0 }, [t1, t2])
            }
            Some(second) => {
                let both = [self.rolling_friction, second].map(|length| length.max(LEAST_FRICTION));
                (both[0].max(both[1]), ellipse_tangents(both, normal))
            }
        }
    }

    /// What its friction makes of the inverse weight of a contact, see [`Reference::share_of_cone`].
    pub fn share_of_cone(&self) -> f64 {
        let Compliance::Reference(reference) = self.compliance else { return 1.0 };
        reference.share_of_cone(self.friction, self.resistance.rows())
    }
}

/// The tangents at a contact whose friction has two coefficients, see [`Material::friction_tangents`].
#[inline(always)]
pub fn ellipse_tangents<T: Real>([first, second]: [T; 2], normal: Vec3<T>) -> [Vec3<T>; 2] {
    let is_upright = normal.y.abs().if_less(wide(0.5), T::ONE, T::ZERO);
    let axis = Vec3::new(T::ZERO, is_upright, T::ONE - is_upright);
    let across = axis - normal * normal.dot(axis);
    // At least √¾ long.
    let t1 = across * across.norm().recip();
    let t2 = normal.cross(t1);
    let is_second_larger = first.if_less(second, T::ONE, T::ZERO);
    let (longer, shorter) = (select3(is_second_larger, t2, t1), select3(is_second_larger, -t1, t2));
    [longer, shorter * (first.min(second) / first.max(second))]
}

/// The first surface's share where references are mixed: half of it where neither has a weight.
fn share(a: f64, b: f64) -> f64 {
    if a + b > 0.0 { a / (a + b) } else { 0.5 }
}

/// Physical springs act in series, the softer one's damping counting in proportion. References are mixed, that of a near-rigid surface
/// being MJCF's default. Beside a physical spring all else is rigid.
fn together(of: [Compliance; 2], share_of_first: f64) -> Compliance {
    match of {
        [Compliance::NearRigid, Compliance::NearRigid] => Compliance::NearRigid,
        [
            Compliance::Physical { stiffness: k1, relaxation: t1 },
            Compliance::Physical { stiffness: k2, relaxation: t2 },
        ] => {
            Compliance::Physical { stiffness: 1.0 / (1.0 / k1 + 1.0 / k2), relaxation: (k2 * t1 + k1 * t2) / (k1 + k2) }
        }
        [physical @ Compliance::Physical { .. }, _] | [_, physical @ Compliance::Physical { .. }] => physical,
        [Compliance::Reference(a), Compliance::Reference(b)] => {
            Compliance::Reference(Reference::mix(&a, &b, share_of_first))
        }
        [Compliance::Reference(a), Compliance::NearRigid] => {
            let other = a.with_default_numbers();
            Compliance::Reference(Reference::mix(&a, &other, share_of_first))
        }
        [Compliance::NearRigid, Compliance::Reference(b)] => {
            let other = b.with_default_numbers();
            Compliance::Reference(Reference::mix(&other, &b, share_of_first))
        }
    }
}
