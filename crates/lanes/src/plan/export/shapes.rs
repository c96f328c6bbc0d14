//! Geoms, the pairs of them that may touch, and their surfaces.

use super::{Description, Levels, NONE, Table, columns};
use crate::plan::contacts::Ends;
use crate::plan::{PairKind, Plan, PlanPair};
use geometry::{HullTables, SolidKind, SolidView};

/// A height field: how many samples there are, heights row by row; half extents, base and top.
struct Field {
    size: [usize; 2],
    heights: Vec<f64>,
    extents: [f64; 4],
}

/// The geoms that take part: those that move, in the order of the plan, then those that are fixed in the world, each with its node.
struct Solids {
    all: Vec<(i32, SolidView)>,
    /// Which hull each has.
    hulls_of: Vec<i32>,
    hulls: Vec<(HullTables, f64)>,
    /// Height fields: of each geom that is one.
    fields: Vec<Field>,
    /// Of each pair its first geom and its second.
    of_pairs: Vec<[usize; 2]>,
}

impl Solids {
    fn new(plan: &Plan, levels: &Levels) -> Self {
        let (contacts, moving) = (&plan.contacts, plan.contacts.geoms.len());
        // The geoms of the scene that the places here have.
        let (mut scene, mut fixed) = (vec![usize::MAX; moving], Vec::new());
        let mut of_pair = |pair: &PlanPair| {
            let [mut first, mut second] = pair.pair.geoms;
            if pair.is_flipped {
                (first, second) = (second, first);
            }
            match pair.kind {
                PairKind::Moving { geoms } => {
                    (scene[geoms[0]], scene[geoms[1]]) = (first, second);
                    geoms
                }
                PairKind::Plane { geom, .. } => {
                    scene[geom] = second;
                    [geom; 2]
                }
                PairKind::Fixed { geom, .. } => {
                    scene[geom] = second;
                    let place = fixed.iter().position(|own| *own == first).unwrap_or_else(|| {
                        fixed.push(first);
                        fixed.len() - 1
                    });
                    [moving + place, geom]
                }
            }
        };
        let of_pairs = contacts.pairs.iter().map(&mut of_pair).collect();
        scene.extend(fixed);
        let (mut all, mut hulls_of, mut hulls, mut names) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut fields: Vec<Field> = Vec::new();
        for (place, &geom) in scene.iter().enumerate() {
            let Some(view) = contacts.narrow.solid(geom) else { continue };
            let node = contacts.geoms.get(place).map_or(NONE, |own| levels.new[own.node]);
            all.push((node, view));
            if let Some((field, top)) = contacts.narrow.height_field(geom) {
                let [x, y] = field.half_extents;
                hulls_of.push(fields.len() as i32);
                fields.push(Field {
                    size: field.size,
                    heights: field.heights.clone(),
                    extents: [x, y, field.base, top],
                });
                continue;
            }
            let hull = contacts.narrow.hull(geom).map_or(NONE, |(name, tables)| {
                let known = names.iter().position(|own| *own == name).unwrap_or_else(|| {
                    names.push(name);
                    hulls.push((tables, view.radius));
                    names.len() - 1
                });
                known as i32
            });
            hulls_of.push(hull);
        }
        Self { all, hulls_of, hulls, fields, of_pairs }
    }

    fn kind(&self, geom: usize) -> SolidKind {
        self.all[geom].1.kind
    }
}

/// What tables have for a shape.
fn number(kind: SolidKind) -> i32 {
    match kind {
        SolidKind::Plane => NONE,
        SolidKind::HeightField => 7,
        SolidKind::Sphere => 0,
        SolidKind::Capsule => 1,
        SolidKind::Ellipsoid => 2,
        SolidKind::Cylinder => 3,
        SolidKind::Box => 4,
        SolidKind::Hull => 5,
    }
}

impl Plan {
    pub(super) fn describe_contacts(&self, levels: &Levels, to: &mut Description) {
        let solids = Solids::new(self, levels);
        describe_solids(self, &solids, to);
        describe_hulls(&solids.hulls, to);
        describe_fields(&solids.fields, to);
        let pairs = || self.contacts.pairs.iter();
        let (mut others, mut curved) = (0, 0);
        let mut kinds = Vec::new();
        for (pair, &[a, b]) in pairs().zip(&solids.of_pairs) {
            let kind = match pair.kind {
                PairKind::Plane { .. } => 0,
                PairKind::Moving { .. } => 1,
                PairKind::Fixed { .. } => 2,
            };
            let shapes = [solids.kind(a), solids.kind(b)];
            for (geom, shape) in
                pair.pair.geoms.iter().zip(if pair.is_flipped { [shapes[1], shapes[0]] } else { shapes })
            {
                if kind != 0 && shape == SolidKind::Plane {
                    to.missing.push(format!("contact of a plane that moves (geom {geom})"));
                }
            }
            // Pairs without a closed form: 1, or 2 where the second geom's shape comes first.
            let side = match () {
                () if pair.is_closed => 0,
                () if shapes[1] < shapes[0] => 2,
                () => 1,
            };
            others += usize::from(side > 0);
            let is_curved = |shape: &SolidKind| matches!(shape, SolidKind::Ellipsoid | SolidKind::Cylinder);
            curved += usize::from(side > 0 && shapes.iter().any(is_curved));
            kinds.push([kind, a as i32, b as i32, side]);
        }
        to.missing.sort();
        to.missing.dedup();
        let (slots, first_limit) = (self.contacts.slots, self.constraints.first_limit);
        to.sizes.extend([
            ("OTHERS", others),
            ("CURVED", curved),
            ("SPINS", first_limit - slots),
            ("ROLLS", usize::from(self.constraints.rolls)),
        ]);
        to.whole.push(Table::new("pair_kind", kinds));
        to.whole.push(Table::new("pair_slots", pairs().map(|pair| [pair.first as i32, pair.count as i32])));
        let plane = |pair: &PlanPair| match pair.kind {
            PairKind::Plane { normal, height, .. } => [normal.x, normal.y, normal.z, height],
            _ => [0.0; 4],
        };
        to.real.push(Table::new("pair_plane", pairs().map(plane)));
        to.real.push(Table::new("pair_margin", pairs().map(|pair| [pair.margin])));
        to.whole.push(Table::new("pair_spring", pairs().map(|pair| [self.compliance(&pair.surface.compliance).0])));
        let spring = |pair: &PlanPair| {
            let (_, [a, b, c, d, e, f, g]) = self.compliance(&pair.surface.compliance);
            [a, b, c, d, e, f, g, pair.surface.spring_depth]
        };
        to.real.push(Table::new("pair_law", pairs().map(spring)));
        let ordinal = |k: usize| k - self.contacts.pairs[self.contacts.ends[k].pair].first;
        // Its pair, its place among the points of it, both nodes, and its rolling and torsional friction.
        let slot = |(k, ends): (usize, &Ends)| {
            let spin = self.constraints.spin_of[k].map_or(NONE, |spin| (spin - slots) as i32);
            [ends.pair as i32, ordinal(k) as i32, levels.of(ends.nodes[0]), levels.of(ends.nodes[1]), spin]
        };
        to.whole.push(Table::new("slot_of", self.contacts.ends.iter().enumerate().map(slot)));
    }
}

/// Geoms, those that are fixed in the world behind those that move.
fn describe_solids(plan: &Plan, solids: &Solids, to: &mut Description) {
    let all = || solids.all.iter().map(|(_, view)| view);
    let kind = |((node, view), hull): (&(i32, SolidView), &i32)| [*node, number(view.kind), *hull];
    to.whole.push(Table::new("geom_kind", solids.all.iter().zip(&solids.hulls_of).map(kind)));
    // Of those that move the plan has them in the axes of its nodes.
    let place = |(k, view): (usize, &SolidView)| match plan.contacts.geoms.get(k) {
        Some(geom) => (geom.pos, geom.rot),
        None => (view.pos, view.rot),
    };
    let places = || all().enumerate().map(place);
    to.real.extend([
        Table::new("geom_pos", places().map(|(pos, _)| pos.to_array())),
        Table::new("geom_rot", places().map(|(_, rot)| columns(&rot))),
        Table::new("geom_size", all().map(|view| view.size.to_array())),
        Table::new("geom_half", all().map(|view| view.half_extents.to_array())),
        Table::new("geom_centre", all().map(|view| view.centre.to_array())),
        Table::new("geom_radius", all().map(|view| [view.radius])),
        Table::new("geom_rest_depth", all().map(|view| [view.rest_depth])),
    ]);
}

/// Hulls, one after the other; indices are those of the tables of all.
fn describe_hulls(hulls: &[(HullTables, f64)], to: &mut Description) {
    let (mut of, mut vertices, mut ranges, mut neighbours) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut around, mut normals, mut face_ranges, mut corners) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut starts, mut largest) = (Vec::new(), 0);
    for (hull, _) in hulls {
        let (vertex, face) = (vertices.len() as i32, normals.len() as i32);
        let (neighbour, first_around, corner) = (neighbours.len() as i32, around.len() as i32, corners.len() as i32);
        let faces = [face, face + hull.normals.len() as i32];
        of.push([vertex, hull.vertices.len() as i32, starts.len() as i32, faces[0], faces[1]]);
        vertices.extend(hull.vertices.iter().map(|v| v.to_array()));
        ranges.extend(hull.vertex_ranges.iter().map(|&[a, b, c, d]| {
            [neighbour + a as i32, neighbour + b as i32, first_around + c as i32, first_around + d as i32]
        }));
        neighbours.extend(hull.neighbours.iter().map(|i| [vertex + *i as i32]));
        around.extend(hull.faces.iter().map(|i| [face + *i as i32]));
        normals.extend(hull.normals.iter().map(|n| n.to_array()));
        face_ranges.extend(hull.face_ranges.iter().map(|range| range.map(|i| corner + i as i32)));
        corners.extend(hull.corners.iter().map(|i| [vertex + *i as i32]));
        starts.extend(hull.starts.iter().map(|i| [vertex + *i as i32]));
        largest = hull.face_ranges.iter().map(|[a, b]| (b - a) as usize).fold(largest, usize::max);
    }
    to.sizes.extend([("HULLS", hulls.len()), ("LARGEST_FACE", largest)]);
    to.whole.extend([
        Table::new("hull_of", of),
        Table::new("vertex_range", ranges),
        Table::new("hull_neighbour", neighbours),
        Table::new("hull_face", around),
        Table::new("face_range", face_ranges),
        Table::new("hull_corner", corners),
        Table::new("hull_start", starts),
    ]);
    to.real.extend([
        Table::new("hull_radius", hulls.iter().map(|(_, radius)| [*radius])),
        Table::new("hull_vertex", vertices),
        Table::new("face_normal", normals),
    ]);
}

/// Height fields, their samples one field after the other.
fn describe_fields(fields: &[Field], to: &mut Description) {
    let mut first = 0;
    let of = fields.iter().map(|field| {
        let [rows, columns] = field.size;
        first += rows * columns;
        [(first - rows * columns) as i32, rows as i32, columns as i32]
    });
    to.whole.push(Table::new("field_of", of));
    to.sizes.push(("FIELDS", fields.len()));
    to.real.push(Table::new("field_size", fields.iter().map(|field| field.extents)));
    to.real.push(Table::new("field_height", fields.iter().flat_map(|field| &field.heights).map(|height| [*height])));
}
