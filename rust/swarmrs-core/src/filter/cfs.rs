//! Correlation-based selection: features that go with the class and not with each other.
//!
//! ```text
//! merit(S) = sum su_c[i] / sqrt(|S| + 2 sum SU(i, j)),  i < j in S
//! ```
//!
//! Greedy forward: the feature of greatest merit enters as long as the merit rises, of equals the first. Then, if
//! *locally predictive*, every feature of the rest enters, the most relevant first, unless some member m has
//! SU(m, f) > `su_c[f]`. If *zero as one*, two features that share nothing count as sharing all, as in Weka.

/// Options of correlation-based feature selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CfsRules {
    /// True if two features that share nothing count as sharing all.
    pub zero_as_one: bool,
    /// True if features enter that no member of the subset stands for.
    pub locally_predictive: bool,
}

impl Default for CfsRules {
    fn default() -> Self {
        Self { zero_as_one: true, locally_predictive: true }
    }
}

/// Correlations below this count as 0.
const NOTHING: f64 = 1e-6;

/// The features chosen, in the order they entered; none where none is relevant.
///
/// `uncertainty` is that of two features as it is. What is irrelevant is left out from the start: it never raises the
/// merit, and beside a member it shares all it has, which is nothing.
pub fn choose(
    relevance: &[f32],
    uncertainty: impl Fn(usize, usize) -> f32,
    rules: CfsRules,
    limit: usize,
) -> Vec<usize> {
    let shared = |a: usize, b: usize| {
        let shared = f64::from(uncertainty(a, b));
        if rules.zero_as_one && shared < NOTHING { 1.0 } else { shared }
    };
    // Each with what it shares with all members.
    let relevant = (0..relevance.len()).filter(|&feature| relevance[feature] > 0.0);
    let mut rest: Vec<(usize, f64)> = relevant.map(|feature| (feature, 0.0)).collect();
    let relevance = |feature: usize| f64::from(relevance[feature]);
    let mut chosen = Vec::new();
    let (mut merit, mut with_class, mut with_each_other) = (0.0, 0.0, 0.0);
    while chosen.len() < limit {
        let mut best = None;
        for (at, &(feature, shares)) in rest.iter().enumerate() {
            let size = (chosen.len() + 1) as f64;
            let new = (with_class + relevance(feature))
                / (size + 2.0 * (with_each_other + shares)).sqrt();
            if new > merit {
                (merit, best) = (new, Some(at));
            }
        }
        let Some(at) = best else { break };
        let (member, shares) = rest.remove(at);
        with_class += relevance(member);
        with_each_other += shares;
        chosen.push(member);
        for (feature, shares) in &mut rest {
            *shares += shared(member, *feature);
        }
    }
    if rules.locally_predictive {
        rest.sort_by(|a, b| relevance(b.0).total_cmp(&relevance(a.0)));
        for (feature, _) in rest {
            if chosen.len() == limit {
                break;
            }
            if chosen.iter().all(|&member| shared(member, feature) <= relevance(feature)) {
                chosen.push(feature);
            }
        }
    }
    chosen
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
        let mut below = subset.len() as f64;
        for (at, &a) in subset.iter().enumerate() {
            for &b in &subset[..at] {
                let su = f64::from(shared(a, b));
                below += 2.0 * if zero_as_one && su < 1e-6 { 1.0 } else { su };
            }
        }
        subset.iter().map(|&f| f64::from(relevance[f])).sum::<f64>() / below.sqrt()
    }

    fn example(a: usize, b: usize) -> f32 {
        match (a.min(b), a.max(b)) {
            (0, 1) => 0.7,
            (0, 2) => 0.1,
            _ => 0.2,
        }
    }

    #[test]
    fn the_worked_example_chooses_the_first_and_the_third() {
        let relevance = [0.8, 0.6, 0.5];
        for (subset, expected) in
            [(&[0][..], 0.8), (&[0, 1], 0.759_257), (&[0, 2], 0.876_460), (&[0, 1, 2], 0.849_706)]
        {
            assert!((merit(subset, &relevance, &example, true) - expected).abs() < 5e-7);
        }
        assert_eq!(choose(&relevance, example, GREEDY, 3), [0, 2]);
        assert_eq!(choose(&relevance, example, CfsRules::default(), 3), [0, 2]);
        assert_eq!(choose(&relevance, example, CfsRules::default(), 1), [0]);
    }

    #[test]
    fn a_feature_no_member_stands_for_enters_in_the_end() {
        // Too weak to raise the merit, but its own.
        let shared = |_, _| 0.15;
        assert_eq!(choose(&[0.9, 0.2], shared, GREEDY, 2), [0]);
        assert_eq!(choose(&[0.9, 0.2], shared, CfsRules::default(), 2), [0, 1]);
        assert_eq!(choose(&[0.9, 0.2], shared, CfsRules::default(), 1), [0]);
    }

    #[test]
    fn sharing_nothing_counts_as_sharing_all_if_so_ruled() {
        let shared = |_, _| 0.0;
        assert_eq!(choose(&[0.9, 0.8], shared, CfsRules::default(), 2), [0]);
        let plain = CfsRules { zero_as_one: false, ..CfsRules::default() };
        assert_eq!(choose(&[0.9, 0.8, 0.0], shared, plain, 3), [0, 1]);
    }

    /// The rules word by word, on all features, every merit from its definition.
    fn naive(
        relevance: &[f32],
        shared: &impl Fn(usize, usize) -> f32,
        rules: CfsRules,
        limit: usize,
    ) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < limit {
            let of = |subset: &[usize]| merit(subset, relevance, shared, rules.zero_as_one);
            let now = if chosen.is_empty() { 0.0 } else { of(&chosen) };
            let mut best: Option<(f64, usize)> = None;
            for feature in (0..relevance.len()).filter(|feature| !chosen.contains(feature)) {
                let new = of(&[chosen.clone(), vec![feature]].concat());
                if new > now && best.is_none_or(|best| new > best.0) {
                    best = Some((new, feature));
                }
            }
            match best {
                Some((_, feature)) => chosen.push(feature),
                None => break,
            }
        }
        let mut rest: Vec<usize> = (0..relevance.len()).filter(|f| !chosen.contains(f)).collect();
        rest.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]).then(a.cmp(&b)));
        rest.retain(|&f| rules.locally_predictive && (rules.zero_as_one || relevance[f] > 0.0));
        for feature in rest {
            let of = |m: usize| {
                let su = shared(m, feature);
                if rules.zero_as_one && su < 1e-6 { 1.0 } else { su }
            };
            if chosen.len() < limit && !chosen.iter().any(|&m| of(m) > relevance[feature]) {
                chosen.push(feature);
            }
        }
        chosen
    }

    proptest! {
        #[test]
        fn the_chosen_are_those_of_the_naive_rules(
            relevance in proptest::collection::vec(0u8..16, 1..14),
            pairs in proptest::collection::vec(0u8..16, 14 * 14),
            (zero_as_one, locally_predictive) in any::<(bool, bool)>(),
            limit in 1usize..15,
        ) {
            // Sixteenths add up exactly, so that both see the same ties. What is irrelevant shares nothing.
            let relevance: Vec<f32> = relevance.iter().map(|&x| f32::from(x) / 16.0).collect();
            let shared = |a: usize, b: usize| {
                if relevance[a] == 0.0 || relevance[b] == 0.0 { return 0.0; }
                f32::from(pairs[a.min(b) * 14 + a.max(b)]) / 16.0
            };
            let rules = CfsRules { zero_as_one, locally_predictive };
            let mut expected = naive(&relevance, &shared, rules, limit);
            // Where all are irrelevant the caller decides, not this function.
            expected.retain(|&feature| relevance[feature] > 0.0);
            prop_assert_eq!(choose(&relevance, shared, rules, limit), expected);
        }
    }
}
