//! The triangles of `<triangles>`, `<polylist>`, `<polygons>`, `<tristrips>` and `<trifans>`.

use spatial::Vec3;

use super::{Corners, MeshFileError, Reader, numbers};
use crate::limits::MAX_COLLADA_NUMBERS;
use crate::xml::Element;

/// What a primitive refers to.
struct Vertices {
    positions: Vec<Vec3<f64>>,
    /// Which of the indices of a corner names its position.
    offset: usize,
    /// The number of indices of a corner, at least 1.
    stride: usize,
}

impl<'a> Reader<'a> {
    /// The triangles of a child of `<mesh>`; none for lines and for what is no primitive.
    pub(super) fn triangles(&self, primitive: Element<'a>) -> Result<Vec<Corners>, MeshFileError> {
        let kind = primitive.name();
        if !["triangles", "polylist", "polygons", "tristrips", "trifans"].contains(&kind) {
            return Ok(Vec::new());
        }
        let Some(vertices) = self.vertices(primitive)? else {
            return Ok(Vec::new());
        };
        if let Some(holes) = primitive.child("ph") {
            return Err(self.error(holes, "a polygon with holes: expected polygons without"));
        }
        let mut triangles = Vec::new();
        for list in primitive.children_named("p") {
            let corners = self.corners(list, &vertices)?;
            match kind {
                "polylist" => self.cut_polylist(primitive, &corners, &mut triangles)?,
                "polygons" | "trifans" => cut_fan(&corners, &mut triangles),
                "tristrips" => cut_strip(&corners, &mut triangles),
                _ if corners.len().is_multiple_of(3) => triangles.extend_from_slice(corners.as_chunks::<3>().0),
                _ => return Err(self.error(list, format!("{} corners: expected a multiple of 3", corners.len()))),
            }
        }
        Ok(triangles)
    }

    /// The vertices that a primitive refers to. `None` for a primitive without inputs, which is empty.
    fn vertices(&self, primitive: Element<'a>) -> Result<Option<Vertices>, MeshFileError> {
        let (mut vertices, mut stride) = (None, 0);
        for input in primitive.children_named("input") {
            let offset = self.count(input, "offset", 0)?;
            stride = stride.max(offset.saturating_add(1));
            if input.attribute("semantic") == Some("VERTEX") {
                vertices = Some((self.target(input, "source")?, offset));
            }
        }
        let Some((vertices, offset)) = vertices else {
            return Ok(None);
        };
        let is_position = |n: &Element<'_>| n.name() == "input" && n.attribute("semantic") == Some("POSITION");
        let Some(input) = vertices.children().find(is_position) else {
            return Err(self.error(vertices, "expected an <input> with semantic=\"POSITION\""));
        };
        let positions = self.source(self.target(input, "source")?)?;
        Ok(Some(Vertices { positions, offset, stride }))
    }

    /// The points of a `<source>`.
    fn source(&self, source: Element<'a>) -> Result<Vec<Vec3<f64>>, MeshFileError> {
        let accessor = source.child("technique_common").and_then(|t| t.child("accessor"));
        let accessor = accessor.ok_or_else(|| self.error(source, "expected an <accessor> in it"))?;
        let array = self.target(accessor, "source")?;
        let values: Vec<f64> = self.numbers(array)?;
        let (offset, stride) = (self.count(accessor, "offset", 0)?, self.count(accessor, "stride", 1)?);
        if stride < 3 {
            return Err(self.error(accessor, format!("stride={stride}: expected 3 or more coordinates of a point")));
        }
        let points = values.get(offset..).unwrap_or_default().chunks(stride).filter(|c| c.len() >= 3);
        let points: Vec<_> = points.map(|c| Vec3::new(c[0], c[1], c[2])).collect();
        let count = self.count(accessor, "count", points.len())?;
        if points.len() < count {
            return Err(self.error(accessor, format!("{} points in its array: expected {count}", points.len())));
        }
        Ok(points)
    }

    /// The points that the indices in `<p>` name.
    fn corners(&self, list: Element<'a>, vertices: &Vertices) -> Result<Vec<Vec3<f64>>, MeshFileError> {
        let Vertices { positions, offset, stride } = vertices;
        let indices: Vec<i64> = self.numbers(list)?;
        if !indices.len().is_multiple_of(*stride) {
            let what = format!("{} indices: expected a multiple of {stride}, the number per corner", indices.len());
            return Err(self.error(list, what));
        }
        let point = |&index: &i64| {
            let found = usize::try_from(index).ok().and_then(|i| positions.get(i).copied());
            found
                .ok_or_else(|| self.error(list, format!("vertex {index}: expected an index below {}", positions.len())))
        };
        indices.iter().skip(*offset).step_by(*stride).map(point).collect()
    }

    fn cut_polylist(
        &self,
        primitive: Element<'a>,
        corners: &[Vec3<f64>],
        triangles: &mut Vec<Corners>,
    ) -> Result<(), MeshFileError> {
        let sizes = primitive.child("vcount").ok_or_else(|| self.error(primitive, "expected a <vcount> in it"))?;
        let mut rest = corners;
        for size in self.numbers::<usize>(sizes)? {
            let Some((polygon, after)) = rest.split_at_checked(size) else {
                return Err(self.error(sizes, format!("more corners than the {} in <p>", corners.len())));
            };
            cut_fan(polygon, triangles);
            rest = after;
        }
        Ok(())
    }

    /// The numbers in an element. Many elements may refer to the same long list.
    fn numbers<T: std::str::FromStr>(&self, element: Element<'a>) -> Result<Vec<T>, MeshFileError> {
        let numbers: Vec<T> = numbers(element).map_err(|what| self.error(element, what))?;
        let read = self.numbers_read.get() + numbers.len();
        if read > MAX_COLLADA_NUMBERS {
            let what =
                format!("too many numbers: expected at most {MAX_COLLADA_NUMBERS}, each list counted as often as used");
            return Err(self.error(element, what));
        }
        self.numbers_read.set(read);
        Ok(numbers)
    }

    fn count(&self, element: Element<'a>, attribute: &str, default: usize) -> Result<usize, MeshFileError> {
        let Some(value) = element.attribute(attribute) else {
            return Ok(default);
        };
        let number = value.trim().parse();
        number.map_err(|_| self.error(element, format!("{attribute}={value:?}: expected a number, 0 or more")))
    }
}

/// Cuts a convex polygon, or a fan, into triangles that share its first corner.
fn cut_fan(corners: &[Vec3<f64>], triangles: &mut Vec<Corners>) {
    triangles.extend(corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]));
}

/// Cuts a strip into triangles, every other one of which lists its corners backwards.
fn cut_strip(corners: &[Vec3<f64>], triangles: &mut Vec<Corners>) {
    let flip = |(k, w): (usize, &[Vec3<f64>])| if k % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] };
    triangles.extend(corners.windows(3).enumerate().map(flip));
}
