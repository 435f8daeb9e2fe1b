//! Prescreens: filters that drop features before a search.

use super::{CfsRules, Filter};
use crate::base::error::{Error, Result};

/// A filter that drops features before a search. Irrelevant features are always dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prescreen {
    /// Keeps all relevant features: `su>0`.
    Relevant,
    /// Keeps the K most relevant features: `top=K`.
    Top(usize),
    /// Keeps the features selected by the fast correlation-based filter: `fcbf`.
    Fcbf,
    /// Keeps the features selected by correlation-based feature selection: `cfs`.
    Cfs,
}

impl Prescreen {
    /// Parses a prescreen.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for any other text.
    pub fn read(text: &str) -> Result<Self> {
        let top = || text.strip_prefix("top=")?.parse().ok().filter(|&k| k > 0);
        match text {
            "su>0" => Ok(Self::Relevant),
            "fcbf" => Ok(Self::Fcbf),
            "cfs" => Ok(Self::Cfs),
            _ => top().map(Self::Top).ok_or_else(|| {
                let expected = "fcbf, cfs, su>0 or top=K with K of 1 or more";
                Error::out_of_range("prescreen", text, expected)
            }),
        }
    }

    /// The features that are kept, at most `limit`, in ascending order.
    pub fn survivors(self, filter: &Filter, limit: usize) -> Vec<usize> {
        let first = |count: usize| filter.ranking().iter().take(count).copied().collect();
        let mut survivors: Vec<usize> = match self {
            Self::Relevant => first(limit),
            Self::Top(k) => first(k.min(limit)),
            Self::Fcbf => filter.fcbf(limit),
            Self::Cfs => filter.cfs(CfsRules::default(), limit),
        };
        survivors.retain(|&feature| filter.is_relevant(feature));
        survivors.sort_unstable();
        survivors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::Pool;
    use crate::filter::Levels;
    use std::sync::Arc;

    #[test]
    fn prescreens_are_parsed_or_refused() {
        assert_eq!(Prescreen::read("su>0"), Ok(Prescreen::Relevant));
        assert_eq!(Prescreen::read("top=12"), Ok(Prescreen::Top(12)));
        assert_eq!(Prescreen::read("fcbf"), Ok(Prescreen::Fcbf));
        for bad in ["top=0", "top=", "top=-1", "top", "su", "", "FCBF"] {
            let message = Prescreen::read(bad).unwrap_err().to_string();
            let expected = "fcbf, cfs, su>0 or top=K with K of 1 or more";
            assert_eq!(message, format!("prescreen is {bad}, expected {expected}"));
        }
    }

    #[test]
    fn survivors_are_relevant() {
        // Feature 1 is constant. Feature 2 is a copy of 0; cfs adds it as locally predictive, because SU(0, 2) is not above
        // its relevance.
        let codes: Vec<u32> = (0..20).map(|row| row % 2).collect();
        let class = codes.iter().map(|&code| f64::from(code));
        let values: Vec<f64> =
            class.clone().chain(std::iter::repeat_n(1.0, 20)).chain(class).collect();
        let levels = Arc::new(Levels::new(&values, &codes, 2, &Pool::new(1)));
        let of = |columns: &[usize], rule: &str, limit: usize| {
            let filter = Filter::new(Arc::clone(&levels), columns, 0);
            Prescreen::read(rule).unwrap().survivors(&filter, limit)
        };
        for (rule, expected) in [
            ("su>0", &[0, 2][..]),
            ("top=1", &[0]),
            ("top=3", &[0, 2]),
            ("fcbf", &[0]),
            ("cfs", &[0, 2]),
        ] {
            assert_eq!(of(&[0, 1, 2], rule, 3), expected, "{rule}");
            assert_eq!(of(&[0, 1, 2], rule, 1), [0], "{rule}");
            assert!(of(&[1], rule, 3).is_empty(), "{rule}");
        }
    }
}
