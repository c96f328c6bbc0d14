//! The triangles of `<triangles>`, `<polylist>`, `<polygons>`, `<tristrips>` and `<trifans>`.

use spatial::Vec3;

use super::{MeshFileError, Reader, Triangle, numbers};
use crate::limits::MAX_COLLADA_NUMBERS;
use crate::xml::Element;

/// A corner of a polygon: where it is, and where in a texture.
type Corner = (Vec3<f64>, Option<[f32; 2]>);

/// What a primitive refers to.
struct Vertices {
    positions: Vec<Vec3<f64>>,
    /// Which of the indices of a corner names its position.
    offset: usize,
    /// Places in a texture, and which of the indices of a corner names one.
    texcoords: Option<(Vec<[f32; 2]>, usize)>,
    /// The number of indices of a corner, at least 1.
    stride: usize,
}

impl<'a> Reader<'a> {
    /// The triangles of a child of `<mesh>`; none for lines and for what is no primitive.
    pub(super) fn triangles(&self, primitive: Element<'a>) -> Result<Vec<Triangle<'a>>, MeshFileError> {
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
                _ if corners.len().is_multiple_of(3) => {
                    triangles.extend(corners.as_chunks::<3>().0.iter().map(|&corners| triangle(corners)));
                }
                _ => return Err(self.error(list, format!("{} corners: expected a multiple of 3", corners.len()))),
            }
        }
        let material = primitive.attribute("material");
        triangles.iter_mut().for_each(|triangle| triangle.material = material);
        Ok(triangles)
    }

    /// The vertices that a primitive refers to. `None` for a primitive without inputs, which is empty.
    fn vertices(&self, primitive: Element<'a>) -> Result<Option<Vertices>, MeshFileError> {
        let (mut vertices, mut places, mut stride) = (None, None, 0);
        for input in primitive.children_named("input") {
            let offset = self.count(input, "offset", 0)?;
            stride = stride.max(offset.saturating_add(1));
            if input.attribute("semantic") == Some("VERTEX") {
                vertices = Some((self.target(input, "source")?, offset));
            }
            if input.attribute("semantic") == Some("TEXCOORD") && places.is_none() {
                places = Some((self.target(input, "source")?, offset));
            }
        }
        let Some((vertices, offset)) = vertices else {
            return Ok(None);
        };
        let is_position = |n: &Element<'_>| n.name() == "input" && n.attribute("semantic") == Some("POSITION");
        let Some(input) = vertices.children().find(is_position) else {
            return Err(self.error(vertices, "expected an <input> with semantic=\"POSITION\""));
        };
        let positions = self.source::<3>(self.target(input, "source")?)?;
        let positions = positions.into_iter().map(Vec3::from).collect();
        // Upwards from the lower edge of the picture.
        let flipped = |[u, v]: [f64; 2]| [u as f32, 1.0 - v as f32];
        let texcoords = match places {
            Some((source, at)) => Some((self.source::<2>(source)?.into_iter().map(flipped).collect(), at)),
            None => None,
        };
        Ok(Some(Vertices { positions, offset, texcoords, stride }))
    }

    /// The points of a `<source>`, the first `N` coordinates of each.
    fn source<const N: usize>(&self, source: Element<'a>) -> Result<Vec<[f64; N]>, MeshFileError> {
        let accessor = source.child("technique_common").and_then(|t| t.child("accessor"));
        let accessor = accessor.ok_or_else(|| self.error(source, "expected an <accessor> in it"))?;
        let array = self.target(accessor, "source")?;
        let values: Vec<f64> = self.numbers(array)?;
        let (offset, stride) = (self.count(accessor, "offset", 0)?, self.count(accessor, "stride", 1)?);
        if stride < N {
            return Err(self.error(accessor, format!("stride={stride}: expected {N} or more coordinates of a point")));
        }
        let points = values.get(offset..).unwrap_or_default().chunks(stride);
        let points: Vec<[f64; N]> = points.filter_map(|c| c.first_chunk::<N>().copied()).collect();
        let count = self.count(accessor, "count", points.len())?;
        if points.len() < count {
            return Err(self.error(accessor, format!("{} points in its array: expected {count}", points.len())));
        }
        Ok(points)
    }

    /// The points that the indices in `<p>` name.
    fn corners(&self, list: Element<'a>, vertices: &Vertices) -> Result<Vec<Corner>, MeshFileError> {
        let Vertices { positions, offset, texcoords, stride } = vertices;
        let indices: Vec<i64> = self.numbers(list)?;
        if !indices.len().is_multiple_of(*stride) {
            let what = format!("{} indices: expected a multiple of {stride}, the number per corner", indices.len());
            return Err(self.error(list, what));
        }
        let corner = |indices: &[i64]| {
            let index = indices[*offset];
            let found = usize::try_from(index).ok().and_then(|i| positions.get(i).copied());
            let found = found.ok_or_else(|| {
                self.error(list, format!("vertex {index}: expected an index below {}", positions.len()))
            })?;
            let place =
                |(places, at): &(Vec<[f32; 2]>, usize)| places.get(usize::try_from(indices[*at]).ok()?).copied();
            Ok((found, texcoords.as_ref().and_then(place)))
        };
        indices.chunks_exact(*stride).map(corner).collect()
    }

    fn cut_polylist(
        &self,
        primitive: Element<'a>,
        corners: &[Corner],
        triangles: &mut Vec<Triangle<'a>>,
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

/// A triangle whose material is not known yet.
fn triangle<'a>(corners: [Corner; 3]) -> Triangle<'a> {
    let [a, b, c] = corners.map(|corner| corner.1);
    let texcoords = a.zip(b).zip(c).map(|((a, b), c)| [a, b, c]);
    Triangle { corners: corners.map(|corner| corner.0), texcoords, material: None }
}

/// Cuts a convex polygon, or a fan, into triangles that share its first corner.
fn cut_fan(corners: &[Corner], triangles: &mut Vec<Triangle<'_>>) {
    triangles.extend(corners.windows(2).skip(1).map(|pair| triangle([corners[0], pair[0], pair[1]])));
}

/// Cuts a strip into triangles, every other one of which lists its corners backwards.
fn cut_strip(corners: &[Corner], triangles: &mut Vec<Triangle<'_>>) {
    let flip = |(k, w): (usize, &[Corner])| if k % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] };
    triangles.extend(corners.windows(3).enumerate().map(flip).map(triangle));
}
