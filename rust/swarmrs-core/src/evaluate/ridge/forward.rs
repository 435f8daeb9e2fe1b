//! Greedy forward selection by the leave-one-out error of ridge regression or classification.

use super::linear::Rows;
use super::rfe::{Standardized, standardized};
use crate::base::cancel;
use crate::base::error::Result;
use crate::base::parallel::Pool;
use crate::data::dataset::Dataset;
use crate::simd::Isa;

/// A row whose residual is fixed by its own target has a diagonal entry of 0; below this, rounding decides its sign.
const LEAST_DIAGONAL: f64 = 1e-12;
/// Features that one task scores: about 50 µs of work for 100 rows.
const TOGETHER: usize = 128;

/// Some features in the order of greedy forward selection; no others are considered.
///
/// Each step adds the feature whose ridge fit has the least sum of squared leave-one-out residuals, over all targets
/// and rows; of equal ones the lower index. After `n_steps` steps, the others follow in the order of the last step.
/// Features are divided by their population standard deviation. Without `alpha` the penalty is the number of rows.
///
/// With the residual matrix R of the selected features (see the module), centered targets y and a candidate x,
///
/// ```text
/// c = R x        R' = R - c cᵀ / (alpha + xᵀc)        leave-one-out residuals (R'y)ᵢ / R'ᵢᵢ
/// ```
///
/// so that a step takes O(n) multiplications for each feature and target, and a rank-one update of the kept products
/// R x of all features (greedy RLS: Pahikkala, Airola, Salakoski 2010, arXiv 1003.3570).
///
/// # Errors
/// A penalty that is not a positive number; an unknown instruction set.
pub fn ridge_sfs(
    data: &Dataset,
    features: &[usize],
    n_steps: usize,
    alpha: Option<f64>,
    pool: &Pool,
) -> Result<Vec<usize>> {
    let isa = Isa::of_process()?;
    let Standardized { columns, targets, rows, alpha } = standardized(data, alpha)?;
    let mut left = features.to_vec();
    left.sort_unstable();
    let (x, _) = columns.centered(&left, &rows);
    let mut state = State::new(isa, x, targets, rows.len(), alpha);
    let mut order = Vec::with_capacity(left.len());
    // The places of features that are not selected, in ascending order.
    let mut places: Vec<usize> = (0..left.len()).collect();
    while order.len() < n_steps {
        cancel::check();
        let losses = state.losses(&places, pool);
        let is_less = |&a: &usize, &b: &usize| losses[a].total_cmp(&losses[b]);
        let Some(best) = (0..places.len()).min_by(is_less) else { break };
        let place = places.remove(best);
        order.push(left[place]);
        state.add(place, &places, pool);
    }
    if !places.is_empty() {
        let losses = state.losses(&places, pool);
        let mut rest: Vec<usize> = (0..places.len()).collect();
        rest.sort_by(|&a, &b| losses[a].total_cmp(&losses[b]));
        order.extend(rest.into_iter().map(|at| left[places[at]]));
    }
    Ok(order)
}

/// The residual matrix R of the selected features, as its products with everything that is asked for.
struct State {
    isa: Isa,
    alpha: f64,
    /// The features.
    x: Rows,
    /// R times each feature.
    products: Vec<Vec<f64>>,
    /// R times each target.
    residuals: Rows,
    /// The diagonal of R.
    diagonal: Vec<f64>,
}

impl State {
    /// Without a feature, R = I - 11ᵀ/n, and centered vectors are their own products.
    fn new(isa: Isa, x: Rows, residuals: Rows, n_rows: usize, alpha: f64) -> Self {
        let products = x.rows().map(<[f64]>::to_vec).collect();
        let diagonal = vec![1.0 - 1.0 / n_rows as f64; n_rows];
        Self { isa, alpha, x, products, residuals, diagonal }
    }

    /// The sum of squared leave-one-out residuals with each of these features added.
    fn losses(&self, places: &[usize], pool: &Pool) -> Vec<f64> {
        let tasks: Vec<&[usize]> = places.chunks(TOGETHER).collect();
        let losses = pool.map(tasks, |places| -> Vec<f64> {
            places.iter().map(|&place| self.loss(place)).collect()
        });
        losses.concat()
    }

    fn loss(&self, place: usize) -> f64 {
        let product = &self.products[place];
        let scale = 1.0 / (self.alpha + self.dot(place, product));
        let inverses: Vec<f64> = self
            .diagonal
            .iter()
            .zip(product)
            .map(|(entry, c)| 1.0 / (entry - c * c * scale).max(LEAST_DIAGONAL))
            .collect();
        let factors = self.residuals.times(self.isa, self.x.row(place));
        let targets = self.residuals.rows().zip(factors);
        targets
            .map(|(residuals, factor)| {
                let factor = factor * scale;
                let rows = residuals.iter().zip(product).zip(&inverses);
                rows.map(|((y, c), inverse)| ((y - c * factor) * inverse).powi(2)).sum::<f64>()
            })
            .sum()
    }

    /// Adds a feature; only the products of the features that are left are kept up to date.
    fn add(&mut self, place: usize, left: &[usize], pool: &Pool) {
        let product = std::mem::take(&mut self.products[place]);
        let scale = 1.0 / (self.alpha + self.dot(place, &product));
        let factors = self.residuals.times(self.isa, self.x.row(place));
        for (residuals, factor) in self.residuals.rows_mut().zip(factors) {
            subtract(residuals, &product, factor * scale);
        }
        for (entry, c) in self.diagonal.iter_mut().zip(&product) {
            *entry -= c * c * scale;
        }
        let kept: Vec<(usize, Vec<f64>)> =
            left.iter().map(|&place| (place, std::mem::take(&mut self.products[place]))).collect();
        let updated = pool.map(kept, |(place, mut kept)| {
            subtract(&mut kept, &product, self.dot(place, &product) * scale);
            (place, kept)
        });
        for (place, kept) in updated {
            self.products[place] = kept;
        }
    }

    /// The dot product of a feature and a vector.
    fn dot(&self, place: usize, vector: &[f64]) -> f64 {
        let mut dot = [0.0];
        crate::simd::dot_rows(self.isa, self.x.row(place), vector, vector.len(), &mut dot);
        dot[0]
    }
}

fn subtract(from: &mut [f64], vector: &[f64], factor: f64) {
    from.iter_mut().zip(vector).for_each(|(x, v)| *x -= factor * v);
}
