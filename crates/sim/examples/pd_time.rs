//! Prints microseconds per step of a character under PD control, made in its lane and by the step for all models, in turns:
//! `pd_time MODEL [STEPS] [RATE] [EFFORT]`, steps per second and the limit of all efforts.
//!
//! Targets swing about the default configuration and change in every step; gains change in every 25th. Both simulations go on from the same
//! states, so that they have the same to do.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::load;
use sapwood_sim::{Options, Pd, Simulation};

/// Steps of a turn.
const TURN: usize = 25;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let loaded = load(&args.next().ok_or("expected a model file")?)?;
    let mut number = |otherwise: f64| args.next().map_or(Ok(otherwise), |s| s.parse::<f64>());
    let (steps, rate, effort) = (number(2000.0)? as usize, number(120.0)?, number(100.0)?);
    let options = Options { timestep: Some(1.0 / rate), ..Options::default() };
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let mut in_lane = Simulation::new(model.clone(), scene.clone(), options.clone())?;
    let mut by_all = Simulation::without_lane(model.clone(), scene, options)?;
    let nv = model.nv();
    let of_joints = |x: f64| (0..nv).map(|i| if i < 6 { 0.0 } else { x }).collect::<Vec<f64>>();
    let pd = Pd {
        kp: of_joints(300.0),
        kd: of_joints(20.0),
        target: model.q0.clone(),
        target_velocity: of_joints(0.0),
        effort_limit: vec![effort; nv],
    };
    by_all.state_mut().pd = pd.clone();
    let (mut offset, mut micros) = (of_joints(0.0), [Vec::new(), Vec::new()]);
    let mut residual = 0.0_f64;
    for turn in 0..steps / TURN {
        in_lane.state_mut().restore(&by_all.state().to_bytes())?;
        for (s, micros) in [&mut in_lane, &mut by_all].into_iter().zip(&mut micros) {
            let mut spent = 0.0;
            for k in 0..TURN {
                let time = s.state().time;
                for (i, x) in offset.iter_mut().enumerate().skip(6) {
                    *x = 0.4 * libm::sin(1.7 * i as f64 + 5.0 * time);
                }
                let target = &mut s.state_mut().pd.target;
                target.copy_from_slice(&model.q0);
                multibody::integrate(&model.tree, target, &offset, 1.0);
                if k == 0 {
                    s.state_mut().pd.kp[6..].fill(300.0 + (turn % 7) as f64);
                }
                let start = Instant::now();
                s.step()?;
                spent += start.elapsed().as_secs_f64();
                residual = residual.max(s.stats().residual);
            }
            micros.push(spent * 1e6 / TURN as f64);
        }
    }
    let [lane, all] = micros.map(|mut micros| {
        micros.sort_by(f64::total_cmp);
        [micros[micros.len() / 2], micros[micros.len() / 10]]
    });
    println!(
        "{:.2} µs/step in the lane, {:.2} by all models, median; {:.2} and {:.2} at the lower tenth; residual {residual:.1e} at most",
        lane[0], all[0], lane[1], all[1]
    );
    Ok(())
}
