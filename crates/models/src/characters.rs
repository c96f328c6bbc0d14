//! Five characters, shaped like the real thing, as MJCF text: a humanoid, a dog, and snakes of three lengths.
//!
//! They have the joints of the characters in the Stable PD experiments of the MABA paper (humanoid 34 degrees of freedom,
//! dog 72, snakes 36, 72 and 195), and no motors, damping, armature or limits: whatever drives them says so itself.
//!
//! ```
//! use sapwood_models::characters::{Character, Options};
//!
//! let dog: Character = "dog".parse()?;
//! let text = sapwood_models::characters::mjcf(dog, &Options::default());
//! assert!(text.starts_with("<mujoco model=\"dog\">"));
//! assert_eq!(dog.nv(), 72);
//!
//! let error = "cat".parse::<Character>().unwrap_err();
//! assert!(error.to_string().contains("humanoid, dog, snake36, snake72, snake195"));
//! # Ok::<(), sapwood_models::characters::UnknownCharacter>(())
//! ```
//!
//! # Conventions
//!
//! x points forwards, y to the left, z up. In the default configuration (every quaternion the identity, every angle 0)
//! the frames of all bodies are parallel to the world's, each with its origin in its joint, and the character stands or
//! lies on the ground z = 0. Every body has the name of the joint that moves it. Joints are listed below in the order of
//! their coordinates, which is MJCF's: depth first.
//!
//! * **Humanoid**, 1.67 m, 60 kg: `root` free; `chest`, `neck`; `right_shoulder`, `right_elbow`; `left_shoulder`,
//!   `left_elbow`; `right_hip`, `right_knee`, `right_ankle`; `left_hip`, `left_knee`, `left_ankle`. Knees and elbows are
//!   hinges, the others balls. It stands upright with its arms hanging down. A positive angle bends a knee as knees bend,
//!   the shin backwards (axis 0 1 0), and an elbow as elbows bend, the forearm forwards (axis 0 −1 0).
//! * **Dog**, 0.62 m at the withers, 30 kg: `root` free; `spine_1`, `spine_2`, `neck`, `head`; `front_right_shoulder`,
//!   `front_right_elbow`, `front_right_wrist`, `front_right_toe`; the same for `front_left_`; `hind_right_hip`,
//!   `hind_right_knee`, `hind_right_ankle`, `hind_right_toe`; the same for `hind_left_`; `tail_1`, `tail_2`. All balls.
//!   The toes of the front legs are the deepest, six balls below the root. It stands on its toes.
//! * **Snakes** of 1.2 m and 2.4 kg, 2.3 m and 8.2 kg, 4.5 m and 39 kg: `root` free, the head; `spine_1`, `spine_2`, … to
//!   the tail. All balls. They lie straight, the head at the +x end; the keyframe `curved` is a serpentine.

mod dog;
mod figure;
mod humanoid;
mod snake;
mod writer;

use std::fmt;
use std::str::FromStr;

use figure::Figure;
use support::{brief, suggest};

/// The characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Character {
    /// A person.
    Humanoid,
    /// A large dog.
    Dog,
    /// A snake of 11 bodies.
    Snake36,
    /// A snake of 23 bodies.
    Snake72,
    /// A snake of 64 bodies.
    Snake195,
}

/// What else is written besides the character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A level ground at z = 0.
    pub ground: bool,
    /// Whether bodies of the character that are no neighbours can touch each other. If not, they touch the ground and
    /// other things only.
    pub self_collision: bool,
}

impl Default for Options {
    /// With ground, without self-collision.
    fn default() -> Self {
        Self { ground: true, self_collision: false }
    }
}

/// A name that no character has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no character {}; expected one of {}{}", brief(&format!("{name:?}")), names(), hint(name))]
pub struct UnknownCharacter {
    /// The name.
    pub name: String,
}

/// The names of characters that are like this one, the nearest first.
pub fn similar(name: &str) -> Vec<&'static str> {
    suggest::similar(name, Character::ALL.map(Character::name))
}

/// What a message says of those.
fn hint(name: &str) -> String {
    suggest::did_you_mean(name, similar(name)).map_or_else(String::new, |hint| format!("; {hint}"))
}

/// The names of all characters, as a message has them.
fn names() -> String {
    Character::ALL.map(Character::name).join(", ")
}

impl Character {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Humanoid, Self::Dog, Self::Snake36, Self::Snake72, Self::Snake195];

    /// The name: "humanoid", "dog", "snake36", "snake72" or "snake195".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Humanoid => "humanoid",
            Self::Dog => "dog",
            Self::Snake36 => "snake36",
            Self::Snake72 => "snake72",
            Self::Snake195 => "snake195",
        }
    }

    /// The number of degrees of freedom, those of the free root included.
    pub const fn nv(self) -> usize {
        match self {
            Self::Humanoid => 34,
            Self::Dog | Self::Snake72 => 72,
            Self::Snake36 => 36,
            Self::Snake195 => 195,
        }
    }

    fn figure(self) -> Figure {
        match self {
            Self::Humanoid => humanoid::figure(),
            Self::Dog => dog::figure(),
            Self::Snake36 => snake::figure(self.name(), &snake::SMALL),
            Self::Snake72 => snake::figure(self.name(), &snake::MIDDLE),
            Self::Snake195 => snake::figure(self.name(), &snake::LARGE),
        }
    }
}

impl fmt::Display for Character {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Character {
    type Err = UnknownCharacter;

    /// By the name that [`Character::name`] returns.
    ///
    /// # Errors
    /// When no character has this name.
    fn from_str(name: &str) -> Result<Self, UnknownCharacter> {
        let found = Self::ALL.into_iter().find(|character| character.name() == name);
        found.ok_or_else(|| UnknownCharacter { name: name.into() })
    }
}

/// The character as MJCF text.
pub fn mjcf(character: Character, options: &Options) -> String {
    writer::mjcf(&character.figure(), options)
}
