//! What a search minimizes and what it may choose: objectives, constraints, feature groups, budgets.

pub mod budget;
pub mod constraints;
pub mod feasibility;
pub mod groups;
pub mod objective;
pub mod space;
