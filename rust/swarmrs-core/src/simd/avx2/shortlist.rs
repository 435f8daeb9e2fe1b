//! Candidate lists of 32-bit keys in 256-bit vectors.

// Vectors stay in registers only where no call stands between them: plain loops, not iterator closures.
#![allow(clippy::needless_range_loop)]
// Intrinsics by the dozen, each with its own unmistakable prefix.
#![allow(clippy::wildcard_imports)]

use crate::simd::ROWS;
use crate::simd::shortlist::{MERGED, NO_SHORT, SIDE, ShortlistTile};
use std::arch::x86_64::*;

/// # Safety
/// Eight integers can be read from `from` on.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn load(from: *const u32) -> __m256i {
    // SAFETY: eight integers of 32 bits are the 256 bits loaded.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

/// # Safety
/// AVX2 and FMA, and lengths as `shortlist::update_shortlists` checks them.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn update_shortlists(
    strips: (&[u32], usize),
    tile: &ShortlistTile<'_>,
    lists: &mut [u32],
) {
    // SAFETY: `simd::update_shortlists` asserts, with w = columns.len() and places = lists.len() / levels, a multiple of 8:
    // both ends of columns are multiples of 16; 3 * strips.1 + w <= strips.0.len(); columns.end <= places <= index.len();
    // start + 4 <= places. `column` is a multiple of 8 with columns.start <= column < columns.end, so that column + 8 <=
    // columns.end: at + 8 <= w bounds strips, column + 8 <= index.len() bounds index, and the list group of these eight
    // columns ends at (column / 8 + 1) * width = (column + 8) * levels <= lists.len(). The group of the block's rows ends
    // at (start / 8 + 1) * width <= places * levels, since places is a multiple of 8 and start < places.
    unsafe {
        let width = tile.levels * SIDE;
        let lists = lists.as_mut_ptr();
        let latest = tile.first.into_iter().max().unwrap_or(0);
        let begin = tile.first.into_iter().min().unwrap_or(0).max(tile.columns.start);
        let end = tile.columns.end.min(tile.end);
        let [a, b, c, d] = [0, 1, 2, 3].map(|r| strips.0.as_ptr().add(r * strips.1));
        let index = tile.index.as_ptr();
        let rows =
            [0, 1, 2, 3].map(|r| _mm256_set1_epi32((*index.add(tile.start + r)).cast_signed()));
        let drop = _mm_cvtsi32_si128(tile.format.drop.cast_signed());
        let shift = _mm_cvtsi32_si128(tile.format.shift.cast_signed());
        // Each row's own list twice, one for the lower and one for the upper four columns of every eight.
        let mut own = vec![NO_SHORT; width];
        let mut column = begin / SIDE * SIDE;
        while column < end {
            let at = column - tile.columns.start;
            let theirs = load(index.add(column));
            let mut base = [load(a.add(at)), load(b.add(at)), load(c.add(at)), load(d.add(at))];
            for r in 0..ROWS {
                base[r] = _mm256_sll_epi32(_mm256_srl_epi32(base[r], drop), shift);
            }
            if column < latest || column + SIDE > tile.end {
                hide_edges(&mut base, column, tile);
            }
            let (mut of_rows, mut of_columns) = (base, base);
            for r in 0..ROWS {
                of_columns[r] = _mm256_or_si256(base[r], rows[r]);
                of_rows[r] = _mm256_or_si256(base[r], theirs);
            }
            if width == MERGED * SIDE {
                merge::<ROWS>(lists.add(column / SIDE * width), sort(of_columns));
                merge::<ROWS>(own.as_mut_ptr(), sort(transpose(of_rows)));
            } else {
                insert(lists.add(column / SIDE * width), width, of_columns);
                insert(own.as_mut_ptr(), width, transpose(of_rows));
            }
            column += SIDE;
        }
        let group = lists.add(tile.start / SIDE * width);
        let is_upper = !tile.start.is_multiple_of(SIDE);
        if width == MERGED * SIDE {
            let mut halves = [[_mm256_setzero_si256(); MERGED]; 2];
            for level in 0..MERGED {
                [halves[0][level], halves[1][level]] =
                    of_rows_alone(load(own.as_ptr().add(level * SIDE)), is_upper);
            }
            for half in halves {
                merge::<MERGED>(group, half);
            }
            return;
        }
        for level in (0..width).step_by(SIDE) {
            insert(group, width, of_rows_alone(load(own.as_ptr().add(level)), is_upper));
        }
    }
}

/// Keys of the block's rows in the lower and in the upper half, each in the lanes of the rows. The other four places of the
/// group get the greatest key: they learn nothing here.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn of_rows_alone(found: __m256i, is_upper: bool) -> [__m256i; 2] {
    let swapped = _mm256_permute2x128_si256(found, found, 1);
    let most = _mm256_set1_epi32(-1);
    if is_upper {
        [_mm256_blend_epi32(most, found, 0xF0), _mm256_blend_epi32(most, swapped, 0xF0)]
    } else {
        [_mm256_blend_epi32(most, found, 0x0F), _mm256_blend_epi32(most, swapped, 0x0F)]
    }
}

/// Pairs that are not to be compared become the greatest key: before the row's first column, or padding.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn hide_edges(base: &mut [__m256i; ROWS], column: usize, tile: &ShortlistTile<'_>) {
    let lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    let places = _mm256_add_epi32(lanes, _mm256_set1_epi32(column.cast_signed() as i32));
    let last = _mm256_set1_epi32(tile.end.cast_signed() as i32 - 1);
    let padding = _mm256_cmpgt_epi32(places, last);
    for r in 0..ROWS {
        let first = _mm256_set1_epi32(tile.first[r].cast_signed() as i32);
        let hidden = _mm256_or_si256(_mm256_cmpgt_epi32(first, places), padding);
        base[r] = _mm256_or_si256(base[r], hidden);
    }
}

/// Puts keys into each lane's ascending list: the lesser stays, the greater goes on to the next level.
///
/// # Safety
/// `width`, a multiple of 8, keys can be read and written from `group` on.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn insert<const N: usize>(group: *mut u32, width: usize, mut keys: [__m256i; N]) {
    for level in (0..width).step_by(SIDE) {
        // SAFETY: level + 8 <= width, since both are multiples of 8, and the caller has `width` keys from `group` on.
        unsafe {
            let mut held = load(group.add(level));
            for r in 0..N {
                let greater = _mm256_max_epu32(held, keys[r]);
                held = _mm256_min_epu32(held, keys[r]);
                keys[r] = greater;
            }
            _mm256_storeu_si256(group.add(level).cast(), held);
        }
    }
}

/// Sorts four keys of each lane.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn sort(mut keys: [__m256i; ROWS]) -> [__m256i; ROWS] {
    for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        exchange(&mut keys, a, b);
    }
    keys
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn exchange(keys: &mut [__m256i], a: usize, b: usize) {
    let greater = _mm256_max_epu32(keys[a], keys[b]);
    keys[a] = _mm256_min_epu32(keys[a], keys[b]);
    keys[b] = greater;
}

/// Keeps the least [`MERGED`] keys of each lane's ascending list and `N` ascending keys.
///
/// The least keys of an ascending and a descending sequence rise, then fall. Such a sequence is sorted by exchanges over
/// distances of 8, 4, 2 and 1: of 16 keys, the first four of which would be less than all others and stay where they are.
///
/// # Safety
/// 12 x 8 keys can be read and written from `group` on.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn merge<const N: usize>(group: *mut u32, sorted: [__m256i; N]) {
    const ABSENT: usize = 16 - MERGED;
    let mut keys = [_mm256_setzero_si256(); MERGED];
    for level in 0..MERGED {
        // SAFETY: level < 12, so that (level + 1) * 8 <= 12 * 8, which the caller has.
        keys[level] = unsafe { load(group.add(level * SIDE)) };
    }
    for at in 0..N {
        let level = MERGED - 1 - at;
        keys[level] = _mm256_min_epu32(keys[level], sorted[at]);
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
        unsafe { _mm256_storeu_si256(group.add(level * SIDE).cast(), keys[level]) };
    }
}

/// Four rows of eight columns become four vectors of four rows, those of column i in the lower half of the i-th and
/// those of column i + 4 in its upper half.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn transpose([a, b, c, d]: [__m256i; ROWS]) -> [__m256i; ROWS] {
    let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab_low, cd_low),
        _mm256_unpackhi_epi64(ab_low, cd_low),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}
