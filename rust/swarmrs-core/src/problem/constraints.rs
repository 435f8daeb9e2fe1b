//! Constraints on subsets, and the decoding of an algorithm's proposal to a subset of the features of the table.
//!
//! An algorithm proposes a set of *units*: single features, or features that are selected together. Included and excluded
//! features belong to no unit. If units differ in size, or groups are exclusive, a proposal is decoded greedily: units are
//! taken in order, each if it is feasible with those taken before. So every evaluated subset is feasible. Most algorithms
//! propose only feasible ones, through [`Space::trim`].

use crate::base::error::{Error, Result};
use crate::base::subset::Subset;
use crate::problem::feasibility::Feasibility;
use crate::problem::groups::Groups;
use crate::problem::space::Space;
use std::sync::Arc;

/// Constraints on subsets: included and excluded features, units of features, exclusive groups, a size limit.
#[derive(Debug, Clone)]
pub struct Constraints {
    n_features: usize,
    /// The features of each unit, ascending; units are in the order of their first features.
    units: Vec<Vec<usize>>,
    included: Subset,
    /// The maximum number of selected features beside the included ones.
    limit: usize,
    /// At most one feature of each of these groups may be selected.
    exclusive_groups: Option<Groups>,
    feasibility: Option<Arc<Feasibility>>,
    has_empty: bool,
}

impl Constraints {
    /// Subsets of `n_features` features with all of `include`, none of `exclude`, and at most `limit` in total.
    ///
    /// # Errors
    /// [`Error::BadSpec`] if these leave no choice.
    pub fn new(
        n_features: usize,
        include: &[usize],
        exclude: &[usize],
        limit: Option<usize>,
    ) -> Result<Self> {
        Self::with_units(n_features, &[], include, exclude, limit)
    }

    /// The same, with each list of `together` as a unit; including or excluding one feature of a unit does so with all.
    ///
    /// # Errors
    /// [`Error::BadSpec`] or [`Error::Contradiction`] if these leave no choice.
    pub fn with_units(
        n_features: usize,
        together: &[Vec<usize>],
        include: &[usize],
        exclude: &[usize],
        limit: Option<usize>,
    ) -> Result<Self> {
        let bad = |what: String| Err(Error::BadSpec { what });
        let named = together.iter().flatten().chain(include).chain(exclude);
        if let Some(feature) = named.into_iter().find(|&&feature| feature >= n_features) {
            return bad(format!("feature {feature} does not exist: the table has {n_features}"));
        }
        let mut included = Subset::from_indices(n_features, include.iter().copied());
        let mut excluded = Subset::from_indices(n_features, exclude.iter().copied());
        if let Some(feature) = included.intersection(&excluded).iter().next() {
            return bad(format!("feature {feature} is both included and excluded"));
        }
        let mut units = units(n_features, together)?;
        for unit in &units {
            let first_in =
                |set: &Subset| unit.iter().copied().find(|&feature| set.contains(feature));
            match (first_in(&included), first_in(&excluded)) {
                (Some(one), Some(other)) => {
                    return Err(Error::Contradiction {
                        what: format!(
                            "features {one} and {other} go together, but one is included and the other excluded"
                        ),
                        hint: "include or exclude both, or separate them".into(),
                    });
                }
                (Some(_), None) => unit.iter().for_each(|&feature| included.insert(feature)),
                (None, Some(_)) => unit.iter().for_each(|&feature| excluded.insert(feature)),
                (None, None) => {}
            }
        }
        units.retain(|unit| !included.contains(unit[0]) && !excluded.contains(unit[0]));
        let limit = limit.unwrap_or(n_features);
        if units.is_empty() {
            return bad("every feature is included or excluded: nothing is left to choose".into());
        }
        if limit <= included.count() {
            return bad(format!(
                "max_features is {limit}, expected more than the {} included",
                included.count()
            ));
        }
        let limit = limit - included.count();
        units.retain(|unit| unit.len() <= limit);
        if units.is_empty() {
            return Err(Error::Contradiction {
                what: format!("max_features leaves room for {limit}, but more go together"),
                hint: "allow more features, or separate them".into(),
            });
        }
        let mut constraints = Self {
            n_features,
            units,
            included,
            limit,
            exclusive_groups: None,
            feasibility: None,
            has_empty: false,
        };
        constraints.update_feasibility();
        Ok(constraints)
    }

    /// The same, with at most one selected feature per group.
    ///
    /// # Errors
    /// [`Error::Contradiction`] if the included features, or those of a unit, violate this.
    pub fn with_exclusive_groups(mut self, groups: Groups) -> Result<Self> {
        let find_conflict = |features: &[usize]| {
            let mut seen = vec![None; groups.len()];
            features.iter().find_map(|&feature| {
                let group = groups.of(feature)?;
                seen[group].replace(feature).map(|other| (other, feature))
            })
        };
        let contradiction = |(one, other): (usize, usize), what: &str, hint: &str| {
            Err(Error::Contradiction {
                what: format!("features {one} and {other} {what}, but are of one group"),
                hint: hint.into(),
            })
        };
        let included: Vec<usize> = self.included.iter().collect();
        if let Some(pair) = find_conflict(&included) {
            let hint = "include one of them, or allow several of a group";
            return contradiction(pair, "are both included", hint);
        }
        if let Some(pair) = self.units.iter().find_map(|unit| find_conflict(unit)) {
            let hint = "separate them, or allow several of a group";
            return contradiction(pair, "go together", hint);
        }
        let mut is_taken = vec![false; groups.len()];
        for group in included.into_iter().filter_map(|feature| groups.of(feature)) {
            is_taken[group] = true;
        }
        let is_free = |&feature: &usize| groups.of(feature).is_none_or(|group| !is_taken[group]);
        self.units.retain(|unit| unit.iter().all(is_free));
        if self.units.is_empty() {
            return Err(Error::Contradiction {
                what: "every group has an included feature: nothing is left to choose".into(),
                hint: "include fewer features, or allow several of a group".into(),
            });
        }
        self.exclusive_groups = Some(groups);
        self.update_feasibility();
        Ok(self)
    }

    /// The same, with the empty subset feasible.
    #[must_use]
    pub fn with_empty(self) -> Self {
        Self { has_empty: true, ..self }
    }

    /// The search space of the algorithm.
    pub fn space(&self) -> Space {
        let space = Space::new(self.units.len(), self.limit);
        let space = match &self.feasibility {
            Some(feasibility) => space.with_feasibility(Arc::clone(feasibility)),
            None => space,
        };
        if self.has_empty { space.with_empty() } else { space }
    }

    /// The number of features of the table.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The features of each unit that the algorithm chooses from.
    pub fn units(&self) -> &[Vec<usize>] {
        &self.units
    }

    /// The features that may be selected, included ones too.
    pub fn allowed(&self) -> Subset {
        let mut allowed = self.included.clone();
        for &feature in self.units.iter().flatten() {
            allowed.insert(feature);
        }
        allowed
    }

    /// The first feature of each unit, in order.
    pub fn free(&self) -> Vec<usize> {
        self.units.iter().map(|unit| unit[0]).collect()
    }

    /// Drops all units but those with these indices.
    ///
    /// # Panics
    /// If none is kept, or one does not exist.
    pub fn keep(&mut self, units: &[usize]) {
        assert!(!units.is_empty(), "an empty space");
        self.units = units.iter().map(|&unit| std::mem::take(&mut self.units[unit])).collect();
        self.update_feasibility();
    }

    /// The features that a set of units stands for, made feasible.
    pub fn decode(&self, units: &Subset) -> Subset {
        let feasible = self.feasibility.as_ref().map(|feasibility| feasibility.take(units.iter()));
        let units = feasible.as_ref().unwrap_or(units);
        if self.units.len() == self.n_features {
            return units.clone();
        }
        let mut features = self.included.clone();
        for unit in units.iter() {
            for &feature in &self.units[unit] {
                features.insert(feature);
            }
        }
        features
    }

    /// Recomputes the feasibility, which is needed if it is more than a limit on the number of units.
    fn update_feasibility(&mut self) {
        let sizes: Vec<usize> = self.units.iter().map(Vec::len).collect();
        self.feasibility = (self.exclusive_groups.is_some() || sizes.iter().any(|&size| size > 1))
            .then(|| {
                let exclusive = self.exclusive_groups.as_ref();
                let groups_of = |unit: &Vec<usize>| {
                    unit.iter().filter_map(|&feature| exclusive?.of(feature)).collect()
                };
                let groups = self.units.iter().map(groups_of).collect();
                let n_groups = exclusive.map_or(0, Groups::len);
                Arc::new(Feasibility::new(self.limit, sizes, groups, n_groups))
            });
    }
}

/// The units: the given lists and single features, in the order of their first features.
fn units(n_features: usize, together: &[Vec<usize>]) -> Result<Vec<Vec<usize>>> {
    let mut units: Vec<Vec<usize>> =
        together.iter().filter(|list| !list.is_empty()).cloned().collect();
    let mut seen = Subset::empty(n_features);
    for unit in &mut units {
        unit.sort_unstable();
        unit.dedup();
        for &feature in unit.iter() {
            if seen.contains(feature) {
                return Err(Error::Contradiction {
                    what: format!("feature {feature} goes together with features of two lists"),
                    hint: "merge the two lists".into(),
                });
            }
            seen.insert(feature);
        }
    }
    units.extend(seen.complement().iter().map(|feature| vec![feature]));
    units.sort_unstable();
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn constraints(
        together: &[&[usize]],
        include: &[usize],
        exclude: &[usize],
        limit: usize,
    ) -> Result<Constraints> {
        let together: Vec<Vec<usize>> = together.iter().map(|list| list.to_vec()).collect();
        Constraints::with_units(8, &together, include, exclude, Some(limit))
    }

    fn groups(members: &[&[usize]]) -> Groups {
        Groups::new(members.iter().map(|group| group.to_vec()).collect(), 8).unwrap()
    }

    fn decoded(constraints: &Constraints, units: &[usize]) -> Vec<usize> {
        let units = Subset::from_indices(constraints.units().len(), units.iter().copied());
        constraints.decode(&units).iter().collect()
    }

    #[test]
    fn features_that_go_together_are_one_unit() {
        let constraints = constraints(&[&[5, 1], &[2, 7, 3]], &[], &[0], 8).unwrap();
        assert_eq!(constraints.units(), [&[1, 5][..], &[2, 3, 7], &[4], &[6]]);
        assert_eq!(constraints.free(), [1, 2, 4, 6]);
        assert_eq!(decoded(&constraints, &[0, 3]), [1, 5, 6]);
    }

    #[test]
    fn including_or_excluding_one_feature_applies_to_its_unit() {
        let constraints = constraints(&[&[0, 1], &[2, 3]], &[1], &[2], 8).unwrap();
        assert_eq!(constraints.free(), [4, 5, 6, 7]);
        assert_eq!(decoded(&constraints, &[2]), [0, 1, 6]);
    }

    #[test]
    fn the_limit_counts_features() {
        let constraints = constraints(&[&[0, 1, 2], &[3, 4], &[5, 6]], &[], &[], 4).unwrap();
        assert_eq!(constraints.space().limit(), 2);
        // After the first unit only a single feature fits the limit.
        assert_eq!(decoded(&constraints, &[0, 1, 2, 3]), [0, 1, 2, 7]);
        assert_eq!(decoded(&constraints, &[1, 2, 3]), [3, 4, 5, 6]);
    }

    #[test]
    fn a_unit_larger_than_the_limit_is_dropped() {
        let constraints = constraints(&[&[0, 1, 2]], &[], &[], 2).unwrap();
        assert_eq!(constraints.free(), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn at_most_one_feature_of_an_exclusive_group_is_selected() {
        let constraints = constraints(&[&[1, 4]], &[2], &[], 8).unwrap();
        let exclusive = groups(&[&[2, 3], &[4, 5], &[6, 7]]);
        let constraints = constraints.with_exclusive_groups(exclusive).unwrap();
        // Feature 3 is in the group of feature 2, which is included.
        assert_eq!(constraints.units(), [&[0][..], &[1, 4], &[5], &[6], &[7]]);
        assert_eq!(decoded(&constraints, &[1, 2, 4]), [1, 2, 4, 7]);
        assert_eq!(decoded(&constraints, &[0, 2, 3, 4]), [0, 2, 5, 6]);
        assert_eq!(constraints.space().limit(), 3);
    }

    #[test]
    fn contradictions_have_a_hint() {
        let message = |result: Result<Constraints>| {
            let error = result.unwrap_err();
            assert!(error.hint().is_some());
            error.to_string()
        };
        assert_eq!(
            message(constraints(&[&[1, 4]], &[4], &[1], 8)),
            "features 4 and 1 go together, but one is included and the other excluded"
        );
        assert_eq!(
            message(constraints(&[&[1, 4], &[4, 5]], &[], &[], 8)),
            "feature 4 goes together with features of two lists"
        );
        assert_eq!(
            message(constraints(&[&[0, 1, 2, 3], &[4, 5, 6, 7]], &[], &[], 3)),
            "max_features leaves room for 3, but more go together"
        );
        let of = |constraints: Result<Constraints>, members: &[&[usize]]| {
            let groups = groups(members);
            message(constraints.and_then(|constraints| constraints.with_exclusive_groups(groups)))
        };
        assert_eq!(
            of(constraints(&[], &[1, 4], &[], 8), &[&[1, 4]]),
            "features 1 and 4 are both included, but are of one group"
        );
        assert_eq!(
            of(constraints(&[&[1, 4]], &[], &[], 8), &[&[1, 4]]),
            "features 1 and 4 go together, but are of one group"
        );
        assert_eq!(
            of(constraints(&[], &[0], &[], 8), &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
            "every group has an included feature: nothing is left to choose"
        );
    }

    proptest! {
        #[test]
        fn without_constraints_units_are_features(bits in proptest::collection::btree_set(0usize..8, 0..8)) {
            let units = Subset::from_indices(8, bits);
            prop_assert_eq!(Constraints::new(8, &[], &[], None).unwrap().decode(&units), units);
        }
    }
}
