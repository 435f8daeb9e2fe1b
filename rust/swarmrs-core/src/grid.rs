//! Values as whole numbers of steps, so that every sum of them is exact.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How columns are brought to a common scale before anything is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Each column to its own range, in 16 bits.
    Minmax,
    /// Each column to mean 0 and standard deviation 1, on one common grid.
    Standard,
    /// As given, on one common grid.
    None,
}

/// The values, column after column.
#[derive(Debug, Clone, PartialEq)]
pub enum Grid {
    /// 65 535 steps over each column's own range.
    Narrow(Vec<u16>),
    /// One step for all columns, counted from each column's least value.
    Wide(Vec<i32>),
}

impl Grid {
    /// The steps of one value.
    pub fn at(&self, place: usize) -> i32 {
        match self {
            Self::Narrow(values) => i32::from(values[place]),
            Self::Wide(values) => values[place],
        }
    }

    /// Columns of `n` values with more behind each: for each of `more`, the steps of `m` values that `rulers` read.
    #[must_use]
    pub fn extended(&self, n: usize, rulers: &[Ruler], more: &[Vec<f64>], m: usize) -> Self {
        match self {
            Self::Narrow(values) => Self::Narrow(longer(values, n, rulers, more, m)),
            Self::Wide(values) => Self::Wide(longer(values, n, rulers, more, m)),
        }
    }
}

fn longer<T: Copy + TryFrom<i32> + Default>(
    values: &[T],
    n: usize,
    rulers: &[Ruler],
    more: &[Vec<f64>],
    m: usize,
) -> Vec<T> {
    let mut all = Vec::with_capacity(values.len() + more.len() * m * rulers.len());
    for (feature, (column, ruler)) in values.chunks_exact(n).zip(rulers).enumerate() {
        all.extend_from_slice(column);
        for part in more {
            // Rulers do not read beyond what their grid holds.
            let steps = |&x: &f64| T::try_from(ruler.steps(x)).unwrap_or_default();
            all.extend(part[feature * m..][..m].iter().map(steps));
        }
    }
    all
}

/// How the values of one column become steps.
#[derive(Debug, Clone, Copy)]
pub struct Ruler {
    low: f64,
    high: f64,
    unit: Unit,
}

#[derive(Debug, Clone, Copy)]
enum Unit {
    /// The whole range has 65 535 steps.
    Range,
    /// Steps of the same size for all columns, of values less a mean and over a deviation; none of a constant column.
    Step { mean: f64, deviation: f64, size: f64 },
}

impl Ruler {
    /// The steps of a value, from the least of the column on; one beyond its range counts as the nearest within.
    pub fn steps(&self, x: f64) -> i32 {
        let (x, low) = (x.clamp(self.low, self.high), self.low);
        match self.unit {
            Unit::Range => {
                // Halves keep the range finite for columns that span more than a float holds.
                let range = self.high / 2.0 - low / 2.0;
                let share = if range > 0.0 { (x / 2.0 - low / 2.0) / range } else { 0.0 };
                (share * 65535.0 + 0.5).floor() as i32
            }
            Unit::Step { mean, deviation, size } => {
                let scaled = |x: f64| (x - mean) / deviation;
                ((scaled(x) - scaled(low)) / size + 0.5).floor() as i32
            }
        }
    }
}

/// The widest column of a common grid has at least this many steps, unless sums would no longer be exact.
const LEAST_STEPS: f64 = (1 << 20) as f64;
/// ... and never more than this many, so that a value fits 32 bits.
const MOST_STEPS: f64 = (1 << 30) as f64;

/// The grid of columns of `n` finite values, how each column is read, and what a user should know about it.
///
/// # Errors
/// [`Error::BadData`] for a column that spans more than a float can hold, unless it is scaled to its own range.
pub fn lay(
    columns: &[f64],
    n: usize,
    names: &[String],
    scale: Scale,
) -> Result<(Grid, Vec<Ruler>, Vec<String>)> {
    let bounds: Vec<(f64, f64)> = columns.chunks_exact(n).map(bounds).collect();
    let rulers = |unit: &dyn Fn(usize) -> Unit| -> Vec<Ruler> {
        let ruler = |(at, &(low, high))| Ruler { low, high, unit: unit(at) };
        bounds.iter().enumerate().map(ruler).collect()
    };
    let steps = |rulers: &[Ruler]| -> Vec<i32> {
        let columns = columns.chunks_exact(n).zip(rulers);
        columns.flat_map(|(column, ruler)| column.iter().map(|&x| ruler.steps(x))).collect()
    };
    if scale == Scale::Minmax {
        let rulers = rulers(&|_| Unit::Range);
        let values = steps(&rulers).into_iter().map(|steps| steps as u16).collect();
        return Ok((Grid::Narrow(values), rulers, Vec::new()));
    }
    let moments: Vec<(f64, f64)> = columns
        .chunks_exact(n)
        .map(|column| if scale == Scale::Standard { moments(column) } else { (0.0, 1.0) })
        .collect();
    let scaled = |at: usize, x: f64| (x - moments[at].0) / moments[at].1;
    let ranges: Vec<f64> =
        (0..bounds.len()).map(|at| scaled(at, bounds[at].1) - scaled(at, bounds[at].0)).collect();
    let mut warnings = Vec::new();
    let size = common_step(&ranges, n, names, &mut warnings)?;
    let rulers = rulers(&|at| Unit::Step { mean: moments[at].0, deviation: moments[at].1, size });
    let values = steps(&rulers);
    let coarse: Vec<&str> = columns
        .chunks_exact(n)
        .zip(values.chunks_exact(n))
        .zip(names)
        .filter(|((column, held), _)| distinct(column, f64::total_cmp) > distinct(held, i32::cmp))
        .map(|(_, name)| name.as_str())
        .collect();
    if !coarse.is_empty() {
        let shown = coarse.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        let more = coarse.len().saturating_sub(5);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        warnings.push(format!("distinct values fall together on the common grid: {shown}{more}"));
    }
    Ok((Grid::Wide(values), rulers, warnings))
}

fn bounds(column: &[f64]) -> (f64, f64) {
    column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)))
}

/// The mean and the deviation of a column; one that is constant deviates without bound, so that it has one value.
fn moments(column: &[f64]) -> (f64, f64) {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    let deviation = (column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
    let (low, high) = bounds(column);
    // A constant column may have a deviation of rounding noise.
    let is_constant = low == high || deviation == 0.0;
    (mean, if is_constant { f64::INFINITY } else { deviation })
}

/// The finest power of two on which every squared distance, and its key with the row index behind it, is an exact
/// integer. A power of two keeps whole numbers whole.
fn common_step(
    ranges: &[f64],
    n: usize,
    names: &[String],
    warnings: &mut Vec<String>,
) -> Result<f64> {
    let widest = ranges.iter().copied().fold(0.0, f64::max);
    if !widest.is_finite() {
        let at = ranges.iter().position(|range| !range.is_finite()).unwrap_or(0);
        return Err(Error::BadData {
            what: format!("column '{}' spans more than a float can hold", names[at]),
        });
    }
    let room = exact_sum_limit(n);
    let fits = |step: f64| {
        let squares: f64 = ranges.iter().map(|range| (range / step + 1.0).powi(2)).sum();
        widest / step <= MOST_STEPS && squares < room
    };
    let mut exponent = if widest > 0.0 { libm::ilogb(widest) - 30 } else { 0 };
    while !fits(libm::ldexp(1.0, exponent)) {
        exponent += 1;
    }
    let step = libm::ldexp(1.0, exponent);
    if widest > 0.0 && widest / step < LEAST_STEPS {
        warnings.push(format!(
            "columns are held in {} steps over the widest one: with this many features a finer grid would not sum exactly",
            (widest / step) as u64
        ));
    }
    Ok(step)
}

/// Squared distances stay below this: exact in a float, and with the row index behind them in a 62-bit key.
pub(crate) fn exact_sum_limit(n_samples: usize) -> f64 {
    libm::ldexp(1.0, 51.min(61 - index_bits(n_samples).cast_signed()))
}

/// Bits that hold any row index.
pub(crate) fn index_bits(n_samples: usize) -> u32 {
    usize::BITS - n_samples.leading_zeros()
}

fn distinct<T: Copy>(values: &[T], order: impl Fn(&T, &T) -> std::cmp::Ordering) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(&order);
    sorted.dedup_by(|a, b| order(a, b).is_eq());
    sorted.len()
}
