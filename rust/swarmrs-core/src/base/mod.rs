//! Subsets, random streams, math, sums, threads, the clock, cancellation and errors. Imports nothing of ours.

pub mod cancel;
pub mod clock;
pub mod error;
pub mod math;
pub mod parallel;
pub mod random;
pub mod subset;
pub mod sums;
