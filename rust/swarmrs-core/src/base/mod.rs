//! Subsets, random streams, math, sums, threads, the clock, cancellation, the instruction set and errors. Imports nothing of ours.

pub mod cancel;
pub mod clock;
pub mod error;
pub mod isa;
pub mod math;
pub mod parallel;
pub mod random;
pub mod subset;
pub mod sums;
