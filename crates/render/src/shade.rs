//! The colour of a point: one light of the world, a fill light at the camera, soft light from the sky.

use spatial::{Mat3, Vec3};

use crate::colour::{Colour, mix};
use crate::mesh::DrawnMesh;
use crate::primitives::{Kind, Primitives, Surface};
use crate::projection::Projection;
use crate::textures::{ItemLook, Textures};

type V = Vec3<f32>;

/// The direction to the light in the world.
pub(crate) const TO_LIGHT: [f64; 3] = [0.302, -0.402, 0.864];

const HORIZON: Colour = [0.90, 0.93, 0.96];
const ZENITH: Colour = [0.55, 0.68, 0.84];

/// Something that is drawn, as the camera sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub rgba: [f32; 4],
    /// From the item's frame to the camera's.
    pub rot: Mat3<f32>,
    pub centre: V,
    /// The mesh that its faces are triangles of.
    pub mesh: Option<u32>,
    /// Whether it is a plane with squares, and whether that has no end.
    pub ground: Option<bool>,
    /// Whether its parts meet smoothly.
    pub smooth: bool,
    pub look: ItemLook,
}

/// Depths as the light sees them.
#[derive(Debug, Default)]
pub(crate) struct ShadowMap {
    pub nearness: Vec<f32>,
    pub size: usize,
    /// From the camera's frame to (column, row, nearness).
    pub rot: Mat3<f32>,
    pub offset: V,
    /// Metres of a sample.
    pub texel: f32,
}

/// What colours follow from.
pub(crate) struct Shader<'a> {
    pub at: &'a Projection,
    pub primitives: &'a Primitives,
    pub items: &'a [Item],
    pub meshes: &'a [std::sync::Arc<DrawnMesh>],
    pub textures: &'a Textures,
    /// From the camera's frame to the world.
    pub to_world: Mat3<f32>,
    /// What far ground fades to, where the sky is a texture.
    pub haze: Option<Colour>,
    pub shadows: Option<&'a ShadowMap>,
    pub to_light: V,
    pub up: V,
    /// Side of the squares of the ground, m.
    pub square: f32,
    /// Size of the model, m.
    pub extent: f32,
    /// Samples of a pixel along each side.
    pub samples: f32,
}

impl Shader<'_> {
    /// The colour of the sky at a sample.
    pub fn sky(&self, at: [f32; 2]) -> Colour {
        let d = self.direction(at);
        if let Some(sky) = self.textures.sky {
            // Cubes stand upright along y.
            let upright = |d: V| {
                let d = self.to_world * d;
                Vec3::new(d.x, d.z, -d.y)
            };
            let neighbours = self.neighbours(at).map(|at| upright(self.direction(at)));
            return self.textures.list[sky as usize].cube(upright(d), neighbours);
        }
        let height = (d.dot(self.up) / d.norm()).max(0.0);
        mix(HORIZON, ZENITH, (1.6 * height).min(1.0).sqrt() * height.min(0.5) * 2.0)
    }

    pub(crate) fn direction(&self, [u, v]: [f32; 2]) -> V {
        let ([p, r], [x, y]) = (self.at.pitch.map(|x| x as f32), self.at.middle.map(|x| x as f32));
        let [columns, rows] = self.at.size.map(|n| 0.5 - 0.5 * n as f32);
        Vec3::new(x + p * (u + columns), y - r * (v + rows), -1.0)
    }

    /// The next pixels to the right and below.
    pub(crate) fn neighbours(&self, [u, v]: [f32; 2]) -> [[f32; 2]; 2] {
        [[u + self.samples, v], [u, v + self.samples]]
    }

    /// The unit normal of a primitive at a sample, which sees this point of it, in the camera's frame.
    fn normal(&self, primitive: u32, at: [f32; 2], point: V) -> V {
        let primitive = &self.primitives.list[primitive as usize];
        let item = &self.items[primitive.item as usize];
        if let (Some(mesh), Kind::Triangle { edges }) = (item.mesh, &primitive.kind) {
            let corners = &self.meshes[mesh as usize].normals[primitive.face as usize];
            let (u, v) = (at[0] - primitive.origin[0], at[1] - primitive.origin[1]);
            let e = edges.map(|[c, x, y]| (c + x * u + y * v).max(0.0));
            let sum = (0..3).fold(V::ZERO, |sum, k| sum + V::from(corners[k]) * e[k]);
            return item.rot * unit(sum);
        }
        match self.primitives.surfaces[primitive.face as usize] {
            Surface::Quadric { matrix, centre } => unit(matrix * (point - centre)),
            Surface::Flat { normal } => normal,
        }
    }

    /// Whether two samples of one pixel may be given one colour.
    pub fn alike(&self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        let [p, q] = [a, b].map(|k| &self.primitives.list[k as usize]);
        if p.item != q.item {
            return false;
        }
        let item = &self.items[p.item as usize];
        // Neighbours of one mesh may have other paints, and other places in a texture.
        if item.mesh.is_some() && !matches!(item.look, ItemLook::Plain) && p.face != q.face {
            return false;
        }
        match item.mesh {
            Some(mesh) => {
                let normals = &self.meshes[mesh as usize].normals;
                V::from(normals[p.face as usize][0]).dot(V::from(normals[q.face as usize][0])) > 0.93
            }
            None => item.smooth || p.face == q.face,
        }
    }

    /// The colour of a primitive at a sample that sees it with this nearness.
    pub fn colour(&self, index: u32, at: [f32; 2], w: f32) -> Colour {
        let d = self.direction(at);
        let depth = 1.0 / w;
        let point = d * depth;
        let item = &self.items[self.primitives.list[index as usize].item as usize];
        let length = d.norm();
        let view = d * (-1.0 / length);
        let mut normal = self.normal(index, at, point);
        let [r, g, b] = self.own_colour(index, item, at, point, normal);
        if let Some(endless) = item.ground {
            let plain = matches!(item.look, ItemLook::Plain);
            let dark = if plain { 1.0 - 0.16 * self.squares(index, item, at, point) } else { 1.0 };
            let (lit, towards) = self.lit(point, normal);
            let colour = [r, g, b].map(|c| c * dark * self.diffuse(normal, normal.dot(view), towards * lit));
            if !endless {
                return colour;
            }
            let haze = ((depth * length / self.extent - 6.0) / 34.0).clamp(0.0, 1.0);
            return mix(colour, self.haze.unwrap_or(HORIZON), haze * (2.0 - haze));
        }
        // Smooth normals can lean away from an outline.
        let facing = normal.dot(view);
        if facing < 0.0 {
            normal = unit(normal - view * facing);
        }
        let (lit, towards) = self.lit(point, normal);
        let diffuse = self.diffuse(normal, facing.max(0.0), towards * lit);
        let half = unit(self.to_light + view);
        let shine = 0.18 * lit * power(normal.dot(half).max(0.0));
        [r, g, b].map(|c| c * diffuse + shine)
    }

    /// Light of the sky, of the fill light and of the light, which reaches the surface with this strength.
    fn diffuse(&self, normal: V, facing: f32, light: f32) -> f32 {
        0.32 + 0.10 * normal.dot(self.up) + 0.16 * facing + 0.50 * light
    }

    /// The share of the light that reaches a point, and the cosine with which it meets the surface.
    fn lit(&self, point: V, normal: V) -> (f32, f32) {
        let towards = normal.dot(self.to_light);
        if towards > 0.0 { (self.light(point, normal), towards) } else { (0.0, 0.0) }
    }

    /// The share of dark squares in a pixel of the ground: the pattern integrated over the pixel's rectangle on it.
    fn squares(&self, index: u32, item: &Item, at: [f32; 2], point: V) -> f32 {
        let primitive = &self.primitives.list[index as usize];
        let scale = 1.0 / self.square;
        let place = |p: V| {
            let p = item.rot.transpose_mul(p - item.centre);
            [p.x * scale, p.y * scale]
        };
        let here = place(point);
        let mut width = [1e-3f32; 2];
        for (du, dv) in [(self.samples, 0.0), (0.0, self.samples)] {
            let at = [at[0] + du, at[1] + dv];
            let (u, v) = (at[0] - primitive.origin[0], at[1] - primitive.origin[1]);
            let w = primitive.nearness[0] + primitive.nearness[1] * u + primitive.nearness[2] * v;
            if w <= 0.0 {
                return 0.5;
            }
            let there = place(self.direction(at) * (1.0 / w));
            for k in 0..2 {
                width[k] = width[k].max((there[k] - here[k]).abs());
            }
        }
        let side = |x: f32, width: f32| {
            let bend = |x: f32| (0.5 * x - (0.5 * x).floor() - 0.5).abs();
            bend(x - 0.5 * width) - bend(x + 0.5 * width)
        };
        0.5 - 2.0 * side(here[0], width[0]) * side(here[1], width[1]) / (width[0] * width[1])
    }

    /// The share of the light that reaches a point: four neighbouring depths, weighted by distance.
    fn light(&self, point: V, normal: V) -> f32 {
        let Some(map) = self.shadows else { return 1.0 };
        let towards = normal.dot(self.to_light).max(0.15);
        let seen = map.rot * (point + normal * (map.texel * 1.5)) + map.offset;
        let bias = map.texel * (1.0 + 0.5 / towards);
        let limit = (map.size - 1) as f32;
        if !(seen.x >= 0.0 && seen.y >= 0.0 && seen.x < limit && seen.y < limit) {
            return 1.0;
        }
        let (i, j) = (seen.x as usize, seen.y as usize);
        let (x, y) = (seen.x - i as f32, seen.y - j as f32);
        let open = |k: usize| if map.nearness[k] <= seen.z + bias { 1.0f32 } else { 0.0 };
        let at = j * map.size + i;
        let row = |at: usize| open(at) * (1.0 - x) + open(at + 1) * x;
        row(at) * (1.0 - y) + row(at + map.size) * y
    }
}

fn unit(v: V) -> V {
    let square = v.norm_squared();
    if square > 0.0 { v * (1.0 / square.sqrt()) } else { Vec3::new(0.0, 0.0, 1.0) }
}

/// x³²
fn power(x: f32) -> f32 {
    let x2 = x * x;
    let x4 = x2 * x2;
    let x8 = x4 * x4;
    let x16 = x8 * x8;
    x16 * x16
}
