//! What stands by its shape: an arch, a house of cards.

use std::f64::consts::PI;

use super::text::{Document, Vec3, about_y, numbers};

const INNER_RADIUS: f64 = 0.8;
const OUTER_RADIUS: f64 = 1.0;
/// Half the width of the arch along y, m.
const HALF_WIDTH: f64 = 0.15;
/// Of sandstone, kg/m³.
const DENSITY: f64 = 2300.0;

/// A semicircle of equal wedges in the plane of x and z; the first and last stand on the ground.
pub fn arch(name: String, blocks: usize) -> String {
    let mut document = Document::new(name, 0.7);
    document.ground();
    let half_angle = PI / blocks as f64 / 2.0;
    let middle = (INNER_RADIUS + OUTER_RADIUS) / 2.0;
    document.asset.push(format!(r#"<mesh name="wedge" vertex="{}"/>"#, numbers(&wedge(half_angle, middle).concat())));
    for i in 0..blocks {
        // From the vertical.
        let angle = -PI / 2.0 + (2 * i + 1) as f64 * half_angle;
        let pos = [middle * libm::sin(angle), 0.0, middle * libm::cos(angle)];
        let shape = format!(r#"type="mesh" mesh="wedge" density="{DENSITY}""#);
        document.free(&format!("block{i}"), pos, Some(about_y(angle)), &shape);
    }
    document.finish()
}

/// Corners of the wedge at the crown, as seen from the point of radius `middle` there.
fn wedge(half_angle: f64, middle: f64) -> Vec<Vec3> {
    let mut corners = Vec::with_capacity(8);
    for radius in [INNER_RADIUS, OUTER_RADIUS] {
        for angle in [-half_angle, half_angle] {
            for y in [-HALF_WIDTH, HALF_WIDTH] {
                corners.push([radius * libm::sin(angle), y, radius * libm::cos(angle) - middle]);
            }
        }
    }
    corners
}

/// Length, width, thickness of a card, m; thicker than paper, so that a time step of 5 ms does not see through it.
const CARD: Vec3 = [0.1, 0.06, 0.004];
/// Mass of a card, kg.
const CARD_MASS: f64 = 0.02;
/// How far a leaning card is from the vertical, rad.
const LEAN: f64 = 0.35;

/// Pairs lean against each other along a row; the next storey stands upon flat cards that bridge their tops, its feet
/// above the tops.
pub fn cards(name: String, storeys: usize) -> String {
    let mut document = Document::new(name, 0.8);
    document.ground();
    let (sin, cos) = (libm::sin(LEAN), libm::cos(LEAN));
    let [length, _, thickness] = CARD;
    // Of a leaning card: heights of its middle over its lowest edge and of its highest edge over its middle are equal.
    let half_height = (length * cos + thickness * sin) / 2.0;
    // From the edge where a pair meets to the middle of a card.
    let aside = (length * sin + thickness * cos) / 2.0;
    // A foot stands half a thickness further out than the flat card's support, which is a thickness from the top's middle.
    let pitch = 2.0 * (length * sin + 1.5 * thickness);
    let storey_height = 2.0 * half_height + thickness;
    for storey in 0..storeys {
        let pairs = storeys - storey;
        let floor = storey as f64 * storey_height;
        let left = -0.5 * (pairs as f64 - 1.0) * pitch;
        for pair in 0..pairs {
            let (x, z) = (left + pair as f64 * pitch, floor + half_height);
            for (side, sign) in [("left", -1.0), ("right", 1.0)] {
                let name = format!("{side}{storey}_{pair}");
                let half = [thickness / 2.0, CARD[1] / 2.0, length / 2.0];
                document.free(&name, [x + sign * aside, 0.0, z], Some(about_y(-sign * LEAN)), &card(half));
            }
        }
        for flat in 1..pairs {
            let (x, z) = (left + (flat as f64 - 0.5) * pitch, floor + 2.0 * half_height + thickness / 2.0);
            // A hair apart from the next one.
            let half = [pitch / 2.0 - 1e-4, CARD[1] / 2.0, thickness / 2.0];
            document.free(&format!("flat{storey}_{flat}"), [x, 0.0, z], None, &card(half));
        }
    }
    document.finish()
}

fn card(half: Vec3) -> String {
    format!(r#"type="box" size="{}" mass="{CARD_MASS}""#, numbers(&half))
}
