//! Pure functions that several algorithms share: velocity, selection, crossover, mutation, topology, Pareto sorting.

pub mod choice;
pub mod crossover;
pub mod mutation;
pub mod only_choice;
pub mod parameters;
pub mod pareto;
pub mod scale;
pub mod spread;
pub mod standing;
pub mod sweep;
pub mod threshold;
pub mod topology;
pub mod velocity;
