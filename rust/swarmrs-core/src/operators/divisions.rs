//! The lengths of the divisions of a swarm.

/// The lengths of `divisions` divisions of `n` features.
pub fn first_lengths(n: usize, divisions: usize) -> Vec<usize> {
    (1..=divisions).map(|v| (v * n / divisions).max(1)).collect()
}

/// The lengths after division `best` has shown the best: it stays, and the others spread below it.
pub fn next_lengths(lengths: &[usize], best: usize) -> Vec<usize> {
    let (longest, divisions) = (lengths[best], lengths.len());
    let mut k = 0;
    (0..divisions)
        .map(|division| {
            if division == best {
                return longest;
            }
            k += 1;
            (longest * k / divisions).max(1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_have_the_worked_lengths() {
        assert_eq!(first_lengths(5000, 5), [1000, 2000, 3000, 4000, 5000]);
        assert_eq!(
            first_lengths(2308, 12),
            [192, 384, 577, 769, 961, 1154, 1346, 1538, 1731, 1923, 2115, 2308]
        );
        assert_eq!(first_lengths(3, 5), [1, 1, 1, 2, 3]);
    }

    #[test]
    fn lengths_change_as_worked_out() {
        let after = |lengths: &[usize], bests: &[usize]| {
            bests.iter().fold(lengths.to_vec(), |lengths, &best| next_lengths(&lengths, best - 1))
        };
        let five = [1000, 2000, 3000, 4000, 5000];
        assert_eq!(after(&five, &[3]), [600, 1200, 3000, 1800, 2400]);
        // A division counts even where its length is already the new one.
        let four = [400, 800, 1200, 1600];
        assert_eq!(after(&four, &[2]), [200, 800, 400, 600]);
        assert_eq!(after(&four, &[2, 1]), [200, 50, 100, 150]);
        assert_eq!(after(&four, &[2, 1, 3]), [25, 50, 100, 75]);
        assert_eq!(after(&[4, 5, 6, 7, 8], &[1]), [4, 1, 1, 2, 3]);
        assert_eq!(after(&[1, 1, 1, 1], &[3]), [1; 4]);
        // The worked 3000 stays the longest, so division 5 with 2400 cuts again.
        assert_eq!(after(&five, &[3, 5]), [480, 960, 1440, 1920, 2400]);
    }
}
