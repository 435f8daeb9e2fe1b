//! Scaling and quantization: values as integers, in quantization steps, so that sums of differences are exact.
//!
//! Scaling divides a feature by its *unit*: its range, its standard deviation, or 1. An offset cancels in every
//! difference, so the scaled difference of two values a and b is |a - b| / unit. A quantized value is
//! `round((x - low) / unit * resolution)` with one resolution, in steps per unit, for all features.
//!
//! Quantized distances order most neighbors. The error of a value is at most half a step, so the error of a scaled
//! difference is at most one step, and 0 for features that are [`Fidelity::Exact`]. If this bound does not decide the order
//! of two neighbors, their float64 distances do (see `evaluate::knn`). So the resolution affects the speed, not the result.

use crate::base::cancel;
use serde::{Deserialize, Serialize};

/// The scaling of features for distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Each feature divided by its range.
    Minmax,
    /// Each feature divided by its standard deviation.
    Standard,
    /// No scaling.
    None,
}

/// Quantized values, feature after feature.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantized {
    /// At most 65 535 steps over the range of a feature.
    Narrow(Vec<u16>),
    /// At most 2^30 steps over the widest range.
    Wide(Vec<i32>),
}

/// The fidelity of a quantized feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fidelity {
    /// Every value is a whole number of steps: differences have no quantization error.
    Exact,
    /// Distinct values have distinct quantized values: a quantized difference of 0 is a difference of 0.
    Injective,
    /// Some distinct values have the same quantized value.
    Merging,
}

/// Scaling and quantization of one feature.
#[derive(Debug, Clone, Copy)]
pub struct Quantizer {
    /// Values are multiplied by 2^exponent first; 0 unless the range is outside 2^-400..2^400, where squares or reciprocals
    /// could overflow.
    exponent: i32,
    low: f64,
    high: f64,
    /// Infinite for a constant feature, whose scaled values thereby are 0.
    unit: f64,
    /// The fidelity of its quantized values.
    pub fidelity: Fidelity,
}

impl Quantizer {
    /// Multiplies a value by the power of two that all values of this feature are multiplied by.
    pub fn normalize(&self, x: f64) -> f64 {
        if self.exponent == 0 { x } else { libm::ldexp(x, self.exponent) }
    }

    /// The scaled value of a normalized one, relative to the minimum of the feature.
    pub fn scale(&self, x: f64) -> f64 {
        (x - self.low) / self.unit
    }

    /// The factor from a difference of normalized values to a scaled difference.
    pub fn weight(&self) -> f64 {
        1.0 / self.unit
    }

    fn covers(&self, x: f64) -> bool {
        (self.low..=self.high).contains(&x)
    }

    /// The quantized value of a normalized one that is not below the minimum, so that truncation rounds down.
    fn steps(&self, x: f64, resolution: f64) -> i32 {
        (self.scale(x) * resolution + 0.5) as i32
    }
}

/// A quantized table.
#[derive(Debug, Clone)]
pub struct Quantization {
    /// The quantized values.
    pub values: Quantized,
    /// The scaling and quantization of each feature.
    pub quantizers: Vec<Quantizer>,
    /// Steps per unit, for all features.
    pub resolution: f64,
    /// Features with most values within a thousandth of the range; see `is_squeezed`.
    pub squeezed: Vec<usize>,
}

/// The most steps that 16 bits hold.
const NARROW_STEPS: u64 = 65_535;
/// The most steps of a wide table over its widest range.
const WIDE_STEPS: f64 = (1 << 30) as f64;
/// Exponents of ranges up to this size need no normalization: squares and reciprocals of 2^±400 are finite.
const SAFE_EXPONENT: i32 = 400;
/// Tolerance, relative to the range, for a value to count as a whole number of steps: decimal fractions are not exact in
/// binary. With 65 535 steps over the range it is 2^-30 steps, so the square of a difference is off by less than
/// 2 * 65535 * 2^-30 < 2^-12.
const ROUNDING: f64 = 1.0 / (1u64 << 30) as f64 / NARROW_STEPS as f64;

impl Quantization {
    /// Normalizes, scales and quantizes columns of `n` finite values; they are normalized in place.
    pub fn new(columns: &mut [f64], n: usize, scale: Scale) -> Self {
        let exponents = normalize(columns, n, scale);
        let sorted: Vec<Vec<f64>> = columns.chunks_exact(n).map(sorted_distinct).collect();
        let quantizers: Vec<Quantizer> = columns
            .chunks_exact(n)
            .zip(&sorted)
            .zip(exponents)
            .map(|((column, sorted), exponent)| {
                let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
                let unit = match scale {
                    _ if low == high => f64::INFINITY,
                    Scale::Minmax => high - low,
                    Scale::Standard => deviation(column, low, high),
                    Scale::None => 1.0,
                };
                Quantizer { exponent, low, high, unit, fidelity: Fidelity::Exact }
            })
            .collect();
        let lattice = if scale == Scale::Minmax { common_lattice(&sorted) } else { 1 };
        let narrow = (scale == Scale::Minmax)
            .then(|| narrow_resolution(lattice, columns.len() / n, n))
            .filter(|&resolution| {
                let mut columns = sorted.iter().zip(&quantizers);
                !columns.any(|(sorted, q)| is_crowded(sorted, q, resolution))
            });
        let is_narrow = narrow.is_some();
        let resolution = narrow.unwrap_or_else(|| wide_resolution(&quantizers, lattice, n));
        let squeezed = (0..sorted.len()).filter(|&feature| is_squeezed(&sorted[feature])).collect();
        let mut new =
            Self { values: Quantized::Wide(Vec::new()), quantizers, resolution, squeezed };
        for (quantizer, sorted) in new.quantizers.iter_mut().zip(&sorted) {
            quantizer.fidelity = fidelity(sorted, quantizer, resolution);
        }
        new.values = new.quantize(columns, n, is_narrow);
        new
    }

    fn quantize(&self, columns: &[f64], n: usize, is_narrow: bool) -> Quantized {
        let steps = || {
            let columns = columns.chunks_exact(n).zip(&self.quantizers);
            columns.flat_map(|(column, quantizer)| {
                column.iter().map(|&x| quantizer.steps(x, self.resolution))
            })
        };
        if is_narrow {
            Quantized::Narrow(steps().map(|steps| steps as u16).collect())
        } else {
            Quantized::Wide(steps().collect())
        }
    }

    /// Quantizes other rows of the same features, `n` normalized values per column, with the same units.
    #[must_use]
    pub fn of_rows(&self, columns: &[f64], n: usize) -> Self {
        let mut quantizers = self.quantizers.clone();
        let mut is_narrow = matches!(self.values, Quantized::Narrow(_));
        for (column, quantizer) in columns.chunks_exact(n).zip(&mut quantizers) {
            is_narrow &= column.iter().all(|&x| quantizer.covers(x));
            let (low, high) = bounds(column);
            (quantizer.low, quantizer.high) = (quantizer.low.min(low), quantizer.high.max(high));
        }
        let resolution =
            if is_narrow { self.resolution } else { wide_resolution(&quantizers, 1, n) };
        for (column, quantizer) in columns.chunks_exact(n).zip(&mut quantizers) {
            quantizer.fidelity = fidelity(&sorted_distinct(column), quantizer, resolution);
        }
        let mut new = Self {
            values: Quantized::Wide(Vec::new()),
            quantizers,
            resolution,
            squeezed: self.squeezed.clone(),
        };
        new.values = new.quantize(columns, n, is_narrow);
        new
    }
}

/// Multiplies columns by powers of two where their ranges need it, and returns the exponents.
fn normalize(columns: &mut [f64], n: usize, scale: Scale) -> Vec<i32> {
    let exponent = |column: &[f64]| {
        let (low, high) = bounds(column);
        match high - low {
            0.0 => 0,
            // Halving both bounds keeps the range finite if it exceeds the largest float.
            range if range.is_infinite() => libm::ilogb(high / 2.0 - low / 2.0) + 1,
            range => libm::ilogb(range),
        }
    };
    let needed = |exponent: i32| if exponent.abs() > SAFE_EXPONENT { -exponent } else { 0 };
    let mut exponents: Vec<i32> = columns.chunks_exact(n).map(exponent).collect();
    if scale == Scale::None {
        // Unscaled features must keep their ratio, so they share the factor of the widest one.
        let of_varying = columns.chunks_exact(n).zip(&exponents).filter(|(column, _)| {
            let (low, high) = bounds(column);
            low < high
        });
        if let Some(widest) = of_varying.map(|(_, &exponent)| exponent).max() {
            exponents.fill(widest);
        }
    }
    for (column, exponent) in columns.chunks_exact_mut(n).zip(&mut exponents) {
        *exponent = needed(*exponent);
        if *exponent != 0 {
            for x in column {
                *x = libm::ldexp(*x, *exponent);
            }
        }
    }
    exponents
}

/// The minimum and the maximum.
pub(crate) fn bounds(column: &[f64]) -> (f64, f64) {
    column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)))
}

fn sorted_distinct(column: &[f64]) -> Vec<f64> {
    cancel::check();
    let mut sorted = column.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup_by(|a, b| a == b);
    sorted
}

/// The population standard deviation, computed relative to the range so that squares cannot overflow; NaN for a constant
/// column.
pub(crate) fn deviation(column: &[f64], low: f64, high: f64) -> f64 {
    let (n, range) = (column.len() as f64, high - low);
    let mean = column.iter().map(|x| (x - low) / range).sum::<f64>() / n;
    let squares = column.iter().map(|x| ((x - low) / range - mean).powi(2)).sum::<f64>();
    range * (squares / n).sqrt()
}

/// The number of equal steps over the range of a feature such that all values are whole numbers of steps, if it fits
/// 16 bits.
fn lattice(sorted: &[f64]) -> Option<u64> {
    let range = sorted[sorted.len() - 1] - sorted[0];
    let least_step = range / (NARROW_STEPS as f64 + 1.0);
    let mut divisor = range;
    for pair in sorted.windows(2) {
        // Euclid's algorithm on floats; remainders up to range * 1e-9 are rounding and count as 0.
        let mut remainder = pair[1] - pair[0];
        while remainder > range * 1e-9 {
            if remainder < least_step {
                return None;
            }
            let next = (divisor - (divisor / remainder).round() * remainder).abs();
            (divisor, remainder) = (remainder, next);
        }
    }
    let steps = (range / divisor).round();
    (steps >= 1.0).then_some(steps as u64)
}

/// A common multiple of the most frequent lattices, as many as fit 16 bits: the values of their features are whole numbers
/// of steps of this lattice.
fn common_lattice(sorted: &[Vec<f64>]) -> u64 {
    let varying = sorted.iter().filter(|sorted| sorted.len() > 1);
    let mut lattices: Vec<u64> = varying.filter_map(|sorted| lattice(sorted)).collect();
    lattices.sort_unstable();
    let mut counted: Vec<(usize, u64)> =
        lattices.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
    counted.sort_by_key(|&(count, lattice)| (std::cmp::Reverse(count), lattice));
    counted.into_iter().fold(1, |common, (_, lattice)| {
        let both = common / gcd(common, lattice) * lattice;
        if both <= NARROW_STEPS { both } else { common }
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The largest resolution that fits 16 bits and has exact distance sums, a multiple of `lattice` if possible.
fn narrow_resolution(lattice: u64, n_features: usize, n: usize) -> f64 {
    let max_steps = (exact_sum_limit(n) / n_features as f64).sqrt() - 1.0;
    let max_steps = (max_steps as u64).clamp(1, NARROW_STEPS);
    match max_steps / lattice {
        0 => max_steps as f64,
        times => (times * lattice) as f64,
    }
}

/// The largest resolution for which every squared distance, and its key with the row index in the low bits, is an exact
/// integer: a power of two, which keeps whole numbers whole, or a multiple of `lattice`.
fn wide_resolution(quantizers: &[Quantizer], lattice: u64, n: usize) -> f64 {
    let ranges: Vec<f64> = quantizers.iter().map(|q| q.scale(q.high)).collect();
    let widest = ranges.iter().copied().fold(0.0, f64::max);
    if widest == 0.0 {
        return 1.0;
    }
    let limit = exact_sum_limit(n);
    let fits = |resolution: f64| {
        let squares: f64 = ranges.iter().map(|range| (range * resolution + 1.0).powi(2)).sum();
        widest * resolution <= WIDE_STEPS && squares < limit
    };
    // Normalized ranges are below 2^401, and 2^20 features with one step each have exact sums, so the loop ends.
    let mut exponent = 30 - libm::ilogb(widest);
    while !fits(libm::ldexp(1.0, exponent)) && exponent > -1000 {
        exponent -= 1;
    }
    let resolution = libm::ldexp(1.0, exponent);
    if (lattice as f64) <= resolution {
        (resolution / lattice as f64).floor() * lattice as f64
    } else {
        resolution
    }
}

fn fidelity(sorted: &[f64], quantizer: &Quantizer, resolution: f64) -> Fidelity {
    let tolerance = ROUNDING * resolution * quantizer.scale(quantizer.high);
    let is_whole = |&x: &f64| {
        let steps = quantizer.scale(x) * resolution;
        (steps - steps.round()).abs() <= tolerance
    };
    if sorted.iter().all(is_whole) {
        Fidelity::Exact
    } else if count_merged(sorted, quantizer, resolution) == 0 {
        Fidelity::Injective
    } else {
        Fidelity::Merging
    }
}

/// The number of distinct values with the same quantized value as the next one.
fn count_merged(sorted: &[f64], quantizer: &Quantizer, resolution: f64) -> usize {
    let mut steps = sorted.iter().map(|&x| quantizer.steps(x, resolution));
    let Some(mut previous) = steps.next() else { return 0 };
    steps.filter(|&next| std::mem::replace(&mut previous, next) == next).count()
}

/// True if 16 bits merge many more values of a feature than of evenly spread values, usually because of an outlier. With
/// such a feature most neighbors would have to be compared in float64.
fn is_crowded(sorted: &[f64], quantizer: &Quantizer, resolution: f64) -> bool {
    let distinct = sorted.len() as f64;
    let expected_share = distinct / resolution;
    count_merged(sorted, quantizer, resolution) as f64 > distinct * (0.05 + 4.0 * expected_share)
}

/// True if the middle eight of ten distinct values lie within a thousandth of the range: scaled to its range, the feature
/// hardly contributes to distances.
fn is_squeezed(sorted: &[f64]) -> bool {
    let (m, tenth) = (sorted.len(), sorted.len().div_ceil(10));
    let range = sorted[m - 1] - sorted[0];
    // With fewer than ten distinct values, a rare category is not an outlier.
    m >= 10 && sorted[m - 1 - tenth] - sorted[tenth] < range / 1000.0
}

/// The limit of squared distances: exact in float64, and a 62-bit key together with the row index.
pub(crate) fn exact_sum_limit(n_samples: usize) -> f64 {
    libm::ldexp(1.0, 51.min(61 - index_bits(n_samples).cast_signed()))
}

/// The number of bits of a row index.
pub(crate) fn index_bits(n_samples: usize) -> u32 {
    usize::BITS - n_samples.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantizer(low: f64, high: f64, unit: f64) -> Quantizer {
        Quantizer { exponent: 0, low, high, unit, fidelity: Fidelity::Exact }
    }

    fn power(exponent: i32) -> f64 {
        libm::ldexp(1.0, exponent)
    }

    /// The exponents by which columns of two values are normalized, and the columns after that.
    fn normalized(columns: &[[f64; 2]], scale: Scale) -> (Vec<i32>, Vec<f64>) {
        let mut values = columns.concat();
        let exponents = normalize(&mut values, 2, scale);
        (exponents, values)
    }

    #[test]
    fn ranges_up_to_2_to_the_400_stay_as_they_are() {
        let columns = [[0.0, power(400)], [0.0, power(-400)], [7.0, 7.0]];
        assert_eq!(normalized(&columns, Scale::Minmax), (vec![0; 3], columns.concat()));
        let columns = [[0.0, power(401)], [0.0, power(-401)], [0.0, 1.0]];
        let expected = (vec![-401, 401, 0], vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!(normalized(&columns, Scale::Minmax), expected);
        // The range decides, not the distance from zero.
        let around_zero = [[-power(449), power(449)]];
        assert_eq!(normalized(&around_zero, Scale::Minmax), (vec![-450], vec![-0.5, 0.5]));
        let far_from_zero = [[power(500), power(500) + power(460)]];
        let expected = (vec![-460], vec![power(40), power(40) + 1.0]);
        assert_eq!(normalized(&far_from_zero, Scale::Minmax), expected);
    }

    #[test]
    fn a_range_beyond_floats_is_halved_first() {
        let (exponents, values) = normalized(&[[-f64::MAX, f64::MAX / 2.0]], Scale::Minmax);
        assert_eq!(exponents, [-1024]);
        assert_eq!(values, [-f64::MAX, f64::MAX / 2.0].map(|x| libm::ldexp(x, -1024)));
    }

    #[test]
    fn unscaled_features_share_the_factor_of_the_widest() {
        let columns = [[0.0, 1.0], [0.0, power(450)], [5.0, 5.0]];
        let (exponents, values) = normalized(&columns, Scale::None);
        assert_eq!(exponents, [-450; 3]);
        assert_eq!(values[..4], [0.0, power(-450), 0.0, 1.0]);
        // Constant features are ignored.
        let (exponents, _) = normalized(&[[0.0, power(-450)], [0.0, 0.0]], Scale::None);
        assert_eq!(exponents, [450; 2]);
        assert_eq!(normalized(&[[5.0, 5.0]], Scale::None), (vec![0], vec![5.0, 5.0]));
    }

    #[test]
    fn a_quantizer_normalizes_scales_and_rounds() {
        let plain = quantizer(2.0, 6.0, 4.0);
        assert_eq!([plain.normalize(3.0), plain.scale(3.0), plain.weight()], [3.0, 0.25, 0.25]);
        assert_eq!([plain.steps(3.0, 9.0), plain.steps(3.0, 10.0)], [2, 3]);
        assert!(plain.covers(2.0) && plain.covers(6.0) && !plain.covers(1.9) && !plain.covers(6.1));
        assert_eq!(Quantizer { exponent: 3, ..plain }.normalize(3.0), 24.0);
    }

    #[test]
    fn columns_are_described_by_bounds_distinct_values_and_deviation() {
        assert_eq!(bounds(&[3.0, -1.0, 2.0]), (-1.0, 3.0));
        assert_eq!(sorted_distinct(&[3.0, 1.0, 3.0, 2.0, 1.0]), [1.0, 2.0, 3.0]);
        // The mean is 6, the squares of the differences are 25, 1, 1 and 9.
        assert!((deviation(&[1.0, 5.0, 7.0, 9.0 + 2.0], 1.0, 11.0) - 13f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_lattice_of_a_feature_is_found() {
        for (sorted, expected) in [
            (vec![0.0, 1.0], Some(1)),
            (vec![2.0, 2.5, 3.0], Some(2)),
            (vec![0.0, 1.0, 4.0, 6.0], Some(6)),
            (vec![0.1, 0.3, 0.4, 1.1], Some(10)),
            (vec![0.0, 2.0, 5.0], Some(5)),
            (vec![0.0, 1.0, 65_535.0], Some(65_535)),
            (vec![0.0, 1.0, 65_537.0], None),
            (vec![0.0, std::f64::consts::SQRT_2, 5.0], None),
        ] {
            assert_eq!(lattice(&sorted), expected, "{sorted:?}");
        }
    }

    #[test]
    fn the_common_lattice_serves_as_many_features_as_possible() {
        let on = |steps: u32| vec![0.0, 1.0, f64::from(steps)];
        assert_eq!(common_lattice(&[vec![4.0], vec![0.0, 1.0]]), 1);
        assert_eq!(common_lattice(&[on(3)]), 3);
        assert_eq!(common_lattice(&[on(6), on(4)]), 12);
        assert_eq!(common_lattice(&[on(65_535)]), 65_535);
        // 7 and 6 are the most frequent; 65 521 is a prime whose multiples with these do not fit 16 bits.
        let sorted = [on(65_521), on(7), on(6), on(7), on(6), on(7)];
        assert_eq!(common_lattice(&sorted), 42);
        let sorted = [on(65_521), on(7), on(65_521)];
        assert_eq!(common_lattice(&sorted), 65_521);
        assert_eq!([gcd(12, 18), gcd(18, 12), gcd(7, 0), gcd(9, 4)], [6, 6, 7, 1]);
    }

    #[test]
    fn sums_and_row_indices_share_62_bits() {
        assert_eq!([0, 1, 2, 1023, 1024].map(index_bits), [0, 1, 2, 10, 11]);
        assert_eq!(exact_sum_limit(1), power(51));
        assert_eq!(exact_sum_limit(1023), power(51));
        assert_eq!(exact_sum_limit(1024), power(50));
        assert_eq!(exact_sum_limit(1 << 20), power(40));
    }

    #[test]
    fn a_narrow_resolution_is_the_most_that_16_bits_and_sums_hold() {
        assert_eq!(narrow_resolution(1, 1, 100), 65_535.0);
        assert_eq!(narrow_resolution(6, 1, 100), 65_532.0);
        assert_eq!(narrow_resolution(65_535, 1, 100), 65_535.0);
        assert_eq!(narrow_resolution(70_000, 1, 100), 65_535.0);
        // Squared distances below 2^51: 2^21 features leave 2^15 steps for each, less one.
        assert_eq!(narrow_resolution(1, 1 << 21, 100), 32_767.0);
        assert_eq!(narrow_resolution(1, 1 << 51, 100), 1.0);
    }

    #[test]
    fn a_wide_resolution_is_the_finest_that_sums_hold() {
        let of = |ranges: &[f64], lattice| {
            let quantizers: Vec<Quantizer> =
                ranges.iter().map(|&range| quantizer(0.0, range, 1.0)).collect();
            wide_resolution(&quantizers, lattice, 100)
        };
        assert_eq!(of(&[0.0], 1), 1.0);
        // (2^25 + 1)^2 is below 2^51, twice that is not.
        assert_eq!(of(&[1.0], 1), power(25));
        assert_eq!(of(&[1.0, 1.0], 1), power(24));
        assert_eq!(of(&[0.0, 1.0], 1), power(25));
        // 2 * (2^25 - 1 + 1)^2 is 2^51 and no less.
        assert_eq!(of(&[1.0 - power(-25), 1.0 - power(-25)], 1), power(24));
        assert_eq!(of(&[power(-10)], 1), power(35));
        assert_eq!(of(&[power(10)], 1), power(15));
        assert_eq!(of(&[1.0], 6), 33_554_430.0);
        assert_eq!(of(&[power(24)], 6), 2.0);
    }

    #[test]
    fn fidelity_has_the_expected_levels() {
        let unit = quantizer(0.0, 1.0, 1.0);
        assert_eq!(fidelity(&[0.0, 0.5, 1.0], &unit, 4.0), Fidelity::Exact);
        assert_eq!(fidelity(&[0.0, 0.3, 1.0], &unit, 4.0), Fidelity::Injective);
        assert_eq!(fidelity(&[0.0, 0.1, 1.0], &unit, 4.0), Fidelity::Merging);
        assert_eq!(fidelity(&[5.0], &quantizer(5.0, 5.0, f64::INFINITY), 4.0), Fidelity::Exact);
        assert_eq!(count_merged(&[0.0, 0.1, 0.2, 0.9, 1.0], &unit, 2.0), 3);
        assert_eq!(count_merged(&[0.0, 0.5, 1.0], &unit, 2.0), 0);
        // The tolerance is 2^-30 steps for every 65 535 steps over the range.
        let ten_steps_and = |error: f64| (10.0 + error) / 65_535.0;
        let of = |error: f64, unit: &Quantizer| {
            fidelity(&[0.0, ten_steps_and(error), unit.high], unit, 65_535.0)
        };
        assert_eq!(of(power(-31), &unit), Fidelity::Exact);
        assert_eq!(of(power(-29), &unit), Fidelity::Injective);
        assert_eq!(of(power(-29), &quantizer(0.0, 4.0, 1.0)), Fidelity::Exact);
    }

    #[test]
    fn a_feature_is_crowded_if_it_merges_more_than_evenly_spread_values() {
        let unit = quantizer(0.0, 1.0, 1.0);
        // A hundred values on 1000 steps: up to 100 (0.05 + 4 * 0.1) = 45 may share a step with the next.
        let with_merged = |count: u32| -> Vec<f64> {
            let close = (0..=count).map(|value| f64::from(value) * 1e-6);
            close.chain((count + 1..100).map(|value| f64::from(value) / 99.0)).collect()
        };
        for (count, is_too_much) in [(44, false), (45, false), (46, true)] {
            let sorted = with_merged(count);
            assert_eq!((sorted.len(), count_merged(&sorted, &unit, 1000.0)), (100, count as usize));
            assert_eq!(is_crowded(&sorted, &unit, 1000.0), is_too_much);
        }
    }

    #[test]
    fn a_feature_is_squeezed_if_eight_of_ten_values_lie_within_a_thousandth_of_its_range() {
        let with_ends = |inner: &[f64]| [&[-1000.0], inner, &[1000.0]].concat();
        let spread = |count: u32, range: f64| -> Vec<f64> {
            (0..count).map(|value| f64::from(value) * range / f64::from(count - 1)).collect()
        };
        assert!(is_squeezed(&with_ends(&spread(8, 1.9))));
        assert!(!is_squeezed(&with_ends(&spread(8, 2.0))));
        assert!(!is_squeezed(&with_ends(&spread(7, 1.9))));
        // Of eleven values two are left out at either end.
        let inner = [&[-500.0], spread(7, 1.9).as_slice(), &[500.0]].concat();
        assert!(is_squeezed(&with_ends(&inner)));
        assert!(!is_squeezed(&spread(11, 1.0)));
    }

    #[test]
    fn other_rows_keep_the_resolution_unless_they_lie_outside_the_range() {
        let mut columns: Vec<f64> = (0..1000u32).map(|row| f64::from(row).sqrt()).collect();
        columns.extend((0..1000u32).map(|row| f64::from(row * 7 % 1000)));
        let all = Quantization::new(&mut columns, 1000, Scale::Minmax);
        // 999 steps divide 64 935 and no greater multiple of them that 16 bits hold.
        assert_eq!(all.resolution, 64_935.0);
        let inside = all.of_rows(&[2.0, 1.0, 500.0, 999.0], 2);
        assert_eq!(inside.resolution, all.resolution);
        assert!(matches!(&inside.values, Quantized::Narrow(values) if values[3] == 64_935));
        let fidelities = inside.quantizers.iter().map(|quantizer| quantizer.fidelity);
        assert_eq!(fidelities.collect::<Vec<_>>(), [Fidelity::Injective, Fidelity::Exact]);
        let outside = all.of_rows(&[-2.0, 1.0, 500.0, 1998.0], 2);
        assert!(matches!(&outside.values, Quantized::Wide(_)));
        let ends = outside.quantizers.iter().map(|quantizer| (quantizer.low, quantizer.high));
        assert_eq!(ends.collect::<Vec<_>>(), [(-2.0, 999f64.sqrt()), (0.0, 1998.0)]);
        assert_eq!(outside.resolution, power(24));
    }

    #[test]
    fn a_table_of_irregular_values_has_65_535_steps() {
        let mut columns: Vec<f64> = (0..1000u32).map(|row| f64::from(row).sqrt()).collect();
        let minmax = Quantization::new(&mut columns.clone(), 1000, Scale::Minmax);
        assert_eq!(minmax.resolution, 65_535.0);
        assert_eq!(minmax.squeezed, [0; 0]);
        let unscaled = Quantization::new(&mut columns, 1000, Scale::None);
        assert!(matches!(&unscaled.values, Quantized::Wide(_)));
        // 31.6 * 2^20 is below 2^25.5.
        assert_eq!((unscaled.resolution, unscaled.quantizers[0].unit), (power(20), 1.0));
    }
}
