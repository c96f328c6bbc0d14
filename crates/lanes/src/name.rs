//! By which name a constraint is known from step to step, and what is remembered of it.

use spatial::Vec3;

/// The same constraint in every step, however it is made. Contact points come first, in the order in which they are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConstraintName(pub(crate) [u32; 3]);

/// What a constraint met in a step: all that the next one needs to know of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmStartEntry {
    /// The constraint.
    pub name: ConstraintName,
    /// The velocity that it would have without impulse (world axes; of one row the first entry), m/s or rad/s.
    pub free_velocity: Vec3<f64>,
    /// Impulse along the normal, or that of a constraint of one row, N·s or N·m·s.
    pub normal: f64,
}

impl WarmStartEntry {
    /// Fills places of an array that hold no constraint.
    pub const NONE: Self = Self { name: ConstraintName([u32::MAX; 3]), free_velocity: Vec3::ZERO, normal: 0.0 };
}

impl ConstraintName {
    pub(crate) const LIMIT: u32 = u32::MAX;
    pub(crate) const EQUALITY: u32 = u32::MAX - 1;
    pub(crate) const FRICTION: u32 = u32::MAX - 2;
    pub(crate) const TENDON: u32 = u32::MAX - 3;
    pub(crate) const SERVO: u32 = u32::MAX - 4;
    pub(crate) const PD: u32 = u32::MAX - 5;
    const HOLD: u32 = u32::MAX - 6;
    /// Beyond all geoms.
    const FIRST_SOFT: u32 = 0xF000_0000;
    const SPIN: u32 = 1 << 31;

    /// Point `ordinal` of two geoms, of those in reach, the lower index first.
    pub fn contact([lower, upper]: [usize; 2], ordinal: usize) -> Self {
        Self([upper as u32, lower as u32, ordinal as u32])
    }

    /// Rolling and torsional friction of point `ordinal` of two geoms.
    pub fn spin([lower, upper]: [usize; 2], ordinal: usize) -> Self {
        Self([upper as u32, lower as u32, ordinal as u32 | Self::SPIN])
    }

    /// The lower (0) or upper (1) side of a limit, by its place among the joints with limits.
    pub fn limit(place: usize, side: usize) -> Self {
        Self([Self::LIMIT, place as u32, side as u32])
    }

    /// Whether it is a side of a limit.
    pub fn is_limit(self) -> bool {
        self.0[0] == Self::LIMIT
    }

    /// A part of an equality of the model: the point or the row (0), then the turn.
    pub fn equality(index: usize, part: usize) -> Self {
        Self([Self::EQUALITY, index as u32, part as u32])
    }

    /// The index of the equality that it is a part of, if it is.
    pub fn of_equality(self) -> Option<usize> {
        (self.0[0] == Self::EQUALITY).then_some(self.0[1] as usize)
    }

    /// Dry friction of a degree of freedom.
    pub fn friction(dof: usize) -> Self {
        Self([Self::FRICTION, dof as u32, 0])
    }

    /// A part of a tendon: both sides of its limit, spring and damper, armature, actuators, dry friction.
    pub fn tendon(index: usize, part: usize) -> Self {
        Self([Self::TENDON, index as u32, part as u32])
    }

    /// A drive at its limits, by the control of the first of its actuators.
    pub fn servo(ctrl: usize) -> Self {
        Self([Self::SERVO, ctrl as u32, 0])
    }

    /// PD control of a degree of freedom at its limits.
    pub fn pd(dof: usize) -> Self {
        Self([Self::PD, dof as u32, 0])
    }

    /// A contact of a soft body with `other`, at `point`.
    pub fn soft(body: u32, other: u32, point: u32) -> Self {
        Self([Self::FIRST_SOFT.saturating_add(body).min(Self::HOLD - 1), other, point])
    }

    /// A node of a soft body that a body holds.
    pub fn hold(index: usize) -> Self {
        Self([Self::HOLD, index as u32, 0])
    }

    /// Whether it is PD control.
    pub fn is_pd(self) -> bool {
        self.0[0] == Self::PD
    }

    /// Whether it is a contact point of two geoms or the friction of its rotation.
    pub fn is_contact(self) -> bool {
        self.0[0] < Self::FIRST_SOFT
    }

    /// Whether it is rolling and torsional friction.
    pub fn is_spin(self) -> bool {
        self.is_contact() && self.0[2] & Self::SPIN != 0
    }

    /// The geoms of a contact point and which of their points it is.
    pub(crate) fn point(self) -> ([usize; 2], usize) {
        let [upper, lower, ordinal] = self.0;
        ([lower as usize, upper as usize], (ordinal & !Self::SPIN) as usize)
    }

    /// Whether both come from the same two geoms, the same limit, tendon or equality.
    pub fn has_source_of(self, other: Self) -> bool {
        self.0[..2] == other.0[..2]
    }

    /// Whether both are the same constraint, or points of the same two geoms, whose order may change.
    pub fn may_be(self, other: Self) -> bool {
        self == other || self.is_contact() && self.has_source_of(other) && self.is_spin() == other.is_spin()
    }

    /// Twelve bytes that no other constraint has.
    pub fn words(self) -> [u32; 3] {
        self.0
    }

    /// The constraint of these [`words`](Self::words).
    pub fn of_words(words: [u32; 3]) -> Self {
        Self(words)
    }
}
