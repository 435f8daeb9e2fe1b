//! The distance kernels in 256-bit vectors.
//!
//! `Kernel::accumulate` asserts, before it calls a kernel, with w = `tile.columns.len()` and s = `columns.stride`:
//!
//! - feature * s + s <= `values.len()` for every feature of the change, and row < s for every row of the tile;
//! - `tile.columns.end` <= s, and both its ends are multiples of [`LANES`], hence so is w;
//! - w <= stride and 3 * stride + w <= length for the strips of sums that are read and written.
//!
//! A loop over `at` in steps of [`LANES`] or [`STEP`], which divides it, therefore has at + step <= w.

// Vectors stay in registers only where no call stands between them: plain loops, not iterator closures.
#![allow(clippy::needless_range_loop)]
// Intrinsics by the dozen, each with its own unmistakable prefix.
#![allow(clippy::wildcard_imports)]

use super::bits::count_differing;
use super::coarse::CoarsePairs;
use super::{
    Change, Classes, Columns, Init, KeyFormat, LANES, Lane, Pairs, ROWS, Separation, Tile,
};
use std::arch::x86_64::*;
use std::borrow::Cow;

/// Columns of one step of the float kernels: two vectors.
const STEP: usize = 8;

/// # Safety
/// AVX2 and FMA, and lengths as `Kernel::accumulate` checks them.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn manhattan16(
    pairs: &Pairs<i32>,
    tile: &Tile,
    from: Init<'_, u32>,
    to: (&mut [u32], usize),
) {
    // SAFETY: the caller has checked the lengths at the head of this file; `pairs.add` and `pairs.remove` hold whole columns
    // of s numbers and `pairs.norms` holds s. at + 16 <= w, so columns.start + at + 16 <= s bounds the loads of pairs and
    // norms, and r * stride + at + 16 <= 3 * stride + w <= length those of sums.
    unsafe {
        let to = (to.0.as_mut_ptr(), to.1);
        let from = start(from, to);
        let stride = pairs.stride;
        let norms = pairs.norms.as_ptr();
        let load = |at: *const i32| _mm256_loadu_si256(at.cast());
        for at in (0..tile.columns.len()).step_by(LANES) {
            let column = tile.columns.start + at;
            // |a - b| = a + b - 2 min(a, b), modulo 2^32 until it is whole.
            let incoming = minima(&pairs.add, stride, tile, column);
            let outgoing = minima(&pairs.remove, stride, tile, column);
            let theirs = [load(norms.add(column)), load(norms.add(column + 8))];
            for r in 0..ROWS {
                let own = _mm256_set1_epi32(*norms.add(tile.rows[r] as usize));
                for half in 0..2 {
                    let least = _mm256_sub_epi32(incoming[r][half], outgoing[r][half]);
                    let both = _mm256_add_epi32(theirs[half], own);
                    let mut sum = _mm256_sub_epi32(both, _mm256_slli_epi32(least, 1));
                    if let Some((from, stride)) = from {
                        let old = load(from.add(r * stride + at + half * 8).cast());
                        sum = _mm256_add_epi32(sum, old);
                    }
                    let new = to.0.add(r * to.1 + at + half * 8);
                    _mm256_storeu_si256(new.cast(), sum);
                }
            }
        }
    }
}

/// Sums of the lesser values of pairs, from each row of a tile to 16 columns.
///
/// # Safety
/// AVX2; `pairs` holds whole columns of `stride` numbers, row < stride, column + 16 <= stride.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn minima(pairs: &[u32], stride: usize, tile: &Tile, column: usize) -> [[__m256i; 2]; ROWS] {
    // SAFETY: the three inequalities of the contract bound the 16 numbers loaded and the rows read.
    unsafe {
        let ones = _mm256_set1_epi16(1);
        let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
        for pair in pairs.chunks_exact(stride) {
            let pair = pair.as_ptr();
            let others = pair.add(column);
            let others =
                [_mm256_loadu_si256(others.cast()), _mm256_loadu_si256(others.add(8).cast())];
            for r in 0..ROWS {
                let own = _mm256_set1_epi32((*pair.add(tile.rows[r] as usize)).cast_signed());
                for half in 0..2 {
                    // The two values of a pair add up to less than 2^16 in absolute value.
                    let least = _mm256_madd_epi16(_mm256_min_epi16(others[half], own), ones);
                    sums[r][half] = _mm256_add_epi32(sums[r][half], least);
                }
            }
        }
        sums
    }
}

/// Converts whole numbers between -2^51 and 2^51 from integers to floats: added as bits, then taken off as a float.
const SIGNED_MAGIC: f64 = 6_755_399_441_055_744.0;
/// Makes a sum of two products a whole number from 0 to 2^32 - 1. The one sum that overflows, 2 (-2^15)^2 = 2^31, comes
/// out right as well.
const BIAS: i32 = i32::MAX;

/// # Safety
/// AVX2 and FMA, and lengths as `Kernel::accumulate` checks them.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn euclidean16(
    pairs: &Pairs<i64>,
    tile: &Tile,
    from: Init<'_, f64>,
    to: (&mut [f64], usize),
) {
    // SAFETY: the caller has checked the lengths at the head of this file; `pairs.add` and `pairs.remove` hold whole columns
    // of s numbers and `pairs.norms` holds s. at + 8 <= w, so columns.start + at + 8 <= s bounds the loads of pairs and
    // norms, and r * stride + at + 8 <= 3 * stride + w <= length those of sums.
    unsafe {
        let to = (to.0.as_mut_ptr(), to.1);
        let from = start(from, to);
        let magic = _mm256_set1_pd(SIGNED_MAGIC);
        for at in (0..tile.columns.len()).step_by(STEP) {
            let stride = pairs.stride;
            let count = pairs.add.len() / stride;
            let less = pairs.remove.len() / stride;
            let bias = _mm256_set1_epi32(BIAS);
            let biases = (count.cast_signed() - less.cast_signed()) as i64 * i64::from(BIAS);
            // Two 32-bit products share a 64-bit lane: `joint` sums both at once, `highs` the upper one alone.
            let mut joint = [_mm256_setzero_si256(); ROWS];
            let mut highs = [_mm256_setzero_si256(); ROWS];
            for pair in 0..count {
                let pair = pairs.add.as_ptr().add(pair * stride);
                let others = _mm256_loadu_si256(pair.add(tile.columns.start + at).cast());
                for r in 0..ROWS {
                    let own = _mm256_set1_epi32((*pair.add(tile.rows[r] as usize)).cast_signed());
                    let product = _mm256_add_epi32(_mm256_madd_epi16(others, own), bias);
                    joint[r] = _mm256_add_epi64(joint[r], product);
                    highs[r] = _mm256_add_epi64(highs[r], _mm256_srli_epi64(product, 32));
                }
            }
            for pair in 0..less {
                let pair = pairs.remove.as_ptr().add(pair * stride);
                let others = _mm256_loadu_si256(pair.add(tile.columns.start + at).cast());
                for r in 0..ROWS {
                    let own = _mm256_set1_epi32((*pair.add(tile.rows[r] as usize)).cast_signed());
                    let product = _mm256_add_epi32(_mm256_madd_epi16(others, own), bias);
                    joint[r] = _mm256_sub_epi64(joint[r], product);
                    highs[r] = _mm256_sub_epi64(highs[r], _mm256_srli_epi64(product, 32));
                }
            }
            let norms = pairs.norms.as_ptr().add(tile.columns.start + at);
            let norms = [_mm256_loadu_si256(norms.cast()), _mm256_loadu_si256(norms.add(4).cast())];
            let mut squares = [norms; ROWS];
            for r in 0..ROWS {
                let lows = _mm256_sub_epi64(joint[r], _mm256_slli_epi64(highs[r], 32));
                let (near, far) =
                    (_mm256_unpacklo_epi64(lows, highs[r]), _mm256_unpackhi_epi64(lows, highs[r]));
                let products = [
                    _mm256_permute2x128_si256(near, far, 0x20),
                    _mm256_permute2x128_si256(near, far, 0x31),
                ];
                // The row's own norm, and the biases of all products.
                let own = *pairs.norms.as_ptr().add(tile.rows[r] as usize) + 2 * biases;
                let own =
                    _mm256_set1_epi64x(own.wrapping_add(SIGNED_MAGIC.to_bits().cast_signed()));
                for half in 0..2 {
                    let twice = _mm256_slli_epi64(products[half], 1);
                    squares[r][half] = _mm256_sub_epi64(_mm256_add_epi64(own, norms[half]), twice);
                }
            }
            for r in 0..ROWS {
                for half in 0..2 {
                    let mut sum = _mm256_sub_pd(_mm256_castsi256_pd(squares[r][half]), magic);
                    if let Some((from, stride)) = from {
                        let old = _mm256_loadu_pd(from.add(r * stride + at + half * 4));
                        sum = _mm256_add_pd(sum, old);
                    }
                    _mm256_storeu_pd(to.0.add(r * to.1 + at + half * 4), sum);
                }
            }
        }
    }
}

/// # Safety
/// AVX2 and FMA, and lengths as `Kernel::accumulate` checks them.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn coarse_squares(
    pairs: &CoarsePairs,
    tile: &Tile,
    from: Init<'_, u32>,
    to: (&mut [u32], usize),
) {
    // SAFETY: the caller has checked the lengths at the head of this file; `values` and `twice` hold whole columns of s
    // numbers and `norms` holds s. at + 16 <= w, so columns.start + at + 16 <= s bounds the loads of pairs and norms, and
    // r * stride + at + 16 <= 3 * stride + w <= length those of sums.
    unsafe {
        let to = (to.0.as_mut_ptr(), to.1);
        let from = start(from, to);
        let stride = pairs.stride;
        let load = |at: *const u32| _mm256_loadu_si256(at.cast());
        let norms = pairs.norms.as_ptr();
        for at in (0..tile.columns.len()).step_by(LANES) {
            let column = tile.columns.start + at;
            // a^2 + b^2 - 2 a b, modulo 2^32 until it is whole.
            let theirs = [load(norms.add(column)), load(norms.add(column + 8))];
            let mut sums = [theirs; ROWS];
            for r in 0..ROWS {
                let own = _mm256_set1_epi32((*norms.add(tile.rows[r] as usize)).cast_signed());
                for half in 0..2 {
                    sums[r][half] = _mm256_add_epi32(theirs[half], own);
                    if let Some((from, stride)) = from {
                        let old = load(from.add(r * stride + at + half * 8));
                        sums[r][half] = _mm256_add_epi32(sums[r][half], old);
                    }
                }
            }
            for pair in (0..pairs.add.values.len()).step_by(stride) {
                let values = pairs.add.values.as_ptr().add(pair + column);
                let others = [load(values), load(values.add(8))];
                let twice = pairs.add.twice.as_ptr().add(pair);
                for r in 0..ROWS {
                    let own = _mm256_set1_epi32((*twice.add(tile.rows[r] as usize)).cast_signed());
                    for half in 0..2 {
                        let product = _mm256_madd_epi16(others[half], own);
                        sums[r][half] = _mm256_add_epi32(sums[r][half], product);
                    }
                }
            }
            for pair in (0..pairs.remove.values.len()).step_by(stride) {
                let values = pairs.remove.values.as_ptr().add(pair + column);
                let others = [load(values), load(values.add(8))];
                let twice = pairs.remove.twice.as_ptr().add(pair);
                for r in 0..ROWS {
                    let own = _mm256_set1_epi32((*twice.add(tile.rows[r] as usize)).cast_signed());
                    for half in 0..2 {
                        let product = _mm256_madd_epi16(others[half], own);
                        sums[r][half] = _mm256_sub_epi32(sums[r][half], product);
                    }
                }
            }
            for r in 0..ROWS {
                for half in 0..2 {
                    let new = to.0.add(r * to.1 + at + half * 8);
                    _mm256_storeu_si256(new.cast(), sums[r][half]);
                }
            }
        }
    }
}

/// # Safety
/// AVX2 and POPCNT.
#[target_feature(enable = "avx2,popcnt")]
pub unsafe fn differing(a: &[u64], b: &[u64]) -> usize {
    count_differing(a, b)
}

/// The sums to start from and their stride, if any. Sums in place are read through the pointer they are written by.
fn start<S>(from: Init<'_, S>, to: (*mut S, usize)) -> Option<(*const S, usize)> {
    match from {
        Init::Zero => None,
        Init::CopyFrom { sums: from, stride } => Some((from.as_ptr(), stride)),
        Init::InPlace => Some((to.0.cast_const(), to.1)),
    }
}

macro_rules! float_kernel {
    ($name:ident, |$sum:ident, $d:ident| $enter:expr, $leave:expr) => {
        /// # Safety
        /// AVX2 and FMA, and lengths as `Kernel::accumulate` checks them.
        #[target_feature(enable = "avx2,fma")]
        pub unsafe fn $name(
            columns: Columns<'_, f64>,
            change: Change<'_>,
            tile: &Tile,
            from: Init<'_, f64>,
            to: (&mut [f64], usize),
        ) {
            // SAFETY: the caller has checked the lengths at the head of this file. at + 8 <= w, so columns.start + at + 8 <= s
            // bounds the loads of values, and r * stride + at + 8 <= 3 * stride + w <= length those of sums.
            unsafe {
                let to = (to.0.as_mut_ptr(), to.1);
                let from = start(from, to);
                for at in (0..tile.columns.len()).step_by(STEP) {
                    let mut sums = [[_mm256_setzero_pd(); 2]; ROWS];
                    for &feature in change.add {
                        let column = columns.values.as_ptr().add(feature as usize * columns.stride);
                        let others = column.add(tile.columns.start + at);
                        let others = [_mm256_loadu_pd(others), _mm256_loadu_pd(others.add(4))];
                        for r in 0..ROWS {
                            let own = _mm256_broadcast_sd(&*column.add(tile.rows[r] as usize));
                            for half in 0..2 {
                                let ($sum, $d) = (sums[r][half], _mm256_sub_pd(others[half], own));
                                sums[r][half] = $enter;
                            }
                        }
                    }
                    for &feature in change.remove {
                        let column = columns.values.as_ptr().add(feature as usize * columns.stride);
                        let others = column.add(tile.columns.start + at);
                        let others = [_mm256_loadu_pd(others), _mm256_loadu_pd(others.add(4))];
                        for r in 0..ROWS {
                            let own = _mm256_broadcast_sd(&*column.add(tile.rows[r] as usize));
                            for half in 0..2 {
                                let ($sum, $d) = (sums[r][half], _mm256_sub_pd(others[half], own));
                                sums[r][half] = $leave;
                            }
                        }
                    }
                    for r in 0..ROWS {
                        for half in 0..2 {
                            let mut sum = sums[r][half];
                            if let Some((from, stride)) = from {
                                let old = from.add(r * stride + at + half * 4);
                                sum = _mm256_add_pd(sum, _mm256_loadu_pd(old));
                            }
                            _mm256_storeu_pd(to.0.add(r * to.1 + at + half * 4), sum);
                        }
                    }
                }
            }
        }
    };
}

float_kernel!(
    manhattan,
    |sum, d| _mm256_add_pd(sum, _mm256_andnot_pd(_mm256_set1_pd(-0.0), d)),
    _mm256_sub_pd(sum, _mm256_andnot_pd(_mm256_set1_pd(-0.0), d))
);
// Whole numbers below 2^53: fusing the rounding away changes nothing.
float_kernel!(euclidean, |sum, d| _mm256_fmadd_pd(d, d, sum), _mm256_fnmadd_pd(d, d, sum));

/// # Safety
/// AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn keys<S: Lane>(sums: &[S], format: KeyFormat, to: &mut [f64]) {
    super::scalar::keys(sums, format, to);
}

/// # Safety
/// AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn separate<S: Lane>(
    sums: &[S],
    classes: Classes<'_>,
    separations: &mut [Separation<S>],
) -> Separation<S> {
    super::scalar::separate(sums, classes, separations)
}

macro_rules! again {
    ($name:ident($($arg:ident: $type:ty),*)) => {
        /// # Safety
        /// AVX2 and FMA.
        #[target_feature(enable = "avx2,fma")]
        pub unsafe fn $name($($arg: $type),*) {
            super::scalar::$name($($arg),*);
        }
    };
}

// Plain loops that the compiler vectorizes by itself.
again!(add_absolute(sums: &mut [f64], column: &[f64], own: f64, weight: f64));
again!(add_squares(sums: &mut [f64], column: &[f64], own: f64, weight: f64));
again!(dot_rows(vector: &[f64], rows: &[f64], stride: usize, dots: &mut [f64]));
again!(subtract_rows(target: &mut [f64], rows: &[f64], stride: usize, factors: &[f64]));
again!(add_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>]));
again!(remove_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>]));
again!(greatest(best: &mut [i64], others: &[i64], classes: &mut [u32]));
again!(join_coarse(a: &[u16], b: &[u16], drop: u32, pair: &mut [u32]));
again!(square_coarse(pair: &[u32], twice: &mut [u32], norms: &mut [u32]));
again!(join_squares(a: &[u16], b: &[u16], pair: &mut [u32], norms: &mut [i64]));
again!(join_sums(a: &[u16], b: &[u16], pair: &mut [u32], norms: &mut [i32]));
