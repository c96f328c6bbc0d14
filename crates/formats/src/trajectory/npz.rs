//! NPZ: a ZIP archive of NPY arrays, stored without compression.
//!
//! * NPY: numpy's *NEP 1 — A Simple File Format for NumPy Arrays*, version 1.0, little-endian, C order.
//! * ZIP: PKWARE's *.ZIP File Format Specification* (APPNOTE 6.3), with the 64-bit records always there, so that
//!   arrays of more than 4 GiB are no special case.
//!
//! Sizes and checksums are known before anything is written: the archive goes out front to back, into files, pipes or
//! memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::crc32::Crc32;

/// Version of the ZIP specification that readers need: 4.5, 64-bit records.
const VERSION: u16 = 45;
/// 1 January 1980, the zero of ZIP dates: equal arrays make equal files.
const DATE: u16 = 1 << 5 | 1;
/// Stands in 32-bit fields whose value is in a 64-bit record.
const IN_64: u32 = u32::MAX;
const IN_64_SHORT: u16 = u16::MAX;
/// Tag of the 64-bit record of an entry.
const TAG_64: u16 = 1;
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
    /// The name is empty, too long, taken, or has a path separator in it.
    #[error("array {name:?}: expected a new name of 1 to 1000 bytes without slashes")]
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
    out: W,
    /// Bytes written so far.
    position: u64,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Name of the file in the archive.
    file: String,
    crc: u32,
    size: u64,
    offset: u64,
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
        Self { out, position: 0, entries: Vec::new() }
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
    pub fn finish(mut self) -> Result<W, NpzError> {
        let directory = self.directory();
        self.write(&directory)?;
        self.out.flush()?;
        Ok(self.out)
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
        let file = format!("{name}.npy");
        let taken = self.entries.iter().any(|e| e.file == file);
        if taken || name.is_empty() || name.len() > 1000 || name.contains(['/', '\\']) {
            return Err(NpzError::Name { name: name.into() });
        }
        let mut bytes = Vec::with_capacity(N * CHUNK.min(data.len()));
        let mut for_chunks = |sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>| {
            data.chunks(CHUNK).try_for_each(|chunk| {
                bytes.clear();
                bytes.extend(chunk.iter().flat_map(|&x| to_bytes(x)));
                sink(&bytes)
            })
        };
        let mut crc = Crc32::new();
        crc.update(header);
        for_chunks(&mut |bytes| {
            crc.update(bytes);
            Ok(())
        })?;
        let size = header.len() as u64 + (N * data.len()) as u64;
        let entry = Entry { file, crc: crc.value(), size, offset: self.position };
        self.write(&entry.local_header())?;
        self.write(header)?;
        for_chunks(&mut |bytes| self.write(bytes))?;
        self.entries.push(entry);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// The central directory and the three records that end an archive.
    fn directory(&self) -> Vec<u8> {
        let mut d = Vec::new();
        self.entries.iter().for_each(|e| e.put_central_header(&mut d));
        let (start, size, count) = (self.position, d.len() as u64, self.entries.len() as u64);
        let record_64 = start + size;
        d.extend(b"PK\x06\x06");
        put_u64(&mut d, &[44]);
        put_u16(&mut d, &[VERSION, VERSION]);
        put_u32(&mut d, &[0, 0]);
        put_u64(&mut d, &[count, count, size, start]);
        d.extend(b"PK\x06\x07");
        put_u32(&mut d, &[0]);
        put_u64(&mut d, &[record_64]);
        put_u32(&mut d, &[1]);
        d.extend(b"PK\x05\x06");
        put_u16(&mut d, &[0, 0, IN_64_SHORT, IN_64_SHORT]);
        put_u32(&mut d, &[IN_64, IN_64]);
        put_u16(&mut d, &[0]);
        d
    }
}

impl Entry {
    fn local_header(&self) -> Vec<u8> {
        let mut h = b"PK\x03\x04".to_vec();
        self.put_common(&mut h, 20);
        h.extend(self.file.as_bytes());
        put_u16(&mut h, &[TAG_64, 16]);
        put_u64(&mut h, &[self.size, self.size]);
        h
    }

    fn put_central_header(&self, h: &mut Vec<u8>) {
        h.extend(b"PK\x01\x02");
        put_u16(h, &[VERSION]);
        self.put_common(h, 28);
        // No comment, first disk, no attributes.
        put_u16(h, &[0, 0, 0]);
        put_u32(h, &[0, IN_64]);
        h.extend(self.file.as_bytes());
        put_u16(h, &[TAG_64, 24]);
        put_u64(h, &[self.size, self.size, self.offset]);
    }

    /// What both headers say: flags (names in UTF-8), no compression, time and date, checksum, sizes, lengths.
    fn put_common(&self, h: &mut Vec<u8>, extra: u16) {
        put_u16(h, &[VERSION, 1 << 11, 0, 0, DATE]);
        put_u32(h, &[self.crc, IN_64, IN_64]);
        put_u16(h, &[self.file.len() as u16, extra]);
    }
}

fn put_u16(to: &mut Vec<u8>, values: &[u16]) {
    to.extend(values.iter().flat_map(|v| v.to_le_bytes()));
}

fn put_u32(to: &mut Vec<u8>, values: &[u32]) {
    to.extend(values.iter().flat_map(|v| v.to_le_bytes()));
}

fn put_u64(to: &mut Vec<u8>, values: &[u64]) {
    to.extend(values.iter().flat_map(|v| v.to_le_bytes()));
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
    put_u16(&mut header, &[dictionary.len() as u16]);
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

    #[test]
    fn archive_holds_the_bytes_of_the_array_under_its_name() {
        let mut npz = NpzWriter::new(Vec::new());
        npz.array_u32("n", &[2], &[1, 0x0403_0201]).unwrap();
        let bytes = npz.finish().unwrap();
        assert_eq!(&bytes[..4], b"PK\x03\x04");
        assert_eq!(&bytes[30..35], b"n.npy");
        // Local header, name, 64-bit record, header of the array, data.
        let data = 30 + 5 + 20 + 128;
        assert_eq!(bytes[data - 1], b'\n');
        assert_eq!(bytes[data..data + 8], [1, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(&bytes[data + 8..data + 12], b"PK\x01\x02");
        let mut crc = Crc32::new();
        crc.update(&bytes[30 + 5 + 20..data + 8]);
        assert_eq!(bytes[14..18], crc.value().to_le_bytes());
        assert_eq!(bytes[bytes.len() - 22..][..4], *b"PK\x05\x06");
    }

    #[test]
    fn long_arrays_are_written_in_chunks_without_gaps() {
        let data: Vec<f64> = (0..CHUNK + 3).map(|i| i as f64).collect();
        let mut npz = NpzWriter::new(Vec::new());
        npz.array_f64("x", &[CHUNK + 3], &data).unwrap();
        let bytes = npz.finish().unwrap();
        let start = 30 + 5 + 20 + 128;
        let back: Vec<f64> =
            bytes[start..start + 8 * data.len()].as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        assert_eq!(back, data);
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
        for name in ["q", "", "../q"] {
            assert!(matches!(npz.array_f64(name, &[0], &[]), Err(NpzError::Name { .. })), "{name:?}");
        }
    }
}
