//! Sums of floats in a fixed order, in lanes that the compiler vectorizes.
//!
//! Element i is added to lane i mod 8, then the lanes are added in order: the result has the same bits on every platform.

/// The number of partial sums.
const LANES: usize = 8;

/// The sum of `term(x)` over `values`.
pub fn sum_of(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += term(x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += term(x);
    }
    lanes.iter().sum()
}

/// The sum of the products of two slices of one length.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for ((lane, x), y) in lanes.iter_mut().zip(a).zip(b) {
            *lane += x * y;
        }
    }
    for (lane, (x, y)) in lanes.iter_mut().zip(rest) {
        *lane += x * y;
    }
    lanes.iter().sum()
}

/// The mean of values and the deviations from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The mean, rounded.
    pub mean: f64,
    /// The rounding error of `mean`, exact mean - `mean`: at most about half a unit in the last place.
    pub rest: f64,
    /// The sum of the squared deviations from the exact mean; 0 if and only if all values are equal.
    pub squares: f64,
}

impl Moments {
    /// The moments of at least one value, with a range of 0 or from 2^-400 to 2^400.
    ///
    /// There is no cancellation. Differences of values that are far from 0 and near each other, such as 1e9 plus small noise,
    /// are exact (Sterbenz), and only differences are summed: first from the first value, then from the mean. The squares are
    /// corrected for the rounding error of the mean.
    pub fn of(values: &[f64]) -> Self {
        let (first, n) = (values[0], values.len() as f64);
        let mean = first + sum_of(values, |x| x - first) / n;
        let rest = sum_of(values, |x| x - mean) / n;
        let squares = sum_of(values, |x| (x - mean) * (x - mean)) - n * rest * rest;
        Self { mean, rest, squares: squares.max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_of_whole_numbers_are_exact(
            pairs in proptest::collection::vec((-1000i32..1000, -1000i32..1000), 0..50),
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) =
                pairs.iter().map(|&(a, b)| (f64::from(a), f64::from(b))).unzip();
            let sum: i32 = pairs.iter().map(|(a, _)| a).sum();
            let products: i32 = pairs.iter().map(|(a, b)| a * b).sum();
            prop_assert_eq!(sum_of(&a, |x| x), f64::from(sum));
            prop_assert_eq!(dot(&a, &b), f64::from(products));
        }

        #[test]
        fn an_offset_changes_no_deviation(
            noise in proptest::collection::vec(0i32..64, 1..80),
            exponent in 0i32..47,
        ) {
            // Whole numbers below 2^53, of which every difference is exact.
            let offset = libm::ldexp(1.0, exponent);
            let values: Vec<f64> = noise.iter().map(|&x| offset + f64::from(x)).collect();
            let sum_of = |term: fn(i32) -> i32| f64::from(noise.iter().map(|&x| term(x)).sum::<i32>());
            let (n, sum) = (noise.len() as f64, sum_of(|x| x));
            let exact = (n * sum_of(|x| x * x) - sum * sum) / n;
            let found = Moments::of(&values);
            prop_assert!((found.squares - exact).abs() <= 1e-13 * exact);
            let mean = (found.mean - offset) + found.rest;
            prop_assert!((mean - sum / n).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_values_have_no_deviation() {
        for value in [0.1, -1.0 / 3.0, 1e300, 5e-324] {
            let found = Moments::of(&[value; 13]);
            assert_eq!((found.mean, found.rest, found.squares), (value, 0.0, 0.0));
        }
        let next = f64::from_bits(0.1f64.to_bits() + 1);
        assert!(Moments::of(&[0.1, 0.1, next, 0.1, 0.1, 0.1]).squares > 0.0);
    }
}
