//! Colours of a scale, from pale yellow to dark red: `YlOrRd` of ColorBrewer, which the colour-blind can read. The replay page has the
//! same (`web/src/scene/colour-scale.ts`).

const COLOURS: [u32; 9] =
    [0xff_ffcc, 0xff_eda0, 0xfe_d976, 0xfe_b24c, 0xfd_8d3c, 0xfc_4e2a, 0xe3_1a1c, 0xbd_0026, 0x80_0026];

/// The colour at a place from 0 to 1 of the scale: red, green, blue from 0 to 1. Places beyond have the colours of the ends.
#[must_use]
pub fn scale_colour(place: f64) -> [f32; 3] {
    let last = COLOURS.len() - 1;
    // A NaN has the colour of 0.
    let at = (place * last as f64).max(0.0).min(last as f64);
    let below = (at as usize).min(last - 1);
    let part = (at - below as f64) as f32;
    let channel = |colour: u32, k: usize| (colour >> (16 - 8 * k) & 0xff) as f32 / 255.0;
    std::array::from_fn(|k| (1.0 - part) * channel(COLOURS[below], k) + part * channel(COLOURS[below + 1], k))
}
