//! State that several algorithms share. None of these types wraps another; the update rules are in the algorithms.

pub mod bests;
pub mod binary;
pub mod exemplars;
pub mod floating;
pub mod learning2d;
pub mod real;
pub mod steady;
