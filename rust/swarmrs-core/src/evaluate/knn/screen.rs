//! Which neighbors are certain: lists of candidates by quantized distance, with float64 where the order is in doubt.
//!
//! A quantized distance has a known error. Where the k-th candidate of a case is nearer than the next by more than that
//! error, the k nearest are certain. Where it is not, a few more candidates are compared in float64, and where the list
//! ends too soon, all training rows are. So the k nearest are always those of float64 distances: quantization only
//! decides how much has to be computed.

use super::super::Weights;
use super::super::incremental::Step;
use super::Neighbours;
use super::net::Net;
use crate::base::subset::Subset;
use crate::data::quantization::Fidelity;
use crate::simd::{Kernel, KeyFormat, NO_KEY, NO_SHORT, ROWS, SIDE, ShortFormat};

/// How the candidate lists of one subset are kept and read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    /// The format of 32-bit keys; without it, keys have 64 bits.
    pub short: Option<ShortFormat>,
    /// Candidates in a list.
    pub levels: usize,
    is_squared: bool,
    /// Error bound: quantized distances (not squares) further apart than this are ordered like the float64 ones.
    slack: f64,
    /// Whether keys sort exactly as distances and rows do.
    is_exact: bool,
    /// Whether a quantized distance of 0 is a distance of 0.
    is_zero_exact: bool,
}

/// Lists are longer than k by this, so that near ties at the k-th place find room.
const SPARE: usize = 2;
/// Short lists of more neighbors cost more than they save.
const MOST_NEIGHBOURS: usize = 10;
/// Short keys with longer row indices have too few bits left for the distance.
const MOST_ROW_BITS: u32 = 12;
/// Subsets on which short keys are tried before they are used.
const TRIALS: usize = 4;
/// Short keys do not pay where they leave one case in so many undecided.
const DOUBTFUL: usize = 10;

impl Screen {
    /// Whether a candidate at `near` steps at most is certainly ahead of one at `far` steps at least, which follows it in
    /// the list.
    fn separates(&self, near: f64, far: f64) -> bool {
        if self.is_zero_exact && near == 0.0 && far == 0.0 {
            // A tie that the row index in the keys has decided.
            return true;
        }
        if self.is_squared {
            far.sqrt() - near.sqrt() > self.slack
        } else {
            far - near > self.slack
        }
    }

    /// The length, `k` or more, of the shortest head of a list that is certain to hold the nearest rows of a case; none
    /// if the list is too short to tell.
    fn certain(&self, k: usize, list: &List<'_>) -> Option<usize> {
        if self.is_exact {
            return Some(k);
        }
        (k..self.levels).find(|&level| match (list.bounds(level - 1), list.bounds(level)) {
            (Some((_, near)), Some((far, _))) => self.separates(near, far),
            // No more training rows than that.
            _ => true,
        })
    }

    /// How many of the first candidates are certain to be among the `k` nearest: those ahead of all that the order of the
    /// others leaves open.
    fn inside(&self, k: usize, list: &List<'_>) -> usize {
        let is_gap = |&level: &usize| match (list.bounds(level - 1), list.bounds(level)) {
            (Some((_, near)), Some((far, _))) => self.separates(near, far),
            _ => false,
        };
        (1..k).rev().find(is_gap).unwrap_or(0)
    }
}

/// The candidates of one case, nearest first.
pub(super) enum List<'l> {
    Short { keys: &'l [u32], lane: usize, format: ShortFormat },
    Long { keys: &'l [f64], lane: usize, format: KeyFormat },
}

impl List<'_> {
    /// The least and the greatest quantized distance that the candidate at this level can have.
    fn bounds(&self, level: usize) -> Option<(f64, f64)> {
        match *self {
            Self::Short { keys, lane, format } => {
                let key = keys[level * SIDE + lane];
                let least = format.parts(key).0;
                (key != NO_SHORT).then(|| (least as f64, (least + (1 << format.drop) - 1) as f64))
            }
            Self::Long { keys, lane, format } => {
                let key = keys[level * ROWS + lane];
                let steps = format.parts(key).0 as f64;
                (key < NO_KEY).then_some((steps, steps))
            }
        }
    }

    /// The least quantized distance of a candidate and its row of the table.
    fn at(&self, level: usize) -> (f64, usize) {
        match *self {
            Self::Short { keys, lane, format } => {
                let (steps, row) = format.parts(keys[level * SIDE + lane]);
                (steps as f64, row)
            }
            Self::Long { keys, lane, format } => {
                let (steps, row) = format.parts(keys[level * ROWS + lane]);
                (steps as f64, row)
            }
        }
    }
}

impl<K: Kernel> Neighbours<K> {
    /// Whether lists of short keys are of use for so many rows and neighbors, and such folds.
    pub(super) fn fits_short_keys(&self) -> bool {
        let is_small = self.k <= MOST_NEIGHBOURS && self.format.shift <= MOST_ROW_BITS;
        is_small && self.layout.is_symmetric()
    }

    /// Finds out whether short keys can be used and, by a trial on some subsets, whether they should be. Returns the
    /// element operations that took.
    pub(super) fn try_short_keys(&mut self) -> u64 {
        self.uses_short_keys = K::SHORT.is_some() && self.fits_short_keys();
        if !self.uses_short_keys {
            return 0;
        }
        let (mut undecided, mut sizes) = (0, 0);
        for trial in 1..=TRIALS {
            // Every feature, every second, every third: features of all fidelities come together as in any search.
            let chosen = (0..self.n_features).step_by(trial);
            let subset = Subset::from_indices(self.n_features, chosen);
            undecided += self.undecided(&subset);
            sizes += subset.count() as u64;
        }
        self.uses_short_keys = undecided * DOUBTFUL <= TRIALS * self.tally.n_cases();
        sizes * self.layout.pairs()
    }

    /// How many cases the candidate lists of a subset leave undecided.
    fn undecided(&self, subset: &Subset) -> usize {
        let add = subset.iter().map(|feature| feature as u32).collect();
        let step = Step { from: None, add, remove: Vec::new(), subset, keep: None };
        let screen = self.screen(subset);
        let net = self.nearest(step, screen, None).0;
        let is_open = |&case: &usize| screen.certain(self.k, &self.list(&net, case)).is_none();
        (0..self.tally.n_cases()).filter(is_open).count()
    }

    /// How to screen the neighbors of a subset.
    pub(super) fn screen(&self, subset: &Subset) -> Screen {
        let (mut size, mut inexact, mut is_injective) = (0, 0, true);
        for feature in subset.iter() {
            size += 1;
            inexact += usize::from(self.fidelity[feature] > Fidelity::Exact);
            is_injective &= self.fidelity[feature] <= Fidelity::Injective;
        }
        let lost = K::SHORT.map_or(0, |short| short.lost);
        // The difference of two values without their low bits is off by 1 - 2^-lost coarse steps at most; where both
        // were rounded before, by half a fine step each, it is off by 2^-lost more, which makes 1. By the triangle
        // inequality a distance is off by no more than the length of the vector of these errors.
        let stripped = 1.0 - 0.5f64.powi(lost.cast_signed());
        let (exact, inexact) = ((size - inexact) as f64, inexact as f64);
        let is_squared = self.metric == super::Metric::Euclidean;
        let error = if is_squared {
            (exact * stripped * stripped + inexact).sqrt()
        } else {
            exact * stripped + inexact
        };
        // Both distances may be off. Rounding errors of the bound itself are far below what is added here.
        let slack = if error == 0.0 { 0.0 } else { 2.0 * error * (1.0 + 1e-6) + 1e-6 };
        let short = K::SHORT
            .filter(|_| self.uses_short_keys)
            .map(|short| ShortFormat::new(short.farthest * size as u64, self.format.shift));
        let is_exact = slack == 0.0 && short.is_none_or(|format| format.drop == 0);
        let is_zero_exact = is_injective && lost == 0;
        let levels = if is_exact { self.k } else { self.k + SPARE };
        Screen { short, levels, is_squared, slack, is_exact, is_zero_exact }
    }

    /// The candidates of a case.
    fn list<'l>(&self, net: &'l Net, case: usize) -> List<'l> {
        let (group, lane) = self.layout.place(case);
        match net {
            Net::Long { keys, screen, .. } => {
                let width = screen.levels * ROWS;
                let keys = &keys[group * width..][..width];
                List::Long { keys, lane, format: self.format }
            }
            Net::Short { lists, format, screen } => {
                let own = group * ROWS + lane;
                let width = screen.levels * SIDE;
                let keys = &lists[own / SIDE * width..][..width];
                List::Short { keys, lane: own % SIDE, format: *format }
            }
        }
    }

    /// The class each case is given.
    pub(super) fn classes(&self, net: &Net, subset: &Subset) -> Vec<u32> {
        let screen = net.screen();
        let mut votes = vec![0.0; self.n_classes];
        let mut classes = vec![0; self.tally.n_cases()];
        let (mut doubtful, mut pairs, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for (case, class) in classes.iter_mut().enumerate() {
            let list = self.list(net, case);
            let count = screen.certain(self.k, &list);
            let is_plain = screen.is_exact || self.weights == Weights::Uniform;
            match count {
                Some(count) if count == self.k && is_plain => {
                    *class = self.vote((0..count).map(|level| list.at(level)), &mut votes);
                }
                // Copies of rows are not in the keys, which hold rows of the table.
                Some(count) if !self.exact.has_copies() => {
                    let own = self.exact.row(case);
                    // Votes by distance need all distances.
                    let inside = if is_plain { screen.inside(self.k, &list) } else { 0 };
                    let rows = (inside..count).map(|level| list.at(level).1 as u32);
                    pairs.extend(rows.map(|row| (own, row)));
                    doubtful.push((case, inside, count));
                }
                _ => open.push(case),
            }
        }
        let features: Vec<u32> = subset.iter().map(|feature| feature as u32).collect();
        let distances = self.exact.between(&features, &pairs);
        let mut found = pairs.iter().zip(&distances).map(|(&(_, row), &distance)| (distance, row));
        let mut candidates = Vec::new();
        for (case, inside, count) in doubtful {
            candidates.clear();
            candidates.extend(found.by_ref().take(count - inside));
            let list = self.list(net, case);
            let others = nearest(&mut candidates, self.k - inside);
            classes[case] =
                self.vote((0..inside).map(|level| list.at(level)).chain(others), &mut votes);
        }
        for case in open {
            self.exact.all(&features, case, &mut candidates);
            classes[case] = self.vote(nearest(&mut candidates, self.k), &mut votes);
        }
        classes
    }
}

/// Float64 distances that agree to within this share of the k-th smallest are tied: twelve digits, where the rounding
/// errors of a sum of thousands of terms stay below the thirteenth. The same holds of votes by distance.
pub(super) const TIE: f64 = 1.0 / (1u64 << 40) as f64;

/// The `k` nearest of some rows, in no particular order. Of the rows tied with the k-th, the lowest are taken.
fn nearest(
    candidates: &mut [(f64, u32)],
    k: usize,
) -> impl Iterator<Item = (f64, usize)> + Clone + '_ {
    let (_, &mut (kth, _), _) =
        candidates.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0));
    // Rows before the tie by their distance, then those of the tie by their row, then the others.
    let rank = |&(distance, row): &(f64, u32)| {
        let off = distance - kth;
        if off.abs() <= kth * TIE { (1, row) } else { (if off < 0.0 { 0 } else { 2 }, 0) }
    };
    candidates.select_nth_unstable_by_key(k - 1, rank);
    candidates[..k].iter().map(|&(distance, row)| (distance, row as usize))
}

#[cfg(test)]
mod tests {
    use super::super::super::kernels::{CoarseEuclidean, Isa, Manhattan16};
    use super::super::super::{Classifier, EvaluationSpec, Metric, Resources, ScaleFit};
    use super::super::{Plan, Seen};
    use super::*;
    use crate::dataset::{Dataset, Scale};
    use crate::folds::{FoldSpec, Folds};
    use crate::quantization::Quantized;

    const FORMAT: KeyFormat = KeyFormat { shift: 4 };

    fn screen(levels: usize, slack: f64) -> Screen {
        let (is_squared, is_exact, is_zero_exact) = (false, false, false);
        Screen { short: None, levels, is_squared, slack, is_exact, is_zero_exact }
    }

    /// A list of rows at these distances, beside others that are nearer.
    fn keys(distances: &[Option<u64>], lane: usize) -> Vec<f64> {
        let key = |steps: Option<u64>| steps.map_or(NO_KEY, |steps| FORMAT.key(steps, 5));
        distances
            .iter()
            .flat_map(|&steps| {
                let mut level = [FORMAT.key(0, 1); ROWS];
                level[lane] = key(steps);
                level
            })
            .collect()
    }

    #[test]
    fn distances_further_apart_than_the_error_bound_are_ordered() {
        let linear = screen(3, 2.0);
        assert!(!linear.separates(3.0, 5.0));
        assert!(linear.separates(3.0, 5.1));
        let squared = Screen { is_squared: true, slack: 1.0, ..linear };
        assert!(!squared.separates(4.0, 9.0));
        assert!(squared.separates(4.0, 9.1));
        // Distances of zero tie, and the row index has decided, where zero is known to be zero.
        let zero = Screen { is_zero_exact: true, ..linear };
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
            let screen = screen(distances.len(), 2.0);
            (screen.certain(k, &list), screen.inside(k, &list))
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
        assert_eq!(Screen { is_exact: true, ..screen(3, 2.0) }.certain(1, &list), Some(1));
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

    #[test]
    fn of_rows_tied_with_the_kth_the_lowest_are_taken() {
        let rows = |distances: &[f64], k| {
            let mut candidates: Vec<(f64, u32)> = distances.iter().copied().zip(0..).collect();
            candidates.reverse();
            let mut rows: Vec<usize> = nearest(&mut candidates, k).map(|(_, row)| row).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(rows(&[4.0, 1.0, 2.0, 2.0, 2.0], 3), [1, 2, 3]);
        assert_eq!(rows(&[0.0, 0.0, 0.0, 1.0], 2), [0, 1]);
        assert_eq!(rows(&[2.0, 1.0, 3.0], 1), [1]);
        // Equal to within the last digits is tied; a millionth is not.
        assert_eq!(rows(&[1.0 + 1e-14, 1.0, 5.0], 1), [0]);
        assert_eq!(rows(&[1.0 + 1e-6, 1.0, 5.0], 1), [1]);
    }

    /// Calls `check` with leave-one-out neighbors of rows with these values, one column after the other.
    fn with_neighbors<K: Kernel<Value = u16>>(
        columns: &[f64],
        n: usize,
        k: usize,
        metric: Metric,
        check: impl FnOnce(Neighbours<K>),
    ) {
        let names = (0..columns.len() / n).map(|feature| format!("f{feature}")).collect();
        let codes: Vec<u32> = (0..n as u32).map(|row| row % 2).collect();
        let data = Dataset::new(columns, codes, 2, names, Scale::Minmax).unwrap();
        let folds = Folds::draw(&FoldSpec::Loo, data.codes(), 2).unwrap().0;
        let seen = Seen::new(&data, &folds, ScaleFit::All).unwrap().0;
        let spec = EvaluationSpec {
            classifier: Classifier::Knn,
            k,
            metric,
            weights: Weights::Uniform,
            scale_fit: ScaleFit::All,
            folds: FoldSpec::Loo,
        };
        let resources = Resources::default();
        let plan = Plan { seen: &seen, spec: &spec, separation: false, resources, ops: 0 };
        let Quantized::Narrow(values) = &data.quantization().values else {
            panic!("a narrow table")
        };
        check(Neighbours::new(&plan, Isa::detect(), |at| values[at]));
    }

    #[test]
    fn short_keys_are_for_few_neighbors_of_few_rows() {
        let fits = |n: u32, k| {
            let column: Vec<f64> = (0..n).map(f64::from).collect();
            let mut found = false;
            with_neighbors::<Manhattan16>(&column, n as usize, k, Metric::Manhattan, |of| {
                found = of.fits_short_keys();
            });
            found
        };
        assert!(fits(30, 10));
        assert!(!fits(30, 11));
        assert!(fits(4095, 1));
        assert!(!fits(4096, 1));
    }

    /// Ten rows under one feature that is not whole in steps. For the third, the nearest, the second and the third nearest
    /// lie within a step of each other; every other row has a nearest one that is certain.
    const ROWS_OF_ONE_DOUBT: [f64; 10] = [
        0.0, 10_000.3, 20_000.3, 30_000.3, 30_001.3, 36_000.0, 40_000.0, 47_000.0, 55_000.0,
        65_535.0,
    ];

    #[test]
    fn short_keys_are_used_where_a_tenth_of_the_cases_is_undecided_and_no_more() {
        let trial = |rows: &[f64]| {
            let mut found = (0, 0, false);
            with_neighbors::<Manhattan16>(rows, rows.len(), 1, Metric::Manhattan, |mut of| {
                of.uses_short_keys = true;
                let undecided = of.undecided(&Subset::full(1));
                let ops = of.try_short_keys();
                found = (undecided, ops, of.uses_short_keys);
            });
            found
        };
        // Four trials, each of the one feature: 45 pairs of ten rows, 36 of nine.
        assert_eq!(trial(&ROWS_OF_ONE_DOUBT), (1, 4 * 45, true));
        let nine = [&ROWS_OF_ONE_DOUBT[..7], &ROWS_OF_ONE_DOUBT[8..]].concat();
        assert_eq!(trial(&nine), (1, 4 * 36, false));
    }

    #[test]
    fn trials_take_every_feature_every_second_third_and_fourth() {
        let columns: Vec<f64> = (0..35).map(|value| f64::from(value * value % 37)).collect();
        with_neighbors::<Manhattan16>(&columns, 5, 1, Metric::Manhattan, |mut of| {
            // Ten pairs of five rows.
            assert_eq!(of.try_short_keys(), 10 * (7 + 4 + 3 + 2));
        });
    }

    #[test]
    fn the_error_bound_follows_from_the_features_of_a_subset() {
        let columns: Vec<f64> = (0..30).map(|value| f64::from(value * value % 31)).collect();
        let fidelity = [Fidelity::Exact, Fidelity::Injective, Fidelity::Merging];
        let padded = |error: f64| 2.0 * error * (1.0 + 1e-6) + 1e-6;
        with_neighbors::<Manhattan16>(&columns, 10, 3, Metric::Manhattan, |mut of| {
            of.fidelity = fidelity.to_vec();
            let exact = of.screen(&Subset::from_indices(3, [0]));
            assert!(exact.is_exact && exact.is_zero_exact && !exact.is_squared);
            assert_eq!((exact.levels, exact.slack, exact.short), (3, 0.0, None));
            let injective = of.screen(&Subset::from_indices(3, [0, 1]));
            assert!(!injective.is_exact && injective.is_zero_exact);
            assert_eq!((injective.levels, injective.slack), (5, padded(1.0)));
            let merging = of.screen(&Subset::full(3));
            assert!(!merging.is_exact && !merging.is_zero_exact);
            assert_eq!(merging.slack, padded(2.0));
            // 16 bits of a distance and 4 of a row fit a short key, 31 and 4 do not.
            of.uses_short_keys = true;
            let short = of.screen(&Subset::from_indices(3, [0]));
            assert_eq!(short.short, Some(ShortFormat { drop: 0, shift: 4 }));
            assert!(short.is_exact);
        });
        let many: Vec<f64> = (0..30_000).map(|value| f64::from(value % 10)).collect();
        with_neighbors::<Manhattan16>(&many, 10, 3, Metric::Manhattan, |mut of| {
            of.uses_short_keys = true;
            // 3000 features of up to 65 535 steps take 28 bits: all fits; 8 bits of a row would not.
            let all = of.screen(&Subset::full(3000));
            assert_eq!(all.short, Some(ShortFormat { drop: 0, shift: 4 }));
            of.format.shift = 8;
            let all = of.screen(&Subset::full(3000));
            assert_eq!(all.short, Some(ShortFormat { drop: 4, shift: 8 }));
            assert_eq!((all.slack, all.is_exact, all.levels), (0.0, false, 5));
        });
        with_neighbors::<CoarseEuclidean<2>>(&columns, 10, 3, Metric::Euclidean, |mut of| {
            of.fidelity = fidelity.to_vec();
            // Values without their two low bits are off by three quarters of a coarse step, or by one.
            let exact = of.screen(&Subset::from_indices(3, [0]));
            assert!(exact.is_squared && !exact.is_exact && !exact.is_zero_exact);
            assert_eq!((exact.levels, exact.slack), (5, padded(0.75)));
            assert_eq!(of.screen(&Subset::full(3)).slack, padded((0.75f64 * 0.75 + 2.0).sqrt()));
        });
    }
}
