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

pub mod select;
pub mod shortlist;

use super::pairs::{PairPlace, Panels, Two};
use super::words::bits::count_differing;
use super::{
    Change, Classes, Columns, Init, KeyFormat, LANES, Lane, Pairs, ROWS, Separation, Tile,
};
use std::arch::x86_64::*;
use std::borrow::Cow;

/// Columns of one step of the float kernels: two vectors.
const STEP: usize = 8;

/// Kernels of 32-bit sums: `$term` of both rows' pairs, twice the sum of which is taken from the norms.
macro_rules! short_kernel {
    ($name:ident, |$others:ident, $own:ident| $term:expr) => {
        /// # Safety
        /// AVX2 and FMA, and lengths as `Kernel::accumulate` checks them.
        #[target_feature(enable = "avx2,fma")]
        pub unsafe fn $name(
            pairs: &Pairs<u32>,
            tile: &Tile,
            from: Init<'_, u32>,
            to: (&mut [u32], usize),
        ) {
            /// Sums of terms from each row of a tile to 16 columns.
            ///
            /// # Safety
            /// AVX2, and columns that are a multiple of 16.
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn terms(panels: &Panels, tile: &Tile, column: usize) -> [[__m256i; 2]; ROWS] {
                let all = panels.values_at(column).as_ptr();
                let own = tile.rows.map(|row| panels.values_at(row as usize).as_ptr());
                let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
                for at in (0..panels.count * LANES).step_by(LANES) {
                    // SAFETY: at + 16 <= count * 16, the length of a panel, bounds the loads of 2 x 8 numbers. A row's numbers
                    // begin at row % 16 < 16, so at + row % 16 < count * 16 as well.
                    unsafe {
                        let others = [
                            _mm256_loadu_si256(all.add(at).cast()),
                            _mm256_loadu_si256(all.add(at + 8).cast()),
                        ];
                        for r in 0..ROWS {
                            let $own = _mm256_set1_epi32((*own[r].add(at)).cast_signed());
                            for half in 0..2 {
                                let $others = others[half];
                                sums[r][half] = _mm256_add_epi32(sums[r][half], $term);
                            }
                        }
                    }
                }
                sums
            }
            // SAFETY: the caller has checked the lengths at the head of this file; `pairs.norms` holds s numbers. at + 16 <= w,
            // so columns.start + at + 16 <= s bounds the loads of norms, and r * stride + at + 16 <= 3 * stride + w <=
            // length those of sums.
            unsafe {
                let to = (to.0.as_mut_ptr(), to.1);
                let from = from.source(to);
                let norms = pairs.norms.as_ptr();
                let load = |at: *const u32| _mm256_loadu_si256(at.cast());
                for at in (0..tile.columns.len()).step_by(LANES) {
                    let column = tile.columns.start + at;
                    // Modulo 2^32 until it is whole.
                    let incoming = terms(&pairs.add, tile, column);
                    let outgoing = terms(&pairs.remove, tile, column);
                    let theirs = [load(norms.add(column)), load(norms.add(column + 8))];
                    for r in 0..ROWS {
                        let own = (*norms.add(tile.rows[r] as usize)).cast_signed();
                        let own = _mm256_set1_epi32(own);
                        for half in 0..2 {
                            let less = _mm256_sub_epi32(incoming[r][half], outgoing[r][half]);
                            let both = _mm256_add_epi32(theirs[half], own);
                            let mut sum = _mm256_sub_epi32(both, _mm256_slli_epi32(less, 1));
                            if let Some((from, stride)) = from {
                                let old = load(from.add(r * stride + at + half * 8));
                                sum = _mm256_add_epi32(sum, old);
                            }
                            let new = to.0.add(r * to.1 + at + half * 8);
                            _mm256_storeu_si256(new.cast(), sum);
                        }
                    }
                }
            }
        }
    };
}

// The two values of a pair add up to less than 2^16 in absolute value.
short_kernel!(manhattan16, |others, own| _mm256_madd_epi16(
    _mm256_min_epi16(others, own),
    _mm256_set1_epi16(1)
));
short_kernel!(coarse_squares, |others, own| _mm256_madd_epi16(others, own));

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
    // SAFETY: the caller has checked the lengths at the head of this file; `pairs.norms` holds s numbers. at + 8 <= w, so
    // columns.start + at + 8 <= s bounds the loads of norms, and r * stride + at + 8 <= 3 * stride + w <= length those of
    // sums. The numbers of a panel from `column` on, a multiple of 8, are count * 16 or count * 16 - 8: place + 8 is no
    // more, since place <= (count - 1) * 16. Those of a row begin at row % 16 < 16 and are count * 16 - row % 16: place is
    // less.
    unsafe {
        let to = (to.0.as_mut_ptr(), to.1);
        let from = from.source(to);
        let magic = _mm256_set1_pd(SIGNED_MAGIC);
        let bias = _mm256_set1_epi32(BIAS);
        let (count, less) = (pairs.add.count, pairs.remove.count);
        let biases = (count.cast_signed() - less.cast_signed()) as i64 * i64::from(BIAS);
        let rows_of =
            |panels: &Panels| tile.rows.map(|row| panels.values_at(row as usize).as_ptr());
        let (incoming, outgoing) = (rows_of(&pairs.add), rows_of(&pairs.remove));
        for at in (0..tile.columns.len()).step_by(STEP) {
            let column = tile.columns.start + at;
            // Two 32-bit products share a 64-bit lane: `joint` sums both at once, `highs` the upper one alone.
            let mut joint = [_mm256_setzero_si256(); ROWS];
            let mut highs = [_mm256_setzero_si256(); ROWS];
            let all = pairs.add.values_at(column).as_ptr();
            for place in (0..count * LANES).step_by(LANES) {
                let others = _mm256_loadu_si256(all.add(place).cast());
                for r in 0..ROWS {
                    let own = _mm256_set1_epi32((*incoming[r].add(place)).cast_signed());
                    let product = _mm256_add_epi32(_mm256_madd_epi16(others, own), bias);
                    joint[r] = _mm256_add_epi64(joint[r], product);
                    highs[r] = _mm256_add_epi64(highs[r], _mm256_srli_epi64(product, 32));
                }
            }
            let all = pairs.remove.values_at(column).as_ptr();
            for place in (0..less * LANES).step_by(LANES) {
                let others = _mm256_loadu_si256(all.add(place).cast());
                for r in 0..ROWS {
                    let own = _mm256_set1_epi32((*outgoing[r].add(place)).cast_signed());
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
/// AVX2 and POPCNT.
#[target_feature(enable = "avx2,popcnt")]
pub unsafe fn differing(a: &[u64], b: &[u64]) -> usize {
    count_differing(a, b)
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
                let from = from.source(to);
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
again!(solve(rows: &mut [f64], stride: usize, upper: &mut [f64], inverses: &mut [f64]));
again!(substitute(upper: (&[f64], usize), sides: &mut [f64], width: usize));
again!(fits(rows: (&[f64], usize), chosen: &[usize], weights: (&[f64], usize), fits: &mut [f64], squares: &mut [f64]));
again!(add_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>]));
again!(remove_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>]));
again!(greatest(best: &mut [i64], others: &[i64], classes: &mut [u32]));
again!(join_coarse(two: Two<'_>, drop: u32, to: PairPlace<'_>, norms: &mut [u32]));
again!(join_squares(two: Two<'_>, to: PairPlace<'_>, norms: &mut [i64]));
again!(join_sums(two: Two<'_>, to: PairPlace<'_>, norms: &mut [u32]));
