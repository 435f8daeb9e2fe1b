//! Constraints on subsets, and the way from an algorithm's choice to a subset of the table.
//!
//! An algorithm chooses *units*: single features, or features that go in and out together. What is forced in or out is no
//! unit. Where units differ in size, or at most one feature of a group may be in, a choice is read in order: each unit
//! is taken if it fits beside those before it. So every subset that is evaluated is feasible; most searches propose feasible
//! ones by themselves, through [`Space::trim`].

use crate::base::error::{Error, Result};
use crate::base::subset::Subset;
use crate::problem::feasibility::Feasibility;
use crate::problem::groups::Groups;
use crate::problem::space::Space;
use std::sync::Arc;

/// Constraints on subsets: included and excluded features, features that go together, groups, a size limit.
#[derive(Debug, Clone)]
pub struct Constraints {
    n_features: usize,
    /// The features of each unit, ascending; units are in the order of their first features.
    units: Vec<Vec<usize>>,
    forced: Subset,
    /// The number of features that may be in beside the forced ones.
    limit: usize,
    /// Of each of these groups at most one feature may be in.
    rivals: Option<Groups>,
    feasibility: Option<Arc<Feasibility>>,
    has_empty: bool,
}

impl Constraints {
    /// All `n_features` but those of `include`, which are always in, and `exclude`, which never are; at most `limit` in all.
    ///
    /// # Errors
    /// [`Error::BadSpec`] when the three leave nothing to choose.
    pub fn new(
        n_features: usize,
        include: &[usize],
        exclude: &[usize],
        limit: Option<usize>,
    ) -> Result<Self> {
        Self::together(n_features, &[], include, exclude, limit)
    }

    /// The same, where the features of each list of `together` go in or out as one: what includes or excludes one of them
    /// does so with all.
    ///
    /// # Errors
    /// [`Error::BadSpec`] or [`Error::Contradiction`] when all that leaves nothing to choose.
    pub fn together(
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
        let mut forced = Subset::from_indices(n_features, include.iter().copied());
        let mut barred = Subset::from_indices(n_features, exclude.iter().copied());
        if let Some(feature) = forced.intersection(&barred).iter().next() {
            return bad(format!("feature {feature} is both included and excluded"));
        }
        let mut units = units(n_features, together)?;
        for unit in &units {
            let of = |set: &Subset| unit.iter().copied().find(|&feature| set.contains(feature));
            match (of(&forced), of(&barred)) {
                (Some(one), Some(other)) => {
                    return Err(Error::Contradiction {
                        what: format!(
                            "features {one} and {other} go together, but one is included and the other excluded"
                        ),
                        hint: "include or exclude both, or let them go apart".into(),
                    });
                }
                (Some(_), None) => unit.iter().for_each(|&feature| forced.insert(feature)),
                (None, Some(_)) => unit.iter().for_each(|&feature| barred.insert(feature)),
                (None, None) => {}
            }
        }
        units.retain(|unit| !forced.contains(unit[0]) && !barred.contains(unit[0]));
        let limit = limit.unwrap_or(n_features);
        if units.is_empty() {
            return bad("every feature is included or excluded: nothing is left to choose".into());
        }
        if limit <= forced.count() {
            return bad(format!(
                "max_features is {limit}, expected more than the {} included",
                forced.count()
            ));
        }
        let limit = limit - forced.count();
        units.retain(|unit| unit.len() <= limit);
        if units.is_empty() {
            return Err(Error::Contradiction {
                what: format!("max_features leaves room for {limit}, but more go together"),
                hint: "allow more features, or let them go apart".into(),
            });
        }
        let mut constraints = Self {
            n_features,
            units,
            forced,
            limit,
            rivals: None,
            feasibility: None,
            has_empty: false,
        };
        constraints.update_feasibility();
        Ok(constraints)
    }

    /// The same, where at most one feature of each group may be in.
    ///
    /// # Errors
    /// [`Error::Contradiction`] when what is included, or goes together, breaks that already.
    pub fn one_of_each(mut self, groups: Groups) -> Result<Self> {
        let twice = |features: &[usize]| {
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
        let forced: Vec<usize> = self.forced.iter().collect();
        if let Some(pair) = twice(&forced) {
            let hint = "include one of them, or allow several of a group";
            return contradiction(pair, "are always in", hint);
        }
        if let Some(pair) = self.units.iter().find_map(|unit| twice(unit)) {
            let hint = "let them go apart, or allow several of a group";
            return contradiction(pair, "go together", hint);
        }
        let mut is_met = vec![false; groups.len()];
        for group in forced.into_iter().filter_map(|feature| groups.of(feature)) {
            is_met[group] = true;
        }
        let is_free = |&feature: &usize| groups.of(feature).is_none_or(|group| !is_met[group]);
        self.units.retain(|unit| unit.iter().all(is_free));
        if self.units.is_empty() {
            return Err(Error::Contradiction {
                what: "every group has a feature that is always in: nothing is left to choose"
                    .into(),
                hint: "include fewer features, or allow several of a group".into(),
            });
        }
        self.rivals = Some(groups);
        self.update_feasibility();
        Ok(self)
    }

    /// The same, where the empty subset may be chosen like any other.
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

    /// The features that a subset of the table may have.
    pub fn allowed(&self) -> Subset {
        let mut allowed = self.forced.clone();
        for &feature in self.units.iter().flatten() {
            allowed.insert(feature);
        }
        allowed
    }

    /// The first feature of each unit, in order.
    pub fn free(&self) -> Vec<usize> {
        self.units.iter().map(|unit| unit[0]).collect()
    }

    /// Leaves only some of the units to choose from, each given by its place among them.
    ///
    /// # Panics
    /// When none is left, or one does not exist.
    pub fn keep(&mut self, places: &[usize]) {
        assert!(!places.is_empty(), "an empty space");
        self.units = places.iter().map(|&place| std::mem::take(&mut self.units[place])).collect();
        self.update_feasibility();
    }

    /// The features of the table that a choice stands for.
    pub fn whole(&self, choice: &Subset) -> Subset {
        let fitting = self.feasibility.as_ref().map(|feasibility| feasibility.take(choice.iter()));
        let choice = fitting.as_ref().unwrap_or(choice);
        if self.units.len() == self.n_features {
            return choice.clone();
        }
        let mut whole = self.forced.clone();
        for unit in choice.iter() {
            for &feature in &self.units[unit] {
                whole.insert(feature);
            }
        }
        whole
    }

    /// Recomputes the feasibility of choices, where it is more than a number of units.
    fn update_feasibility(&mut self) {
        let sizes: Vec<usize> = self.units.iter().map(Vec::len).collect();
        self.feasibility =
            (self.rivals.is_some() || sizes.iter().any(|&size| size > 1)).then(|| {
                let rivals = self.rivals.as_ref();
                let groups_of = |unit: &Vec<usize>| {
                    unit.iter().filter_map(|&feature| rivals?.of(feature)).collect()
                };
                let groups = self.units.iter().map(groups_of).collect();
                Arc::new(Feasibility::new(self.limit, sizes, groups, rivals.map_or(0, Groups::len)))
            });
    }
}

/// Every feature in a unit of its own or in its list, in the order of first features.
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
                    hint: "make one list of both".into(),
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
        Constraints::together(8, &together, include, exclude, Some(limit))
    }

    fn groups(members: &[&[usize]]) -> Groups {
        Groups::new(members.iter().map(|group| group.to_vec()).collect(), 8).unwrap()
    }

    fn whole(constraints: &Constraints, units: &[usize]) -> Vec<usize> {
        let choice = Subset::from_indices(constraints.units().len(), units.iter().copied());
        constraints.whole(&choice).iter().collect()
    }

    #[test]
    fn features_that_go_together_are_one_unit() {
        let constraints = constraints(&[&[5, 1], &[2, 7, 3]], &[], &[0], 8).unwrap();
        assert_eq!(constraints.units(), [&[1, 5][..], &[2, 3, 7], &[4], &[6]]);
        assert_eq!(constraints.free(), [1, 2, 4, 6]);
        assert_eq!(whole(&constraints, &[0, 3]), [1, 5, 6]);
    }

    #[test]
    fn what_includes_or_excludes_one_does_so_with_all() {
        let constraints = constraints(&[&[0, 1], &[2, 3]], &[1], &[2], 8).unwrap();
        assert_eq!(constraints.free(), [4, 5, 6, 7]);
        assert_eq!(whole(&constraints, &[2]), [0, 1, 6]);
    }

    #[test]
    fn the_limit_counts_features() {
        let constraints = constraints(&[&[0, 1, 2], &[3, 4], &[5, 6]], &[], &[], 4).unwrap();
        assert_eq!(constraints.space().limit(), 2);
        // The first unit leaves room for none of two, but for one of one.
        assert_eq!(whole(&constraints, &[0, 1, 2, 3]), [0, 1, 2, 7]);
        assert_eq!(whole(&constraints, &[1, 2, 3]), [3, 4, 5, 6]);
    }

    #[test]
    fn a_unit_that_never_fits_is_no_choice() {
        let constraints = constraints(&[&[0, 1, 2]], &[], &[], 2).unwrap();
        assert_eq!(constraints.free(), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn one_of_each_group_is_in() {
        let constraints = constraints(&[&[1, 4]], &[2], &[], 8).unwrap();
        let constraints = constraints.one_of_each(groups(&[&[2, 3], &[4, 5], &[6, 7]])).unwrap();
        // Feature 3 is of the group of 2, which is always in.
        assert_eq!(constraints.units(), [&[0][..], &[1, 4], &[5], &[6], &[7]]);
        assert_eq!(whole(&constraints, &[1, 2, 4]), [1, 2, 4, 7]);
        assert_eq!(whole(&constraints, &[0, 2, 3, 4]), [0, 2, 5, 6]);
        assert_eq!(constraints.space().limit(), 3);
    }

    #[test]
    fn contradictions_are_told_with_a_hint() {
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
            message(constraints.and_then(|constraints| constraints.one_of_each(groups(members))))
        };
        assert_eq!(
            of(constraints(&[], &[1, 4], &[], 8), &[&[1, 4]]),
            "features 1 and 4 are always in, but are of one group"
        );
        assert_eq!(
            of(constraints(&[&[1, 4]], &[], &[], 8), &[&[1, 4]]),
            "features 1 and 4 go together, but are of one group"
        );
        assert_eq!(
            of(constraints(&[], &[0], &[], 8), &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
            "every group has a feature that is always in: nothing is left to choose"
        );
    }

    proptest! {
        #[test]
        fn without_constraints_a_choice_is_its_subset(bits in proptest::collection::btree_set(0usize..8, 0..8)) {
            let choice = Subset::from_indices(8, bits);
            prop_assert_eq!(Constraints::new(8, &[], &[], None).unwrap().whole(&choice), choice);
        }
    }
}
