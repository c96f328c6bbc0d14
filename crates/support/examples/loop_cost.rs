//! Prints what it costs to share a loop: `loop_cost [THREADS] [ITEMS]`.

use std::hint::black_box;
use std::time::Instant;

use sapwood_support::ThreadPool;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let threads = args.next().map_or(Ok(2), |s| s.parse())?;
    let count = args.next().map_or(Ok(500), |s| s.parse())?;
    let mut pool = ThreadPool::new(threads)?;
    let mut items = vec![0_u64; count];
    for work in [0, 100, 1000] {
        let mut times: Vec<f64> = (0..20_000)
            .map(|_| {
                let start = Instant::now();
                pool.parallel_for(&mut items, |_, item| {
                    for k in 0..work {
                        *item = black_box(item.wrapping_mul(31).wrapping_add(k));
                    }
                });
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let at = |f: f64| times[(f * times.len() as f64) as usize];
        println!(
            "{count} items of {work} rounds: median {:.2} µs, tenth {:.2}, last hundredth {:.2}",
            at(0.5),
            at(0.1),
            at(0.99)
        );
    }
    Ok(())
}
