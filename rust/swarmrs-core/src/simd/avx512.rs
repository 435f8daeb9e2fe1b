//! The distance kernels in 512-bit vectors, with instructions that multiply pairs of 16-bit numbers and add the products
//! to a 32-bit sum (VNNI).
//!
//! `Kernel::accumulate` asserts, before it calls a kernel, with w = `tile.columns.len()` and s = `pairs.stride`:
//!
//! - row < s for every row of the tile;
//! - `tile.columns.end` <= s, and both its ends are multiples of [`LANES`], hence so is w;
//! - w <= stride and 3 * stride + w <= length for the strips of sums that are read and written.
//!
//! Four rows against up to [`WIDEST`] vectors of 16 columns are summed at once. An addition takes 4 to 5 cycles and two
//! can begin in each, so that fewer than 10 sums under way would leave the processor waiting: with 16 instead of 4,
//! an evaluation of 1797 rows and 512 features takes half the time.

// Vectors stay in registers only where no call stands between them: plain loops, not iterator closures.
#![allow(clippy::needless_range_loop)]
// Intrinsics by the dozen, each with its own unmistakable prefix.
#![allow(clippy::wildcard_imports)]

use super::pairs::{PairPlace, Panels, Two};
use super::{
    Change, Classes, Columns, Init, KeyFormat, LANES, Lane, Pairs, ROWS, Separation, Tile,
};
use std::arch::x86_64::*;
use std::borrow::Cow;

/// Vectors of columns that are summed at once: 4 rows x 4 vectors of sums leave half of the 32 registers to values.
const WIDEST: usize = 4;

/// The numbers of all pairs, for `N` columns (panels) or rows, from each on.
#[inline]
fn pointers<const N: usize>(panels: &Panels, column: impl Fn(usize) -> usize) -> [*const u32; N] {
    std::array::from_fn(|at| panels.values_at(column(at)).as_ptr())
}

/// Kernels of 32-bit sums. `$term` adds the product or the minima of both rows' pairs to a sum; twice that is taken from
/// the norms.
macro_rules! short_kernel {
    ($name:ident, |$sum:ident, $others:ident, $own:ident| $term:expr) => {
        /// # Safety
        /// AVX-512 with VNNI, and lengths as `Kernel::accumulate` checks them.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
        pub unsafe fn $name(
            pairs: &Pairs<u32>,
            tile: &Tile,
            from: Init<'_, u32>,
            to: (&mut [u32], usize),
        ) {
            /// Sums of terms from each row of a tile to `W` x 16 columns from `column`, a multiple of 16, on.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
            fn terms<const W: usize>(
                panels: &Panels,
                tile: &Tile,
                column: usize,
            ) -> [[__m512i; W]; ROWS] {
                let all: [_; W] = pointers(panels, |at| column + at * LANES);
                let rows: [_; ROWS] = pointers(panels, |r| tile.rows[r] as usize);
                let mut sums = [[_mm512_setzero_si512(); W]; ROWS];
                for at in (0..panels.count * LANES).step_by(LANES) {
                    let mut others = [_mm512_setzero_si512(); W];
                    for w in 0..W {
                        // SAFETY: at + 16 <= count * 16, the length of a panel.
                        others[w] = unsafe { _mm512_loadu_si512(all[w].add(at).cast()) };
                    }
                    for r in 0..ROWS {
                        // SAFETY: a row's numbers are count * 16 - row % 16, and at + row % 16 <= (count - 1) * 16 + 15.
                        let own = unsafe { *rows[r].add(at) };
                        let $own = _mm512_set1_epi32(own.cast_signed());
                        for w in 0..W {
                            let ($sum, $others) = (sums[r][w], others[w]);
                            sums[r][w] = $term;
                        }
                    }
                }
                sums
            }

            /// The sums of `W` x 16 columns.
            ///
            /// # Safety
            /// AVX-512 with VNNI, lengths as above, and at + W * 16 <= w.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
            unsafe fn step<const W: usize>(
                pairs: &Pairs<u32>,
                tile: &Tile,
                at: usize,
                from: Option<(*const u32, usize)>,
                to: (*mut u32, usize),
            ) {
                let column = tile.columns.start + at;
                let mut less = terms::<W>(&pairs.add, tile, column);
                if pairs.remove.count > 0 {
                    let outgoing = terms::<W>(&pairs.remove, tile, column);
                    for r in 0..ROWS {
                        for w in 0..W {
                            less[r][w] = _mm512_sub_epi32(less[r][w], outgoing[r][w]);
                        }
                    }
                }
                let norms = pairs.norms.as_ptr();
                // SAFETY: for w < W, at + w * 16 + 16 <= columns.len(), so column + w * 16 + 16 <= s bounds the loads of
                // norms, and r * stride + at + w * 16 + 16 <= 3 * stride + columns.len() <= length those of sums.
                unsafe {
                    for r in 0..ROWS {
                        let own = (*norms.add(tile.rows[r] as usize)).cast_signed();
                        let own = _mm512_set1_epi32(own);
                        for w in 0..W {
                            let theirs = _mm512_loadu_si512(norms.add(column + w * LANES).cast());
                            let both = _mm512_add_epi32(theirs, own);
                            // Modulo 2^32 until it is whole.
                            let twice = _mm512_slli_epi32(less[r][w], 1);
                            let mut sum = _mm512_sub_epi32(both, twice);
                            if let Some((from, stride)) = from {
                                let old = from.add(r * stride + at + w * LANES);
                                sum = _mm512_add_epi32(sum, _mm512_loadu_si512(old.cast()));
                            }
                            _mm512_storeu_si512(to.0.add(r * to.1 + at + w * LANES).cast(), sum);
                        }
                    }
                }
            }

            let to = (to.0.as_mut_ptr(), to.1);
            let from = from.source(to);
            let mut at = 0;
            while at < tile.columns.len() {
                let count = ((tile.columns.len() - at) / LANES).min(WIDEST);
                // SAFETY: the caller has checked the lengths, and at + count * 16 <= w.
                unsafe {
                    match count {
                        1 => step::<1>(pairs, tile, at, from, to),
                        2 => step::<2>(pairs, tile, at, from, to),
                        3 => step::<3>(pairs, tile, at, from, to),
                        _ => step::<WIDEST>(pairs, tile, at, from, to),
                    }
                }
                at += count * LANES;
            }
        }
    };
}

short_kernel!(manhattan16, |sum, others, own| {
    let ones = _mm512_set1_epi16(1);
    _mm512_dpwssd_epi32(sum, _mm512_min_epi16(others, own), ones)
});
short_kernel!(coarse_squares, |sum, others, own| _mm512_dpwssd_epi32(sum, others, own));

/// Pairs whose products fit 32-bit sums: a low byte times a 16-bit number is 255 * 2^15 at most in absolute value, and
/// 128 pairs of these are 2139095040 < 2^31.
const SHORT_RUN: usize = 128;

/// # Safety
/// AVX-512 with VNNI, and lengths as `Kernel::accumulate` checks them.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
pub unsafe fn euclidean16(
    pairs: &Pairs<i64>,
    tile: &Tile,
    from: Init<'_, f64>,
    to: (&mut [f64], usize),
) {
    let to = (to.0.as_mut_ptr(), to.1);
    let from = from.source(to);
    let mut at = 0;
    while at < tile.columns.len() {
        // Low and high bytes have a sum each: two vectors of columns are 16 of them.
        let count = ((tile.columns.len() - at) / LANES).min(WIDEST / 2);
        // SAFETY: the caller has checked the lengths, and at + count * 16 <= w.
        unsafe {
            match count {
                1 => squares::<1>(pairs, tile, at, from, to),
                _ => squares::<{ WIDEST / 2 }>(pairs, tile, at, from, to),
            }
        }
        at += count * LANES;
    }
}

/// The squared distances of `W` x 16 columns.
///
/// # Safety
/// AVX-512 with VNNI, lengths as `Kernel::accumulate` checks them, and at + W * 16 <= w.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn squares<const W: usize>(
    pairs: &Pairs<i64>,
    tile: &Tile,
    at: usize,
    from: Option<(*const f64, usize)>,
    to: (*mut f64, usize),
) {
    const HALF: usize = LANES / 2;
    let column = tile.columns.start + at;
    let mut products = products::<W>(&pairs.add, tile, column);
    if pairs.remove.count > 0 {
        let outgoing = self::products::<W>(&pairs.remove, tile, column);
        for r in 0..ROWS {
            for w in 0..W {
                for half in 0..2 {
                    let (all, out) = (products[r][w][half], outgoing[r][w][half]);
                    products[r][w][half] = _mm512_sub_epi64(all, out);
                }
            }
        }
    }
    let norms = pairs.norms.as_ptr();
    // SAFETY: for w < W and half < 2, offset + 8 <= W * 16, so that column + offset + 8 <= s bounds the loads of norms, and
    // r * stride + at + offset + 8 <= 3 * stride + columns.len() <= length those of sums.
    unsafe {
        for r in 0..ROWS {
            let own = _mm512_set1_epi64(*norms.add(tile.rows[r] as usize));
            for w in 0..W {
                for half in 0..2 {
                    let offset = w * LANES + half * HALF;
                    let theirs = _mm512_loadu_si512(norms.add(column + offset).cast());
                    let twice = _mm512_slli_epi64(products[r][w][half], 1);
                    let square = _mm512_sub_epi64(_mm512_add_epi64(theirs, own), twice);
                    let mut sum = _mm512_cvtepi64_pd(square);
                    if let Some((from, stride)) = from {
                        let old = _mm512_loadu_pd(from.add(r * stride + at + offset));
                        sum = _mm512_add_pd(sum, old);
                    }
                    _mm512_storeu_pd(to.0.add(r * to.1 + at + offset), sum);
                }
            }
        }
    }
}

/// Sums of products from each row of a tile to `W` x 16 columns from `column`, a multiple of 16, on; in 64 bits, the lower
/// eight columns of each 16 first.
///
/// The columns' values are split into a signed high and an unsigned low byte: a b = 2^8 (high b) + low b. Both products
/// fit 32-bit sums for [`SHORT_RUN`] pairs, and there is one instruction for each; a 32-bit product that is widened at
/// once takes five.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn products<const W: usize>(
    panels: &Panels,
    tile: &Tile,
    column: usize,
) -> [[[__m512i; 2]; W]; ROWS] {
    let zero = _mm512_setzero_si512();
    let low_bytes = _mm512_set1_epi16(0xFF);
    let all: [_; W] = pointers(panels, |at| column + at * LANES);
    let rows: [_; ROWS] = pointers(panels, |r| tile.rows[r] as usize);
    let mut totals = [[[zero; 2]; W]; ROWS];
    let mut begin = 0;
    while begin < panels.count {
        let end = panels.count.min(begin + SHORT_RUN);
        let (mut low_sums, mut high_sums) = ([[zero; W]; ROWS], [[zero; W]; ROWS]);
        for pair in begin..end {
            let at = pair * LANES;
            let (mut lows, mut highs) = ([zero; W], [zero; W]);
            for w in 0..W {
                // SAFETY: at + 16 <= count * 16, the length of a panel.
                let others = unsafe { _mm512_loadu_si512(all[w].add(at).cast()) };
                lows[w] = _mm512_and_si512(others, low_bytes);
                highs[w] = _mm512_srai_epi16(others, 8);
            }
            for r in 0..ROWS {
                // SAFETY: a row's numbers are count * 16 - row % 16, and at + row % 16 <= (count - 1) * 16 + 15.
                let own = unsafe { *rows[r].add(at) };
                let own = _mm512_set1_epi32(own.cast_signed());
                for w in 0..W {
                    low_sums[r][w] = _mm512_dpwssd_epi32(low_sums[r][w], lows[w], own);
                    high_sums[r][w] = _mm512_dpwssd_epi32(high_sums[r][w], highs[w], own);
                }
            }
        }
        for r in 0..ROWS {
            for w in 0..W {
                let (low, high) = (widened(low_sums[r][w]), widened(high_sums[r][w]));
                for half in 0..2 {
                    let sum = _mm512_add_epi64(_mm512_slli_epi64(high[half], 8), low[half]);
                    totals[r][w][half] = _mm512_add_epi64(totals[r][w][half], sum);
                }
            }
        }
        begin = end;
    }
    totals
}

/// 16 numbers in 64 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn widened(sums: __m512i) -> [__m512i; 2] {
    [
        _mm512_cvtepi32_epi64(_mm512_castsi512_si256(sums)),
        _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(sums, 1)),
    ]
}

macro_rules! again {
    ($name:ident$(<$S:ident>)?($($arg:ident: $type:ty),*) $(-> $result:ty)?, $module:ident) => {
        /// # Safety
        /// AVX-512 with VNNI, AVX2 and FMA, and what the AVX2 version needs, if there is one.
        #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
        pub unsafe fn $name$(<$S: Lane>)?($($arg: $type),*) $(-> $result)? {
            again!($module $name($($arg),*))
        }
    };
    (scalar $name:ident($($arg:ident),*)) => { super::scalar::$name($($arg),*) };
    // SAFETY: the caller has what the AVX2 version needs.
    (avx2 $name:ident($($arg:ident),*)) => { unsafe { super::avx2::$name($($arg),*) } };
}

// Plain loops that the compiler vectorizes by itself.
again!(keys<S>(sums: &[S], format: KeyFormat, to: &mut [f64]), scalar);
again!(separate<S>(sums: &[S], classes: Classes<'_>, separations: &mut [Separation<S>]) -> Separation<S>, scalar);
again!(add_absolute(sums: &mut [f64], column: &[f64], own: f64, weight: f64), scalar);
again!(add_squares(sums: &mut [f64], column: &[f64], own: f64, weight: f64), scalar);
again!(dot_rows(vector: &[f64], rows: &[f64], stride: usize, dots: &mut [f64]), scalar);
again!(subtract_rows(target: &mut [f64], rows: &[f64], stride: usize, factors: &[f64]), scalar);
again!(solve(rows: &mut [f64], stride: usize, upper: &mut [f64], inverses: &mut [f64]), scalar);
again!(substitute(upper: (&[f64], usize), sides: &mut [f64], width: usize), scalar);
again!(fits(rows: (&[f64], usize), chosen: &[usize], weights: (&[f64], usize), fits: &mut [f64], squares: &mut [f64]), scalar);
again!(add_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>]), scalar);
again!(remove_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>]), scalar);
again!(greatest(best: &mut [i64], others: &[i64], classes: &mut [u32]), scalar);
again!(join_coarse(two: Two<'_>, drop: u32, to: PairPlace<'_>, norms: &mut [u32]), scalar);
again!(join_squares(two: Two<'_>, to: PairPlace<'_>, norms: &mut [i64]), scalar);
again!(join_sums(two: Two<'_>, to: PairPlace<'_>, norms: &mut [u32]), scalar);
// Values of more than 16 bits are rare: their kernels stay as wide as AVX2.
again!(manhattan(columns: Columns<'_, f64>, change: Change<'_>, tile: &Tile, from: Init<'_, f64>, to: (&mut [f64], usize)), avx2);
again!(euclidean(columns: Columns<'_, f64>, change: Change<'_>, tile: &Tile, from: Init<'_, f64>, to: (&mut [f64], usize)), avx2);
