//! Scenes as text, section by section.

use std::fmt::{self, Display, Formatter};

/// A point or vector, m.
pub type Vec3 = [f64; 3];
/// A rotation, w x y z.
pub type Quat = [f64; 4];

/// A scene in the making: every section is lines of MJCF.
pub struct Document {
    name: String,
    timestep: f64,
    friction: f64,
    weightless: bool,
    /// `<asset>`.
    pub asset: Vec<String>,
    /// `<worldbody>`.
    pub world: Vec<String>,
    /// `<equality>`.
    pub equality: Vec<String>,
    /// `<actuator>`.
    pub actuator: Vec<String>,
    /// `<keyframe>`.
    pub keyframe: Vec<String>,
}

impl Document {
    /// An empty scene with a time step of 5 ms; `friction` is that of all geoms.
    pub fn new(name: String, friction: f64) -> Self {
        let sections = || Vec::new();
        Self {
            name,
            timestep: 0.005,
            friction,
            weightless: false,
            asset: sections(),
            world: sections(),
            equality: sections(),
            actuator: sections(),
            keyframe: sections(),
        }
    }

    /// With another time step, s.
    pub fn with_timestep(self, timestep: f64) -> Self {
        Self { timestep, ..self }
    }

    /// Without gravity.
    pub fn weightless(self) -> Self {
        Self { weightless: true, ..self }
    }

    /// Adds a level ground at z = 0.
    pub fn ground(&mut self) {
        self.world.push(r#"<geom name="ground" type="plane" size="0 0 1" rgba="0.85 0.87 0.9 1"/>"#.into());
    }

    /// Adds a body that moves freely, with one geom: `shape` is its attributes.
    pub fn free(&mut self, name: &str, pos: Vec3, quat: Option<Quat>, shape: &str) {
        let turn = quat.map(|quat| format!(" quat=\"{}\"", numbers(&quat))).unwrap_or_default();
        let pos = numbers(&pos);
        self.world.push(format!(
            r#"<body name="{name}" pos="{pos}"{turn}><freejoint name="{name}"/><geom name="{name}" {shape}/></body>"#
        ));
    }

    /// The text.
    pub fn finish(self) -> String {
        let gravity = if self.weightless { " gravity=\"0 0 0\"" } else { "" };
        let mut text = format!(
            "<mujoco model=\"{}\">\n  <option timestep=\"{}\"{gravity}/>\n  <default><geom friction=\"{}\"/></default>\n",
            self.name, self.timestep, self.friction
        );
        let sections = [
            ("asset", &self.asset),
            ("worldbody", &self.world),
            ("equality", &self.equality),
            ("actuator", &self.actuator),
            ("keyframe", &self.keyframe),
        ];
        for (name, lines) in sections.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            text += &format!("  <{name}>\n");
            for line in lines {
                text += &format!("    {line}\n");
            }
            text += &format!("  </{name}>\n");
        }
        text + "</mujoco>\n"
    }
}

/// Numbers as an attribute has them.
pub fn numbers(values: &[f64]) -> String {
    values.iter().map(|&x| Number(x).to_string()).collect::<Vec<_>>().join(" ")
}

/// A number to twelve decimals: enough that faces which should meet do so to a picometre, and sums of decimal numbers
/// come out as one would write them.
pub struct Number(pub f64);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Adding 0 turns −0 into 0.
        write!(f, "{}", (self.0 * 1e12).round() / 1e12 + 0.0)
    }
}

/// The rotation about y by an angle, rad.
pub fn about_y(angle: f64) -> Quat {
    [libm::cos(angle / 2.0), 0.0, libm::sin(angle / 2.0), 0.0]
}
