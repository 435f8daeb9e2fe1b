//! The nearest found so far: in exact keys, or in short ones to be looked at again.

use super::super::kernels::{
    Kernel, Lane, NO_KEY, NO_SHORT, ROWS, SIDE, Scan, Sight, insert, insert_short, note, select,
};
use super::super::layout::Block;
use super::Neighbours;
use super::screen::Screen;
use crate::subset::Subset;
use std::ops::Range;

/// The nearest of every place.
pub(super) enum Net<'s> {
    /// The `k` least keys of every group of rows, and room for the base keys of a tile.
    Exact { keys: Vec<f64>, bases: Vec<f64> },
    /// The least short keys.
    Short { screen: &'s Screen, lists: Vec<u32> },
}

impl Net<'_> {
    /// Takes in what was caught elsewhere. Keys are totally ordered: in whatever order parts meet, the least are the
    /// least.
    pub fn join(&mut self, other: &Self, k: usize) {
        match (self, other) {
            (Self::Exact { keys, .. }, Self::Exact { keys: others, .. }) => {
                let width = k * ROWS;
                for (all, some) in keys.chunks_exact_mut(width).zip(others.chunks_exact(width)) {
                    for (at, &key) in some.iter().enumerate() {
                        insert(all, at % ROWS, key);
                    }
                }
            }
            (Self::Short { screen, lists }, Self::Short { lists: others, .. }) => {
                let width = screen.levels * SIDE;
                for (all, some) in lists.chunks_exact_mut(width).zip(others.chunks_exact(width)) {
                    for (at, &key) in some.iter().enumerate() {
                        insert_short(all, at % SIDE, key);
                    }
                }
            }
            _ => unreachable!("all parts of a subset are caught alike"),
        }
    }
}

impl<K: Kernel> Neighbours<K> {
    /// A net with nothing in it.
    pub(super) fn net<'s>(&self, screen: Option<&'s Screen>) -> Net<'s> {
        match screen {
            None => {
                let keys = vec![NO_KEY; self.layout.n_groups() * self.k * ROWS];
                Net::Exact { keys, bases: Vec::new() }
            }
            Some(screen) => {
                let lists = vec![NO_SHORT; self.layout.stride() * screen.levels];
                Net::Short { screen, lists }
            }
        }
    }

    /// Puts the sums of a block's columns among the nearest; one row lies behind the other.
    pub(super) fn catch(
        &self,
        block: &Block,
        columns: Range<usize>,
        sums: &[K::Sum],
        net: &mut Net<'_>,
    ) {
        let (run, end, first) = (columns.len(), self.layout.n(), block.first);
        let index = self.index.as_slice();
        match net {
            Net::Exact { keys, bases } => {
                bases.resize(sums.len(), 0.0);
                K::Sum::keys(self.isa, sums, self.format, bases);
                let blocked = self.layout.blocked(block);
                let blocked = blocked.map(|all| &all[columns.start - block.columns.start..]);
                let scan = Scan {
                    format: self.format,
                    k: self.k,
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
            Net::Short { screen, lists } => {
                let start = block.rows[0] as usize;
                let (format, levels) = (screen.format, screen.levels);
                let sight = Sight { format, levels, columns, end, first, index, start };
                if let Some(sums) = K::Sum::short(sums) {
                    note(self.isa, (sums, run), &sight, lists);
                }
            }
        }
    }

    /// The class each case is given by what was caught.
    pub(super) fn classes(&self, net: &Net<'_>, subset: &Subset) -> Vec<u32> {
        match net {
            Net::Exact { keys, .. } => self.votes(keys),
            Net::Short { screen, lists } => self.screened(lists, screen, subset),
        }
    }
}
