//! A figure as MJCF text.

use std::fmt::{Display, Write};

use super::Options;
use super::figure::{Body, Colour, Figure, Geom, Joint, Point, Shape, minus};

/// Class of the geoms that have neither mass nor contact.
const MARK: &str = "mark";
const GROUND: Colour = [0.85, 0.87, 0.90];

/// The MJCF text of a figure.
pub fn mjcf(figure: &Figure, options: &Options) -> String {
    let mut xml = Xml::default();
    xml.open("mujoco", &[("model", &figure.name)]);
    // The time step is the usual one of physics-based animation at 60 frames per second with a few steps per frame.
    xml.empty("option", &[("timestep", &0.005)]);
    defaults(&mut xml, figure, options);
    xml.open("worldbody", &[]);
    if options.ground {
        let (colour, bits) = (colour(GROUND), 1);
        let size = "0 0 1";
        xml.empty(
            "geom",
            &[
                ("name", &"ground"),
                ("type", &"plane"),
                ("size", &size),
                ("contype", &bits),
                ("conaffinity", &bits),
                ("rgba", &colour),
            ],
        );
    }
    for root in figure.children(None) {
        body(&mut xml, figure, root);
    }
    xml.close("worldbody");
    if options.self_collision && !figure.touching.is_empty() {
        xml.open("contact", &[]);
        for &[a, b] in &figure.touching {
            let [a, b] = [a, b].map(|i| &figure.bodies[i].name);
            xml.empty("exclude", &[("body1", a), ("body2", b)]);
        }
        xml.close("contact");
    }
    if !figure.keyframes.is_empty() {
        xml.open("keyframe", &[]);
        for key in &figure.keyframes {
            xml.empty("key", &[("name", &key.name), ("qpos", &numbers(&key.q))]);
        }
        xml.close("keyframe");
    }
    xml.close("mujoco");
    xml.text
}

/// Two geoms may touch when the `contype` of one meets the `conaffinity` of the other: with a `contype` of 0 a geom
/// touches what has 1 there (the ground, and whatever else there is in a scene), but not its like.
fn defaults(xml: &mut Xml, figure: &Figure, options: &Options) {
    xml.open("default", &[]);
    let contype = u8::from(options.self_collision);
    xml.empty("geom", &[("contype", &contype), ("conaffinity", &1), ("friction", &figure.friction)]);
    xml.open("default", &[("class", &MARK)]);
    xml.empty("geom", &[("contype", &0), ("conaffinity", &0), ("mass", &0)]);
    xml.close("default");
    xml.close("default");
}

fn body(xml: &mut Xml, figure: &Figure, index: usize) {
    let body = &figure.bodies[index];
    let origin = body.parent.map_or([0.0; 3], |parent| figure.bodies[parent].at);
    xml.open("body", &[("name", &body.name), ("pos", &numbers(&minus(body.at, origin)))]);
    match body.joint {
        Joint::Free => xml.empty("freejoint", &[("name", &body.name)]),
        Joint::Ball => xml.empty("joint", &[("name", &body.name), ("type", &"ball")]),
        Joint::Hinge(axis) => {
            xml.empty("joint", &[("name", &body.name), ("type", &"hinge"), ("axis", &numbers(&axis))]);
        }
    }
    let volume: f64 = body.geoms.iter().filter(|geom| geom.solid).map(|geom| geom.shape.volume()).sum();
    for shape in &body.geoms {
        geom(xml, body, shape, volume);
    }
    for child in figure.children(Some(index)) {
        self::body(xml, figure, child);
    }
    xml.close("body");
}

fn geom(xml: &mut Xml, body: &Body, geom: &Geom, volume: f64) {
    let place = |point: Point| numbers(&minus(point, body.at));
    let segment = |from: Point, to: Point| format!("{} {}", place(from), place(to));
    let (kind, at, place, size) = match geom.shape {
        Shape::Sphere { centre, radius } => ("sphere", "pos", place(centre), numbers(&[radius])),
        Shape::Capsule { from, to, radius } => ("capsule", "fromto", segment(from, to), numbers(&[radius])),
        Shape::Cylinder { from, to, radius } => ("cylinder", "fromto", segment(from, to), numbers(&[radius])),
        Shape::Spheroid { from, to, radius } => ("ellipsoid", "fromto", segment(from, to), numbers(&[radius])),
        Shape::Ellipsoid { centre, radii } => ("ellipsoid", "pos", place(centre), numbers(&radii)),
        Shape::Box { centre, half } => ("box", "pos", place(centre), numbers(&half)),
    };
    let rgba = colour(geom.colour);
    let shape: [Attribute<'_>; 4] = [("type", &kind), (at, &place), ("size", &size), ("rgba", &rgba)];
    if geom.solid {
        let mass = number(body.mass * geom.shape.volume() / volume);
        xml.empty("geom", &[&shape[..], &[("mass", &mass)]].concat());
    } else {
        xml.empty("geom", &[&[("class", &MARK as &dyn Display)], &shape[..]].concat());
    }
}

fn colour([r, g, b]: Colour) -> String {
    numbers(&[r, g, b, 1.0])
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(|&value| number(value)).collect::<Vec<_>>().join(" ")
}

/// To nine decimals: sums of decimal numbers come out as one would write them.
fn number(value: f64) -> String {
    let rounded = (value * 1e9).round() / 1e9;
    // Not −0.
    format!("{}", rounded + 0.0)
}

type Attribute<'a> = (&'a str, &'a dyn Display);

/// Indented elements. Names and values here hold none of the characters that XML reserves.
#[derive(Default)]
struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    fn open(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.start(name, attributes);
        self.text.push_str(">\n");
        self.depth += 1;
    }

    fn empty(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.start(name, attributes);
        self.text.push_str("/>\n");
    }

    fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.indent();
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push_str(">\n");
    }

    fn start(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.indent();
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            // Writing to a string cannot fail.
            let _ = write!(self.text, " {key}=\"{value}\"");
        }
    }

    fn indent(&mut self) {
        self.text.extend(std::iter::repeat_n("  ", self.depth));
    }
}
