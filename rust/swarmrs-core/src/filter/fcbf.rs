//! The fast correlation-based filter (FCBF): every predominant feature eliminates the features redundant to it.
//!
//! Features are visited in descending order of relevance. The first remaining feature p is *predominant*; every later q
//! with SU(p, q) >= `su_c[q]` is redundant and removed; then the next. The relevance threshold is 0.

/// Values that differ by less are equal.
const TOLERANCE: f64 = 1e-8;

/// The predominant features among `ranked`, which are relevant and in descending order of relevance; at most `limit`.
pub fn select(
    mut ranked: Vec<usize>,
    relevance: &[f32],
    uncertainty: impl Fn(usize, usize) -> f32,
    limit: usize,
) -> Vec<usize> {
    let mut predominant = Vec::new();
    while predominant.len() < limit && !ranked.is_empty() {
        let first = ranked.remove(0);
        ranked.retain(|&other| {
            f64::from(uncertainty(first, other)) <= f64::from(relevance[other]) - TOLERANCE
        });
        predominant.push(first);
    }
    predominant
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worked_example_keeps_the_first_and_the_third() {
        let shared = |a: usize, b: usize| match (a.min(b), a.max(b)) {
            (0, 1) => 0.7,
            (0, 2) => 0.3,
            _ => 0.0,
        };
        let relevance = [0.8, 0.6, 0.5, 0.0];
        assert_eq!(select(vec![0, 1, 2, 3], &relevance, shared, 4), [0, 2]);
        assert_eq!(select(vec![0, 1, 2, 3], &relevance, shared, 1), [0]);
    }

    #[test]
    fn a_feature_as_correlated_with_another_as_with_the_class_is_redundant() {
        let relevance = [0.8, 0.5];
        assert_eq!(select(vec![0, 1], &relevance, |_, _| 0.5, 2), [0]);
        assert_eq!(select(vec![0, 1], &relevance, |_, _| 0.499_999, 2), [0, 1]);
    }

    proptest! {
        /// By definition, a feature is selected if no predominant feature before it makes it redundant.
        #[test]
        fn selection_matches_the_definition(
            relevance in proptest::collection::vec(1u8..20, 1..25),
            pairs in proptest::collection::vec(0u8..20, 25 * 25),
        ) {
            let relevance: Vec<f32> = relevance.iter().map(|&x| f32::from(x) / 20.0).collect();
            let shared = |a: usize, b: usize| f32::from(pairs[a.min(b) * 25 + a.max(b)]) / 20.0;
            let mut ranked: Vec<usize> = (0..relevance.len()).collect();
            ranked.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]).then(a.cmp(&b)));
            let mut expected: Vec<usize> = Vec::new();
            for &feature in &ranked {
                if expected.iter().all(|&p| shared(p, feature) < relevance[feature]) {
                    expected.push(feature);
                }
            }
            prop_assert_eq!(select(ranked, &relevance, shared, 25), expected);
        }
    }
}
