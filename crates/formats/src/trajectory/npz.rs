//! NPZ: a ZIP archive of NPY arrays, stored without compression.
//!
//! NPY: numpy's *NEP 1 — A Simple File Format for NumPy Arrays*, version 1.0, little-endian, C order. The archive is that of `rawzip`, which
//! depends on nothing (the crate `zip` brings four others, whatever its features). It goes out front to back, into files, pipes or memory, without a date: equal
//! arrays make equal files.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rawzip::{ErrorKind, ZipArchiveWriter};

/// Elements that are converted to bytes at a time.
const CHUNK: usize = 8192;

/// An array that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// The file cannot be created or written.
    #[error("cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The data do not fill the shape.
    #[error("array {name:?}: {found} elements: expected {expected} for the shape {shape:?}")]
    Shape {
        /// The array.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The number of elements of such an array.
        expected: usize,
        /// Elements that came.
        found: usize,
    },
    /// The name is empty, too long, taken, or has a separator of paths or drives in it.
    #[error("array {name:?}: expected a new name of 1 to 1000 bytes without slashes and colons")]
    Name {
        /// The name.
        name: String,
    },
}

/// Writes arrays one after another; [`NpzWriter::finish`] completes the archive.
///
/// ```
/// use sapwood_formats::trajectory::NpzWriter;
/// let mut npz = NpzWriter::new(Vec::new());
/// npz.array_f64("time", &[3], &[0.0, 0.1, 0.2])?;
/// npz.array_f64("q", &[3, 2], &[0.0, 0.0, 0.1, -0.1, 0.2, -0.2])?;
/// let bytes = npz.finish()?;
/// assert_eq!(&bytes[..2], b"PK");
/// # Ok::<(), sapwood_formats::trajectory::NpzError>(())
/// ```
#[derive(Debug)]
pub struct NpzWriter<W: Write> {
    archive: ZipArchiveWriter<W>,
    names: Vec<String>,
}

impl From<rawzip::Error> for NpzError {
    fn from(error: rawzip::Error) -> Self {
        Self::Io(match error.into_kind() {
            ErrorKind::IO(error) => error,
            other => std::io::Error::other(rawzip::Error::from(other)),
        })
    }
}

impl NpzWriter<BufWriter<File>> {
    /// Creates the file, or empties the one that is there.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path) -> Result<Self, NpzError> {
        Ok(Self::new(BufWriter::new(File::create(path)?)))
    }
}

impl<W: Write> NpzWriter<W> {
    /// Writes the archive to `out`.
    pub fn new(out: W) -> Self {
        Self { archive: ZipArchiveWriter::new(out), names: Vec::new() }
    }

    /// Adds an array of `f64`, the last index of `shape` running fastest.
    ///
    /// # Errors
    /// When the data do not fill the shape, the name is taken or odd, or writing fails.
    pub fn array_f64(&mut self, name: &str, shape: &[usize], data: &[f64]) -> Result<(), NpzError> {
        self.array(name, "<f8", shape, data, f64::to_le_bytes)
    }

    /// Adds an array of `u32`.
    ///
    /// # Errors
    /// As [`NpzWriter::array_f64`].
    pub fn array_u32(&mut self, name: &str, shape: &[usize], data: &[u32]) -> Result<(), NpzError> {
        self.array(name, "<u4", shape, data, u32::to_le_bytes)
    }

    /// Adds an array of strings, padded with zeros to the longest (numpy `U`, four bytes a character).
    ///
    /// # Errors
    /// As [`NpzWriter::array_f64`].
    pub fn array_str(&mut self, name: &str, data: &[&str]) -> Result<(), NpzError> {
        // numpy has no strings of length 0.
        let length = data.iter().map(|s| s.chars().count()).max().unwrap_or(0).max(1);
        let padded = |s: &&str| s.chars().map(u32::from).chain(std::iter::repeat(0)).take(length).collect::<Vec<_>>();
        let characters: Vec<u32> = data.iter().flat_map(padded).collect();
        self.entry(name, &npy_header(&format!("<U{length}"), &[data.len()]), &characters, u32::to_le_bytes)
    }

    /// Writes the directory of the archive and returns what it was written to.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(self) -> Result<W, NpzError> {
        let mut out = self.archive.finish()?;
        out.flush()?;
        Ok(out)
    }

    fn array<T: Copy, const N: usize>(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        data: &[T],
        to_bytes: impl Fn(T) -> [u8; N],
    ) -> Result<(), NpzError> {
        let expected = shape.iter().product();
        if data.len() != expected {
            let (name, shape) = (name.into(), shape.into());
            return Err(NpzError::Shape { name, shape, expected, found: data.len() });
        }
        self.entry(name, &npy_header(descr, shape), data, to_bytes)
    }

    fn entry<T: Copy, const N: usize>(
        &mut self,
        name: &str,
        header: &[u8],
        data: &[T],
        to_bytes: impl Fn(T) -> [u8; N],
    ) -> Result<(), NpzError> {
        let is_taken = self.names.iter().any(|known| known == name);
        if is_taken || name.is_empty() || name.len() > 1000 || name.contains(['/', '\\', ':']) {
            return Err(NpzError::Name { name: name.into() });
        }
        let (mut entry, config) = self.archive.new_file(format!("{name}.npy")).start()?;
        let mut out = config.wrap(&mut entry);
        out.write_all(header)?;
        let mut bytes = Vec::with_capacity(N * CHUNK.min(data.len()));
        for chunk in data.chunks(CHUNK) {
            bytes.clear();
            bytes.extend(chunk.iter().flat_map(|&x| to_bytes(x)));
            out.write_all(&bytes)?;
        }
        let (_, sums) = out.finish()?;
        entry.finish(sums)?;
        self.names.push(name.into());
        Ok(())
    }
}

/// Magic, version and a Python dictionary, padded so that the data begin at a multiple of 64 bytes.
fn npy_header(descr: &str, shape: &[usize]) -> Vec<u8> {
    // A tuple of one needs its comma.
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut dictionary = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    let unpadded = 10 + dictionary.len() + 1;
    dictionary.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    dictionary.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((dictionary.len() as u16).to_le_bytes());
    header.extend(dictionary.into_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_of_an_array_is_aligned_and_names_type_and_shape() {
        for (shape, text) in [(&[][..], "()"), (&[7][..], "(7,)"), (&[2, 3][..], "(2, 3,)")] {
            let header = npy_header("<f8", shape);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(usize::from(u16::from_le_bytes([header[8], header[9]])), header.len() - 10);
            let dictionary = std::str::from_utf8(&header[10..]).unwrap();
            assert!(dictionary.starts_with(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {text}, }}")));
            assert!(dictionary.ends_with('\n'));
        }
    }

    /// The bytes of each file in an archive, after a check of their checksums.
    fn files(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
        let archive = rawzip::ZipArchive::from_slice(archive).unwrap();
        let mut files = Vec::new();
        let mut entries = archive.entries();
        while let Some(entry) = entries.next_entry().unwrap() {
            assert_eq!(entry.compression_method(), rawzip::CompressionMethod::STORE);
            let name = entry.file_path().try_normalize().unwrap().as_str().to_owned();
            let stored = archive.get_entry(entry.wayfinder()).unwrap();
            let mut bytes = Vec::new();
            std::io::copy(&mut stored.verifying_reader(stored.data()), &mut bytes).unwrap();
            files.push((name, bytes));
        }
        files
    }

    #[test]
    fn archive_holds_the_bytes_of_the_arrays_under_their_names() {
        let mut npz = NpzWriter::new(Vec::new());
        npz.array_u32("n", &[2], &[1, 0x0403_0201]).unwrap();
        npz.array_str("ä", &["a"]).unwrap();
        let files = files(&npz.finish().unwrap());
        let [(n, numbers), (a, text)] = &files[..] else { panic!("{files:?}") };
        assert_eq!((n.as_str(), a.as_str()), ("n.npy", "ä.npy"));
        assert_eq!(numbers[..128], npy_header("<u4", &[2]));
        assert_eq!(numbers[128..], [1, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(text[128..], [b'a', 0, 0, 0]);
    }

    #[test]
    fn long_arrays_are_written_in_chunks_without_gaps() {
        let data: Vec<f64> = (0..CHUNK + 3).map(|i| i as f64).collect();
        let mut npz = NpzWriter::new(Vec::new());
        npz.array_f64("x", &[CHUNK + 3], &data).unwrap();
        let files = files(&npz.finish().unwrap());
        let back = files[0].1[128..].as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b));
        assert!(back.eq(data));
    }

    #[test]
    fn data_must_fill_the_shape() {
        let mut npz = NpzWriter::new(Vec::new());
        let error = npz.array_f64("q", &[2, 3], &[0.0; 5]).unwrap_err();
        assert_eq!(error.to_string(), "array \"q\": 5 elements: expected 6 for the shape [2, 3]");
    }

    #[test]
    fn names_are_new_and_no_paths() {
        let mut npz = NpzWriter::new(Vec::new());
        npz.array_f64("q", &[0], &[]).unwrap();
        for name in ["q", "", "../q", "c:q"] {
            assert!(matches!(npz.array_f64(name, &[0], &[]), Err(NpzError::Name { .. })), "{name:?}");
        }
    }
}
