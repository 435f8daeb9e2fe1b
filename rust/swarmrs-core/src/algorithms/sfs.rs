//! Sequential forward selection: add the feature that helps most, again and again.
//!
//! ```text
//! X <- {};  repeat X <- X + argmin J(X + a) over a not in X, until |X| = size
//! ```
//!
//! Every sweep is one turn. Candidates are tried in ascending order and ties go to the lowest feature. Without `size`
//! it runs to the limit of the space and the best subset of all sizes wins.
//!
//! A. W. Whitney, A direct method of nonparametric measurement selection, IEEE Trans. Computers C-20 (1971),
//! doi:10.1109/T-C.1971.223410

use crate::objective::Objective;
use crate::search::{
    Algorithm, Allowed, Card, Evaluation, Family, Field, Optimizer, Params, Space, Turn,
};
use crate::subset::Subset;
use serde::{Deserialize, Serialize};

/// Settings of [`Sfs`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SfsParams {
    size: Option<usize>,
}

impl Params for SfsParams {
    const FIELDS: &'static [Field] = &[Field {
        name: "size",
        allowed: Allowed::AtLeast(1.0),
        about: "features to choose; null tries every size and keeps the best",
    }];
}

/// A subset that grows.
#[derive(Debug)]
pub struct Sfs {
    chosen: Subset,
    size: usize,
}

impl Algorithm for Sfs {
    type Params = SfsParams;
    const CARD: Card = Card {
        name: "Sequential forward selection",
        family: Family::Sequential,
        year: 1971,
        paper: "A. W. Whitney, A direct method of nonparametric measurement selection, IEEE Trans. Computers C-20",
        doi: "10.1109/T-C.1971.223410",
        aliases: &[],
        summary: "adds the feature that helps most, again and again",
        evaluations: None,
        objective: Objective::Error,
    };

    fn start(params: SfsParams, space: &Space) -> Self {
        let size = params.size.unwrap_or(usize::MAX).min(space.limit());
        Self { chosen: Subset::empty(space.n_features()), size }
    }
}

impl Optimizer for Sfs {
    fn ask(&mut self, _: &Turn<'_>) -> Vec<Subset> {
        if self.chosen.count() == self.size {
            return Vec::new();
        }
        self.chosen.complement().iter().map(|feature| self.chosen.with(feature)).collect()
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        // `min_by_key` keeps the first of equals: the lowest feature.
        if let Some(best) = told.iter().min_by_key(|tried| tried.cost) {
            self.chosen = best.subset.clone();
        }
    }
}
