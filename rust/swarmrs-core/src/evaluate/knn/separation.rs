//! Class separation: the distance of each row to the nearest row of another class and to the farthest of its own.

use super::super::layout::{Block, Layout};
use crate::simd::{Classes, Isa, Lane, ROWS, Separation};
use std::borrow::Cow;
use std::ops::Range;

/// The class of the row at each place of a layout.
pub(super) struct PlaceClasses {
    classes: Vec<i32>,
}

impl PlaceClasses {
    pub fn new(layout: &Layout, codes: &[u32]) -> Self {
        let class = |&row: &u32| codes[row as usize].cast_signed();
        Self { classes: layout.rows().iter().map(class).collect() }
    }

    /// The classes of the columns that a block is compared with; negative where it is not. A partition hides none of them.
    fn of_columns(&self, layout: &Layout, block: &Block, columns: Range<usize>) -> Cow<'_, [i32]> {
        let hidden = layout.mask(block).map(|mask| &mask[columns.start - block.columns.start..]);
        let classes = &self.classes[columns];
        match hidden {
            None => Cow::Borrowed(classes),
            Some(mask) => {
                let class = |(&class, &mask): (&i32, &f64)| if mask > 0.0 { -1 } else { class };
                classes.iter().zip(mask).map(class).collect()
            }
        }
    }
}

/// The separation of every case, found tile by tile.
pub(super) struct Separations<'a, S> {
    layout: &'a Layout,
    classes: &'a PlaceClasses,
    isa: Isa,
    /// For each group of cases the lanes of its rows.
    found: Vec<Separation<S>>,
}

impl<'a, S: Lane> Separations<'a, S> {
    pub fn new(layout: &'a Layout, classes: &'a PlaceClasses, isa: Isa) -> Self {
        let found = vec![Separation::default(); layout.n_groups() * ROWS];
        Self { layout, classes, isa, found }
    }

    /// Enters the distances of a block's rows to `columns`, one row after the other.
    pub fn insert_tile(&mut self, block: &Block, columns: &Range<usize>, sums: &[S]) {
        for lane in 0..ROWS {
            let run = columns.start.max(block.first[lane])..columns.end.min(self.layout.n());
            if run.is_empty() {
                continue;
            }
            let own = self.classes.classes[block.rows[lane] as usize];
            let others = self.classes.of_columns(self.layout, block, run.clone());
            let sums = &sums[lane * columns.len() + run.start - columns.start..][..run.len()];
            let theirs = if self.layout.is_symmetric() {
                &mut self.found[run]
            } else {
                &mut [] as &mut [_]
            };
            let found = S::separate(self.isa, sums, Classes { own, others: &others }, theirs);
            self.found[block.group * ROWS + lane].join(found);
        }
    }

    /// Adds what another thread found.
    pub fn merge(&mut self, other: &Self) {
        self.found.iter_mut().zip(&other.found).for_each(|(all, &some)| all.join(some));
    }

    /// The mean over `n_cases` of the distance to the nearest row of another class less that to the farthest of the same,
    /// each as a share of `farthest`; a row without other classes counts 1, one alone in its class 0.
    pub fn mean(&self, n_cases: usize, farthest: u64) -> f64 {
        let (mut other, mut same) = (0, 0);
        for case in 0..n_cases {
            let (group, lane) = self.layout.place(case);
            let found = self.found[group * ROWS + lane];
            other += if found.other == S::MOST { farthest } else { found.other.steps() };
            same += found.same.steps();
        }
        let all = (n_cases as u64 * farthest) as f64;
        other as f64 / all - same as f64 / all
    }
}
