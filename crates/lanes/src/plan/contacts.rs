//! Which geoms may touch, and where the contact points of each pair have their slots.

use geometry::{Attachment, GeomPair, PairCollider, Scene};
use multibody::{Compliance, Material, Model, Resistance};
use spatial::{Mat3, Pose, Quat, Vec3};

use super::surfaces::{Carried, Surfaces, carried_bodies};
use super::{NotInLanes, Setup, floats, own_axes, tree_of};

/// Pairs of geoms at most: each is looked at in every step.
const MAX_PAIRS: usize = 10_000;

/// A shape with contact points in closed form, or any other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Sphere {
        radius: f64,
    },
    /// Along z.
    Capsule {
        radius: f64,
        half_length: f64,
    },
    Box {
        half: Vec3<f64>,
    },
    Other,
}

/// A geom that moves, in the axes of its node.
#[derive(Clone, Debug)]
pub(crate) struct PlanGeom {
    pub node: usize,
    pub shape: Shape,
    pub pos: Vec3<f64>,
    pub rot: Mat3<f64>,
    /// Centre and radius of a ball around it.
    pub centre: Vec3<f64>,
    pub radius: f64,
}

/// What a pair of geoms is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PairKind {
    /// A half-space that is fixed in the world or on a [carrier](PlanPair::carrier), its normal and where it begins along it, and a geom that
    /// moves.
    Plane { normal: Vec3<f64>, height: f64, geom: usize },
    /// Two geoms that move, spheres before capsules.
    Moving { geoms: [usize; 2] },
    /// Something else that is fixed there: centre, axes and half extents of a box around it, and a geom that moves.
    Fixed { centre: Vec3<f64>, axes: Mat3<f64>, half: Vec3<f64>, geom: usize },
}

/// The surface of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    pub compliance: Compliance,
    /// The depth beyond which no spring holds the geoms apart, m.
    pub spring_depth: f64,
}

/// A pair that may touch.
#[derive(Clone, Debug)]
pub(crate) struct PlanPair {
    pub kind: PairKind,
    /// The body that is moved from outside on which the fixed geom is, if it is on one.
    pub carrier: Option<usize>,
    /// Whether friction has two directions.
    pub is_elliptic: bool,
    /// As the scene has it, and whether its first geom is the second one here.
    pub pair: GeomPair,
    pub is_flipped: bool,
    pub margin: f64,
    pub surface: Surface,
    /// Its slots, one for each contact point that it may have.
    pub first: usize,
    pub count: usize,
    /// Whether all contact points have a closed form that lanes know.
    pub is_closed: bool,
}

/// What decides whether a pair is looked at: its geoms that move, one or two, and its margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub geoms: [u32; 2],
    /// Whether both move; the same geom stands twice where one is fixed in the world.
    pub are_two: bool,
    /// Whether they are of one tree that floats: what these have in common of their motion does not bring them nearer.
    pub float_together: bool,
    pub margin: f64,
}

/// The pairs of geoms, geom after geom, and where each geom's begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairsOfGeoms {
    pairs: Vec<u32>,
    begins: Vec<usize>,
}

impl PairsOfGeoms {
    fn new(geoms: usize, pairs: &[(u32, &Bounds)]) -> Self {
        let mut all: Vec<[u32; 2]> = pairs.iter().flat_map(|(k, of)| of.geoms.map(|geom| [geom, *k])).collect();
        all.sort_unstable();
        all.dedup();
        let begins = (0..=geoms as u32).map(|geom| all.partition_point(|[of, _]| *of < geom)).collect();
        Self { pairs: all.into_iter().map(|[_, pair]| pair).collect(), begins }
    }

    /// The pairs of a geom.
    #[inline(always)]
    pub fn of(&self, geom: usize) -> &[u32] {
        &self.pairs[self.begins[geom]..self.begins[geom + 1]]
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

/// The nodes at both ends of a contact point, none for what is fixed in the world, and what its friction resists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub nodes: [Option<usize>; 2],
    /// The pair that the slot is of.
    pub pair: usize,
    pub spin: SpinResistance,
}

/// How a contact resists spinning about its normal and rolling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpinResistance {
    pub resistance: Resistance,
    /// Greatest torques about the normal and a tangent over normal force, m; see [`Material`].
    pub torsional: f64,
    pub rolling: f64,
}

impl SpinResistance {
    /// Whether spinning or rolling is resisted at all.
    pub fn is_any(&self) -> bool {
        self.resistance > Resistance::Sliding && (self.torsional > 0.0 || self.rolling > 0.0)
    }
}

/// All that may touch.
#[derive(Clone, Debug)]
pub(crate) struct Contacts {
    /// The narrow phase of pairs without closed forms; its frames are the nodes with their axes turned.
    pub narrow: PairCollider,
    pub geoms: Vec<PlanGeom>,
    /// In the order of their geoms, the higher one first: that of contact points in `sim`.
    pub pairs: Vec<PlanPair>,
    /// By pairs.
    pub bounds: Vec<Bounds>,
    /// The pairs of geoms that move: with another of their tree where that floats, and all other pairs.
    pub pairs_in_tree: PairsOfGeoms,
    pub pairs_in_world: PairsOfGeoms,
    pub slots: usize,
    /// What is at the ends of each slot.
    pub ends: Vec<Ends>,
    /// How far the farthest geom of each node reaches from its origin, m.
    pub extents: Vec<f64>,
    /// What is fixed on bodies that are moved from outside, by bodies.
    pub carried: Vec<Option<Carried>>,
    pub surfaces: Surfaces,
}

impl Contacts {
    pub fn new(model: &Model, scene: &Scene, setup: &Setup<'_>) -> Result<Self, NotInLanes> {
        let Setup { attachments, rest_depths, extents, .. } = *setup;
        let carried = carried_bodies(model);
        let turn = |(geom, attachment): (&geometry::Geom, &Attachment)| match &carried[geom.body] {
            // A frame that is no node's.
            Some(carried) => {
                Attachment { frame: Some(model.tree.len()), pose: carried.pose * geom.pose, ..*attachment }
            }
            None => in_own_axes(model, attachment),
        };
        let turned: Vec<Attachment> = scene.geoms.iter().zip(attachments).map(turn).collect();
        let mut contacts = Self {
            surfaces: Surfaces::new(model, scene, &turned, &carried),
            carried,
            narrow: PairCollider::new(scene, &turned, rest_depths),
            geoms: Vec::new(),
            pairs: Vec::new(),
            bounds: Vec::new(),
            pairs_in_tree: PairsOfGeoms::default(),
            pairs_in_world: PairsOfGeoms::default(),
            slots: 0,
            ends: Vec::new(),
            extents: extents.to_vec(),
        };
        let Some(mut pairs) = geometry::allowed_pairs(scene, attachments, MAX_PAIRS) else {
            return Err(NotInLanes(format!("more than {MAX_PAIRS} pairs of geoms may touch")));
        };
        pairs.sort_by_key(|pair| [pair.geoms[1], pair.geoms[0]]);
        let mut place_of = vec![None; scene.geoms.len()];
        for pair in pairs {
            contacts.push_pair(model, scene, attachments, pair, &mut place_of)?;
        }
        let count = contacts.geoms.len();
        let of_bounds = |float_together: bool| {
            let mut pairs: Vec<(u32, &Bounds)> = (0..).zip(&contacts.bounds).collect();
            pairs.retain(|(_, of)| of.float_together == float_together);
            PairsOfGeoms::new(count, &pairs)
        };
        (contacts.pairs_in_tree, contacts.pairs_in_world) = (of_bounds(true), of_bounds(false));
        Ok(contacts)
    }

    /// Adds a pair that has contact points, and those of its geoms that move and have no place in `place_of` yet.
    fn push_pair(
        &mut self,
        model: &Model,
        scene: &Scene,
        attachments: &[Attachment],
        pair: GeomPair,
        place_of: &mut [Option<usize>],
    ) -> Result<(), NotInLanes> {
        let [a, b] = pair.geoms;
        let count = self.narrow.max_points(pair.geoms);
        if count == 0 {
            return Ok(());
        }
        let places = [a, b].map(|geom| {
            let node = attachments[geom].frame?;
            Some(*place_of[geom].get_or_insert_with(|| self.push_geom(scene, geom, node, &attachments[geom])))
        });
        let (kind, is_flipped) = self.kind(scene, attachments, &pair, places)?;
        let carriers = pair.geoms.map(|geom| self.carried[scene.geoms[geom].body]);
        let carrier = carriers.into_iter().flatten().map(|carried| carried.carrier).next();
        let PairSurface { material, spin } = surface(model, scene, &pair);
        if spin.rolling > 0.0 && material.second_rolling_friction.is_some() {
            return Err(NotInLanes("rolling friction of a pair has two directions".into()));
        }
        let is_elliptic = material.second_friction.is_some();
        let radii = [a, b].map(|g| scene.geoms[g].shape.inner_radius());
        let surface =
            Surface { compliance: material.compliance, spring_depth: spring_depth(&material.compliance, radii) };
        let (geoms, are_two) = match kind {
            PairKind::Plane { geom, .. } | PairKind::Fixed { geom, .. } => ([geom; 2], false),
            PairKind::Moving { geoms } => (geoms, true),
        };
        let nodes = geoms.map(|geom| Some(self.geoms[geom].node));
        let ends = Ends { nodes: if are_two { nodes } else { [None, nodes[1]] }, pair: self.pairs.len(), spin };
        let trees = geoms.map(|geom| tree_of(model, self.geoms[geom].node));
        let float_together = are_two && trees[0] == trees[1] && floats(model, trees[0]);
        self.bounds.push(Bounds { geoms: geoms.map(|geom| geom as u32), are_two, float_together, margin: pair.margin });
        self.ends.extend(std::iter::repeat_n(ends, count));
        let (margin, first, is_closed) = (pair.margin, self.slots, self.is_closed(&kind));
        self.pairs.push(PlanPair {
            kind,
            carrier,
            is_elliptic,
            pair,
            is_flipped,
            margin,
            surface,
            first,
            count,
            is_closed,
        });
        self.slots += count;
        Ok(())
    }

    /// The surfaces of all pairs.
    pub fn surfaces(&self, model: &Model, scene: &Scene) -> Vec<PairSurface> {
        self.pairs.iter().map(|pair| surface(model, scene, &pair.pair)).collect()
    }

    /// The same for a model and a scene whose surfaces may be others.
    pub fn with_surfaces(&self, model: &Model, scene: &Scene, rest_depths: &[f64]) -> Self {
        let mut contacts = self.clone();
        contacts.narrow.set_rest_depths(rest_depths);
        for pair in &mut contacts.pairs {
            let PairSurface { material, spin } = surface(model, scene, &pair.pair);
            pair.surface.compliance = material.compliance;
            pair.is_elliptic = material.second_friction.is_some();
            for ends in &mut contacts.ends[pair.first..pair.first + pair.count] {
                ends.spin = spin;
            }
        }
        contacts
    }

    /// What a pair is, and whether its first geom is the second one here; `places` are those of its geoms that move.
    fn kind(
        &self,
        scene: &Scene,
        attachments: &[Attachment],
        pair: &GeomPair,
        places: [Option<usize>; 2],
    ) -> Result<(PairKind, bool), NotInLanes> {
        let (fixed, geom, is_flipped) = match places {
            [Some(i), Some(j)] => {
                let is_flipped = rank(self.geoms[j].shape) < rank(self.geoms[i].shape);
                let geoms = if is_flipped { [j, i] } else { [i, j] };
                return Ok((PairKind::Moving { geoms }, is_flipped));
            }
            [None, Some(geom)] => (pair.geoms[0], geom, false),
            [Some(geom), None] => (pair.geoms[1], geom, true),
            [None, None] => return Err(NotInLanes("two fixed geoms may touch".into())),
        };
        let geom_on = &scene.geoms[fixed];
        let pose = self.carried[geom_on.body].map_or(attachments[fixed].pose, |carried| carried.pose * geom_on.pose);
        let axes = pose.rot.to_mat3();
        let kind = match (&scene.geoms[fixed].shape, self.narrow.bounding_box(fixed)) {
            (geometry::Shape::Plane { .. }, _) | (_, None) => {
                PairKind::Plane { normal: axes.z, height: axes.z.dot(pose.pos), geom }
            }
            (_, Some((centre, half))) => PairKind::Fixed { centre: pose.transform_point(centre), axes, half, geom },
        };
        Ok((kind, is_flipped))
    }

    /// Whether lanes know a closed form of a pair's contact points.
    fn is_closed(&self, kind: &PairKind) -> bool {
        match *kind {
            PairKind::Plane { geom, .. } => self.geoms[geom].shape != Shape::Other,
            PairKind::Moving { geoms } => geoms.iter().all(|geom| rank(self.geoms[*geom].shape) < 2),
            PairKind::Fixed { .. } => false,
        }
    }

    fn push_geom(&mut self, scene: &Scene, geom: usize, node: usize, attachment: &Attachment) -> usize {
        let shape = match scene.geoms[geom].shape {
            geometry::Shape::Sphere { radius } => Shape::Sphere { radius },
            geometry::Shape::Capsule { radius, half_length } => Shape::Capsule { radius, half_length },
            geometry::Shape::Box { half_extents } => Shape::Box { half: Vec3::from(half_extents) },
            _ => Shape::Other,
        };
        let (centre, radius) = scene.geoms[geom].shape.bounding_ball().unwrap_or((Vec3::ZERO, 0.0));
        let pose = attachment.pose;
        let (pos, rot, centre) = (pose.pos, pose.rot.to_mat3(), pose.transform_point(centre));
        self.geoms.push(PlanGeom { node, shape, pos, rot, centre, radius });
        self.geoms.len() - 1
    }

    /// The same in nodes whose axes are turned.
    pub fn turned(mut self, turns: &[Mat3<f64>]) -> Self {
        for geom in &mut self.geoms {
            let turn = turns[geom.node];
            geom.pos = turn.transpose_mul(geom.pos);
            geom.centre = turn.transpose_mul(geom.centre);
            geom.rot = turn.transpose() * geom.rot;
        }
        self
    }
}

/// A geom's place in a node whose axes are turned, see [`own_axes`].
fn in_own_axes(model: &Model, attachment: &Attachment) -> Attachment {
    let Some(node) = attachment.frame else { return *attachment };
    let rot = Quat::from_mat3(&own_axes(&model.tree.nodes[node]).transpose());
    Attachment { pose: Pose { rot, pos: Vec3::ZERO } * attachment.pose, ..*attachment }
}

/// Place in the order of pairs that have a closed form: spheres and capsules.
fn rank(shape: Shape) -> u8 {
    match shape {
        Shape::Sphere { .. } => 0,
        Shape::Capsule { .. } => 1,
        Shape::Box { .. } | Shape::Other => 2,
    }
}

/// The surface of two geoms of an explicit pair, or of none.
pub fn pair_surface(model: &Model, scene: &Scene, geoms: [usize; 2], explicit: Option<usize>) -> Material {
    if let Some(pair) = explicit {
        return model.materials[scene.pairs[pair].material];
    }
    let [a, b] = geoms.map(|geom| &model.materials[scene.geoms[geom].material]);
    Material::combine(a, b)
}

/// The depth, m, beyond which no spring of `solref` holds two geoms apart, but a stop: the greater of their inner `radii`, infinite where
/// one of them is a plane or a height field. Springs in physical units go on.
///
/// A spring that starts deeper would throw them apart, and its normal turns round where their middles pass each other. A thin pad on
/// something thick gives way by more than it is thick.
pub fn spring_depth(compliance: &Compliance, radii: [f64; 2]) -> f64 {
    match compliance {
        Compliance::Reference(_) => radii[0].max(radii[1]),
        Compliance::NearRigid | Compliance::Physical { .. } => f64::INFINITY,
    }
}

/// The surface of a pair, without sliding friction where nothing is resisted, and how it resists spinning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairSurface {
    pub material: Material,
    pub spin: SpinResistance,
}

pub(super) fn surface(model: &Model, scene: &Scene, pair: &GeomPair) -> PairSurface {
    let mut material = pair_surface(model, scene, pair.geoms, pair.explicit);
    if material.resistance == Resistance::None {
        (material.friction, material.second_friction) = (0.0, None);
    }
    let spin = SpinResistance {
        resistance: material.resistance,
        torsional: material.torsional_friction,
        rolling: if material.resistance == Resistance::Rolling {
            material.rolling_friction.max(material.second_rolling_friction.unwrap_or(0.0))
        } else {
            0.0
        },
    };
    PairSurface { material, spin }
}
