//! `<sensor>`: what is measured, where.

use multibody::{
    ContactField, ContactFilter, FrameQuantity, GeomsOf, RayField, RaySource, Reduction, Sensor, SensorDelay,
    SensorFrame, SensorKind, SensorTarget,
};
use spatial::{Pose, Quat};

use super::actuators::delay;
use super::numbers::{list, number};
use super::xml::{Attributes, Xml};
use super::{Writer, free_name, give_name, label, named};
use crate::mjcf::inertia::ordered_principal_axes;
use crate::mjcf::sensor::{CONTACT_FIELDS, RAY_FIELDS, REDUCTIONS};

/// A site that stands for the principal axes of a body.
pub(super) struct AxesSite {
    body: usize,
    axes: Quat<f64>,
    name: String,
}

impl Writer<'_> {
    /// Names what sensors refer to, and gives sites to the principal axes that a reader of the text would choose otherwise.
    pub(super) fn name_what_is_measured(&mut self) {
        for sensor in &self.model.sensors {
            match &sensor.kind {
                SensorKind::Frame { frame, reference, quantity } => {
                    let turns = matches!(
                        quantity,
                        FrameQuantity::Quaternion | FrameQuantity::XAxis | FrameQuantity::YAxis | FrameQuantity::ZAxis
                    );
                    self.name_frame(*frame, turns);
                    reference.iter().for_each(|frame| self.name_frame(*frame, true));
                }
                SensorKind::InsideSite { frame, site } => {
                    give_name(&mut self.sites, *site, "site");
                    self.name_frame(*frame, false);
                }
                kind => kind.targets().into_iter().for_each(|(of, index)| match of {
                    SensorTarget::Body => give_name(&mut self.bodies, index, "body"),
                    SensorTarget::Joint => give_name(&mut self.joints, index, "joint"),
                    SensorTarget::Geom => give_name(&mut self.geoms, index, "geom"),
                    SensorTarget::Site => give_name(&mut self.sites, index, "site"),
                    SensorTarget::Tendon => give_name(&mut self.tendons, index, "tendon"),
                    SensorTarget::Actuator => give_name(&mut self.actuators, index, "actuator"),
                    SensorTarget::Camera => give_name(&mut self.cameras, index, "camera"),
                }),
            }
        }
    }

    fn name_frame(&mut self, frame: SensorFrame, turns: bool) {
        match frame {
            SensorFrame::Body(body) => give_name(&mut self.bodies, body, "body"),
            SensorFrame::Geom(geom) => give_name(&mut self.geoms, geom, "geom"),
            SensorFrame::Site(site) => give_name(&mut self.sites, site, "site"),
            SensorFrame::Camera(camera) => give_name(&mut self.cameras, camera, "camera"),
            SensorFrame::Inertial { body, axes } => {
                give_name(&mut self.bodies, body, "body");
                if turns && axes != self.written_axes(body) && self.axes_site(body, axes).is_none() {
                    let name = free_name(&self.sites, &format!("axes{}", self.axes_sites.len()));
                    let com = self.model.bodies[body].inertia.com;
                    self.extra_sites.push((body, name.clone(), Pose::new(com, axes)));
                    self.axes_sites.push(AxesSite { body, axes, name });
                    let text = "a site is written for its principal axes, which the text leaves to the reader";
                    self.note(&label("body", &self.model.bodies[body].name, body), text);
                }
            }
        }
    }

    /// The principal axes that a reader of the text finds.
    fn written_axes(&self, body: usize) -> Quat<f64> {
        let inertia = self.model.bodies[body].inertia.inertia;
        let is_diagonal = [inertia.xy(), inertia.xz(), inertia.yz()] == [0.0; 3];
        if is_diagonal { Quat::IDENTITY } else { ordered_principal_axes(inertia) }
    }

    fn axes_site(&self, body: usize, axes: Quat<f64>) -> Option<&str> {
        let site = self.axes_sites.iter().find(|site| site.body == body && site.axes == axes)?;
        Some(&site.name)
    }

    pub(super) fn sensors(&mut self, xml: &mut Xml) {
        if self.model.sensors.is_empty() {
            return;
        }
        xml.open("sensor", &[]);
        for (index, sensor) in self.model.sensors.iter().enumerate() {
            let element = match &sensor.kind {
                SensorKind::Unsupported { element, .. } if element != "user" => {
                    let text =
                        format!("a {element}, which is not simulated, is written as `user`: its numbers are zero");
                    self.note(&label("sensor", &sensor.name, index), &text);
                    "user"
                }
                kind => kind.element(),
            };
            let mut attributes = named(&sensor.name);
            attributes.extend(self.measured(sensor));
            for (key, value) in [("cutoff", sensor.cutoff), ("noise", sensor.noise)] {
                if value != 0.0 {
                    attributes.push((key, number(value)));
                }
            }
            if let Some(SensorDelay { line, interval, phase }) = sensor.delay {
                attributes.extend(delay(&line));
                attributes.push(("interval", list(&[interval, phase])));
            }
            xml.empty(element, &attributes);
        }
        xml.close("sensor");
    }

    /// What a sensor measures, as attributes.
    fn measured(&self, sensor: &Sensor) -> Attributes {
        match &sensor.kind {
            SensorKind::Clock | SensorKind::PotentialEnergy | SensorKind::KineticEnergy => Vec::new(),
            SensorKind::Unsupported { dim, .. } => vec![("dim", dim.to_string())],
            SensorKind::Joint { joint, .. } => vec![("joint", self.joints[*joint].clone())],
            SensorKind::Tendon { tendon, .. } => vec![("tendon", self.tendons[*tendon].clone())],
            SensorKind::Actuator { actuator, .. } => vec![("actuator", self.actuators[*actuator].clone())],
            SensorKind::Frame { frame, reference, .. } => {
                let mut attributes = self.framed(*frame, ["objtype", "objname"]).to_vec();
                attributes.extend(reference.iter().flat_map(|frame| self.framed(*frame, ["reftype", "refname"])));
                attributes
            }
            SensorKind::Site { site, .. } => vec![("site", self.sites[*site].clone())],
            SensorKind::InsideSite { frame, site } => {
                let mut attributes = self.framed(*frame, ["objtype", "objname"]).to_vec();
                attributes.push(("site", self.sites[*site].clone()));
                attributes
            }
            SensorKind::Subtree { body, .. } => vec![("body", self.body_name(*body))],
            SensorKind::Distance { between: [first, second], .. } => {
                let of = |side: GeomsOf, [geom, body]: [&'static str; 2]| match side {
                    GeomsOf::Geom(index) => (geom, self.geoms[index].clone()),
                    GeomsOf::Body(index) => (body, self.body_name(index)),
                };
                vec![of(*first, ["geom1", "body1"]), of(*second, ["geom2", "body2"])]
            }
            SensorKind::Projection { site, camera } => {
                vec![("site", self.sites[*site].clone()), ("camera", self.cameras[*camera].clone())]
            }
            SensorKind::Rangefinder { rays, fields } => {
                let mut attributes = vec![match *rays {
                    RaySource::Site(site) => ("site", self.sites[site].clone()),
                    RaySource::Camera { camera, .. } => ("camera", self.cameras[camera].clone()),
                }];
                if fields[..] != [RayField::Distance] {
                    attributes.push(("data", words(fields, &RAY_FIELDS)));
                }
                attributes
            }
            SensorKind::Contact(contact) => {
                let mut attributes = Vec::new();
                let names = [["geom1", "body1", "subtree1"], ["geom2", "body2", "subtree2"]];
                for (filter, [geom, body, subtree]) in [contact.first, contact.second].into_iter().zip(names) {
                    attributes.extend(match filter {
                        ContactFilter::Any => None,
                        ContactFilter::Geom(index) => Some((geom, self.geoms[index].clone())),
                        ContactFilter::Body(index) => Some((body, self.body_name(index))),
                        ContactFilter::Subtree(index) => Some((subtree, self.body_name(index))),
                        ContactFilter::Site(index) => Some(("site", self.sites[index].clone())),
                    });
                }
                if contact.fields[..] != [ContactField::Found] {
                    attributes.push(("data", words(&contact.fields, &CONTACT_FIELDS)));
                }
                if contact.reduction != Reduction::default() {
                    attributes.push(("reduce", words(&[contact.reduction], &REDUCTIONS)));
                }
                if contact.slots != 1 {
                    attributes.push(("num", contact.slots.to_string()));
                }
                attributes
            }
        }
    }

    /// A frame as its type and its name.
    fn framed(&self, frame: SensorFrame, [of_type, of_name]: [&'static str; 2]) -> [(&'static str, String); 2] {
        let (kind, name) = match frame {
            SensorFrame::Body(body) => ("xbody", self.body_name(body)),
            SensorFrame::Geom(geom) => ("geom", self.geoms[geom].clone()),
            SensorFrame::Site(site) => ("site", self.sites[site].clone()),
            SensorFrame::Camera(camera) => ("camera", self.cameras[camera].clone()),
            SensorFrame::Inertial { body, axes } => match self.axes_site(body, axes) {
                Some(site) => ("site", site.to_owned()),
                None => ("body", self.body_name(body)),
            },
        };
        [(of_type, kind.into()), (of_name, name)]
    }

    /// The name of a body; the world has its own.
    fn body_name(&self, body: usize) -> String {
        if body == 0 { "world".into() } else { self.bodies[body].clone() }
    }
}

/// The words for fields.
fn words<T: Copy + PartialEq>(fields: &[T], table: &[(&str, T)]) -> String {
    let word = |field: &T| table.iter().find(|(_, of_table)| of_table == field).map(|(word, _)| *word);
    fields.iter().filter_map(word).collect::<Vec<_>>().join(" ")
}
