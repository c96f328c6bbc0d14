//! The names of scenes.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use support::{brief, suggest};

use super::{Scene, Solid};

/// The names of all scenes; capitals stand for numbers.
pub const FORMS: [&str; 24] = [
    "clutter-box-COUNT",
    "clutter-sphere-COUNT",
    "tower-COUNT",
    "stacks-COUNT-HEIGHT",
    "mass-ratio-RATIO",
    "arch-BLOCKS",
    "cards-STOREYS",
    "incline-DEGREES-FRICTION",
    "slider-SPEED-FRICTION",
    "four-bar",
    "stewart",
    "arm7",
    "flung-arm",
    "sprung-arm",
    "tumbling-body",
    "double-pendulum",
    "spring-chain-LINKS",
    "spinning-top",
    "rolling-ball",
    "lopsided-ball",
    "billiard-balls",
    "bouncing-ball",
    "soft-gripper",
    "soft-pile",
];

/// A name that no scene has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownScene {
    /// It has the form of none.
    #[error("there is no scene {}{}", brief(&format!("{name:?}")), hint(name))]
    Name {
        /// The name.
        name: String,
    },
    /// A number in it is none, or makes no sense.
    #[error("scene {name:?}: {number:?}: expected {expected}")]
    Number {
        /// The name.
        name: String,
        /// The number.
        number: String,
        /// What was expected.
        expected: String,
    },
}

/// Names or forms of scenes that are like this one, the nearest first: for `towr-5` it is `tower-5`, for `towr` `tower-COUNT`.
pub fn similar(name: &str) -> Vec<String> {
    let starts_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let (title, numbers) = split(name, starts_number);
    let starts_capital = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    let titles = FORMS.map(|form| split(form, starts_capital));
    let near = suggest::similar(&title, titles.iter().map(|(title, _)| title.as_str()));
    let of_title = |near: &str| titles.iter().find(|(title, _)| title == near);
    let filled = near.into_iter().filter_map(of_title).map(|(title, places)| {
        let values = if numbers.len() == places.len() { &numbers } else { places };
        [std::slice::from_ref(title), values].concat().join("-")
    });
    filled.collect()
}

/// The words of a name before the first that is a number, and the rest.
fn split(name: &str, is_number: impl Fn(&str) -> bool) -> (String, Vec<String>) {
    let words: Vec<String> = name.split('-').map(String::from).collect();
    let first = words.iter().position(|word| is_number(word)).unwrap_or(words.len());
    (words[..first].join("-"), words[first..].to_vec())
}

/// What a message says of those.
fn hint(name: &str) -> String {
    let near = similar(name).into_iter().map(|name| format!("{name:?}"));
    match suggest::question(near) {
        Some(hint) => format!(": {hint}"),
        None => {
            let known = suggest::listed(FORMS.map(String::from));
            format!("; expected one of {known}: `sapwood.scenes.NAMES` has them all")
        }
    }
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clutter { solid: Solid::Box, count } => write!(f, "clutter-box-{count}"),
            Self::Clutter { solid: Solid::Sphere, count } => write!(f, "clutter-sphere-{count}"),
            Self::Tower { count } => write!(f, "tower-{count}"),
            Self::Stacks { count, height } => write!(f, "stacks-{count}-{height}"),
            Self::MassRatio { ratio } => write!(f, "mass-ratio-{ratio}"),
            Self::Arch { blocks } => write!(f, "arch-{blocks}"),
            Self::Cards { storeys } => write!(f, "cards-{storeys}"),
            Self::Incline { degrees, friction } => write!(f, "incline-{degrees}-{friction}"),
            Self::Slider { speed, friction } => write!(f, "slider-{speed}-{friction}"),
            Self::FourBar => f.write_str("four-bar"),
            Self::Stewart => f.write_str("stewart"),
            Self::Arm7 => f.write_str("arm7"),
            Self::FlungArm => f.write_str("flung-arm"),
            Self::SprungArm => f.write_str("sprung-arm"),
            Self::TumblingBody => f.write_str("tumbling-body"),
            Self::DoublePendulum => f.write_str("double-pendulum"),
            Self::SpringChain { links } => write!(f, "spring-chain-{links}"),
            Self::SpinningTop => f.write_str("spinning-top"),
            Self::RollingBall => f.write_str("rolling-ball"),
            Self::LopsidedBall => f.write_str("lopsided-ball"),
            Self::BilliardBalls => f.write_str("billiard-balls"),
            Self::BouncingBall => f.write_str("bouncing-ball"),
            Self::SoftGripper => f.write_str("soft-gripper"),
            Self::SoftPile => f.write_str("soft-pile"),
        }
    }
}

impl FromStr for Scene {
    type Err = UnknownScene;

    /// By a name of one of [`FORMS`]: `tower-50`, `incline-20-0.7`.
    ///
    /// # Errors
    /// When the name has none of the forms, or a number is out of its range.
    fn from_str(name: &str) -> Result<Self, UnknownScene> {
        let number = |text: &str, range| number(name, text, range);
        let whole = |text: &str, range| whole(name, text, range);
        let words: Vec<&str> = name.split('-').collect();
        Ok(match words[..] {
            ["clutter", "box", count] => Self::Clutter { solid: Solid::Box, count: whole(count, 1..=10_000)? },
            ["clutter", "sphere", count] => Self::Clutter { solid: Solid::Sphere, count: whole(count, 1..=10_000)? },
            ["tower", count] => Self::Tower { count: whole(count, 1..=10_000)? },
            ["stacks", count, height] => {
                Self::Stacks { count: whole(count, 1..=10_000)?, height: whole(height, 1..=100)? }
            }
            ["mass", "ratio", ratio] => Self::MassRatio { ratio: number(ratio, 1e-9..=1e9)? },
            ["arch", blocks] => Self::Arch { blocks: whole(blocks, 3..=1000)? },
            ["cards", storeys] => Self::Cards { storeys: whole(storeys, 1..=20)? },
            ["incline", degrees, friction] => {
                Self::Incline { degrees: number(degrees, 0.0..=89.0)?, friction: number(friction, 0.0..=10.0)? }
            }
            ["slider", speed, friction] => {
                Self::Slider { speed: number(speed, 0.0..=100.0)?, friction: number(friction, 0.0..=10.0)? }
            }
            ["four", "bar"] => Self::FourBar,
            ["stewart"] => Self::Stewart,
            ["arm7"] => Self::Arm7,
            ["flung", "arm"] => Self::FlungArm,
            ["sprung", "arm"] => Self::SprungArm,
            ["tumbling", "body"] => Self::TumblingBody,
            ["double", "pendulum"] => Self::DoublePendulum,
            ["spring", "chain", links] => Self::SpringChain { links: whole(links, 1..=1000)? },
            ["spinning", "top"] => Self::SpinningTop,
            ["rolling", "ball"] => Self::RollingBall,
            ["lopsided", "ball"] => Self::LopsidedBall,
            ["billiard", "balls"] => Self::BilliardBalls,
            ["bouncing", "ball"] => Self::BouncingBall,
            ["soft", "gripper"] => Self::SoftGripper,
            ["soft", "pile"] => Self::SoftPile,
            _ => return Err(UnknownScene::Name { name: name.into() }),
        })
    }
}

fn number(name: &str, text: &str, range: RangeInclusive<f64>) -> Result<f64, UnknownScene> {
    text.parse().ok().filter(|x| range.contains(x)).ok_or_else(|| UnknownScene::Number {
        name: name.into(),
        number: text.into(),
        expected: format!("a number from {} to {}", range.start(), range.end()),
    })
}

fn whole(name: &str, text: &str, range: RangeInclusive<usize>) -> Result<usize, UnknownScene> {
    text.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| UnknownScene::Number {
        name: name.into(),
        number: text.into(),
        expected: format!("a whole number from {} to {}", range.start(), range.end()),
    })
}
