//! Candidate lists of 64-bit and of 32-bit keys in 128-bit vectors.

// Vectors stay in registers only where no call stands between them: plain loops, not iterator closures.
#![allow(clippy::needless_range_loop)]
// Intrinsics by the dozen, each with its own unmistakable prefix.
#![allow(clippy::wildcard_imports)]

use super::shortlist::{MERGED, NO_SHORT, SIDE, ShortlistTile};
use super::{NO_KEY, ROWS, SelectTile};
use std::arch::aarch64::*;

/// 64-bit keys of four rows or columns.
type Four = [float64x2_t; 2];

/// 32-bit keys of a vector.
const WIDTH: usize = 4;

/// # Safety
/// Four numbers can be read from `from` on.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(from: *const f64) -> Four {
    // SAFETY: two vectors of two numbers are the four.
    unsafe { [vld1q_f64(from), vld1q_f64(from.add(2))] }
}

/// # Safety
/// Lengths as `simd::select` checks them.
#[target_feature(enable = "neon")]
pub unsafe fn select(strips: (&[f64], usize), tile: &SelectTile<'_>, keys: &mut [f64]) {
    // SAFETY: `simd::select` asserts, with w = columns.len(): both ends of columns are multiples of 16; 3 * strips.1 + w <=
    // strips.0.len(); w <= mask.len(); columns.end <= index.len(); (group + 1) * width <= keys.len(); and, if symmetric,
    // columns.end * k <= keys.len(). `column` is a multiple of 4 with columns.start <= column < columns.end, so that
    // column + 4 <= columns.end: at + 4 <= w bounds strips and mask, and the list group of these four columns ends at
    // (column / 4 + 1) * width = (column + 4) * k <= columns.end * k <= keys.len().
    unsafe {
        let width = tile.k * ROWS;
        let keys = keys.as_mut_ptr();
        let own = keys.add(tile.group * width);
        let latest = tile.first.into_iter().max().unwrap_or(0);
        let begin = tile.first.into_iter().min().unwrap_or(0).max(tile.columns.start);
        let end = tile.columns.end.min(tile.end);
        let mut column = begin / ROWS * ROWS;
        while column < end {
            let at = column - tile.columns.start;
            let mut base = [[vdupq_n_f64(0.0); 2]; ROWS];
            for r in 0..ROWS {
                base[r] = load(strips.0.as_ptr().add(r * strips.1 + at));
            }
            if column < latest || column + ROWS > tile.end {
                hide_keys(&mut base, column, tile);
            }
            if let Some(mask) = tile.mask {
                let mask = load(mask.as_ptr().add(at));
                for r in 0..ROWS {
                    for half in 0..2 {
                        base[r][half] = vmaxq_f64(base[r][half], mask[half]);
                    }
                }
            }
            if tile.is_symmetric {
                let theirs = keys.add(column / ROWS * width);
                let limit = load(theirs.add(width - ROWS));
                if is_any_less(base, [limit; ROWS]) {
                    let mut found = base;
                    for r in 0..ROWS {
                        let row = vdupq_n_u64(u64::from(tile.rows[r]));
                        found[r] = with_rows(base[r], [row; 2]);
                    }
                    insert(theirs, width, found);
                }
            }
            let mut limits = base;
            for r in 0..ROWS {
                limits[r] = [vdupq_n_f64(*own.add(width - ROWS + r)); 2];
            }
            if is_any_less(base, limits) {
                // The block's rows become the lanes, one column after the other.
                let mut found = transpose(base);
                for lane in 0..ROWS {
                    let row = u64::from(*tile.index.get_unchecked(column + lane));
                    found[lane] = with_rows(found[lane], [vdupq_n_u64(row); 2]);
                }
                insert(own, width, found);
            }
            column += ROWS;
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn is_any_less(keys: [Four; ROWS], limits: [Four; ROWS]) -> bool {
    let mut less = vdupq_n_u64(0);
    for r in 0..ROWS {
        for half in 0..2 {
            less = vorrq_u64(less, vcltq_f64(keys[r][half], limits[r][half]));
        }
    }
    vmaxvq_u32(vreinterpretq_u32_u64(less)) != 0
}

#[inline]
#[target_feature(enable = "neon")]
fn with_rows(base: Four, rows: [uint64x2_t; 2]) -> Four {
    let mut keys = base;
    for half in 0..2 {
        let sum = vaddq_u64(vreinterpretq_u64_f64(base[half]), rows[half]);
        keys[half] = vreinterpretq_f64_u64(sum);
    }
    keys
}

/// Lanes whose pair is not to be compared: before the row's first column, or padding.
fn hide_keys(base: &mut [Four; ROWS], column: usize, tile: &SelectTile<'_>) {
    for (keys, &first) in base.iter_mut().zip(&tile.first) {
        let hide = |at: usize| if at < first || at >= tile.end { NO_KEY } else { 0.0 };
        for half in 0..2 {
            let hidden = [0, 1].map(|lane| hide(column + 2 * half + lane));
            // SAFETY: two numbers are loaded from an array of two. Bases are positive and less than `NO_KEY`.
            keys[half] = unsafe { vmaxq_f64(keys[half], vld1q_f64(hidden.as_ptr())) };
        }
    }
}

/// Puts four keys into each lane's ascending list: the lesser stays, the greater goes on to the next level.
///
/// # Safety
/// `width`, a multiple of 4, keys can be read and written from `group` on.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn insert(group: *mut f64, width: usize, mut keys: [Four; ROWS]) {
    for level in (0..width).step_by(ROWS) {
        for half in 0..2 {
            // SAFETY: level + 4 <= width, since both are multiples of 4, and the caller has `width` keys from `group` on.
            unsafe {
                let place = group.add(level + 2 * half);
                let mut held = vld1q_f64(place);
                for r in 0..ROWS {
                    let greater = vmaxq_f64(held, keys[r][half]);
                    held = vminq_f64(held, keys[r][half]);
                    keys[r][half] = greater;
                }
                vst1q_f64(place, held);
            }
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn transpose([a, b, c, d]: [Four; ROWS]) -> [Four; ROWS] {
    [
        [vzip1q_f64(a[0], b[0]), vzip1q_f64(c[0], d[0])],
        [vzip2q_f64(a[0], b[0]), vzip2q_f64(c[0], d[0])],
        [vzip1q_f64(a[1], b[1]), vzip1q_f64(c[1], d[1])],
        [vzip2q_f64(a[1], b[1]), vzip2q_f64(c[1], d[1])],
    ]
}

/// # Safety
/// Lengths as `shortlist::update_shortlists` checks them.
#[target_feature(enable = "neon")]
pub unsafe fn update_shortlists(
    strips: (&[u32], usize),
    tile: &ShortlistTile<'_>,
    lists: &mut [u32],
) {
    // SAFETY: `simd::update_shortlists` asserts, with w = columns.len() and places = lists.len() / levels, a multiple of 8:
    // both ends of columns are multiples of 16; 3 * strips.1 + w <= strips.0.len(); columns.end <= places <= index.len();
    // start is a multiple of 4 and start + 4 <= places. `column` is a multiple of 4 with columns.start <= column <
    // columns.end, so that column + 4 <= columns.end: at + 4 <= w bounds strips, column + 4 <= index.len() bounds index. For a
    // place that is a multiple of 4 and less than places, the last level of the lists of four places ends at
    // place / 8 * width + (levels - 1) * 8 + place % 8 + 4 <= (place / 8 + 1) * width <= places * levels = lists.len().
    unsafe {
        let width = tile.levels * SIDE;
        let lists = lists.as_mut_ptr();
        let latest = tile.first.into_iter().max().unwrap_or(0);
        let begin = tile.first.into_iter().min().unwrap_or(0).max(tile.columns.start);
        let end = tile.columns.end.min(tile.end);
        let list = |place: usize| lists.add(place / SIDE * width + place % SIDE);
        let own = list(tile.start);
        let index = tile.index.as_ptr();
        let mut rows = [vdupq_n_u32(0); ROWS];
        for r in 0..ROWS {
            rows[r] = vdupq_n_u32(*index.add(tile.start + r));
        }
        let drop = vdupq_n_s32(-tile.format.drop.cast_signed());
        let shift = vdupq_n_s32(tile.format.shift.cast_signed());
        let mut column = begin / WIDTH * WIDTH;
        while column < end {
            let at = column - tile.columns.start;
            let theirs = vld1q_u32(index.add(column));
            let mut base = [vdupq_n_u32(0); ROWS];
            for r in 0..ROWS {
                let steps = vld1q_u32(strips.0.as_ptr().add(r * strips.1 + at));
                // Shifting by a negative number is shifting to the right.
                base[r] = vshlq_u32(vshlq_u32(steps, drop), shift);
            }
            if column < latest || column + WIDTH > tile.end {
                hide_short_keys(&mut base, column, tile);
            }
            let (mut of_rows, mut of_columns) = (base, base);
            for r in 0..ROWS {
                of_columns[r] = vorrq_u32(base[r], rows[r]);
                of_rows[r] = vorrq_u32(base[r], theirs);
            }
            let of_rows = transpose_short(of_rows);
            if tile.levels == MERGED {
                merge(list(column), sort(of_columns));
                merge(own, sort(of_rows));
            } else {
                insert_short(list(column), tile.levels, of_columns);
                insert_short(own, tile.levels, of_rows);
            }
            column += WIDTH;
        }
    }
}

/// Pairs that are not to be compared become the greatest key: before the row's first column, or padding.
fn hide_short_keys(base: &mut [uint32x4_t; ROWS], column: usize, tile: &ShortlistTile<'_>) {
    for (keys, &first) in base.iter_mut().zip(&tile.first) {
        let hide = |at: usize| if at < first || at >= tile.end { NO_SHORT } else { 0 };
        let hidden = [0, 1, 2, 3].map(|lane| hide(column + lane));
        // SAFETY: four integers are loaded from an array of four.
        *keys = unsafe { vorrq_u32(*keys, vld1q_u32(hidden.as_ptr())) };
    }
}

/// Puts keys into each lane's ascending list: the lesser stays, the greater goes on to the next level.
///
/// # Safety
/// Four keys can be read and written from `list` on, and at each of `levels` distances of 8.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn insert_short(list: *mut u32, levels: usize, mut keys: [uint32x4_t; ROWS]) {
    for level in 0..levels {
        // SAFETY: level < levels, for each of which the caller has four keys.
        unsafe {
            let place = list.add(level * SIDE);
            let mut held = vld1q_u32(place);
            for r in 0..ROWS {
                let greater = vmaxq_u32(held, keys[r]);
                held = vminq_u32(held, keys[r]);
                keys[r] = greater;
            }
            vst1q_u32(place, held);
        }
    }
}

/// Sorts four keys of each lane.
#[inline]
#[target_feature(enable = "neon")]
fn sort(mut keys: [uint32x4_t; ROWS]) -> [uint32x4_t; ROWS] {
    for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        exchange(&mut keys, a, b);
    }
    keys
}

#[inline]
#[target_feature(enable = "neon")]
fn exchange(keys: &mut [uint32x4_t], a: usize, b: usize) {
    let greater = vmaxq_u32(keys[a], keys[b]);
    keys[a] = vminq_u32(keys[a], keys[b]);
    keys[b] = greater;
}

/// Keeps the least [`MERGED`] keys of each lane's ascending list and four ascending keys.
///
/// The least keys of an ascending and a descending sequence rise, then fall. Such a sequence is sorted by exchanges over
/// distances of 8, 4, 2 and 1: of 16 keys, the first four of which would be less than all others and stay where they are.
///
/// # Safety
/// Four keys can be read and written from `list` on, and at each of 12 distances of 8.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn merge(list: *mut u32, sorted: [uint32x4_t; ROWS]) {
    const ABSENT: usize = 16 - MERGED;
    let mut keys = [vdupq_n_u32(0); MERGED];
    for level in 0..MERGED {
        // SAFETY: level < 12, for each of which the caller has four keys.
        keys[level] = unsafe { vld1q_u32(list.add(level * SIDE)) };
    }
    for at in 0..ROWS {
        let level = MERGED - 1 - at;
        keys[level] = vminq_u32(keys[level], sorted[at]);
    }
    for distance in [8, 4, 2, 1] {
        for at in ABSENT..16 - distance {
            if at & distance == 0 {
                exchange(&mut keys, at - ABSENT, at + distance - ABSENT);
            }
        }
    }
    for level in 0..MERGED {
        // SAFETY: as above.
        unsafe { vst1q_u32(list.add(level * SIDE), keys[level]) };
    }
}

/// Four rows of four columns become four vectors of four rows.
#[inline]
#[target_feature(enable = "neon")]
fn transpose_short([a, b, c, d]: [uint32x4_t; ROWS]) -> [uint32x4_t; ROWS] {
    let (ab_low, ab_high) = (vzip1q_u32(a, b), vzip2q_u32(a, b));
    let (cd_low, cd_high) = (vzip1q_u32(c, d), vzip2q_u32(c, d));
    let low = |ab, cd| {
        vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(ab), vreinterpretq_u64_u32(cd)))
    };
    let high = |ab, cd| {
        vreinterpretq_u32_u64(vzip2q_u64(vreinterpretq_u64_u32(ab), vreinterpretq_u64_u32(cd)))
    };
    [low(ab_low, cd_low), high(ab_low, cd_low), low(ab_high, cd_high), high(ab_high, cd_high)]
}
