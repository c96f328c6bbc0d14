//! What can touch: shapes fixed in bodies, and which pairs of them may meet.

use std::sync::Arc;

use spatial::{Pose, Vec3};

use crate::looks::{Look, Mapping, Texture, TextureKind};
use crate::shape::Shape;

/// A shape fixed in a body.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Geom {
    /// Name; empty when the file gives none.
    pub name: String,
    /// The body that it moves with.
    pub body: usize,
    /// Its frame in the body's frame.
    pub pose: Pose<f64>,
    /// Its shape.
    pub shape: Shape,
    /// Two geoms may touch when one's `contype` and the other's `conaffinity` share a bit.
    pub contype: u32,
    /// See `contype`.
    pub conaffinity: u32,
    /// Its surface: an index that the caller gives a meaning.
    pub material: usize,
    /// Contact force begins at this distance from the surface, m.
    pub margin: f64,
    /// Red, green, blue, opacity in 0..=1.
    pub rgba: [f32; 4],
    /// The group that pictures select by: 3 and above are hidden at first, by convention collision shapes beside visual ones.
    pub group: u32,
    /// What it shows in the place of that colour.
    pub look: Option<Look>,
    /// How its surface moves on it, as that of a belt or a turntable.
    pub surface_motion: Option<SurfaceMotion>,
    /// How a medium acts on it as an ellipsoid. Where no geom of a body has this, it acts on the box of the body's mass and inertia.
    pub fluid: Option<FluidCoefficients>,
}

/// How strongly a medium acts on a geom that counts as an ellipsoid; numbers without unit.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FluidCoefficients {
    /// Drag of the area that faces the flow.
    pub blunt_drag: f64,
    /// Drag of the area that does not.
    pub slender_drag: f64,
    /// Drag of rotation.
    pub angular_drag: f64,
    /// Lift of a body that is inclined to the flow (Kutta and Joukowski).
    pub kutta_lift: f64,
    /// Lift of a body that spins in the flow (Magnus).
    pub magnus_lift: f64,
}

impl Default for FluidCoefficients {
    fn default() -> Self {
        Self::from_array([0.5, 0.25, 1.5, 1.0, 1.0])
    }
}

impl FluidCoefficients {
    /// From the numbers in the order of MuJoCo's `fluidcoef`: that of the fields.
    pub const fn from_array([blunt_drag, slender_drag, angular_drag, kutta_lift, magnus_lift]: [f64; 5]) -> Self {
        Self { blunt_drag, slender_drag, angular_drag, kutta_lift, magnus_lift }
    }

    /// The numbers in that order.
    pub const fn to_array(self) -> [f64; 5] {
        let Self { blunt_drag, slender_drag, angular_drag, kutta_lift, magnus_lift } = self;
        [blunt_drag, slender_drag, angular_drag, kutta_lift, magnus_lift]
    }
}

/// How the surface of a geom moves on it, in the geom's frame; contacts take the part along their tangents.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SurfaceMotion {
    /// The same velocity everywhere, m/s.
    pub linear: Vec3<f64>,
    /// Angular velocity about the origin of the geom, rad/s.
    pub angular: Vec3<f64>,
}

impl Geom {
    /// A grey geom of the first material, without a name, at the origin of the body, that touches what it may.
    pub fn new(body: usize, shape: Shape) -> Self {
        Self {
            name: String::new(),
            body,
            pose: Pose::IDENTITY,
            shape,
            contype: 1,
            conaffinity: 1,
            material: 0,
            margin: 0.0,
            rgba: [0.5, 0.5, 0.5, 1.0],
            group: 0,
            look: None,
            surface_motion: None,
            fluid: None,
        }
    }

    /// Whether it is the same shape in the same place of its body, and may touch the same.
    fn is_shaped_as(&self, other: &Self) -> bool {
        // All fields by name: where one is added, the compiler asks here whether it counts.
        let Self {
            body,
            pose,
            shape,
            contype,
            conaffinity,
            margin,
            surface_motion,
            name: _,
            material: _,
            rgba: _,
            group: _,
            look: _,
            fluid: _,
        } = other;
        self.body == *body
            && self.pose == *pose
            && self.shape.is(shape)
            && (self.contype, self.conaffinity) == (*contype, *conaffinity)
            && self.margin == *margin
            && self.surface_motion == *surface_motion
    }

    /// The texture of the whole geom, and where its points are in it.
    #[must_use]
    pub fn texture(&self) -> Option<(&Arc<Texture>, Mapping)> {
        let Some(Look::Texture { texture, repeat, uniform }) = &self.look else { return None };
        let size = self.half_size();
        let factor = |k: usize| if *uniform && size[k] > 0.0 { size[k] } else { 1.0 };
        if texture.kind == TextureKind::Cube {
            let mesh = matches!(self.shape, Shape::Mesh(_) | Shape::HeightField(_));
            let scale = std::array::from_fn(|k| if mesh || *uniform || size[k] <= 0.0 { 1.0 } else { 1.0 / size[k] });
            return Some((texture, Mapping::Cube { scale }));
        }
        let repeat = [0, 1].map(|k| if repeat[k] > 0.0 { repeat[k] * factor(k) } else { factor(k) });
        let mapping = match &self.shape {
            // From −size to +size; about the origin where it has no end.
            Shape::Plane { half_extents: [x, y] } => {
                let endless = *x <= 0.0 || *y <= 0.0;
                let along = |k: usize, half: f64| {
                    let scale = if half > 0.0 { 0.5 / half } else { 0.5 };
                    let middle = if half > 0.0 { 0.5 } else { 0.0 };
                    let sign = if k == 0 { 1.0 } else { -1.0 };
                    (sign * repeat[k] * scale, repeat[k] * middle - if endless { 0.5 } else { 0.0 })
                };
                let ((a, b), (c, d)) = (along(0, *x), along(1, *y));
                Mapping::Plane { scale: [a, c], offset: [b, d] }
            }
            Shape::Box { .. } => Mapping::Sides { size, repeat },
            Shape::Mesh(mesh) if !mesh.surface.texcoords.is_empty() => Mapping::Corners { repeat },
            Shape::Mesh(_) | Shape::HeightField(_) => {
                let over = [0, 1].map(|k| repeat[k] / size[k].max(1e-9));
                Mapping::Plane { scale: [0.5 * over[0], -0.5 * over[1]], offset: [-0.5, -0.5] }
            }
            Shape::Cylinder { .. } => Mapping::Around { size, repeat, straight: true },
            _ => Mapping::Around { size, repeat, straight: false },
        };
        Some((texture, mapping))
    }

    /// Half the size along the axes of its frame, m; 0 along those without end.
    pub(crate) fn half_size(&self) -> [f64; 3] {
        match &self.shape {
            Shape::Plane { half_extents: [x, y] } => [*x, *y, 0.0],
            Shape::Sphere { radius: r } => [*r; 3],
            Shape::Capsule { radius: r, half_length: h } => [*r, *r, h + r],
            Shape::Cylinder { radius: r, half_length: h } => [*r, *r, *h],
            Shape::Ellipsoid { radii } => *radii,
            Shape::Box { half_extents } => *half_extents,
            Shape::HeightField(field) => [field.half_extents[0], field.half_extents[1], 1.0],
            Shape::Mesh(mesh) => {
                let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
                for v in &mesh.vertices {
                    for (k, x) in v.to_array().into_iter().enumerate() {
                        (low[k], high[k]) = (low[k].min(x), high[k].max(x));
                    }
                }
                std::array::from_fn(|k| if high[k] > low[k] { 0.5 * (high[k] - low[k]) } else { 0.0 })
            }
        }
    }
}

/// A pair that may touch whatever its bits say, with a surface of its own.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PairSpec {
    /// The two geoms.
    pub geoms: [usize; 2],
    /// The pair's own surface.
    pub material: usize,
    /// Contact force begins at this distance, m.
    pub margin: f64,
}

/// The geoms of a model.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Scene {
    /// The geoms.
    pub geoms: Vec<Geom>,
    /// Explicit pairs.
    pub pairs: Vec<PairSpec>,
    /// Pairs of bodies whose geoms never touch.
    pub excluded: Vec<[usize; 2]>,
    /// Whether geoms of a body and of the one that it hangs from may touch.
    pub parents_touch: bool,
    /// What is seen where nothing else is: a cube.
    pub sky: Option<Arc<Texture>>,
    /// Soft bodies.
    pub soft_bodies: Vec<Arc<deformable::SoftBody>>,
    /// Nodes of soft bodies that are held by bodies.
    pub soft_attachments: Vec<SoftAttachment>,
}

impl Scene {
    /// Whether the same shapes, in the same places of their bodies, may touch as in another scene: surfaces and looks may be others.
    #[must_use]
    pub fn has_shapes_of(&self, other: &Self) -> bool {
        let is_alike = |(own, other): (&Geom, &Geom)| own.is_shaped_as(other);
        let pairs = |scene: &Self| scene.pairs.iter().map(|pair| (pair.geoms, pair.margin)).collect::<Vec<_>>();
        let is_alike = self.geoms.len() == other.geoms.len() && self.geoms.iter().zip(&other.geoms).all(is_alike);
        is_alike
            && pairs(self) == pairs(other)
            && self.excluded == other.excluded
            && self.parents_touch == other.parents_touch
            && self.soft_bodies.is_empty()
            && other.soft_bodies.is_empty()
    }
}

/// A node of a soft body that is held by a body, where it is when the model is in its default configuration.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SoftAttachment {
    /// The soft body, an index of [`Scene::soft_bodies`].
    pub soft: usize,
    /// The node of its mesh.
    pub node: u32,
    /// The body that holds it.
    pub body: usize,
    /// The point of the body where the node is held, in the body's frame, m.
    pub point: Vec3<f64>,
}
