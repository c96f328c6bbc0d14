//! The figures that the MABA paper prints (tables 2 and 3; Xeon Gold 6128 at 3.4 GHz, PhysX, one thread).

/// Simulated frames per second of one character in one motion.
#[derive(Clone, Copy, Debug)]
pub struct FramesPerSecond {
    /// Dense factorisation.
    pub dense: f64,
    /// Conjugate gradients.
    pub pcg: f64,
    /// Sparse factorisation.
    pub sparse: f64,
    /// The modified articulated-body algorithm.
    pub maba: f64,
}

/// Table 2, by the name of the character and of the motion.
pub fn frames_per_second(character: &str, motion: &str) -> Option<FramesPerSecond> {
    let [dense, pcg, sparse, maba] = match (character, motion) {
        ("humanoid", "walk" | "walk clip") => [13_752.0, 14_108.0, 17_083.0, 20_224.0],
        ("humanoid", "run") => [14_109.0, 14_409.0, 17_048.0, 20_523.0],
        ("humanoid", "cartwheel") => [13_729.0, 14_436.0, 16_962.0, 20_213.0],
        ("humanoid", "backflip") => [13_827.0, 14_537.0, 16_943.0, 19_387.0],
        ("dog", "pace") => [6_572.0, 4_838.0, 8_764.0, 11_804.0],
        ("dog", "trot") => [6_551.0, 4_682.0, 8_969.0, 11_540.0],
        ("dog", "canter") => [6_498.0, 4_553.0, 8_738.0, 11_700.0],
        ("snake36", "slither") => [11_897.0, 11_935.0, 12_259.0, 16_444.0],
        ("snake72", "slither") => [5_099.0, 5_069.0, 3_979.0, 8_334.0],
        ("snake195", "slither") => [1_036.0, 944.0, 417.0, 3_036.0],
        _ => return None,
    };
    Some(FramesPerSecond { dense, pcg, sparse, maba })
}

/// Table 3: extra time of Stable PD over the time of the simulation, of DF, SF and MABA, per cent.
pub fn extra_time(character: &str) -> Option<[f64; 3]> {
    Some(match character {
        "humanoid" => [31.1, 18.2, 2.1],
        "dog" => [44.3, 25.7, 3.6],
        "snake36" => [28.0, 28.3, 1.7],
        "snake72" => [39.9, 53.9, 2.5],
        "snake195" => [64.4, 86.3, 3.7],
        _ => return None,
    })
}
