//! Topologies: the particles that a particle learns from, in a neighborhood or feature by feature.

use super::ordering::CostAndSize;
use crate::base::math::exp;
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::problem::objective::Cost;

/// The particle with the best personal best among `particle` and its two neighbors on a ring.
///
/// Ties go to the particle itself, then to the previous neighbor.
pub fn ring_best(own: &[(Subset, Cost)], particle: usize) -> usize {
    let n = own.len();
    [particle, (particle + n - 1) % n, (particle + 1) % n]
        .into_iter()
        .min_by_key(|&neighbor| own[neighbor].1)
        .unwrap_or(particle)
}

/// Pc, the learning probability of CLPSO: the probability that a dimension of the particle with this rank learns from
/// another particle. It grows from 0.05 for rank 0 to 0.5 for the last rank.
pub fn learning_probability(rank: usize, population: usize) -> f64 {
    if population < 2 {
        return 0.05;
    }
    let fraction = rank as f64 / (population - 1) as f64;
    0.05 + 0.45 * (exp(10.0 * fraction) - 1.0) / (exp(10.0) - 1.0)
}

/// The rank of each particle by its personal best, 0 for the best; ties in the order of particles.
pub fn ranks(bests: &[CostAndSize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..bests.len()).collect();
    order.sort_by_key(|&particle| bests[particle]);
    let mut ranks = vec![0; bests.len()];
    for (rank, particle) in order.into_iter().enumerate() {
        ranks[particle] = rank;
    }
    ranks
}

/// Draws exemplars among the particles that have a dimension; particles are sorted by descending length.
#[derive(Debug)]
pub struct ExemplarSampler {
    by_length: Vec<usize>,
    /// The position of each particle in `by_length`.
    position: Vec<usize>,
    lengths: Vec<usize>,
}

/// A dimension and the particle whose personal best is its exemplar.
pub type Exemplar = (u32, u32);

impl ExemplarSampler {
    /// A sampler for particles of these lengths.
    pub fn new(lengths: Vec<usize>) -> Self {
        let mut by_length: Vec<usize> = (0..lengths.len()).collect();
        by_length.sort_by_key(|&particle| std::cmp::Reverse(lengths[particle]));
        let mut position = vec![0; lengths.len()];
        for (i, &particle) in by_length.iter().enumerate() {
            position[particle] = i;
        }
        Self { by_length, position, lengths }
    }

    /// Draws the exemplars of a particle: for each dimension the particle itself, or with the given probability the better
    /// of two other particles that have the dimension, if there are two. Dimensions that learn from the particle itself are
    /// not listed.
    pub fn draw(
        &self,
        particle: usize,
        probability: f64,
        bests: &[CostAndSize],
        rng: &mut Rng,
    ) -> Vec<Exemplar> {
        // The first `n_candidates` particles by length have dimension d.
        let mut n_candidates = self.by_length.len();
        let mut exemplars = Vec::new();
        for d in 0..self.lengths[particle] {
            while self.lengths[self.by_length[n_candidates - 1]] <= d {
                n_candidates -= 1;
            }
            if rng.bernoulli(probability) && n_candidates > 2 {
                let [first, second] = self.two_others(particle, n_candidates, rng);
                let better = bests[first] < bests[second];
                exemplars.push((d as u32, if better { first } else { second } as u32));
            }
        }
        exemplars
    }

    /// A random other particle as the exemplar of a random dimension; None for a single particle.
    pub fn draw_one(&self, particle: usize, rng: &mut Rng) -> Option<Exemplar> {
        let n_others = self.by_length.len() - 1;
        (n_others > 0).then(|| {
            let d = rng.below(self.lengths[particle]);
            let index = rng.below(n_others);
            (d as u32, self.other(particle, index) as u32)
        })
    }

    fn two_others(&self, particle: usize, n_candidates: usize, rng: &mut Rng) -> [usize; 2] {
        let first = rng.below(n_candidates - 1);
        let second = rng.below(n_candidates - 2);
        let second = second + usize::from(second >= first);
        [self.other(particle, first), self.other(particle, second)]
    }

    /// The particle at this index by length, without counting `particle` itself.
    fn other(&self, particle: usize, index: usize) -> usize {
        self.by_length[index + usize::from(index >= self.position[particle])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Rng, Streams};
    use proptest::prelude::*;

    #[test]
    fn a_ring_has_two_neighbors_and_is_closed() {
        let own: Vec<(Subset, Cost)> =
            [0.3, 0.3, 0.1, 0.2, 0.2].map(|cost| (Subset::empty(1), Cost::new(cost))).into();
        let best: Vec<usize> = (0..5).map(|particle| ring_best(&own, particle)).collect();
        assert_eq!(best, [4, 2, 2, 2, 4]);
        assert_eq!(ring_best(&own[..2], 1), 1, "among equals a particle follows itself");
        assert_eq!(ring_best(&own[..1], 0), 0);
    }

    fn rng(seed: u64) -> Rng {
        Streams::new(seed).rng(0, Phase::Tell, 0)
    }

    fn bests(costs: &[f64]) -> Vec<CostAndSize> {
        costs.iter().map(|&cost| (Cost::new(cost), 1)).collect()
    }

    #[test]
    fn learning_probabilities_have_the_worked_values() {
        let worked = [0.05, 0.050_228_468_4, 0.053_011_782_9, 0.086_919_495_6, 0.5];
        for (rank, expected) in worked.into_iter().enumerate() {
            // Ten decimals are printed.
            assert!((learning_probability(rank, 5) - expected).abs() < 5e-11, "{rank}");
        }
        assert_eq!(learning_probability(0, 1), 0.05);
    }

    #[test]
    fn ranks_are_by_cost_then_size_then_index() {
        let key = |cost, size| (Cost::new(cost), size);
        let found = ranks(&[key(0.3, 1), key(0.1, 5), key(0.1, 4), key(0.3, 1)]);
        assert_eq!(found, [2, 1, 0, 3]);
    }

    #[test]
    fn every_pair_of_others_is_drawn_equally_often() {
        let roster = ExemplarSampler::new(vec![4; 4]);
        let mut rng = rng(3);
        let mut counts = [[0f64; 4]; 4];
        for _ in 0..60_000 {
            let [a, b] = roster.two_others(2, 4, &mut rng);
            counts[a][b] += 1.0;
        }
        let pairs = [(0, 1), (0, 3), (1, 0), (1, 3), (3, 0), (3, 1)];
        let chi: f64 = pairs.iter().map(|&(a, b)| (counts[a][b] - 1e4).powi(2) / 1e4).sum();
        // Chi-square with 5 degrees of freedom; 20.5 is its 0.999 quantile, and the seed is fixed.
        assert!(chi < 20.5, "{chi}");
        assert_eq!(pairs.iter().map(|&(a, b)| counts[a][b]).sum::<f64>(), 60_000.0);
    }

    #[test]
    fn the_better_of_two_is_the_exemplar() {
        // With two others, both are drawn, and the better one is the exemplar; ties go to the second drawn.
        let roster = ExemplarSampler::new(vec![50; 3]);
        let exemplars = roster.draw(1, 1.0, &bests(&[0.2, 0.0, 0.1]), &mut rng(1));
        assert_eq!(exemplars.len(), 50);
        assert!(exemplars.iter().all(|&(_, who)| who == 2));
        let equal = roster.draw(1, 1.0, &bests(&[0.2, 0.0, 0.2]), &mut rng(1));
        assert!(equal.iter().any(|&(_, who)| who == 0) && equal.iter().any(|&(_, who)| who == 2));
    }

    #[test]
    fn a_particle_without_exemplars_gets_one() {
        let roster = ExemplarSampler::new(vec![9; 5]);
        assert!(roster.draw(2, 0.0, &bests(&[0.1; 5]), &mut rng(1)).is_empty());
        let (d, who) = roster.draw_one(2, &mut rng(1)).unwrap();
        assert!(d < 9 && who < 5 && who != 2);
        assert_eq!(ExemplarSampler::new(vec![9]).draw_one(0, &mut rng(1)), None);
    }

    proptest! {
        #[test]
        fn exemplars_have_their_dimension(
            lengths in proptest::collection::vec(1usize..40, 1..12), me: prop::sample::Index, seed: u64,
        ) {
            let me = me.index(lengths.len());
            let roster = ExemplarSampler::new(lengths.clone());
            let exemplars = roster.draw(me, 0.7, &bests(&vec![0.5; lengths.len()]), &mut rng(seed));
            prop_assert!(exemplars.is_sorted_by(|a, b| a.0 < b.0));
            for (d, who) in exemplars {
                let (d, who) = (d as usize, who as usize);
                prop_assert!(d < lengths[me] && who != me && lengths[who] > d);
                prop_assert!((0..lengths.len()).filter(|&j| j != me && lengths[j] > d).count() >= 2);
            }
        }
    }
}
