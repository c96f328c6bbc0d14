//! Time on a machine that is shared.

use std::time::Duration;

use crate::Error;

/// The time that this thread has run on a processor: other programs do not count. Elapsed time where the system does not tell.
fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

/// Seconds that a batch of work takes.
///
/// # Errors
/// Those of the work.
pub fn time(work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
    let start = thread_time();
    work()?;
    Ok((thread_time() - start).as_secs_f64())
}

/// Times of one piece of work, measured again and again.
#[derive(Clone, Debug, Default)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// The median, s; 0 if there are none.
    pub fn median(&self) -> f64 {
        median(self.0.clone())
    }

    /// The least, s.
    pub fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The median of what this takes beyond `base`, as a share of this, of pairs measured next to each other.
    pub fn share_beyond(&self, base: &Self) -> f64 {
        median(self.0.iter().zip(&base.0).map(|(all, base)| 1.0 - base / all).collect())
    }
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len();
    if n == 0 { 0.0 } else { 0.5 * (samples[(n - 1) / 2] + samples[n / 2]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_stand_aside_from_outliers() {
        let (all, base) = (Samples(vec![4.0, 2.0, 90.0]), Samples(vec![3.0, 1.0, 1.0]));
        assert_eq!((all.median(), all.least()), (4.0, 2.0));
        assert_eq!(all.share_beyond(&base), 0.5);
        assert_eq!(Samples(vec![1.0, 2.0]).median(), 1.5);
    }

    #[test]
    fn work_takes_time() {
        let mut x = 1.0_f64;
        let seconds = time(|| {
            for _ in 0..2_000_000 {
                x = std::hint::black_box(x * 1.000_000_1);
            }
            Ok(())
        });
        assert!(seconds.expect("no error") > 1e-4);
    }
}
