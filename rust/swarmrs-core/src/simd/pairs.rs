//! Squared differences of 16-bit values, two features to a multiplication.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::{Change, Columns, Init, Isa, Kernel, Tile, check_run, check_strip, join_two, scalar};

/// (a - b)^2 of 16-bit values: a^2 + b^2 - 2 a b.
pub struct Euclidean16;

impl Kernel for Euclidean16 {
    type Value = u16;
    type Sum = f64;
    type Packed<'a> = Pairs;

    fn pack<'a>(isa: Isa, columns: Columns<'a, u16>, change: Change<'a>) -> Pairs {
        Pairs::new(isa, columns, change)
    }

    fn accumulate(
        isa: Isa,
        pairs: &Pairs,
        tile: &Tile,
        from: Init<'_, f64>,
        to: (&mut [f64], usize),
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
            // the head of `avx2.rs` requires: `check_tile`, `check_run` and `check_strip` assert them.
            Isa::Avx2(_) => unsafe { avx2::euclidean16(pairs, tile, from, to) },
            _ => scalar::euclidean16(pairs, tile, from, to),
        }
    }
}

/// Features two by two: for each pair and row one integer that holds both values, centered to fit 16 signed bits.
#[derive(Debug)]
pub struct Pairs {
    pub(super) stride: usize,
    pub(super) add: Vec<u32>,
    pub(super) remove: Vec<u32>,
    /// For each row the sum of the squares that come in less those that go out.
    pub(super) norms: Vec<i64>,
}

impl Pairs {
    fn new(isa: Isa, columns: Columns<'_, u16>, change: Change<'_>) -> Self {
        let stride = columns.stride;
        let (mut incoming, mut outgoing) = (vec![0; stride], vec![0; stride]);
        let join = |features: &[u32], norms: &mut [i64]| {
            let mut joined = vec![0; features.len().div_ceil(2) * stride];
            for (pair, two) in joined.chunks_exact_mut(stride).zip(features.chunks(2)) {
                let column = |feature: u32| &columns.values[feature as usize * stride..][..stride];
                match *two {
                    [a, b] => join_two(isa, column(a), column(b), pair, norms),
                    [a] => join_two(isa, column(a), &vec![CENTER; stride], pair, norms),
                    _ => {}
                }
            }
            joined
        };
        let add = join(change.add, &mut incoming);
        let remove = join(change.remove, &mut outgoing);
        let norms = incoming.iter().zip(&outgoing).map(|(a, b)| a - b).collect();
        Self { stride, add, remove, norms }
    }
}

/// The value that centers to 0.
pub(super) const CENTER: u16 = 0x8000;
