//! All contact points of the soft bodies of a scene.

use std::sync::Arc;

use support::Interrupt;

use super::body::{Body, Reach};
use super::rigid::{GeomItem, SignedDistances, Workspace};
use super::surface::{SoftSurface, SoftSurfaceError, check};
use super::{SoftContact, SoftMovement};
use crate::collider::{MAX_CONTACTS, TooMany};
use crate::movement::{Attachment, Movement};
use crate::narrow::Convex;
use crate::scene::Scene;

/// Finds the contact points of the soft bodies of a scene.
///
/// The result is a function of the arguments alone: nothing carries over from one call to the next but buffers. Contact points come in the
/// order of the bodies, each with the geoms in their order; then pairs of soft bodies, then each with itself.
#[derive(Clone, Debug)]
pub struct SoftCollider {
    bodies: Vec<Body>,
    items: Vec<GeomItem>,
    workspace: Workspace,
    has_too_many: bool,
}

impl SoftCollider {
    /// A collider for soft bodies with these surfaces, and the geoms of `scene`, geom i moving as `attachments[i]` says.
    ///
    /// # Errors
    /// When a surface names a node that is not there, or has a number that is not finite or is negative.
    ///
    /// # Panics
    /// When there is not one attachment for each geom.
    pub fn new(
        scene: &Arc<Scene>,
        attachments: &[Attachment],
        surfaces: &[SoftSurface],
    ) -> Result<Self, SoftSurfaceError> {
        assert_eq!(scene.geoms.len(), attachments.len(), "one attachment for each geom");
        check(surfaces)?;
        let mut first = 0;
        let mut bodies = Vec::with_capacity(surfaces.len());
        for (index, surface) in surfaces.iter().enumerate() {
            bodies.push(Body::new(index as u32, surface, first));
            first += surface.nodes.len();
        }
        let geoms = scene.geoms.iter().zip(attachments).enumerate();
        let items: Vec<_> = geoms.filter_map(|(geom, (of, a))| GeomItem::new(geom, of, a, &bodies)).collect();
        let workspace = Workspace {
            convex: Convex::for_solids(items.iter().map(|of| of.solid())),
            signed_distances: SignedDistances::new(
                surfaces.iter().map(|surface| surface.nodes.len()).max().unwrap_or(0),
            ),
            near: Vec::with_capacity(surfaces.iter().map(|surface| surface.triangles.len()).max().unwrap_or(0)),
        };
        Ok(Self { bodies, items, workspace, has_too_many: false })
    }

    /// Lets the search end early once `interrupt` is raised. What it found is void then: it is for the caller to ask `interrupt` afterwards.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.workspace.convex.interrupt = interrupt.clone();
    }

    /// Whether there is no soft body.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Why the contact points of the last call are not all, where they are not.
    pub fn overflow(&self) -> Option<TooMany> {
        self.has_too_many.then_some(TooMany::Contacts)
    }

    /// Replaces `out` by the contact points whose gap can close in the step. `movement(i)` says where moving frame i is and how the surfaces
    /// of its geoms may move, `soft` the same of the nodes. Nodes whose place is not finite touch nothing.
    ///
    /// # Panics
    /// When `soft` has not three positions for each node.
    pub fn contacts(
        &mut self,
        movement: impl Fn(usize) -> Movement,
        soft: &SoftMovement<'_>,
        out: &mut Vec<SoftContact>,
    ) {
        let Self { bodies, items, workspace, has_too_many } = self;
        let nodes: usize = bodies.iter().map(Body::count).sum();
        assert_eq!(soft.positions.len(), 3 * nodes, "three coordinates for each node");
        out.clear();
        bodies.iter_mut().for_each(|body| body.place(soft));
        for body in bodies.iter_mut() {
            for of in items.iter() {
                if out.len() > MAX_CONTACTS || workspace.is_interrupted() {
                    break;
                }
                let geom = of.place(&movement);
                if of.may_touch(body) && geom.may_meet(body) {
                    body.against_geom(&geom, soft, workspace, out);
                }
            }
        }
        for b in 1..bodies.len() {
            let (before, rest) = bodies.split_at_mut(b);
            let other = &mut rest[0];
            for body in before {
                if out.len() > MAX_CONTACTS || workspace.is_interrupted() {
                    break;
                }
                if body.may_touch(other) && Reach::meet(body, other) {
                    body.against_body(other, soft, workspace, out);
                    other.against_body(body, soft, workspace, out);
                }
            }
        }
        for body in bodies.iter_mut().filter(|body| body.self_contact) {
            if out.len() <= MAX_CONTACTS && !workspace.is_interrupted() {
                body.against_itself(soft, workspace, out);
            }
        }
        *has_too_many = out.len() > MAX_CONTACTS;
    }
}
