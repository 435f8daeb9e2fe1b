//! Scaling and quantization: values as whole numbers of steps, so that sums of differences are exact integers.
//!
//! Scaling divides a feature by its *unit*: its range, its standard deviation, or 1. An offset cancels in every
//! difference, so the scaled difference of two values a and b is |a - b| / unit. A quantized value is
//! `round((x - low) / unit * resolution)` with one resolution, in steps per unit, for all features.
//!
//! Quantized distances order most neighbors. Each value is off by half a step at most, so the scaled difference of two
//! values is off by one step at most, and by nothing where the feature is [`Fidelity::Exact`]. Wherever that bound leaves
//! the order of two neighbors open, the float64 distances decide (see `evaluate::knn`), so that nothing a feature says is
//! lost. A resolution that is too low costs time, never an answer.

use crate::base::cancel;
use serde::{Deserialize, Serialize};

/// The scaling of features before distances are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Each feature divided by its range.
    Minmax,
    /// Each feature divided by its standard deviation.
    Standard,
    /// As given.
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
    /// Every value is a whole number of steps: differences have no error.
    Exact,
    /// Distinct values have distinct steps: a difference of 0 steps is a difference of 0.
    Injective,
    /// Some distinct values share a step.
    Merging,
}

/// Scaling and quantization of one feature.
#[derive(Debug, Clone, Copy)]
pub struct Quantizer {
    /// Values are multiplied by 2 to this power first; 0 unless the range is beyond 2^±400, where squares or reciprocals
    /// would overflow.
    exponent: i32,
    low: f64,
    high: f64,
    /// Infinite for a constant feature, which thereby has the scaled value 0 everywhere.
    unit: f64,
    /// The fidelity of its quantized values.
    pub fidelity: Fidelity,
}

impl Quantizer {
    /// A value in the range in which the others of this feature are held.
    pub fn normalize(&self, x: f64) -> f64 {
        if self.exponent == 0 { x } else { libm::ldexp(x, self.exponent) }
    }

    /// The scaled value of a normalized one, counted from the least of the feature.
    pub fn scale(&self, x: f64) -> f64 {
        (x - self.low) / self.unit
    }

    /// The factor from a difference to a scaled one.
    pub fn weight(&self) -> f64 {
        1.0 / self.unit
    }

    fn covers(&self, x: f64) -> bool {
        (self.low..=self.high).contains(&x)
    }

    /// The quantized value of one that is not below the least: what is cut off rounds down.
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
    /// Features of which most values lie within a thousandth of the range.
    pub squeezed: Vec<usize>,
}

/// The most steps that 16 bits hold.
const NARROW_STEPS: u64 = 65_535;
/// The most steps of a wide table over its widest range.
const WIDE_STEPS: f64 = (1 << 30) as f64;
/// Exponents of ranges up to this size need no normalization: squares and reciprocals of 2^±400 are finite.
const SAFE_EXPONENT: i32 = 400;
/// A value this near to a whole number of steps, of 65 535 over a range, counts as one: decimal fractions are not exact.
/// Off by 2^-30 steps, the square of a difference is off by less than 2 * 65535 * 2^-30 < 2^-12.
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

    /// The same features with other rows: columns of `n` normalized values, scaled by the same units.
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
            // Halves keep the range finite for columns that span more than a float holds.
            range if range.is_infinite() => libm::ilogb(high / 2.0 - low / 2.0) + 1,
            range => libm::ilogb(range),
        }
    };
    let needed = |exponent: i32| if exponent.abs() > SAFE_EXPONENT { -exponent } else { 0 };
    let mut exponents: Vec<i32> = columns.chunks_exact(n).map(exponent).collect();
    if scale == Scale::None {
        // Features that are not scaled share a factor. The widest decides.
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

/// The least and the greatest value.
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

/// The population standard deviation, by way of the share of the range, which cannot overflow; no number for a constant
/// column.
pub(crate) fn deviation(column: &[f64], low: f64, high: f64) -> f64 {
    let (n, range) = (column.len() as f64, high - low);
    let mean = column.iter().map(|x| (x - low) / range).sum::<f64>() / n;
    let squares = column.iter().map(|x| ((x - low) / range - mean).powi(2)).sum::<f64>();
    range * (squares / n).sqrt()
}

/// The number of equal steps over the range of a feature on which all its values lie, if there is one that 16 bits hold.
fn lattice(sorted: &[f64]) -> Option<u64> {
    let range = sorted[sorted.len() - 1] - sorted[0];
    let least = range / (NARROW_STEPS as f64 + 1.0);
    let mut divisor = range;
    for pair in sorted.windows(2) {
        // Euclid's algorithm on floats: a remainder is 0 up to rounding, or it is too small to be a step.
        let mut rest = pair[1] - pair[0];
        while rest > range * 1e-9 {
            if rest < least {
                return None;
            }
            (divisor, rest) = (rest, (divisor - (divisor / rest).round() * rest).abs());
        }
    }
    let steps = (range / divisor).round();
    (steps >= 1.0).then_some(steps as u64)
}

/// A number of steps on which as many features as possible lie: a common multiple of the lattices that most features have.
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

/// The most steps that 16 bits hold and that sum exactly, a multiple of `lattice` if possible.
fn narrow_resolution(lattice: u64, n_features: usize, n: usize) -> f64 {
    let summable = (exact_sum_limit(n) / n_features as f64).sqrt() - 1.0;
    let most = (summable as u64).clamp(1, NARROW_STEPS);
    match most / lattice {
        0 => most as f64,
        times => (times * lattice) as f64,
    }
}

/// The finest resolution for which every squared distance, and its key with the row index behind it, is an exact integer:
/// a power of two, which keeps whole numbers whole, or a multiple of `lattice`.
fn wide_resolution(quantizers: &[Quantizer], lattice: u64, n: usize) -> f64 {
    let ranges: Vec<f64> = quantizers.iter().map(|q| q.scale(q.high)).collect();
    let widest = ranges.iter().copied().fold(0.0, f64::max);
    if widest == 0.0 {
        return 1.0;
    }
    let room = exact_sum_limit(n);
    let fits = |resolution: f64| {
        let squares: f64 = ranges.iter().map(|range| (range * resolution + 1.0).powi(2)).sum();
        widest * resolution <= WIDE_STEPS && squares < room
    };
    // Normalized ranges are below 2^401, and 2^20 features with a step each are summed exactly: the search ends.
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
    } else if merged(sorted, quantizer, resolution) == 0 {
        Fidelity::Injective
    } else {
        Fidelity::Merging
    }
}

/// The number of distinct values that share a step with the next one.
fn merged(sorted: &[f64], quantizer: &Quantizer, resolution: f64) -> usize {
    let mut steps = sorted.iter().map(|&x| quantizer.steps(x, resolution));
    let Some(mut last) = steps.next() else { return 0 };
    steps.filter(|&next| std::mem::replace(&mut last, next) == next).count()
}

/// True if 16 bits merge many more values of a feature than they would if the values were spread evenly: as an outlier
/// does. Neighbors under such a feature would all have to be compared in float64.
fn is_crowded(sorted: &[f64], quantizer: &Quantizer, resolution: f64) -> bool {
    let distinct = sorted.len() as f64;
    let expected = distinct / resolution;
    merged(sorted, quantizer, resolution) as f64 > distinct * (0.05 + 4.0 * expected)
}

/// True if most values of a feature lie within a thousandth of its range: scaled to the range it says next to nothing beside
/// other features.
fn is_squeezed(sorted: &[f64]) -> bool {
    let (m, tenth) = (sorted.len(), sorted.len().div_ceil(10));
    let range = sorted[m - 1] - sorted[0];
    // Few distinct values may lie as they like: a rare category is no outlier.
    m >= 10 && sorted[m - 1 - tenth] - sorted[tenth] < range / 1000.0
}

/// Squared distances stay below this: exact in a float, and with the row index behind them in a 62-bit key.
pub(crate) fn exact_sum_limit(n_samples: usize) -> f64 {
    libm::ldexp(1.0, 51.min(61 - index_bits(n_samples).cast_signed()))
}

/// Bits that hold any row index.
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
        // The range counts, not its middle.
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
    fn features_without_a_scale_share_the_factor_of_the_widest() {
        let columns = [[0.0, 1.0], [0.0, power(450)], [5.0, 5.0]];
        let (exponents, values) = normalized(&columns, Scale::None);
        assert_eq!(exponents, [-450; 3]);
        assert_eq!(values[..4], [0.0, power(-450), 0.0, 1.0]);
        // A constant feature has no range and does not count.
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
        // 7 and 6 are those of most features; 65 521 is a prime that fits with neither.
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
    fn fidelity_tells_what_rounding_to_steps_keeps() {
        let unit = quantizer(0.0, 1.0, 1.0);
        assert_eq!(fidelity(&[0.0, 0.5, 1.0], &unit, 4.0), Fidelity::Exact);
        assert_eq!(fidelity(&[0.0, 0.3, 1.0], &unit, 4.0), Fidelity::Injective);
        assert_eq!(fidelity(&[0.0, 0.1, 1.0], &unit, 4.0), Fidelity::Merging);
        assert_eq!(fidelity(&[5.0], &quantizer(5.0, 5.0, f64::INFINITY), 4.0), Fidelity::Exact);
        assert_eq!(merged(&[0.0, 0.1, 0.2, 0.9, 1.0], &unit, 2.0), 3);
        assert_eq!(merged(&[0.0, 0.5, 1.0], &unit, 2.0), 0);
        // Whole up to 2^-30 of a step for each 65 535 of them over the range.
        let at = |off: f64| (10.0 + off) / 65_535.0;
        assert_eq!(fidelity(&[0.0, at(power(-31)), 1.0], &unit, 65_535.0), Fidelity::Exact);
        assert_eq!(fidelity(&[0.0, at(power(-29)), 1.0], &unit, 65_535.0), Fidelity::Injective);
        let wide = quantizer(0.0, 4.0, 1.0);
        assert_eq!(fidelity(&[0.0, at(power(-29)), 4.0], &wide, 65_535.0), Fidelity::Exact);
    }

    #[test]
    fn a_feature_is_crowded_when_merging_is_beyond_what_even_values_have() {
        let unit = quantizer(0.0, 1.0, 1.0);
        // A hundred values on 1000 steps: up to 100 (0.05 + 4 * 0.1) = 45 may share a step with the next.
        let with_merged = |count: u32| -> Vec<f64> {
            let close = (0..=count).map(|value| f64::from(value) * 1e-6);
            close.chain((count + 1..100).map(|value| f64::from(value) / 99.0)).collect()
        };
        for (count, is_too_much) in [(44, false), (45, false), (46, true)] {
            let sorted = with_merged(count);
            assert_eq!((sorted.len(), merged(&sorted, &unit, 1000.0)), (100, count as usize));
            assert_eq!(is_crowded(&sorted, &unit, 1000.0), is_too_much);
        }
    }

    #[test]
    fn a_feature_is_squeezed_when_eight_of_ten_values_lie_in_a_thousandth_of_its_range() {
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
    fn other_rows_are_quantized_alike_unless_they_lie_outside() {
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
