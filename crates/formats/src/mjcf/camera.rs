//! `<camera>`, and what says how a model is looked at when no camera is chosen.

use multibody::{Camera, CameraMode};
use spatial::Pose;

use super::Reader;
use super::defaults::{Attributes, ClassId};
use crate::LoadError;
use crate::xml::Element;

/// MuJoCo's default field of view, degrees.
const FOVY: f64 = 45.0;

#[derive(Clone, Copy)]
enum Mode {
    Fixed,
    Track,
    TrackCom,
    TargetBody,
    TargetBodyCom,
}

const MODES: [(&str, Mode); 5] = [
    ("fixed", Mode::Fixed),
    ("track", Mode::Track),
    ("trackcom", Mode::TrackCom),
    ("targetbody", Mode::TargetBody),
    ("targetbodycom", Mode::TargetBodyCom),
];

impl<'a> Reader<'_, 'a> {
    /// Reads a camera of `body`. `frame` is that of the `<frame>` elements around it. The target is looked up when all bodies are known.
    pub(super) fn camera(
        &mut self,
        element: Element<'a>,
        class: ClassId,
        frame: Pose<f64>,
        body: usize,
    ) -> Result<(), LoadError> {
        let attributes = self.defaults.attributes(element, class)?;
        let pose = frame * self.compiler.angles.pose(&attributes)?;
        let fovy = self.fovy(&attributes)?;
        let mode = attributes.keyword("mode", &MODES)?.unwrap_or(Mode::Fixed);
        attributes.skip(&["ipd", "resolution", "user", "output"]);
        if attributes.text("projection").is_some_and(|p| p != "perspective")
            || attributes.flag("orthographic")? == Some(true)
        {
            let message = "parallel projection is not drawn: the camera looks in perspective";
            let name = if attributes.has(&["orthographic"]) { "orthographic" } else { "projection" };
            self.warnings.add_attribute(element, name, message);
        }
        let mode = match mode {
            Mode::Fixed => CameraMode::Fixed,
            Mode::Track => CameraMode::Track,
            Mode::TrackCom => CameraMode::TrackCom,
            // Body 0 until all bodies are known.
            Mode::TargetBody => CameraMode::TargetBody(0),
            Mode::TargetBodyCom => CameraMode::TargetBodyCom(0),
        };
        let name = self.names.claim(element, "camera", &self.suffix, self.builder.cameras.len())?;
        match attributes.find(&["target"]) {
            Some((at, _, target)) => self.camera_targets.push((self.builder.cameras.len(), at, target)),
            None if matches!(mode, CameraMode::TargetBody(_) | CameraMode::TargetBodyCom(_)) => {
                return Err(element.error("no attribute `target`: expected the name of a body"));
            }
            None => {}
        }
        self.builder.cameras.push(Camera { name, body, pose, fovy, mode });
        Ok(())
    }

    /// The vertical field of view, rad: `fovy`, or what the intrinsics amount to, with a warning where the axis is off the centre.
    fn fovy(&mut self, attributes: &Attributes<'_, 'a>) -> Result<f64, LoadError> {
        let at = attributes.source("fovy");
        let fovy = attributes.number("fovy")?.unwrap_or(FOVY);
        if !(fovy > 0.0 && fovy < 180.0) {
            return Err(at.error(format!("fovy=\"{fovy}\": expected degrees above 0 and below 180")));
        }
        let element = attributes.element();
        if attributes.has(&["sensorsize"]) {
            let message = "intrinsics are not drawn: the picture is taken with `fovy`, its axis in the middle";
            self.warnings.add_attribute(element, "sensorsize", message);
            attributes.skip(&["sensorsize", "focal", "focalpixel", "principal", "principalpixel"]);
        } else {
            // MuJoCo uses them with a sensor size alone.
            attributes.skip(&["focal", "focalpixel", "principal", "principalpixel"]);
        }
        Ok(fovy.to_radians())
    }

    /// Finds the bodies that cameras turn to.
    pub(super) fn find_camera_targets(&mut self) -> Result<(), LoadError> {
        for (camera, at, target) in std::mem::take(&mut self.camera_targets) {
            let found = self.names.get(at, "target", "body", target)?;
            match &mut self.builder.cameras[camera].mode {
                CameraMode::TargetBody(body) | CameraMode::TargetBodyCom(body) => *body = found,
                _ => {}
            }
        }
        Ok(())
    }

    /// `<statistic>` and `<visual><global>`: how a model is looked at when nothing else is said.
    pub(super) fn default_view(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        let view = &mut self.builder.view;
        for element in root.children_named("statistic") {
            if let Some(centre) = element.array::<3>("center")? {
                view.centre = Some(centre.into());
            }
            if let Some(extent) = element.number("extent")? {
                view.extent = Some(extent).filter(|&x| x > 0.0);
            }
        }
        for element in root.children_named("visual").flat_map(|visual| visual.children_named("global")) {
            for (name, angle) in
                [("azimuth", &mut view.azimuth), ("elevation", &mut view.elevation), ("fovy", &mut view.fovy)]
            {
                if let Some(degrees) = element.number(name)? {
                    *angle = degrees.to_radians();
                }
            }
            if !(view.fovy > 0.0 && view.fovy < std::f64::consts::PI) {
                return Err(element.error("fovy: expected degrees above 0 and below 180"));
            }
        }
        Ok(())
    }
}
