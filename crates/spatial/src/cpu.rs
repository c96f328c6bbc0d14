//! The instructions that this processor has, and whether it has those that the program is compiled for.
//!
//! For the latter `is_x86_feature_detected!` cannot tell: it answers `true` at compile time for every feature that is on for the whole
//! program. So this reads `cpuid` itself.

/// The instruction sets of x86-64-v3 that this processor lacks, where the program is compiled for them; else none.
///
/// To be called before anything else: without them the first computation would die of SIGILL. What runs here compares
/// bits of `cpuid` alone.
#[inline(never)]
pub fn missing_instruction_sets() -> Vec<&'static str> {
    #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
    return x86::missing(&x86::Registers::read());
    #[cfg(not(all(target_arch = "x86_64", target_feature = "avx2")))]
    Vec::new()
}

/// Whether this processor has AVX2 and FMA, which programs that are not compiled for them use where a step takes its time.
#[inline]
pub fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether this processor has the 512-bit instructions (AVX-512 F, VL, DQ, BW) that the widest lanes use.
#[inline]
pub fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512vl")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512bw");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
mod x86 {
    use std::arch::x86_64::__cpuid_count;

    /// The registers of `cpuid` that name instruction sets (Intel SDM vol. 2A, CPUID; AMD APM vol. 3, appendix E).
    #[derive(Clone, Copy, Debug)]
    pub struct Registers {
        /// ECX of leaf 1.
        pub basic: u32,
        /// EBX of leaf 7.
        pub extended: u32,
        /// ECX of leaf 0x8000_0001.
        pub amd: u32,
    }

    impl Registers {
        pub fn read() -> Self {
            let leaf = |leaf: u32, register: fn(std::arch::x86_64::CpuidResult) -> u32| {
                let highest = __cpuid_count(leaf & 0x8000_0000, 0).eax;
                if leaf <= highest { register(__cpuid_count(leaf, 0)) } else { 0 }
            };
            Self { basic: leaf(1, |r| r.ecx), extended: leaf(7, |r| r.ebx), amd: leaf(0x8000_0001, |r| r.ecx) }
        }
    }

    /// The instruction sets of x86-64-v3 that are not there. OSXSAVE stands for the operating system's part.
    pub fn missing(registers: &Registers) -> Vec<&'static str> {
        let needed = [
            ("FMA", registers.basic, 12),
            ("MOVBE", registers.basic, 22),
            ("OSXSAVE", registers.basic, 27),
            ("AVX", registers.basic, 28),
            ("F16C", registers.basic, 29),
            ("BMI1", registers.extended, 3),
            ("AVX2", registers.extended, 5),
            ("BMI2", registers.extended, 8),
            ("LZCNT", registers.amd, 5),
        ];
        needed.iter().filter(|(_, register, bit)| register >> bit & 1 == 0).map(|&(name, ..)| name).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn this_processor_has_what_the_test_runs_on() {
            assert_eq!(missing(&Registers::read()), Vec::<&str>::new());
        }

        #[test]
        fn names_what_is_missing() {
            let here = Registers::read();
            let without_avx2 = Registers { extended: here.extended & !(1 << 5), ..here };
            assert_eq!(missing(&without_avx2), ["AVX2"]);
            let without_fma = Registers { basic: here.basic & !(1 << 12), ..here };
            assert_eq!(missing(&without_fma), ["FMA"]);
        }
    }
}
