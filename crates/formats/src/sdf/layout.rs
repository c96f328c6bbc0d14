//! Models, links, joints and frames of a file, and where they are.
//!
//! Names have scopes: those of a model are known in it, and outside it after its name and `::`. A pose is meant in a frame of its scope, so
//! that frames hang on frames; each is found once.

use std::collections::BTreeMap;

use spatial::Pose;

use super::value::{self, GivenPose};
use crate::LoadError;
use crate::xml::Element;

/// The frame of the model itself.
const MODEL_FRAME: &str = "__model__";
/// The frame of the world.
const WORLD: &str = "world";
/// Frames that hang on frames that have not been found yet.
const MAX_DEPTH: usize = 500;

/// A `<model>`, or the world.
pub(super) struct Scope<'a> {
    /// `<model>`, `<world>`, or `<sdf>` around models that stand alone.
    pub element: Element<'a>,
    /// What names of the simulation's model begin with, `robot::arm::`.
    pub prefix: String,
    /// Whether it is fixed to the world.
    pub is_static: bool,
    /// The model of the world that it belongs to; of the world itself its own index.
    pub outermost: usize,
    /// Its frame in the world, once all is read.
    pub pose: Pose<f64>,
    name: &'a str,
    parent: Option<usize>,
    given: GivenPose<'a>,
    /// The frame in it that `given` places, where that is not its own.
    placement_frame: Option<&'a str>,
    frames: BTreeMap<&'a str, Frame<'a>>,
    /// Models in it whose names are its own.
    merged: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Frame<'a> {
    Link(usize),
    Joint(usize),
    Named(Element<'a>),
    Model(usize),
}

/// A `<link>`.
pub(super) struct Link<'a> {
    /// `<link>`.
    pub element: Element<'a>,
    /// Its name in the simulation's model.
    pub name: String,
    /// The model that it is of.
    pub scope: usize,
    /// Its frame in the world.
    pub pose: Pose<f64>,
}

/// A `<joint>`.
pub(super) struct Joint<'a> {
    /// `<joint>`.
    pub element: Element<'a>,
    /// Its name in the simulation's model.
    pub name: String,
    /// The model that it is of.
    pub scope: usize,
    /// The link above it; none for the world.
    pub parent: Option<usize>,
    /// The link that hangs on it.
    pub child: usize,
    /// Its frame in the world.
    pub pose: Pose<f64>,
}

/// All of a file.
#[derive(Default)]
pub(super) struct Layout<'a> {
    /// The world, then the models, each after the one that it is in.
    pub scopes: Vec<Scope<'a>>,
    /// The links.
    pub links: Vec<Link<'a>>,
    /// The joints.
    pub joints: Vec<Joint<'a>>,
    /// Poses in the frames of their models; none while one is looked for.
    found: BTreeMap<(usize, &'a str), Option<Pose<f64>>>,
}

impl<'a> Layout<'a> {
    /// Reads a `<world>`, or an `<sdf>` with models alone. Names of a model that is alone have no prefix.
    pub fn read(world: Element<'a>) -> Result<Self, LoadError> {
        let mut layout = Self::default();
        layout.scopes.push(Scope {
            element: world,
            prefix: String::new(),
            is_static: false,
            outermost: 0,
            pose: Pose::IDENTITY,
            name: "",
            parent: None,
            given: GivenPose::NONE,
            placement_frame: None,
            frames: BTreeMap::new(),
            merged: Vec::new(),
        });
        let mut next = 0;
        while next < layout.scopes.len() {
            layout.read_scope(next)?;
            next += 1;
        }
        layout.place()?;
        Ok(layout)
    }

    /// Notes the names in a model.
    fn read_scope(&mut self, scope: usize) -> Result<(), LoadError> {
        let Scope { element, .. } = self.scopes[scope];
        let is_world = scope == 0;
        for child in element.children() {
            match child.name() {
                "link" if !is_world => {
                    let name = self.insert(scope, child, Frame::Link(self.links.len()))?;
                    let name = format!("{}{name}", self.scopes[scope].prefix);
                    self.links.push(Link { element: child, name, scope, pose: Pose::IDENTITY });
                }
                "frame" => {
                    self.insert(scope, child, Frame::Named(child))?;
                }
                "model" => self.add_model(scope, child, None)?,
                "include" => {
                    let model = child.children_named("model").last();
                    let model = model.ok_or_else(|| child.error("no model: expected one in the file of its <uri>"))?;
                    self.add_model(scope, model, Some(child))?;
                }
                _ => {}
            }
        }
        element.children_named("joint").try_for_each(|joint| self.add_joint(scope, joint))
    }

    fn add_joint(&mut self, scope: usize, element: Element<'a>) -> Result<(), LoadError> {
        let name = element.required("name")?;
        let is_taken_by_another_kind =
            self.scopes[scope].frames.get(name).is_some_and(|frame| !matches!(frame, Frame::Joint(_)));
        // Old files have joints named as links are, or as the world is: the name is not that of the joint.
        if name != WORLD && !is_taken_by_another_kind {
            self.insert(scope, element, Frame::Joint(self.joints.len()))?;
        }
        let name = format!("{}{name}", self.scopes[scope].prefix);
        self.joints.push(Joint { element, name, scope, parent: None, child: 0, pose: Pose::IDENTITY });
        Ok(())
    }

    fn add_model(&mut self, parent: usize, model: Element<'a>, include: Option<Element<'a>>) -> Result<(), LoadError> {
        let index = self.scopes.len();
        let own_name = model.required("name")?;
        let of_include = include.and_then(|include| value::text(include, "name"));
        let name = of_include.map_or(own_name, |(_, name)| name);
        self.insert_name(parent, include.unwrap_or(model), name, Frame::Model(index))?;
        // What an include says counts for more than what the model says.
        let own_pose = value::pose(model)?;
        let pose = include.map(value::pose).transpose()?.flatten();
        let is_placed = pose.is_some();
        let placement_frame = |of: Element<'a>| {
            let attribute = of.attribute("placement_frame").map(str::trim).filter(|name| !name.is_empty());
            attribute.or(value::text(of, "placement_frame").map(|(_, name)| name))
        };
        let own_placement = placement_frame(model);
        let given_placement = include.and_then(placement_frame);
        let is_static = match include.map(|include| value::flag(include, "static")).transpose()?.flatten() {
            Some(is_static) => is_static,
            None => value::flag(model, "static")?.unwrap_or(false),
        };
        let is_merged =
            include.and_then(|include| include.attribute("merge")).is_some_and(|text| text.trim() == "true");
        if is_merged {
            self.scopes[parent].merged.push(index);
        }
        let above = &self.scopes[parent];
        let is_alone = parent == 0 && above.element.name() == "sdf" && only_model(above.element);
        let prefix = if is_merged || is_alone { above.prefix.clone() } else { format!("{}{name}::", above.prefix) };
        self.scopes.push(Scope {
            element: model,
            prefix,
            is_static: is_static || above.is_static,
            outermost: if parent == 0 { index } else { above.outermost },
            pose: Pose::IDENTITY,
            name,
            parent: Some(parent),
            given: pose.or(own_pose).unwrap_or(GivenPose::NONE),
            placement_frame: if is_placed { given_placement } else { own_placement },
            frames: BTreeMap::new(),
            merged: Vec::new(),
        });
        Ok(())
    }

    fn insert(&mut self, scope: usize, element: Element<'a>, frame: Frame<'a>) -> Result<&'a str, LoadError> {
        let name = element.required("name")?;
        self.insert_name(scope, element, name, frame)?;
        Ok(name)
    }

    fn insert_name(
        &mut self,
        scope: usize,
        element: Element<'a>,
        name: &'a str,
        frame: Frame<'a>,
    ) -> Result<(), LoadError> {
        if name.is_empty() || name.contains("::") || [WORLD, MODEL_FRAME].contains(&name) {
            return Err(
                element.error(format!("name=\"{name}\": expected a name that is not empty or reserved, without `::`"))
            );
        }
        match self.scopes[scope].frames.insert(name, frame) {
            None => Ok(()),
            Some(_) => Err(element.error(format!("name=\"{name}\" is taken in its model: expected different names"))),
        }
    }

    /// Finds the ends of joints, and the placements of all.
    fn place(&mut self) -> Result<(), LoadError> {
        for index in 1..self.scopes.len() {
            let Scope { element, name, parent, .. } = self.scopes[index];
            let parent = parent.unwrap_or(0);
            self.scopes[index].pose = self.scopes[parent].pose * self.pose_in(parent, name, element, 0)?;
        }
        for index in 0..self.links.len() {
            let Link { element, scope, .. } = self.links[index];
            let name = element.required("name")?;
            self.links[index].pose = self.scopes[scope].pose * self.pose_in(scope, name, element, 0)?;
        }
        for index in 0..self.joints.len() {
            let Joint { element, scope, .. } = self.joints[index];
            let parent = self.link_in(scope, value::required(element, "parent")?, element, 0)?;
            let child = self.link_in(scope, value::required(element, "child")?, element, 0)?;
            let child = child.ok_or_else(|| element.error("the world as <child>: expected it as <parent>"))?;
            if parent == Some(child) {
                return Err(element.error("<parent> and <child> are one link: expected two"));
            }
            let pose = self.scopes[scope].pose * self.frame_pose(scope, Frame::Joint(index), 0)?;
            let joint = &mut self.joints[index];
            (joint.parent, joint.child, joint.pose) = (parent, child, pose);
        }
        Ok(())
    }

    /// A frame of a model in the frame of that model, by the name that it has there.
    fn pose_in(&mut self, scope: usize, name: &'a str, at: Element<'a>, depth: usize) -> Result<Pose<f64>, LoadError> {
        if name == MODEL_FRAME || (scope == 0 && name == WORLD) {
            return Ok(Pose::IDENTITY);
        }
        match self.found.get(&(scope, name)) {
            Some(Some(pose)) => return Ok(*pose),
            Some(None) => return Err(at.error(format!("frame \"{name}\" hangs on itself: expected no ring of frames"))),
            None if depth == MAX_DEPTH => {
                let message =
                    format!("over {MAX_DEPTH} frames that hang on each other, the last ones first: expected fewer");
                return Err(at.error(message));
            }
            None => {}
        }
        self.found.insert((scope, name), None);
        let pose = self.find_pose(scope, name, at, depth + 1)?;
        self.found.insert((scope, name), Some(pose));
        Ok(pose)
    }

    fn find_pose(
        &mut self,
        scope: usize,
        name: &'a str,
        at: Element<'a>,
        depth: usize,
    ) -> Result<Pose<f64>, LoadError> {
        let (around, local) = self.owner(scope, name, at)?;
        if let Some(model) = around {
            let model_name = self.scopes[model].name;
            let outer = self.scopes[model].parent.unwrap_or(0);
            let placed = self.pose_in(outer, model_name, at, depth)?;
            let placed = if outer == scope { placed } else { self.pose_between(scope, outer, at, depth)? * placed };
            return Ok(placed * self.pose_in(model, local, at, depth)?);
        }
        self.frame_pose(scope, self.scopes[scope].frames[local], depth)
    }

    /// A frame of a model itself, in the frame of that model.
    fn frame_pose(&mut self, scope: usize, frame: Frame<'a>, depth: usize) -> Result<Pose<f64>, LoadError> {
        let (given, base, element) = match frame {
            Frame::Link(link) => (value::pose(self.links[link].element)?, MODEL_FRAME, self.links[link].element),
            Frame::Joint(joint) => {
                let element = self.joints[joint].element;
                (value::pose(element)?, value::required(element, "child")?, element)
            }
            Frame::Named(element) => (value::pose(element)?, attached_to(element), element),
            Frame::Model(model) => (Some(self.scopes[model].given), MODEL_FRAME, self.scopes[model].element),
        };
        let given = given.unwrap_or(GivenPose::NONE);
        let base = self.pose_in(scope, given.relative_to.unwrap_or(base), element, depth)?;
        let pose = base * given.pose;
        match frame {
            Frame::Model(model) => match self.scopes[model].placement_frame {
                Some(placed) => Ok(pose * self.pose_in(model, placed, element, depth)?.inverse()),
                None => Ok(pose),
            },
            _ => Ok(pose),
        }
    }

    /// The frame of a model that is in others in the frame of `scope`.
    fn pose_between(
        &mut self,
        scope: usize,
        inner: usize,
        at: Element<'a>,
        depth: usize,
    ) -> Result<Pose<f64>, LoadError> {
        let (mut here, mut pose) = (inner, Pose::IDENTITY);
        while here != scope {
            let Scope { name, parent, .. } = self.scopes[here];
            let outer = parent.unwrap_or(scope);
            pose = self.pose_in(outer, name, at, depth)? * pose;
            here = outer;
        }
        Ok(pose)
    }

    /// The model in `scope` that has this name, with the name that it has there; no model where it is one of `scope` itself.
    fn owner(&self, scope: usize, name: &'a str, at: Element<'a>) -> Result<(Option<usize>, &'a str), LoadError> {
        if self.scopes[scope].frames.contains_key(name) {
            return Ok((None, name));
        }
        if let Some((model, inside)) = name.split_once("::") {
            if let Some((_, Frame::Model(model))) = self.find(scope, model) {
                return Ok((Some(model), inside));
            }
        } else if let Some((model, _)) = self.find(scope, name) {
            return Ok((Some(model), name));
        }
        let hint = support::suggest::did_you_mean(name, self.scopes[scope].frames.keys().copied());
        let message = format!("\"{name}\": expected the name of a link, joint, frame or model of this model");
        Err(at.error(message).with_hint(hint.as_deref()))
    }

    /// A name of a model or of those that are merged into it, and whose it is.
    fn find(&self, scope: usize, name: &str) -> Option<(usize, Frame<'a>)> {
        let mut pending = vec![scope];
        while let Some(scope) = pending.pop() {
            if let Some(frame) = self.scopes[scope].frames.get(name) {
                return Some((scope, *frame));
            }
            pending.extend(&self.scopes[scope].merged);
        }
        None
    }

    /// The link that a frame is attached to; none for the world.
    fn link_in(&self, scope: usize, name: &'a str, at: Element<'a>, depth: usize) -> Result<Option<usize>, LoadError> {
        if depth == MAX_DEPTH {
            return Err(
                at.error(format!("frame \"{name}\" hangs on itself, or on over {MAX_DEPTH} others: expected a link"))
            );
        }
        let is_own = self.scopes[scope].frames.contains_key(name);
        if name == WORLD && !is_own {
            return Ok(None);
        }
        if name == MODEL_FRAME {
            return match self.canonical(scope) {
                Some(canonical) => self.link_in(scope, canonical, at, depth + 1),
                None if scope == 0 => Ok(None),
                None => Err(self.scopes[scope]
                    .element
                    .error("a model without a link: expected one, as a joint or frame is attached to it")),
            };
        }
        let (around, local) = self.owner(scope, name, at)?;
        if let Some(model) = around {
            return self.link_in(model, local, at, depth + 1);
        }
        match self.scopes[scope].frames[local] {
            Frame::Link(link) => Ok(Some(link)),
            Frame::Joint(joint) => {
                self.link_in(scope, value::required(self.joints[joint].element, "child")?, at, depth + 1)
            }
            Frame::Named(element) => self.link_in(scope, attached_to(element), element, depth + 1),
            Frame::Model(model) => self.link_in(model, MODEL_FRAME, at, depth + 1),
        }
    }

    /// The name of what stands for a model where something is attached to it: its canonical link, its first link, or its first model.
    fn canonical(&self, scope: usize) -> Option<&'a str> {
        if scope == 0 {
            return None;
        }
        let Scope { element, .. } = self.scopes[scope];
        let named = element.attribute("canonical_link").map(str::trim).filter(|name| !name.is_empty());
        let link = element.child("link").and_then(|link| link.attribute("name"));
        let model = self.scopes.iter().find(|other| other.parent == Some(scope)).map(|other| other.name);
        named.or(link).or(model)
    }

    /// The rotation in the world of a frame that a joint names.
    pub fn rotation_of(&mut self, joint: usize, frame: &'a str) -> Result<spatial::Quat<f64>, LoadError> {
        let Joint { element, scope, .. } = self.joints[joint];
        Ok((self.scopes[scope].pose * self.pose_in(scope, frame, element, 0)?).rot)
    }
}

/// The frame that a `<frame>` is fixed to.
fn attached_to<'a>(frame: Element<'a>) -> &'a str {
    frame.attribute("attached_to").map(str::trim).filter(|name| !name.is_empty()).unwrap_or(MODEL_FRAME)
}

fn only_model(sdf: Element<'_>) -> bool {
    sdf.children_of("model").chain(sdf.children_of("include")).count() == 1
}
