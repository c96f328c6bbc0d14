//! What episodes know beside the states of their worlds, as bytes: to go on elsewhere, or later, with the same bits.

/// The first bytes; the last of them is the version.
const MAGIC: [u8; 8] = *b"SWENVS\0\x01";

/// Why bytes are not the memory of episodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the memory has {found}: expected {expected}, of the same task, options and number of worlds")]
pub struct MemoryError {
    /// What came.
    pub found: Content,
    /// What was expected.
    pub expected: Content,
}

/// What bytes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Something else.
    Unknown,
    /// Numbers, words and flags of episodes, in bytes.
    Episodes(usize),
}

impl std::fmt::Display for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => f.write_str("no episodes"),
            Self::Episodes(bytes) => write!(f, "episodes in {bytes} bytes"),
        }
    }
}

/// Numbers, words and flags as bytes.
pub(crate) fn pack(numbers: &[f64], words: impl ExactSizeIterator<Item = u64>, flags: [&[bool]; 2]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size(numbers.len(), words.len(), flags.map(<[bool]>::len)));
    bytes.extend_from_slice(&MAGIC);
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    words.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    flags.iter().for_each(|flags| bytes.extend(flags.iter().map(|flag| u8::from(*flag))));
    bytes
}

/// What [`pack`] made, back to where it was. With an error nothing has changed.
pub(crate) fn unpack<'a>(
    bytes: &[u8],
    numbers: &mut [f64],
    words: impl ExactSizeIterator<Item = &'a mut u64>,
    flags: [&mut [bool]; 2],
) -> Result<(), MemoryError> {
    let expected = size(numbers.len(), words.len(), [flags[0].len(), flags[1].len()]);
    let is_ours = bytes.starts_with(&MAGIC);
    if !is_ours || bytes.len() != expected {
        let found = if is_ours { Content::Episodes(bytes.len()) } else { Content::Unknown };
        return Err(MemoryError { found, expected: Content::Episodes(expected) });
    }
    let mut rest = &bytes[MAGIC.len()..];
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at(count);
        rest = left;
        taken
    };
    let word = |bytes: &[u8]| u64::from_le_bytes(std::array::from_fn(|k| bytes[k]));
    let (of_numbers, of_words) = (take(8 * numbers.len()), take(8 * words.len()));
    numbers.iter_mut().zip(of_numbers.chunks_exact(8)).for_each(|(to, from)| *to = f64::from_bits(word(from)));
    words.zip(of_words.chunks_exact(8)).for_each(|(to, from)| *to = word(from));
    for flags in flags {
        let from = take(flags.len());
        flags.iter_mut().zip(from).for_each(|(to, from)| *to = *from != 0);
    }
    Ok(())
}

fn size(numbers: usize, words: usize, flags: [usize; 2]) -> usize {
    MAGIC.len() + 8 * (numbers + words) + flags[0] + flags[1]
}
