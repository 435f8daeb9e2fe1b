//! The kernels in the 128-bit vectors that every 64-bit ARM processor has.
//!
//! `Kernel::accumulate` asserts, before it calls a kernel, with w = `tile.columns.len()` and s = `pairs.stride` or
//! `columns.stride`:
//!
//! - feature * s + s <= `values.len()` for every feature of the change, and row < s for every row of the tile;
//! - `tile.columns.end` <= s, and both its ends are multiples of [`LANES`], hence so is w;
//! - w <= stride and 3 * stride + w <= length for the strips of sums that are read and written.
//!
//! A loop over `at` in steps of [`LANES`] or [`STEP`], which divides it, therefore has at + step <= w. Of 32 registers 16
//! hold sums, four rows against four vectors, so that no sum waits for its own last addition.

// Vectors stay in registers only where no call stands between them: plain loops, not iterator closures.
#![allow(clippy::needless_range_loop)]
// Intrinsics by the dozen, each with its own unmistakable prefix.
#![allow(clippy::wildcard_imports)]

use super::pairs::Panels;
use super::{Change, Columns, Init, LANES, Pairs, ROWS, Tile};
use std::arch::aarch64::*;

// Plain loops that the compiler vectorizes by itself: these vectors need no permission.
pub use super::scalar::{
    add_absolute, add_squares, add_tables, dot_rows, fits, greatest, join_coarse, join_squares,
    join_sums, keys, remove_tables, separate, solve, substitute, subtract_rows,
};

/// Columns of one step of the kernels with 64-bit sums: four vectors.
const STEP: usize = 8;

/// 32-bit integers of a vector.
const WIDTH: usize = 4;

/// The pointers to the numbers of all pairs of each row.
#[inline]
fn rows_of(panels: &Panels, tile: &Tile) -> [*const u32; ROWS] {
    tile.rows.map(|row| panels.values_at(row as usize).as_ptr())
}

/// Sums of the lesser values from each row of a tile to 16 columns from `column`, a multiple of 16, on.
#[inline]
#[target_feature(enable = "neon")]
fn minima(panels: &Panels, tile: &Tile, column: usize) -> [[int32x4_t; 4]; ROWS] {
    let all = panels.values_at(column).as_ptr();
    let rows = rows_of(panels, tile);
    let mut sums = [[vdupq_n_s32(0); 4]; ROWS];
    for at in (0..panels.count * LANES).step_by(LANES) {
        let mut others = [vdupq_n_s16(0); 4];
        for w in 0..4 {
            // SAFETY: at + w * 4 + 4 <= at + 16 <= count * 16, the length of a panel.
            others[w] = unsafe { vreinterpretq_s16_u32(vld1q_u32(all.add(at + w * WIDTH))) };
        }
        for r in 0..ROWS {
            // SAFETY: a row's numbers are count * 16 - row % 16, and at + row % 16 <= (count - 1) * 16 + 15.
            let own = vreinterpretq_s16_u32(vdupq_n_u32(unsafe { *rows[r].add(at) }));
            for w in 0..4 {
                // Adds the two halves of each pair to its sum.
                sums[r][w] = vpadalq_s16(sums[r][w], vminq_s16(others[w], own));
            }
        }
    }
    sums
}

/// Sums of products from each row of a tile to 16 columns from `column`, a multiple of 16, on; modulo 2^32.
#[inline]
#[target_feature(enable = "neon")]
fn products(panels: &Panels, tile: &Tile, column: usize) -> [[int32x4_t; 4]; ROWS] {
    let rows = rows_of(panels, tile);
    let mut totals = [[vdupq_n_s32(0); 4]; ROWS];
    for half in 0..2 {
        let all = panels.values_at(column + half * STEP).as_ptr();
        // The two features of a pair have a sum each until the end.
        let mut sums = [[[vdupq_n_s32(0); 2]; 2]; ROWS];
        for at in (0..panels.count * LANES).step_by(LANES) {
            let mut others = [vdupq_n_s16(0); 2];
            for w in 0..2 {
                // SAFETY: the numbers from here on are count * 16 - half * 8, and at + w * 4 + 4 <= at + 8.
                others[w] = unsafe { vreinterpretq_s16_u32(vld1q_u32(all.add(at + w * WIDTH))) };
            }
            for r in 0..ROWS {
                // SAFETY: a row's numbers are count * 16 - row % 16, and at + row % 16 <= (count - 1) * 16 + 15.
                let own = vreinterpretq_s16_u32(vdupq_n_u32(unsafe { *rows[r].add(at) }));
                for w in 0..2 {
                    let [low, high] = sums[r][w];
                    sums[r][w] = [
                        vmlal_s16(low, vget_low_s16(others[w]), vget_low_s16(own)),
                        vmlal_high_s16(high, others[w], own),
                    ];
                }
            }
        }
        for r in 0..ROWS {
            for w in 0..2 {
                totals[r][half * 2 + w] = vpaddq_s32(sums[r][w][0], sums[r][w][1]);
            }
        }
    }
    totals
}

/// Kernels of 32-bit sums: twice the sum of `$terms` is taken from the norms.
macro_rules! short_kernel {
    ($name:ident, $terms:ident) => {
        /// # Safety
        /// Lengths as `Kernel::accumulate` checks them.
        #[target_feature(enable = "neon")]
        pub unsafe fn $name(
            pairs: &Pairs<u32>,
            tile: &Tile,
            from: Init<'_, u32>,
            to: (&mut [u32], usize),
        ) {
            let to = (to.0.as_mut_ptr(), to.1);
            let from = from.source(to);
            let norms = pairs.norms.as_ptr();
            for at in (0..tile.columns.len()).step_by(LANES) {
                let column = tile.columns.start + at;
                // Modulo 2^32 until it is whole.
                let incoming = $terms(&pairs.add, tile, column);
                let outgoing = $terms(&pairs.remove, tile, column);
                // SAFETY: the caller has checked the lengths at the head of this file; `pairs.norms` holds s numbers.
                // at + 16 <= w, so columns.start + at + 16 <= s bounds the loads of norms, and r * stride + at + 16 <=
                // 3 * stride + w <= length those of sums.
                unsafe {
                    for r in 0..ROWS {
                        let own = vdupq_n_u32(*norms.add(tile.rows[r] as usize));
                        for w in 0..4 {
                            let less = vsubq_s32(incoming[r][w], outgoing[r][w]);
                            let twice = vreinterpretq_u32_s32(vshlq_n_s32::<1>(less));
                            let both = vaddq_u32(vld1q_u32(norms.add(column + w * WIDTH)), own);
                            let mut sum = vsubq_u32(both, twice);
                            if let Some((from, stride)) = from {
                                let old = vld1q_u32(from.add(r * stride + at + w * WIDTH));
                                sum = vaddq_u32(sum, old);
                            }
                            vst1q_u32(to.0.add(r * to.1 + at + w * WIDTH), sum);
                        }
                    }
                }
            }
        }
    };
}

short_kernel!(manhattan16, minima);
short_kernel!(coarse_squares, products);

/// Sums of products from each row of a tile to 8 columns from `column`, a multiple of 8, on; in 64 bits. A product of two
/// values is 2^30 at most, so that it fits 32 bits, where that of a pair may not.
#[inline]
#[target_feature(enable = "neon")]
fn long_products(panels: &Panels, tile: &Tile, column: usize) -> [[int64x2_t; 4]; ROWS] {
    let all = panels.values_at(column).as_ptr();
    let rows = rows_of(panels, tile);
    let mut sums = [[vdupq_n_s64(0); 4]; ROWS];
    for at in (0..panels.count * LANES).step_by(LANES) {
        let mut others = [vdupq_n_s16(0); 2];
        for w in 0..2 {
            // SAFETY: the numbers from `column` on are count * 16 or count * 16 - 8, and at + w * 4 + 4 <= at + 8.
            others[w] = unsafe { vreinterpretq_s16_u32(vld1q_u32(all.add(at + w * WIDTH))) };
        }
        for r in 0..ROWS {
            // SAFETY: a row's numbers are count * 16 - row % 16, and at + row % 16 <= (count - 1) * 16 + 15.
            let own = vreinterpretq_s16_u32(vdupq_n_u32(unsafe { *rows[r].add(at) }));
            for w in 0..2 {
                let low = vmull_s16(vget_low_s16(others[w]), vget_low_s16(own));
                let high = vmull_high_s16(others[w], own);
                // Adds both products of each pair to its sum.
                sums[r][2 * w] = vpadalq_s32(sums[r][2 * w], low);
                sums[r][2 * w + 1] = vpadalq_s32(sums[r][2 * w + 1], high);
            }
        }
    }
    sums
}

/// # Safety
/// Lengths as `Kernel::accumulate` checks them.
#[target_feature(enable = "neon")]
pub unsafe fn euclidean16(
    pairs: &Pairs<i64>,
    tile: &Tile,
    from: Init<'_, f64>,
    to: (&mut [f64], usize),
) {
    let to = (to.0.as_mut_ptr(), to.1);
    let from = from.source(to);
    let norms = pairs.norms.as_ptr();
    for at in (0..tile.columns.len()).step_by(STEP) {
        let column = tile.columns.start + at;
        let incoming = long_products(&pairs.add, tile, column);
        let outgoing = long_products(&pairs.remove, tile, column);
        // SAFETY: the caller has checked the lengths at the head of this file; `pairs.norms` holds s numbers. at + 8 <= w, so
        // columns.start + at + 8 <= s bounds the loads of norms, and r * stride + at + 8 <= 3 * stride + w <= length those
        // of sums.
        unsafe {
            for r in 0..ROWS {
                let own = vdupq_n_s64(*norms.add(tile.rows[r] as usize));
                for w in 0..4 {
                    let less = vsubq_s64(incoming[r][w], outgoing[r][w]);
                    let both = vaddq_s64(vld1q_s64(norms.add(column + w * 2)), own);
                    let mut sum = vcvtq_f64_s64(vsubq_s64(both, vshlq_n_s64::<1>(less)));
                    if let Some((from, stride)) = from {
                        sum = vaddq_f64(sum, vld1q_f64(from.add(r * stride + at + w * 2)));
                    }
                    vst1q_f64(to.0.add(r * to.1 + at + w * 2), sum);
                }
            }
        }
    }
}

/// Kernels of values that have more than 16 bits: `$difference` of two vectors, which enters or leaves a sum.
macro_rules! float_kernel {
    ($name:ident, |$sum:ident, $others:ident, $own:ident| $enter:expr, $leave:expr) => {
        /// # Safety
        /// Lengths as `Kernel::accumulate` checks them.
        #[target_feature(enable = "neon")]
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
                    let mut sums = [[vdupq_n_f64(0.0); 4]; ROWS];
                    for (features, is_entering) in [(change.add, true), (change.remove, false)] {
                        for &feature in features {
                            let values =
                                columns.values.as_ptr().add(feature as usize * columns.stride);
                            let mut others = [vdupq_n_f64(0.0); 4];
                            for w in 0..4 {
                                others[w] = vld1q_f64(values.add(tile.columns.start + at + w * 2));
                            }
                            for r in 0..ROWS {
                                let $own = vdupq_n_f64(*values.add(tile.rows[r] as usize));
                                for w in 0..4 {
                                    let ($sum, $others) = (sums[r][w], others[w]);
                                    sums[r][w] = if is_entering { $enter } else { $leave };
                                }
                            }
                        }
                    }
                    for r in 0..ROWS {
                        for w in 0..4 {
                            let mut sum = sums[r][w];
                            if let Some((from, stride)) = from {
                                sum = vaddq_f64(sum, vld1q_f64(from.add(r * stride + at + w * 2)));
                            }
                            vst1q_f64(to.0.add(r * to.1 + at + w * 2), sum);
                        }
                    }
                }
            }
        }
    };
}

float_kernel!(
    manhattan,
    |sum, others, own| vaddq_f64(sum, vabdq_f64(others, own)),
    vsubq_f64(sum, vabdq_f64(others, own))
);
// Whole numbers below 2^53: fusing the rounding away changes nothing.
float_kernel!(
    euclidean,
    |sum, others, own| {
        let difference = vsubq_f64(others, own);
        vfmaq_f64(sum, difference, difference)
    },
    {
        let difference = vsubq_f64(others, own);
        vfmsq_f64(sum, difference, difference)
    }
);
