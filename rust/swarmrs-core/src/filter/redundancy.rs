//! The matrix of pairwise redundancy in fixed point, with a row for each relevant feature, computed on first use.
//!
//! An irrelevant feature has a single level and uncertainty 0 with any other, so it has neither a row nor a column in the
//! matrix. In gene expression tables most features are irrelevant.

use super::merit::fixed_point;
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The uncertainty of two features.
type Uncertainty = Box<dyn Fn(usize, usize) -> f32 + Send + Sync>;

/// Relevance and redundancy of features in fixed point; see [`Merit`](super::Merit). A *place* is the position of a
/// feature among the relevant ones.
pub struct Redundancy {
    /// The feature at each place.
    features: Vec<usize>,
    relevance: Vec<u32>,
    uncertainty: Uncertainty,
    rows: Vec<OnceLock<Box<[u32]>>>,
    /// The number of rows that may still be cached.
    free_rows: AtomicUsize,
}

impl Redundancy {
    /// The matrix for features of this relevance; `uncertainty` is symmetric, and 0 if either feature is irrelevant. Rows
    /// are cached as long as they fit in `memory` bytes.
    pub fn new(relevance: &[f32], uncertainty: Uncertainty, memory: u64) -> Self {
        let is_relevant = |&feature: &usize| relevance[feature] > 0.0;
        let features: Vec<usize> = (0..relevance.len()).filter(is_relevant).collect();
        let bytes = (features.len() * size_of::<u32>()).max(1);
        Self {
            relevance: features.iter().map(|&feature| fixed_point(relevance[feature])).collect(),
            rows: features.iter().map(|_| OnceLock::new()).collect(),
            free_rows: AtomicUsize::new((memory / bytes as u64) as usize),
            features,
            uncertainty,
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

    /// The places of the relevant members of `subset`.
    pub fn places(&self, subset: &Subset) -> Subset {
        Subset::from_fn(self.features.len(), |place| subset.contains(self.features[place]))
    }

    /// The redundancy of the feature at `place` with the feature at every place, 0 with itself; cached if memory allows.
    pub fn row(&self, place: usize) -> Cow<'_, [u32]> {
        if let Some(row) = self.rows[place].get() {
            return Cow::Borrowed(row);
        }
        let row = self.compute(place);
        let reserve = |free: usize| free.checked_sub(1);
        if self.free_rows.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve).is_err() {
            return Cow::Owned(row.into());
        }
        // All threads store the same numbers.
        Cow::Borrowed(self.rows[place].get_or_init(|| row))
    }

    /// Computes the missing rows at these places on the threads of `pool`, as long as memory allows.
    pub fn prepare(&self, places: &Subset, pool: &Pool) {
        let missing = places.iter().filter(|&place| self.rows[place].get().is_none());
        let missing: Vec<usize> = missing.take(self.free_rows.load(Ordering::Relaxed)).collect();
        pool.map(missing, |place| {
            self.row(place);
        });
    }

    /// Computes a row; the matrix is symmetric, so entries are copied from rows that exist.
    fn compute(&self, place: usize) -> Box<[u32]> {
        let feature = self.features[place];
        let entry = |(column, &other): (usize, &usize)| match self.rows[column].get() {
            _ if column == place => 0,
            Some(row) => row[place],
            None => fixed_point((self.uncertainty)(feature, other)),
        };
        self.features.iter().enumerate().map(entry).collect()
    }
}

impl std::fmt::Debug for Redundancy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redundancy of {} relevant features", self.features.len())
    }
}
