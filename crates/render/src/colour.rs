//! Colours.

/// Red, green, blue in 0..=1.
pub(crate) type Colour = [f32; 3];

/// From `a` at 0 to `b` at 1.
pub(crate) fn mix(a: Colour, b: Colour, t: f32) -> Colour {
    std::array::from_fn(|k| a[k] + t * (b[k] - a[k]))
}
