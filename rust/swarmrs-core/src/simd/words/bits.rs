//! Counting bits, in vectors where the machine has them.

use crate::simd::Isa;

/// Words counted between two looks at the limit.
const RUN: usize = 32;

/// The Hamming distance of two bit strings, where it is less than `limit`.
pub fn distance_below(isa: Isa, a: &[u64], b: &[u64], limit: usize) -> Option<usize> {
    let mut distance = 0;
    for (a, b) in a.chunks(RUN).zip(b.chunks(RUN)) {
        distance += differing(isa, a, b);
        if distance >= limit {
            return None;
        }
    }
    (distance < limit).then_some(distance)
}

fn differing(isa: Isa, a: &[u64], b: &[u64]) -> usize {
    match isa {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        // SAFETY: `HasAvx2` or `HasAvx512` proves that the processor has the instructions, and the body is safe code.
        Isa::Avx2(_) | Isa::Avx512(_) => unsafe { crate::simd::avx2::differing(a, b) },
        _ => count_differing(a, b),
    }
}

/// The Hamming distance, by the instructions the caller is compiled for.
#[allow(
    clippy::inline_always,
    reason = "only inside the caller is it compiled for its instructions"
)]
#[inline(always)]
pub fn count_differing(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_are_those_of_a_plain_count_and_end_at_the_limit(
            words in proptest::collection::vec(any::<(u64, u64)>(), 0..100),
            limit in 0usize..4000,
        ) {
            let (a, b): (Vec<u64>, Vec<u64>) = words.into_iter().unzip();
            let bits = |a: u64, b: u64| (0..64).filter(|at| (a ^ b) >> at & 1 == 1).count();
            let all: usize = a.iter().zip(&b).map(|(&a, &b)| bits(a, b)).sum();
            for isa in [Isa::Scalar, Isa::best()] {
                prop_assert_eq!(distance_below(isa, &a, &b, limit), (all < limit).then_some(all));
            }
        }
    }
}
