//! Pure functions that several algorithms share: velocity, selection, crossover, mutation, topology, Pareto sorting.

pub mod crossover;
pub mod initialization;
pub mod mutation;
pub mod ordering;
pub mod parameters;
pub mod pareto;
pub mod scale;
pub mod selection;
pub mod single_proposal;
pub mod sweep;
pub mod threshold;
pub mod topology;
pub mod velocity;
