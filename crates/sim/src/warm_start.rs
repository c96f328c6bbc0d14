//! What the contact solver remembers from one step to the next.

use lanes::ConstraintName;
use spatial::Vec3;

/// For the constraints of the last step, the velocities they would have met if they had not pushed, and their normal
/// impulses.
///
/// The solver predicts from the velocities which contacts will stick, slide or part; friction is bounded by the normal
/// impulses at first, and under the lagged law to the end. A contact is known again by its two geoms and its place among
/// their points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmStart {
    /// Ascending by key.
    entries: Vec<Entry>,
}

/// What is remembered of one constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    pub key: Key,
    /// World axes for a contact; the first entry alone for a constraint of one row.
    pub free_velocity: Vec3<f64>,
    /// Impulse along the normal, or that of a constraint of one row.
    pub normal: f64,
}

impl Entry {
    /// The place of an entry that there is none of.
    pub const NONE: Self = Self { key: Key([u32::MAX; 3]), free_velocity: Vec3::ZERO, normal: 0.0 };
}

/// What is remembered of a constraint from the last step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub free_velocity: Vec3<f64>,
    pub normal: f64,
}

/// The same constraint in every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key([u32; 3]);

impl Key {
    /// Point `ordinal` of two geoms, the lower index first. They ascend as contact points are detected.
    pub fn contact([lower, upper]: [usize; 2], ordinal: usize) -> Self {
        Self([upper as u32, lower as u32, ordinal as u32])
    }

    /// Rolling and torsional friction of point `ordinal` of two geoms.
    pub fn spin([lower, upper]: [usize; 2], ordinal: usize) -> Self {
        Self([upper as u32, lower as u32, ordinal as u32 | 1 << 31])
    }

    /// Whether both come from the same two geoms, the same limit, tendon or equality.
    pub fn has_source_of(self, other: Self) -> bool {
        self.0[..2] == other.0[..2]
    }

    /// Whether both are the same constraint, or points of the same two geoms, whose order may change.
    pub fn may_be(self, other: Self) -> bool {
        let is_contact = self.0[0] < Self::FIRST_SOFT;
        self == other || is_contact && self.has_source_of(other) && self.0[2] >> 31 == other.0[2] >> 31
    }

    /// The lower (0) or upper (1) side of a limit.
    pub fn limit(index: usize, side: usize) -> Self {
        Self([u32::MAX, index as u32, side as u32])
    }

    /// Part `part` of an equality constraint.
    pub fn equality(index: usize, part: usize) -> Self {
        Self([u32::MAX - 1, index as u32, part as u32])
    }

    /// Dry friction of a degree of freedom.
    pub fn friction(dof: usize) -> Self {
        Self([u32::MAX - 2, dof as u32, 0])
    }

    /// Part `part` of a tendon.
    pub fn tendon(index: usize, part: usize) -> Self {
        Self([u32::MAX - 3, index as u32, part as u32])
    }

    /// The drive of an actuator.
    pub fn servo(ctrl: usize) -> Self {
        Self([u32::MAX - 4, ctrl as u32, 0])
    }

    /// The PD controller's drive of a degree of freedom.
    pub fn pd(dof: usize) -> Self {
        Self([u32::MAX - 5, dof as u32, 0])
    }

    /// The key of what steps in lanes know by this name.
    pub fn of_lane(name: ConstraintName) -> Self {
        match name {
            ConstraintName::Contact { geoms, ordinal } => Self::contact(geoms, ordinal),
            ConstraintName::Spin { geoms, ordinal } => Self::spin(geoms, ordinal),
            ConstraintName::Limit { place, side } => Self::limit(place, side),
            ConstraintName::Equality { index, part } => Self::equality(index, part),
            ConstraintName::JointFriction { dof } => Self::friction(dof),
            ConstraintName::Tendon { index, part } => Self::tendon(index, part),
            ConstraintName::Servo { ctrl } => Self::servo(ctrl),
            ConstraintName::Pd { dof } => Self::pd(dof),
        }
    }

    /// The name by which steps in lanes know it; none of what they do not have.
    pub fn in_lane(self) -> Option<ConstraintName> {
        const SPIN: usize = 1 << 31;
        let [kind, first, second] = self.0.map(|x| x as usize);
        Some(match u32::MAX - self.0[0] {
            0 => ConstraintName::Limit { place: first, side: second },
            1 => ConstraintName::Equality { index: first, part: second },
            2 => ConstraintName::JointFriction { dof: first },
            3 => ConstraintName::Tendon { index: first, part: second },
            4 => ConstraintName::Servo { ctrl: first },
            5 => ConstraintName::Pd { dof: first },
            _ if self.0[0] >= Self::FIRST_SOFT => return None,
            _ if second & SPIN == 0 => ConstraintName::Contact { geoms: [first, kind], ordinal: second },
            _ => ConstraintName::Spin { geoms: [first, kind], ordinal: second & !SPIN },
        })
    }

    /// A contact of a soft body with `other`, at `point`.
    pub fn soft(body: u32, other: u32, point: u32) -> Self {
        Self([Self::FIRST_SOFT.saturating_add(body).min(u32::MAX - 7), other, point])
    }

    /// A node of a soft body that a body holds.
    pub fn hold(index: usize) -> Self {
        Self([u32::MAX - 6, index as u32, 0])
    }

    /// Beyond all geoms.
    const FIRST_SOFT: u32 = 0xF000_0000;

    /// Whether it is a drive of the PD controller.
    pub fn is_pd(self) -> bool {
        self.0[0] == u32::MAX - 5
    }
}

impl WarmStart {
    /// Bytes of one entry.
    const ENTRY: usize = 44;

    /// Forgets everything: the next step starts cold.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Becomes `other`, with the memory that there is.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
    }

    /// What is remembered of a constraint; none when the last step had none of this key. `next` is where to look first: behind
    /// the constraint that was asked for before.
    pub(crate) fn of(&self, key: Key, next: &mut usize) -> Option<Memory> {
        let at = match self.entries.get(*next) {
            Some(entry) if entry.key == key => Ok(*next),
            _ => self.entries.binary_search_by_key(&key, |entry| entry.key),
        };
        let found = at.ok()?;
        *next = found + 1;
        let Entry { free_velocity, normal, .. } = self.entries[found];
        Some(Memory { free_velocity, normal })
    }

    /// The entries, to be written in any order, some of them [`Entry::NONE`]; [`sort`](Self::sort) comes next.
    pub(crate) fn entries_mut(&mut self) -> &mut Vec<Entry> {
        &mut self.entries
    }

    /// Drops the places without an entry and puts the others in order; the first `ordered` are entries and in order.
    pub(crate) fn sort(&mut self, ordered: usize) {
        let entries = &mut self.entries;
        if ordered == 0 {
            entries.retain(|entry| entry.key != Entry::NONE.key);
        }
        if !entries[ordered.saturating_sub(1)..].is_sorted_by_key(|entry| entry.key) {
            entries.sort_unstable_by_key(|entry| entry.key);
        }
    }

    /// The entries.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn byte_len(&self) -> usize {
        Self::ENTRY * self.entries.len()
    }

    pub(crate) fn append_bytes(&self, bytes: &mut Vec<u8>) {
        for Entry { key, free_velocity, normal } in &self.entries {
            bytes.extend(key.0.iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend(free_velocity.to_array().iter().chain([normal]).flat_map(|x| x.to_le_bytes()));
        }
    }

    /// Takes over the bytes of [`append_bytes`](Self::append_bytes), a whole number of entries.
    pub(crate) fn restore(&mut self, bytes: &[u8]) {
        self.entries.clear();
        for entry in bytes.as_chunks::<{ Self::ENTRY }>().0 {
            let word = |k: usize| u32::from_le_bytes([entry[k], entry[k + 1], entry[k + 2], entry[k + 3]]);
            let number = |k: usize| {
                let (low, high) = (u64::from(word(k)), u64::from(word(k + 4)));
                f64::from_bits(low | high << 32)
            };
            let free_velocity = Vec3::new(number(12), number(20), number(28));
            self.entries.push(Entry { key: Key([word(0), word(4), word(8)]), free_velocity, normal: number(36) });
        }
        self.sort(0);
    }

    /// Whether `bytes` are those of some warm start.
    pub(crate) fn fits(bytes: usize) -> bool {
        bytes.is_multiple_of(Self::ENTRY)
    }
}
