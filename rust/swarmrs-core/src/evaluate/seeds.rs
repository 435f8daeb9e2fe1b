//! Upper bounds for the distance of the k-th neighbour, so that the search for neighbours starts with a narrow net.
//!
//! The nearest rows under all features are still near under most subsets. Their differences are tabulated once; for a
//! subset the tables are summed and the k-th least sum is a bound. Only the time depends on it: the nearest of all rows
//! lie within the bound by definition, and they are found exactly.

use super::kernels::{self, Isa};
use crate::subset::Subset;

/// Rows that were near once, for every place.
#[derive(Debug)]
pub struct Seeds {
    /// How many for each place.
    count: usize,
    places: usize,
    /// Feature after feature, seed after seed: the difference at each place, rounded up.
    table: Vec<f32>,
}

/// Tables are made up to this many bytes.
const ROOM: usize = 8 << 20;

impl Seeds {
    /// How many seeds a place should have for `k` neighbours.
    pub fn count(k: usize) -> usize {
        k + 2
    }

    /// Whether the tables of this many features, places and seeds are worth their memory.
    pub fn fit(n_features: usize, places: usize, count: usize) -> bool {
        n_features * places * count * size_of::<f32>() <= ROOM
    }

    /// Tabulates `difference(feature, place, seed)` for each feature, place and number of a seed.
    pub fn new(
        (n_features, places, count): (usize, usize, usize),
        difference: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        let mut table = Vec::with_capacity(n_features * places * count);
        for feature in 0..n_features {
            for seed in 0..count {
                table.extend(
                    (0..places).map(|place| (difference(feature, place, seed) as f32).next_up()),
                );
            }
        }
        Self { count, places, table }
    }

    /// A number of steps that the k-th neighbour of each place does not exceed.
    pub fn bounds(&self, isa: Isa, subset: &Subset, k: usize) -> Vec<f32> {
        let width = self.count * self.places;
        let mut sums = vec![0.0; width];
        let mut size = 2.0;
        for feature in subset.iter() {
            kernels::add_floats(isa, &mut sums, &self.table[feature * width..][..width]);
            size += 1.0;
        }
        // The k-th least of each place, all places side by side: the greater of two goes on to the next level.
        let mut least = vec![f32::INFINITY; k * self.places];
        for seed in sums.chunks_exact_mut(self.places) {
            for level in least.chunks_exact_mut(self.places) {
                kernels::order(isa, level, seed);
            }
        }
        // Each of the additions may have rounded down by half a unit in the last place.
        let slack = 1.0 + size * f32::EPSILON;
        least[(k - 1) * self.places..].iter().map(|bound| bound * slack).collect()
    }
}
