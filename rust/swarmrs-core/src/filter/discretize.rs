//! Discretization by recursive entropy minimization with the minimum description length (MDL) stopping rule.
//!
//! ```text
//! a segment of N sorted rows, k classes, entropy H; m cut points between distinct values; l, r the sides of a cut
//! E = (N_l H_l + N_r H_r) / N                            the cut of least E, the first of equals
//! accept if H - E > (log2 m + log2(3^k - 2) - (k H - k_l H_l - k_r H_r)) / N,   then cut both sides recursively
//! ```
//!
//! m is the number of possible cut points, not N - 1. Only the order and the equality of values matter, so levels are
//! invariant to monotonic scaling.
//!
//! U. M. Fayyad, K. B. Irani, Multi-interval discretization of continuous-valued attributes for classification
//! learning, IJCAI (1993); I. Kononenko, On biases in estimating multi-valued attributes, IJCAI (1995), for m.

use super::entropy::Logs;
use crate::base::math;

/// The class of each row.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    /// One class code for each row.
    pub codes: &'a [u32],
    /// The number of classes; all codes are below it.
    pub count: usize,
}

/// The level of each row, 0 for the lowest values; all 0 if no cut is accepted.
pub fn levels(column: &[f64], classes: Labels<'_>, logs: &Logs) -> Vec<u32> {
    let sorted = Sorted::new(column, classes);
    let mut is_cut = vec![false; sorted.starts.len()];
    let mut segments = vec![(0, sorted.starts.len() - 1)];
    while let Some((first, last)) = segments.pop() {
        if let Some(cut) = sorted.best_cut(first, last, logs).filter(Cut::is_accepted) {
            is_cut[cut.run] = true;
            segments.extend([(first, cut.run), (cut.run, last)]);
        }
    }
    let mut levels = vec![0; column.len()];
    let mut level = 0;
    for (run, rows) in sorted.starts.windows(2).enumerate() {
        level += u32::from(is_cut[run]);
        for &row in &sorted.rows[rows[0]..rows[1]] {
            levels[row as usize] = level;
        }
    }
    levels
}

/// Rows sorted by value. Equal values form a run.
struct Sorted {
    rows: Vec<u32>,
    /// The class of each of `rows`.
    codes: Vec<u32>,
    n_classes: usize,
    /// The start of each run in `rows`, and the number of rows.
    starts: Vec<usize>,
}

/// The cut of a segment before a run.
#[derive(Debug)]
struct Cut {
    run: usize,
    gain: f64,
    threshold: f64,
}

impl Cut {
    fn is_accepted(&self) -> bool {
        self.gain > 0.0 && self.gain > self.threshold
    }
}

impl Sorted {
    fn new(column: &[f64], classes: Labels<'_>) -> Self {
        let mut values: Vec<(f64, u32)> = column.iter().copied().zip(0..).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut starts = vec![0];
        // Compared as numbers, not bits: 0 and -0 are equal.
        starts.extend((1..values.len()).filter(|&i| values[i - 1].0 != values[i].0));
        starts.push(values.len());
        let rows: Vec<u32> = values.into_iter().map(|(_, row)| row).collect();
        let codes = rows.iter().map(|&row| classes.codes[row as usize]).collect();
        Self { rows, codes, n_classes: classes.count, starts }
    }

    /// The number of rows of each class in the runs `first..last`.
    fn counts(&self, first: usize, last: usize) -> Vec<usize> {
        let mut counts = vec![0; self.n_classes];
        for &code in &self.codes[self.starts[first]..self.starts[last]] {
            counts[code as usize] += 1;
        }
        counts
    }

    /// The cut of least entropy within the runs `first..last`; none for a single run or a single class.
    fn best_cut(&self, first: usize, last: usize, logs: &Logs) -> Option<Cut> {
        let n_cut_points = last - first - 1;
        let mut right = self.counts(first, last);
        let whole = SegmentStatistics::of(&right, logs);
        if n_cut_points == 0 || whole.classes == 1.0 {
            return None;
        }
        // The sum of k log2 k over the class counts of both sides; a row that changes sides changes two terms.
        let mut left = vec![0; self.n_classes];
        let mut class_terms: i64 = right.iter().map(|&count| logs.fixed(count)).sum();
        // Each of the 2 (classes + 1) terms of a cost is off by half a unit at most, so costs that differ by no more than
        // this may be equal.
        let slack = 2 * (self.n_classes.cast_signed() as i64 + 1);
        let (mut least_cost, mut best_run) = (i64::MAX, first);
        let rows = self.starts[last] - self.starts[first];
        for run in first + 1..last {
            for &code in &self.codes[self.starts[run - 1]..self.starts[run]] {
                let (l, r) = (&mut left[code as usize], &mut right[code as usize]);
                class_terms -= logs.fixed(*l) + logs.fixed(*r);
                (*l, *r) = (*l + 1, *r - 1);
                class_terms += logs.fixed(*l) + logs.fixed(*r);
            }
            let n_left = self.starts[run] - self.starts[first];
            let cost = logs.fixed(n_left) + logs.fixed(rows - n_left) - class_terms;
            if cost < least_cost.saturating_sub(slack) {
                (least_cost, best_run) = (cost, run);
            }
        }
        let left = SegmentStatistics::of(&self.counts(first, best_run), logs);
        let right = SegmentStatistics::of(&self.counts(best_run, last), logs);
        let n = whole.rows;
        let gain = whole.entropy - (left.rows * left.entropy + right.rows * right.entropy) / n;
        let description = log_of_labelings(whole.classes)
            - (whole.classes * whole.entropy
                - left.classes * left.entropy
                - right.classes * right.entropy);
        let threshold = (math::log2(n_cut_points as f64) + description) / n;
        Some(Cut { run: best_run, gain, threshold })
    }
}

/// The terms of the stopping rule for a segment: N, k and H.
struct SegmentStatistics {
    rows: f64,
    classes: f64,
    entropy: f64,
}

impl SegmentStatistics {
    fn of(counts: &[usize], logs: &Logs) -> Self {
        Self {
            rows: counts.iter().sum::<usize>() as f64,
            classes: counts.iter().filter(|&&count| count > 0).count() as f64,
            entropy: logs.entropy(counts.iter().copied()),
        }
    }
}

/// log2(3^k - 2). From 40 classes on the 2 is lost in rounding; from 647 on the power would overflow.
fn log_of_labelings(classes: f64) -> f64 {
    if classes < 40.0 {
        math::log2(libm::pow(3.0, classes) - 2.0)
    } else {
        classes * math::log2(3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn classes(codes: &[u32]) -> Labels<'_> {
        Labels { codes, count: 1 + codes.iter().max().map_or(0, |&code| code as usize) }
    }

    fn first_cut(column: &[f64], codes: &[u32]) -> (f64, f64) {
        let sorted = Sorted::new(column, classes(codes));
        let cut = sorted.best_cut(0, sorted.starts.len() - 1, &Logs::new(codes.len())).unwrap();
        (cut.gain, cut.threshold)
    }

    fn of(column: &[f64], codes: &[u32]) -> Vec<u32> {
        levels(column, classes(codes), &Logs::new(codes.len()))
    }

    fn near(found: (f64, f64), expected: (f64, f64)) -> bool {
        (found.0 - expected.0).abs() < 5e-7 && (found.1 - expected.1).abs() < 5e-7
    }

    const EIGHT: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];

    #[test]
    fn worked_examples_have_the_expected_cuts() {
        let codes = [0, 0, 0, 0, 1, 1, 1, 1];
        assert!(near(first_cut(&EIGHT, &codes), (1.0, 0.451_839)));
        assert_eq!(of(&EIGHT, &codes), [0, 0, 0, 0, 1, 1, 1, 1]);

        assert!(near(first_cut(&EIGHT[..4], &[0, 0, 1, 1]), (1.0, 0.598_079)));
        assert_eq!(of(&EIGHT[..4], &[0, 0, 1, 1]), [0, 0, 1, 1]);

        let codes = [0, 1, 0, 1, 0, 1, 0, 1];
        assert!(near(first_cut(&EIGHT, &codes), (0.137_925, 0.698_146)));
        assert_eq!(of(&EIGHT, &codes), [0; 8]);

        let column = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0];
        let codes = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
        assert!(near(first_cut(&column, &codes), (0.556_780, 0.304_880)));
        assert!(near(first_cut(&column[3..], &codes[3..]), (0.198_117, 0.494_372)));
        assert_eq!(of(&column, &codes), [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn the_first_of_equal_cuts_is_taken() {
        // Cutting off the first or the last row has the same gain.
        let column = &EIGHT[..6];
        let sorted = Sorted::new(column, classes(&[0, 1, 1, 1, 1, 2]));
        assert_eq!(sorted.best_cut(0, 6, &Logs::new(6)).unwrap().run, 1);
    }

    #[test]
    fn equal_values_are_never_separated() {
        assert_eq!(of(&[0.0, -0.0, -0.0, 0.0], &[0, 1, 1, 0]), [0; 4]);
        assert_eq!(of(&[7.0; 6], &[0, 0, 0, 1, 1, 1]), [0; 6]);
    }

    #[test]
    fn values_that_16_bit_quantization_would_merge_are_separated() {
        let column = [0.0, 1e-9, 2e-9, 3e-9, 4e-9, 5e-9, 6e-9, 1.0];
        assert_eq!(of(&column, &[0, 0, 0, 0, 1, 1, 1, 1]), [0, 0, 0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn many_classes_have_a_finite_threshold() {
        assert!((log_of_labelings(2.0) - math::log2(7.0)).abs() < 1e-12);
        assert!((log_of_labelings(40.0) - log_of_labelings(39.0) - math::log2(3.0)).abs() < 1e-12);
        let column: Vec<f64> = (0..2000).map(f64::from).collect();
        let codes: Vec<u32> = (0..2000).map(|row| row / 2).collect();
        let (gain, threshold) = first_cut(&column, &codes);
        assert!(gain.is_finite() && threshold.is_finite());
    }

    /// The definition: every cut of every segment, with entropies from scratch.
    fn naive(rows: &mut [(f64, u32)], cuts: &mut Vec<f64>) {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let part = |rows: &[(f64, u32)]| {
            let of = |class| rows.iter().filter(|row| row.1 == class).count() as f64;
            let counts: Vec<f64> = (0..9).map(of).filter(|&count| count > 0.0).collect();
            let n = rows.len() as f64;
            let entropy: f64 = counts.iter().map(|c| -c / n * math::log2(c / n)).sum();
            (n, counts.len() as f64, entropy)
        };
        let (n, k, h) = part(rows);
        let cut_points: Vec<usize> =
            (1..rows.len()).filter(|&i| rows[i - 1].0 < rows[i].0).collect();
        let mut best: Option<(f64, usize)> = None;
        for &cut in &cut_points {
            let ((nl, _, hl), (nr, _, hr)) = (part(&rows[..cut]), part(&rows[cut..]));
            let e = (nl * hl + nr * hr) / n;
            if best.is_none_or(|best| e < best.0 - 1e-9) {
                best = Some((e, cut));
            }
        }
        let Some((e, cut)) = best else { return };
        let ((_, kl, hl), (_, kr, hr)) = (part(&rows[..cut]), part(&rows[cut..]));
        let delta = math::log2(libm::pow(3.0, k) - 2.0) - (k * h - kl * hl - kr * hr);
        let gain = h - e;
        if gain > 1e-12 && gain > (math::log2(cut_points.len() as f64) + delta) / n {
            cuts.push(f64::midpoint(rows[cut - 1].0, rows[cut].0));
            let (left, right) = rows.split_at_mut(cut);
            naive(left, cuts);
            naive(right, cuts);
        }
    }

    proptest! {
        #[test]
        fn levels_match_the_naive_implementation(
            rows in proptest::collection::vec((0u8..20, 0u32..4, 0u8..4), 2..60),
        ) {
            // In about three of four rows the class depends on the value, so that some cuts are accepted.
            let rows: Vec<(f64, u32)> = rows
                .into_iter()
                .map(|(x, class, draw)| (f64::from(x), if draw > 0 { u32::from(x / 6) } else { class }))
                .collect();
            let (column, codes): (Vec<f64>, Vec<u32>) = rows.iter().copied().unzip();
            let mut cuts = Vec::new();
            naive(&mut rows.clone(), &mut cuts);
            let expected: Vec<u32> = column
                .iter()
                .map(|x| cuts.iter().filter(|cut| *cut < x).count() as u32)
                .collect();
            prop_assert_eq!(of(&column, &codes), expected);
        }
    }
}
