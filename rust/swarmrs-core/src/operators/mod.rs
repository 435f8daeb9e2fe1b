//! What several algorithms share: pure functions of their arguments.

pub mod bests;
pub mod velocity;
