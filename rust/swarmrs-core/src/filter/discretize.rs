//! Levels from values: the recursive cuts of least class entropy that pay for their own description.
//!
//! ```text
//! a segment of N sorted rows, k classes, entropy H; m places between distinct values; l, r the parts of a cut
//! E = (N_l H_l + N_r H_r) / N                            the cut of least E, the first of equals
//! accept where H - E > (log2 m + log2(3^k - 2) - (k H - k_l H_l - k_r H_r)) / N,   then cut both parts alike
//! ```
//!
//! m counts places where a cut can lie, not the rows less one. Only the order of values and which of them are equal
//! matter, so that no scaling changes a level.
//!
//! U. M. Fayyad, K. B. Irani, Multi-interval discretization of continuous-valued attributes for classification
//! learning, IJCAI (1993); I. Kononenko, On biases in estimating multi-valued attributes, IJCAI (1995), for m.

use super::entropy::Logs;
use crate::base::math;

/// The class of each row.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    /// One code for each row.
    pub codes: &'a [u32],
    /// All codes lie below this.
    pub count: usize,
}

/// The level of each row, counted from 0 for the least values; all 0 where no cut pays.
pub fn levels(column: &[f64], classes: Labels<'_>, logs: &Logs) -> Vec<u32> {
    let sorted = Sorted::new(column, classes);
    let mut is_cut = vec![false; sorted.starts.len()];
    let mut segments = vec![(0, sorted.starts.len() - 1)];
    while let Some((first, last)) = segments.pop() {
        if let Some(cut) = sorted.cut(first, last, logs).filter(Cut::pays) {
            is_cut[cut.at] = true;
            segments.extend([(first, cut.at), (cut.at, last)]);
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

/// Rows by value. Equal values make a run.
struct Sorted {
    rows: Vec<u32>,
    /// The class of each of `rows`.
    codes: Vec<u32>,
    n_classes: usize,
    /// The start of each run among `rows`, and the end.
    starts: Vec<usize>,
}

/// The best place to cut a segment: before run `at`.
#[derive(Debug)]
struct Cut {
    at: usize,
    gain: f64,
    threshold: f64,
}

impl Cut {
    fn pays(&self) -> bool {
        self.gain > 0.0 && self.gain > self.threshold
    }
}

impl Sorted {
    fn new(column: &[f64], classes: Labels<'_>) -> Self {
        let mut values: Vec<(f64, u32)> = column.iter().copied().zip(0..).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut starts = vec![0];
        // Equal, not the same bits: 0 and -0 are one value.
        starts.extend((1..values.len()).filter(|&at| values[at - 1].0 != values[at].0));
        starts.push(values.len());
        let rows: Vec<u32> = values.into_iter().map(|(_, row)| row).collect();
        let codes = rows.iter().map(|&row| classes.codes[row as usize]).collect();
        Self { rows, codes, n_classes: classes.count, starts }
    }

    /// The number of rows of each class in the runs from `first` to before `last`.
    fn counts(&self, first: usize, last: usize) -> Vec<usize> {
        let mut counts = vec![0; self.n_classes];
        for &code in &self.codes[self.starts[first]..self.starts[last]] {
            counts[code as usize] += 1;
        }
        counts
    }

    /// The best cut between the runs from `first` to before `last`; none where there is a single run.
    fn cut(&self, first: usize, last: usize, logs: &Logs) -> Option<Cut> {
        let places = last - first - 1;
        let mut right = self.counts(first, last);
        let whole = Part::of(&right, logs);
        if places == 0 || whole.classes == 1.0 {
            return None;
        }
        // Sums of the table's entries over both parts: a row that changes sides changes two entries.
        let mut left = vec![0; self.n_classes];
        let mut entries: i64 = right.iter().map(|&count| logs.fixed(count)).sum();
        // An entry is off by half a unit at most: what differs by less than all of them may be equal.
        let slack = 2 * (self.n_classes.cast_signed() as i64 + 1);
        let (mut best, mut at) = (i64::MAX, first);
        let rows = self.starts[last] - self.starts[first];
        for run in first + 1..last {
            for &code in &self.codes[self.starts[run - 1]..self.starts[run]] {
                let (l, r) = (&mut left[code as usize], &mut right[code as usize]);
                entries -= logs.fixed(*l) + logs.fixed(*r);
                (*l, *r) = (*l + 1, *r - 1);
                entries += logs.fixed(*l) + logs.fixed(*r);
            }
            let n_left = self.starts[run] - self.starts[first];
            let cost = logs.fixed(n_left) + logs.fixed(rows - n_left) - entries;
            if cost < best.saturating_sub(slack) {
                (best, at) = (cost, run);
            }
        }
        let left = Part::of(&self.counts(first, at), logs);
        let right = Part::of(&self.counts(at, last), logs);
        let n = whole.rows;
        let gain = whole.entropy - (left.rows * left.entropy + right.rows * right.entropy) / n;
        let description = log_of_choices(whole.classes)
            - (whole.classes * whole.entropy
                - left.classes * left.entropy
                - right.classes * right.entropy);
        Some(Cut { at, gain, threshold: (math::log2(places as f64) + description) / n })
    }
}

/// The terms of the stopping rule for a set of rows.
struct Part {
    rows: f64,
    classes: f64,
    entropy: f64,
}

impl Part {
    fn of(counts: &[usize], logs: &Logs) -> Self {
        Self {
            rows: counts.iter().sum::<usize>() as f64,
            classes: counts.iter().filter(|&&count| count > 0).count() as f64,
            entropy: logs.entropy(counts.iter().copied()),
        }
    }
}

/// log2(3^k - 2). From 40 classes on the 2 is lost in rounding, and the power soon would be too large.
fn log_of_choices(classes: f64) -> f64 {
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
        let cut = sorted.cut(0, sorted.starts.len() - 1, &Logs::new(codes.len())).unwrap();
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
    fn worked_examples_are_cut_where_they_should() {
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
        // Cutting off either end tells as much.
        let column = &EIGHT[..6];
        let sorted = Sorted::new(column, classes(&[0, 1, 1, 1, 1, 2]));
        assert_eq!(sorted.cut(0, 6, &Logs::new(6)).unwrap().at, 1);
    }

    #[test]
    fn values_that_are_equal_are_never_parted() {
        assert_eq!(of(&[0.0, -0.0, -0.0, 0.0], &[0, 1, 1, 0]), [0; 4]);
        assert_eq!(of(&[7.0; 6], &[0, 0, 0, 1, 1, 1]), [0; 6]);
    }

    #[test]
    fn values_a_sixteen_bit_grid_would_merge_are_told_apart() {
        let column = [0.0, 1e-9, 2e-9, 3e-9, 4e-9, 5e-9, 6e-9, 1.0];
        assert_eq!(of(&column, &[0, 0, 0, 0, 1, 1, 1, 1]), [0, 0, 0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn many_classes_have_a_finite_threshold() {
        assert!((log_of_choices(2.0) - math::log2(7.0)).abs() < 1e-12);
        assert!((log_of_choices(40.0) - log_of_choices(39.0) - math::log2(3.0)).abs() < 1e-12);
        let column: Vec<f64> = (0..2000).map(f64::from).collect();
        let codes: Vec<u32> = (0..2000).map(|row| row / 2).collect();
        let (gain, threshold) = first_cut(&column, &codes);
        assert!(gain.is_finite() && threshold.is_finite());
    }

    /// The rule word by word: every cut of every segment by entropies of fresh counts.
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
        let places: Vec<usize> = (1..rows.len()).filter(|&i| rows[i - 1].0 < rows[i].0).collect();
        let mut best: Option<(f64, usize)> = None;
        for &at in &places {
            let ((nl, _, hl), (nr, _, hr)) = (part(&rows[..at]), part(&rows[at..]));
            let e = (nl * hl + nr * hr) / n;
            if best.is_none_or(|best| e < best.0 - 1e-9) {
                best = Some((e, at));
            }
        }
        let Some((e, at)) = best else { return };
        let ((_, kl, hl), (_, kr, hr)) = (part(&rows[..at]), part(&rows[at..]));
        let delta = math::log2(libm::pow(3.0, k) - 2.0) - (k * h - kl * hl - kr * hr);
        let gain = h - e;
        if gain > 1e-12 && gain > (math::log2(places.len() as f64) + delta) / n {
            cuts.push(f64::midpoint(rows[at - 1].0, rows[at].0));
            let (left, right) = rows.split_at_mut(at);
            naive(left, cuts);
            naive(right, cuts);
        }
    }

    proptest! {
        #[test]
        fn levels_are_those_of_the_naive_rule(
            rows in proptest::collection::vec((0u8..20, 0u32..4, 0u8..4), 2..60),
        ) {
            // The class leans on the value, so that cuts are found.
            let rows: Vec<(f64, u32)> = rows
                .into_iter()
                .map(|(x, class, lean)| (f64::from(x), if lean > 0 { u32::from(x / 6) } else { class }))
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
