//! What `<attach>` takes of a model: a body, what stands in a named `<frame>`, or all of it.

use std::collections::BTreeMap;

use spatial::Pose;

use crate::xml::Element;
use crate::{LoadError, Loaded};

/// A frame with a name.
struct Frame {
    name: String,
    /// The body that it stands in.
    body: usize,
    /// The pose of the frames around it, in the body.
    around: Pose<f64>,
    /// The named frame around it.
    outer: Option<usize>,
}

/// A kind of element that stands in frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    Body,
    Geom,
    Site,
    Camera,
}

/// The named frames of a model.
#[derive(Default)]
pub(super) struct Frames {
    all: Vec<Frame>,
    /// The innermost named frame around an element.
    around: BTreeMap<(Standing, usize), usize>,
    /// The pose of the frames around a body, in its parent.
    of_bodies: BTreeMap<usize, Pose<f64>>,
}

impl Frames {
    /// Notes a frame in a body, in others of the pose `around`; returns its index.
    pub fn add(&mut self, name: String, body: usize, around: Pose<f64>, outer: Option<usize>) -> usize {
        self.all.push(Frame { name, body, around, outer });
        self.all.len() - 1
    }

    /// Notes that an element stands in a named frame.
    pub fn note(&mut self, kind: Standing, index: usize, frame: Option<usize>) {
        self.around.extend(frame.map(|frame| ((kind, index), frame)));
    }

    /// Notes the pose of all frames around a body.
    pub fn note_pose(&mut self, body: usize, around: Pose<f64>) {
        if around != Pose::IDENTITY {
            self.of_bodies.insert(body, around);
        }
    }

    /// The frame of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|frame| frame.name == name)
    }

    /// The body that a frame stands in, and the pose of the frames around it.
    pub fn place(&self, frame: usize) -> (usize, Pose<f64>) {
        let Frame { body, around, .. } = self.all[frame];
        (body, around)
    }

    /// The pose of all frames around a body, in its parent.
    pub fn around(&self, body: usize) -> Pose<f64> {
        self.of_bodies.get(&body).copied().unwrap_or(Pose::IDENTITY)
    }

    /// Whether an element stands in a frame, or in one within it.
    pub fn holds(&self, frame: usize, kind: Standing, index: usize) -> bool {
        let innermost = self.around.get(&(kind, index)).copied();
        std::iter::successors(innermost, |inner| self.all[*inner].outer).any(|inner| inner == frame)
    }
}

/// A model that parts come from.
pub(super) struct Source {
    pub loaded: Loaded,
    pub frames: Frames,
}

/// What of a model is attached.
pub(super) struct Selection {
    /// The body that holds it.
    pub holder: usize,
    /// The pose of the frames around it, in that body.
    pub around: Pose<f64>,
    pub kind: Selected,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Selected {
    /// All that stands in the world.
    World,
    Body(usize),
    /// What stands in a frame, by its index.
    Frame(usize),
}

impl Selection {
    /// What an `<attach>` names.
    pub fn new(
        element: Element<'_>,
        Source { loaded: Loaded { model, .. }, frames }: &Source,
    ) -> Result<Self, LoadError> {
        let missing = |what: &str, name: &str| {
            element.error(format!("{what}=\"{name}\": expected the name of a {what} of the model {:?}", model.name))
        };
        match (element.attribute("body"), element.attribute("frame")) {
            (Some(_), Some(_)) => Err(element.error("has both `body` and `frame`: expected one of them")),
            (Some(name), None) => {
                let body = model.body(name).ok_or_else(|| missing("body", name))?;
                let kind = if body == 0 { Selected::World } else { Selected::Body(body) };
                Ok(Self { holder: model.bodies[body].parent, around: frames.around(body), kind })
            }
            (None, Some(name)) => {
                let frame = frames.find(name).ok_or_else(|| missing("frame", name))?;
                let (holder, around) = frames.place(frame);
                Ok(Self { holder, around, kind: Selected::Frame(frame) })
            }
            (None, None) => Ok(Self { holder: 0, around: Pose::IDENTITY, kind: Selected::World }),
        }
    }

    /// Whether an element of the body that holds it, which may be a body, comes along.
    pub fn takes(&self, frames: &Frames, kind: Standing, index: usize) -> bool {
        match self.kind {
            Selected::World => true,
            Selected::Body(body) => kind == Standing::Body && index == body,
            Selected::Frame(frame) => frames.holds(frame, kind, index),
        }
    }

    /// Which bodies are attached, the first of each branch among them.
    pub fn bodies(&self, Source { loaded: Loaded { model, .. }, frames }: &Source) -> Vec<Taken> {
        let mut taken = vec![Taken::None; model.bodies.len()];
        for (index, body) in model.bodies.iter().enumerate().skip(1) {
            taken[index] = if taken[body.parent] != Taken::None {
                Taken::WithParent
            } else if body.parent == self.holder && self.takes(frames, Standing::Body, index) {
                Taken::First
            } else {
                Taken::None
            };
        }
        taken
    }
}

/// Whether a body is attached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    None,
    First,
    WithParent,
}
