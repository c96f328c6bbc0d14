//! Steps of 32 bits by the kernels, compiled for the host, and by lanes, beside those of 64 on the processor, from the same states and without a
//! warm start.
//!
//! `single_precision MODEL.xml [STATES]`: the states are those of a thousand worlds that fall under random controls, which are held for 25 steps.

use std::path::Path;
use std::sync::Arc;

use batch::{Batch, BatchOptions};
use sapwood_gpu::{Array, GpuBatch, GpuOptions, Order, Place, Precision, Status};
use support::SplitMix64;

const WORLDS: usize = 1000;
/// Steps before the first states, and between states.
const FALL: usize = 200;
const BETWEEN: usize = 25;
/// Greatest control, velocity at the start, rad/s or m/s.
const CONTROL: f64 = 0.4;
const VELOCITY: f64 = 1.0;
/// Velocities that differ by this much of their change are near.
const NEAR: f64 = 1e-3;
/// A change of velocity below this is that of a body at rest, mostly round-off, rad/s or m/s.
const AT_REST: f64 = 1e-3;
/// Regularisation of friction, the least of 32 bits, in both.
const SIGMA: f64 = 1e-3;

#[derive(Default)]
struct Counts {
    states: usize,
    near: usize,
    near_in_lanes: usize,
    plain: usize,
    near_of_plain: usize,
    unsettled: i32,
    overflow: i32,
    coarse: i32,
}

impl Counts {
    fn add(&mut self, is_near: bool, is_moving: bool, status: Status) {
        let is_plain = is_moving && status.unsettled + status.overflow + status.coarse == 0;
        self.states += 1;
        self.near += usize::from(is_near);
        self.plain += usize::from(is_plain);
        self.near_of_plain += usize::from(is_near && is_plain);
        self.unsettled += status.unsettled;
        self.overflow += i32::from(status.overflow > 0);
        self.coarse += i32::from(status.coarse > 0);
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else { return Err("MODEL.xml [STATES]".into()) };
    let states: usize = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let loaded = formats::load(Path::new(&path), &formats::LoadOptions::default())?;
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let (nq, nv) = (model.nq(), model.nv());
    let make = |sigma: f64, precision| {
        let mut options = BatchOptions::default();
        options.precision = precision;
        options.simulation.sigma = sigma;
        Batch::new(model.clone(), scene.clone(), WORLDS, options)
    };
    let mut lead = make(BatchOptions::default().simulation.sigma, batch::Precision::F64)?;
    let mut others = [make(SIGMA, batch::Precision::F64)?, make(SIGMA, batch::Precision::F32)?];
    let options = GpuOptions {
        simulation: sim::Options::default(),
        place: Place::Host(Order::Forwards),
        precision: Precision::F32,
        rows: None,
    };
    let mut own = GpuBatch::new(model.clone(), scene.clone(), WORLDS, options)?;
    let (mut counts, mut random, all) = (Counts::default(), SplitMix64(0), vec![true; WORLDS]);
    lead.v_mut().iter_mut().for_each(|v| *v = random.uniform(-VELOCITY, VELOCITY));
    while counts.states < states {
        let first = counts.states == 0;
        for _ in 0..if first { FALL / BETWEEN } else { 1 } {
            lead.ctrl_mut().iter_mut().for_each(|u| *u = random.uniform(-CONTROL, CONTROL));
            lead.step(BETWEEN)?;
        }
        let (q, v) = (lead.q().to_vec(), lead.v().to_vec());
        own.reset_to(&all, &q, &v)?;
        own.write(Array::Ctrl, lead.ctrl())?;
        // All begin where numbers of 32 bits are.
        let (q, v) = (own.read(Array::Q)?, own.read(Array::V)?);
        for other in &mut others {
            (0..WORLDS).for_each(|world| other.reset_world_to(world, &q[world * nq..][..nq], &v[world * nv..][..nv]));
            other.ctrl_mut().copy_from_slice(lead.ctrl());
            other.step(1)?;
        }
        own.step(1, 0)?;
        let (found, status) = (own.read(Array::V)?, own.status()?);
        for (world, of) in status.into_iter().enumerate() {
            let [before, expected, in_lanes, found] =
                [&v, others[0].v(), others[1].v(), &found].map(|all| &all[world * nv..][..nv]);
            let change = distance(expected, before);
            let most = NEAR * change;
            counts.add(distance(found, expected) < most, change > AT_REST, of);
            counts.near_in_lanes += usize::from(distance(in_lanes, expected) < most);
        }
    }
    let share = |part: f64| part / counts.states as f64;
    println!(
        "{}: {} states, near {:.2} %, of those that move and are not counted {:.2} %, in lanes {:.2} %, not solved {:.1e}, no room {:.1e}, coarse {:.1e}",
        model.name,
        counts.states,
        100.0 * share(counts.near as f64),
        100.0 * counts.near_of_plain as f64 / counts.plain as f64,
        100.0 * share(counts.near_in_lanes as f64),
        share(f64::from(counts.unsettled)),
        share(f64::from(counts.overflow)),
        share(f64::from(counts.coarse)),
    );
    Ok(())
}
