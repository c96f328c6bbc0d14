//! Shapes, their inertia, and the points in which they touch.
//!
//! A [`Scene`] lists geoms: a [`Shape`] fixed in a body, with bits that say what it may touch. [`Shape::inertia`]
//! weighs them. A [`Collider`] finds the contact points of a scene for given poses:
//!
//! 1. *Filter.* Pairs that may touch are known beforehand (bits, rigid groups, parents, exclusions, explicit pairs).
//! 2. *Broad phase.* Small scenes go through that list with bounding balls; large ones search a tree of boxes. What may be
//!    near is kept while nothing moves far, and looked at more closely in every call.
//! 3. *Narrow phase.* Closed forms for planes, spheres, capsules and boxes; GJK (from `parry3d`) and a polytope that expands for
//!    everything convex, finished by Newton's method where surfaces are curved; triangles one by one for height
//!    fields. Flat features that face each other are clipped, so that what rests rests on several points.
//!
//! A [`SoftCollider`] does the same for the nodes and triangles of soft bodies: against geoms, each other and themselves.
//!
//! The result depends on the poses alone, to the last bit, and takes no memory after the first calls.
//!
//! ```
//! use std::sync::Arc;
//!
//! use sapwood_geometry::{Attachment, Collider, Geom, Scene, Shape};
//! use spatial::{Mat3, Pose, Vec3};
//!
//! let ground = Geom::new(0, Shape::Plane { half_extents: [0.0, 0.0] });
//! let cube = Geom::new(1, Shape::Box { half_extents: [0.1, 0.1, 0.1] });
//! let scene = Scene { geoms: vec![ground, cube], ..Scene::default() };
//! let fixed = Attachment { frame: None, pose: Pose::IDENTITY, group: 0, parent_group: 0 };
//! let moving = Attachment { frame: Some(0), pose: Pose::IDENTITY, group: 1, parent_group: 0 };
//!
//! let mut collider = Collider::new(Arc::new(scene), vec![fixed, moving]);
//! let mut contacts = vec![];
//! // The cube stands 1 mm deep in the ground.
//! collider.contacts(|_| (Mat3::IDENTITY, Vec3::new(0.0, 0.0, 0.099)), &[sapwood_geometry::Sweep::default()], &mut contacts);
//! assert_eq!(contacts.len(), 4);
//! assert!(contacts.iter().all(|c| c.geoms == [0, 1] && (c.gap + 0.001).abs() < 1e-15));
//! ```

mod broad_phase;
mod collider;
mod contact;
mod fluid;
mod hull;
mod inertia;
mod looks;
mod mesh;
mod movement;
mod narrow;
mod near;
mod pair_collider;
mod pairs;
mod prepared;
mod queries;
mod scene;
mod shape;
mod soft;
mod solid;

pub use broad_phase::MAX_NEAR_PAIRS;
pub use collider::{Collider, MAX_CONTACTS, TooMany, TouchingPair};
pub use contact::Contact;
pub use fluid::FluidEllipsoid;
pub use hull::HullTables;
pub use inertia::{InertiaError, MassModel};
pub use looks::{Look, Mapping, MeshSurface, Paint, Texture, TextureKind};
pub use mesh::{HeightFieldError, MeshError};
pub use movement::{Attachment, Movement, Sweep};
pub use narrow::FAR;
pub use narrow::closed::{
    Axis, NEARLY_PARALLEL, NearestOfAxes, lowest_corners, nearest_of_axes, share_of_end, share_of_middle,
};
pub use pair_collider::{PairCollider, SolidKind, SolidView};
pub use pairs::{GeomPair, allowed_pairs};
pub use prepared::{PreparedMesh, Surface};
pub use queries::{RayHit, SceneQueries, Separation};
pub use scene::{FluidCoefficients, Geom, PairSpec, Scene, SoftAttachment, SurfaceMotion};
pub use shape::{HeightField, Mesh, Shape};
pub use soft::{
    Exemption, SoftCollider, SoftContact, SoftMovement, SoftPartner, SoftPoint, SoftSurface, SoftSurfaceError,
};
pub use solid::OF_CAPSULE;
