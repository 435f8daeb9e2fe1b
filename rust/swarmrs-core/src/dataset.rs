//! The table an evaluator works on: fixed-point columns, class codes, names.
//!
//! Values become integers once, here. Every distance and log-likelihood built from them is then an exact sum, the same
//! for any order of features, any number of threads and any SIMD width.

use crate::error::{Error, Result};
use crate::filter::Levels;
use crate::parallel::Pool;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

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

/// Rows, columns and classes, ready to be measured.
#[derive(Debug, Clone)]
pub struct Dataset {
    n_samples: usize,
    n_features: usize,
    n_classes: usize,
    grid: Grid,
    /// The values as given. A grid may merge values that a cut between levels would part, so levels come from these.
    values: Box<[f64]>,
    levels: OnceLock<Arc<Levels>>,
    codes: Vec<u32>,
    names: Vec<String>,
    fingerprint: String,
    warnings: Vec<String>,
}

/// The widest column of a common grid has at least this many steps, unless sums would no longer be exact.
const LEAST_STEPS: f64 = (1 << 20) as f64;
/// ... and never more than this many, so that a value fits 32 bits.
const MOST_STEPS: f64 = (1 << 30) as f64;

impl Dataset {
    /// Takes `columns` (all values of feature 0, then of feature 1, ...) and the class code of each row.
    ///
    /// # Errors
    /// [`Error::BadData`] for a table without columns, with fewer than two rows or classes, with a value that is not
    /// finite, or whose parts do not fit together.
    pub fn new(
        columns: &[f64],
        codes: Vec<u32>,
        n_classes: usize,
        names: Vec<String>,
        scale: Scale,
    ) -> Result<Self> {
        let (n_samples, n_features) = (codes.len(), names.len());
        check(columns, &codes, n_classes, &names)?;
        let mut warnings = Vec::new();
        let grid = match scale {
            Scale::Minmax => {
                Grid::Narrow(columns.chunks_exact(n_samples).flat_map(narrow).collect())
            }
            Scale::Standard => {
                let scaled: Vec<f64> =
                    columns.chunks_exact(n_samples).flat_map(standardized).collect();
                wide(&scaled, n_samples, &names, &mut warnings)?
            }
            Scale::None => wide(columns, n_samples, &names, &mut warnings)?,
        };
        let fingerprint = fingerprint(columns, &codes, &names, scale);
        Ok(Self {
            n_samples,
            n_features,
            n_classes,
            grid,
            values: columns.into(),
            levels: OnceLock::new(),
            codes,
            names,
            fingerprint,
            warnings,
        })
    }

    /// How many rows there are.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// How many columns there are.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// How many classes there are.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// All values, column after column.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The values of a column as given.
    pub fn values(&self, feature: usize) -> &[f64] {
        &self.values[feature * self.n_samples..][..self.n_samples]
    }

    /// All columns in levels, as a filter sees them; made when first asked for.
    pub fn levels(&self, pool: &Pool) -> Arc<Levels> {
        let make = || Arc::new(Levels::new(&self.values, &self.codes, self.n_classes, pool));
        Arc::clone(self.levels.get_or_init(make))
    }

    /// The class code of each row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The name of each column.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A hash of all values, codes, names and the scale, in hexadecimal.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// What a user should know about how the values are held.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The value of one cell: a whole number of steps.
    pub fn steps(&self, feature: usize, sample: usize) -> f64 {
        let at = feature * self.n_samples + sample;
        match &self.grid {
            Grid::Narrow(values) => f64::from(values[at]),
            Grid::Wide(values) => f64::from(values[at]),
        }
    }
}

fn check(columns: &[f64], codes: &[u32], n_classes: usize, names: &[String]) -> Result<()> {
    let bad = |what: String| Err(Error::BadData { what });
    if names.is_empty() {
        return bad("the table has no feature columns".into());
    }
    if codes.len() < 2 {
        return bad(format!("the table has {} row(s), expected 2 or more", codes.len()));
    }
    if names.len().checked_mul(codes.len()) != Some(columns.len()) {
        return bad(format!(
            "{} values do not fill {} rows of {} columns",
            columns.len(),
            codes.len(),
            names.len()
        ));
    }
    if let Some(at) = columns.iter().position(|value| !value.is_finite()) {
        let (feature, row) = (at / codes.len(), at % codes.len());
        return bad(format!(
            "column '{}' has a value that is not finite in row {row}",
            names[feature]
        ));
    }
    if codes.iter().any(|&code| code as usize >= n_classes) {
        return bad(format!("a class code is not below {n_classes}"));
    }
    if codes.iter().all(|&code| code == codes[0]) {
        return bad("the target has one class, expected 2 or more".into());
    }
    Ok(())
}

fn bounds(column: &[f64]) -> (f64, f64) {
    column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)))
}

fn narrow(column: &[f64]) -> Vec<u16> {
    let (lo, hi) = bounds(column);
    // Halves keep the range finite for columns that span more than a float holds.
    let range = hi / 2.0 - lo / 2.0;
    let step = |x: f64| if range > 0.0 { (x / 2.0 - lo / 2.0) / range } else { 0.0 };
    column.iter().map(|&x| (step(x) * 65535.0 + 0.5).floor() as u16).collect()
}

fn standardized(column: &[f64]) -> Vec<f64> {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    let deviation = (column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
    let (lo, hi) = bounds(column);
    // A constant column may have a deviation of rounding noise.
    let is_constant = lo == hi || deviation == 0.0;
    column.iter().map(|x| if is_constant { 0.0 } else { (x - mean) / deviation }).collect()
}

/// The finest grid of one power-of-two step on which every squared distance, and its key with the row index behind it,
/// is an exact integer. A power of two keeps whole numbers whole.
fn wide(columns: &[f64], n: usize, names: &[String], warnings: &mut Vec<String>) -> Result<Grid> {
    let ranges: Vec<(f64, f64)> = columns.chunks_exact(n).map(bounds).collect();
    let widest = ranges.iter().map(|(lo, hi)| hi - lo).fold(0.0, f64::max);
    if !widest.is_finite() {
        let at = ranges.iter().position(|(lo, hi)| !(hi - lo).is_finite()).unwrap_or(0);
        return Err(Error::BadData {
            what: format!("column '{}' spans more than a float can hold", names[at]),
        });
    }
    let room = exact_sum_limit(n);
    let fits = |step: f64| {
        let squares: f64 = ranges.iter().map(|(lo, hi)| ((hi - lo) / step + 1.0).powi(2)).sum();
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
    let values: Vec<i32> = columns
        .chunks_exact(n)
        .zip(&ranges)
        .flat_map(|(column, (lo, _))| {
            column.iter().map(move |x| ((x - lo) / step + 0.5).floor() as i32)
        })
        .collect();
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
    Ok(Grid::Wide(values))
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

fn fingerprint(columns: &[f64], codes: &[u32], names: &[String], scale: Scale) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(&[scale as u8]);
    hash.update(&(codes.len() as u64).to_le_bytes());
    let mut bytes = Vec::with_capacity(codes.len() * 8);
    for column in columns.chunks_exact(codes.len()) {
        bytes.clear();
        bytes.extend(column.iter().flat_map(|value| value.to_le_bytes()));
        hash.update(&bytes);
    }
    for code in codes {
        hash.update(&code.to_le_bytes());
    }
    for name in names {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    hash.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(columns: &[f64], rows: usize, scale: Scale) -> Result<Dataset> {
        let names = (0..columns.len() / rows).map(|f| format!("f{f}")).collect();
        let codes = (0..rows as u32).map(|row| row % 2).collect();
        Dataset::new(columns, codes, 2, names, scale)
    }

    #[test]
    fn minmax_spreads_each_column_over_16_bits() {
        let data = of(&[0.0, 0.2, 0.8, 1.0, -3.0, -3.0, -3.0, -3.0], 4, Scale::Minmax).unwrap();
        assert_eq!(data.grid(), &Grid::Narrow(vec![0, 13107, 52428, 65535, 0, 0, 0, 0]));
    }

    #[test]
    fn a_common_grid_keeps_whole_numbers_whole() {
        let data = of(&[5.0, 7.0, 300.0, 6.0], 2, Scale::None).unwrap();
        let unit = data.steps(0, 1) / 2.0;
        assert!(unit >= 1.0 && unit == unit.floor());
        assert_eq!(data.steps(1, 0), 294.0 * unit);
        assert!(data.warnings().is_empty());
    }

    #[test]
    fn a_column_that_loses_values_is_named() {
        let data = of(&[0.0, 1e-12, 0.0, 1e6], 2, Scale::None).unwrap();
        assert_eq!(data.warnings(), ["distinct values fall together on the common grid: f0"]);
    }

    #[test]
    fn tables_that_cannot_be_searched_are_refused() {
        let message = |data: Result<Dataset>| data.unwrap_err().to_string();
        assert_eq!(message(of(&[], 4, Scale::Minmax)), "the table has no feature columns");
        assert_eq!(
            message(of(&[1.0], 1, Scale::Minmax)),
            "the table has 1 row(s), expected 2 or more"
        );
        assert_eq!(
            message(of(&[1.0, f64::NAN], 2, Scale::Minmax)),
            "column 'f0' has a value that is not finite in row 1"
        );
        let one_class = Dataset::new(&[1.0, 2.0], vec![0, 0], 2, vec!["a".into()], Scale::None);
        assert_eq!(message(one_class), "the target has one class, expected 2 or more");
    }

    proptest! {
        #[test]
        fn order_within_a_column_survives_the_grid(
            column in proptest::collection::vec(-1e6f64..1e6, 2..40),
            scale in prop_oneof![Just(Scale::Minmax), Just(Scale::Standard), Just(Scale::None)],
        ) {
            let data = of(&column, column.len(), scale).unwrap();
            for i in 0..column.len() {
                for j in 0..column.len() {
                    if column[i] < column[j] {
                        prop_assert!(data.steps(0, i) <= data.steps(0, j));
                    }
                }
            }
        }

        #[test]
        fn the_fingerprint_tells_any_change(column in proptest::collection::vec(-1e3f64..1e3, 2..20), at: prop::sample::Index) {
            let mut other = column.clone();
            *at.get_mut(&mut other) += 1.0;
            let print = |c: &[f64]| of(c, c.len(), Scale::Minmax).unwrap().fingerprint().to_owned();
            prop_assert_ne!(print(&column), print(&other));
        }
    }
}
