//! What sensors refer to.

use crate::{ContactFilter, GeomsOf, RaySource, SensorFrame, SensorKind};

/// A kind of element that sensors refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorTarget {
    /// A body.
    Body,
    /// A joint.
    Joint,
    /// A geom of the scene.
    Geom,
    /// A site.
    Site,
    /// A tendon.
    Tendon,
    /// An actuator.
    Actuator,
    /// A camera.
    Camera,
}

impl SensorKind {
    /// Calls `f` with the index of each element that it refers to, which may be changed.
    pub fn each_target(&mut self, mut f: impl FnMut(SensorTarget, &mut usize)) {
        use SensorTarget as T;
        match self {
            Self::Clock | Self::PotentialEnergy | Self::KineticEnergy | Self::Unsupported { .. } => {}
            Self::Joint { joint, .. } => f(T::Joint, joint),
            Self::Tendon { tendon, .. } => f(T::Tendon, tendon),
            Self::Actuator { actuator, .. } => f(T::Actuator, actuator),
            Self::Frame { frame, reference, .. } => {
                std::iter::once(frame).chain(reference).for_each(|frame| frame.target(&mut f));
            }
            Self::InsideSite { frame, site } => {
                frame.target(&mut f);
                f(T::Site, site);
            }
            Self::Site { site, .. } | Self::Rangefinder { rays: RaySource::Site(site), .. } => f(T::Site, site),
            Self::Rangefinder { rays: RaySource::Camera { camera, .. }, .. } => f(T::Camera, camera),
            Self::Projection { site, camera } => {
                f(T::Site, site);
                f(T::Camera, camera);
            }
            Self::Subtree { body, .. } => f(T::Body, body),
            Self::Distance { between, .. } => between.iter_mut().for_each(|of| match of {
                GeomsOf::Geom(geom) => f(T::Geom, geom),
                GeomsOf::Body(body) => f(T::Body, body),
            }),
            Self::Contact(contact) => [&mut contact.first, &mut contact.second].into_iter().for_each(|of| match of {
                ContactFilter::Any => {}
                ContactFilter::Geom(geom) => f(T::Geom, geom),
                ContactFilter::Body(body) | ContactFilter::Subtree(body) => f(T::Body, body),
                ContactFilter::Site(site) => f(T::Site, site),
            }),
        }
    }

    /// The elements that it refers to, with their indices.
    pub fn targets(&self) -> Vec<(SensorTarget, usize)> {
        let mut targets = Vec::new();
        self.clone().each_target(|of, index| targets.push((of, *index)));
        targets
    }
}

impl SensorFrame {
    fn target(&mut self, f: &mut impl FnMut(SensorTarget, &mut usize)) {
        match self {
            Self::Inertial { body, .. } | Self::Body(body) => f(SensorTarget::Body, body),
            Self::Geom(geom) => f(SensorTarget::Geom, geom),
            Self::Site(site) => f(SensorTarget::Site, site),
            Self::Camera(camera) => f(SensorTarget::Camera, camera),
        }
    }
}
