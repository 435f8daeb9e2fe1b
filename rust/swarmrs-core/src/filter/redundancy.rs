//! Pairwise redundancy of features, in whole steps: a row for each relevant feature, computed when it is first needed.
//!
//! A feature that tells nothing about the class has a single level and shares nothing with any other, so it needs no
//! row and no place in one. Of the columns of a gene table that is most.

use super::merit::in_steps;
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The uncertainty of two features.
type Between = Box<dyn Fn(usize, usize) -> f32 + Send + Sync>;

/// Relevance and redundancy of features in steps; see [`Merit`](super::Merit). Relevant features are known by their
/// place among each other.
pub struct Redundancy {
    /// The feature at each place.
    features: Vec<usize>,
    relevance: Vec<u32>,
    between: Between,
    rows: Vec<OnceLock<Box<[u32]>>>,
    /// The number of rows that may still be cached.
    room: AtomicUsize,
}

impl Redundancy {
    /// Of features of this relevance; `between` is the uncertainty of two of them, whichever comes first, and 0 where
    /// one is irrelevant. Rows are kept as long as they fit `memory` bytes.
    pub fn new(relevance: &[f32], between: Between, memory: u64) -> Self {
        let is_relevant = |&feature: &usize| relevance[feature] > 0.0;
        let features: Vec<usize> = (0..relevance.len()).filter(is_relevant).collect();
        let bytes = (features.len() * size_of::<u32>()).max(1);
        Self {
            relevance: features.iter().map(|&feature| in_steps(relevance[feature])).collect(),
            rows: features.iter().map(|_| OnceLock::new()).collect(),
            room: AtomicUsize::new((memory / bytes as u64) as usize),
            features,
            between,
        }
    }

    /// The number of relevant features.
    pub fn n_relevant(&self) -> usize {
        self.features.len()
    }

    /// The relevance of the feature at each place.
    pub fn relevance(&self) -> &[u32] {
        &self.relevance
    }

    /// The places of those members of `subset` that are relevant.
    pub fn places(&self, subset: &Subset) -> Subset {
        Subset::from_fn(self.features.len(), |place| subset.contains(self.features[place]))
    }

    /// The redundancy of the feature at `place` with that at every place, 0 with itself; cached if there is room.
    pub fn row(&self, place: usize) -> Cow<'_, [u32]> {
        if let Some(row) = self.rows[place].get() {
            return Cow::Borrowed(row);
        }
        let row = self.make(place);
        let take = |room: usize| room.checked_sub(1);
        if self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return Cow::Owned(row.into());
        }
        // Whoever comes first stores the same numbers.
        Cow::Borrowed(self.rows[place].get_or_init(|| row))
    }

    /// Makes the rows that are missing at these places, over the threads of `pool`, as long as there is room.
    pub fn prepare(&self, places: &Subset, pool: &Pool) {
        let missing = places.iter().filter(|&place| self.rows[place].get().is_none());
        let missing: Vec<usize> = missing.take(self.room.load(Ordering::Relaxed)).collect();
        pool.map(missing, |place| {
            self.row(place);
        });
    }

    /// Makes a row; what the other feature's row says already is taken from there.
    fn make(&self, place: usize) -> Box<[u32]> {
        let feature = self.features[place];
        let shared = |(at, &other): (usize, &usize)| match self.rows[at].get() {
            _ if at == place => 0,
            Some(row) => row[place],
            None => in_steps((self.between)(feature, other)),
        };
        self.features.iter().enumerate().map(shared).collect()
    }
}

impl std::fmt::Debug for Redundancy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redundancy of {} relevant features", self.features.len())
    }
}
