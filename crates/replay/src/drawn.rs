//! Markers and texts of a recording, each with the frames that show it.

use std::collections::BTreeMap;
use std::sync::Arc;

use render::{Label, Marker, MarkerShape};
use serde_json::{Value, json};

/// What is drawn beside the model.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// Balls and rods.
    pub markers: Vec<Marker>,
    /// Texts.
    pub labels: Vec<Label>,
}

/// What was drawn at each frame.
#[derive(Debug, Default)]
pub struct Drawn {
    /// Bits of f32: centres of both ends, which are the same of a ball, radius, colour.
    markers: Shown<[u32; 11]>,
    /// Bits of f32: position, height, colour.
    labels: Shown<(Arc<str>, [u32; 8])>,
}

impl Drawn {
    /// Shows what is drawn from a frame on, in the place of what was shown from there on before.
    pub fn show(&mut self, frame: usize, sketch: &Sketch) {
        self.markers.show(frame, sketch.markers.iter().map(bits_of_marker));
        self.labels.show(frame, sketch.labels.iter().map(bits_of_label));
    }

    /// The markers of so many frames, thirteen f32 each, as `docs/replay-format.md` has them.
    pub fn markers(&self, frames: usize) -> Vec<u8> {
        let row = |(bits, life): (&[u32; 11], [usize; 2])| {
            let numbers = life.map(|frame| (frame as f32).to_bits()).into_iter().chain(*bits);
            numbers.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
        };
        self.markers.until(frames).flat_map(row).collect()
    }

    /// The texts of so many frames as `docs/replay-format.md` has them.
    pub fn labels(&self, frames: usize) -> Vec<Value> {
        let encoded = self.labels.until(frames).map(|((text, bits), life)| {
            let [x, y, z, height, rgba @ ..] = bits.map(f32::from_bits);
            json!({ "text": &**text, "pos": [x, y, z], "height": height, "rgba": rgba, "frames": life })
        });
        encoded.collect()
    }
}

fn bits_of_marker(marker: &Marker) -> [u32; 11] {
    let ([from, to], radius) = match marker.shape {
        MarkerShape::Ball { centre, radius } => ([centre; 2], radius),
        MarkerShape::Rod { ends, radius } => (ends, radius),
    };
    let [red, green, blue, opacity] = marker.rgba;
    let lengths = [from.x, from.y, from.z, to.x, to.y, to.z, radius].map(|x| x as f32);
    let [a, b, c, d, e, f, radius] = lengths;
    [a, b, c, d, e, f, radius, red, green, blue, opacity].map(f32::to_bits)
}

fn bits_of_label(label: &Label) -> (Arc<str>, [u32; 8]) {
    let [x, y, z] = label.position.to_array().map(|x| x as f32);
    let [red, green, blue, opacity] = label.rgba;
    (label.text.clone(), [x, y, z, label.height as f32, red, green, blue, opacity].map(f32::to_bits))
}

/// Things of one kind, each with the first frame that shows it and the first that does not any more.
#[derive(Debug)]
struct Shown<T> {
    all: Vec<(T, [usize; 2])>,
    /// Places in `all` of those that are shown now.
    now: BTreeMap<T, Vec<usize>>,
}

impl<T> Default for Shown<T> {
    fn default() -> Self {
        Self { all: Vec::new(), now: BTreeMap::new() }
    }
}

impl<T: Ord + Clone> Shown<T> {
    fn show(&mut self, frame: usize, things: impl Iterator<Item = T>) {
        let mut before = std::mem::take(&mut self.now);
        for thing in things {
            let place = before.get_mut(&thing).and_then(Vec::pop).unwrap_or_else(|| {
                self.all.push((thing.clone(), [frame, usize::MAX]));
                self.all.len() - 1
            });
            self.now.entry(thing).or_default().push(place);
        }
        for place in before.into_values().flatten() {
            self.all[place].1[1] = frame;
        }
    }

    /// What the frames before this one show.
    fn until(&self, frames: usize) -> impl Iterator<Item = (&T, [usize; 2])> {
        let cut = self.all.iter().map(move |(thing, [first, end])| (thing, [*first, *end.min(&frames)]));
        cut.filter(|(_, [first, end])| first < end)
    }
}

#[cfg(test)]
mod tests {
    use spatial::Vec3;

    use super::*;

    fn balls(places: &[f64]) -> Sketch {
        let ball = |x: &f64| Marker {
            shape: MarkerShape::Ball { centre: Vec3::new(*x, 0.0, 0.0), radius: 0.1 },
            rgba: [1.0; 4],
        };
        let label = |x: &f64| Label {
            text: x.to_string().into(),
            position: Vec3::new(*x, 0.0, 0.0),
            height: 0.1,
            rgba: [1.0; 4],
        };
        Sketch { markers: places.iter().map(ball).collect(), labels: places.iter().map(label).collect() }
    }

    #[test]
    fn each_is_shown_while_it_was_there() {
        let mut drawn = Drawn::default();
        drawn.show(0, &balls(&[1.0, 2.0, 2.0]));
        drawn.show(3, &balls(&[2.0, 3.0]));
        // Looked at again before the next frame: what counts is what there is at last.
        drawn.show(3, &balls(&[2.0, 4.0]));
        drawn.show(9, &balls(&[]));
        let lives: Vec<(f32, [usize; 2])> =
            drawn.markers.until(5).map(|(bits, life)| (f32::from_bits(bits[0]), life)).collect();
        assert_eq!(lives, [(1.0, [0, 3]), (2.0, [0, 3]), (2.0, [0, 5]), (4.0, [3, 5])]);
        let texts: Vec<String> = drawn.labels(20).iter().map(|label| label["frames"].to_string()).collect();
        assert_eq!(texts, ["[0,3]", "[0,3]", "[0,9]", "[3,9]"]);
        assert_eq!(drawn.markers(20).len(), 4 * 13 * 4);
        assert!(Drawn::default().markers(20).is_empty());
    }
}
