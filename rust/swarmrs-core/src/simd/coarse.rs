//! Squared differences of values without their low bits, two features to a multiplication, in 32-bit sums.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::{
    Change, Columns, Init, Isa, Kernel, ShortSums, Tile, check_run, check_strip, join_coarse,
    scalar, square_coarse,
};

/// (a - b)^2 of 16-bit values stripped of `LOST` low bits.
///
/// Sums are exact modulo 2^32: the caller sees to it that none is greater.
pub struct CoarseEuclidean<const LOST: u32>;

impl<const LOST: u32> Kernel for CoarseEuclidean<LOST> {
    type Value = u16;
    type Sum = u32;
    type Packed<'a> = CoarsePairs;
    const SHORT: Option<ShortSums> = Some(ShortSums {
        farthest: ((u16::MAX >> LOST) as u64).pow(2),
        lost: LOST,
        is_squared: true,
    });

    fn pack<'a>(isa: Isa, columns: Columns<'a, u16>, change: Change<'a>) -> CoarsePairs {
        const { assert!(LOST >= 2, "twice a value and its sign need two bits") };
        CoarsePairs::new(isa, columns, change, LOST)
    }

    fn accumulate(
        isa: Isa,
        pairs: &CoarsePairs,
        tile: &Tile,
        from: Init<'_, u32>,
        to: (&mut [u32], usize),
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
            Isa::Avx2(_) => unsafe { avx2::coarse_squares(pairs, tile, from, to) },
            _ => scalar::coarse_squares(pairs, tile, from, to),
        }
    }
}

/// Features two by two: for each pair and row one integer that holds both values.
#[derive(Debug)]
pub struct CoarsePairs {
    pub(super) stride: usize,
    pub(super) add: Coarse,
    pub(super) remove: Coarse,
    /// For each row the sum of the squares that come in less those that go out, modulo 2^32.
    pub(super) norms: Vec<u32>,
}

/// Pairs of values, and -2 times them.
#[derive(Debug)]
pub struct Coarse {
    pub(super) values: Vec<u32>,
    pub(super) twice: Vec<u32>,
}

impl CoarsePairs {
    fn new(isa: Isa, columns: Columns<'_, u16>, change: Change<'_>, lost: u32) -> Self {
        let stride = columns.stride;
        let (mut norms, mut outgoing) = (vec![0; stride], vec![0u32; stride]);
        let join = |features: &[u32], norms: &mut [u32]| {
            let mut values = vec![0; features.len().div_ceil(2) * stride];
            let mut twice = vec![0; values.len()];
            let column = |feature: u32| &columns.values[feature as usize * stride..][..stride];
            let places = values.chunks_exact_mut(stride).zip(twice.chunks_exact_mut(stride));
            for ((values, twice), two) in places.zip(features.chunks(2)) {
                match *two {
                    [a, b] => join_coarse(isa, column(a), column(b), lost, values),
                    [a] => join_coarse(isa, column(a), &vec![0; stride], lost, values),
                    _ => {}
                }
                square_coarse(isa, values, twice, norms);
            }
            Coarse { values, twice }
        };
        let add = join(change.add, &mut norms);
        let remove = join(change.remove, &mut outgoing);
        norms.iter_mut().zip(outgoing).for_each(|(norm, out)| *norm = norm.wrapping_sub(out));
        Self { stride, add, remove, norms }
    }
}
