//! Differences of 16-bit values, two features at a time.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::{
    Change, Columns, Init, Isa, Kernel, ShortSums, Tile, check_run, check_strip, join_squares,
    join_sums, scalar,
};

/// (a - b)^2 of 16-bit values: a^2 + b^2 - 2 a b.
pub struct Euclidean16;

/// |a - b| of 16-bit values in 32-bit sums: a + b - 2 min(a, b).
pub struct Manhattan16;

macro_rules! kernel {
    ($kernel:ty, $norm:ty, $sum:ty, $name:ident, $join:ident $(, $short:expr)?) => {
        impl Kernel for $kernel {
            type Value = u16;
            type Sum = $sum;
            type Packed<'a> = Pairs<$norm>;
            $(const SHORT: Option<ShortSums> = Some($short);)?

            fn pack<'a>(
                isa: Isa,
                columns: Columns<'a, u16>,
                change: Change<'a>,
            ) -> Pairs<$norm> {
                let join = |a: &[u16], b: &[u16], pair: &mut [u32], norms: &mut [$norm]| {
                    $join(isa, a, b, pair, norms);
                };
                Pairs::new(columns, change, join, <$norm>::wrapping_sub)
            }

            fn accumulate(
                isa: Isa,
                pairs: &Pairs<$norm>,
                tile: &Tile,
                from: Init<'_, $sum>,
                to: (&mut [$sum], usize),
            ) {
                check_run(pairs.stride, tile);
                check_strip(tile, to.0.len(), to.1);
                if let Init::CopyFrom { sums: from, stride } = from {
                    check_strip(tile, from.len(), stride);
                }
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    #[allow(unsafe_code)]
                    // SAFETY: `Detected` proves that the processor has the instructions, and the lengths are those that
                    // the head of `avx2.rs` requires: `check_run` and `check_strip` assert them.
                    Isa::Avx2(_) => unsafe { avx2::$name(pairs, tile, from, to) },
                    _ => scalar::$name(pairs, tile, from, to),
                }
            }
        }
    };
}

kernel!(Euclidean16, i64, f64, euclidean16, join_squares);
kernel!(
    Manhattan16,
    i32,
    u32,
    manhattan16,
    join_sums,
    ShortSums { farthest: u16::MAX as u64, lost: 0, is_squared: false }
);

/// Features two by two: for each pair and row one integer that holds both values, centered to fit 16 signed bits.
#[derive(Debug)]
pub struct Pairs<N> {
    pub(super) stride: usize,
    pub(super) add: Vec<u32>,
    pub(super) remove: Vec<u32>,
    /// For each row the sum, of squares or of values, of the features that come in less that of those that go out.
    pub(super) norms: Vec<N>,
}

impl<N: Copy + Default> Pairs<N> {
    /// Joins features by `join`, which adds to the norms.
    fn new(
        columns: Columns<'_, u16>,
        change: Change<'_>,
        join: impl Fn(&[u16], &[u16], &mut [u32], &mut [N]),
        subtract: impl Fn(N, N) -> N,
    ) -> Self {
        let stride = columns.stride;
        let joined = |features: &[u32]| {
            let mut norms = vec![N::default(); stride];
            let mut joined = vec![0; features.len().div_ceil(2) * stride];
            for (pair, two) in joined.chunks_exact_mut(stride).zip(features.chunks(2)) {
                let column = |feature: u32| &columns.values[feature as usize * stride..][..stride];
                match *two {
                    [a, b] => join(column(a), column(b), pair, &mut norms),
                    [a] => join(column(a), &vec![CENTER; stride], pair, &mut norms),
                    _ => {}
                }
            }
            (joined, norms)
        };
        let (add, mut norms) = joined(change.add);
        let (remove, outgoing) = joined(change.remove);
        norms.iter_mut().zip(outgoing).for_each(|(norm, out)| *norm = subtract(*norm, out));
        Self { stride, add, remove, norms }
    }
}

/// The value that centers to 0.
pub(super) const CENTER: u16 = 0x8000;
