//! Scenes as MJCF text: piles, towers and masonry that are hard on contact solvers, blocks for which theory knows the
//! answer, mechanisms with loops, and motions that tell time-stepping schemes apart.
//!
//! ```
//! use sapwood_models::scenes::{Scene, Solid};
//!
//! let scene: Scene = "clutter-box-125".parse()?;
//! assert_eq!(scene, Scene::Clutter { solid: Solid::Box, count: 125 });
//! assert!(sapwood_models::scenes::mjcf(scene).starts_with("<mujoco model=\"clutter-box-125\">"));
//!
//! let error = "tower-0".parse::<Scene>().unwrap_err();
//! assert_eq!(error.to_string(), "scene \"tower-0\": \"0\": expected a whole number from 1 to 10000");
//! # Ok::<(), sapwood_models::scenes::UnknownScene>(())
//! ```
//!
//! # Conventions
//!
//! SI units, z up, gravity 9.81 m/s² unless a scene says otherwise. Everything that moves has a name. A name that ends in numbers describes the scene
//! completely: the same name gives the same text, random placements included. Loose bodies are cubes or spheres of
//! 0.1 m (in towers and stacks 0.2 m) and 1 kg unless a scene says otherwise.

mod arm;
mod balls;
mod conservative;
mod friction;
mod linkages;
mod masonry;
mod name;
mod piles;
mod random;
mod soft;
mod text;

pub use name::{FORMS, UnknownScene, similar};

/// The shape of loose bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Solid {
    /// A cube.
    Box,
    /// A ball.
    Sphere,
}

/// A scene with its parameters. [`str::parse`] reads the names in [`FORMS`] and keeps to ranges that make sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scene {
    /// Bodies in a jittered grid, boxes turned at random, above a bin with walls; friction 0.5.
    Clutter {
        /// Their shape.
        solid: Solid,
        /// How many.
        count: usize,
    },
    /// Cubes one upon the other, friction 1.
    Tower {
        /// How many.
        count: usize,
    },
    /// Towers that do not touch each other, side by side.
    Stacks {
        /// How many towers.
        count: usize,
        /// Cubes in each.
        height: usize,
    },
    /// A heavy cube upon one of 1 kg of the same size.
    MassRatio {
        /// Mass of the upper one, kg.
        ratio: f64,
    },
    /// A semicircular arch of equal wedges, held by nothing but its weight and friction 0.7; inner radius 0.8 m, outer
    /// radius 1 m: above the thickness of 0.107 of the mean radius that such an arch needs (Milankovitch 1907).
    Arch {
        /// How many wedges.
        blocks: usize,
    },
    /// A house of cards: pairs that lean against each other, flat ones upon them, one pair less in every storey.
    Cards {
        /// How many storeys.
        storeys: usize,
    },
    /// A cube at rest on a slope that falls towards +x: it stays where tan(slope) is below the friction, and slides
    /// with g (sin − friction · cos) where it is above.
    Incline {
        /// Slope, degrees.
        degrees: f64,
        /// Coefficient of friction.
        friction: f64,
    },
    /// A cube on a level ground; the keyframe `sliding` has it move along x.
    Slider {
        /// Speed of the keyframe, m/s.
        speed: f64,
        /// Coefficient of friction.
        friction: f64,
    },
    /// A crank and a rocker joined by a coupler: one degree of freedom, closed by a `connect`, a motor at the crank.
    FourBar,
    /// A platform on six legs that lengthen, each closed by a `connect`, with a position servo of limited force.
    Stewart,
    /// An arm of seven hinges with position servos of limited force; nothing touches.
    Arm7,
    /// A somewhat thicker arm without servos and limits; the keyframe `flung` has it fall from near the top, turning.
    FlungArm,
    /// The thicker arm with a spring and a damper at every hinge; the keyframe `bent` has it lean.
    SprungArm,
    /// A free box without gravity; the keyframe `tumbling` has it turn about its middle axis, the unstable one.
    TumblingBody,
    /// Two thin rods of 1 m and 1 kg; the keyframe `raised` has them at 1 and 1.5 rad from hanging.
    DoublePendulum,
    /// Thin rods of 0.1 m and 0.1 kg joined by springs of 1000 N·m/rad, without damping and gravity; the keyframe `bent` has
    /// every joint bent by 0.05 rad.
    SpringChain {
        /// How many rods.
        links: usize,
    },
    /// A top whose tip stays where it is; the keyframe `spinning` has it spin at 150 rad/s, leaning by 0.3 rad.
    SpinningTop,
    /// A ball on a level ground; the keyframe `rolling` has it roll along x at 1 m/s without slipping.
    RollingBall,
    /// The same with its centre of mass 2 cm off the middle.
    LopsidedBall,
    /// Two smooth, somewhat elastic balls without gravity; the keyframe `struck` has one run into the other off its middle.
    BilliardBalls,
    /// An elastic ball that falls on a level ground.
    BouncingBall,
    /// A hand with two fingers, on servos of limited force, that closes on a soft ball and lifts it under the controls of the keyframe `lift`.
    SoftGripper,
    /// A soft ball that falls among 27 cubes in a bin.
    SoftPile,
}

/// The scene as MJCF text.
pub fn mjcf(scene: Scene) -> String {
    let name = scene.to_string();
    match scene {
        Scene::Clutter { solid, count } => piles::clutter(name, solid, count),
        Scene::Tower { count } => piles::stacks(name, 1, count),
        Scene::Stacks { count, height } => piles::stacks(name, count, height),
        Scene::MassRatio { ratio } => piles::mass_ratio(name, ratio),
        Scene::Arch { blocks } => masonry::arch(name, blocks),
        Scene::Cards { storeys } => masonry::cards(name, storeys),
        Scene::Incline { degrees, friction } => friction::incline(name, degrees, friction),
        Scene::Slider { speed, friction } => friction::slider(name, speed, friction),
        Scene::FourBar => linkages::four_bar(name),
        Scene::Stewart => linkages::stewart(name),
        Scene::Arm7 => arm::arm7(name),
        Scene::FlungArm => arm::flung(name),
        Scene::SprungArm => arm::sprung(name),
        Scene::TumblingBody => conservative::tumbling_body(name),
        Scene::DoublePendulum => conservative::double_pendulum(name),
        Scene::SpringChain { links } => conservative::spring_chain(name, links),
        Scene::SpinningTop => conservative::spinning_top(name),
        Scene::RollingBall => balls::rolling(name),
        Scene::LopsidedBall => balls::lopsided(name),
        Scene::BilliardBalls => balls::billiards(name),
        Scene::BouncingBall => balls::bouncing(name),
        Scene::SoftGripper => soft::gripper(name),
        Scene::SoftPile => soft::pile(name),
    }
}
