//! Compares steps in lanes with those of a simulation from the same states: `one_step MODEL [STEPS] [RANGE] [LANES]`.

use std::sync::Arc;

use random::SplitMix64;
use sapwood_batch::{Batch, BatchOptions, Precision};
use sim::{Options, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("expected a model file")?;
    let steps: usize = args.next().map_or(Ok(2000), |s| s.parse())?;
    let range: f64 = args.next().map_or(Ok(1.0), |s| s.parse())?;
    let lanes: usize = args.next().map_or(Ok(1), |s| s.parse())?;
    let loaded = formats::load(path.as_ref(), &formats::LoadOptions::default())?;
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let mut sharp = Options::default();
    sharp.tolerance = std::env::var("TOL").map_or(1e-6, |s| s.parse().unwrap());
    if std::env::var_os("SE").is_some() {
        sharp.scheme = sim::Scheme::SymplecticEuler;
    }
    if let Ok(law) = std::env::var("LAW") {
        sharp.contact = if law == "sap" { sim::ContactLaw::Sap } else { sim::ContactLaw::Lagged };
    }
    let mut simulation = Simulation::new(model.clone(), scene.clone(), sharp.clone())?;
    let mut options = BatchOptions::default();
    options.precision = if std::env::var_os("F32").is_some() { Precision::F32 } else { Precision::F64 };
    options.simulation = sharp;
    (options.lanes, options.threads) = (Some(lanes), Some(1));
    let mut batch = Batch::new(model.clone(), scene, lanes, options)?;
    println!("{:?}", batch.alone());
    let mut random = SplitMix64(0);
    let mut errors = Vec::new();
    for step in 0..steps {
        if step % 25 == 0 {
            for control in &mut simulation.state_mut().ctrl {
                *control = random.uniform(-range, range);
            }
        }
        // What either remembers of the step before is left out.
        let state = simulation.state_mut();
        state.warm_start.clear();
        state.extrapolation = sim::VelocityExtrapolation::default();
        (0..lanes).for_each(|lane| batch.forget(lane));
        let state = simulation.state();
        for lane in 0..lanes {
            batch.q_mut()[lane * model.nq()..][..model.nq()].copy_from_slice(&state.q);
            batch.v_mut()[lane * model.nv()..][..model.nv()].copy_from_slice(&state.v);
            batch.ctrl_mut()[lane * model.nu()..][..model.nu()].copy_from_slice(&state.ctrl);
        }
        let before = batch.stats().left;
        batch.step(1)?;
        let v0 = simulation.state().v.clone();
        simulation.step()?;
        let left = batch.stats().left - before;
        let v = &simulation.state().v;
        let mut most = (0.0, 0);
        for (i, (a, b)) in v.iter().zip(batch.v()).enumerate() {
            let change = (a - b).abs() / (1e-3 + v.iter().zip(&v0).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs())));
            if !(change <= most.0) {
                most = (change, i);
            }
        }
        errors.push((most.0, most.1, step, left, simulation.stats().active_contacts));
        let dq = simulation.state().q.iter().zip(batch.q()).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()));
        if most.0 > 1e-5 && std::env::var_os("DBG").is_some() {
            println!("dq {dq:e}");
            println!("{step} {most:?} {left} {:?}", simulation.stats());
        }
    }
    errors.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{:?}", batch.stats());
    for (error, dof, step, left, pushing) in errors.iter().take(12) {
        println!("step {step}: {error:.2e} at {dof}, {left} left, {pushing} push");
    }
    println!("median {:.2e}, upper hundredth {:.2e}", errors[errors.len() / 2].0, errors[errors.len() / 100].0);
    Ok(())
}
