//! The tree of bodies, with `<frame>` and `<replicate>`.

use multibody::{BodySpec, Site, SiteShape, SleepPolicy, inertia_flaw};
use spatial::{Pose, Quat, Vec3};

use super::Reader;
use super::align::Aligned;
use super::defaults::{Attributes, ClassId, parse_keyword};
use super::frames::Standing;
use super::geom::{GeomMass, TYPES, Type, size_and_segment};
use super::inertia;
use super::replicas::Replicas;
use crate::LoadError;
use crate::limits::{BYTES_OF_COPY, MAX_REPLICATED_ELEMENTS};
use crate::xml::Element;

/// Words for what a tree may do.
pub(super) const SLEEP: [(&str, SleepPolicy); 4] = [
    ("auto", SleepPolicy::Auto),
    ("never", SleepPolicy::Never),
    ("allowed", SleepPolicy::Allowed),
    ("init", SleepPolicy::Init),
];

/// An element of the tree, with what the elements around it say.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    pub element: Element<'a>,
    /// The default class of elements that name none.
    pub class: ClassId,
    /// The frame of the `<frame>` and `<replicate>` elements around it, in the body's frame.
    pub frame: Pose<f64>,
    /// What `<replicate>` appends to names.
    pub suffix: String,
    /// The innermost named frame around it, by its index among them.
    pub inside: Option<usize>,
}

/// What belongs to a body itself.
#[derive(Default)]
struct Contents<'a> {
    inertial: Option<(Element<'a>, inertia::WithAxes)>,
    masses: Vec<GeomMass>,
    joints: Vec<Item<'a>>,
}

impl<'a> Reader<'_, 'a> {
    /// Reads every `<worldbody>`, depth first as MuJoCo numbers bodies, without recursion: trees may be deep.
    pub(super) fn bodies(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        let mut pending = Vec::new();
        for world in root.children_named("worldbody") {
            let class = self.defaults.class(world, "childclass", 0)?;
            world.skip(&["name"]);
            let item = Item { element: world, class, frame: Pose::IDENTITY, suffix: String::new(), inside: None };
            self.contents(&item, 0, &mut pending)?;
        }
        pending.reverse();
        while let Some((item, parent)) = pending.pop() {
            let first_child = pending.len();
            if item.element.name() == "attach" {
                self.attach(&item, parent)?;
                continue;
            }
            if item.element.name() == "flexcomp" {
                self.node_bodies(&item, parent)?;
                continue;
            }
            self.body(&item, parent, &mut pending)?;
            pending[first_child..].reverse();
        }
        Ok(())
    }

    /// Reads a body and appends its child bodies to `pending`.
    fn body(&mut self, item: &Item<'a>, parent: usize, pending: &mut Vec<(Item<'a>, usize)>) -> Result<(), LoadError> {
        let element = item.element;
        let pose = item.frame * self.compiler.angles.pose(&self.defaults.attributes(element, item.class)?)?;
        if self.is_flex_node(item, parent, pose)? {
            return Ok(());
        }
        let index = self.builder.body_count();
        let name = self.names.claim(element, "body", &item.suffix, index)?;
        self.frames.note(Standing::Body, index, item.inside);
        self.frames.note_pose(index, item.frame);
        let gravity_compensation = element.number("gravcomp")?.unwrap_or(0.0);
        element.skip(&["user", "fuse", "simple"]);
        let sleep = element.attribute("sleep").map(|policy| parse_keyword(element, "sleep", policy, &SLEEP));
        let sleep = sleep.transpose()?.unwrap_or_default();
        let mut is_mocap = element.attribute("mocap") == Some("true");
        if is_mocap && parent != 0 {
            return Err(element.error("mocap=\"true\": expected a child of worldbody"));
        }
        if is_mocap && has_joints(element) {
            self.warnings.add_attribute(element, "mocap", "it has joints: it moves by them");
            is_mocap = false;
            self.mocap_in_place.push(index);
        }
        let class = self.defaults.class(element, "childclass", item.class)?;
        let inside = Item { element, class, frame: Pose::IDENTITY, suffix: item.suffix.clone(), inside: None };
        let (before, children) = (self.before(), pending.len());
        let contents = self.contents(&inside, index, pending)?;

        let explicit = contents.inertial.map(|(_, inertia)| inertia);
        let (mut inertia, mut axes) = inertia::of_body(explicit, &contents.masses, pose, &self.compiler);
        let mut pose = pose;
        if let [joint] = &contents.joints[..]
            && pending.len() == children
            && self.is_aligned(element, &self.defaults.attributes(joint.element, joint.class)?)?
        {
            Aligned { pose, inertia } = self.align(before, pose, inertia, axes);
            axes = Some(Quat::IDENTITY);
        }
        self.inertial_axes.extend(axes.map(|axes| (index, axes)));
        let at = contents.inertial.map_or(element, |(inertial, _)| inertial);
        if inertia.mass.is_finite() && inertia_flaw(&inertia).is_some() {
            self.warnings.add(at, "an inertia that no rigid body has (principal moments): used as it is");
            self.odd_inertias.push((name.clone(), at));
        }
        let axes = inertia::open_axes(inertia.inertia, axes).filter(|_| self.options.medium.is_there());
        let spec = BodySpec { name: name.clone(), parent, pose, inertia, axes, gravity_compensation, is_mocap, sleep };
        self.builder.add_body(spec).map_err(|error| at.error(error.to_string()))?;
        let alone = contents.joints.len() == 1 && parent == 0;
        for item in contents.joints {
            let attributes = self.defaults.attributes(item.element, item.class)?;
            self.suffix.clone_from(&item.suffix);
            self.joint(&attributes, item.frame, &name, alone)?;
        }
        Ok(())
    }

    /// Reads what belongs to a body itself but for its joints, and appends its child bodies to `pending`.
    fn contents(
        &mut self,
        body_item: &Item<'a>,
        body: usize,
        pending: &mut Vec<(Item<'a>, usize)>,
    ) -> Result<Contents<'a>, LoadError> {
        let mut contents = Contents::default();
        let mut stack = Vec::new();
        self.push_children(body_item, &mut stack);
        while let Some(item) = stack.pop() {
            let element = item.element;
            self.suffix.clone_from(&item.suffix);
            match element.name() {
                "joint" | "freejoint" | "inertial" if body == 0 => {
                    return Err(element.error("stands in the world, which does not move: expected it in a body"));
                }
                "inertial" => {
                    let attributes = self.defaults.attributes(element, item.class)?;
                    let inertia = inertia::inertial(&attributes, &self.compiler, item.frame)?;
                    if contents.inertial.replace((element, inertia)).is_some() {
                        return Err(element.error("is the second one: expected at most one in a body"));
                    }
                }
                "joint" | "freejoint" => contents.joints.push(item),
                "geom" => {
                    self.frames.note(Standing::Geom, self.scene.geoms.len(), item.inside);
                    contents.masses.push(self.geom(element, item.class, item.frame, body)?);
                }
                "site" => self.site(&item, body)?,
                "frame" => {
                    let attributes = self.defaults.attributes(element, item.class)?;
                    let frame = item.frame * self.compiler.angles.pose(&attributes)?;
                    let class = self.defaults.class(element, "childclass", item.class)?;
                    let named = element.attribute("name").map(|name| format!("{name}{}", item.suffix));
                    let own = named.map(|name| self.frames.add(name, body, item.frame, item.inside));
                    let inside = own.or(item.inside);
                    self.push_children(&Item { frame, class, inside, ..item }, &mut stack);
                }
                "replicate" => self.replicate(&item, &mut stack)?,
                "body" | "attach" => pending.push((item, body)),
                "camera" => {
                    self.frames.note(Standing::Camera, self.builder.cameras.len(), item.inside);
                    self.camera(element, item.class, item.frame, body)?;
                }
                "light" => element.skip_all(),
                "flexcomp" if self.has_node_bodies(element)? => pending.push((item, body)),
                "flexcomp" => self.flexcomp(&item, body)?,
                "composite" => {
                    self.warnings.add(element, "not read: what it makes is missing from the model");
                    element.skip_all();
                }
                // Left unread: a warning will name it.
                _ => {}
            }
        }
        Ok(contents)
    }

    fn push_children(&self, parent: &Item<'a>, stack: &mut Vec<Item<'a>>) {
        let child = |element| Item { element, ..parent.clone() };
        stack.extend(parent.element.children().rev().map(child));
    }

    /// Counts what `<replicate>` and `<attach>` copy, in all models that are attached to each other.
    pub(super) fn count_copies(&self, element: Element<'_>, count: usize) -> Result<(), LoadError> {
        let copied = &self.parts.shared.copied;
        copied.set(copied.get().saturating_add(count));
        if copied.get() > MAX_REPLICATED_ELEMENTS {
            let expected = format!("expected at most {MAX_REPLICATED_ELEMENTS} copied elements in a model");
            return Err(
                element.error(format!("copies too much: {expected}, those with long names counted more than once"))
            );
        }
        Ok(())
    }

    /// Copies the children of `<replicate>` with growing offsets and numbered names.
    fn replicate(&mut self, item: &Item<'a>, stack: &mut Vec<Item<'a>>) -> Result<(), LoadError> {
        let element = item.element;
        let replicas = Replicas::of(element)?;
        let count = replicas.count;
        let offset: Vec3<f64> = element.array("offset")?.unwrap_or([0.0; 3]).into();
        let turn = self.compiler.angles.euler(element.array("euler")?.unwrap_or([0.0; 3]));
        let class = self.defaults.class(element, "childclass", item.class)?;
        // Copies of nothing are counted, too: they take time.
        let suffix = item.suffix.len() + replicas.suffix(count - 1).len();
        let contents =
            element.descendants().map(|copied| 1 + (copied.length() + suffix) / BYTES_OF_COPY).sum::<usize>();
        self.count_copies(element, count.saturating_mul(contents))?;
        let mut frame = Pose::IDENTITY;
        let mut copies = Vec::new();
        for i in 0..count {
            // Of nested replicas the inner suffix comes first.
            let suffix = format!("{}{}", replicas.suffix(i), item.suffix);
            copies.push(Item { element, class, frame: item.frame * frame, suffix, inside: item.inside });
            frame = frame * Pose::new(offset, turn);
        }
        for copy in copies.iter().rev() {
            self.push_children(copy, stack);
        }
        Ok(())
    }

    fn site(&mut self, item: &Item<'a>, body: usize) -> Result<(), LoadError> {
        let attributes = self.defaults.attributes(item.element, item.class)?;
        let (shape, segment) = self.site_shape(&attributes)?;
        let own = self.compiler.angles.pose(&attributes)?;
        attributes.skip(&["group", "material", "rgba", "mesh", "user"]);
        let pose = item.frame * segment.unwrap_or(own);
        let index = self.builder.sites.len();
        let name = self.names.claim(item.element, "site", &item.suffix, index)?;
        self.frames.note(Standing::Site, index, item.inside);
        self.builder.sites.push(Site { name, body, pose, shape });
        Ok(())
    }

    /// The volume of a site, and its pose where `fromto` gives both.
    fn site_shape(&mut self, attributes: &Attributes<'_, 'a>) -> Result<(SiteShape, Option<Pose<f64>>), LoadError> {
        let kind = attributes.keyword("type", &TYPES)?.unwrap_or(Type::Sphere);
        let has_segment = attributes.has(&["fromto"]);
        // Between two points lies a capsule, whatever the type says.
        let has_length = matches!(kind, Type::Capsule | Type::Cylinder | Type::Ellipsoid | Type::Box);
        let kind = if has_segment && !has_length { Type::Capsule } else { kind };
        // Without a size it is a dot of 5 mm.
        let (size, segment) = size_and_segment(attributes, kind, [0.005; 3])?;
        let needed = match kind {
            Type::Sphere => 1,
            Type::Capsule | Type::Cylinder => 2,
            Type::Ellipsoid | Type::Box => 3,
            _ => {
                let message = "only spheres, capsules, cylinders, ellipsoids and boxes are volumes of sites: a sphere of \
                               5 mm stands in for it";
                self.warnings.add_attribute(attributes.element(), "type", message);
                return Ok((SiteShape::default(), segment));
            }
        };
        if let Some(value) = size[..needed].iter().find(|&&s| s <= 0.0) {
            let message = format!("size: {value}: expected {needed} numbers above 0");
            return Err(attributes.source("size").error(message));
        }
        let [x, y, z] = size;
        let shape = match kind {
            Type::Capsule => SiteShape::Capsule { radius: x, half_length: y },
            Type::Cylinder => SiteShape::Cylinder { radius: x, half_length: y },
            Type::Ellipsoid => SiteShape::Ellipsoid { radii: [x, y, z] },
            Type::Box => SiteShape::Box { half_extents: [x, y, z] },
            _ => SiteShape::Sphere { radius: x },
        };
        Ok((shape, segment))
    }
}

/// Whether a body has joints of its own.
fn has_joints(element: Element<'_>) -> bool {
    element.children().any(|child| match child.name() {
        "joint" | "freejoint" => true,
        "frame" | "replicate" => has_joints(child),
        _ => false,
    })
}
