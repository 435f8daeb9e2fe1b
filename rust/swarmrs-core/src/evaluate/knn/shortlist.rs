//! The certain part of a candidate list: the error bound of quantized distances, and the heads of lists that it settles.
//!
//! A quantized distance has a known error. Where the k-th candidate of a case is nearer than the next by more than that
//! error, the k nearest are certain. Where it is not, a few more candidates are compared in float64, and where the list
//! ends too soon, all training rows are. So the k nearest are always those of float64 distances: quantization only
//! decides how much has to be computed.

use super::candidates::List;
use crate::base::subset::Subset;
use crate::data::quantization::Fidelity;
use crate::simd::{MERGED, ShortFormat, ShortSums};
use std::ops::{Range, RangeInclusive};

/// Format and error bound of the candidate lists of one subset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shortlist {
    /// The format of 32-bit keys; without it, keys have 64 bits.
    pub short: Option<ShortFormat>,
    /// Candidates in a list.
    pub levels: usize,
    /// True if keys sort exactly as distances and rows do.
    pub is_exact: bool,
    k: usize,
    is_squared: bool,
    /// Error bound: quantized distances (not squares) further apart than this are ordered like the float64 ones.
    slack: f64,
    /// True if a quantized distance of 0 is a distance of 0.
    is_zero_exact: bool,
}

/// Lists are longer than k by this, so that near ties at the k-th place find room.
const SPARE: usize = 2;
/// 32-bit lists of so many candidates take more time than longer ones that are merged.
const WORTH_MERGING: RangeInclusive<usize> = 8..=MERGED;

impl Shortlist {
    /// For the `k` nearest under a subset of features of these fidelities. `sums` are the kernel's sums, `short` is true
    /// where they enter 32-bit keys with `row_bits` bits of row index.
    pub fn new(
        subset: &Subset,
        fidelity: &[Fidelity],
        k: usize,
        is_squared: bool,
        sums: Option<ShortSums>,
        row_bits: Option<u32>,
    ) -> Self {
        let (mut size, mut inexact, mut is_injective) = (0, 0, true);
        for feature in subset.iter() {
            size += 1;
            inexact += usize::from(fidelity[feature] > Fidelity::Exact);
            is_injective &= fidelity[feature] <= Fidelity::Injective;
        }
        let lost = sums.map_or(0, |sums| sums.lost);
        // The difference of two values without their low bits is off by 1 - 2^-lost coarse steps at most; where both
        // were rounded before, by half a fine step each, it is off by 2^-lost more, which makes 1. By the triangle
        // inequality a distance is off by no more than the length of the vector of these errors.
        let stripped = 1.0 - 0.5f64.powi(lost.cast_signed());
        let (exact, inexact) = ((size - inexact) as f64, inexact as f64);
        let error = if is_squared {
            (exact * stripped * stripped + inexact).sqrt()
        } else {
            exact * stripped + inexact
        };
        // Both distances may be off. Rounding errors of the bound itself are far below what is added here.
        let slack = if error == 0.0 { 0.0 } else { 2.0 * error * (1.0 + 1e-6) + 1e-6 };
        let short = sums
            .zip(row_bits)
            .map(|(sums, bits)| ShortFormat::new(sums.farthest * size as u64, bits));
        let is_exact = slack == 0.0 && short.is_none_or(|format| format.drop == 0);
        let is_zero_exact = is_injective && lost == 0;
        let levels = if is_exact { k } else { k + SPARE };
        let levels =
            if short.is_some() && WORTH_MERGING.contains(&levels) { MERGED } else { levels };
        Self { short, levels, is_exact, k, is_squared, slack, is_zero_exact }
    }

    /// True if a candidate at `near` steps at most is certainly ahead of one at `far` steps at least, which follows it in
    /// the list.
    #[inline]
    fn separates(&self, near: f64, far: f64) -> bool {
        if self.is_zero_exact && near == 0.0 && far == 0.0 {
            // A tie that the row index in the keys has decided.
            return true;
        }
        self.is_apart(near, far)
    }

    /// True if a quantized distance of `far` steps exceeds one of `near` steps by more than the error bound.
    #[inline]
    pub fn is_apart(&self, near: f64, far: f64) -> bool {
        if self.is_squared {
            // √far > √near + slack, both sides squared twice instead of two square roots.
            let beyond = far - near - self.slack * self.slack;
            beyond > 0.0 && beyond * beyond > 4.0 * self.slack * self.slack * near
        } else {
            far - near > self.slack
        }
    }

    /// The length, k or more, of the shortest head of a list that is certain to hold the k nearest rows of a case; none
    /// if the list is too short to tell.
    pub fn certain(&self, list: &List<'_>) -> Option<usize> {
        if self.is_exact {
            return Some(self.k);
        }
        (self.k..self.levels).find(|&level| self.is_gap(list, level).unwrap_or(true))
    }

    /// The number of first candidates that are certain to be among the k nearest: those ahead of all that the order of
    /// the others leaves open.
    pub fn inside(&self, list: &List<'_>) -> usize {
        let is_gap = |&level: &usize| self.is_gap(list, level).unwrap_or(false);
        (1..self.k).rev().find(is_gap).unwrap_or(0)
    }

    /// The next levels, from `from` on, whose order matters and is open, of a certain head of a list: rows of these classes. The
    /// order of rows of one class does not matter.
    #[inline]
    pub fn unordered(&self, list: &List<'_>, classes: &[u32], from: usize) -> Option<Range<usize>> {
        let is_gap = |level: &usize| self.is_gap(list, *level).unwrap_or(true);
        let is_open = |level: &usize| classes[level - 1] != classes[*level] && !is_gap(level);
        let open = (from + 1..classes.len()).find(is_open)?;
        // Of the rows before a gap none is as far as one behind it.
        let start = (from + 1..open).rev().find(is_gap).unwrap_or(from);
        let end = (open + 1..classes.len()).find(is_gap).unwrap_or(classes.len());
        Some(start..end)
    }

    /// True if all candidates before this level are certainly ahead of that at the level and those behind it; none where
    /// the list ends before it, so that there are no more training rows.
    #[inline]
    pub fn is_gap(&self, list: &List<'_>, level: usize) -> Option<bool> {
        let ((_, near), (far, _)) = list.bounds(level - 1).zip(list.bounds(level))?;
        Some(self.is_exact || self.separates(near, far))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{KeyFormat, NO_KEY, NO_SHORT, ROWS, SIDE};

    const FORMAT: KeyFormat = KeyFormat { shift: 4 };

    fn shortlist(k: usize, levels: usize, slack: f64) -> Shortlist {
        let (is_squared, is_exact, is_zero_exact) = (false, false, false);
        Shortlist { short: None, levels, is_exact, k, is_squared, slack, is_zero_exact }
    }

    /// A list of rows at these distances, beside others that are nearer.
    fn keys(distances: &[Option<u64>], lane: usize) -> Vec<f64> {
        let key = |steps: Option<u64>| {
            steps.map_or(NO_KEY, |steps| f64::from_bits(FORMAT.base(steps).to_bits() + 5))
        };
        distances
            .iter()
            .flat_map(|&steps| {
                let mut level = [f64::from_bits(FORMAT.base(0).to_bits() + 1); ROWS];
                level[lane] = key(steps);
                level
            })
            .collect()
    }

    #[test]
    fn distances_further_apart_than_the_error_bound_are_ordered() {
        let linear = shortlist(1, 3, 2.0);
        assert!(!linear.separates(3.0, 5.0));
        assert!(linear.separates(3.0, 5.1));
        let squared = Shortlist { is_squared: true, slack: 1.0, ..linear };
        assert!(!squared.separates(4.0, 9.0));
        assert!(squared.separates(4.0, 9.1));
        // Distances of zero tie, and the row index has decided, where zero is known to be zero.
        let zero = Shortlist { is_zero_exact: true, ..linear };
        assert!(zero.separates(0.0, 0.0));
        assert!(!zero.separates(0.0, 1.0));
        assert!(!zero.separates(1.0, 1.0));
        assert!(!linear.separates(0.0, 0.0));
    }

    #[test]
    fn the_certain_head_of_a_list_ends_at_the_first_gap() {
        let of = |distances: &[Option<u64>], k| {
            let keys = keys(distances, 2);
            let list = List::Long { keys: &keys, lane: 2, format: FORMAT };
            let shortlist = shortlist(k, distances.len(), 2.0);
            (shortlist.certain(&list), shortlist.inside(&list))
        };
        let near = [1, 2, 9, 10, 20].map(Some);
        assert_eq!(of(&near, 1), (Some(2), 0));
        assert_eq!(of(&near, 2), (Some(2), 0));
        assert_eq!(of(&near, 3), (Some(4), 2));
        assert_eq!(of(&near, 4), (Some(4), 2));
        assert_eq!(of(&[1, 9, 18, 19].map(Some), 3), (None, 2));
        assert_eq!(of(&[1, 2, 3, 4].map(Some), 2), (None, 0));
        // A list that ends holds all training rows.
        assert_eq!(of(&[Some(1), Some(2), None, None], 2), (Some(2), 0));
        assert_eq!(of(&[Some(1), None, None, None], 3), (Some(3), 0));
        let keys = keys(&[1, 1, 1].map(Some), 0);
        let list = List::Long { keys: &keys, lane: 0, format: FORMAT };
        assert_eq!(Shortlist { is_exact: true, ..shortlist(1, 3, 2.0) }.certain(&list), Some(1));
    }

    #[test]
    fn a_candidate_has_bounds_and_a_row() {
        let keys = keys(&[Some(1), Some(7), None], 1);
        let list = List::Long { keys: &keys, lane: 1, format: FORMAT };
        assert_eq!([list.bounds(1), list.bounds(2)], [Some((7.0, 7.0)), None]);
        assert_eq!(list.at(1), (7.0, 5));
        // Of 43 the three low bits are left out: it may be 40 to 47.
        let format = ShortFormat { drop: 3, shift: 4 };
        let mut keys = vec![format.key(1, 1); 3 * SIDE];
        (keys[SIDE + 6], keys[2 * SIDE + 6]) = (format.key(43, 9), NO_SHORT);
        let list = List::Short { keys: &keys, lane: 6, format };
        assert_eq!([list.bounds(1), list.bounds(2)], [Some((40.0, 47.0)), None]);
        assert_eq!(list.at(1), (40.0, 9));
    }

    /// Features that are exact, injective and merging.
    const FIDELITY: [Fidelity; 3] = [Fidelity::Exact, Fidelity::Injective, Fidelity::Merging];

    fn padded(error: f64) -> f64 {
        2.0 * error * (1.0 + 1e-6) + 1e-6
    }

    #[test]
    fn the_error_bound_follows_from_the_features_of_a_subset() {
        let of = |features: &[usize]| {
            let subset = Subset::from_indices(3, features.iter().copied());
            Shortlist::new(&subset, &FIDELITY, 3, false, None, None)
        };
        let exact = of(&[0]);
        assert!(exact.is_exact && exact.is_zero_exact && !exact.is_squared);
        assert_eq!((exact.levels, exact.slack, exact.short), (3, 0.0, None));
        let injective = of(&[0, 1]);
        assert!(!injective.is_exact && injective.is_zero_exact);
        assert_eq!((injective.levels, injective.slack), (5, padded(1.0)));
        let merging = of(&[0, 1, 2]);
        assert!(!merging.is_exact && !merging.is_zero_exact);
        assert_eq!(merging.slack, padded(2.0));
    }

    #[test]
    fn values_without_their_low_bits_are_off_by_less_than_a_coarse_step() {
        let of = |features: &[usize], is_squared| {
            let subset = Subset::from_indices(3, features.iter().copied());
            let sums = ShortSums { farthest: 16_383 * 16_383, lost: 2, is_squared };
            Shortlist::new(&subset, &FIDELITY, 3, is_squared, Some(sums), None)
        };
        // Two bits less: off by three quarters of a coarse step, or by one where values were rounded before.
        let exact = of(&[0], true);
        assert!(exact.is_squared && !exact.is_exact && !exact.is_zero_exact);
        assert_eq!((exact.levels, exact.slack, exact.short), (5, padded(0.75), None));
        assert_eq!(of(&[0, 1, 2], true).slack, padded((0.75f64 * 0.75 + 2.0).sqrt()));
        assert_eq!(of(&[0, 1, 2], false).slack, padded(0.75 + 2.0));
    }

    #[test]
    fn short_keys_without_room_for_the_distance_are_inexact() {
        let of = |size: usize, row_bits| {
            let sums = ShortSums { farthest: 65_535, lost: 0, is_squared: false };
            let fidelity = vec![Fidelity::Exact; size];
            Shortlist::new(&Subset::full(size), &fidelity, 3, false, Some(sums), Some(row_bits))
        };
        let one = of(1, 4);
        assert_eq!(one.short, Some(ShortFormat { drop: 0, shift: 4 }));
        assert!(one.is_exact);
        // 3000 features of up to 65 535 steps take 28 bits: 4 of a row fit beside them, 8 do not.
        let many = of(3000, 4);
        assert_eq!(many.short, Some(ShortFormat { drop: 0, shift: 4 }));
        assert!(many.is_exact);
        let dropped = of(3000, 8);
        assert_eq!(dropped.short, Some(ShortFormat { drop: 4, shift: 8 }));
        assert_eq!((dropped.slack, dropped.is_exact, dropped.levels), (0.0, false, 5));
    }
}
