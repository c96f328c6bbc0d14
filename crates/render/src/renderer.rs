//! Pictures: set-up, bands of rows, and what is written of each sample.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use geometry::Shape;
use multibody::Kinematics;
use spatial::{Mat3, Pose, Vec3};
use support::{Interrupt, ThreadPool};

use crate::colour::{Colour, mix};
use crate::label::{Label, write_labels};
use crate::lists::{Lists, Shown, is_shown};
use crate::marker::Marker;
use crate::mesh::DrawnMesh;
use crate::projection::Projection;
use crate::raster::{BAND, Band, NOTHING};
use crate::shade::{Shader, ShadowMap, TO_LIGHT};
use crate::stage::{Stage, place_bodies};
use crate::view::{Eye, View};

type Vector = Vec3<f64>;

/// The greatest width and height, pixels.
pub const MAX_SIDE: usize = 16384;

/// The groups that are drawn unless others are chosen: 0, 1 and 2, as in MuJoCo. By convention others hold collision shapes.
pub const SHOWN_GROUPS: u32 = 0b111;

/// Least and greatest number of rows and columns of the shadow map, which has about twice those of the picture.
const SHADOW_SIZES: [usize; 2] = [256, 1024];

/// How a picture is drawn.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the light casts shadows.
    pub shadows: bool,
    /// Whether a pixel's colour is the mean of 2×2 samples.
    pub antialias: bool,
    /// Things to draw that the model does not have; colour pictures alone show them.
    pub markers: Vec<Marker>,
    /// Texts, over all else in colour pictures.
    pub labels: Vec<Label>,
}

impl Default for Options {
    fn default() -> Self {
        Self { shadows: true, antialias: true, markers: Vec::new(), labels: Vec::new() }
    }
}

/// Why there is no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderError {
    /// Width or height are 0 or above [`MAX_SIDE`], or the buffer has another size.
    Size,
    /// The model has no such camera, or no such body to track.
    NoCamera,
    /// The configuration has another length than the model's.
    Configuration,
    /// The positions of the nodes of soft bodies have another length than the model's, or are not finite.
    SoftPositions,
    /// The poses of bodies that are moved from outside have another length than the model's, or are not finite.
    MocapPoses,
    /// There are not as many colours as nodes of soft bodies.
    SoftColours,
    /// The [interrupt](Renderer::set_interrupt) was raised: the picture is unfinished.
    Interrupted,
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size => write!(f, "the size of the picture: expected 1 to {MAX_SIDE} pixels, and a buffer that fits"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::NoCamera => f.write_str("the camera: expected one of the model's cameras and bodies"),
            Self::Configuration => f.write_str("q: expected as many coordinates as the model has"),
            Self::SoftColours => f.write_str("colours of nodes: expected one for each of the model's"),
            Self::MocapPoses => {
                f.write_str("poses of moved bodies: expected seven finite numbers for each of the model's")
            }
            Self::SoftPositions => {
                f.write_str("positions of nodes: expected three finite numbers for each of the model's")
            }
        }
    }
}

impl std::error::Error for RenderError {}

/// Draws pictures of a model; keeps its buffers.
#[derive(Debug)]
pub struct Renderer {
    stage: Arc<Stage>,
    /// Those of the stage, then one for each soft body.
    meshes: Vec<Arc<DrawnMesh>>,
    kinematics: Kinematics<f64>,
    poses: Vec<Pose<f64>>,
    /// Where bodies are that are moved from outside, (nmocap, 7).
    mocap: Vec<f64>,
    shown: Shown,
    pool: ThreadPool,
    scratch: Vec<Mutex<Scratch>>,
    lists: Lists,
    shadow_lists: Lists,
    shadows: ShadowMap,
    interrupt: Interrupt,
}

/// What a thread draws a band in.
#[derive(Debug, Default)]
struct Scratch {
    band: Band,
    layer: Band,
    colours: Vec<Colour>,
}

impl Renderer {
    /// A renderer that shares its work among this many threads.
    ///
    /// # Errors
    /// When the system grants fewer threads.
    pub fn new(stage: Arc<Stage>, threads: usize) -> std::io::Result<Self> {
        let kinematics = Kinematics::new(&stage.model.tree);
        let skins = stage.skins.iter().zip(&stage.scene.soft_bodies);
        let soft = skins.map(|(skin, body)| {
            let mut mesh = skin.mesh.clone();
            skin.place(&body.rest_positions().collect::<Vec<f64>>(), &mut mesh);
            Arc::new(mesh)
        });
        let meshes = stage.meshes.iter().cloned().chain(soft).collect();
        let pool = ThreadPool::new(threads.max(1))?;
        let scratch = (0..pool.count()).map(|_| Mutex::default()).collect();
        let (lists, shadow_lists, shadows) = (Lists::default(), Lists::default(), ShadowMap::default());
        Ok(Self {
            mocap: stage.model.mocap_poses(),
            stage,
            meshes,
            kinematics,
            poses: Vec::new(),
            shown: Shown { groups: SHOWN_GROUPS, colours: BTreeMap::new() },
            pool,
            scratch,
            lists,
            shadow_lists,
            shadows,
            interrupt: Interrupt::default(),
        })
    }

    /// Looked at after every few rows of a picture: where it is raised, the rest is not drawn.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// What is drawn.
    #[must_use]
    pub fn stage(&self) -> &Arc<Stage> {
        &self.stage
    }

    /// Chooses the groups of geoms and tendons that are drawn: bit g stands for group g, the last bit for all from 31 on.
    pub fn show_groups(&mut self, groups: u32) {
        self.shown.groups = groups;
    }

    /// Draws geoms in other colours than the model's, by their indices: red, green, blue, opacity in 0..=1. One of opacity 0 is hidden.
    pub fn paint_geoms(&mut self, colours: &BTreeMap<usize, [f32; 4]>) {
        self.shown.colours.clone_from(colours);
    }

    /// Puts bodies that are moved from outside at these poses, (nmocap, 7), position and quaternion w x y z. They are where the model has
    /// them in a new renderer, and stay where they were put.
    ///
    /// # Errors
    /// When there are more or fewer than the model has, or one is not finite.
    pub fn place_mocap_bodies(&mut self, poses: &[f64]) -> Result<(), RenderError> {
        if poses.len() != self.mocap.len() || !poses.iter().all(|x| x.is_finite()) {
            return Err(RenderError::MocapPoses);
        }
        self.mocap.copy_from_slice(poses);
        Ok(())
    }

    /// Puts the nodes of all soft bodies, one body after the other, at these positions, three coordinates each, world, m. They are at
    /// rest in a new renderer, and stay where they were put.
    ///
    /// # Errors
    /// When there are more or fewer than the model has, or one is not finite.
    pub fn place_soft_bodies(&mut self, positions: &[f64]) -> Result<(), RenderError> {
        let Self { stage, meshes, .. } = self;
        let count: usize = stage.scene.soft_bodies.iter().map(|body| 3 * body.node_count()).sum();
        if positions.len() != count || !positions.iter().all(|x| x.is_finite()) {
            return Err(RenderError::SoftPositions);
        }
        let mut rest = positions;
        for ((skin, body), mesh) in
            stage.skins.iter().zip(&stage.scene.soft_bodies).zip(&mut meshes[stage.meshes.len()..])
        {
            let own;
            (own, rest) = rest.split_at(3 * body.node_count());
            skin.place(own, Arc::make_mut(mesh));
        }
        Ok(())
    }

    /// Gives soft bodies the colours of their nodes, one body's after the other's, red, green, blue from 0 to 1; none: their own colours,
    /// as in a new renderer.
    ///
    /// # Errors
    /// When there are more or fewer than the model has nodes.
    pub fn paint_soft_bodies(&mut self, colours: Option<&[[f32; 3]]>) -> Result<(), RenderError> {
        let Self { stage, meshes, .. } = self;
        let bodies = &stage.scene.soft_bodies;
        let count: usize = bodies.iter().map(|body| body.node_count()).sum();
        if colours.is_some_and(|colours| colours.len() != count) {
            return Err(RenderError::SoftColours);
        }
        let mut rest = colours;
        for ((skin, body), mesh) in stage.skins.iter().zip(bodies).zip(&mut meshes[stage.meshes.len()..]) {
            match rest.map(|rest| rest.split_at(body.node_count())) {
                Some((own, others)) => {
                    skin.paint(own, Arc::make_mut(mesh));
                    rest = Some(others);
                }
                None if mesh.colours.is_empty() => {}
                None => Arc::make_mut(mesh).colours.clear(),
            }
        }
        Ok(())
    }

    /// Colours: red, green, blue of every pixel, row by row from the top.
    ///
    /// # Errors
    /// When the size, the camera or the configuration do not fit.
    pub fn rgb(
        &mut self,
        q: &[f64],
        eye: &Eye,
        size: [usize; 2],
        options: &Options,
        out: &mut [u8],
    ) -> Result<(), RenderError> {
        let samples = if options.antialias { 2 } else { 1 };
        let view = self.prepare(q, eye, size, out.len(), 3)?;
        let at = Projection::of_view(&view, size, samples);
        self.list(&at, true, &options.markers);
        if options.shadows {
            self.cast_shadows(&at, &options.markers)?;
        }
        let Self { stage, meshes, pool, scratch, lists, shadows, interrupt, .. } = self;
        let turn = |v: Vector| at.rot.transpose_mul(v).map(|x| x as f32);
        let shader = Shader {
            at: &at,
            primitives: &lists.primitives,
            items: &lists.items,
            meshes,
            textures: &stage.textures,
            to_world: at.rot.map(|x| x as f32),
            haze: stage.textures.haze(),
            shadows: options.shadows.then_some(&*shadows),
            to_light: turn(Vec3::from(TO_LIGHT)),
            up: turn(Vec3::new(0.0, 0.0, 1.0)),
            square: square_of(stage.extent) as f32,
            extent: stage.extent as f32,
            samples: samples as f32,
        };
        let lists = &*lists;
        let hands = Hands { pool, scratch, interrupt };
        hands.each_band(out, 3 * size[0], |scratch, band, out| {
            let rows = [band * BAND * samples, (band * BAND + out.len() / (3 * size[0])) * samples];
            lists.draw(&mut scratch.band, &at, band, rows);
            scratch.colour(lists, &shader, samples, size[0], out);
        })?;
        write_labels(&options.labels, &Projection::of_view(&view, size, 1), out);
        Ok(())
    }

    /// Distances along the camera's axis of what the centre of every pixel sees, m, row by row from the top; infinite where that is nothing.
    ///
    /// # Errors
    /// As [`rgb`](Self::rgb).
    pub fn depth(&mut self, q: &[f64], eye: &Eye, size: [usize; 2], out: &mut [f32]) -> Result<(), RenderError> {
        self.samples(q, eye, size, out, |_, w, _| if w > 0.0 { 1.0 / w } else { f32::INFINITY })
    }

    /// The index of the geom that the centre of every pixel sees, row by row from the top; −1 where that is none (or a spatial tendon), −2 − k
    /// where it is soft body k.
    ///
    /// # Errors
    /// As [`rgb`](Self::rgb).
    pub fn segmentation(&mut self, q: &[f64], eye: &Eye, size: [usize; 2], out: &mut [i32]) -> Result<(), RenderError> {
        let geoms = self.stage.scene.geoms.len();
        let soft_bodies = self.stage.scene.soft_bodies.len();
        self.samples(q, eye, size, out, |lists, _, primitive| match primitive {
            NOTHING => -1,
            primitive => match lists.primitives.list[primitive as usize].item as usize {
                geom if geom < geoms => geom as i32,
                soft if soft < geoms + soft_bodies => -2 - (soft - geoms) as i32,
                _ => -1,
            },
        })
    }

    /// A number of every pixel, from the nearness and the primitive that its centre sees.
    fn samples<T: Send>(
        &mut self,
        q: &[f64],
        eye: &Eye,
        size: [usize; 2],
        out: &mut [T],
        value: impl Fn(&Lists, f32, u32) -> T + Sync,
    ) -> Result<(), RenderError> {
        let view = self.prepare(q, eye, size, out.len(), 1)?;
        let at = Projection::of_view(&view, size, 1);
        self.list(&at, false, &[]);
        let Self { pool, scratch, lists, interrupt, .. } = self;
        let lists = &*lists;
        let hands = Hands { pool, scratch, interrupt };
        hands.each_band(out, size[0], |scratch, band, out| {
            let rows = [band * BAND, band * BAND + out.len() / size[0]];
            lists.draw(&mut scratch.band, &at, band, rows);
            for (row, out) in out.chunks_mut(size[0]).enumerate() {
                let start = row * scratch.band.stride;
                for (column, out) in out.iter_mut().enumerate() {
                    let k = start + column;
                    *out = value(lists, scratch.band.nearness[k], scratch.band.primitive[k]);
                }
            }
        })
    }

    fn prepare(
        &mut self,
        q: &[f64],
        eye: &Eye,
        [width, height]: [usize; 2],
        len: usize,
        channels: usize,
    ) -> Result<View, RenderError> {
        let fits = |n: usize| (1..=MAX_SIDE).contains(&n);
        if !(fits(width) && fits(height) && width * height * channels == len) {
            return Err(RenderError::Size);
        }
        let model = &self.stage.model;
        if q.len() != model.nq() {
            return Err(RenderError::Configuration);
        }
        place_bodies(model, q, &mut self.kinematics, &mut self.poses);
        model.place_mocap_bodies(&self.mocap, &mut self.poses);
        self.stage.view(eye, &self.poses).ok_or(RenderError::NoCamera)
    }

    /// Lists what this projection sees of the geoms and markers.
    fn list(&mut self, at: &Projection, see_through: bool, markers: &[Marker]) {
        self.lists.gather(&self.stage, &self.meshes, &self.poses, &self.shown, at, see_through, markers);
    }

    /// Draws what the light sees.
    fn cast_shadows(&mut self, at: &Projection, markers: &[Marker]) -> Result<(), RenderError> {
        let Self { stage, meshes, pool, scratch, shadow_lists: lists, shadows: map, poses, shown, interrupt, .. } =
            self;
        let [least, most] = SHADOW_SIZES;
        let size = (2 * at.size[0].max(at.size[1]) / at.samples).next_multiple_of(BAND).clamp(least, most);
        let Some((centre, radius)) = ball_around(stage, meshes, poses, shown) else {
            map.size = 1;
            map.nearness.clear();
            return Ok(());
        };
        let light = Projection::parallel(centre, -Vec3::from(TO_LIGHT), radius, size);
        lists.gather(stage, meshes, poses, shown, &light, true, markers);
        map.size = size;
        map.nearness.clear();
        map.texel = light.pitch[0] as f32;
        map.nearness.resize(size * size, 0.0);
        let lists = &*lists;
        let hands = Hands { pool, scratch, interrupt };
        hands.each_band(&mut map.nearness, size, |scratch, band, out| {
            let rows = [band * BAND, band * BAND + out.len() / size];
            lists.draw(&mut scratch.band, &light, band, rows);
            out.copy_from_slice(&scratch.band.nearness);
        })?;
        // From the camera's frame to (column, row, nearness) of the light.
        let turn = light.rot.transpose() * at.rot;
        let origin = light.point(at.pose.pos);
        let scale = 1.0 / light.pitch[0];
        let middle = 0.5 * size as f64 - 0.5;
        let rows = [turn.transpose().x * scale, turn.transpose().y * -scale, turn.transpose().z];
        map.rot = Mat3::from_columns(rows[0], rows[1], rows[2]).transpose().map(|x| x as f32);
        let nearness = light.nearest + origin.z;
        map.offset = Vec3::new(origin.x * scale + middle, middle - origin.y * scale, nearness).map(|x| x as f32);
        Ok(())
    }
}

impl Scratch {
    /// Gives every pixel of the band its colour.
    fn colour(&mut self, lists: &Lists, shader: &Shader<'_>, samples: usize, width: usize, out: &mut [u8]) {
        let height = out.len() / (3 * width);
        let first_row = self.band.rows[0];
        self.colours.clear();
        // A pixel's own middle among its samples.
        let middle = |k: usize| (k * samples) as f32 + 0.5 * (samples as f32 - 1.0);
        for row in 0..height {
            let j = middle(row) + first_row as f32;
            for column in 0..width {
                let at = [middle(column), j];
                self.colours.push(pixel(&self.band, shader, [column * samples, row * samples], samples, at));
            }
        }
        for &(_, range) in &lists.transparent {
            self.blend(lists, shader, range, samples, width);
        }
        for (out, colour) in out.as_chunks_mut::<3>().0.iter_mut().zip(&self.colours) {
            *out = colour.map(|c| (c * 255.0 + 0.5) as u8);
        }
    }

    /// Lays an item that is seen through over what is there.
    fn blend(&mut self, lists: &Lists, shader: &Shader<'_>, [first, end]: [u32; 2], samples: usize, width: usize) {
        let rows = self.band.rows;
        let nearest = shader.at.nearest as f32;
        let list = &lists.primitives.list;
        let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
        for primitive in &list[first as usize..end as usize] {
            let bounds = [primitive.bounds.columns, primitive.bounds.rows].map(|b| b.map(usize::from));
            for k in 0..2 {
                low[k] = low[k].min(bounds[k][0]);
                high[k] = high[k].max(bounds[k][1]);
            }
        }
        let (low_row, high_row) = (low[1].max(rows[0]), high[1].min(rows[1]));
        if low_row >= high_row || low[0] >= high[0] {
            return;
        }
        self.layer.stride = self.band.stride;
        self.layer.rows = rows;
        self.layer.nearness.clone_from(&self.band.nearness);
        self.layer.primitive.clear();
        self.layer.primitive.resize(self.band.primitive.len(), NOTHING);
        for k in first..end {
            self.layer.draw(&list[k as usize], k, nearest);
        }
        let opacity = lists.items[list[first as usize].item as usize].rgba[3];
        for row in (low_row - rows[0]) / samples..(high_row - rows[0]).div_ceil(samples) {
            for column in low[0] / samples..high[0].div_ceil(samples).min(width) {
                let corner = [column * samples, row * samples];
                let mut covered = 0.0f32;
                let (mut seen, mut w) = (NOTHING, 0.0);
                for k in 0..samples * samples {
                    let at = (corner[1] + k / samples) * self.layer.stride + corner[0] + k % samples;
                    if self.layer.primitive[at] != NOTHING {
                        covered += 1.0;
                        seen = self.layer.primitive[at];
                        w += self.layer.nearness[at];
                    }
                }
                if seen == NOTHING {
                    continue;
                }
                let centre = 0.5 * (samples as f32 - 1.0);
                let at = [corner[0] as f32 + centre, corner[1] as f32 + centre + rows[0] as f32];
                let colour = shader.colour(seen, at, w / covered);
                let share = opacity * covered / (samples * samples) as f32;
                let under = &mut self.colours[row * width + column];
                *under = mix(*under, colour, share);
            }
        }
    }
}

/// The colour of a pixel: computed once where all samples see the same surface.
fn pixel(band: &Band, shader: &Shader<'_>, corner: [usize; 2], samples: usize, middle: [f32; 2]) -> Colour {
    let start = corner[1] * band.stride + corner[0];
    let first = band.primitive[start];
    if samples == 1 {
        return if first == NOTHING { shader.sky(middle) } else { shader.colour(first, middle, band.nearness[start]) };
    }
    let at = [start, start + 1, start + band.stride, start + band.stride + 1];
    let seen = at.map(|k| band.primitive[k]);
    if first == NOTHING && seen == [NOTHING; 4] {
        return shader.sky(middle);
    }
    if first != NOTHING && seen[1..].iter().all(|&p| p != NOTHING && shader.alike(first, p)) {
        let w = at.iter().fold(0.0, |sum, &k| sum + band.nearness[k]);
        return shader.colour(first, middle, 0.25 * w);
    }
    let mut sum = [0.0; 3];
    for k in 0..4 {
        let sample = [middle[0] - 0.5 + (k % 2) as f32, middle[1] - 0.5 + (k / 2) as f32];
        let colour = match seen[k] {
            NOTHING => shader.sky(sample),
            primitive => shader.colour(primitive, sample, band.nearness[at[k]]),
        };
        sum = std::array::from_fn(|c| sum[c] + 0.25 * colour[c]);
    }
    sum
}

/// A ball around what casts shadows.
fn ball_around(stage: &Stage, meshes: &[Arc<DrawnMesh>], poses: &[Pose<f64>], shown: &Shown) -> Option<(Vector, f64)> {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for (k, (geom, mesh)) in stage.scene.geoms.iter().zip(&stage.mesh_of).enumerate() {
        if shown.rgba(k, geom)[3] < 1.0 || !is_shown(geom, shown.groups) || matches!(geom.shape, Shape::Plane { .. }) {
            continue;
        }
        let pose = poses[geom.body] * geom.pose;
        let (centre, radius) = match mesh {
            Some(mesh) => {
                let [a, b] = meshes[*mesh as usize].bounds;
                ((a + b) * 0.5, 0.5 * (b - a).norm())
            }
            None => geom.shape.bounding_ball()?,
        };
        for (k, x) in pose.transform_point(centre).to_array().into_iter().enumerate() {
            low[k] = low[k].min(x - radius);
            high[k] = high[k].max(x + radius);
        }
    }
    for mesh in &meshes[stage.meshes.len()..] {
        let [a, b] = mesh.bounds.map(|corner| corner.to_array());
        (0..3).for_each(|k| (low[k], high[k]) = (low[k].min(a[k]), high[k].max(b[k])));
    }
    let [low, high] = [Vec3::from(low), Vec3::from(high)];
    let radius = 0.5 * (high - low).norm();
    (radius > 0.0 && radius.is_finite()).then(|| ((low + high) * 0.5, radius))
}

/// The side of the squares of the ground: 1, 2 or 5 times a power of ten, about half the size of the model.
fn square_of(extent: f64) -> f64 {
    let wanted = 0.5 * extent.clamp(1e-6, 1e6);
    let power = libm::pow(10.0, libm::floor(libm::log10(wanted)));
    [5.0, 2.0, 1.0].into_iter().map(|k| k * power).find(|&side| side <= wanted * 1.001).unwrap_or(power)
}

/// What draws the bands of a picture.
struct Hands<'a> {
    pool: &'a mut ThreadPool,
    scratch: &'a [Mutex<Scratch>],
    interrupt: &'a Interrupt,
}

impl Hands<'_> {
    /// Calls `f` with the rows of every band of a picture, with `row` numbers in each row.
    fn each_band<T: Send>(
        self,
        out: &mut [T],
        row: usize,
        f: impl Fn(&mut Scratch, usize, &mut [T]) + Sync,
    ) -> Result<(), RenderError> {
        let Self { pool, scratch, interrupt } = self;
        let draw = |thread: usize, band: usize, out: &mut [T]| {
            if !interrupt.is_raised() {
                // Every thread has its own; it holds nothing from one band to the next.
                let mut scratch = scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
                f(&mut scratch, band, out);
            }
        };
        if pool.count() == 1 {
            out.chunks_mut(row * BAND).enumerate().for_each(|(band, out)| draw(0, band, out));
        } else {
            let mut bands: Vec<(usize, &mut [T])> = out.chunks_mut(row * BAND).enumerate().collect();
            pool.parallel_for(&mut bands, |thread, (band, out)| draw(thread, *band, out));
        }
        if interrupt.is_raised() { Err(RenderError::Interrupted) } else { Ok(()) }
    }
}
