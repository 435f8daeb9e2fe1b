//! Differences of 16-bit values, two features at a time.
//!
//! A distance is a sum over both rows' own terms less twice a sum over the pair of rows: a^2 + b^2 - 2 a b, and
//! a + b - 2 min(a, b). The own terms are added up once, when a change is packed; the kernels do the rest.

use super::{
    Change, Columns, Init, Isa, Kernel, LANES, ShortSums, Tile, check_accumulate, check_run,
    join_coarse, join_squares, join_sums, kernels,
};

/// (a - b)^2 of 16-bit values: a^2 + b^2 - 2 a b.
pub struct Euclidean16;

/// |a - b| of 16-bit values in 32-bit sums: a + b - 2 min(a, b).
pub struct Manhattan16;

/// (a - b)^2 of 16-bit values stripped of `LOST` low bits, in 32-bit sums.
///
/// Sums are exact modulo 2^32: the caller sees to it that none is greater.
pub struct CoarseEuclidean<const LOST: u32>;

macro_rules! kernel {
    ([$($generics:tt)*] $kernel:ty, $norm:ty, $sum:ty, $name:ident, $join:expr $(, $short:expr)?) => {
        impl<$($generics)*> Kernel for $kernel {
            type Value = u16;
            type Sum = $sum;
            type Packed<'a> = Pairs<$norm>;
            $(const SHORT: Option<ShortSums> = Some($short);)?

            fn pack<'a>(
                isa: Isa,
                columns: Columns<'a, u16>,
                change: Change<'a>,
            ) -> Pairs<$norm> {
                Pairs::new(columns, change, |two, to, norms| $join(isa, two, to, norms), <$norm>::wrapping_sub)
            }

            fn accumulate(
                isa: Isa,
                pairs: &Pairs<$norm>,
                tile: &Tile,
                from: Init<'_, $sum>,
                to: (&mut [$sum], usize),
            ) {
                check_run(pairs.stride, tile);
                check_accumulate(tile, &from, &to);
                kernels!(isa, $name(pairs, tile, from, to));
            }
        }
    };
}

kernel!([] Euclidean16, i64, f64, euclidean16, join_squares);
kernel!(
    [] Manhattan16,
    u32,
    u32,
    manhattan16,
    join_sums,
    ShortSums { farthest: u16::MAX as u64, lost: 0, is_squared: false }
);
kernel!(
    [const LOST: u32] CoarseEuclidean<LOST>,
    u32,
    u32,
    coarse_squares,
    |isa, two, to, norms| {
        const { assert!(LOST >= 1, "16-bit multiplications are signed") };
        join_coarse(isa, two, LOST, to, norms);
    },
    ShortSums { farthest: ((u16::MAX >> LOST) as u64).pow(2), lost: LOST, is_squared: true }
);

/// A change, packed: features two by two, and the own terms of each row.
#[derive(Debug)]
pub struct Pairs<N> {
    pub(super) stride: usize,
    pub(super) add: Panels,
    pub(super) remove: Panels,
    /// For each row the sum, of squares or of values, of the features that come in less that of those that go out.
    pub(super) norms: Vec<N>,
}

/// Features two by two: for each pair and row one integer that holds both values in 16 bits each.
///
/// Panel after panel of [`LANES`] columns, each holding its pairs one after the other: a kernel that sums over all pairs
/// reads memory in order. Feature after feature, each of its loads would be from another page of memory.
#[derive(Debug)]
pub struct Panels {
    values: Vec<u32>,
    /// The number of pairs.
    pub count: usize,
    /// Distance from one panel to the next.
    step: usize,
}

/// A place for the values of one pair: they begin here, [`LANES`] of them at every `step`.
pub struct PairPlace<'a> {
    pub values: &'a mut [u32],
    pub step: usize,
}

impl Panels {
    /// The values of all pairs in the panel of this column, [`LANES`] of each pair, from the column on: its first value is
    /// that of the column in pair 0, and the values of the next pair stand [`LANES`] further on.
    ///
    /// There are `count` * [`LANES`] - column % [`LANES`] of them; none where there are no pairs.
    #[inline]
    pub fn values_at(&self, column: usize) -> &[u32] {
        let (panel, lane) = (column / LANES, column % LANES);
        let panel = &self.values[panel * self.step..][..self.count * LANES];
        panel.get(lane..).unwrap_or_default()
    }
}

/// Two features, which share a pair.
pub type Two<'a> = (&'a [u16], &'a [u16]);

impl<N: Copy + Default> Pairs<N> {
    /// Joins features by `join`, which adds to the norms.
    fn new(
        columns: Columns<'_, u16>,
        change: Change<'_>,
        join: impl Fn(Two<'_>, PairPlace<'_>, &mut [N]),
        subtract: impl Fn(N, N) -> N,
    ) -> Self {
        let stride = columns.stride;
        let center = if change.add.len() % 2 + change.remove.len() % 2 > 0 {
            vec![CENTER; stride]
        } else {
            Vec::new()
        };
        let joined = |features: &[u32]| {
            let mut norms = vec![N::default(); stride];
            let count = features.len().div_ceil(2);
            // Panels an odd number of cache lines apart are spread over all sets of a cache. At a power of two they would
            // share one set.
            let step = if count == 0 { 0 } else { (count | 1) * LANES };
            let mut values = vec![0; stride / LANES * step];
            for (pair, two) in features.chunks(2).enumerate() {
                let column = |feature: u32| &columns.values[feature as usize * stride..][..stride];
                let two = match *two {
                    [a, b] => (column(a), column(b)),
                    [a] => (column(a), &center[..]),
                    _ => continue,
                };
                join(two, PairPlace { values: &mut values[pair * LANES..], step }, &mut norms);
            }
            (Panels { values, count, step }, norms)
        };
        let (add, mut norms) = joined(change.add);
        let (remove, outgoing) = joined(change.remove);
        norms.iter_mut().zip(outgoing).for_each(|(norm, out)| *norm = subtract(*norm, out));
        Self { stride, add, remove, norms }
    }
}

/// The value that centers to 0. Where values are not centered, the feature that fills up a pair is the same for all rows.
pub(super) const CENTER: u16 = 0x8000;
