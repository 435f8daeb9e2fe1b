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
