//! Correlation-based feature selection (CFS): features correlated with the class but not with each other.
//!
//! ```text
//! merit(S) = sum su_c[i] / sqrt(|S| + 2 sum SU(i, j)),  i < j in S
//! ```
//!
//! Greedy forward selection: add the feature that raises the merit most, ties to the lowest index, until no feature raises
//! it. Then, if *locally predictive*, add every remaining feature f, the most relevant first, unless a member m has
//! SU(m, f) > `su_c[f]`. If *zero as one*, an uncertainty of 0 between two features counts as 1, as in Weka.

/// Options of correlation-based feature selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CfsRules {
    /// True if an uncertainty of 0 between two features counts as 1.
    pub zero_as_one: bool,
    /// True to add, at the end, locally predictive features: those more correlated with the class than with any member.
    pub locally_predictive: bool,
}

impl Default for CfsRules {
    fn default() -> Self {
        Self { zero_as_one: true, locally_predictive: true }
    }
}

/// Uncertainties below this count as 0.
const ZERO: f64 = 1e-6;

/// The selected features in the order of their selection; none if no feature is relevant.
///
/// `uncertainty` is the symmetrical uncertainty of two features. Irrelevant features are never selected: they
/// cannot raise the merit, and do not count as locally predictive.
pub fn select(
    relevance: &[f32],
    uncertainty: impl Fn(usize, usize) -> f32,
    rules: CfsRules,
    limit: usize,
) -> Vec<usize> {
    let correlation = |a: usize, b: usize| {
        let uncertainty = f64::from(uncertainty(a, b));
        if rules.zero_as_one && uncertainty < ZERO { 1.0 } else { uncertainty }
    };
    // Each candidate with the sum of its correlations with the selected features.
    let relevant = (0..relevance.len()).filter(|&feature| relevance[feature] > 0.0);
    let mut candidates: Vec<(usize, f64)> = relevant.map(|feature| (feature, 0.0)).collect();
    let relevance = |feature: usize| f64::from(relevance[feature]);
    let mut selected = Vec::new();
    let (mut merit, mut relevance_sum, mut redundancy_sum) = (0.0, 0.0, 0.0);
    while selected.len() < limit {
        let mut best = None;
        for (position, &(feature, redundancy)) in candidates.iter().enumerate() {
            let size = (selected.len() + 1) as f64;
            let new = (relevance_sum + relevance(feature))
                / (size + 2.0 * (redundancy_sum + redundancy)).sqrt();
            if new > merit {
                (merit, best) = (new, Some(position));
            }
        }
        let Some(best) = best else { break };
        let (member, redundancy) = candidates.remove(best);
        relevance_sum += relevance(member);
        redundancy_sum += redundancy;
        selected.push(member);
        for (feature, redundancy) in &mut candidates {
            *redundancy += correlation(member, *feature);
        }
    }
    if rules.locally_predictive {
        candidates.sort_by(|a, b| relevance(b.0).total_cmp(&relevance(a.0)));
        for (feature, _) in candidates {
            if selected.len() == limit {
                break;
            }
            if selected.iter().all(|&member| correlation(member, feature) <= relevance(feature)) {
                selected.push(feature);
            }
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GREEDY: CfsRules = CfsRules { zero_as_one: true, locally_predictive: false };

    fn merit(
        subset: &[usize],
        relevance: &[f32],
        shared: &impl Fn(usize, usize) -> f32,
        zero_as_one: bool,
    ) -> f64 {
        let mut denominator = subset.len() as f64;
        for (i, &a) in subset.iter().enumerate() {
            for &b in &subset[..i] {
                let su = f64::from(shared(a, b));
                denominator += 2.0 * if zero_as_one && su < 1e-6 { 1.0 } else { su };
            }
        }
        subset.iter().map(|&f| f64::from(relevance[f])).sum::<f64>() / denominator.sqrt()
    }

    fn example(a: usize, b: usize) -> f32 {
        match (a.min(b), a.max(b)) {
            (0, 1) => 0.7,
            (0, 2) => 0.1,
            _ => 0.2,
        }
    }

    #[test]
    fn the_worked_example_selects_the_first_and_the_third() {
        let relevance = [0.8, 0.6, 0.5];
        for (subset, expected) in
            [(&[0][..], 0.8), (&[0, 1], 0.759_257), (&[0, 2], 0.876_460), (&[0, 1, 2], 0.849_706)]
        {
            assert!((merit(subset, &relevance, &example, true) - expected).abs() < 5e-7);
        }
        assert_eq!(select(&relevance, example, GREEDY, 3), [0, 2]);
        assert_eq!(select(&relevance, example, CfsRules::default(), 3), [0, 2]);
        assert_eq!(select(&relevance, example, CfsRules::default(), 1), [0]);
    }

    #[test]
    fn locally_predictive_features_are_added_at_the_end() {
        // Feature 1 is too weak to raise the merit, but more correlated with the class (.2) than with feature 0 (.15).
        let shared = |_, _| 0.15;
        assert_eq!(select(&[0.9, 0.2], shared, GREEDY, 2), [0]);
        assert_eq!(select(&[0.9, 0.2], shared, CfsRules::default(), 2), [0, 1]);
        assert_eq!(select(&[0.9, 0.2], shared, CfsRules::default(), 1), [0]);
    }

    #[test]
    fn zero_as_one_treats_uncorrelated_features_as_redundant() {
        let shared = |_, _| 0.0;
        assert_eq!(select(&[0.9, 0.8], shared, CfsRules::default(), 2), [0]);
        let plain = CfsRules { zero_as_one: false, ..CfsRules::default() };
        assert_eq!(select(&[0.9, 0.8, 0.0], shared, plain, 3), [0, 1]);
    }

    /// The definition: all features considered, every merit computed from scratch.
    fn naive(
        relevance: &[f32],
        shared: &impl Fn(usize, usize) -> f32,
        rules: CfsRules,
        limit: usize,
    ) -> Vec<usize> {
        let mut selected: Vec<usize> = Vec::new();
        while selected.len() < limit {
            let merit_of = |subset: &[usize]| merit(subset, relevance, shared, rules.zero_as_one);
            let current = if selected.is_empty() { 0.0 } else { merit_of(&selected) };
            let mut best: Option<(f64, usize)> = None;
            for feature in (0..relevance.len()).filter(|feature| !selected.contains(feature)) {
                let new = merit_of(&[selected.clone(), vec![feature]].concat());
                if new > current && best.is_none_or(|best| new > best.0) {
                    best = Some((new, feature));
                }
            }
            match best {
                Some((_, feature)) => selected.push(feature),
                None => break,
            }
        }
        let mut others: Vec<usize> =
            (0..relevance.len()).filter(|f| !selected.contains(f)).collect();
        others.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]).then(a.cmp(&b)));
        others.retain(|&f| rules.locally_predictive && (rules.zero_as_one || relevance[f] > 0.0));
        for feature in others {
            let correlation = |m: usize| {
                let su = shared(m, feature);
                if rules.zero_as_one && su < 1e-6 { 1.0 } else { su }
            };
            let is_redundant = selected.iter().any(|&m| correlation(m) > relevance[feature]);
            if selected.len() < limit && !is_redundant {
                selected.push(feature);
            }
        }
        selected
    }

    proptest! {
        #[test]
        fn selection_matches_the_naive_implementation(
            relevance in proptest::collection::vec(0u8..16, 1..14),
            pairs in proptest::collection::vec(0u8..16, 14 * 14),
            (zero_as_one, locally_predictive) in any::<(bool, bool)>(),
            limit in 1usize..15,
        ) {
            // Sixteenths add up exactly, so both implementations see the same ties. Irrelevant features have uncertainty 0.
            let relevance: Vec<f32> = relevance.iter().map(|&x| f32::from(x) / 16.0).collect();
            let shared = |a: usize, b: usize| {
                if relevance[a] == 0.0 || relevance[b] == 0.0 { return 0.0; }
                f32::from(pairs[a.min(b) * 14 + a.max(b)]) / 16.0
            };
            let rules = CfsRules { zero_as_one, locally_predictive };
            let mut expected = naive(&relevance, &shared, rules, limit);
            // If all features are irrelevant, the caller decides.
            expected.retain(|&feature| relevance[feature] > 0.0);
            prop_assert_eq!(select(&relevance, shared, rules, limit), expected);
        }
    }
}
