//! `align` of free joints: the frame of a body becomes that of its inertia.

use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

use super::Reader;
use super::defaults::Attributes;
use super::inertia::ordered_principal_axes;
use crate::LoadError;
use crate::xml::Element;

/// How many elements there are before those of a body are read.
#[derive(Clone, Copy)]
pub(super) struct Before {
    geoms: usize,
    sites: usize,
    cameras: usize,
}

/// A body in its own frame.
pub(super) struct Aligned {
    pub pose: Pose<f64>,
    pub inertia: RigidInertia<f64>,
}

impl<'a> Reader<'_, 'a> {
    pub(super) fn before(&self) -> Before {
        let (sites, cameras) = (self.builder.sites.len(), self.builder.cameras.len());
        Before { geoms: self.scene.geoms.len(), sites, cameras }
    }

    /// Whether a body without bodies below it asks for the frame of its inertia, by its only joint or the compiler's settings.
    pub(super) fn is_aligned(&self, body: Element<'a>, joint: &Attributes<'_, 'a>) -> Result<bool, LoadError> {
        let is_asked = joint.auto_flag("align")?.unwrap_or(self.compiler.align_free);
        let is_free = joint.element().name() == "freejoint" || joint.text("type") == Some("free");
        // Nodes of flexible bodies are bodies, too.
        let has_nodes = || body.descendants().any(|below| matches!(below.name(), "flexcomp" | "composite"));
        Ok(is_asked && is_free && !has_nodes())
    }

    /// Moves the frame of a body of this inertia, with these principal axes if its file has them, and what is in it.
    pub(super) fn align(
        &mut self,
        before: Before,
        pose: Pose<f64>,
        inertia: RigidInertia<f64>,
        axes: Option<Quat<f64>>,
    ) -> Aligned {
        let axes = axes.unwrap_or_else(|| ordered_principal_axes(inertia.inertia));
        let own = Pose::new(inertia.com, axes);
        let back = own.inverse();
        self.scene.geoms[before.geoms..].iter_mut().for_each(|geom| geom.pose = back * geom.pose);
        self.builder.sites[before.sites..].iter_mut().for_each(|site| site.pose = back * site.pose);
        self.builder.cameras[before.cameras..].iter_mut().for_each(|camera| camera.pose = back * camera.pose);
        let moments = inertia.inertia.rotated(axes.to_mat3().transpose()).diag();
        let inertia = RigidInertia { com: Vec3::ZERO, inertia: Sym3::diagonal(moments), ..inertia };
        Aligned { pose: pose * own, inertia }
    }
}
