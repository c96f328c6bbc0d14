//! A cart with a pole that stands: the derivative of a step makes the controller (discrete Riccati iteration).

use sapwood::{Options, World};

const CART: &str = r#"<mujoco><option timestep="0.01"/><worldbody><body><joint type="slide" axis="1 0 0"/>
    <geom type="box" size="0.1 0.1 0.05" mass="1" contype="0" conaffinity="0"/>
    <body><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.02" mass="0.3" contype="0" conaffinity="0"/>
    </body></body></worldbody><actuator><motor joint="slide"/></actuator></mujoco>"#;

const N: usize = 4;
type Matrix = [[f64; N]; N];

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = CART.replacen("<joint type=\"slide\"", "<joint name=\"slide\" type=\"slide\"", 1);
    let mut simulation = World::from_text(&text)?.simulate(Options::default())?;
    let jacobians = simulation.step_jacobians()?;
    let mut a = [[0.0; N]; N];
    a.iter_mut().flatten().zip(&jacobians.a).for_each(|(a, value)| *a = *value);
    let b: Vec<f64> = jacobians.b.clone();
    let gain = lqr(&a, &b);
    println!("gains {gain:.2?}");

    simulation.state_mut().q[1] = 0.2; // the pole leans by 11 degrees
    for _ in 0..500 {
        let state = simulation.state();
        let x = [state.q[0], state.q[1], state.v[0], state.v[1]];
        let force: f64 = gain.iter().zip(x).map(|(gain, x)| -gain * x).sum();
        simulation.state_mut().ctrl[0] = force;
        simulation.step()?;
    }
    let lean = simulation.state().q[1];
    println!("after 5 s the pole leans by {lean:.1e} rad");
    assert!(lean.abs() < 1e-3);
    Ok(())
}

/// The gains that minimise Σ |x|² + u², by iterating the Riccati equation.
fn lqr(a: &Matrix, b: &[f64]) -> [f64; N] {
    let mut p = [[0.0; N]; N];
    let mut gain = [0.0; N];
    for _ in 0..2000 {
        let pb: [f64; N] = std::array::from_fn(|i| (0..N).map(|k| p[i][k] * b[k]).sum());
        let weight = 1.0 + (0..N).map(|i| b[i] * pb[i]).sum::<f64>();
        gain = std::array::from_fn(|j| (0..N).map(|i| pb[i] * a[i][j]).sum::<f64>() / weight);
        let closed: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] - b[i] * gain[j]));
        let pa: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| (0..N).map(|k| p[i][k] * closed[k][j]).sum()));
        p = std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..N).map(|k| a[k][i] * pa[k][j]).sum::<f64>() + if i == j { 1.0 } else { 0.0 })
        });
    }
    gain
}
