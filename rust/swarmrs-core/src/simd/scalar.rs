//! The kernels in plain Rust: the definition that every other instruction set repeats bit for bit.

#![allow(
    clippy::inline_always,
    reason = "a kernel that `avx2/mod.rs` or `avx512.rs` repeats is compiled for their instructions only where it is inlined; \
              with a hint alone, five of them ran on 128-bit vectors"
)]

pub use super::dense::{fits, solve, substitute};
use super::pairs::{CENTER, PairPlace, Panels, Two};
use super::shortlist::{SIDE, ShortlistTile, insert_short};
use super::{
    Change, Classes, Columns, Init, KeyFormat, LANES, Lane, Pairs, ROWS, SelectTile, Separation,
    Tile, insert,
};
use std::borrow::Cow;
use std::ops::{AddAssign, SubAssign};

pub fn manhattan(
    columns: Columns<'_, f64>,
    change: Change<'_>,
    tile: &Tile,
    from: Init<'_, f64>,
    to: (&mut [f64], usize),
) {
    accumulate(columns, change, tile, from, to, |a: f64, b| (a - b).abs());
}

pub fn euclidean(
    columns: Columns<'_, f64>,
    change: Change<'_>,
    tile: &Tile,
    from: Init<'_, f64>,
    to: (&mut [f64], usize),
) {
    accumulate(columns, change, tile, from, to, |a: f64, b| (a - b) * (a - b));
}

pub fn euclidean16(pairs: &Pairs<i64>, tile: &Tile, from: Init<'_, f64>, to: (&mut [f64], usize)) {
    let square = |a: i32, b: i32| i64::from(a - b) * i64::from(a - b);
    accumulate_pairs(pairs, tile, from, to, square, |old, change| old + change as f64);
}

pub fn manhattan16(pairs: &Pairs<u32>, tile: &Tile, from: Init<'_, u32>, to: (&mut [u32], usize)) {
    let difference = |a: i32, b: i32| i64::from(a.abs_diff(b));
    accumulate_pairs(pairs, tile, from, to, difference, |old, change| {
        old.wrapping_add_signed(change as i32)
    });
}

pub fn coarse_squares(
    pairs: &Pairs<u32>,
    tile: &Tile,
    from: Init<'_, u32>,
    to: (&mut [u32], usize),
) {
    let square = |a: i32, b: i32| i64::from((a - b) * (a - b));
    accumulate_pairs(pairs, tile, from, to, square, |old, change| {
        old.wrapping_add_signed(change as i32)
    });
}

/// Sums a difference of the halves of all pairs.
fn accumulate_pairs<N, S: Lane>(
    pairs: &Pairs<N>,
    tile: &Tile,
    from: Init<'_, S>,
    to: (&mut [S], usize),
    difference: impl Fn(i32, i32) -> i64,
    add: impl Fn(S, i64) -> S,
) {
    let halves =
        |pair: u32| [pair as u16, (pair >> 16) as u16].map(|half| i32::from(half.cast_signed()));
    let run = tile.columns.clone();
    for (at, &row) in tile.rows.iter().enumerate() {
        for column in run.clone() {
            let sum = |panels: &Panels| -> i64 {
                let of = |column| panels.values_at(column).iter().step_by(LANES);
                let difference = |(&own, &other): (&u32, &u32)| -> i64 {
                    let both = halves(own).into_iter().zip(halves(other));
                    both.map(|(a, b)| difference(a, b)).sum()
                };
                of(row as usize).zip(of(column)).map(difference).sum()
            };
            let place = &mut to.0[at * to.1 + column - run.start];
            let old = match from {
                Init::Zero => S::default(),
                Init::CopyFrom { sums: from, stride } => from[at * stride + column - run.start],
                Init::InPlace => *place,
            };
            *place = add(old, sum(&pairs.add) - sum(&pairs.remove));
        }
    }
}

#[inline(always)]
fn accumulate<E: Copy, S: Lane + AddAssign + SubAssign>(
    columns: Columns<'_, E>,
    change: Change<'_>,
    tile: &Tile,
    from: Init<'_, S>,
    to: (&mut [S], usize),
    difference: impl Fn(E, E) -> S,
) {
    let run = tile.columns.clone();
    for (at, &row) in tile.rows.iter().enumerate() {
        let sums = &mut to.0[at * to.1..][..run.len()];
        match from {
            Init::CopyFrom { sums: from, stride } => {
                sums.copy_from_slice(&from[at * stride..][..run.len()]);
            }
            Init::Zero => sums.fill(S::default()),
            Init::InPlace => {}
        }
        let column = |feature: u32| {
            let values = &columns.values[feature as usize * columns.stride..][..columns.stride];
            (values[row as usize], &values[run.clone()])
        };
        for &feature in change.add {
            let (own, others) = column(feature);
            for (sum, &other) in sums.iter_mut().zip(others) {
                *sum += difference(other, own);
            }
        }
        for &feature in change.remove {
            let (own, others) = column(feature);
            for (sum, &other) in sums.iter_mut().zip(others) {
                *sum -= difference(other, own);
            }
        }
    }
}

#[inline(always)]
pub fn keys<S: Lane>(sums: &[S], format: KeyFormat, to: &mut [f64]) {
    for (sum, key) in sums.iter().zip(to) {
        *key = format.base(sum.steps());
    }
}

pub fn select(strips: (&[f64], usize), tile: &SelectTile<'_>, keys: &mut [f64]) {
    let (strips, stride) = strips;
    let width = tile.k * ROWS;
    for (lane, (&row, &first)) in tile.rows.iter().zip(&tile.first).enumerate() {
        let bases = &strips[lane * stride..][..tile.columns.len()];
        for column in first.max(tile.columns.start)..tile.end.min(tile.columns.end) {
            let at = column - tile.columns.start;
            if tile.mask.is_some_and(|mask| mask[at] > 0.0) {
                continue;
            }
            let base = bases[at];
            let own = &mut keys[tile.group * width..][..width];
            if base < own[width - ROWS + lane] {
                insert(own, lane, with_row(base, tile.index[column]));
            }
            if tile.is_symmetric {
                let (group, lane) = (column / ROWS, column % ROWS);
                let other = &mut keys[group * width..][..width];
                if base < other[width - ROWS + lane] {
                    insert(other, lane, with_row(base, row));
                }
            }
        }
    }
}

fn with_row(base: f64, row: u32) -> f64 {
    f64::from_bits(base.to_bits() + u64::from(row))
}

/// The separation of the row; with `separations` those of the columns are updated too.
#[inline(always)]
pub fn separate<S: Lane>(
    sums: &[S],
    classes: Classes<'_>,
    separations: &mut [Separation<S>],
) -> Separation<S> {
    let find = |sum: S, class: i32| {
        let (is_same, counts) = (class == classes.own, class >= 0);
        Separation {
            other: if is_same || !counts { S::MOST } else { sum },
            same: if is_same { sum } else { S::default() },
        }
    };
    let mut own = Separation::default();
    if separations.is_empty() {
        for (&sum, &class) in sums.iter().zip(classes.others) {
            own.join(find(sum, class));
        }
    } else {
        for ((&sum, &class), theirs) in sums.iter().zip(classes.others).zip(separations) {
            let found = find(sum, class);
            own.join(found);
            theirs.join(found);
        }
    }
    own
}

#[inline(always)]
pub fn add_absolute(sums: &mut [f64], column: &[f64], own: f64, weight: f64) {
    for (sum, x) in sums.iter_mut().zip(column) {
        *sum += ((x - own) * weight).abs();
    }
}

#[inline(always)]
pub fn add_squares(sums: &mut [f64], column: &[f64], own: f64, weight: f64) {
    for (sum, x) in sums.iter_mut().zip(column) {
        let difference = (x - own) * weight;
        *sum += difference * difference;
    }
}

/// Dot products have so many partial sums, added in pairs at the end: the same order at any vector width.
const DOT_LANES: usize = 4;

#[inline(always)]
pub fn dot_rows(vector: &[f64], rows: &[f64], stride: usize, dots: &mut [f64]) {
    // Four rows share the loads of the vector.
    let (fours, rest) = dots.as_chunks_mut::<4>();
    let row = |at: usize| &rows[at * stride..][..vector.len()];
    for (at, four) in fours.iter_mut().enumerate() {
        *four = dots_of(vector, std::array::from_fn(|lane| row(4 * at + lane)));
    }
    for (at, dot) in rest.iter_mut().enumerate() {
        [*dot] = dots_of(vector, [row(4 * fours.len() + at)]);
    }
}

#[inline(always)]
fn dots_of<const N: usize>(vector: &[f64], rows: [&[f64]; N]) -> [f64; N] {
    let (vector, rest) = vector.as_chunks::<DOT_LANES>();
    assert!(rest.is_empty(), "vectors are padded");
    let rows = rows.map(|row| &row.as_chunks::<DOT_LANES>().0[..vector.len()]);
    let mut sums = [[0.0; DOT_LANES]; N];
    for (at, x) in vector.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            for lane in 0..DOT_LANES {
                sums[lane] += x[lane] * row[at][lane];
            }
        }
    }
    sums.map(|[a, b, c, d]| (a + c) + (b + d))
}

#[inline(always)]
pub fn subtract_rows(target: &mut [f64], rows: &[f64], stride: usize, factors: &[f64]) {
    if factors.is_empty() {
        return;
    }
    let (runs, rest) = target.as_chunks_mut::<16>();
    let n_runs = runs.len();
    for (at, run) in runs.iter_mut().enumerate() {
        subtract_run(run, &rows[16 * at..], stride, factors);
    }
    let (runs, rest) = rest.as_chunks_mut::<4>();
    assert!(rest.is_empty(), "vectors are padded");
    for (at, run) in runs.iter_mut().enumerate() {
        subtract_run(run, &rows[16 * n_runs + 4 * at..], stride, factors);
    }
}

/// Some values at a time, so that they stay in registers while all rows leave.
#[inline(always)]
fn subtract_run<const N: usize>(
    target: &mut [f64; N],
    rows: &[f64],
    stride: usize,
    factors: &[f64],
) {
    let mut values = *target;
    for (factor, row) in factors.iter().zip(rows.chunks(stride)) {
        let row = row.first_chunk::<N>().expect("a row is as long as the target");
        for (value, x) in values.iter_mut().zip(row) {
            *value -= factor * x;
        }
    }
    *target = values;
}

#[inline(always)]
pub fn add_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>]) {
    enter_tables(sums, tables, i64::wrapping_add);
}

#[inline(always)]
pub fn remove_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>]) {
    enter_tables(sums, tables, i64::wrapping_sub);
}

/// Some sums at a time, so that they stay in registers while all tables enter.
#[inline(always)]
fn enter_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>], enter: impl Fn(i64, i64) -> i64) {
    const RUN: usize = 32;
    let (runs, rest) = sums.as_chunks_mut::<RUN>();
    for (at, run) in runs.iter_mut().enumerate() {
        let mut held = *run;
        for table in tables {
            let terms: &[i64; RUN] = &table.as_chunks::<RUN>().0[at];
            for (sum, &term) in held.iter_mut().zip(terms) {
                *sum = enter(*sum, term);
            }
        }
        *run = held;
    }
    let start = runs.len() * RUN;
    for table in tables {
        for (sum, &term) in rest.iter_mut().zip(&table[start..]) {
            *sum = enter(*sum, term);
        }
    }
}

#[inline(always)]
pub fn greatest(best: &mut [i64], others: &[i64], classes: &mut [u32]) {
    classes.fill(0);
    for (class, sums) in (1..).zip(others.chunks_exact(classes.len())) {
        for ((best, said), &sum) in best.iter_mut().zip(&mut *classes).zip(sums) {
            let is_greater = sum > *best;
            *said = if is_greater { class } else { *said };
            *best = if is_greater { sum } else { *best };
        }
    }
}

pub fn update_shortlists(strips: (&[u32], usize), tile: &ShortlistTile<'_>, lists: &mut [u32]) {
    let width = tile.levels * SIDE;
    for (lane, &first) in tile.first.iter().enumerate() {
        let own = tile.start + lane;
        for column in first.max(tile.columns.start)..tile.end.min(tile.columns.end) {
            let steps = strips.0[lane * strips.1 + column - tile.columns.start];
            for (place, other) in [(own, column), (column, own)] {
                let group = &mut lists[place / SIDE * width..][..width];
                insert_short(group, place % SIDE, tile.format.key(steps, tile.index[other]));
            }
        }
    }
}

#[inline(always)]
pub fn join_squares(two: Two<'_>, to: PairPlace<'_>, norms: &mut [i64]) {
    let squares = |norm: &mut i64, a: i32, b: i32| *norm += i64::from(a * a) + i64::from(b * b);
    join(two, to, norms, |value| value ^ CENTER, squares);
}

#[inline(always)]
pub fn join_sums(two: Two<'_>, to: PairPlace<'_>, norms: &mut [u32]) {
    let values = |norm: &mut u32, a: i32, b: i32| *norm = norm.wrapping_add_signed(a + b);
    join(two, to, norms, |value| value ^ CENTER, values);
}

#[inline(always)]
pub fn join_coarse(two: Two<'_>, drop: u32, to: PairPlace<'_>, norms: &mut [u32]) {
    let squares = |norm: &mut u32, a: i32, b: i32| *norm = norm.wrapping_add_signed(a * a + b * b);
    join(two, to, norms, |value| value >> drop, squares);
}

/// Puts two features into a pair, each value by `convert`, and adds to the norms. Flipping the top bit is subtracting 2^15.
#[inline(always)]
fn join<N>(
    (a, b): Two<'_>,
    to: PairPlace<'_>,
    norms: &mut [N],
    convert: impl Fn(u16) -> u16,
    add: impl Fn(&mut N, i32, i32),
) {
    let runs = a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0);
    let places = to.values.chunks_mut(to.step).zip(norms.as_chunks_mut::<LANES>().0);
    for ((a, b), (to, norms)) in runs.zip(places) {
        let to = to.first_chunk_mut::<LANES>().expect("a place for every run of columns");
        for lane in 0..LANES {
            let (a, b) = (convert(a[lane]), convert(b[lane]));
            to[lane] = u32::from(a) | u32::from(b) << 16;
            add(&mut norms[lane], i32::from(a.cast_signed()), i32::from(b.cast_signed()));
        }
    }
}
