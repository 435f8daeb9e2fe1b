//! Eight blocks of a random stream at a time, in 256-bit vectors: a vector has one word of each block.

// Intrinsics by the dozen, each with its own unmistakable prefix.
#![allow(clippy::wildcard_imports)]

use crate::base::random::{BLOCKS, CONSTANTS, DOUBLE_ROUNDS, Source, WORDS};
use std::arch::x86_64::*;

/// Defines a function that makes blocks, with the rotations that an instruction set has.
macro_rules! blocks {
    ($name:ident, $features:literal, $by_16:ident, $by_12:ident, $by_8:ident, $by_7:ident) => {
        #[target_feature(enable = $features)]
        pub fn $name(source: &Source, first: u64, words: &mut [u64; WORDS]) {
            let number = |block: usize| first.wrapping_add(block as u64);
            let low: [i32; BLOCKS] = std::array::from_fn(|block| number(block) as i32);
            let high: [i32; BLOCKS] = std::array::from_fn(|block| (number(block) >> 32) as i32);
            let mut rows = [_mm256_setzero_si256(); 16];
            for row in 0..4 {
                rows[row] = _mm256_set1_epi32(CONSTANTS[row].cast_signed());
            }
            for row in 0..8 {
                rows[4 + row] = _mm256_set1_epi32(source.key[row].cast_signed());
            }
            // SAFETY: both arrays have eight numbers of 32 bits.
            rows[12] = unsafe { _mm256_loadu_si256(low.as_ptr().cast()) };
            // SAFETY: as above.
            rows[13] = unsafe { _mm256_loadu_si256(high.as_ptr().cast()) };
            rows[14] = _mm256_set1_epi32(source.nonce[0].cast_signed());
            rows[15] = _mm256_set1_epi32(source.nonce[1].cast_signed());
            let start = rows;
            macro_rules! quarter {
                ($a:literal, $b:literal, $c:literal, $d:literal) => {
                    rows[$a] = _mm256_add_epi32(rows[$a], rows[$b]);
                    rows[$d] = $by_16(_mm256_xor_si256(rows[$d], rows[$a]));
                    rows[$c] = _mm256_add_epi32(rows[$c], rows[$d]);
                    rows[$b] = $by_12(_mm256_xor_si256(rows[$b], rows[$c]));
                    rows[$a] = _mm256_add_epi32(rows[$a], rows[$b]);
                    rows[$d] = $by_8(_mm256_xor_si256(rows[$d], rows[$a]));
                    rows[$c] = _mm256_add_epi32(rows[$c], rows[$d]);
                    rows[$b] = $by_7(_mm256_xor_si256(rows[$b], rows[$c]));
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
            for row in 0..16 {
                rows[row] = _mm256_add_epi32(rows[row], start[row]);
            }
            for half in 0..2 {
                // Four words of 64 bits of each block: rows `8 half` to `8 half + 7`, two to a word.
                let [mut even, mut odd] = [[_mm256_setzero_si256(); 4]; 2];
                for word in 0..4 {
                    let (a, b) = (rows[8 * half + 2 * word], rows[8 * half + 2 * word + 1]);
                    // Blocks 0, 1 and 4, 5; blocks 2, 3 and 6, 7.
                    even[word] = _mm256_unpacklo_epi32(a, b);
                    odd[word] = _mm256_unpackhi_epi32(a, b);
                }
                for (pair, of) in [even, odd].into_iter().enumerate() {
                    let first =
                        [_mm256_unpacklo_epi64(of[0], of[1]), _mm256_unpacklo_epi64(of[2], of[3])];
                    let second =
                        [_mm256_unpackhi_epi64(of[0], of[1]), _mm256_unpackhi_epi64(of[2], of[3])];
                    for (next, [a, b]) in [first, second].into_iter().enumerate() {
                        let block = 2 * pair + next;
                        let lower = _mm256_permute2x128_si256::<0x20>(a, b);
                        let upper = _mm256_permute2x128_si256::<0x31>(a, b);
                        for (block, four) in [(block, lower), (block + 4, upper)] {
                            let place = &mut words[8 * block + 4 * half..][..4];
                            // SAFETY: `place` has four words of 64 bits.
                            unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), four) };
                        }
                    }
                }
            }
        }
    };
}

/// A rotation by two shifts.
macro_rules! shifted {
    ($name:ident, $left:literal, $right:literal) => {
        #[inline]
        #[target_feature(enable = "avx2")]
        fn $name(x: __m256i) -> __m256i {
            _mm256_or_si256(_mm256_slli_epi32::<$left>(x), _mm256_srli_epi32::<$right>(x))
        }
    };
}

/// A rotation by whole bytes: where each of four comes from.
macro_rules! shuffled {
    ($name:ident, $bytes:expr) => {
        #[inline]
        #[target_feature(enable = "avx2")]
        fn $name(x: __m256i) -> __m256i {
            const BYTES: [i32; 4] = {
                let [a, b, c, d]: [i32; 4] = $bytes;
                let first = a | b << 8 | c << 16 | d << 24;
                [first, first + 0x0404_0404, first + 0x0808_0808, first + 0x0C0C_0C0C]
            };
            let [a, b, c, d] = BYTES;
            _mm256_shuffle_epi8(x, _mm256_setr_epi32(a, b, c, d, a, b, c, d))
        }
    };
}

/// A rotation by one instruction.
macro_rules! rotated {
    ($name:ident, $left:literal) => {
        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        fn $name(x: __m256i) -> __m256i {
            _mm256_rol_epi32::<$left>(x)
        }
    };
}

shuffled!(by_16, [2, 3, 0, 1]);
shifted!(by_12, 12, 20);
shuffled!(by_8, [3, 0, 1, 2]);
shifted!(by_7, 7, 25);
rotated!(at_once_by_16, 16);
rotated!(at_once_by_12, 12);
rotated!(at_once_by_8, 8);
rotated!(at_once_by_7, 7);

blocks!(avx2, "avx2", by_16, by_12, by_8, by_7);
blocks!(avx512, "avx512f,avx512vl", at_once_by_16, at_once_by_12, at_once_by_8, at_once_by_7);
