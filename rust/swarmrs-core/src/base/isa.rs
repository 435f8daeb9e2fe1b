//! The instruction set of the vector kernels in [`simd`](crate::simd), chosen when a process first needs it.

use crate::base::error::{Error, Result};
use std::sync::OnceLock;

/// The environment variable that names the instruction set of a process.
pub const SIMD_VARIABLE: &str = "SWARMRS_SIMD";

/// The instruction set of the kernels. Every one gives the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// Plain Rust, for every processor.
    Scalar,
    /// 256-bit vectors with fused multiply-add and a count of bits; made only where the processor has all three.
    Avx2(HasAvx2),
    /// 512-bit vectors with byte and word lanes and the neural network instructions, which multiply 16-bit numbers and
    /// add the products in one step; made only where the processor has these and all of AVX2.
    Avx512(HasAvx512),
    /// 128-bit vectors of 64-bit ARM processors; made only there.
    Neon(HasNeon),
}

/// Proof that the processor has AVX2, FMA and POPCNT: private, so that only [`Isa::available`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HasAvx2(());

/// Proof that the processor has AVX-512 F, BW, DQ, VL and VNNI, and what [`HasAvx2`] proves: private, so that only
/// [`Isa::available`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HasAvx512(());

/// Proof that the processor is a 64-bit ARM, all of which have NEON: private, so that only [`Isa::available`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HasNeon(());

impl Isa {
    /// The instruction sets of this processor, the fastest last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "other processors have no vector instructions here")]
        let mut available = vec![Self::Scalar];
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("fma")
            && std::is_x86_feature_detected!("popcnt")
        {
            available.push(Self::Avx2(HasAvx2(())));
            if std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512vnni")
            {
                available.push(Self::Avx512(HasAvx512(())));
            }
        }
        #[cfg(target_arch = "aarch64")]
        available.push(Self::Neon(HasNeon(())));
        available
    }

    /// The fastest instruction set of this processor.
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self::Scalar)
    }

    /// The name of an instruction set, as `SWARMRS_SIMD` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2(_) => "avx2",
            Self::Avx512(_) => "avx512",
            Self::Neon(_) => "neon",
        }
    }

    /// The instruction set of this process: the one that `SWARMRS_SIMD` names when it is first needed, else the fastest.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a name that is unknown or that this processor lacks.
    pub fn of_process() -> Result<Self> {
        static CHOSEN: OnceLock<Result<Isa>> = OnceLock::new();
        let choose = || match std::env::var_os(SIMD_VARIABLE) {
            Some(name) if !name.is_empty() => Self::named(&name.to_string_lossy()),
            _ => Ok(Self::best()),
        };
        CHOSEN.get_or_init(choose).clone()
    }

    /// The instruction set of this process; plain Rust for a name that is refused, which is reported where an evaluator
    /// starts.
    pub(crate) fn usual() -> Self {
        Self::of_process().unwrap_or(Self::Scalar)
    }

    /// The instruction set of this name.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a name that is unknown or that this processor lacks.
    pub fn named(name: &str) -> Result<Self> {
        let available = Self::available();
        available.iter().copied().find(|isa| isa.name() == name).ok_or_else(|| {
            let names: Vec<&str> = available.iter().map(|isa| isa.name()).collect();
            let expected =
                format!("{}: the instruction sets of this processor", names.join(" or "));
            Error::out_of_range(SIMD_VARIABLE, name, &expected)
        })
    }
}
