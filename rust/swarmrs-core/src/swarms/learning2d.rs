//! The 2D-learning framework: a velocity also learns the number of features to select.
//!
//! A velocity v has two rows: `sizes`, the likelihood of each cardinality, and `features`, the likelihood of each feature.
//! Both rows learn from an exemplar α, by its learning set L(α), and are never clamped:
//!
//! ```text
//! L(α)  = [φ(α); α and not x]      φ(α) is 1 at |α|, else 0; all 0 for the empty set
//! Lself = [φ(x); x]                weighted by the self-influence Δ
//! δ     = 1 - f / max f            over the current costs of the swarm; 0 for all particles if max f = 0
//! Δ     = δ if f fell since the last iteration, else -δ; δ in the first
//! x     <- the ξ most likely features, ξ drawn by roulette wheel from the likelihoods of cardinalities
//! ```
//!
//! Negative likelihoods count as 0 on the roulette wheel; if all are, cardinalities are equally likely. Cardinalities above
//! the limit of the space are not on the wheel, so a new position always has the drawn size. An infinite cost counts as the
//! largest finite one of its iteration. For negative costs, which the paper does not consider, δ is computed from costs
//! scaled to 0..1.

use crate::base::isa::Isa;
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::scale::unit_costs;
use crate::operators::selection::{roulette, top_k};
use crate::problem::objective::Cost;
use crate::search::algorithm::{Evaluation, Iteration, Space};
use crate::simd::words;
use crate::swarms::bests::Bests;

/// A velocity of two rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihoods {
    /// The likelihood of each size, from 1 up.
    pub sizes: Vec<f64>,
    /// The likelihood of each feature.
    pub features: Vec<f64>,
}

impl Likelihoods {
    /// Draws both rows from [0, 1), the sizes first.
    pub fn random(n_features: usize, rng: &mut Rng) -> Self {
        let mut row = || words::some_units(n_features, rng);
        Self { sizes: row(), features: row() }
    }

    /// v <- w v.
    pub fn scale(&mut self, w: f64) {
        for likelihood in self.sizes.iter_mut().chain(&mut self.features) {
            *likelihood *= w;
        }
    }

    /// v <- v + weight L(exemplar), for a particle at `x`.
    pub fn learn(&mut self, weight: f64, exemplar: &Subset, x: &Subset) {
        self.add(weight, exemplar.count(), &exemplar.difference(x));
    }

    /// v <- v + Δ Lself, for a particle at `x`.
    pub fn reinforce(&mut self, influence: f64, x: &Subset) {
        self.add(influence, x.count(), x);
    }

    /// The subset for a roulette pointer at `u`, of at most `limit` features.
    pub fn choose(&self, limit: usize, u: f64) -> Subset {
        top_k(&self.features, roulette(&self.sizes[..limit], u) + 1)
    }

    fn add(&mut self, weight: f64, size: usize, features: &Subset) {
        if size > 0 {
            self.sizes[size - 1] += weight;
        }
        for word in words::of(features.len()) {
            let bits = [features.words()[word.at]];
            let likelihoods = &mut self.features[word.range()];
            words::update(
                Isa::usual(),
                likelihoods,
                bits,
                |_, v, [is_in]| {
                    if is_in { v + weight } else { v }
                },
            );
        }
    }
}

/// δ of every particle: its relative improvement over the worst finite cost.
pub fn merits(costs: &[Cost]) -> Vec<f64> {
    if costs.iter().any(|cost| cost.value() < 0.0) {
        return unit_costs(costs).into_iter().map(|cost| 1.0 - cost).collect();
    }
    let finite = costs.iter().map(|cost| cost.value()).filter(|cost| cost.is_finite());
    let worst = finite.fold(0.0, f64::max);
    let merit = |cost: &Cost| {
        if worst > 0.0 { (1.0 - cost.value() / worst).max(0.0) } else { 0.0 }
    };
    costs.iter().map(merit).collect()
}

/// One particle of a 2D-learning swarm.
#[derive(Debug)]
pub struct Particle2d {
    /// Its position.
    pub x: Subset,
    /// Its velocity.
    pub velocity: Likelihoods,
    /// Δ, the self-influence.
    pub influence: f64,
    cost: Option<Cost>,
    stall: usize,
}

impl Particle2d {
    /// Redraws the velocity if the personal best has not improved for `gap` moves.
    pub fn refresh(&mut self, gap: usize, rng: &mut Rng) {
        if self.stall >= gap {
            self.velocity = Likelihoods::random(self.x.len(), rng);
            self.stall = 0;
        }
    }

    fn update(&mut self, cost: Cost, merit: f64, is_better: bool) {
        let has_fallen = self.cost.is_none_or(|before| cost < before);
        self.influence = if has_fallen { merit } else { -merit };
        self.cost = Some(cost);
        self.stall = if is_better { 0 } else { self.stall + 1 };
    }
}

/// The particles and their bests.
#[derive(Debug, Default)]
pub struct Swarm2d {
    /// The particles.
    pub particles: Vec<Particle2d>,
    /// Their best positions.
    pub bests: Bests,
}

impl Swarm2d {
    /// Draws the initial positions, and after each position its velocity.
    pub fn start(
        &mut self,
        population: usize,
        space: &Space,
        iteration: &Iteration<'_>,
    ) -> Vec<Subset> {
        let draw = |particle| {
            let mut rng = iteration.rng(particle);
            let x = space.random(&mut rng);
            let velocity = Likelihoods::random(space.n_features(), &mut rng);
            Particle2d { x, velocity, cost: None, influence: 0.0, stall: 0 }
        };
        self.particles = (0..population).map(draw).collect();
        self.particles.iter().map(|particle| particle.x.clone()).collect()
    }

    /// Updates bests and self-influences; returns for each particle whether its personal best improved.
    pub fn update(&mut self, evaluations: &[Evaluation]) -> Vec<bool> {
        let costs: Vec<Cost> = evaluations.iter().map(|new| new.cost).collect();
        let improved = self.bests.update(evaluations);
        let results = costs.iter().zip(merits(&costs)).zip(&improved);
        for (particle, ((&cost, merit), &is_better)) in self.particles.iter_mut().zip(results) {
            particle.update(cost, merit, is_better);
        }
        improved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::bits;
    use proptest::prelude::*;

    /// v <- w v + Σ weight L(exemplar) + Δ Lself.
    fn learn(v: &mut Likelihoods, w: f64, from: &[(f64, &Subset)], influence: f64, x: &Subset) {
        v.scale(w);
        for (weight, exemplar) in from {
            v.learn(*weight, exemplar, x);
        }
        v.reinforce(influence, x);
    }

    fn zero() -> Likelihoods {
        Likelihoods { sizes: vec![0.0; 5], features: vec![0.0; 5] }
    }

    /// The worked examples print four decimals.
    fn assert_near(found: &[f64], expected: [f64; 5]) {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5e-5), "{found:?}");
    }

    #[test]
    fn learning_sets_are_those_of_the_paper() {
        // Weights 1 and 0 show the learning set itself.
        let mut v = zero();
        learn(&mut v, 0.0, &[(1.0, &bits("10110"))], 0.0, &bits("11001"));
        assert_eq!(v.sizes, [0.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!(v.features, [0.0, 0.0, 1.0, 1.0, 0.0]);
        let mut v = zero();
        learn(&mut v, 0.0, &[], 1.0, &bits("11001"));
        assert_eq!(v.features, [1.0, 1.0, 0.0, 0.0, 1.0]);
        let mut v = zero();
        learn(&mut v, 0.0, &[(1.0, &bits("00000"))], 0.0, &bits("11001"));
        assert_eq!(v, zero(), "the learning set of the empty set is 0");
    }

    #[test]
    fn each_term_has_the_entries_of_section_3_4() {
        // One weight at a time: w, c1 r1, c2 r2 and Δ of the symbolic result.
        let (x, own, global) = (bits("10101"), bits("01001"), bits("11010"));
        let only = |w: f64, c1: f64, c2: f64, delta: f64| {
            let mut v = Likelihoods { sizes: vec![1.0; 5], features: vec![1.0; 5] };
            learn(&mut v, w, &[(c1, &own), (c2, &global)], delta, &x);
            [v.sizes, v.features]
        };
        assert_eq!(only(1.0, 0.0, 0.0, 0.0), [[1.0; 5]; 2]);
        let rows = [[0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]];
        assert_eq!(only(0.0, 1.0, 0.0, 0.0), rows);
        let rows = [[0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0, 0.0]];
        assert_eq!(only(0.0, 0.0, 1.0, 0.0), rows);
        let rows = [[0.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0, 1.0]];
        assert_eq!(only(0.0, 0.0, 0.0, 1.0), rows);
    }

    #[test]
    fn a_move_has_the_worked_numbers() {
        let mut v = Likelihoods {
            sizes: vec![0.2, 0.4, 0.6, 0.8, 1.0],
            features: vec![0.1, 0.3, 0.5, 0.7, 0.9],
        };
        let pulls = [(1.49 * 0.5, &bits("01001")), (1.49 * 0.8, &bits("11010"))];
        learn(&mut v, 0.729, &pulls, 0.2, &bits("10101"));
        assert_near(&v.sizes, [0.1458, 1.0366, 1.8294, 0.5832, 0.7290]);
        assert_near(&v.features, [0.2729, 2.1557, 0.5645, 1.7023, 0.8561]);
        assert_eq!(v.choose(5, 0.5), bits("01011"));
    }

    #[test]
    fn roulette_and_ranking_are_those_of_section_3_5() {
        let v = Likelihoods {
            sizes: vec![0.14, 2.56, 1.35, 0.38, 0.71],
            features: vec![1.31, 2.40, 0.57, 1.46, 1.30],
        };
        assert_eq!(v.choose(5, 0.632_296), bits("11010"));
        assert_eq!(v.choose(2, 0.999), bits("01010"), "sizes above the limit are not on the wheel");
    }

    #[test]
    fn merits_have_the_worked_values() {
        let of = |costs: &[f64]| merits(&costs.iter().map(|&c| Cost::new(c)).collect::<Vec<_>>());
        assert_eq!(of(&[0.2, 0.1, 0.4]), [0.5, 0.75, 0.0]);
        assert_eq!(of(&[0.0, 0.0, 0.0]), [0.0; 3]);
        assert_eq!(of(&[-4.0, -2.0, -3.0]), [1.0, 0.0, 0.5]);
        assert_eq!(of(&[1.0, f64::INFINITY, 4.0]), [0.75, 0.0, 0.0]);
        assert_eq!(of(&[f64::INFINITY, 0.0]), [0.0; 2]);
    }

    #[test]
    fn influence_is_negative_unless_the_cost_fell() {
        let velocity = zero();
        let mut learner =
            Particle2d { x: bits("10000"), velocity, influence: 0.0, cost: None, stall: 0 };
        let influences = [0.4, 0.3, 0.3, 0.35].map(|cost| {
            learner.update(Cost::new(cost), 0.5, false);
            learner.influence
        });
        assert_eq!(influences, [0.5, 0.5, -0.5, -0.5]);
    }

    proptest! {
        #[test]
        fn moves_keep_their_bounds(
            seed: u64,
            n in 1usize..40,
            limit in 1usize..40,
            (w, c) in (0.0f64..0.95, 0.0f64..3.0),
        ) {
            let limit = limit.min(n);
            let space = Space::new(n, limit);
            let streams = crate::base::random::Streams::new(seed);
            let mut rng = streams.rng(0, crate::base::random::Phase::Ask, 0);
            let (mut x, mut v) = (space.random(&mut rng), Likelihoods::random(n, &mut rng));
            for _ in 0..50 {
                let (own, global) = (space.random(&mut rng), space.random(&mut rng));
                let pulls = [(c * rng.unit(), &own), (c * rng.unit(), &global)];
                learn(&mut v, w, &pulls, 2.0 * rng.unit() - 1.0, &x);
                let u = rng.unit();
                x = v.choose(limit, u);
                prop_assert_eq!(x.count(), roulette(&v.sizes[..limit], u) + 1);
                prop_assert!((1..=limit).contains(&x.count()));
                let (least, most) = (-1.0 / (1.0 - w), (2.0 * c + 1.0) / (1.0 - w));
                let all = v.sizes.iter().chain(&v.features);
                // The bounds hold for exact sums; a rounded one may miss by its last bits.
                prop_assert!(all.clone().all(|&v| v > least - 1e-9 && v < most + 1e-9));
            }
        }
    }
}
