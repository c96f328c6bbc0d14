//! How a model is looked at: cameras, and the view without one; the volumes of sites.

use multibody::{Camera, CameraMode, DefaultView, Lens, SiteShape};

use super::numbers::{degrees, list, number, pose_attributes};
use super::xml::{Attributes, Xml};
use super::{Writer, named};

/// `<statistic>` and `<visual>`, where the view is not MuJoCo's default.
pub(super) fn view(xml: &mut Xml, view: &DefaultView) {
    let default = DefaultView::default();
    let mut statistic = Vec::new();
    if let Some(extent) = view.extent {
        statistic.push(("extent", number(extent)));
    }
    if let Some(centre) = view.centre {
        statistic.push(("center", list(&centre.to_array())));
    }
    if !statistic.is_empty() {
        xml.empty("statistic", &statistic);
    }
    let mut global = Vec::new();
    for (name, value, default) in [
        ("azimuth", view.azimuth, default.azimuth),
        ("elevation", view.elevation, default.elevation),
        ("fovy", view.fovy, default.fovy),
    ] {
        if value != default {
            global.push((name, number(degrees(value))));
        }
    }
    if !global.is_empty() {
        xml.open("visual", &[]);
        xml.empty("global", &global);
        xml.close("visual");
    }
}

/// The type and the sizes of a site, where it is not the default dot.
pub(super) fn site_shape(shape: SiteShape) -> Attributes {
    if shape == SiteShape::default() {
        return Vec::new();
    }
    let (kind, size) = match shape {
        SiteShape::Sphere { radius } => ("sphere", vec![radius]),
        SiteShape::Capsule { radius, half_length } => ("capsule", vec![radius, half_length]),
        SiteShape::Cylinder { radius, half_length } => ("cylinder", vec![radius, half_length]),
        SiteShape::Ellipsoid { radii } => ("ellipsoid", radii.to_vec()),
        SiteShape::Box { half_extents } => ("box", half_extents.to_vec()),
    };
    vec![("type", kind.into()), ("size", list(&size))]
}

impl Writer<'_> {
    pub(super) fn camera(&self, xml: &mut Xml, camera: &Camera, name: &str) {
        let mut attributes = named(name);
        let (mode, target) = match camera.mode {
            CameraMode::Fixed => ("fixed", None),
            CameraMode::Track => ("track", None),
            CameraMode::TrackCom => ("trackcom", None),
            CameraMode::TargetBody(body) => ("targetbody", Some(body)),
            CameraMode::TargetBodyCom(body) => ("targetbodycom", Some(body)),
        };
        if camera.mode != CameraMode::Fixed {
            attributes.push(("mode", mode.into()));
        }
        attributes.extend(target.map(|body| ("target", self.bodies[body].clone())));
        attributes.extend(pose_attributes(camera.pose));
        match camera.lens {
            Lens::Fovy(fovy) => attributes.push(("fovy", number(degrees(fovy)))),
            Lens::Parallel { height } => {
                attributes.extend([("projection", "orthographic".into()), ("fovy", number(height))]);
            }
            Lens::Sensor { focal, size, principal } => {
                attributes.extend([
                    ("sensorsize", list(&size)),
                    ("focal", list(&focal)),
                    ("principal", list(&principal)),
                ]);
            }
        }
        attributes.extend(camera.resolution.map(|size| ("resolution", list(&size.map(f64::from)))));
        xml.empty("camera", &attributes);
    }
}
