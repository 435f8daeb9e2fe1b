//! The search space: everything an algorithm knows about the problem.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::filter::Filter;
use crate::problem::feasibility::Feasibility;
use crate::problem::groups::Groups;
use crate::simd::words;
use std::sync::Arc;

/// The search space of an algorithm. Included and excluded features are not part of it; the engine handles them.
#[derive(Debug, Clone)]
pub struct Space {
    n_features: usize,
    limit: usize,
    has_empty: bool,
    has_data: bool,
    feasibility: Option<Arc<Feasibility>>,
    filter: Option<Arc<Filter>>,
    groups: Option<Arc<Groups>>,
    relevance: Option<Arc<[usize]>>,
}

impl Space {
    /// A space of `n_features` features of which at most `limit` may be selected.
    ///
    /// # Panics
    /// If either is 0.
    pub fn new(n_features: usize, limit: usize) -> Self {
        assert!(n_features > 0 && limit > 0, "an empty space");
        Self {
            n_features,
            limit: limit.min(n_features),
            has_empty: false,
            has_data: true,
            feasibility: None,
            filter: None,
            groups: None,
            relevance: None,
        }
    }

    /// The same space with the empty subset.
    #[must_use]
    pub fn with_empty(self) -> Self {
        Self { has_empty: true, ..self }
    }

    /// The same space for a problem without a dataset: costs are exact, not estimates from a sample of rows.
    #[must_use]
    pub fn without_data(self) -> Self {
        Self { has_data: false, ..self }
    }

    /// True if the problem has a dataset, so that costs are estimates.
    pub fn has_data(&self) -> bool {
        self.has_data
    }

    /// The same space with units that differ in size or exclude each other; a feature of the algorithm is then a unit.
    #[must_use]
    pub(crate) fn with_feasibility(mut self, feasibility: Arc<Feasibility>) -> Self {
        self.limit = self.limit.min(feasibility.upper_bound());
        self.feasibility = Some(feasibility);
        self
    }

    /// The same space with a filter.
    #[must_use]
    pub fn with_filter(mut self, filter: Arc<Filter>) -> Self {
        self.filter = Some(filter);
        self
    }

    /// The relevance and redundancy of features; None without a dataset, or if the algorithm does not declare to use it.
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_deref()
    }

    /// The same space with a ranking of its features by relevance.
    #[must_use]
    pub fn with_relevance(mut self, order: Arc<[usize]>) -> Self {
        self.relevance = Some(order);
        self
    }

    /// The features in descending order of relevance; None without a dataset, or if the algorithm does not declare to use
    /// it.
    pub fn by_relevance(&self) -> Option<&[usize]> {
        self.relevance.as_deref()
    }

    /// The same space with feature groups.
    #[must_use]
    pub fn with_groups(mut self, groups: Arc<Groups>) -> Self {
        self.groups = Some(groups);
        self
    }

    /// The feature groups; None if the algorithm does not declare to use them.
    pub fn groups(&self) -> Option<&Arc<Groups>> {
        self.groups.as_ref()
    }

    /// The groups, or a single group of all features without groups.
    pub fn groups_or_single(&self) -> Arc<Groups> {
        match &self.groups {
            Some(groups) => Arc::clone(groups),
            None => Arc::new(Groups::single(self.n_features)),
        }
    }

    /// The number of features.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The maximum number of selected features.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// A random subset: each feature with probability 1/2, in order; one random feature if all bits are 0 and the empty
    /// subset is infeasible.
    pub fn random(&self, rng: &mut Rng) -> Subset {
        let mut subset = words::drawn(self.n_features, rng, |_| [(u64::MAX, 0.5)]);
        self.fill(&mut subset, rng);
        self.trim(&mut subset, rng);
        subset
    }

    /// Adds one random feature to an empty subset if that is infeasible.
    pub fn fill(&self, subset: &mut Subset, rng: &mut Rng) {
        if subset.is_empty() && !self.has_empty {
            subset.insert(rng.below(self.n_features));
        }
    }

    /// Takes features in the given order, each if it is feasible with those taken before.
    pub fn take(&self, features: impl IntoIterator<Item = usize>) -> Subset {
        match &self.feasibility {
            Some(feasibility) => feasibility.take(features),
            None => Subset::from_indices(self.n_features, features.into_iter().take(self.limit)),
        }
    }

    /// Removes random features until the subset is feasible.
    pub fn trim(&self, subset: &mut Subset, rng: &mut Rng) {
        self.trim_as(subset, |feature| feature, rng);
    }

    /// The same for a subset of dimensions, in which dimension `d` is the feature `feature_of(d)`.
    pub fn trim_as(&self, subset: &mut Subset, feature_of: impl Fn(usize) -> usize, rng: &mut Rng) {
        if let Some(feasibility) = &self.feasibility {
            if feasibility.take(subset.iter().map(&feature_of)).count() < subset.count() {
                let mut members: Vec<usize> = subset.iter().collect();
                rng.shuffle(&mut members);
                let kept = feasibility.take(members.iter().map(|&d| feature_of(d)));
                for d in members.into_iter().filter(|&d| !kept.contains(feature_of(d))) {
                    subset.remove(d);
                }
            }
            return;
        }
        let size = subset.count();
        if size > self.limit {
            let members: Vec<usize> = subset.iter().collect();
            for position in rng.distinct(size - self.limit, size) {
                subset.remove(members[position]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_random_subset_is_feasible(n in 1usize..60, limit in 1usize..60, seed: u64) {
            let space = Space::new(n, limit);
            let mut rng = Streams::new(seed).rng(0, Phase::Ask, 0);
            let size = space.random(&mut rng).count();
            prop_assert!((1..=limit.min(n)).contains(&size));
        }
    }

    #[test]
    fn a_random_subset_is_empty_only_if_that_is_feasible() {
        let starts = |space: Space| {
            let streams = Streams::new(1);
            (0..200).map(move |slot| space.random(&mut streams.rng(0, Phase::Ask, slot)).count())
        };
        assert!(starts(Space::new(2, 2)).all(|size| size > 0));
        // The mean is a quarter of 200; 20 is five standard deviations below.
        assert!(starts(Space::new(2, 2).with_empty()).filter(|&size| size == 0).count() > 20);
    }
}
