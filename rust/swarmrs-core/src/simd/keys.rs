//! Neighbors as 64-bit keys, and lists of the least keys.

#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(target_arch = "aarch64")]
use super::neon_lists;
use super::{Isa, LANES, ROWS, Tile, check_strip, scalar};
use std::ops::Range;

/// The format of 64-bit keys: the distance above, the row index below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyFormat {
    /// Bits of the row index.
    pub shift: u32,
}

/// Keys begin here, so that as floats they are normal numbers.
pub(super) const KEY_OFFSET: u64 = 1 << 52;
/// Greater than every key, and still a finite float with any row index added.
pub const NO_KEY: f64 = f64::from_bits(0x7FE0_0000_0000_0000);

impl KeyFormat {
    /// The key of row 0 at this distance: every key of that distance is as great or greater, by the row index.
    pub fn base(self, steps: u64) -> f64 {
        f64::from_bits((steps << self.shift) + KEY_OFFSET)
    }

    /// The distance and the row behind a key.
    pub fn parts(self, key: f64) -> (u64, usize) {
        let bits = key.to_bits() - KEY_OFFSET;
        (bits >> self.shift, (bits & ((1 << self.shift) - 1)) as usize)
    }
}

/// Geometry and key format of one tile of distances: the lists they enter.
#[derive(Debug, Clone)]
pub struct SelectTile<'a> {
    /// Keys of a list.
    pub k: usize,
    /// The columns of the tile; both ends multiples of [`LANES`].
    pub columns: Range<usize>,
    /// Columns from here on are padding.
    pub end: usize,
    /// The first column each row of the block is compared with.
    pub first: [usize; ROWS],
    /// Additive mask of `columns`: [`NO_KEY`] for those that are not compared, else 0; none where `first` and `end` say it all.
    pub mask: Option<&'a [f64]>,
    /// The row index of each column.
    pub index: &'a [u32],
    /// The row index of each row of the block.
    pub rows: [u32; ROWS],
    /// The block's own group of keys.
    pub group: usize,
    /// True if each distance enters the lists of both its rows; the group of a column is then column / 4.
    pub is_symmetric: bool,
}

/// Puts the distances of a tile, as base keys, among the nearest found so far.
///
/// `keys` holds, for every group of four rows, the `k` least keys of each, level by level: row `4 g + l` at
/// `(g k + level) 4 + l`, ascending with the level. `strips` holds the block's rows one after the other, `strips.1` apart.
///
/// # Panics
/// When a length does not fit the others.
pub fn select(isa: Isa, strips: (&[f64], usize), tile: &SelectTile<'_>, keys: &mut [f64]) {
    let run = &tile.columns;
    check_strip(&Tile { rows: tile.rows, columns: run.clone() }, strips.0.len(), strips.1);
    assert!(run.start.is_multiple_of(LANES) && run.end.is_multiple_of(LANES));
    assert!(tile.k > 0 && keys.len() >= (tile.group + 1) * tile.k * ROWS);
    assert!(run.end <= tile.index.len() && tile.mask.is_none_or(|b| run.len() <= b.len()));
    assert!(!tile.is_symmetric || run.end * tile.k <= keys.len());
    match isa {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        // SAFETY: `HasAvx2` or `HasAvx512` proves that the processor has the instructions, and the five assertions above are the
        // lengths that its contract requires.
        Isa::Avx2(_) | Isa::Avx512(_) => unsafe { avx2::select::select(strips, tile, keys) },
        #[cfg(target_arch = "aarch64")]
        #[allow(unsafe_code)]
        // SAFETY: the five assertions above are the lengths that its contract requires.
        Isa::Neon(_) => unsafe { neon_lists::select(strips, tile, keys) },
        _ => scalar::select(strips, tile, keys),
    }
}

/// Puts one key among the `k` least of row `lane` of a group.
pub fn insert(group: &mut [f64], lane: usize, mut key: f64) {
    for level in group.chunks_exact_mut(ROWS) {
        let held = level[lane];
        level[lane] = held.min(key);
        key = held.max(key);
    }
}
