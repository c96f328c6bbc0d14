//! Ctrl-C, SIGTERM and SIGHUP: the run ends, and what it has computed is written. A second one ends the command at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use support::Interrupt;

/// The signal that came, 0 before one does.
#[derive(Clone, Debug, Default)]
pub struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Listens from now on. Before that, and in commands that never do, signals end the process as they always do.
    pub fn listen() -> io::Result<Self> {
        let signals = Self::default();
        let came_before = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up()) {
            // In this order: from the first line on a signal is heard and no longer ends the process; that one finds the flag down, and sets it.
            flag::register_usize(signal, signals.0.clone(), signal as usize)?;
            flag::register_conditional_shutdown(signal, exit_code(signal).into(), came_before.clone())?;
            flag::register(signal, came_before.clone())?;
        }
        Ok(signals)
    }

    /// What computations are to ask.
    pub fn interrupt(&self) -> Interrupt {
        let came = self.0.clone();
        Interrupt::new(move || came.load(Ordering::Relaxed) != 0)
    }

    /// The name and the exit code of the signal that came.
    pub fn came(&self) -> Option<(&'static str, u8)> {
        let signal = self.0.load(Ordering::Relaxed) as i32;
        let name = match signal {
            SIGINT => "Ctrl-C (SIGINT)",
            SIGTERM => "SIGTERM",
            _ => "SIGHUP",
        };
        (signal != 0).then(|| (name, exit_code(signal)))
    }
}

/// The signal that comes when a terminal goes away; none after `nohup`, which has the system ignore it, and where the
/// system does not tell whether it does, in `/proc`.
#[cfg(unix)]
fn hang_up() -> Option<i32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(mask.trim(), 16).ok()?;
    (ignored >> (SIGHUP - 1) & 1 == 0).then_some(SIGHUP)
}

#[cfg(not(unix))]
fn hang_up() -> Option<i32> {
    None
}

/// As a shell says it of a process that a signal ended: 130, 143 and 129.
fn exit_code(signal: i32) -> u8 {
    128 + signal as u8
}

/// Makes writing beyond the limit of file sizes (`ulimit -f`) an error, which says what happened, not the end of the process.
#[cfg(unix)]
pub fn survive_file_size_limit() -> io::Result<()> {
    // Linux, macOS and the BSDs have one number for it on all processors but MIPS; the crate does not name it.
    const SIGXFSZ: i32 = 25;
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

#[cfg(not(unix))]
pub fn survive_file_size_limit() -> io::Result<()> {
    Ok(())
}
