//! The fast correlation-based filter: the most relevant feature stays and takes out all that it stands for.
//!
//! Features are visited from the most relevant on. The first that is left, p, is *predominant*; every later q with
//! SU(p, q) >= `su_c[q]` is taken out; then the next. There is no threshold of relevance but 0.

/// Values that differ by less are equal.
const EQUAL: f64 = 1e-8;

/// The predominant ones of the `ranked` features, all relevant, at most `limit`.
pub fn choose(
    mut ranked: Vec<usize>,
    relevance: &[f32],
    uncertainty: impl Fn(usize, usize) -> f32,
    limit: usize,
) -> Vec<usize> {
    let mut chosen = Vec::new();
    while chosen.len() < limit && !ranked.is_empty() {
        let first = ranked.remove(0);
        ranked.retain(|&other| {
            f64::from(uncertainty(first, other)) <= f64::from(relevance[other]) - EQUAL
        });
        chosen.push(first);
    }
    chosen
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
        assert_eq!(choose(vec![0, 1, 2, 3], &relevance, shared, 4), [0, 2]);
        assert_eq!(choose(vec![0, 1, 2, 3], &relevance, shared, 1), [0]);
    }

    #[test]
    fn equal_means_redundant() {
        let relevance = [0.8, 0.5];
        assert_eq!(choose(vec![0, 1], &relevance, |_, _| 0.5, 2), [0]);
        assert_eq!(choose(vec![0, 1], &relevance, |_, _| 0.499_999, 2), [0, 1]);
    }

    proptest! {
        /// A feature stays if no predominant one before it stands for it: the definition, read backwards.
        #[test]
        fn the_chosen_are_those_of_the_definition(
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
            prop_assert_eq!(choose(ranked, &relevance, shared, 25), expected);
        }
    }
}
