//! Text of model files, and what files that are none turn out to be.

use std::borrow::Cow;

/// The text of a model file: UTF-8, in which bytes that are none stand in comments and names of authors (elsewhere the readers will stumble
/// over them). Of a file of another kind: what it is, and what to do.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    match kind(bytes) {
        Some(what) => Err(what),
        None => Ok(lossy(bytes)),
    }
}

/// The text of bytes, whatever of them is not UTF-8 replaced. `String::from_utf8_lossy` looks at them one by one where all are right, too.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

const ENCODING: &str = "is text in UTF-16 or UTF-32: expected UTF-8; save it in that encoding";
const KINDS: [(&[u8], &str); 5] = [
    (b"PK\x03\x04", "is a ZIP archive (.zip, .mjz or .usdz): expected a model file; unpack it and load what is in it"),
    (b"\x1f\x8b", "is compressed (gzip): expected a model file; unpack it"),
    (b"PXR-USDC", USD),
    (b"#usda", USD),
    // MuJoCo's binary models begin with 54321.
    (
        b"\x31\xd4\0\0",
        "is a compiled model of MuJoCo (.mjb): expected the MJCF file that it was made from, or that which mujoco.mj_saveLastXML writes",
    ),
];
const USD: &str = "is a USD scene: expected MJCF, URDF or SDFormat; convert it with the tool that made it";

/// What to do about a text that begins with the mark of UTF-16 or UTF-32, or with letters of ASCII in one of them; else None.
pub(crate) fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    let is_letter = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let is_wide = match *bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, a, 0, b, ..] | [a, 0, b, 0, ..] if b != 0 => is_letter(a) && is_letter(b),
        [0, 0, 0, a, ..] | [a, 0, 0, 0, ..] => is_letter(a),
        _ => false,
    };
    is_wide.then_some(ENCODING)
}

fn kind(bytes: &[u8]) -> Option<&'static str> {
    let of_its_beginning = KINDS.into_iter().find(|(begin, _)| bytes.starts_with(begin)).map(|(_, what)| what);
    of_its_beginning.or_else(|| other_encoding(bytes))
}
