//! Random streams, keyed by seed, iteration, phase and slot.
//!
//! Streams are counter-based and not shared, so neither the order of evaluation nor the number of threads changes what a slot
//! draws. In iteration 0 of the ask phase, slot `i` initializes particle `i`, so all algorithms that start with random bits
//! start with the same population.

use crate::base::isa::Isa;
use crate::base::math::{cos, ln};
use std::f64::consts::TAU;

/// The phase of a random stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Proposals of subsets.
    Ask = 0,
    /// Updates from costs.
    Tell = 1,
    /// Cross-validation folds; not part of a run.
    Folds = 2,
    /// Feature groups; not part of a run.
    Groups = 3,
}

/// The source of all streams of one seed.
#[derive(Debug, Clone)]
pub struct Streams {
    seed: u64,
    isa: Isa,
}

impl Streams {
    /// The streams of `seed`, on the instruction set of the process.
    pub fn new(seed: u64) -> Self {
        Self { seed, isa: Isa::usual() }
    }

    /// The same streams, drawn by another instruction set.
    #[must_use]
    pub fn on(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// The stream of one slot in one phase of one iteration.
    pub fn rng(&self, iteration: u64, phase: Phase, slot: usize) -> Rng {
        let halves = |number: u64| [number as u32, (number >> 32) as u32];
        let ([s0, s1], [i0, i1]) = (halves(self.seed), halves(iteration));
        let [n0, n1] = halves(slot as u64);
        let source = Source { key: [s0, s1, i0, i1, phase as u32, 0, 0, 0], nonce: [n0, n1] };
        Rng { source, isa: self.isa, wide: None, next_block: 0, words: [0; WORDS], next: 0, end: 0 }
    }
}

/// Words of a block.
const BLOCK: usize = 8;
/// Blocks generated at a time without wide vector instructions.
const FEW_BLOCKS: usize = 4;
/// Words that a stream holds, at most: one for each feature of a word of a subset.
pub(crate) const WORDS: usize = 64;
/// Blocks of [`WORDS`] words.
pub(crate) const BLOCKS: usize = WORDS / BLOCK;
/// The first row of a block: "expand 32-byte k".
pub(crate) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
/// Rounds in pairs, one over columns and one over diagonals.
pub(crate) const DOUBLE_ROUNDS: usize = 4;

/// The key and nonce of a stream of `ChaCha` with 8 rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    /// The key.
    pub key: [u32; 8],
    /// The stream among those of a key.
    pub nonce: [u32; 2],
}

impl Source {
    /// Generates `N` blocks from block `first` on, with one lane per block, so that the compiler vectorizes the loops.
    fn blocks<const N: usize>(&self, first: u64, to: &mut [u64]) {
        let numbers: [u64; N] = std::array::from_fn(|lane| first.wrapping_add(lane as u64));
        let start: [[u32; N]; 16] = std::array::from_fn(|row| match row {
            0..4 => [CONSTANTS[row]; N],
            4..12 => [self.key[row - 4]; N],
            12 => numbers.map(|number| number as u32),
            13 => numbers.map(|number| (number >> 32) as u32),
            _ => [self.nonce[row - 14]; N],
        });
        let mut rows = start;
        // A macro, so that the rows stay in registers.
        macro_rules! quarter {
            ($a:expr, $b:expr, $c:expr, $d:expr) => {
                quarter!($a, $b, $d, 16, 0);
                quarter!($c, $d, $b, 12, 0);
                quarter!($a, $b, $d, 8, 0);
                quarter!($c, $d, $b, 7, 0);
            };
            ($x:expr, $y:expr, $z:expr, $turn:literal, 0) => {
                for lane in 0..N {
                    rows[$x][lane] = rows[$x][lane].wrapping_add(rows[$y][lane]);
                    rows[$z][lane] = (rows[$z][lane] ^ rows[$x][lane]).rotate_left($turn);
                }
            };
        }
        for _ in 0..DOUBLE_ROUNDS {
            quarter!(0, 4, 8, 12);
            quarter!(1, 5, 9, 13);
            quarter!(2, 6, 10, 14);
            quarter!(3, 7, 11, 15);
            quarter!(0, 5, 10, 15);
            quarter!(1, 6, 11, 12);
            quarter!(2, 7, 8, 13);
            quarter!(3, 4, 9, 14);
        }
        for (lane, block) in to.chunks_exact_mut(BLOCK).take(N).enumerate() {
            for (word, pair) in block.iter_mut().zip(0..) {
                let half = |row: usize| u64::from(rows[row][lane].wrapping_add(start[row][lane]));
                *word = half(2 * pair) | half(2 * pair + 1) << 32;
            }
        }
    }
}

/// Generates [`BLOCKS`] blocks of a stream from the given one on.
pub(crate) type Wide = fn(&Source, u64, &mut [u64; WORDS]);

/// A random stream. The samplers are our own, so that results do not change with library versions.
#[derive(Debug)]
pub struct Rng {
    source: Source,
    isa: Isa,
    /// Generates many blocks at a time with vector instructions, if available.
    wide: Option<Wide>,
    /// The index of the next block.
    next_block: u64,
    /// Generated words; those in `next..end` are not drawn yet.
    words: [u64; WORDS],
    next: usize,
    end: usize,
}

impl Rng {
    /// The instruction set that draws many numbers at a time.
    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    /// The same stream, whose words `wide` makes.
    pub(crate) fn by(self, wide: Wide) -> Self {
        Self { wide: Some(wide), ..self }
    }

    /// Takes some of the next words, at most `count` and at least one.
    pub(crate) fn take(&mut self, count: usize) -> &[u64] {
        if self.next == self.end {
            self.make();
        }
        let from = self.next;
        self.next = self.end.min(from + count);
        &self.words[from..self.next]
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self) {
        let made = if let Some(wide) = self.wide {
            wide(&self.source, self.next_block, &mut self.words);
            BLOCKS
        } else {
            self.source.blocks::<FEW_BLOCKS>(self.next_block, &mut self.words);
            FEW_BLOCKS
        };
        self.next_block = self.next_block.wrapping_add(made as u64);
        (self.next, self.end) = (0, made * BLOCK);
    }

    #[inline]
    fn next_u64(&mut self) -> u64 {
        if self.next == self.end {
            self.make();
        }
        self.next += 1;
        self.words[self.next - 1]
    }

    /// A number in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with this probability, which is clamped to [0, 1].
    #[inline]
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
            let wide = u128::from(self.next_u64()) * u128::from(n);
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
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{self, SeedableRng as _};

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
        fn streams_are_those_of_the_library(seed: u64, iteration: u64, slot: u64) {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&seed.to_le_bytes());
            key[8..16].copy_from_slice(&iteration.to_le_bytes());
            key[16] = Phase::Groups as u8;
            let mut library = ChaCha8Rng::from_seed(key);
            library.set_stream(slot);
            let mut rng = Streams::new(seed).rng(iteration, Phase::Groups, slot as usize);
            for _ in 0..100 {
                prop_assert_eq!(rng.next_u64(), rand_core::Rng::next_u64(&mut library));
            }
        }

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
