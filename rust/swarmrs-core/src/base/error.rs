//! Errors of the crate, one variant for each cause.

use thiserror::Error;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything a run can refuse, with fields instead of text.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// No algorithm has this id or alias.
    #[error("unknown algorithm '{id}'")]
    UnknownAlgorithm {
        /// The name given.
        id: String,
        /// The nearest known id.
        nearest: String,
    },
    /// The algorithm has no parameter of this name.
    #[error("unknown parameter '{name}' of {algorithm}")]
    UnknownParameter {
        /// The algorithm's id.
        algorithm: String,
        /// The name given.
        name: String,
        /// The names it does have.
        known: Vec<String>,
    },
    /// A value lies outside what its name allows.
    #[error("{name} is {value}, expected {expected}")]
    OutOfRange {
        /// The setting.
        name: String,
        /// Its value, as text.
        value: String,
        /// The values accepted.
        expected: String,
    },
    /// The table cannot be searched.
    #[error("{what}")]
    BadData {
        /// One line saying what is wrong.
        what: String,
    },
    /// A prescreen leaves nothing to search.
    #[error(
        "no column survives the prescreen {rule}: none of {candidates} is relevant to the class"
    )]
    NoSurvivors {
        /// The rule.
        rule: String,
        /// The number of columns it was given.
        candidates: usize,
    },
    /// The settings contradict each other or cannot be read.
    #[error("{what}")]
    BadSpec {
        /// One line saying what is wrong.
        what: String,
    },
    /// Constraints that no subset can obey.
    #[error("{what}")]
    Contradiction {
        /// One line saying which.
        what: String,
        /// One line on how to mend it.
        hint: String,
    },
    /// A setting that takes more memory or time than there is.
    #[error("{what}")]
    TooLarge {
        /// One line saying what.
        what: String,
        /// One line on how to make it smaller.
        hint: String,
    },
    /// The time limit leaves no time for a single evaluation.
    #[error("{what} of {algorithm} takes longer than the time limit of {seconds} s")]
    TimeLimit {
        /// What takes longer: the set-up, or one evaluation.
        what: String,
        /// The algorithm's id.
        algorithm: String,
        /// The time limit.
        seconds: f64,
    },
    /// A checkpoint belongs to another run, or is damaged.
    #[error("checkpoint {path}: {what}")]
    BadCheckpoint {
        /// The file.
        path: String,
        /// One line saying what is wrong.
        what: String,
    },
    /// The file of a checkpoint cannot be read or written.
    #[error("checkpoint {path}: {what}")]
    CheckpointFile {
        /// The file.
        path: String,
        /// The message of the system.
        what: String,
    },
    /// The caller's own scorer failed.
    #[error("the scorer failed: {what}")]
    Scorer {
        /// Its message.
        what: String,
    },
    /// The run was interrupted while subsets were evaluated.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// A setting outside its range.
    pub fn out_of_range(name: &str, value: impl std::fmt::Display, expected: &str) -> Self {
        Self::OutOfRange {
            name: name.to_owned(),
            value: value.to_string(),
            expected: expected.to_owned(),
        }
    }

    /// One line on how to mend it, where there is one to give.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownAlgorithm { nearest, .. } => {
                Some(format!("did you mean '{nearest}'? the list of algorithms has all ids"))
            }
            Self::UnknownParameter { known, .. } if known.is_empty() => {
                Some("it has no parameters".to_owned())
            }
            Self::UnknownParameter { known, .. } => Some(format!("it has {}", known.join(", "))),
            Self::Contradiction { hint, .. } | Self::TooLarge { hint, .. } => Some(hint.clone()),
            Self::TimeLimit { .. } => Some(
                "raise the time limit, or search a sample of the rows: without one evaluation there is no result"
                    .to_owned(),
            ),
            Self::BadCheckpoint { .. } => {
                Some("give another checkpoint file, or remove this one to start over".to_owned())
            }
            Self::CheckpointFile { .. } => Some(
                "give a file that can be read and written, in a folder on a disk with room"
                    .to_owned(),
            ),
            Self::NoSurvivors { .. } => Some(
                "search without a prescreen: columns that are irrelevant alone can be relevant together"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
