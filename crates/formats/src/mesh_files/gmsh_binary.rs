//! Binary files of Gmsh 2.2 and 4.1, as the text that says the same.

use std::fmt::Write as _;

/// The text of a binary file; none of what is no binary file of Gmsh.
///
/// # Errors
/// When the file breaks off, or has elements of another kind than `nodes_of` knows, which tells how many nodes one has.
pub(super) fn text(bytes: &[u8], nodes_of: impl Fn(u32) -> Option<usize>) -> Option<Result<String, String>> {
    let rest = bytes.strip_prefix(b"$MeshFormat")?;
    let line = rest.trim_ascii_start().split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let (version, is_binary) = (words.next()?, words.next()? == "1");
    let mut reader = Reader { bytes, at: 0, text: format!("$MeshFormat\n{version} 0 8\n$EndMeshFormat\n") };
    is_binary.then(|| reader.sections(version.starts_with('4'), nodes_of).map(|()| reader.text))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    text: String,
}

impl Reader<'_> {
    fn sections(&mut self, is_new: bool, nodes_of: impl Fn(u32) -> Option<usize>) -> Result<(), String> {
        self.find("$MeshFormat\n")?;
        self.find("\n")?;
        if self.int()? != 1 {
            return Err("a binary file with the highest byte first: expected the lowest one first".into());
        }
        self.find("$Nodes\n")?;
        self.text.push_str("$Nodes\n");
        if is_new {
            self.nodes_4()?
        } else {
            self.nodes_2()?
        }
        self.find("$Elements\n")?;
        self.text.push_str("$EndNodes\n$Elements\n");
        let count = |kind: i32| {
            let found = u32::try_from(kind).ok().and_then(&nodes_of);
            found.ok_or_else(|| format!("elements of type {kind}: expected tetrahedra or triangles"))
        };
        if is_new {
            self.elements_4(count)?
        } else {
            self.elements_2(count)?
        }
        self.text.push_str("$EndElements\n");
        Ok(())
    }

    fn nodes_2(&mut self) -> Result<(), String> {
        for _ in 0..self.count_in_text()? {
            let tag = self.int()?;
            self.put(tag);
            self.point()?;
        }
        Ok(())
    }

    fn nodes_4(&mut self) -> Result<(), String> {
        for _ in 0..self.header()? {
            let [dimension, tag, parametric] = [self.int()?, self.int()?, self.int()?];
            let count = self.long()?;
            let _ = writeln!(self.text, "{dimension} {tag} {parametric} {count}");
            for _ in 0..count {
                let tag = self.long()?;
                self.put(tag);
            }
            for _ in 0..count {
                self.point()?;
                for _ in 0..if parametric == 1 { dimension.clamp(0, 3) } else { 0 } {
                    let number = self.double()?;
                    self.put(number);
                }
            }
        }
        Ok(())
    }

    fn elements_2(&mut self, nodes_of: impl Fn(i32) -> Result<usize, String>) -> Result<(), String> {
        let (count, mut done) = (self.count_in_text()?, 0);
        while done < count {
            let [kind, following, tags] = [self.int()?, self.int()?, self.int()?];
            let numbers = nodes_of(kind)? + tags.max(0) as usize;
            for _ in 0..following {
                let tag = self.int()?;
                let _ = write!(self.text, "{tag} {kind} {tags} ");
                for _ in 0..numbers {
                    let number = self.int()?;
                    self.put(number);
                }
            }
            done += following.max(1) as usize;
        }
        Ok(())
    }

    fn elements_4(&mut self, nodes_of: impl Fn(i32) -> Result<usize, String>) -> Result<(), String> {
        for _ in 0..self.header()? {
            let [dimension, tag, kind] = [self.int()?, self.int()?, self.int()?];
            let count = self.long()?;
            let _ = writeln!(self.text, "{dimension} {tag} {kind} {count}");
            let nodes = nodes_of(kind)?;
            for _ in 0..count {
                for _ in 0..=nodes {
                    let number = self.long()?;
                    self.put(number);
                }
            }
        }
        Ok(())
    }

    /// Four numbers, of which the first is that of the blocks.
    fn header(&mut self) -> Result<u64, String> {
        let numbers = [self.long()?, self.long()?, self.long()?, self.long()?];
        numbers.iter().for_each(|number| self.put(*number));
        Ok(numbers[0])
    }

    fn point(&mut self) -> Result<(), String> {
        for _ in 0..3 {
            let x = self.double()?;
            self.put(x);
        }
        self.text.push('\n');
        Ok(())
    }

    fn put(&mut self, number: impl std::fmt::Display) {
        let _ = write!(self.text, "{number} ");
    }

    /// A number that stands in a line of text.
    fn count_in_text(&mut self) -> Result<usize, String> {
        let start = self.at;
        self.find("\n")?;
        let line = String::from_utf8_lossy(&self.bytes[start..self.at]);
        let count = line.trim().parse().map_err(|_| format!("byte {start}: expected a number of nodes or elements"))?;
        let _ = writeln!(self.text, "{count}");
        Ok(count)
    }

    /// Goes on behind the next place of these bytes.
    fn find(&mut self, what: &str) -> Result<(), String> {
        let found = self.bytes[self.at..].windows(what.len()).position(|window| window == what.as_bytes());
        let found = found.ok_or_else(|| format!("breaks off: expected `{}`", what.trim()))?;
        self.at += found + what.len();
        Ok(())
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let found = self.bytes[self.at..].first_chunk().copied();
        self.at += N;
        found.ok_or_else(|| "breaks off: expected more numbers".into())
    }

    fn int(&mut self) -> Result<i32, String> {
        self.take().map(i32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }

    fn double(&mut self) -> Result<f64, String> {
        self.take().map(f64::from_le_bytes)
    }
}
