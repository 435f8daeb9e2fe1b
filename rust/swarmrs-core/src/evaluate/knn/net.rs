//! Candidate lists: the nearest rows found so far, by quantized distance.

use super::super::layout::Block;
use super::Neighbours;
use super::screen::Screen;
use crate::simd::{
    Kernel, Lane, NO_KEY, NO_SHORT, ROWS, SIDE, Scan, ShortFormat, Sight, insert, insert_short,
    note, select,
};
use std::ops::Range;

/// The candidates of every case.
pub(super) enum Net {
    /// By 64-bit keys, with room for the base keys of a tile.
    Long { screen: Screen, keys: Vec<f64>, bases: Vec<f64> },
    /// By 32-bit keys.
    Short { screen: Screen, format: ShortFormat, lists: Vec<u32> },
}

impl Net {
    /// How its lists are read.
    pub fn screen(&self) -> Screen {
        match self {
            Self::Long { screen, .. } | Self::Short { screen, .. } => *screen,
        }
    }

    /// Merges the candidates found in another part of the rows. Keys are totally ordered: in whatever order parts meet,
    /// the least are the least.
    pub fn join(&mut self, other: &Self) {
        match (self, other) {
            (Self::Long { screen, keys, .. }, Self::Long { keys: others, .. }) => {
                let width = screen.levels * ROWS;
                for (all, some) in keys.chunks_exact_mut(width).zip(others.chunks_exact(width)) {
                    for (at, &key) in some.iter().enumerate() {
                        insert(all, at % ROWS, key);
                    }
                }
            }
            (Self::Short { screen, lists, .. }, Self::Short { lists: others, .. }) => {
                let width = screen.levels * SIDE;
                for (all, some) in lists.chunks_exact_mut(width).zip(others.chunks_exact(width)) {
                    for (at, &key) in some.iter().enumerate() {
                        insert_short(all, at % SIDE, key);
                    }
                }
            }
            _ => unreachable!("all parts of a subset have lists of one kind"),
        }
    }
}

impl<K: Kernel> Neighbours<K> {
    /// Empty lists.
    pub(super) fn net(&self, screen: Screen) -> Net {
        match screen.short {
            None => {
                let keys = vec![NO_KEY; self.layout.n_groups() * screen.levels * ROWS];
                Net::Long { screen, keys, bases: Vec::new() }
            }
            Some(format) => {
                let lists = vec![NO_SHORT; self.layout.stride() * screen.levels];
                Net::Short { screen, format, lists }
            }
        }
    }

    /// Enters the sums of a block's columns into the lists; one row lies behind the other.
    pub(super) fn catch(
        &self,
        block: &Block,
        columns: Range<usize>,
        sums: &[K::Sum],
        net: &mut Net,
    ) {
        let (run, end, first) = (columns.len(), self.layout.n(), block.first);
        let index = self.index.as_slice();
        match net {
            Net::Long { screen, keys, bases } => {
                bases.resize(sums.len(), 0.0);
                K::Sum::keys(self.isa, sums, self.format, bases);
                let blocked = self.layout.blocked(block);
                let blocked = blocked.map(|all| &all[columns.start - block.columns.start..]);
                let scan = Scan {
                    format: self.format,
                    k: screen.levels,
                    columns,
                    end,
                    first,
                    blocked,
                    index,
                    rows: block.index,
                    group: block.group,
                    is_symmetric: self.layout.is_symmetric(),
                };
                select(self.isa, (bases, run), &scan, keys);
            }
            Net::Short { screen, format, lists } => {
                let start = block.rows[0] as usize;
                let (format, levels) = (*format, screen.levels);
                let sight = Sight { format, levels, columns, end, first, index, start };
                if let Some(sums) = K::Sum::short(sums) {
                    note(self.isa, (sums, run), &sight, lists);
                }
            }
        }
    }
}
