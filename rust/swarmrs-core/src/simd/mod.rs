//! The kernels: sums of differences between rows, and lists of the nearest. The only folder with `unsafe`.
//!
//! Work is done in blocks of `ROWS` rows against runs of `LANES` columns ("columns" are rows too, seen from the
//! other side: the matrix of distances is symmetric). Everything is an exact integer, so each instruction set gives the
//! same bits: `scalar.rs` is the definition, `avx2/mod.rs` and `avx512.rs` repeat it for x86-64, `neon.rs` for aarch64.
//!
//! A neighbor is held as a *key*: its distance, then its row index, in one integer that sorts as the two would. Keys
//! are kept in the bits of positive floats, which order like integers and have vector minimum and maximum.

// Strips travel as a slice and its stride, columns as a small view: by value, wherever they end.
#![allow(clippy::needless_pass_by_value)]

#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "vector loads and stores; each function states what its pointers need"
)]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "vector loads and stores; each function states what its pointers need"
)]
mod avx512;
mod dense;
mod keys;
#[cfg(target_arch = "aarch64")]
#[allow(
    unsafe_code,
    reason = "vector loads and stores; each function states what its pointers need"
)]
mod neon;
#[cfg(target_arch = "aarch64")]
#[allow(
    unsafe_code,
    reason = "vector loads and stores; each function states what its pointers need"
)]
mod neon_lists;
mod pairs;
mod scalar;
mod shortlist;
pub(crate) mod words;

pub(crate) use keys::{KeyFormat, NO_KEY, SelectTile, insert, select};
pub(crate) use pairs::{CoarseEuclidean, Euclidean16, Manhattan16};
use pairs::{PairPlace, Pairs, Two};
pub(crate) use shortlist::{
    MERGED, NO_SHORT, SIDE, ShortFormat, ShortSums, ShortlistTile, insert_short, update_shortlists,
};
pub(crate) use words::bits::distance_below;

use crate::base::cancel;
pub use crate::base::isa::{HasAvx2, HasAvx512, HasNeon, Isa, SIMD_VARIABLE};
use std::borrow::Cow;
use std::ops::Range;

/// Rows of a block.
pub(crate) const ROWS: usize = 4;
/// Strips of distances begin and end at multiples of this.
pub(crate) const LANES: usize = 16;

/// Calls the version of a kernel for an instruction set.
macro_rules! kernels {
    ($isa:expr, $name:ident($($arg:expr),*)) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `HasAvx512` proves that the processor has the instructions, and the caller has asserted the lengths
            // that the head of `avx512.rs` requires, if any.
            $crate::simd::Isa::Avx512(_) => unsafe { $crate::simd::avx512::$name($($arg),*) },
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `HasAvx2` proves that the processor has the instructions, and the caller has asserted the lengths
            // that the head of `avx2/mod.rs` requires, if any.
            $crate::simd::Isa::Avx2(_) => unsafe { $crate::simd::avx2::$name($($arg),*) },
            #[cfg(target_arch = "aarch64")]
            #[allow(unsafe_code, unused_unsafe, reason = "some kernels are those of `scalar.rs`")]
            // SAFETY: the processor has the instructions, and the caller has asserted the lengths that the head of `neon.rs`
            // requires, if any.
            $crate::simd::Isa::Neon(_) => unsafe { $crate::simd::neon::$name($($arg),*) },
            _ => $crate::simd::scalar::$name($($arg),*),
        }
    };
}
use kernels;

/// Values of all features, column-major: feature `f` of row `i` at `f * stride + i`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a, E> {
    /// All values.
    pub values: &'a [E],
    /// Distance from one feature to the next: the padded number of rows.
    pub stride: usize,
}

/// Features that enter a sum and features that leave it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'a> {
    /// Entering.
    pub add: &'a [u32],
    /// Leaving.
    pub remove: &'a [u32],
}

/// A block of rows against a run of columns.
#[derive(Debug, Clone)]
pub(crate) struct Tile {
    /// The rows.
    pub rows: [u32; ROWS],
    /// The columns; both ends multiples of [`LANES`].
    pub columns: Range<usize>,
}

/// The value that sums start from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Init<'a, S> {
    /// Zero.
    Zero,
    /// Other sums, one row after the other.
    CopyFrom {
        /// The sums.
        sums: &'a [S],
        /// Distance from one row to the next.
        stride: usize,
    },
    /// The sums that stand where the new ones go.
    InPlace,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl<S> Init<'_, S> {
    /// The sums to start from and their stride, if any. Sums in place are read through the pointer they are written by.
    fn source(&self, to: (*mut S, usize)) -> Option<(*const S, usize)> {
        match *self {
            Self::Zero => None,
            Self::CopyFrom { sums: from, stride } => Some((from.as_ptr(), stride)),
            Self::InPlace => Some((to.0.cast_const(), to.1)),
        }
    }
}

/// An exact distance kernel: a type of value, a type of sum, and the difference that enters it.
pub(crate) trait Kernel: Send + Sync + 'static {
    /// A value.
    type Value: Copy + Send + Sync + Default + Into<f64> + 'static;
    /// A sum.
    type Sum: Lane;
    /// A change, in the form in which it is quickest to apply.
    type Packed<'a>: Sync;
    /// The error bound of 32-bit keys of its sums, where these fit.
    const SHORT: Option<ShortSums> = None;

    /// Prepares a change for all tiles.
    fn pack<'a>(
        isa: Isa,
        columns: Columns<'a, Self::Value>,
        change: Change<'a>,
    ) -> Self::Packed<'a>;

    /// `to = from + change` for the distances of a tile. `to` holds one row after the other, `to.1` apart.
    fn accumulate(
        isa: Isa,
        packed: &Self::Packed<'_>,
        tile: &Tile,
        from: Init<'_, Self::Sum>,
        to: (&mut [Self::Sum], usize),
    );
}

/// A sum that can become a key.
pub(crate) trait Lane:
    Copy + Default + Send + Sync + PartialOrd + std::fmt::Debug + 'static
{
    /// Greater than any sum.
    const MOST: Self;
    /// The sum as an integer.
    fn steps(self) -> u64;
    /// The base keys of sums.
    fn keys(isa: Isa, sums: &[Self], format: KeyFormat, to: &mut [f64]);
    /// The sums themselves where they have 32 bits.
    fn short(_sums: &[Self]) -> Option<&[u32]> {
        None
    }
    /// Finds the nearest of other classes and the farthest of the same class among one row's distances.
    fn separate(
        isa: Isa,
        sums: &[Self],
        classes: Classes<'_>,
        separations: &mut [Separation<Self>],
    ) -> Separation<Self>;
}

/// The class of a row and those of the columns its distances lead to; columns that do not count have none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Classes<'a> {
    /// Of the row.
    pub own: i32,
    /// Of the columns; negative where one does not count.
    pub others: &'a [i32],
}

/// The distance of a row to other classes and to its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Separation<S> {
    /// The distance to the nearest row of another class; [`Lane::MOST`] where there is none.
    pub other: S,
    /// The distance to the farthest row of the same class; 0 where there is none.
    pub same: S,
}

impl<S: Lane> Default for Separation<S> {
    fn default() -> Self {
        Self { other: S::MOST, same: S::default() }
    }
}

impl<S: Lane> Separation<S> {
    /// Takes in what was found elsewhere.
    #[inline]
    pub fn join(&mut self, found: Self) {
        self.other = if found.other < self.other { found.other } else { self.other };
        self.same = if found.same > self.same { found.same } else { self.same };
    }
}

/// |a - b| of whole numbers held in floats.
pub(crate) struct Manhattan;
/// (a - b)^2 of whole numbers held in floats.
pub(crate) struct Euclidean;

macro_rules! kernel {
    ($kernel:ty, $name:ident) => {
        impl Kernel for $kernel {
            type Value = f64;
            type Sum = f64;
            type Packed<'a> = (Columns<'a, f64>, Change<'a>);

            fn pack<'a>(_: Isa, columns: Columns<'a, f64>, change: Change<'a>) -> Self::Packed<'a> {
                (columns, change)
            }

            fn accumulate(
                isa: Isa,
                &(columns, change): &Self::Packed<'_>,
                tile: &Tile,
                from: Init<'_, f64>,
                to: (&mut [f64], usize),
            ) {
                check_features(columns, change);
                check_run(columns.stride, tile);
                check_accumulate(tile, &from, &to);
                kernels!(isa, $name(columns, change, tile, from, to))
            }
        }
    };
}

kernel!(Manhattan, manhattan);
kernel!(Euclidean, euclidean);

/// Refuses tiles outside the columns. Cancelled work ends here, within a subset: every sixteenth block of rows, about
/// every 10 to 100 µs.
fn check_run(stride: usize, tile: &Tile) {
    if (tile.rows[0] / ROWS as u32).is_multiple_of(16) {
        cancel::check();
    }
    assert!(tile.rows.iter().all(|&row| (row as usize) < stride));
    assert!(tile.columns.start.is_multiple_of(LANES) && tile.columns.end.is_multiple_of(LANES));
    assert!(tile.columns.start <= tile.columns.end && tile.columns.end <= stride);
}

fn check_features<E>(columns: Columns<'_, E>, change: Change<'_>) {
    let features = columns.values.len() / columns.stride;
    assert!(change.add.iter().chain(change.remove).all(|&f| (f as usize) < features));
}

/// Refuses strips of sums that are too short for a tile.
fn check_accumulate<S>(tile: &Tile, from: &Init<'_, S>, to: &(&mut [S], usize)) {
    check_strip(tile, to.0.len(), to.1);
    if let Init::CopyFrom { sums, stride } = from {
        check_strip(tile, sums.len(), *stride);
    }
}

fn check_strip(tile: &Tile, len: usize, stride: usize) {
    assert!(tile.columns.len() <= stride && (ROWS - 1) * stride + tile.columns.len() <= len);
}

macro_rules! lane {
    ($sum:ty, $most:expr, $steps:expr $(, $short:expr)?) => {
        impl Lane for $sum {
            const MOST: Self = $most;

            fn separate(
                isa: Isa,
                sums: &[Self],
                classes: Classes<'_>,
                separations: &mut [Separation<Self>],
            ) -> Separation<Self> {
                kernels!(isa, separate(sums, classes, separations))
            }

            fn steps(self) -> u64 {
                $steps(self)
            }

            $(fn short(sums: &[Self]) -> Option<&[u32]> {
                $short(sums)
            })?

            fn keys(isa: Isa, sums: &[Self], format: KeyFormat, to: &mut [f64]) {
                assert_eq!(sums.len(), to.len());
                kernels!(isa, keys(sums, format, to))
            }
        }
    };
}

lane!(u32, u32::MAX, u64::from, Some);
// Added to 2^52, a whole number below it stands in the low bits: a plain cast would keep vectors from being used.
lane!(f64, f64::INFINITY, |sum: f64| (sum + TWO_52).to_bits() - TWO_52.to_bits());

const TWO_52: f64 = (1u64 << 52) as f64;

macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*)) => {
        $(#[$doc])*
        pub(crate) fn $name(isa: Isa, $($arg: $type),*) {
            cancel::check();
            kernels!(isa, $name($($arg),*));
        }
    };
}

dispatched!(
    /// Adds |x - own| * weight to the sum of each row. Rows do not mix, so the bits are the same at any vector width.
    add_absolute(sums: &mut [f64], column: &[f64], own: f64, weight: f64)
);
dispatched!(
    /// Adds ((x - own) * weight)^2 to the sum of each row.
    add_squares(sums: &mut [f64], column: &[f64], own: f64, weight: f64)
);
dispatched!(
    /// The dot product of a vector with each of some rows, `stride` apart. Lengths are multiples of 4; the partial sums
    /// are the same ones at any vector width.
    dot_rows(vector: &[f64], rows: &[f64], stride: usize, dots: &mut [f64])
);
dispatched!(
    /// Subtracts each of some rows, `stride` apart, times its factor from a vector, one row after the other. Lengths are
    /// multiples of 4. Places do not mix, so the bits are the same at any vector width.
    subtract_rows(target: &mut [f64], rows: &[f64], stride: usize, factors: &[f64])
);
dispatched!(
    /// Solves a symmetric positive definite system; see `dense`.
    solve(rows: &mut [f64], stride: usize, upper: &mut [f64], inverses: &mut [f64])
);
dispatched!(
    /// Substitutes forward in right-hand sides by the factor that [`solve`] leaves.
    substitute(upper: (&[f64], usize), sides: &mut [f64], width: usize)
);
dispatched!(
    /// Sums over some rows, `rows.1` apart, times their weights for each of some vectors, and of squares; see `dense`.
    fits(rows: (&[f64], usize), chosen: &[usize], weights: (&[f64], usize), fits: &mut [f64], squares: &mut [f64])
);
dispatched!(
    /// Adds tables of log-likelihoods, each as long as the sums.
    add_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>])
);
dispatched!(
    /// Takes tables of log-likelihoods out again.
    remove_tables(sums: &mut [i64], tables: &[Cow<'_, [i64]>])
);
dispatched!(
    /// The class with the greatest sum for each case, the smallest of equals. `best` holds the sums of class 0 and becomes
    /// the greatest; `others` holds those of the other classes, class after class.
    greatest(best: &mut [i64], others: &[i64], classes: &mut [u32])
);
dispatched!(
    /// Puts two features into a pair, centered, and adds their squares.
    join_squares(two: Two<'_>, to: PairPlace<'_>, norms: &mut [i64])
);
dispatched!(
    /// Puts two features into a pair, centered, and adds their values, modulo 2^32.
    join_sums(two: Two<'_>, to: PairPlace<'_>, norms: &mut [u32])
);
dispatched!(
    /// Puts two features without their low bits into a pair, and adds their squares, modulo 2^32.
    join_coarse(two: Two<'_>, drop: u32, to: PairPlace<'_>, norms: &mut [u32])
);

#[cfg(test)]
mod tests;
