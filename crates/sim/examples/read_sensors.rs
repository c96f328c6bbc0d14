//! Reads a model and shows what its sensors show after some steps: `read_sensors MODEL [STEPS]`.
//!
//! Lines of standard input, if any, are states: q, v and ctrl, all numbers in a row; each is set, stepped `STEPS` times, and its sensor
//! data printed as a line.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use sapwood_sim::{Options, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("expected the path of a model")?;
    let steps: usize = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let timestep = arguments.next().map(|text| text.parse::<f64>()).transpose()?;
    let loaded = formats::load(Path::new(&path), &formats::LoadOptions::default())?;
    let model = Arc::new(loaded.model);
    let options = Options { timestep, ..Options::default() };
    let mut simulation = Simulation::new(model.clone(), Arc::new(loaded.scene), options)?;
    for (sensor, range) in model.sensors.iter().zip(model.sensor_ranges()) {
        println!("{}\t{}\t{}\t{}", sensor.kind.element(), range.start, range.len(), sensor.name);
    }
    println!();
    let mut data = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let numbers: Vec<f64> = line?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        simulation.reset(None)?;
        let (nq, nv) = (model.nq(), model.nv());
        let state = simulation.state_mut();
        state.q.copy_from_slice(&numbers[..nq]);
        state.v.copy_from_slice(&numbers[nq..nq + nv]);
        state.ctrl.copy_from_slice(&numbers[nq + nv..]);
        for _ in 0..steps {
            simulation.step()?;
        }
        simulation.sensor_data(&mut data);
        let text: Vec<String> = data.iter().map(|x| format!("{x:e}")).collect();
        println!("{}", text.join(" "));
    }
    Ok(())
}
