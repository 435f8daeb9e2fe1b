//! The search space: all that an algorithm knows of the problem.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::filter::Filter;
use crate::problem::feasibility::Feasibility;
use crate::problem::groups::Groups;
use crate::simd::words;
use std::sync::Arc;

/// All an algorithm may know of the problem. Features forced in or out are not its concern: the engine adds them.
#[derive(Debug, Clone)]
pub struct Space {
    n_features: usize,
    limit: usize,
    has_empty: bool,
    is_bare: bool,
    feasibility: Option<Arc<Feasibility>>,
    filter: Option<Arc<Filter>>,
    groups: Option<Arc<Groups>>,
    relevance: Option<Arc<[usize]>>,
}

impl Space {
    /// A space of `n_features` free features of which at most `limit` may be chosen.
    ///
    /// # Panics
    /// When there is nothing to choose.
    pub fn new(n_features: usize, limit: usize) -> Self {
        assert!(n_features > 0 && limit > 0, "an empty space");
        Self {
            n_features,
            limit: limit.min(n_features),
            has_empty: false,
            is_bare: false,
            feasibility: None,
            filter: None,
            groups: None,
            relevance: None,
        }
    }

    /// The same space, with the empty subset in it like any other.
    #[must_use]
    pub fn with_empty(self) -> Self {
        Self { has_empty: true, ..self }
    }

    /// The same space, with no table behind it: costs are exact, and not those of few rows.
    #[must_use]
    pub fn bare(self) -> Self {
        Self { is_bare: true, ..self }
    }

    /// True if there is no table behind it.
    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// The same space, where features differ in size or exclude each other: what the algorithm sees as a feature is then a
    /// unit of them.
    #[must_use]
    pub(crate) fn with_feasibility(mut self, feasibility: Arc<Feasibility>) -> Self {
        self.limit = self.limit.min(feasibility.upper_bound());
        self.feasibility = Some(feasibility);
        self
    }

    /// The same space with what is known of its features.
    #[must_use]
    pub fn with_filter(mut self, filter: Arc<Filter>) -> Self {
        self.filter = Some(filter);
        self
    }

    /// The relevance and redundancy of features; none where there is no table behind the space, and for
    /// an algorithm that does not declare to use it.
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_deref()
    }

    /// The same space with its features in the order of their relevance.
    #[must_use]
    pub fn with_relevance(mut self, order: Arc<[usize]>) -> Self {
        self.relevance = Some(order);
        self
    }

    /// The features by relevance to the class, the most relevant first; none where there is no table behind the space,
    /// and for an algorithm that does not declare to use it.
    pub fn by_relevance(&self) -> Option<&[usize]> {
        self.relevance.as_deref()
    }

    /// The same space with its features in groups.
    #[must_use]
    pub fn with_groups(mut self, groups: Arc<Groups>) -> Self {
        self.groups = Some(groups);
        self
    }

    /// The feature groups; none for an algorithm that does not declare to use them.
    pub fn groups(&self) -> Option<&Arc<Groups>> {
        self.groups.as_ref()
    }

    /// The groups; all features in one where there are none.
    pub fn groups_or_one(&self) -> Arc<Groups> {
        match &self.groups {
            Some(groups) => Arc::clone(groups),
            None => Arc::new(Groups::one_of_all(self.n_features)),
        }
    }

    /// The number of features to choose from.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The number of features that may be chosen, at most.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// A start: a fair bit for each feature, in order; one random feature where all bits are 0 and the empty subset does
    /// not belong to the space.
    pub fn random(&self, rng: &mut Rng) -> Subset {
        let mut subset = words::drawn(self.n_features, rng, |_| [(u64::MAX, 0.5)]);
        self.fill(&mut subset, rng);
        self.trim(&mut subset, rng);
        subset
    }

    /// Puts one random feature into an empty subset where that does not belong to the space.
    pub fn fill(&self, subset: &mut Subset, rng: &mut Rng) {
        if subset.is_empty() && !self.has_empty {
            subset.insert(rng.below(self.n_features));
        }
    }

    /// Takes features in the order given, each if it fits beside those taken before.
    pub fn take(&self, features: impl IntoIterator<Item = usize>) -> Subset {
        match &self.feasibility {
            Some(feasibility) => feasibility.take(features),
            None => Subset::from_indices(self.n_features, features.into_iter().take(self.limit)),
        }
    }

    /// Takes random features out until the limit holds, and whatever else a choice must obey.
    pub fn trim(&self, subset: &mut Subset, rng: &mut Rng) {
        self.trim_as(subset, |feature| feature, rng);
    }

    /// The same for an algorithm that has features in an order of its own, or not all: place `d` of `subset` stands for
    /// the feature `of(d)`.
    pub fn trim_as(&self, subset: &mut Subset, of: impl Fn(usize) -> usize, rng: &mut Rng) {
        if let Some(feasibility) = &self.feasibility {
            if feasibility.take(subset.iter().map(&of)).count() < subset.count() {
                let mut members: Vec<usize> = subset.iter().collect();
                rng.shuffle(&mut members);
                let kept = feasibility.take(members.iter().map(|&d| of(d)));
                for d in members.into_iter().filter(|&d| !kept.contains(of(d))) {
                    subset.remove(d);
                }
            }
            return;
        }
        let size = subset.count();
        if size > self.limit {
            let members: Vec<usize> = subset.iter().collect();
            for at in rng.distinct(size - self.limit, size) {
                subset.remove(members[at]);
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
        fn a_random_start_fits_the_space(n in 1usize..60, limit in 1usize..60, seed: u64) {
            let space = Space::new(n, limit);
            let mut rng = Streams::new(seed).rng(0, Phase::Ask, 0);
            let size = space.random(&mut rng).count();
            prop_assert!((1..=limit.min(n)).contains(&size));
        }
    }

    #[test]
    fn a_random_start_is_empty_only_where_that_is_allowed() {
        let starts = |space: Space| {
            let streams = Streams::new(1);
            (0..200).map(move |slot| space.random(&mut streams.rng(0, Phase::Ask, slot)).count())
        };
        assert!(starts(Space::new(2, 2)).all(|size| size > 0));
        // A quarter of 200 in the mean; 20 are five standard deviations below.
        assert!(starts(Space::new(2, 2).with_empty()).filter(|&size| size == 0).count() > 20);
    }
}
