//! Complete cross-validation: the votes of k-NN averaged over all splits, in closed form.
//!
//! A test row has N other rows, and a split keeps r of them, every choice being as likely as any other. Let the others be
//! sorted by distance. The k-th kept row stands at place j with probability
//!
//! ```text
//! p(j) = C(j - 1, k - 1) C(N - j, r - k) / C(N, r)        j = k, ..., N - r + k
//! ```
//!
//! For k = 1 the row at place j decides with probability p(j) = C(N - j, r - 1) / C(N, r). For k > 1, where the next kept
//! row stands at place j + 1, the voters are any k of the first j rows, all sets of k being equally likely: the chance of a
//! class is its share of these sets, which the numbers of rows of each class among the first j determine.
//!
//! Lists end at a depth J: the chance that fewer than k of the first J rows are kept is [`TAIL`] at most, and such a split
//! counts as if it kept the last k of them. Probabilities are integers, multiples of 1 / [`ONE`]: sums over rows have the
//! same bits in any order. They are rounded from float64 by additions, multiplications and divisions in a fixed order.
//!
//! References: Mullin and Sukthankar (2000), Complete cross-validation for nearest neighbor classifiers, ICML, 639-646;
//! Celisse and Mary-Huard (2018), Theoretical analysis of cross-validation for estimating the risk of the k-nearest
//! neighbor classifier, JMLR 18(185), 1-54, <https://arxiv.org/abs/1508.04905>.

use super::super::scores::ONE;
use crate::base::error::{Error, Result};
use std::iter::once;

/// The most that the splits beyond the depth of the lists may weigh together.
const TAIL: f64 = 1.0 / 1024.0;
/// The longest lists: with them a binomial coefficient C(j, k) is below 10^308, and the table of votes below 8 MiB.
const DEEPEST: usize = 1024;
/// Weights are scaled down before they overflow.
const HUGE: f64 = 1e200;

/// The votes of the nearest rows under all splits.
#[derive(Debug)]
pub(in crate::evaluate) struct CompleteVoter {
    k: usize,
    depth: usize,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    /// The weight of each place, for k = 1.
    Nearest(Vec<u64>),
    Majority(Majority),
}

/// The votes of k > 1 neighbors.
#[derive(Debug)]
struct Majority {
    /// The weight of the splits whose voters are among the first j rows, from j = k on.
    weights: Vec<u64>,
    /// The part of it that the smaller of two classes wins, by its number m of rows: at j (j + 1) / 2 + m.
    of_smaller: Vec<u64>,
    /// The weight of splits that keep fewer than k rows of a list.
    tail: u64,
    binomials: Binomials,
}

/// Pascal's triangle: C(m, t) for m up to the depth and t up to k.
#[derive(Debug)]
struct Binomials {
    k: usize,
    values: Vec<f64>,
}

/// Memory for the votes of one row at a time.
#[derive(Debug)]
pub(in crate::evaluate) struct Ballot {
    /// The weight of each class; all zeros between rows.
    weights: Vec<u64>,
    /// The classes of a row's neighbors, ascending, and how many of them came so far.
    counts: Vec<(u32, usize)>,
    /// The number of sets that each of these classes wins.
    wins: Vec<f64>,
    /// Generating functions of the numbers of sets: of the classes before one, and of those behind it.
    before: Vec<f64>,
    behind: Vec<Vec<f64>>,
}

impl CompleteVoter {
    /// For `k` of the `kept` nearest of `n_others` rows.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for more neighbors than rows are kept, [`Error::TooLarge`] for lists that are too long.
    pub fn new(n_others: usize, kept: usize, k: usize) -> Result<Self> {
        if k == 0 || k > kept {
            let expected = format!("1 to {kept}, the rows that a split keeps");
            return Err(Error::out_of_range("n_neighbors", k, &expected));
        }
        let places = places(n_others, kept, k);
        let depth = k + places.len() - 1 - beyond(&places);
        if depth > DEEPEST {
            return Err(Error::TooLarge {
                what: format!(
                    "n_neighbors is {k} and a split keeps {kept} of {n_others} rows: complete cross-validation needs the \
                     {depth} nearest rows, expected {DEEPEST} at most"
                ),
                hint: "take fewer neighbors, or test a smaller share of the rows".into(),
            });
        }
        let rule = if k == 1 {
            let mut weights = whole(places[..depth].iter().copied());
            weights[depth - 1] = ONE - weights[..depth - 1].iter().sum::<u64>();
            Rule::Nearest(weights)
        } else {
            Rule::Majority(Majority::new(&places, depth, n_others, kept, k))
        };
        Ok(Self { k, depth, rule })
    }

    /// The number of nearest rows that vote.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Memory for rows of so many classes.
    pub fn ballot(n_classes: usize) -> Ballot {
        Ballot {
            weights: vec![0; n_classes],
            counts: Vec::new(),
            wins: Vec::new(),
            before: Vec::new(),
            behind: Vec::new(),
        }
    }

    /// The weight of each class that is predicted for a row whose nearest rows have these classes, nearest first; the
    /// weights add up to [`ONE`].
    pub fn vote(&self, nearest: &[u32], ballot: &mut Ballot, mut share: impl FnMut(u32, u64)) {
        debug_assert_eq!(nearest.len(), self.depth, "a list of {} rows", self.depth);
        if nearest.iter().all(|&class| class == nearest[0]) {
            share(nearest[0], ONE);
            return;
        }
        match &self.rule {
            Rule::Nearest(weights) => {
                for (&class, weight) in nearest.iter().zip(weights) {
                    ballot.weights[class as usize] += weight;
                }
            }
            Rule::Majority(majority) => majority.vote(nearest, self.k, ballot),
        }
        for &class in nearest {
            let weight = std::mem::take(&mut ballot.weights[class as usize]);
            if weight > 0 {
                share(class, weight);
            }
        }
    }
}

impl Majority {
    fn new(places: &[f64], depth: usize, n_others: usize, kept: usize, k: usize) -> Self {
        let weight = |j: usize| {
            let sets = places[j - k] * j as f64 / k as f64;
            // At the end of the list nothing is asked of the row behind it.
            let is_next = if j < depth { (kept - k) as f64 / (n_others - j) as f64 } else { 1.0 };
            sets * is_next
        };
        let weights = whole((k..=depth).map(weight));
        let binomials = Binomials::new(depth, k);
        let mut of_smaller = vec![0; (depth + 1) * (depth + 2) / 2];
        for (j, &weight) in (k..).zip(&weights) {
            for m in 0..=j {
                let at_least = k.div_ceil(2)..=k.min(m);
                let sets = at_least.map(|t| binomials.of(m, t) * binomials.of(j - m, k - t));
                let won = sets.sum::<f64>() / binomials.of(j, k);
                of_smaller[j * (j + 1) / 2 + m] = part(weight, won);
            }
        }
        let tail = ONE - weights.iter().sum::<u64>();
        Self { weights, of_smaller, tail, binomials }
    }

    fn vote(&self, nearest: &[u32], k: usize, ballot: &mut Ballot) {
        ballot.counts.clear();
        for &class in nearest {
            if let Err(at) = ballot.counts.binary_search_by_key(&class, |&(class, _)| class) {
                ballot.counts.insert(at, (class, 0));
            }
        }
        if let [(smaller, _), (greater, _)] = ballot.counts[..] {
            let (mut m, mut won) = (0, 0);
            for (j, &class) in (1..).zip(nearest) {
                m += usize::from(class == smaller);
                if j >= k {
                    won += self.of_smaller[j * (j + 1) / 2 + m];
                }
            }
            ballot.weights[smaller as usize] = won;
            ballot.weights[greater as usize] = ONE - self.tail - won;
        } else {
            for (j, &class) in (1..).zip(nearest) {
                let count = ballot.counts.iter_mut().find(|(other, _)| *other == class);
                count.expect("the classes of all neighbors are counted").1 += 1;
                if j >= k {
                    self.count_wins(k, ballot);
                    ballot.deal(self.weights[j - k], self.binomials.of(j, k));
                }
            }
        }
        let last = &nearest[nearest.len() - k..];
        let votes = |class: u32| last.iter().filter(|&&other| other == class).count();
        let winner = last.iter().copied().max_by_key(|&class| (votes(class), u32::MAX - class));
        ballot.weights[winner.expect("k is not zero") as usize] += self.tail;
    }

    /// Counts the sets of k neighbors that each class wins: with w votes, no smaller class having as many and no greater
    /// class more.
    fn count_wins(&self, k: usize, ballot: &mut Ballot) {
        let Ballot { counts, wins, before, behind, .. } = ballot;
        let n = counts.len();
        wins.clear();
        wins.resize(n, 0.0);
        behind.resize_with(n.max(behind.len()), Vec::new);
        // With fewer votes than k / n for the winner there would be fewer than k.
        for votes in k.div_ceil(n)..=k {
            let others = k - votes;
            let one = || once(1.0).chain(std::iter::repeat_n(0.0, others));
            behind[n - 1].clear();
            behind[n - 1].extend(one());
            for at in (0..n - 1).rev() {
                let (head, tail) = behind.split_at_mut(at + 1);
                head[at].clone_from(&tail[0]);
                self.binomials.multiply(&mut head[at], counts[at + 1].1, votes);
            }
            before.clear();
            before.extend(one());
            for (at, &(_, count)) in counts.iter().enumerate() {
                let pairs = before.iter().zip(behind[at].iter().rev());
                let sets = pairs.map(|(a, b)| a * b).sum::<f64>();
                wins[at] += self.binomials.of(count, votes) * sets;
                self.binomials.multiply(before, count, votes - 1);
            }
        }
    }
}

impl Ballot {
    /// Gives each class the part of a weight that it wins; rounding is left to the last class.
    fn deal(&mut self, weight: u64, sets: f64) {
        let mut rest = weight;
        let last = self.counts.len() - 1;
        for (&(class, _), &won) in self.counts[..last].iter().zip(&self.wins) {
            let won = part(weight, won / sets).min(rest);
            rest -= won;
            self.weights[class as usize] += won;
        }
        self.weights[self.counts[last].0 as usize] += rest;
    }
}

impl Binomials {
    fn new(depth: usize, k: usize) -> Self {
        let mut values = vec![0.0; (depth + 1) * (k + 1)];
        for m in 0..=depth {
            values[m * (k + 1)] = 1.0;
            for t in 1..=k.min(m) {
                values[m * (k + 1) + t] =
                    values[(m - 1) * (k + 1) + t - 1] + values[(m - 1) * (k + 1) + t];
            }
        }
        Self { k, values }
    }

    /// C(m, t).
    fn of(&self, m: usize, t: usize) -> f64 {
        self.values[m * (self.k + 1) + t]
    }

    /// Multiplies a polynomial, keeping its degree, by the sum of C(m, t) x^t over t up to `most`.
    fn multiply(&self, polynomial: &mut [f64], m: usize, most: usize) {
        for degree in (0..polynomial.len()).rev() {
            let terms =
                (0..=degree.min(most).min(m)).map(|t| self.of(m, t) * polynomial[degree - t]);
            polynomial[degree] = terms.sum();
        }
    }
}

/// The probability p(j) of each place j of the k-th kept row, from j = k on. Neighboring probabilities have a simple ratio;
/// their sum is 1.
fn places(n_others: usize, kept: usize, k: usize) -> Vec<f64> {
    let mut values = vec![1.0];
    let mut value = 1.0;
    for j in k..n_others - kept + k {
        let ahead = j as f64 / (j + 1 - k) as f64;
        value *= ahead * (n_others - kept + k - j) as f64 / (n_others - j) as f64;
        values.push(value);
        if value > HUGE {
            for value in &mut values {
                *value /= HUGE;
            }
            value /= HUGE;
        }
    }
    // From the least to the greatest, nearly: the far end is small.
    let sum: f64 = values.iter().rev().sum();
    values.iter().map(|value| value / sum).collect()
}

/// The number of last places that weigh [`TAIL`] at most together.
fn beyond(places: &[f64]) -> usize {
    let mut weight = 0.0;
    let is_light = |place: &&f64| {
        weight += **place;
        weight <= TAIL
    };
    places.iter().rev().take_while(is_light).count()
}

/// Probabilities as integers: their running sums are rounded, so that the rounding errors do not add up.
fn whole(probabilities: impl Iterator<Item = f64>) -> Vec<u64> {
    let (mut sum, mut so_far) = (0.0, 0);
    let weight = |probability: f64| {
        sum += probability;
        let rounded = part(ONE, sum);
        let weight = rounded - so_far;
        so_far = rounded;
        weight
    };
    probabilities.map(weight).collect()
}

/// A share of a weight, rounded.
fn part(weight: u64, share: f64) -> u64 {
    ((weight as f64 * share).round() as u64).min(weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The votes of the first k rows of each choice of `kept` of the rows, counted by class.
    fn enumerated(classes: &[u32], kept: usize, k: usize) -> ([u64; 4], u64) {
        let (mut winners, mut splits) = ([0; 4], 0);
        for chosen in 0u32..1 << classes.len() {
            if chosen.count_ones() as usize != kept {
                continue;
            }
            let rows = (0..classes.len()).filter(|row| chosen >> row & 1 == 1).take(k);
            let mut votes = [0; 4];
            rows.for_each(|row| votes[classes[row] as usize] += 1);
            let winner = (0..4).max_by_key(|&class| (votes[class], 4 - class)).unwrap();
            winners[winner] += 1;
            splits += 1;
        }
        (winners, splits)
    }

    fn shares(voter: &CompleteVoter, classes: &[u32]) -> [u64; 4] {
        let mut ballot = CompleteVoter::ballot(4);
        let mut shares = [0; 4];
        for _ in 0..2 {
            // A ballot is as good as new after a row.
            shares = [0; 4];
            voter.vote(&classes[..voter.depth()], &mut ballot, |class, weight| {
                assert_eq!(shares[class as usize], 0, "each class has one share");
                assert!(weight > 0);
                shares[class as usize] = weight;
            });
        }
        shares
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn votes_are_those_of_all_splits(
            classes in proptest::collection::vec(0u32..4, 1..12), n_classes in 1u32..5, kept in 1usize..12, k in 1usize..6,
        ) {
            let classes: Vec<u32> = classes.iter().map(|class| class % n_classes).collect();
            let kept = kept.min(classes.len());
            let k = k.min(kept);
            let voter = CompleteVoter::new(classes.len(), kept, k).unwrap();
            let shares = shares(&voter, &classes);
            prop_assert_eq!(shares.iter().sum::<u64>(), ONE);
            let (winners, splits) = enumerated(&classes, kept, k);
            // So few rows are seen to the end, unless the last splits weigh next to nothing. Otherwise a weight is the sum
            // of at most 11 numbers that are each off by one unit.
            let tail = if voter.depth() == classes.len() - kept + k { 0.0 } else { TAIL };
            for (share, winner) in shares.iter().zip(winners) {
                let off = *share as f64 / ONE as f64 - winner as f64 / splits as f64;
                prop_assert!(off.abs() <= tail + 11.0 / ONE as f64, "{shares:?} {winners:?} of {splits}");
            }
        }

        #[test]
        fn weights_of_places_are_exact(n_others in 1usize..40, kept in 1usize..40) {
            let kept = kept.min(n_others);
            let voter = CompleteVoter::new(n_others, kept, 1).unwrap();
            let Rule::Nearest(weights) = &voter.rule else { panic!("k is 1") };
            let choose = |n: usize, k: usize| -> u128 {
                if k > n { 0 } else { (0..k as u128).fold(1, |c, i| c * (n as u128 - i) / (i + 1)) }
            };
            let all = choose(n_others, kept);
            let (mut so_far, mut sum) = (0, 0);
            for (j, weight) in (1..).zip(&weights[..weights.len() - 1]) {
                so_far += choose(n_others - j, kept - 1);
                sum += weight;
                let exact = (so_far * u128::from(ONE) * 2 / all).div_ceil(2);
                prop_assert!(u128::from(sum).abs_diff(exact) <= 1, "place {j}: {sum} {exact}");
            }
            prop_assert_eq!(weights.iter().sum::<u64>(), ONE);
        }
    }

    #[test]
    fn the_depth_leaves_a_tail_of_less_than_its_bound() {
        let depth = |n, kept, k| CompleteVoter::new(n, kept, k).unwrap().depth();
        // 2^-10 is the chance that none of ten rows is kept, a little less where there are few.
        assert_eq!([depth(1_000_000, 500_000, 1), depth(568, 284, 1)], [10, 10]);
        assert_eq!([depth(59, 30, 1), depth(100, 100, 1), depth(100, 99, 1)], [9, 1, 2]);
        assert_eq!([depth(568, 284, 3), depth(568, 284, 5)], [18, 24]);
        assert_eq!(depth(568, 57, 1), 62);
    }

    #[test]
    fn lists_that_are_too_long_are_refused() {
        assert!(CompleteVoter::new(100, 50, 50).is_ok());
        let message = |n, kept, k| CompleteVoter::new(n, kept, k).unwrap_err().to_string();
        assert_eq!(
            message(9, 5, 6),
            "n_neighbors is 6, expected 1 to 5, the rows that a split keeps"
        );
        assert_eq!(
            message(9, 5, 0),
            "n_neighbors is 0, expected 1 to 5, the rows that a split keeps"
        );
        let long = message(100_000, 1_000, 5);
        assert!(long.contains("nearest rows, expected 1024 at most"), "{long}");
    }

    #[test]
    fn many_neighbors_have_weights() {
        // The first places of 500 neighbors are less likely than the least float64 number.
        let places = places(20_000, 4_000, 500);
        assert!((places.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mean: f64 = (500..).zip(&places).map(|(j, place)| f64::from(j) * place).sum();
        // The k-th of r kept rows of N stands at k (N + 1) / (r + 1) on average.
        assert!((mean - 500.0 * 20_001.0 / 4_001.0).abs() < 1e-6, "{mean}");
        assert!(CompleteVoter::new(1100, 1000, 400).is_ok());
    }
}
