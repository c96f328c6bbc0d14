//! Tetrahedral meshes from files: Gmsh 2.2 and 4.1 (text or binary), legacy VTK as text.
//!
//! Of a file only its tetrahedra are read, with four nodes or ten. Nodes that belong to none of them are left out, as Gmsh writes the corners of
//! triangles and points, too. The crate `mshio` reads Gmsh 4.1 alone, and brings some 20 others.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

use deformable::{Order, TetMesh};
use spatial::Vec3;

use super::{MeshFileError, gmsh_binary};
use crate::limits::{MAX_ASSET_FILE_BYTES, MAX_MESH_VERTICES, read_file};
use crate::nearby;
use crate::text::{lossy, other_encoding};
use crate::xml::shortened;

/// Nodes and tetrahedra of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeMesh {
    /// Nodes, in the order of the file, m.
    pub nodes: Vec<Vec3<f64>>,
    /// Nodes of an element: 4, or 10 with those on the edges 01, 12, 02, 03, 13, 23.
    pub nodes_per_element: usize,
    /// The nodes of all elements, one after the other.
    pub elements: Vec<u32>,
}

/// Gmsh's type of a tetrahedron of 4 and of 10 nodes, and VTK's.
const GMSH: [(u32, usize); 2] = [(4, 4), (11, 10)];
const VTK: [(u32, usize); 2] = [(10, 4), (24, 10)];
/// Gmsh's type of a triangle of 3 nodes.
const GMSH_TRIANGLE: [(u32, usize); 1] = [(2, 3)];

/// Gmsh's number of nodes of points, lines and faces, by type. They mark the boundary and are left out.
const GMSH_FLAT: [(u32, usize); 10] =
    [(1, 2), (2, 3), (3, 4), (8, 3), (9, 6), (10, 9), (15, 1), (16, 8), (21, 10), (26, 4)];
/// VTK's types of them.
const VTK_FLAT: [u32; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 22, 23, 28, 30];

/// Reads a tetrahedral mesh: `.msh` (Gmsh 2.2 or 4.1) or `.vtk` (legacy, text, an unstructured grid).
///
/// # Errors
/// When the file cannot be read, breaks off, breaks the rules of its format, or has no tetrahedron; the error names the line.
pub fn read(path: &Path) -> Result<VolumeMesh, MeshFileError> {
    let unreadable = |source| MeshFileError::Unreadable { path: path.into(), source, hint: nearby::hint(path) };
    let bytes = read_file(path, MAX_ASSET_FILE_BYTES).map_err(unreadable)?;
    parse(&bytes).map_err(|what| MeshFileError::malformed(path, what))
}

/// Reads a file as [`read`] does, or one of triangles of three nodes if it has no tetrahedra.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_any(path: &Path) -> Result<VolumeMesh, MeshFileError> {
    let unreadable = |source| MeshFileError::Unreadable { path: path.into(), source, hint: nearby::hint(path) };
    let bytes = read_file(path, MAX_ASSET_FILE_BYTES).map_err(unreadable)?;
    let flat = || parse_as(&bytes, &GMSH_TRIANGLE).ok().filter(|mesh| !mesh.elements.is_empty());
    parse(&bytes).or_else(|what| flat().ok_or_else(|| MeshFileError::malformed(path, what)))
}

fn parse(bytes: &[u8]) -> Result<VolumeMesh, String> {
    let mesh = parse_as(bytes, &GMSH)?;
    if mesh.elements.is_empty() {
        return Err("no tetrahedra: expected at least one, of four or ten nodes".into());
    }
    Ok(mesh)
}

/// Reads a file, of Gmsh the elements of these kinds; the format is told by its first line.
fn parse_as(bytes: &[u8], kinds: &'static [(u32, usize)]) -> Result<VolumeMesh, String> {
    let count = |kind: u32| GMSH.iter().chain(&GMSH_FLAT).find(|known| known.0 == kind).map(|known| known.1);
    let text = match gmsh_binary::text(bytes, count) {
        Some(text) => text?.into(),
        None => match other_encoding(bytes) {
            Some(what) => return Err(what.into()),
            None => lossy(bytes),
        },
    };
    let mut words = Words::new(&text);
    let mesh = if text.starts_with("$MeshFormat") {
        gmsh(&mut words, kinds)?
    } else if text.starts_with("# vtk DataFile") {
        vtk(&mut words)?
    } else {
        return Err("line 1: expected `$MeshFormat` of Gmsh or `# vtk DataFile` of VTK".into());
    };
    Ok(mesh.without_loose_nodes())
}

impl VolumeMesh {
    /// The mesh; elements are turned so that their volume is positive, in whichever order their nodes came.
    ///
    /// # Errors
    /// As [`TetMesh::new`].
    pub fn into_mesh(self) -> Result<TetMesh, deformable::Error> {
        let Self { nodes, nodes_per_element, mut elements } = self;
        let order = if nodes_per_element == 10 { Order::Quadratic } else { Order::Linear };
        for corners in elements.chunks_exact_mut(nodes_per_element) {
            let at = |k: usize| nodes.get(corners[k] as usize).copied();
            if let (Some(a), Some(b), Some(c), Some(d)) = (at(0), at(1), at(2), at(3))
                && (b - a).cross(c - a).dot(d - a) < 0.0
            {
                corners.swap(2, 3);
                if order == Order::Quadratic {
                    // The edges 12 and 13, 02 and 03.
                    corners.swap(5, 8);
                    corners.swap(6, 7);
                }
            }
        }
        TetMesh::new(order, nodes, elements)
    }

    fn without_loose_nodes(mut self) -> Self {
        let mut new = vec![u32::MAX; self.nodes.len()];
        self.elements.iter().for_each(|node| new[*node as usize] = 0);
        for (index, new) in new.iter_mut().filter(|new| **new == 0).enumerate() {
            *new = index as u32;
        }
        self.elements.iter_mut().for_each(|node| *node = new[*node as usize]);
        let mut kept = new.iter().map(|new| *new != u32::MAX);
        self.nodes.retain(|_| kept.next().unwrap_or(false));
        self
    }
}

/// The words of a text, with their lines.
struct Words<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    words: std::str::SplitWhitespace<'a>,
    line: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: text.lines().enumerate(), words: "".split_whitespace(), line: 0 }
    }

    fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some(word) = self.words.next() {
                return Some(word);
            }
            let (line, text) = self.lines.next()?;
            (self.line, self.words) = (line + 1, text.split_whitespace());
        }
    }

    /// The rest of the present line is not looked at.
    fn skip_line(&mut self) {
        self.words = "".split_whitespace();
    }

    fn error(&self, what: impl AsRef<str>) -> String {
        format!("line {}: {}", self.line, what.as_ref())
    }

    fn number<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let Some(word) = self.next() else { return Err(self.error(format!("the file ends here: expected {what}"))) };
        word.parse().map_err(|_| self.error(format!("\"{}\": expected {what}", shortened(word))))
    }

    fn count(&mut self, what: &str, limit: usize) -> Result<usize, String> {
        let count = self.number::<usize>(what)?;
        if count <= limit { Ok(count) } else { Err(self.error(format!("{count}: expected at most {limit} of {what}"))) }
    }

    fn skip(&mut self, count: usize, what: &str) -> Result<(), String> {
        (0..count).try_for_each(|_| self.number::<f64>(what).map(drop))
    }

    fn point(&mut self) -> Result<Vec3<f64>, String> {
        let mut x = [0.0; 3];
        for x in &mut x {
            *x = self.number::<f64>("a coordinate, m")?;
            if !x.is_finite() {
                return Err(self.error(format!("{x}: expected a finite coordinate")));
            }
        }
        Ok(x.into())
    }

    /// Goes on after the next `name`.
    fn find(&mut self, name: &str) -> Result<(), String> {
        while let Some(word) = self.next() {
            if word == name {
                return Ok(());
            }
        }
        Err(self.error(format!("the file ends without `{name}`")))
    }
}

/// Elements as they come, by nodes of the file.
struct Elements {
    kinds: &'static [(u32, usize)],
    nodes_per_element: usize,
    elements: Vec<u32>,
}

impl Elements {
    fn of(kinds: &'static [(u32, usize)]) -> Self {
        Self { kinds, nodes_per_element: 4, elements: Vec::new() }
    }

    /// How many nodes an element of the kind has if it is a tetrahedron.
    fn nodes_of(&self, kind: u32) -> Option<usize> {
        self.kinds.iter().find(|known| known.0 == kind).map(|known| known.1)
    }

    fn push(&mut self, words: &Words<'_>, nodes: &[u32]) -> Result<(), String> {
        if !self.elements.is_empty() && self.nodes_per_element != nodes.len() {
            return Err(words.error("tetrahedra of four and of ten nodes in one mesh: expected one kind"));
        }
        self.nodes_per_element = nodes.len();
        self.elements.extend_from_slice(nodes);
        Ok(())
    }
}

fn gmsh(words: &mut Words<'_>, kinds: &'static [(u32, usize)]) -> Result<VolumeMesh, String> {
    words.find("$MeshFormat")?;
    let version = words.number::<f64>("the version of the format")?;
    words.skip(1, "0 for text")?;
    let is_new = if (version - 2.2).abs() < 0.05 {
        false
    } else if (version - 4.1).abs() < 0.05 {
        true
    } else {
        return Err(words.error(format!("version {version} of Gmsh's format: expected 2.2 or 4.1")));
    };
    words.find("$Nodes")?;
    let (nodes, index_of) = if is_new { gmsh_nodes_4(words)? } else { gmsh_nodes_2(words)? };
    words.find("$Elements")?;
    let mut elements = Elements::of(kinds);
    if is_new {
        gmsh_elements_4(words, &index_of, &mut elements)?;
    } else {
        gmsh_elements_2(words, &index_of, &mut elements)?;
    }
    words.find("$EndElements")?;
    // Gmsh has the last two nodes on edges the other way round.
    if elements.nodes_per_element == 10 {
        elements.elements.chunks_exact_mut(10).for_each(|element| element.swap(8, 9));
    }
    let Elements { nodes_per_element, elements, .. } = elements;
    Ok(VolumeMesh { nodes, nodes_per_element, elements })
}

/// Nodes, and the index of each tag.
type Tagged = (Vec<Vec3<f64>>, HashMap<u64, u32>);

fn gmsh_nodes_2(words: &mut Words<'_>) -> Result<Tagged, String> {
    let count = words.count("the number of nodes", MAX_MESH_VERTICES)?;
    let (mut nodes, mut index_of) = Tagged::default();
    for _ in 0..count {
        claim(words, &mut index_of)?;
        nodes.push(words.point()?);
    }
    Ok((nodes, index_of))
}

fn gmsh_nodes_4(words: &mut Words<'_>) -> Result<Tagged, String> {
    let blocks = words.count("the number of blocks", MAX_MESH_VERTICES)?;
    words.skip(3, "the numbers of nodes")?;
    let (mut nodes, mut index_of) = Tagged::default();
    for _ in 0..blocks {
        let dimension = words.number::<usize>("the dimension of a block")?;
        words.number::<i64>("the tag of a block")?;
        let is_parametric = words.number::<u32>("0 or 1")? == 1;
        let count = words.count("the number of nodes of a block", MAX_MESH_VERTICES)?;
        for _ in 0..count {
            claim(words, &mut index_of)?;
        }
        for _ in 0..count {
            nodes.push(words.point()?);
            if is_parametric {
                words.skip(dimension.min(3), "a parameter")?;
            }
        }
    }
    Ok((nodes, index_of))
}

/// Reads a node's tag and gives it the next index.
fn claim(words: &mut Words<'_>, index_of: &mut HashMap<u64, u32>) -> Result<(), String> {
    let (tag, index) = (words.number::<u64>("the tag of a node")?, index_of.len() as u32);
    match index_of.insert(tag, index) {
        None => Ok(()),
        Some(_) => Err(words.error(format!("node {tag} is there already: expected a tag of its own"))),
    }
}

fn gmsh_elements_2(words: &mut Words<'_>, index_of: &HashMap<u64, u32>, elements: &mut Elements) -> Result<(), String> {
    let count = words.count("the number of elements", 64 * MAX_MESH_VERTICES)?;
    for _ in 0..count {
        words.number::<u64>("the tag of an element")?;
        let kind = words.number::<u32>("the type of an element")?;
        let tags = words.count("the number of tags", 1000)?;
        words.skip(tags, "a tag")?;
        gmsh_element(words, kind, index_of, elements)?;
    }
    Ok(())
}

fn gmsh_elements_4(words: &mut Words<'_>, index_of: &HashMap<u64, u32>, elements: &mut Elements) -> Result<(), String> {
    let blocks = words.count("the number of blocks", 64 * MAX_MESH_VERTICES)?;
    words.skip(3, "the numbers of elements")?;
    for _ in 0..blocks {
        words.skip(2, "the dimension and the tag of a block")?;
        let kind = words.number::<u32>("the type of elements")?;
        let count = words.count("the number of elements of a block", 64 * MAX_MESH_VERTICES)?;
        for _ in 0..count {
            words.number::<u64>("the tag of an element")?;
            gmsh_element(words, kind, index_of, elements)?;
        }
    }
    Ok(())
}

fn gmsh_element(
    words: &mut Words<'_>,
    kind: u32,
    index_of: &HashMap<u64, u32>,
    elements: &mut Elements,
) -> Result<(), String> {
    let Some(count) = elements.nodes_of(kind) else {
        let Some((_, count)) = GMSH_FLAT.iter().find(|known| known.0 == kind) else {
            return Err(
                words.error(format!("elements of type {kind}: expected tetrahedra of four or ten nodes (4, 11)"))
            );
        };
        return words.skip(*count, "a node of an element");
    };
    let mut nodes = [0; 10];
    for node in &mut nodes[..count] {
        let tag = words.number::<u64>("a node of an element")?;
        let index = index_of.get(&tag);
        *node = *index.ok_or_else(|| words.error(format!("node {tag}: expected a node of the file")))?;
    }
    elements.push(words, &nodes[..count])
}

fn vtk(words: &mut Words<'_>) -> Result<VolumeMesh, String> {
    // "# vtk DataFile Version 3.0".
    for _ in 0..4 {
        words.next();
    }
    let version = words.number::<f64>("the version of the format")?;
    words.skip_line();
    // The second line is a title, whatever it says.
    words.next();
    words.skip_line();
    match words.next() {
        Some("ASCII") => {}
        _ => return Err(words.error("expected ASCII (a binary file is not read)")),
    }
    words.find("DATASET")?;
    if words.next() != Some("UNSTRUCTURED_GRID") {
        return Err(words.error("expected UNSTRUCTURED_GRID"));
    }
    words.find("POINTS")?;
    let count = words.count("the number of points", MAX_MESH_VERTICES)?;
    words.next();
    let nodes = (0..count).map(|_| words.point()).collect::<Result<Vec<_>, _>>()?;
    words.find("CELLS")?;
    let list = if version < 5.0 { vtk_cells(words)? } else { vtk_cells_5(words)? };
    let cells = list.len();
    if let Some(node) = list.iter().flatten().find(|node| **node as usize >= nodes.len()) {
        return Err(words.error(format!("node {node} of a cell: expected an index below {}", nodes.len())));
    }
    words.find("CELL_TYPES")?;
    if words.number::<usize>("the number of cells")? != cells {
        return Err(words.error(format!("expected the types of {cells} cells")));
    }
    let mut elements = Elements::of(&VTK);
    for cell in &list {
        let kind = words.number::<u32>("the type of a cell")?;
        match elements.nodes_of(kind) {
            Some(count) if count == cell.len() => elements.push(words, cell)?,
            Some(count) => {
                let message = format!("a tetrahedron with {} nodes: expected {count}", cell.len());
                return Err(words.error(message));
            }
            None if VTK_FLAT.contains(&kind) => {}
            None => {
                let expected = "expected tetrahedra of four or ten nodes (10, 24)";
                return Err(words.error(format!("a cell of type {kind}: {expected}")));
            }
        }
    }
    let Elements { nodes_per_element, elements, .. } = elements;
    Ok(VolumeMesh { nodes, nodes_per_element, elements })
}

/// Up to version 4 each cell is a count and as many nodes.
fn vtk_cells(words: &mut Words<'_>) -> Result<Vec<Vec<u32>>, String> {
    let cells = words.count("the number of cells", 64 * MAX_MESH_VERTICES)?;
    words.number::<usize>("the length of the list of cells")?;
    let mut list = Vec::new();
    for _ in 0..cells {
        let count = words.count("the number of nodes of a cell", 1000)?;
        list.push((0..count).map(|_| words.number("a node of a cell")).collect::<Result<_, _>>()?);
    }
    Ok(list)
}

/// From version 5 on there is first where each cell begins, with the end of the last, then all nodes.
fn vtk_cells_5(words: &mut Words<'_>) -> Result<Vec<Vec<u32>>, String> {
    let offsets = words.count("the number of offsets", 64 * MAX_MESH_VERTICES)?;
    let length = words.count("the number of nodes of all cells", 640 * MAX_MESH_VERTICES)?;
    words.find("OFFSETS")?;
    words.next();
    let (mut first, mut counts) = (0, Vec::new());
    for k in 0..offsets {
        let offset = words.number::<usize>("an offset")?;
        let count = offset.checked_sub(first).filter(|_| offset <= length && (k > 0 || offset == 0));
        let count =
            count.ok_or_else(|| words.error(format!("{offset}: expected offsets that rise from 0 to {length}")))?;
        if k > 0 {
            counts.push(count);
        }
        first = offset;
    }
    if first != length {
        return Err(words.error(format!("a last offset of {first}: expected {length}")));
    }
    words.find("CONNECTIVITY")?;
    words.next();
    let cell = |count: usize| (0..count).map(|_| words.number("a node of a cell")).collect();
    counts.into_iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    const GMSH_2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n7 9 9 9\n1 0 0 0\n2 1 0 0\n4 0 1 0\n8 0 0 1\n$EndNodes\n\
                          $Elements\n2\n1 2 2 0 1 1 2 7\n2 4 2 0 1 1 2 4 8\n$EndElements\n";
    const GMSH_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 4 1 8\n0 1 0 1\n1\n0 0 0\n3 1 0 3\n2\n4\n8\n1 0 0\n0 1 0\n\
                          0 0 1\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 4 8\n$EndElements\n";
    const VTK: &str = "# vtk DataFile Version 3.0\na title of words\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0\n\
                       0 1 0 0 0 1\nCELLS 2 8\n4 0 1 2 3\n2 0 1\nCELL_TYPES 2\n10\n3\n";

    const VTK_5: &str = "# vtk DataFile Version 5.1\na title of words\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0\n\
                         0 1 0 0 0 1\nMETADATA\nINFORMATION 0\n\nCELLS 3 6\nOFFSETS vtktypeint64\n0 4 6\nCONNECTIVITY vtktypeint64\n\
                         0 1 2 3 0 1\n\nCELL_TYPES 2\n10\n3\n";

    #[test]
    fn three_formats_say_the_same() {
        let expected =
            VolumeMesh { nodes: NODES.map(Vec3::from).to_vec(), nodes_per_element: 4, elements: vec![0, 1, 2, 3] };
        for text in [GMSH_2, GMSH_4, VTK, VTK_5] {
            assert_eq!(parse(text.as_bytes()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let cases = [
            (GMSH_2.replace("1 0 0 0", "1 0 nan 0"), "line 7: NaN: expected a finite coordinate"),
            (GMSH_2.replace("2.2 0", "3.0 0"), "line 2: version 3 of Gmsh's format: expected 2.2 or 4.1"),
            (
                GMSH_2.replace("2.2 0", "2.2 1"),
                "a binary file with the highest byte first: expected the lowest one first",
            ),
            (GMSH_2.replace("1 2 4 8\n", "1 2 4 3\n"), "line 15: node 3: expected a node of the file"),
            (GMSH_4.replace("1 1 2 4 8\n", ""), "line 20: \"$EndElements\": expected the tag of an element"),
            (VTK.replace("4 0 1 2 3", "4 0 1 2 4"), "line 10: node 4 of a cell: expected an index below 4"),
            (VTK[..VTK.len() - 5].to_owned(), "line 11: the file ends here: expected the type of a cell"),
            (
                VTK.replace("10\n3", "10\n12"),
                "line 13: a cell of type 12: expected tetrahedra of four or ten nodes (10, 24)",
            ),
            (VTK_5.replace("0 4 6", "0 7 6"), "line 13: 7: expected offsets that rise from 0 to 6"),
            (VTK_5.replace("0 4 6", "0 4 5"), "line 13: a last offset of 5: expected 6"),
            (VTK.replace("10\n3", "3\n3"), "no tetrahedra: expected at least one, of four or ten nodes"),
            ("solid".to_owned(), "line 1: expected `$MeshFormat` of Gmsh or `# vtk DataFile` of VTK"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text.as_bytes()).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn every_cut_of_a_file_is_an_error() {
        for text in [GMSH_2, GMSH_4, VTK, VTK_5] {
            let end = text.trim_end().len() - 1;
            for cut in 1..end {
                assert!(parse(&text.as_bytes()[..cut]).is_err(), "{cut} of {text}");
            }
        }
    }
}
