//! Candidate lists of 32-bit keys, eight lists side by side.
//!
//! A short key is a distance without its low bits, then the row. At 32 bits the lists of the least keys need no branch,
//! which is faster than a test whether there is something to insert: 1.5 to 2.9 times the speed on 569 x 30.
//! Distances that short keys do not order are left to exact
//! float64 distances, see `evaluate::knn`.

#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(target_arch = "aarch64")]
use super::neon_lists;
use super::{Isa, LANES, ROWS, Tile, check_strip, scalar};
use std::ops::Range;

/// Rows whose lists stand side by side.
pub const SIDE: usize = 8;
/// Lists of so many keys are merged with sorted ones: four keys take 54 minima and maxima, where inserting them one after the
/// other takes 8 for each key of a list.
pub const MERGED: usize = 12;
/// Greater than every short key.
pub const NO_SHORT: u32 = u32::MAX;

/// The format of 32-bit keys: the distance without its low bits above, the row index below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortFormat {
    /// Bits of the distance that are left out.
    pub drop: u32,
    /// Bits of the row index.
    pub shift: u32,
}

impl ShortFormat {
    /// The format for distances up to `farthest`, which is 32 bits at most, and row indices of `shift` bits.
    pub fn new(farthest: u64, shift: u32) -> Self {
        let bits = u64::BITS - farthest.min(u64::from(u32::MAX)).leading_zeros();
        Self { drop: (bits + shift).saturating_sub(u32::BITS), shift }
    }

    /// The key of `row` at this distance.
    pub fn key(self, steps: u32, row: u32) -> u32 {
        (steps >> self.drop) << self.shift | row
    }

    /// The least distance that has this key, and the row.
    pub fn parts(self, key: u32) -> (u64, usize) {
        (u64::from(key >> self.shift) << self.drop, (key & ((1 << self.shift) - 1)) as usize)
    }
}

/// The properties of 32-bit sums that bound the error of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortSums {
    /// The greatest sum of one feature.
    pub farthest: u64,
    /// Bits that values were stripped of before.
    pub lost: u32,
    /// True if sums are squares of distances.
    pub is_squared: bool,
}

/// Geometry and key format of one tile. Distances are symmetric, so each updates the lists of both its rows.
#[derive(Debug, Clone)]
pub struct ShortlistTile<'a> {
    /// The format of keys.
    pub format: ShortFormat,
    /// Keys of a list.
    pub levels: usize,
    /// The columns of the tile; both ends multiples of [`LANES`].
    pub columns: Range<usize>,
    /// Columns from here on are padding.
    pub end: usize,
    /// The first column each row of the block is compared with.
    pub first: [usize; ROWS],
    /// The row index of each place.
    pub index: &'a [u32],
    /// The places of the rows, one after the other from a multiple of [`ROWS`].
    pub start: usize,
}

/// Updates the candidate lists of a tile's rows and of its columns with its distances.
///
/// `lists` holds, for every [`SIDE`] places, the least keys of each, level by level: place `8 g + l` at
/// `(g levels + level) 8 + l`, ascending with the level. `strips` holds the block's rows one after the other, `strips.1`
/// apart.
///
/// # Panics
/// When a length does not fit the others.
pub fn update_shortlists(
    isa: Isa,
    strips: (&[u32], usize),
    tile: &ShortlistTile<'_>,
    lists: &mut [u32],
) {
    let run = &tile.columns;
    check_strip(&Tile { rows: [0; ROWS], columns: run.clone() }, strips.0.len(), strips.1);
    assert!(run.start.is_multiple_of(LANES) && run.end.is_multiple_of(LANES));
    assert!(tile.levels > 0 && lists.len().is_multiple_of(tile.levels * SIDE));
    let places = lists.len() / tile.levels;
    assert!(run.end <= places && places <= tile.index.len());
    assert!(tile.start.is_multiple_of(ROWS) && tile.start + ROWS <= places);
    match isa {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        // SAFETY: `HasAvx2` or `HasAvx512` proves that the processor has the instructions, and the five assertions above are the
        // lengths that its contract requires.
        Isa::Avx2(_) | Isa::Avx512(_) => unsafe {
            avx2::shortlist::update_shortlists(strips, tile, lists);
        },
        #[cfg(target_arch = "aarch64")]
        #[allow(unsafe_code)]
        // SAFETY: the five assertions above are the lengths that its contract requires.
        Isa::Neon(_) => unsafe { neon_lists::update_shortlists(strips, tile, lists) },
        _ => scalar::update_shortlists(strips, tile, lists),
    }
}

/// Puts one key among the least of place `lane` of a group of [`SIDE`].
pub fn insert_short(group: &mut [u32], lane: usize, mut key: u32) {
    for level in group.chunks_exact_mut(SIDE) {
        let held = level[lane];
        level[lane] = held.min(key);
        key = held.max(key);
    }
}
