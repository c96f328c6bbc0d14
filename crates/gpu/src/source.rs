//! The text of the kernels for a model's shape, and the tables of its numbers.

use std::fmt::Write;

use lanes::{Description, Numbers, Plan, SensorTables, Table};

use crate::{GpuError, Precision, chains};

/// The kernels, in the order in which they are compiled.
const FILES: [&str; 22] = [
    include_str!("../kernels/base.h"),
    // Between these two stands what depends on the model's shape.
    include_str!("../kernels/world.h"),
    include_str!("../kernels/kinematics.h"),
    include_str!("../kernels/dynamics.h"),
    include_str!("../kernels/forces.h"),
    include_str!("../kernels/round.h"),
    include_str!("../kernels/shapes.h"),
    include_str!("../kernels/manifold.h"),
    include_str!("../kernels/nearest.h"),
    include_str!("../kernels/pairs.h"),
    include_str!("../kernels/field.h"),
    include_str!("../kernels/separate.h"),
    include_str!("../kernels/collide.h"),
    include_str!("../kernels/laws.h"),
    include_str!("../kernels/constrain.h"),
    include_str!("../kernels/choose.h"),
    include_str!("../kernels/space.h"),
    include_str!("../kernels/newton.h"),
    include_str!("../kernels/resolve.h"),
    include_str!("../kernels/balance.h"),
    include_str!("../kernels/sensors.h"),
    concat!(include_str!("../kernels/step.h"), include_str!("../kernels/kernel.h")),
];

/// Room for constraints in shared memory, and how threads are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Threads of a world: 8, 16 or 32.
    pub lanes: usize,
    /// Worlds of a block.
    pub worlds_a_block: usize,
    /// Blocks of three rows that a step may solve for.
    pub blocks: usize,
    /// Contact points that a step may look at, and these with all other constraints.
    pub contacts: usize,
    /// Both together.
    pub candidates: usize,
    /// Numbers of what a constraint met.
    pub met: usize,
}

/// Rows that a step may solve for at most, as in lanes.
pub const MAX_ROWS: usize = 96;

impl Layout {
    /// What a model needs; `rows` is the room for rows of constraints if the user says so.
    fn new(description: &Description, rows: Option<usize>) -> Self {
        let size = |name: &str| size_of(description, name);
        let (slots, constraints, first) = (size("SLOTS"), size("CONSTRAINTS"), size("FIRST_LIMIT"));
        let [threes, ones] = description.always;
        let limits = (constraints - first).saturating_sub(threes + ones + size("DRIVES")).div_ceil(2);
        let least = threes + ones.div_ceil(3);
        // Flat faces touch in four points, boxes in up to eight.
        let (own, of_others) = if size("OTHERS") > 0 { (12, 4) } else { (8, 2) };
        let contacts = slots.min(own + of_others * (size("TREES") - 1));
        // Rolling and torsional friction takes rows beside those of contacts.
        let of_spins = if size("SPINS") == 0 { 0 } else { contacts.div_ceil(if size("ROLLS") > 0 { 1 } else { 3 }) };
        // Of tight limits all drives are beyond theirs at once.
        let drives = description.limited_drives;
        let standard = least + contacts + of_spins + (limits.min(6) + drives).div_ceil(3);
        let blocks = rows.map_or(standard, |rows| rows.div_ceil(3)).clamp(1, MAX_ROWS / 3);
        // More points are near than push; of the sides of limits few are.
        let contacts = slots.min(blocks + blocks.div_ceil(2) + 1);
        let candidates = (contacts + threes + ones + drives + limits.min(blocks.max(8))).max(1);
        let lanes = if size("NODES") > 24 || blocks > 16 { 32 } else { 16 };
        let met = if size("SPINS") > 0 { 8 } else { 5 };
        Self { lanes, worlds_a_block: 8, blocks, contacts, candidates, met }
    }
}

impl Layout {
    /// Blocks that a step of the solver may change. Mostly some of those that are solved for do not push; what has no room here waits for the
    /// next iteration.
    pub fn active_blocks(&self) -> usize {
        self.blocks.min(usize::max(8, self.blocks * 4 / 5))
    }
}

/// The source of the kernels of a model, and its tables.
#[derive(Clone, Debug)]
pub struct Source {
    /// The whole text.
    pub text: String,
    /// Tables of the plan.
    pub whole: Vec<i32>,
    /// Numbers of the plan.
    pub reals: Vec<f64>,
    /// Numbers that a world may have of its own.
    pub own: Vec<f64>,
    /// The layout.
    pub layout: Layout,
}

/// The entries of what there are `name` of.
fn size_of(description: &Description, name: &str) -> usize {
    description.sizes.iter().find(|(own, _)| *own == name).map_or(0, |(_, size)| *size)
}

impl Source {
    /// The kernels for a plan and the sensors of its model.
    ///
    /// # Errors
    /// When the model has something that the kernels do not simulate: every such thing is named.
    pub fn new(
        plan: &Plan,
        sensors: &SensorTables,
        precision: Precision,
        rows: Option<usize>,
    ) -> Result<Self, GpuError> {
        let mut description = plan.describe();
        if !description.missing.is_empty() {
            return Err(GpuError::Missing(description.missing));
        }
        let layout = Layout::new(&description, rows);
        // All sensors are read, or none.
        let is_sensed = sensors.missing.is_empty();
        let sensed = sensors.whole.first().filter(|_| is_sensed).map_or(0, |of| of.items);
        description.sizes.extend([("SENSORS", sensed), ("SENSOR_NUMBERS", sensors.numbers)]);
        if sensed > 0 {
            description.whole.extend(sensors.whole.iter().cloned());
            description.real.extend(sensors.real.iter().cloned());
        }
        let parents = description.whole.iter().find(|table| table.name == "node_parent");
        let chains = chains::tables(parents.map_or(&[], |table| &table.values));
        description.sizes.push(("CHAIN_LEVELS", chains[0].items - 1));
        description.whole.extend(chains);
        let own = plan.numbers.tables(plan);
        let mut text = String::new();
        // Writing to a string does not fail.
        let mut define = |name: &str, value: String| writeln!(text, "#define {name} {value}").unwrap_or_default();
        if precision == Precision::F64 {
            define("DOUBLE", "1".into());
        }
        for (name, size) in &description.sizes {
            define(name, size.to_string());
        }
        for (name, value) in &description.scalars {
            define(name, literal(*value));
        }
        for (name, value) in [
            ("LANES", layout.lanes),
            ("WORLDS_A_BLOCK", layout.worlds_a_block),
            ("LEAST_BLOCKS", 1),
            ("BLOCKS", layout.blocks),
            ("ACTIVE_BLOCKS", layout.active_blocks()),
            ("CONTACTS", layout.contacts),
            ("CANDIDATES", layout.candidates),
            ("HIT_ROOM", hit_room(&description, &layout)),
            ("OWN_SIZE", own.iter().map(|table| table.values.len()).sum()),
        ] {
            define(name, value.to_string());
        }
        let (mut whole, mut reals, mut of_world, mut levels) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        // Levels are read by all lanes at once.
        for (name, of) in [("LEVEL_START", "level_start"), ("LEVEL_DOFS", "level_dofs"), ("CHAIN_START", "chain_start")]
        {
            let table = description.whole.iter().find(|table| table.name == of);
            let values: Vec<String> = table.iter().flat_map(|table| &table.values).map(ToString::to_string).collect();
            levels += &format!("CONSTANT int {name}[] = {{{}}};\n", values.join(", "));
        }
        add_tables(&mut text, "whole", &description.whole, &mut whole);
        add_tables(&mut text, "reals", &description.real, &mut reals);
        add_tables(&mut text, "own", &own, &mut of_world);
        // Sizes and the precision come before everything else.
        text.push_str(FILES[0]);
        text.push_str(&levels);
        text.push_str(&FILES[1..].concat());
        Ok(Self { text, whole, reals, own: of_world, layout })
    }

    /// The numbers of a world that has some of its own.
    pub fn numbers(plan: &Plan, numbers: &Numbers<f64>) -> Vec<f64> {
        numbers.tables(plan).into_iter().flat_map(|table| table.values).collect()
    }
}

/// Pairs that a step may look at closely.
fn hit_room(description: &Description, layout: &Layout) -> usize {
    size_of(description, "PAIRS").min(usize::max(128, 6 * layout.contacts))
}

/// A number as C has it.
fn literal(x: f64) -> String {
    if x.is_infinite() { if x > 0.0 { "1e30".into() } else { "-1e30".into() } } else { format!("{x:e}") }
}

/// Defines how tables are read, `name(item)` or `name(column, item)`, and appends their entries to `all`.
fn add_tables<T: Copy>(text: &mut String, array: &str, tables: &[Table<T>], all: &mut Vec<T>) {
    for table in tables {
        let (name, start, items) = (table.name, all.len(), table.items);
        let line = if table.columns == 1 {
            format!("#define {name}(i) (here.{array}[{start} + (i)])\n")
        } else {
            format!("#define {name}(k, i) (here.{array}[{start} + (k) * {items} + (i)])\n")
        };
        text.push_str(&line);
        all.extend_from_slice(&table.values);
    }
    // An array of nothing is none.
    if let (true, Some(first)) = (all.is_empty(), tables.first()) {
        all.extend(first.values.first());
    }
}
