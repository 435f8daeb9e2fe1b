//! All ways to add one feature, or to take one out, as the subsets of one iteration.

use crate::base::subset::Subset;
use crate::search::algorithm::Evaluation;

/// One step of a sequential search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// Adds each unselected feature.
    Add,
    /// Removes each selected feature.
    Remove,
}

impl Sweep {
    /// The candidates one step away from `chosen`, in ascending order of the added or removed feature.
    pub fn of(self, chosen: &Subset) -> Vec<Subset> {
        match self {
            Self::Add => chosen.complement().iter().map(|feature| chosen.with(feature)).collect(),
            Self::Remove => chosen.iter().map(|feature| chosen.without(feature)).collect(),
        }
    }

    /// The step that undoes this one.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Add => Self::Remove,
            Self::Remove => Self::Add,
        }
    }
}

/// The candidate of a sweep with the least cost; ties go to the first, in an ascending sweep to the lowest feature.
pub fn best(evaluations: &[Evaluation]) -> Option<&Evaluation> {
    evaluations.iter().min_by_key(|tried| tried.cost)
}

/// The full set as the start of a backward search; None if the limit does not allow it.
pub fn full_set(n_features: usize, limit: usize) -> Option<Subset> {
    (limit == n_features).then(|| Subset::full(n_features))
}

/// The start of a backward search if the limit does not allow the full set: the `limit` best single features, by a sweep over
/// single features; ties go to the lowest feature.
pub fn best_singles(evaluations: &[Evaluation], limit: usize) -> Option<Subset> {
    let mut ranked: Vec<&Evaluation> = evaluations.iter().collect();
    // Stable, so equals stay in the order of their features.
    ranked.sort_by_key(|tried| tried.cost);
    ranked.iter().take(limit).map(|tried| tried.subset.clone()).reduce(|all, one| all.union(&one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;
    use crate::problem::objective::Cost;

    fn evaluations(subsets: Vec<Subset>, costs: &[f64]) -> Vec<Evaluation> {
        let pairs = subsets.into_iter().zip(costs);
        pairs
            .map(|(subset, &cost)| Evaluation {
                subset,
                measures: Measures::WORST,
                cost: Cost::new(cost),
            })
            .collect()
    }

    #[test]
    fn sweeps_change_one_feature_in_ascending_order() {
        let of = |features: &[usize]| Subset::from_indices(4, features.iter().copied());
        assert_eq!(Sweep::Add.of(&of(&[1])), [of(&[0, 1]), of(&[1, 2]), of(&[1, 3])]);
        assert_eq!(Sweep::Remove.of(&of(&[0, 2])), [of(&[2]), of(&[0])]);
        assert_eq!(Sweep::Add.of(&Subset::full(4)), []);
    }

    #[test]
    fn ties_go_to_the_lowest_feature() {
        let singles = evaluations(Sweep::Add.of(&Subset::empty(4)), &[0.4, 0.2, 0.3, 0.2]);
        assert!(best(&singles).unwrap().subset.iter().eq([1]));
        assert!(best_singles(&singles, 1).unwrap().iter().eq([1]));
        assert!(best_singles(&singles, 3).unwrap().iter().eq([1, 2, 3]));
    }
}
