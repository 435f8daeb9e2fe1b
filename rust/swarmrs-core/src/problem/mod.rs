//! The problem of a search: objectives, constraints, feature groups, the search space, budgets.

pub mod budget;
pub mod constraints;
mod feasibility;
pub mod groups;
pub mod objective;
pub mod space;
