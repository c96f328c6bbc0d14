//! The colour of a surface itself: one colour, a texture, or the paints of a mesh.

use geometry::Mapping;
use spatial::Vec3;

use crate::colour::Colour;
use crate::primitives::Kind;
use crate::shade::{Item, Shader};
use crate::textures::ItemLook;

type V = Vec3<f32>;

impl Shader<'_> {
    /// The colour of a primitive at a sample, which sees this point of it, without light.
    pub fn own_colour(&self, index: u32, item: &Item, at: [f32; 2], point: V, normal: V) -> Colour {
        let [r, g, b, _] = item.rgba;
        match item.look {
            ItemLook::Plain => [r, g, b],
            ItemLook::Texture { texture, mapping } => {
                let mips = &self.textures.list[texture as usize];
                let neighbours = self.neighbours(at);
                let colour = if let Mapping::Cube { scale } = mapping {
                    let local = |p: V| {
                        let p = item.rot.transpose_mul(p - item.centre);
                        Vec3::new(p.x * scale[0] as f32, p.y * scale[1] as f32, p.z * scale[2] as f32)
                    };
                    mips.cube(local(point), neighbours.map(|at| local(self.on_plane(at, point, normal))))
                } else {
                    let place = |at: [f32; 2], p: V| self.place(index, item, &mapping, at, p, normal);
                    let here = place(at, point);
                    let sides = neighbours.map(|at| {
                        let there = place(at, self.on_plane(at, point, normal));
                        [there[0] - here[0], there[1] - here[1]]
                    });
                    mips.flat(here, unwrapped(sides, &mapping))
                };
                [r * colour[0], g * colour[1], b * colour[2]]
            }
            ItemLook::Paints => self.painted(index, item, at).unwrap_or([r, g, b]),
            ItemLook::Vertices => self.between_vertices(index, item, at).unwrap_or([r, g, b]),
        }
    }

    fn painted(&self, index: u32, item: &Item, at: [f32; 2]) -> Option<Colour> {
        let surface = &self.meshes[item.mesh? as usize].surface;
        let face = self.primitives.list[index as usize].face as usize;
        let paint = surface.paints.get(*surface.paint_of.get(face)? as usize)?;
        let texture = paint.texture.as_ref().filter(|_| !surface.texcoords.is_empty());
        let Some(mips) = texture.and_then(|texture| self.textures.of(texture)) else { return Some(paint.rgb) };
        let here = self.corner_place(index, item, at);
        let sides = self.neighbours(at).map(|at| {
            let there = self.corner_place(index, item, at);
            [there[0] - here[0], there[1] - here[1]]
        });
        Some(mips.flat(here, sides))
    }

    /// Where a point near the one that a sample sees is in a texture.
    fn place(&self, index: u32, item: &Item, mapping: &Mapping, at: [f32; 2], point: V, normal: V) -> [f32; 2] {
        let local = item.rot.transpose_mul(point - item.centre);
        let over =
            |size: &[f64; 3]| Vec3::new(local.x / size[0] as f32, local.y / size[1] as f32, local.z / size[2] as f32);
        let times = |[u, v]: [f32; 2], repeat: &[f64; 2]| [u * repeat[0] as f32, v * repeat[1] as f32];
        match mapping {
            Mapping::Plane { scale, offset } => {
                [local.x * scale[0] as f32 + offset[0] as f32, local.y * scale[1] as f32 + offset[1] as f32]
            }
            Mapping::Around { size, repeat, straight } => {
                let p = over(size);
                let u = libm::atan2f(p.y, p.x) / std::f32::consts::TAU;
                let latitude = libm::acosf((p.z / p.norm().max(1e-9)).clamp(-1.0, 1.0)) / std::f32::consts::PI;
                times([u, if *straight { 0.5 - 0.5 * p.z } else { latitude }], repeat)
            }
            Mapping::Sides { size, repeat } => {
                let (p, n) = (over(size), item.rot.transpose_mul(normal));
                let (x, y, z) = (n.x.abs(), n.y.abs(), n.z.abs());
                let [s, t] = if z >= x && z >= y {
                    [p.x, -p.y * n.z.signum()]
                } else if x >= y {
                    [p.y * n.x.signum(), -p.z]
                } else {
                    [-p.x * n.y.signum(), -p.z]
                };
                times([0.5 + 0.5 * s, 0.5 + 0.5 * t], repeat)
            }
            Mapping::Corners { repeat } => times(self.corner_place(index, item, at), repeat),
            Mapping::Cube { .. } => [0.0; 2],
        }
    }

    /// The place in a texture between those of the corners of a triangle of a mesh.
    fn corner_place(&self, index: u32, item: &Item, at: [f32; 2]) -> [f32; 2] {
        let face = self.primitives.list[index as usize].face as usize;
        let (Some(mesh), Some(shares)) = (item.mesh, self.shares(index, at)) else { return [0.0; 2] };
        let places = self.meshes[mesh as usize].surface.texcoords.as_chunks::<3>().0;
        places.get(face).map_or([0.0; 2], |corners| mean(shares, *corners))
    }

    /// The colour between those of the corners of a triangle of a mesh.
    fn between_vertices(&self, index: u32, item: &Item, at: [f32; 2]) -> Option<Colour> {
        let mesh = &self.meshes[item.mesh? as usize];
        let corners = mesh.triangles.get(self.primitives.list[index as usize].face as usize)?;
        Some(mean(self.shares(index, at)?, corners.map(|vertex| mesh.colours[vertex as usize])))
    }

    /// Shares of a triangle's corners in the point that a sample sees, in space, not in the picture.
    fn shares(&self, index: u32, at: [f32; 2]) -> Option<[f32; 3]> {
        let primitive = &self.primitives.list[index as usize];
        let Kind::Triangle { edges } = &primitive.kind else { return None };
        let (u, v) = (at[0] - primitive.origin[0], at[1] - primitive.origin[1]);
        let e = edges.map(|[c, x, y]| c + x * u + y * v);
        let sum = e[0] + e[1] + e[2];
        let factor = if sum.abs() > 0.0 { 1.0 / sum } else { 0.0 };
        Some(e.map(|e| factor * e))
    }

    /// Where a sample meets the plane that touches a surface at a point.
    fn on_plane(&self, at: [f32; 2], point: V, normal: V) -> V {
        let d = self.direction(at);
        let depth = normal.dot(point) / normal.dot(d);
        // Close to an outline neighbours look past the plane.
        if depth > 0.0 && depth < -4.0 * point.z { d * depth } else { d * -point.z }
    }
}

fn mean<const N: usize>(shares: [f32; 3], corners: [[f32; N]; 3]) -> [f32; N] {
    std::array::from_fn(|k| (0..3).map(|corner| shares[corner] * corners[corner][k]).sum())
}

/// Steps across the seam of the longitude are short, not once around.
fn unwrapped(mut sides: [[f32; 2]; 2], mapping: &Mapping) -> [[f32; 2]; 2] {
    if let Mapping::Around { repeat, .. } = mapping {
        let around = repeat[0] as f32;
        for side in &mut sides {
            side[0] -= around * (side[0] / around).round();
        }
    }
    sides
}
