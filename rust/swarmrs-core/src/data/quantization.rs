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

    fn steps(&self, x: f64, resolution: f64) -> f64 {
        (self.scale(x) * resolution + 0.5).floor()
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
            Quantized::Wide(steps().map(|steps| steps as i32).collect())
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
        let widest = of_varying.map(|(_, &exponent)| exponent).max().unwrap_or(0);
        exponents.fill(widest);
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
    (if lattice <= most { most / lattice * lattice } else { most }) as f64
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
    let steps = |x: f64| quantizer.steps(x, resolution);
    sorted.windows(2).filter(|pair| steps(pair[0]) == steps(pair[1])).count()
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
