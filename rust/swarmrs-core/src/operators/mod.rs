//! What several algorithms share: pure functions of their arguments.

pub mod archive;
pub mod bests;
pub mod binary_swarm;
pub mod choice;
pub mod crossover;
pub mod divisions;
pub mod exemplars;
pub mod flip_swarm;
pub mod floating;
pub mod gaussian_swarm;
pub mod grouped_swarm;
pub mod learners;
pub mod learning2d;
pub mod local_search;
pub mod mutation;
pub mod only_choice;
pub mod parameters;
pub mod pareto;
pub mod real_swarm;
pub mod scale;

pub mod spread;
pub mod steady;
pub mod sweep;
pub mod topology;
pub mod variable_length;
pub mod velocity;
