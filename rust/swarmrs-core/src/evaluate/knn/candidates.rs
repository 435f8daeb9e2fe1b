//! Candidate lists: for every case the training rows of least quantized distance, as sorted keys.

use super::super::layout::{Block, Layout};
use crate::simd::{
    Isa, KeyFormat, Lane, NO_KEY, NO_SHORT, ROWS, SIDE, SelectTile, ShortFormat, ShortlistTile,
    insert, insert_short, select, update_shortlists,
};
use std::ops::Range;

/// The candidate lists of one subset.
pub(super) struct Candidates<'a> {
    layout: &'a Layout,
    /// The row of the table at each place of the layout, padded.
    index: &'a [u32],
    isa: Isa,
    /// Candidates in a list.
    levels: usize,
    keys: Keys,
}

/// The keys of all lists, in groups of [`ROWS`] (64 bits) or [`SIDE`] (32 bits) lists side by side.
enum Keys {
    Long { format: KeyFormat, keys: Vec<f64>, bases: Vec<f64> },
    Short { format: ShortFormat, keys: Vec<u32> },
}

impl<'a> Candidates<'a> {
    /// Empty lists of `levels` candidates: by 32-bit keys where a short format is given, else by 64-bit keys.
    pub fn new(
        layout: &'a Layout,
        index: &'a [u32],
        isa: Isa,
        levels: usize,
        format: (KeyFormat, Option<ShortFormat>),
    ) -> Self {
        let keys = match format {
            (format, None) => {
                let keys = vec![NO_KEY; layout.n_groups() * levels * ROWS];
                Keys::Long { format, keys, bases: Vec::new() }
            }
            (_, Some(format)) => {
                Keys::Short { format, keys: vec![NO_SHORT; layout.stride() * levels] }
            }
        };
        Self { layout, index, isa, levels, keys }
    }

    /// Enters the distances of a block's rows to `columns`, one row after the other.
    pub fn insert_tile<S: Lane>(&mut self, block: &Block, columns: Range<usize>, sums: &[S]) {
        let (run, end, first, index) = (columns.len(), self.layout.n(), block.first, self.index);
        match &mut self.keys {
            Keys::Long { format, keys, bases } => {
                bases.resize(sums.len(), 0.0);
                S::keys(self.isa, sums, *format, bases);
                let mask = self.layout.mask(block);
                let tile = SelectTile {
                    k: self.levels,
                    mask: mask.map(|mask| &mask[columns.start - block.columns.start..]),
                    columns,
                    end,
                    first,
                    index,
                    rows: block.index,
                    group: block.group,
                    is_symmetric: self.layout.is_symmetric(),
                };
                select(self.isa, (bases, run), &tile, keys);
            }
            Keys::Short { format, keys } => {
                let start = block.rows[0] as usize;
                let (format, levels) = (*format, self.levels);
                let tile = ShortlistTile { format, levels, columns, end, first, index, start };
                if let Some(sums) = S::short(sums) {
                    update_shortlists(self.isa, (sums, run), &tile, keys);
                }
            }
        }
    }

    /// Replaces the list of a case by these 64-bit keys, which ascend.
    pub fn set_list(&mut self, case: usize, list: &[f64]) {
        let (group, lane) = self.layout.place(case);
        let Keys::Long { keys, .. } = &mut self.keys else {
            unreachable!("lists of 64-bit keys are replaced")
        };
        let to = &mut keys[group * self.levels * ROWS..][..self.levels * ROWS];
        to.iter_mut().skip(lane).step_by(ROWS).zip(list).for_each(|(to, &key)| *to = key);
    }

    /// Adds the candidates another thread found. Keys are totally ordered: in whatever order lists are merged, the least
    /// keys remain.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.keys, &other.keys) {
            (Keys::Long { keys, .. }, Keys::Long { keys: others, .. }) => {
                let width = self.levels * ROWS;
                for (all, some) in keys.chunks_exact_mut(width).zip(others.chunks_exact(width)) {
                    for (at, &key) in some.iter().enumerate() {
                        insert(all, at % ROWS, key);
                    }
                }
            }
            (Keys::Short { keys, .. }, Keys::Short { keys: others, .. }) => {
                let width = self.levels * SIDE;
                for (all, some) in keys.chunks_exact_mut(width).zip(others.chunks_exact(width)) {
                    for (at, &key) in some.iter().enumerate() {
                        insert_short(all, at % SIDE, key);
                    }
                }
            }
            _ => unreachable!("all parts of a subset have keys of one kind"),
        }
    }

    /// The candidates of a case.
    #[inline]
    pub fn list(&self, case: usize) -> List<'_> {
        let (group, lane) = self.layout.place(case);
        match &self.keys {
            Keys::Long { format, keys, .. } => {
                let width = self.levels * ROWS;
                List::Long { keys: &keys[group * width..][..width], lane, format: *format }
            }
            Keys::Short { format, keys } => {
                let (place, width) = (group * ROWS + lane, self.levels * SIDE);
                let keys = &keys[place / SIDE * width..][..width];
                List::Short { keys, lane: place % SIDE, format: *format }
            }
        }
    }
}

/// The candidates of one case, nearest first.
pub(super) enum List<'l> {
    Short { keys: &'l [u32], lane: usize, format: ShortFormat },
    Long { keys: &'l [f64], lane: usize, format: KeyFormat },
}

impl List<'_> {
    /// The least and the greatest quantized distance that the candidate at this level can have; none where the list ends
    /// before it.
    #[inline]
    pub fn bounds(&self, level: usize) -> Option<(f64, f64)> {
        match *self {
            Self::Short { keys, lane, format } => {
                let key = keys[level * SIDE + lane];
                let least = format.parts(key).0;
                (key != NO_SHORT).then(|| (least as f64, (least + (1 << format.drop) - 1) as f64))
            }
            Self::Long { keys, lane, format } => {
                let key = keys[level * ROWS + lane];
                let steps = format.parts(key).0 as f64;
                (key < NO_KEY).then_some((steps, steps))
            }
        }
    }

    /// Replaces `rows` by the rows of the first `count` candidates.
    #[inline]
    pub fn copy_rows(&self, count: usize, rows: &mut Vec<u32>) {
        rows.clear();
        match *self {
            Self::Short { keys, lane, format } => {
                let keys = keys[lane..].iter().step_by(SIDE).take(count);
                rows.extend(keys.map(|&key| format.parts(key).1 as u32));
            }
            Self::Long { keys, lane, format } => {
                let keys = keys[lane..].iter().step_by(ROWS).take(count);
                rows.extend(keys.map(|&key| format.parts(key).1 as u32));
            }
        }
    }

    /// The least quantized distance of a candidate and its row of the table.
    pub fn at(&self, level: usize) -> (f64, usize) {
        let (steps, row) = match *self {
            Self::Short { keys, lane, format } => format.parts(keys[level * SIDE + lane]),
            Self::Long { keys, lane, format } => format.parts(keys[level * ROWS + lane]),
        };
        (steps as f64, row)
    }
}
