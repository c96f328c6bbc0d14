//! Changes of texts and bytes.

use support::SplitMix64;

/// What stands in for words and numbers.
const REPLACEMENTS: [&str; 24] = [
    "nan",
    "-1",
    "0",
    "7",
    "0.01",
    "1e308",
    "-1e308",
    "1e-308",
    "99999999999",
    "inf",
    "x",
    "",
    "-0",
    "1e-9",
    "1e9",
    "2",
    "0 0 0",
    "1 1",
    "4294967296",
    "18446744073709551615",
    "true",
    "false",
    "1 0 0 0",
    "&a;",
];

/// What breaks the structure.
const SNIPPETS: [&str; 16] = [
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE a [<!ENTITY a \"&a;\">]>",
    "&",
    "&#0;",
    "&#xD800;",
    "<a",
    "/>",
    "\0",
    "\"",
    "'",
    "<include file=\"/dev/zero\"/>",
    "<replicate count=\"100\">",
    "\u{feff}",
];

/// The text cut into words, and what is between them.
fn tokens(text: &str) -> Vec<&str> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-' || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| in_word(c) != in_word(first)).unwrap_or(rest.len());
        let (token, tail) = rest.split_at(end);
        tokens.push(token);
        rest = tail;
    }
    tokens
}

/// `text` with one or a few changes, with words of `other` among them.
pub fn text(text: &str, other: &str, random: &mut SplitMix64) -> String {
    let (mut words, others) = (tokens(text), tokens(other));
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    for _ in 0..1 + random.below(4) {
        if words.is_empty() || others.is_empty() {
            break;
        }
        let numbers: Vec<usize> = (0..words.len()).filter(|&k| is_number(words[k])).collect();
        let anywhere = random.below(words.len());
        let number = if numbers.is_empty() { anywhere } else { numbers[random.below(numbers.len())] };
        match random.below(12) {
            0..5 => words[number] = REPLACEMENTS[random.below(REPLACEMENTS.len())],
            5 => words[anywhere] = REPLACEMENTS[random.below(REPLACEMENTS.len())],
            6 => words[anywhere] = others[random.below(others.len())],
            7 => words[anywhere] = words[number],
            8 => words.insert(anywhere, SNIPPETS[random.below(SNIPPETS.len())]),
            9 => {
                let end = (anywhere + random.below(20)).min(words.len());
                words.drain(anywhere..end);
            }
            10 => repeat_element(&mut words, anywhere, random),
            _ => words.truncate(anywhere),
        }
    }
    words.concat()
}

/// Repeats what stands between two tags, up to a hundred times.
fn repeat_element(words: &mut Vec<&str>, at: usize, random: &mut SplitMix64) {
    let begins = |k: &usize| words[*k].contains('<');
    let Some(first) = (at..words.len()).find(begins) else { return };
    let Some(end) = (first + 1..words.len()).filter(begins).nth(random.below(12)) else { return };
    let piece = words[first..end].to_vec();
    let times = [1, 1, 2, 10, 100][random.below(5)];
    words.splice(first..first, piece.repeat(times));
}

/// Bytes with one or a few changes.
pub fn bytes(mut bytes: Vec<u8>, random: &mut SplitMix64) -> Vec<u8> {
    for _ in 0..random.below(5) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 0xff, 0x7f, 0x80, b' ', b'-', b'9', b'\n'][random.below(8)],
            2 => {
                let word = [u32::MAX, i32::MAX as u32, 0, 1 << 31, 65536, f32::NAN.to_bits(), f32::MAX.to_bits()];
                let word = word[random.below(word.len())].to_le_bytes();
                bytes.iter_mut().skip(at & !3).zip(word).for_each(|(byte, new)| *byte = new);
            }
            3 => bytes.truncate(at),
            4 => {
                let piece = bytes[at..bytes.len().min(at + random.below(100))].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            5 => {
                let end = bytes.len().min(at + random.below(50));
                bytes.drain(at..end);
            }
            _ => {
                // A word of a text by another.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if text.len() == bytes.len() {
                    bytes = self::text(&text, &text, random).into_bytes();
                }
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_mutants_again() {
        let seed = "<mujoco><worldbody><body pos=\"1 2 3\"><geom size=\".1\"/></body></worldbody></mujoco>";
        let mutants = || {
            let mut random = SplitMix64(5);
            (0..100).map(|_| text(seed, seed, &mut random)).collect::<Vec<_>>()
        };
        assert_eq!(mutants(), mutants());
        assert!(mutants().iter().filter(|mutant| *mutant != seed).count() > 90);
        assert_eq!(tokens(seed).concat(), seed);
    }
}
