//! The interface of algorithms, the engine that runs them, and the observers of a run.

pub mod algorithm;
pub mod engine;
pub mod evaluations;
pub mod front;
pub mod observer;
pub mod ranking;
pub mod replay;
pub mod trace;
