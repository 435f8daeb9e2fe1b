//! Stateful bases that several algorithms share. None of them wraps another; the update rule stays with the algorithm.

pub mod bests;
pub mod binary;
pub mod exemplars;
pub mod floating;
pub mod learning2d;
pub mod real;
pub mod steady;
