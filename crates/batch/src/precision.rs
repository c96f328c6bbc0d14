//! The precision of a batch.

/// The numbers that worlds are computed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits.
    #[default]
    F64,
    /// 32 bits: twice as many worlds in a register. Velocities agree to about 1e-3 with those of 64 bits; states stay arrays
    /// of 64 bits. The option σ is 1e-3 at least, by which what sticks creeps at 1e-3 g dt.
    F32,
}
