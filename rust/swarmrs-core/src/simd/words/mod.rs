//! Words of 64 features: random numbers and update rules for all of them at once, and the distance of two subsets.
//!
//! The functions are plain Rust, compiled once for each instruction set. Their arithmetic is that of single numbers, in
//! the same order and never fused, so the bits are the same at any vector width.

// Several arrays side by side, in loops that become vectors.
#![allow(clippy::needless_range_loop)]

pub mod bits;
#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "vector loads and stores; each function states what its pointers need"
)]
mod chacha;

use super::Isa;
use crate::base::math::sigmoid;
use crate::base::random::{Rng, WORDS};
use crate::base::subset::Subset;

/// One number for each of 64 features.
pub(crate) type Lanes = [f64; WORDS];

/// Defines a function whose body is compiled for each instruction set; the first argument says which is run.
macro_rules! compiled {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $([$($generic:tt)*])? ($($arg:ident: $Arg:ty),* $(,)?) $(-> $Out:ty)?
        $body:block
    ) => {
        $(#[$meta])*
        $vis fn $name $(<$($generic)*>)? (isa: Isa, $($arg: $Arg),*) $(-> $Out)? {
            #[allow(clippy::inline_always, reason = "only inside the caller is it compiled for its instructions")]
            #[inline(always)]
            fn plain $(<$($generic)*>)? ($($arg: $Arg),*) $(-> $Out)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,popcnt")]
            fn avx2 $(<$($generic)*>)? ($($arg: $Arg),*) $(-> $Out)? {
                plain($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,popcnt")]
            fn avx512 $(<$($generic)*>)? ($($arg: $Arg),*) $(-> $Out)? {
                plain($($arg),*)
            }

            match isa {
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                // SAFETY: `HasAvx512` proves that the processor has the instructions, and the body is safe code.
                Isa::Avx512(_) => unsafe { avx512($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                // SAFETY: `HasAvx2` proves that the processor has the instructions, and the body is safe code.
                Isa::Avx2(_) => unsafe { avx2($($arg),*) },
                _ => plain($($arg),*),
            }
        }
    };
}

/// The same stream, which makes many words at a time where the processor has vectors for it.
pub(crate) fn widened(rng: Rng) -> Rng {
    match rng.isa() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(_) => rng.by(|source, first, words| {
            #[allow(unsafe_code)]
            // SAFETY: `HasAvx512` proves that the processor has the instructions.
            unsafe {
                chacha::avx512(source, first, words);
            }
        }),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(_) => rng.by(|source, first, words| {
            #[allow(unsafe_code)]
            // SAFETY: `HasAvx2` proves that the processor has the instructions.
            unsafe {
                chacha::avx2(source, first, words);
            }
        }),
        _ => rng,
    }
}

/// The units of the next draws, as [`Rng::unit`] would give them one by one.
pub(crate) fn units(rng: &mut Rng, to: &mut [f64]) {
    let isa = rng.isa();
    let mut at = 0;
    while at < to.len() {
        let made = rng.take(to.len() - at);
        as_units(isa, made, &mut to[at..at + made.len()]);
        at += made.len();
    }
}

/// The units of the next `count` draws.
pub(crate) fn some_units(count: usize, rng: &mut Rng) -> Vec<f64> {
    let mut drawn = vec![0.0; count];
    units(rng, &mut drawn);
    drawn
}

compiled! {
    /// The number in [0, 1) of the upper 53 bits of each word.
    fn as_units(words: &[u64], to: &mut [f64]) {
        // Put into the low bits of 2^52 and of 2^84, both halves of a whole number below 2^53 are floats; their sum less
        // 2^52 and 2^84 is that number, without rounding.
        const LOW: u64 = (1f64 / f64::EPSILON).to_bits();
        const HIGH: u64 = LOW + (32 << 52);
        const BOTH: f64 = f64::from_bits(HIGH) + f64::from_bits(LOW);
        for (to, word) in to.iter_mut().zip(words) {
            let low = f64::from_bits((word >> 11) & 0xFFFF_FFFF | LOW);
            let high = f64::from_bits(word >> 43 | HIGH);
            *to = (high - BOTH + low) * (1.0 / (1u64 << 53) as f64);
        }
    }
}

/// Flags as bits, the first lowest.
#[allow(
    clippy::inline_always,
    reason = "only inside the caller is it compiled for its instructions"
)]
#[inline(always)]
fn packed(flags: &[u8; WORDS]) -> u64 {
    let (eights, _) = flags.as_chunks::<8>();
    let mut word = 0;
    for (at, eight) in eights.iter().enumerate() {
        // Flag f moves to bit 56 + f: 8 f + 7 (8 - f) = 56 + f, and no two terms meet.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= bits << (8 * at);
    }
    word
}

compiled! {
    /// The features, up to 64, whose number is below `limit`.
    pub(crate) fn below(numbers: &[f64], limit: f64) -> u64 {
        let mut flags = [0; WORDS];
        for (flag, number) in flags.iter_mut().zip(numbers) {
            *flag = u8::from(*number < limit);
        }
        packed(&flags)
    }
}

compiled! {
    /// The features, up to 64, whose number is above `limit`.
    fn above(numbers: &[f64], limit: f64) -> u64 {
        let mut flags = [0; WORDS];
        for (flag, number) in flags.iter_mut().zip(numbers) {
            *flag = u8::from(*number > limit);
        }
        packed(&flags)
    }
}

compiled! {
    /// The features, up to 64, whose key is above `limit`, and those whose key is equal to it.
    pub(crate) fn above_or_equal(keys: &[i64], limit: i64) -> [u64; 2] {
        let (mut above, mut equal) = ([0; WORDS], [0; WORDS]);
        for ((above, equal), &key) in above.iter_mut().zip(&mut equal).zip(keys) {
            *above = u8::from(key > limit);
            *equal = u8::from(key == limit);
        }
        [packed(&above), packed(&equal)]
    }
}

compiled! {
    /// The features at which r < 1 / (1 + e^-v), and those at which an approximation cannot tell.
    fn surely_below_sigmoid(r: &Lanes, v: &[f64]) -> [u64; 2] {
        // r < 1 / (1 + e) where r + r e < 1. With y = f ln 2 and |f| <= 1/2, e^y by its first five terms has a relative
        // error of at most |y|^5 / 120 e^|y| < 6e-5, hence so has r + r e: what is outside of 1 ± 1e-4 is on the same side
        // by the exact function, whose own rounding is below 1e-14. 700 keeps e finite.
        const MARGIN: f64 = 1e-4;
        const LARGEST: f64 = 700.0;
        // Added to it, a number is rounded to a whole one, which stands in the low bits.
        const ROUND: f64 = 1.5 / f64::EPSILON;
        let count = v.len();
        assert!(count <= WORDS);
        let (mut is_below, mut is_unsure) = ([0; WORDS], [0; WORDS]);
        for d in 0..count {
            let octaves = -v[d] * std::f64::consts::LOG2_E;
            let rounded = octaves + ROUND;
            let y = (octaves - (rounded - ROUND)) * std::f64::consts::LN_2;
            let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1f64.to_bits()));
            let e = power * ((((y * (1.0 / 24.0) + 1.0 / 6.0) * y + 0.5) * y + 1.0) * y + 1.0);
            let scaled = r[d] + r[d] * e;
            is_below[d] = u8::from(scaled < 1.0);
            // Not a number where v is none: then nothing is sure.
            let is_sure = ((scaled - 1.0).abs() > MARGIN) & (v[d].abs() <= LARGEST);
            is_unsure[d] = u8::from(!is_sure);
        }
        [packed(&is_below), packed(&is_unsure)]
    }
}

/// The features at which r < S(v), the logistic function of [`math`](crate::base::math). That is computed only where an
/// approximation is too close to r, about one time in 5 000.
pub(crate) fn below_sigmoid(isa: Isa, r: &Lanes, v: &[f64]) -> u64 {
    let [mut is_below, mut unsure] = surely_below_sigmoid(isa, r, v);
    while unsure != 0 {
        let d = unsure.trailing_zeros() as usize;
        let bit = 1 << d;
        is_below = if r[d] < sigmoid(v[d]) { is_below | bit } else { is_below & !bit };
        unsure &= unsure - 1;
    }
    is_below
}

compiled! {
    /// Replaces the number of each feature, up to 64, by what `rule` makes of its index, the number, and its bit in each
    /// word.
    pub(crate) fn update[const K: usize, R: Fn(usize, f64, [bool; K]) -> f64](
        numbers: &mut [f64], words: [u64; K], rule: R,
    ) {
        let count = numbers.len();
        assert!(count <= WORDS);
        for d in 0..count {
            let mut bits = [false; K];
            for at in 0..K {
                bits[at] = words[at] >> d & 1 != 0;
            }
            numbers[d] = rule(d, numbers[d], bits);
        }
    }
}

compiled! {
    /// Moves coordinates: `rule` gets position, velocity and some other numbers of each, and returns the new position and
    /// the new velocity.
    pub(crate) fn advance[const K: usize, R: Fn(f64, f64, [f64; K]) -> (f64, f64)](
        x: &mut [f64], v: &mut [f64], others: [&[f64]; K], rule: R,
    ) {
        let count = x.len();
        let v = &mut v[..count];
        let mut all = others;
        for at in 0..K {
            all[at] = &all[at][..count];
        }
        for d in 0..count {
            let mut other = [0.0; K];
            for at in 0..K {
                other[at] = all[at][d];
            }
            (x[d], v[d]) = rule(x[d], v[d], other);
        }
    }
}

compiled! {
    /// Numbers that belong to `K` variables in turn, apart.
    fn split[const K: usize](mixed: &[[f64; K]; WORDS], apart: &mut [Lanes; K]) {
        for at in 0..K {
            for d in 0..WORDS {
                apart[at][d] = mixed[d][at];
            }
        }
    }
}

/// The subset of `len` features whose words `word` makes; bits past `len` are cleared.
pub(crate) fn subset(len: usize, mut word: impl FnMut(Word) -> u64) -> Subset {
    let mut words = of(len);
    Subset::from_words(len, |_| words.next().map_or(0, &mut word))
}

/// The words of a subset of `len` features.
pub(crate) fn of(len: usize) -> impl Iterator<Item = Word> {
    (0..len.div_ceil(WORDS)).map(move |at| {
        let from = at * WORDS;
        Word { at, from, count: (len - from).min(WORDS) }
    })
}

/// The features of one word of a subset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    /// The index of the word.
    pub at: usize,
    /// The first feature.
    pub from: usize,
    /// The number of features, 64 but for the last word.
    pub count: usize,
}

impl Word {
    /// The features.
    pub fn range(self) -> std::ops::Range<usize> {
        self.from..self.from + self.count
    }

    /// One unit for each feature.
    pub fn units(self, rng: &mut Rng) -> Lanes {
        let mut lanes = [0.0; WORDS];
        units(rng, &mut lanes[..self.count]);
        lanes
    }
}

/// Units of `K` variables, drawn feature by feature.
#[derive(Debug)]
pub(crate) struct Draws<const K: usize> {
    mixed: [[f64; K]; WORDS],
    apart: [Lanes; K],
}

impl<const K: usize> Draws<K> {
    /// Room for the draws of one word after the other.
    pub fn new() -> Self {
        Self { mixed: [[0.0; K]; WORDS], apart: [[0.0; WORDS]; K] }
    }

    /// The next units of each feature of a word, variable by variable; behind the last feature stands anything.
    pub fn of(&mut self, word: Word, rng: &mut Rng) -> &[Lanes; K] {
        units(rng, &mut self.mixed.as_flattened_mut()[..K * word.count]);
        split(rng.isa(), &self.mixed, &mut self.apart);
        &self.apart
    }
}

/// The features whose number is above `limit`.
pub(crate) fn all_above(isa: Isa, numbers: &[f64], limit: f64) -> Subset {
    subset(numbers.len(), |word| above(isa, &numbers[word.range()], limit))
}

/// A feature is in with a probability of its own: `probability(word)` lists sets of features of one, as bits, with the
/// probability of each. One unit is drawn for every feature, in order.
pub(crate) fn drawn<const K: usize>(
    len: usize,
    rng: &mut Rng,
    probabilities: impl Fn(Word) -> [(u64, f64); K],
) -> Subset {
    subset(len, |word| {
        let units = word.units(rng);
        let mut drawn = 0;
        for (bits, probability) in probabilities(word) {
            if bits != 0 {
                drawn |= bits & below(rng.isa(), &units[..word.count], probability);
            }
        }
        drawn
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Rng, Streams};
    use proptest::prelude::*;

    /// The stream of a slot on every instruction set, the first drawn one by one.
    fn streams(seed: u64) -> impl Iterator<Item = Rng> {
        let rng = move |isa| Streams::new(seed).on(isa).rng(seed ^ 5, Phase::Ask, 3);
        Isa::available().into_iter().map(move |isa| widened(rng(isa)))
    }

    fn numbers(range: std::ops::Range<f64>) -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(range, 1..=WORDS)
    }

    fn lanes(numbers: &[f64]) -> Lanes {
        let mut lanes = [0.0; WORDS];
        lanes[..numbers.len()].copy_from_slice(numbers);
        lanes
    }

    fn bits(flags: impl Iterator<Item = bool>) -> u64 {
        flags.enumerate().fold(0, |word, (d, flag)| word | u64::from(flag) << d)
    }

    #[test]
    fn rare_words_are_units_like_all_others() {
        let words = [0, 1, 2047, 2048, 1 << 43, (1 << 43) - 1, u64::MAX - 2047, u64::MAX];
        for isa in Isa::available() {
            let mut units = [0.0; 8];
            as_units(isa, &words, &mut units);
            assert_eq!(units, words.map(|word| (word >> 11) as f64 * 0.5f64.powi(53)));
        }
    }

    proptest! {
        #[test]
        fn draws_agree_between_instruction_sets_and_with_single_ones(
            seed: u64, counts in proptest::collection::vec(0usize..200, 1..6),
        ) {
            let mut plain = Streams::new(seed).rng(seed ^ 5, Phase::Ask, 3);
            let expected: Vec<Vec<f64>> = counts
                .iter()
                .map(|&count| (0..=count).map(|_| plain.unit()).collect())
                .collect();
            for mut rng in streams(seed) {
                for (&count, expected) in counts.iter().zip(&expected) {
                    let mut found = some_units(count, &mut rng);
                    found.push(rng.unit());
                    prop_assert_eq!(&found, expected);
                }
            }
        }

        #[test]
        fn variables_are_drawn_feature_by_feature(seed: u64, count in 1usize..=WORDS) {
            let mut plain = Streams::new(seed).rng(seed ^ 5, Phase::Ask, 3);
            let word = Word { at: 0, from: 0, count };
            let expected: Vec<[f64; 3]> = (0..count).map(|_| [0; 3].map(|_| plain.unit())).collect();
            for mut rng in streams(seed) {
                let mut draws = Draws::<3>::new();
                let found = draws.of(word, &mut rng);
                for (d, expected) in expected.iter().enumerate() {
                    prop_assert_eq!(&[found[0][d], found[1][d], found[2][d]], expected);
                }
            }
        }

        #[test]
        fn limits_have_the_features_on_their_side(
            numbers in numbers(-1.0..1.0), at in 0usize..WORDS, keys in proptest::collection::vec(-3i64..3, 1..=WORDS),
        ) {
            let limit = numbers[at % numbers.len()];
            for isa in Isa::available() {
                prop_assert_eq!(below(isa, &numbers, limit), bits(numbers.iter().map(|x| *x < limit)));
                prop_assert_eq!(above(isa, &numbers, limit), bits(numbers.iter().map(|x| *x > limit)));
                let expected = [bits(keys.iter().map(|&x| x > 1)), bits(keys.iter().map(|&x| x == 1))];
                prop_assert_eq!(above_or_equal(isa, &keys, 1), expected);
            }
        }

        #[test]
        fn draws_below_the_logistic_function_are_those_of_the_exact_one(
            v in proptest::collection::vec(
                prop_oneof![-6.0..6.0, -40.0..40.0, -750.0..750.0, Just(f64::NAN), Just(f64::INFINITY), Just(-0.0)], 1..=WORDS,
            ),
            draws in proptest::collection::vec((0.0..1.0, 0u8..4, -3i64..4), WORDS),
        ) {
            // Of four draws one is anywhere, one 0, one close to the function and one within its last bits.
            let r: Vec<f64> = v.iter().zip(draws).map(|(&v, (r, kind, step))| match kind {
                0 => r,
                1 => 0.0,
                2 => (sigmoid(v) * (1.0 + 4e-4 * (r - 0.5))).clamp(0.0, 1.0 - f64::EPSILON / 2.0),
                _ => f64::from_bits((sigmoid(v).to_bits().cast_signed() + step).max(0) as u64),
            }).collect();
            let expected = bits(r.iter().zip(&v).map(|(&r, &v)| r < sigmoid(v)));
            for isa in Isa::available() {
                prop_assert_eq!(below_sigmoid(isa, &lanes(&r), &v), expected, "{:?}", isa);
            }
        }

        #[test]
        fn rules_give_the_same_bits_on_every_instruction_set(
            x in numbers(0.0..1.0), v in numbers(-6.0..6.0), others in numbers(0.0..1.0), words: [u64; 3],
        ) {
            let count = x.len().min(v.len()).min(others.len());
            let rule = |x: f64, v: f64, [e, r]: [f64; 2]| {
                let v = (0.7 * v + 1.49 * r * (e - x) + 0.3 * r).clamp(-0.6, 0.6);
                ((x + v).clamp(0.0, 1.0), v)
            };
            let by_bits = |d: usize, v: f64, [x, p, g]: [bool; 3]| {
                let pull = |bit: bool, r: f64| if bit == x { 0.0 } else { r * if bit { 1.0 } else { -1.0 } };
                0.9 * v + pull(p, others[d]) + 1.3 * pull(g, others[d])
            };
            for isa in Isa::available() {
                let (mut new_x, mut new_v) = (x[..count].to_vec(), v[..count].to_vec());
                advance(isa, &mut new_x, &mut new_v, [&others, &others], rule);
                let mut updated = v[..count].to_vec();
                update(isa, &mut updated, words, by_bits);
                for d in 0..count {
                    prop_assert_eq!((new_x[d], new_v[d]), rule(x[d], v[d], [others[d]; 2]));
                    let bits = words.map(|word| word >> d & 1 == 1);
                    prop_assert_eq!(updated[d].to_bits(), by_bits(d, v[d], bits).to_bits());
                }
            }
        }

        #[test]
        fn a_feature_is_drawn_with_the_probability_of_its_set(seed: u64, len in 1usize..200, set: [u64; 4]) {
            let mut plain = Streams::new(seed).rng(seed ^ 5, Phase::Ask, 3);
            let is_in = |d: usize| set[d / WORDS] >> (d % WORDS) & 1 == 1;
            let expected = Subset::from_fn(len, |d| plain.bernoulli(if is_in(d) { 0.3 } else { 0.8 }));
            for mut rng in streams(seed) {
                let found = drawn(len, &mut rng, |word| [(set[word.at], 0.3), (!set[word.at], 0.8)]);
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
