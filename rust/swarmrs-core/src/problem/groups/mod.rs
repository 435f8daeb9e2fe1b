//! Groups of similar features, given or found by clustering.

pub mod block_model;
pub mod hclust;
pub mod lbm;
pub mod linkage;
pub mod sample;
mod similarity;

pub use hclust::Hclust;
pub use lbm::Lbm;
pub use similarity::{SigmaLog, Sim, Similarity};

use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use crate::data::dataset::Dataset;
use serde::{Deserialize, Serialize};

/// The largest number of groups that is tried.
const MAX_GROUPS: usize = 30;
/// The largest number of levels; fits a byte, and is plenty for a sample of 100 rows.
const MAX_LEVELS: usize = 64;

/// The source of feature groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "lowercase", deny_unknown_fields)]
pub enum GroupSpec {
    /// Given groups.
    Given {
        /// Disjoint lists of features; a feature in no list belongs to no group.
        groups: Vec<Vec<usize>>,
    },
    /// The column groups of a latent block model.
    Lbm(Lbm),
    /// The clusters of average linkage.
    Hclust(Hclust),
}

impl Default for GroupSpec {
    fn default() -> Self {
        Self::Lbm(Lbm::default())
    }
}

impl GroupSpec {
    /// Checks the ranges of the settings.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Given { .. } => Ok(()),
            Self::Lbm(lbm) => lbm.check(),
            Self::Hclust(hclust) => hclust.check(),
        }
    }

    /// Finds the groups of a dataset. The target is not used; constant columns belong to no group unless given.
    ///
    /// # Errors
    /// For settings out of range, or a dataset that cannot be grouped with them.
    pub fn find(&self, data: &Dataset, pool: &Pool) -> Result<Grouping> {
        self.check()?;
        match self {
            Self::Given { groups } => Ok(Grouping {
                groups: Groups::new(groups.clone(), data.n_features())?,
                curve: Vec::new(),
            }),
            Self::Lbm(lbm) => lbm.find(data, pool),
            Self::Hclust(hclust) => hclust.find(data, pool),
        }
    }

    /// The groups of the bits of a problem without a table, which must be given.
    ///
    /// # Errors
    /// [`Error::BadSpec`] for invalid lists, or for a source that needs a table.
    pub fn of_bits(&self, n_bits: usize) -> Result<Groups> {
        match self {
            Self::Given { groups } => Groups::new(groups.clone(), n_bits),
            Self::Lbm(_) | Self::Hclust(_) => {
                let what = "groups cannot be found without a table: give them as lists".into();
                Err(Error::BadSpec { what })
            }
        }
    }
}

/// Groups and the curve their number was chosen by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grouping {
    /// The groups.
    pub groups: Groups,
    /// All numbers of groups that were tried; empty for given groups.
    pub curve: Vec<GroupCount>,
}

/// A number of groups and its criterion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GroupCount {
    /// The number of feature groups.
    pub n_groups: usize,
    /// The number of row groups of a block model.
    pub n_row_groups: Option<usize>,
    /// The criterion of a block model, lower is better, or the mean silhouette of clusters, higher is better.
    pub value: f64,
    /// True if it was chosen.
    pub is_chosen: bool,
}

/// Checks the settings that all sources share.
fn check_sample(n_groups: Option<usize>, rows: usize, levels: usize) -> Result<()> {
    if n_groups == Some(0) {
        return Err(Error::out_of_range("n_groups", 0, "1 or more"));
    }
    if rows < 2 {
        return Err(Error::out_of_range("rows", rows, "2 or more"));
    }
    if !(2..=MAX_LEVELS).contains(&levels) {
        return Err(Error::out_of_range("levels", levels, "2 to 64"));
    }
    Ok(())
}

/// Checks that there are no more groups than columns.
fn check_number(n_groups: usize, n_columns: usize) -> Result<()> {
    if n_groups <= n_columns {
        return Ok(());
    }
    let expected = format!("1 to {n_columns}, the columns that are not constant");
    Err(Error::out_of_range("n_groups", n_groups, &expected))
}

/// Disjoint groups of features. Groups are ordered by their first members; members ascend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Groups {
    members: Vec<Vec<usize>>,
    /// The group of each feature.
    #[serde(skip)]
    of: Vec<Option<usize>>,
}

impl Groups {
    /// Sorts groups of `n_features` features and drops empty ones.
    ///
    /// # Errors
    /// [`Error::BadSpec`] for a feature that does not exist or occurs twice.
    pub fn new(mut members: Vec<Vec<usize>>, n_features: usize) -> Result<Self> {
        members.retain(|group| !group.is_empty());
        for group in &mut members {
            group.sort_unstable();
        }
        members.sort_unstable();
        let mut of = vec![None; n_features];
        for (number, group) in members.iter().enumerate() {
            for &feature in group {
                let bad = |what: &str| {
                    Err(Error::BadSpec { what: format!("groups: feature {feature} {what}") })
                };
                match of.get_mut(feature) {
                    None => return bad(&format!("does not exist: the table has {n_features}")),
                    Some(Some(_)) => return bad("occurs twice"),
                    Some(entry) => *entry = Some(number),
                }
            }
        }
        Ok(Self { members, of })
    }

    /// One group of all `n_features` features.
    pub fn single(n_features: usize) -> Self {
        Self { members: vec![(0..n_features).collect()], of: vec![Some(0); n_features] }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members of each, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[usize]> {
        self.members.iter().map(Vec::as_slice)
    }

    /// The group of a feature.
    pub fn of(&self, feature: usize) -> Option<usize> {
        self.of[feature]
    }

    /// The same groups without the features outside `allowed`.
    #[must_use]
    pub fn within(&self, allowed: &Subset) -> Self {
        let kept = |group: &Vec<usize>| -> Vec<usize> {
            group.iter().copied().filter(|&feature| allowed.contains(feature)).collect()
        };
        Self::sorted(self.members.iter().map(kept).collect(), self.of.len())
    }

    /// The same groups restricted to the features `free`, renumbered by their positions in `free`.
    #[must_use]
    pub fn renumbered(&self, free: &[usize]) -> Self {
        let mut members = vec![Vec::new(); self.len()];
        for (position, &feature) in free.iter().enumerate() {
            if let Some(group) = self.of(feature) {
                members[group].push(position);
            }
        }
        Self::sorted(members, free.len())
    }

    /// Sorts disjoint groups with ascending members, and drops empty ones.
    fn sorted(mut members: Vec<Vec<usize>>, n_features: usize) -> Self {
        members.retain(|group| !group.is_empty());
        members.sort_unstable();
        let mut of = vec![None; n_features];
        for (number, group) in members.iter().enumerate() {
            for &feature in group {
                of[feature] = Some(number);
            }
        }
        Self { members, of }
    }
}

#[cfg(test)]
mod tests {
    use super::hclust::Distance;
    use super::*;
    use crate::base::random::{Phase, Streams};
    use crate::data::dataset::Scale;

    pub fn table(columns: &[Vec<f64>]) -> Dataset {
        let names = (0..columns.len()).map(|f| format!("f{f}")).collect();
        let codes = (0..columns[0].len() as u32).map(|row| row % 2).collect();
        Dataset::new(&columns.concat(), codes, 2, names, Scale::Minmax).unwrap()
    }

    /// Noisy copies of hidden columns, one for each kind; hidden columns are independent.
    pub fn planted(kinds: &[usize], n_rows: usize) -> Vec<Vec<f64>> {
        let streams = Streams::new(5);
        let drawn = |slot: usize| {
            let mut rng = streams.rng(0, Phase::Ask, slot);
            (0..n_rows).map(|_| rng.unit()).collect::<Vec<f64>>()
        };
        let column = |(index, &kind): (usize, &usize)| {
            let noise = drawn(100 + index);
            drawn(kind).iter().zip(noise).map(|(hidden, noise)| hidden + 0.05 * noise).collect()
        };
        kinds.iter().enumerate().map(column).collect()
    }

    fn groups(members: &[&[usize]], n: usize) -> Result<Groups> {
        Groups::new(members.iter().map(|group| group.to_vec()).collect(), n)
    }

    #[test]
    fn settings_of_a_source_have_defaults() {
        let read = |text: &str| serde_json::from_str::<GroupSpec>(text);
        assert_eq!(read(r#"{"source": "lbm"}"#).unwrap(), GroupSpec::default());
        let some = r#"{"source": "hclust", "n_groups": 4, "distance": "spearman"}"#;
        let expected =
            Hclust { n_groups: Some(4), distance: Distance::Spearman, ..Hclust::default() };
        assert_eq!(read(some).unwrap(), GroupSpec::Hclust(expected));
        assert!(read(r#"{"source": "hclust", "restarts": 4}"#).is_err());
        let written = serde_json::to_string(&GroupSpec::default()).unwrap();
        assert_eq!(read(&written).unwrap(), GroupSpec::default());
    }

    #[test]
    fn bits_have_the_given_groups() {
        let given = GroupSpec::Given { groups: vec![vec![2, 0], vec![1]] };
        assert_eq!(given.of_bits(3).unwrap(), groups(&[&[0, 2], &[1]], 3).unwrap());
        let message = GroupSpec::default().of_bits(3).unwrap_err().to_string();
        assert!(message.contains("give them as lists"), "{message}");
        assert_eq!(Groups::single(2), groups(&[&[0, 1]], 2).unwrap());
    }

    #[test]
    fn groups_are_sorted() {
        let all = groups(&[&[5, 3], &[], &[4, 0]], 6).unwrap();
        assert_eq!(all.iter().collect::<Vec<_>>(), [&[0, 4][..], &[3, 5]]);
        assert_eq!((all.of(5), all.of(1)), (Some(1), None));
    }

    #[test]
    fn groups_of_fewer_features_are_renumbered() {
        let all = groups(&[&[0, 4], &[1], &[2, 3]], 5).unwrap();
        let some = all.renumbered(&[2, 3, 4]);
        assert_eq!(some.iter().collect::<Vec<_>>(), [&[0, 1][..], &[2]]);
        assert_eq!(some.of(2), Some(1));
    }

    #[test]
    fn groups_are_restricted_to_allowed_features() {
        let all = groups(&[&[0, 4], &[1], &[2, 3]], 5).unwrap();
        let some = all.within(&Subset::from_indices(5, [2, 3, 4]));
        assert_eq!(some.iter().collect::<Vec<_>>(), [&[2, 3][..], &[4]]);
        assert_eq!((some.of(4), some.of(0), some.of(1)), (Some(1), None, None));
    }

    #[test]
    fn a_feature_that_is_absent_or_occurs_twice_is_refused() {
        let message = |members: &[&[usize]]| groups(members, 3).unwrap_err().to_string();
        assert!(message(&[&[0], &[3]]).contains("feature 3 does not exist: the table has 3"));
        assert!(message(&[&[0, 1], &[1]]).contains("feature 1 occurs twice"));
    }
}
