//! Candidate lists of 64-bit keys in 256-bit vectors.

// Vectors stay in registers only where no call stands between them: plain loops, not iterator closures.
#![allow(clippy::needless_range_loop)]
// Intrinsics by the dozen, each with its own unmistakable prefix.
#![allow(clippy::wildcard_imports)]

use crate::simd::{NO_KEY, ROWS, SelectTile};
use std::arch::x86_64::*;

/// # Safety
/// AVX2 and FMA, and lengths as `simd::select` checks them.
#[target_feature(enable = "avx2,fma")]
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
        let [a, b, c, d] = [0, 1, 2, 3].map(|r| strips.0.as_ptr().add(r * strips.1));
        let mut column = begin / ROWS * ROWS;
        while column < end {
            let at = column - tile.columns.start;
            let mut base = [
                _mm256_loadu_pd(a.add(at)),
                _mm256_loadu_pd(b.add(at)),
                _mm256_loadu_pd(c.add(at)),
                _mm256_loadu_pd(d.add(at)),
            ];
            if column < latest || column + ROWS > tile.end {
                hide_edges(&mut base, column, tile);
            }
            if let Some(mask) = tile.mask {
                let mask = _mm256_loadu_pd(mask.as_ptr().add(at));
                for r in 0..ROWS {
                    base[r] = _mm256_max_pd(base[r], mask);
                }
            }
            // The least of a column decides whether any of its four is near enough, and the other way round.
            let least =
                _mm256_min_pd(_mm256_min_pd(base[0], base[1]), _mm256_min_pd(base[2], base[3]));
            if tile.is_symmetric {
                let theirs = keys.add(column / ROWS * width);
                let limit = _mm256_loadu_pd(theirs.add(width - ROWS));
                if _mm256_movemask_pd(_mm256_cmp_pd(least, limit, _CMP_LT_OQ)) != 0 {
                    let mut found = base;
                    for r in 0..ROWS {
                        let row = _mm256_set1_epi64x(i64::from(tile.rows[r]));
                        found[r] = with_rows(base[r], row);
                    }
                    insert(theirs, width, found);
                }
            }
            let mut nearer = base;
            for r in 0..ROWS {
                let limit = _mm256_broadcast_sd(&*own.add(width - ROWS + r));
                nearer[r] = _mm256_cmp_pd(base[r], limit, _CMP_LT_OQ);
            }
            let nearer = _mm256_or_pd(
                _mm256_or_pd(nearer[0], nearer[1]),
                _mm256_or_pd(nearer[2], nearer[3]),
            );
            if _mm256_movemask_pd(nearer) != 0 {
                // The block's rows become the lanes, one column after the other.
                let mut found = transpose(base);
                for lane in 0..ROWS {
                    let row = i64::from(*tile.index.get_unchecked(column + lane));
                    found[lane] = with_rows(found[lane], _mm256_set1_epi64x(row));
                }
                insert(own, width, found);
            }
            column += ROWS;
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn with_rows(base: __m256d, rows: __m256i) -> __m256d {
    _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(base), rows))
}

/// Lanes whose pair is not to be compared: before the row's first column, or padding.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn hide_edges(base: &mut [__m256d; ROWS], column: usize, tile: &SelectTile<'_>) {
    let lanes = _mm256_set_epi64x(3, 2, 1, 0);
    let at = _mm256_add_epi64(lanes, _mm256_set1_epi64x(column.cast_signed() as i64));
    let end = _mm256_set1_epi64x(tile.end.cast_signed() as i64);
    let padding = _mm256_xor_si256(_mm256_cmpgt_epi64(end, at), _mm256_set1_epi64x(-1));
    for r in 0..ROWS {
        let first = _mm256_set1_epi64x(tile.first[r].cast_signed() as i64);
        let early = _mm256_cmpgt_epi64(first, at);
        let hidden = _mm256_castsi256_pd(_mm256_or_si256(early, padding));
        base[r] = _mm256_blendv_pd(base[r], _mm256_set1_pd(NO_KEY), hidden);
    }
}

/// Puts four keys into each lane's ascending list: the lesser stays, the greater goes on to the next level.
///
/// Keys that are too great fall out at the end. All four go in whether they are or not: a wrong guess of the processor
/// costs more than the comparisons it would save.
///
/// # Safety
/// `width`, a multiple of 4, keys can be read and written from `group` on.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn insert(group: *mut f64, width: usize, mut keys: [__m256d; ROWS]) {
    for level in (0..width).step_by(ROWS) {
        // SAFETY: level + 4 <= width, since both are multiples of 4, and the caller has `width` keys from `group` on.
        unsafe {
            let mut held = _mm256_loadu_pd(group.add(level));
            for r in 0..ROWS {
                let greater = _mm256_max_pd(held, keys[r]);
                held = _mm256_min_pd(held, keys[r]);
                keys[r] = greater;
            }
            _mm256_storeu_pd(group.add(level), held);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn transpose([a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
    let (ab_low, ab_high) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
    let (cd_low, cd_high) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
    [
        _mm256_permute2f128_pd(ab_low, cd_low, 0x20),
        _mm256_permute2f128_pd(ab_high, cd_high, 0x20),
        _mm256_permute2f128_pd(ab_low, cd_low, 0x31),
        _mm256_permute2f128_pd(ab_high, cd_high, 0x31),
    ]
}
