//! What neighbours say: votes, and how far classes lie apart.

use super::super::layout::Block;
use super::super::{Metric, Weights};
use super::Neighbours;
use super::screen::TIE;
use crate::simd::{Apart, Classes, Kernel, Lane, ROWS};
use std::ops::Range;

impl<K: Kernel> Neighbours<K> {
    /// Finds how far the rows of a block lie from other classes and from their own.
    pub(super) fn separate(
        &self,
        block: &Block,
        columns: &Range<usize>,
        strips: (&[K::Sum], usize),
        apart: &mut [Apart<K::Sum>],
    ) {
        if !self.separation {
            return;
        }
        for lane in 0..ROWS {
            let run = columns.start.max(block.first[lane])..columns.end.min(self.layout.n());
            if run.is_empty() {
                continue;
            }
            let own = self.codes[block.index[lane] as usize].cast_signed();
            let others: Vec<i32> = run.clone().map(|column| self.class_of(block, column)).collect();
            let sums = &strips.0[lane * strips.1 + run.start - columns.start..][..run.len()];
            let theirs =
                if self.layout.is_symmetric() { &mut apart[run] } else { &mut [] as &mut [_] };
            let found = K::Sum::separate(self.isa, sums, Classes { own, others: &others }, theirs);
            apart[block.group * ROWS + lane].join(found);
        }
    }

    /// The class of a column, negative where the block is not compared with it.
    fn class_of(&self, block: &Block, column: usize) -> i32 {
        let is_blocked = self
            .layout
            .blocked(block)
            .is_some_and(|blocked| blocked[column - block.columns.start] > 0.0);
        let class = self.codes[self.layout.rows()[column] as usize].cast_signed();
        if is_blocked { -1 } else { class }
    }

    /// Mean distance to the nearest of another class less that to the farthest of the same, each over the farthest
    /// two rows can be; a row without other classes counts 1, one alone in its class 0.
    pub(super) fn separation(&self, apart: &[Apart<K::Sum>], size: usize) -> f64 {
        let farthest = self.resolution as u64 * size as u64;
        let (mut other, mut same) = (0, 0);
        for case in 0..self.tally.n_cases() {
            let (group, lane) = self.layout.place(case);
            let apart = apart[group * ROWS + lane];
            other += if apart.other == K::Sum::MOST { farthest } else { apart.other.steps() };
            same += apart.same.steps();
        }
        let all = (self.tally.n_cases() as u64 * farthest) as f64;
        other as f64 / all - same as f64 / all
    }

    /// The class with the most votes of some rows, each with its distance (squared for the Euclidean metric); the smallest
    /// class of equals. `votes` comes and goes empty.
    #[inline]
    pub(super) fn vote(
        &self,
        near: impl Iterator<Item = (f64, usize)> + Clone,
        votes: &mut [f64],
    ) -> u32 {
        let (mut class, mut most) = (u32::MAX, 0.0);
        let is_by_distance = self.weights == Weights::Distance;
        let is_on_top = is_by_distance && near.clone().any(|(distance, _)| distance == 0.0);
        let weight = |distance: f64| match (self.weights, self.metric) {
            (Weights::Uniform, _) => 1.0,
            (Weights::Distance, _) if is_on_top => f64::from(u8::from(distance == 0.0)),
            (Weights::Distance, Metric::Manhattan) => 1.0 / distance,
            (Weights::Distance, Metric::Euclidean) => 1.0 / distance.sqrt(),
        };
        for (distance, row) in near.clone() {
            let code = self.codes[row];
            let count = &mut votes[code as usize];
            *count += weight(distance);
            // Counts only grow: the last to reach the top, or a smaller class that draws level with it, wins.
            if *count > most || (*count == most && code < class) {
                (class, most) = (code, *count);
            }
        }
        if is_by_distance {
            // Equal votes differ in the last digits: a smaller class with as many up to rounding wins.
            let ties = near.clone().map(|(_, row)| self.codes[row]);
            class = ties
                .filter(|&code| votes[code as usize] >= most * (1.0 - TIE))
                .min()
                .unwrap_or(class);
        }
        for (_, row) in near {
            votes[self.codes[row] as usize] = 0.0;
        }
        class
    }
}
