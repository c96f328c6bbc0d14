//! `<camera>`, and what says how a model is looked at when no camera is chosen.

use multibody::{Camera, CameraMode, Lens};
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
        let resolution = resolution(&attributes)?;
        let is_parallel = attributes.text("projection").is_some_and(|p| p != "perspective")
            || attributes.flag("orthographic")? == Some(true);
        let lens = match is_parallel {
            true => parallel_lens(&attributes)?,
            false => lens(&attributes, resolution.unwrap_or([1; 2]))?,
        };
        let mode = attributes.keyword("mode", &MODES)?.unwrap_or(Mode::Fixed);
        attributes.skip(&["ipd", "user", "output"]);
        if is_parallel {
            let message = "parallel projection is not drawn: pictures are in perspective, rays of sensors are parallel";
            let name = if attributes.has(&["orthographic"]) { "orthographic" } else { "projection" };
            self.warnings.add_attribute(element, name, message);
        }
        let target = attributes.find(&["target"]);
        let turns = matches!(mode, Mode::TargetBody | Mode::TargetBodyCom);
        if turns && target.is_none() {
            self.warnings.add_attribute(element, "mode", "no attribute `target`: the camera keeps its direction");
        }
        let mode = match mode {
            Mode::Track => CameraMode::Track,
            Mode::TrackCom => CameraMode::TrackCom,
            // Body 0 until all bodies are known.
            Mode::TargetBody if target.is_some() => CameraMode::TargetBody(0),
            Mode::TargetBodyCom if target.is_some() => CameraMode::TargetBodyCom(0),
            Mode::Fixed | Mode::TargetBody | Mode::TargetBodyCom => CameraMode::Fixed,
        };
        let name = self.names.claim(element, "camera", &self.suffix, self.builder.cameras.len())?;
        if let Some((at, _, target)) = target {
            self.camera_targets.push((self.builder.cameras.len(), at, target));
        }
        self.builder.cameras.push(Camera { name, body, pose, lens, resolution, mode });
        Ok(())
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

/// Columns and rows of the sensor.
fn resolution(attributes: &Attributes<'_, '_>) -> Result<Option<[u32; 2]>, LoadError> {
    let Some([columns, rows]) = attributes.array::<2>("resolution")? else { return Ok(None) };
    let whole = |pixels: f64| (pixels.fract() == 0.0 && (0.0..=1e6).contains(&pixels)).then_some(pixels as u32);
    let expected = || attributes.source("resolution").error("resolution: expected two whole numbers, 0 or more");
    Ok(Some([whole(columns).ok_or_else(expected)?, whole(rows).ok_or_else(expected)?]))
}

/// Parallel rays: `fovy` is the height of the picture.
fn parallel_lens(attributes: &Attributes<'_, '_>) -> Result<Lens, LoadError> {
    attributes.skip(&["sensorsize", "focal", "focalpixel", "principal", "principalpixel"]);
    let height = attributes.number("fovy")?.unwrap_or(FOVY);
    if !(height > 0.0 && height.is_finite()) {
        return Err(attributes.source("fovy").error(format!("fovy=\"{height}\": expected a height above 0, m")));
    }
    Ok(Lens::Parallel { height })
}

/// The field of view, or with `sensorsize` the sensor and its lens; numbers in pixels count before those in metres.
fn lens(attributes: &Attributes<'_, '_>, resolution: [u32; 2]) -> Result<Lens, LoadError> {
    const INTRINSICS: [&str; 4] = ["focal", "focalpixel", "principal", "principalpixel"];
    let Some(size) = attributes.array::<2>("sensorsize")? else {
        if let Some(name) = INTRINSICS.into_iter().find(|name| attributes.has(&[name])) {
            let message = format!("{name}: has no meaning without the size of the sensor: expected `sensorsize`");
            return Err(attributes.source(name).error(message));
        }
        let fovy = attributes.number("fovy")?.unwrap_or(FOVY);
        if !(fovy > 0.0 && fovy < 180.0) {
            let message = format!("fovy=\"{fovy}\": expected degrees above 0 and below 180");
            return Err(attributes.source("fovy").error(message));
        }
        return Ok(Lens::Fovy(fovy.to_radians()));
    };
    if attributes.element().attribute("fovy").is_some() && attributes.element().attribute("sensorsize").is_some() {
        return Err(attributes.element().error("has both `fovy` and `sensorsize`: expected one of them"));
    }
    attributes.skip(&["fovy"]);
    let pixel = [size[0] / f64::from(resolution[0].max(1)), size[1] / f64::from(resolution[1].max(1))];
    let length = |metres: &'static str, pixels: &'static str| -> Result<Option<[f64; 2]>, LoadError> {
        let (own, counted) = (attributes.array::<2>(metres)?, attributes.array::<2>(pixels)?);
        Ok(counted.map(|[x, y]| [x * pixel[0], y * pixel[1]]).or(own))
    };
    let focal = length("focal", "focalpixel")?.unwrap_or_default();
    let principal = length("principal", "principalpixel")?.unwrap_or_default();
    if !focal.iter().chain(&size).all(|x| *x > 0.0) {
        let message =
            "sensorsize, focal: expected two numbers above 0 each (the focal length in `focal` or `focalpixel`)";
        return Err(attributes.source("sensorsize").error(message));
    }
    Ok(Lens::Sensor { focal, size, principal })
}
