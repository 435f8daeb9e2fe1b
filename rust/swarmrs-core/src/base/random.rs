//! Random streams, keyed by seed, iteration, phase and slot.
//!
//! Every draw of a run comes from a stream that is named, not shared: neither the order of evaluation nor the number of
//! threads can change what a slot draws. In iteration 0 of the ask phase slot `i` is the start of particle `i`, so that all
//! algorithms that begin with fair bits begin with the same swarm.

use crate::base::math::{cos, ln};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};
use std::f64::consts::TAU;

/// The phase of a random stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// While subsets are proposed.
    Ask = 0,
    /// While costs are learned.
    Tell = 1,
    /// While folds are drawn; does not belong to a run.
    Folds = 2,
    /// While features are put in groups; does not belong to a run.
    Groups = 3,
}

/// The source of all streams of one seed.
#[derive(Debug, Clone)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The stream of one slot in one phase of one iteration.
    pub fn rng(&self, iteration: u64, phase: Phase, slot: usize) -> Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&iteration.to_le_bytes());
        key[16] = phase as u8;
        let mut chacha = ChaCha8Rng::from_seed(key);
        chacha.set_stream(slot as u64);
        Rng(chacha)
    }
}

/// One random stream. Its samplers are our own, so results outlive any library's changes.
#[derive(Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// A number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with this probability: always from 1 up, never from 0 down.
    pub fn bernoulli(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number of the standard normal distribution, from two of [`unit`](Self::unit): the cosine of Box and Muller's pair.
    pub fn normal(&mut self) -> f64 {
        // 1 - u lies in (0, 1], where the logarithm is finite.
        let (u1, u2) = (1.0 - self.unit(), self.unit());
        (-2.0 * ln(u1)).sqrt() * cos(TAU * u2)
    }

    /// A whole number below `n`, each equally likely (Lemire's method, without bias).
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "a draw below zero");
        let n = n as u64;
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(n);
            if wide as u64 >= n.wrapping_neg() % n {
                return (wide >> 64) as usize;
            }
        }
    }

    /// Puts `items` in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// `count` distinct numbers below `n`, in the order drawn.
    ///
    /// # Panics
    /// When `count` exceeds `n`.
    pub fn distinct(&mut self, count: usize, n: usize) -> Vec<usize> {
        assert!(count <= n, "{count} distinct numbers below {n}");
        let mut pool: Vec<usize> = (0..n).collect();
        for at in 0..count {
            let other = at + self.below(n - at);
            pool.swap(at, other);
        }
        pool.truncate(count);
        pool
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::normal_cdf;
    use proptest::prelude::*;

    #[test]
    fn streams_are_frozen() {
        // Golden: a change here changes every trace.
        let mut rng = Streams::new(1).rng(0, Phase::Ask, 0);
        let drawn: Vec<u64> = (0..4).map(|_| (rng.unit() * 1e9) as u64).collect();
        assert_eq!(drawn, GOLDEN);
    }

    const GOLDEN: [u64; 4] = [381_489_413, 294_927_325, 798_254_247, 916_153_219];

    #[test]
    fn streams_differ_in_each_part_of_their_name() {
        let draw =
            |seed, iteration, phase, slot| Streams::new(seed).rng(iteration, phase, slot).unit();
        let base = draw(1, 2, Phase::Ask, 3);
        for other in [
            draw(2, 2, Phase::Ask, 3),
            draw(1, 3, Phase::Ask, 3),
            draw(1, 2, Phase::Tell, 3),
            draw(1, 2, Phase::Ask, 4),
        ] {
            assert_ne!(base, other);
        }
    }

    proptest! {
        #[test]
        fn draws_keep_their_ranges(seed: u64, n in 1usize..50) {
            let mut rng = Streams::new(seed).rng(0, Phase::Tell, 0);
            prop_assert!((0.0..1.0).contains(&rng.unit()));
            prop_assert!(rng.below(n) < n);
            let mut drawn = rng.distinct(n / 2, n);
            drawn.sort_unstable();
            drawn.dedup();
            prop_assert_eq!(drawn.len(), n / 2);
            prop_assert!(drawn.iter().all(|&d| d < n));
            let mut items: Vec<usize> = (0..n).collect();
            rng.shuffle(&mut items);
            items.sort_unstable();
            prop_assert!(items.into_iter().eq(0..n));
        }
    }

    #[test]
    fn normal_draws_spread_as_the_distribution_does() {
        let mut rng = Streams::new(5).rng(0, Phase::Ask, 0);
        let mut drawn: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        drawn.sort_by(f64::total_cmp);
        let gap = drawn.iter().enumerate().map(|(at, &z)| {
            let (below, n) = (normal_cdf(z), drawn.len() as f64);
            (below - at as f64 / n).abs().max((below - (at + 1) as f64 / n).abs())
        });
        // The 0.999 quantile of Kolmogorov's statistic is 1.95 / sqrt(n), and the seed is fixed.
        assert!(gap.fold(0.0, f64::max) < 1.95 / 20_000f64.sqrt());
    }

    #[test]
    fn below_is_fair() {
        let mut rng = Streams::new(9).rng(0, Phase::Ask, 0);
        let mut counts = [0f64; 5];
        for _ in 0..50_000 {
            counts[rng.below(5)] += 1.0;
        }
        // Chi-square with 4 degrees of freedom; 18.5 is its 0.999 quantile, and the seed is fixed.
        let chi: f64 = counts.iter().map(|c| (c - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 18.5, "{chi}");
    }
}
