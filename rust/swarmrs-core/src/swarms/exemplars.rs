//! A continuous swarm whose particles learn from exemplars, as in comprehensive learning PSO. Particles may differ in
//! length; dimension d is the same feature in all particles that have it.

use crate::base::isa::Isa;
use crate::base::random::{Rng, WORDS};
use crate::base::subset::Subset;
use crate::operators::ordering::{CostAndSize, cost_and_size};
use crate::operators::threshold::select_as;
use crate::operators::topology::{Exemplar, ExemplarSampler};
use crate::operators::velocity;
use crate::search::algorithm::{Evaluation, Iteration, Space};
use crate::simd::words;

/// The kinds of random streams of a particle. Separate streams keep the random numbers of one kind independent of whether
/// another kind is used.
#[derive(Debug, Clone, Copy)]
pub enum StreamKind {
    /// Initial positions and moves.
    Move,
    /// Exemplars.
    Exemplars,
    /// Local search.
    LocalSearch,
    /// Changes of length.
    Resize,
}

/// A particle, without its personal best.
#[derive(Debug, Clone, Default)]
pub struct Particle {
    /// Its position.
    pub x: Vec<f64>,
    /// Its velocity.
    pub v: Vec<f64>,
    /// The dimensions that learn from other particles, ascending.
    pub exemplars: Vec<Exemplar>,
    /// Moves since its personal best last improved.
    pub stall: usize,
}

/// A personal best.
#[derive(Debug, Clone)]
pub struct Best {
    /// The position, of the length of the particle.
    pub x: Vec<f64>,
    /// Its cost and size.
    pub cost_and_size: CostAndSize,
}

/// Particles and their bests.
#[derive(Debug)]
pub struct ExemplarSwarm {
    space: Space,
    /// The bound of initial velocities.
    velocity_limit: f64,
    /// A feature is selected if its coordinate is above this.
    threshold: f64,
    /// The feature of each dimension.
    pub order: Vec<usize>,
    /// The particles.
    pub particles: Vec<Particle>,
    /// The personal bests, once the particles are evaluated.
    pub bests: Vec<Best>,
}

impl ExemplarSwarm {
    /// Particles of these lengths before their first iteration; `order` has the feature of each dimension.
    pub fn new(
        (velocity_limit, threshold): (f64, f64),
        order: Vec<usize>,
        lengths: &[usize],
        space: &Space,
    ) -> Self {
        let of = |&length: &usize| Particle {
            x: vec![0.0; length],
            v: vec![0.0; length],
            ..Particle::default()
        };
        let particles = lengths.iter().map(of).collect();
        Self {
            space: space.clone(),
            velocity_limit,
            threshold,
            order,
            particles,
            bests: Vec::new(),
        }
    }

    /// The random stream of a particle; to be taken once per iteration and phase.
    pub fn rng(&self, iteration: &Iteration<'_>, kind: StreamKind, particle: usize) -> Rng {
        iteration.rng(kind as usize * self.particles.len() + particle)
    }

    /// The lengths of all particles.
    pub fn lengths(&self) -> Vec<usize> {
        self.particles.iter().map(|particle| particle.x.len()).collect()
    }

    /// Draws uniform positions and velocities; particles that are `full` start with all their features selected.
    pub fn start(
        &mut self,
        iteration: &Iteration<'_>,
        full: impl Fn(usize) -> bool + Sync,
    ) -> Vec<Subset> {
        self.map_particles(iteration, |swarm, index, particle, rng| {
            if full(index) {
                particle.x.fill(1.0);
            } else {
                words::units(rng, &mut particle.x);
            }
            velocity::draw(&mut particle.v, swarm.velocity_limit, rng);
            swarm.select(&mut particle.x, rng)
        })
    }

    /// Moves every particle: `rule` gets position x, velocity v, exemplar position e and random number r of a dimension, and
    /// returns the new x and v.
    pub fn advance(
        &mut self,
        iteration: &Iteration<'_>,
        rule: impl Fn(f64, f64, f64, f64) -> (f64, f64) + Sync,
    ) -> Vec<Subset> {
        self.map_particles(iteration, |swarm, index, particle, rng| {
            swarm.step(index, particle, &rule, rng);
            swarm.select(&mut particle.x, rng)
        })
    }

    /// Applies `work` to every particle in parallel, with its own random stream; `work` may read the personal bests.
    fn map_particles<R: Send>(
        &mut self,
        iteration: &Iteration<'_>,
        work: impl Fn(&Self, usize, &mut Particle, &mut Rng) -> R + Sync,
    ) -> Vec<R> {
        let mut particles = std::mem::take(&mut self.particles);
        let first_slot = StreamKind::Move as usize * particles.len();
        let indexed = particles.iter_mut().enumerate().collect();
        let results = iteration.map(indexed, |(index, particle)| {
            work(self, index, particle, &mut iteration.rng(first_slot + index))
        });
        self.particles = particles;
        results
    }

    /// Moves one particle.
    fn step(
        &self,
        index: usize,
        particle: &mut Particle,
        rule: &impl Fn(f64, f64, f64, f64) -> (f64, f64),
        rng: &mut Rng,
    ) {
        let own = &self.bests[index].x;
        let mut exemplars = particle.exemplars.iter().peekable();
        for word in words::of(particle.x.len()) {
            let mut exemplar = [0.0; WORDS];
            exemplar[..word.count].copy_from_slice(&own[word.range()]);
            while let Some(&(d, who)) =
                exemplars.next_if(|(d, _)| word.range().contains(&(*d as usize)))
            {
                exemplar[d as usize - word.from] = self.bests[who as usize].x[d as usize];
            }
            let r = word.units(rng);
            let (x, v) = (&mut particle.x[word.range()], &mut particle.v[word.range()]);
            words::advance(rng.isa(), x, v, [&exemplar, &r], |x, v, [e, r]| rule(x, v, e, r));
        }
    }

    /// The features that a position selects, made feasible; see [`threshold`](crate::operators::threshold).
    pub fn select(&self, x: &mut [f64], rng: &mut Rng) -> Subset {
        let feature_of = |d: usize| self.order[d];
        self.features(&select_as(x, self.threshold, &self.space, feature_of, rng))
    }

    /// The dimensions that a position selects.
    pub fn selected_dimensions(&self, x: &[f64]) -> Subset {
        words::all_above(Isa::usual(), x, self.threshold)
    }

    /// The features of some dimensions.
    pub fn features(&self, dimensions: &Subset) -> Subset {
        Subset::from_indices(self.order.len(), dimensions.iter().map(|d| self.order[d]))
    }

    /// Updates personal bests and stalls; returns for each particle whether its personal best improved.
    pub fn update(&mut self, evaluations: &[Evaluation]) -> Vec<bool> {
        if self.bests.is_empty() {
            let start = |(particle, tried): (&Particle, _)| Best {
                x: particle.x.clone(),
                cost_and_size: cost_and_size(tried),
            };
            self.bests = self.particles.iter().zip(evaluations).map(start).collect();
            return vec![true; evaluations.len()];
        }
        (0..evaluations.len())
            .map(|index| {
                let improved = self.update_best(index, &evaluations[index]);
                let particle = &mut self.particles[index];
                particle.stall = if improved { 0 } else { particle.stall + 1 };
                improved
            })
            .collect()
    }

    /// Updates one personal best; returns true if it improved.
    pub fn update_best(&mut self, index: usize, tried: &Evaluation) -> bool {
        let (best, new) = (&mut self.bests[index], cost_and_size(tried));
        let improved = new < best.cost_and_size;
        if improved {
            best.x.clone_from(&self.particles[index].x);
            best.cost_and_size = new;
        }
        improved
    }

    /// The cost and size of each personal best.
    pub fn best_costs(&self) -> Vec<CostAndSize> {
        self.bests.iter().map(|best| best.cost_and_size).collect()
    }

    /// Draws exemplars for the particles that are `due`, with the learning probability of each particle, and resets their
    /// stall. If they `must` learn from others, a particle that would learn from itself alone gets one other exemplar.
    pub fn draw_exemplars(
        &mut self,
        iteration: &Iteration<'_>,
        probabilities: &[f64],
        must: bool,
        due: impl Fn(&Particle) -> bool,
    ) {
        let (sampler, best_costs) = (ExemplarSampler::new(self.lengths()), self.best_costs());
        let first_slot = StreamKind::Exemplars as usize * self.particles.len();
        let particles = self.particles.iter_mut().enumerate().filter(|(_, one)| due(one)).collect();
        iteration.map(particles, |(index, particle): (usize, &mut Particle)| {
            let mut rng = iteration.rng(first_slot + index);
            particle.stall = 0;
            particle.exemplars = sampler.draw(index, probabilities[index], &best_costs, &mut rng);
            if must && particle.exemplars.is_empty() {
                particle.exemplars.extend(sampler.draw_one(index, &mut rng));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use crate::problem::objective::Cost;
    use proptest::prelude::*;

    fn swarm(lengths: &[usize]) -> ExemplarSwarm {
        let n = lengths.iter().copied().max().unwrap();
        let mut swarm =
            ExemplarSwarm::new((0.6, 0.6), (0..n).collect(), lengths, &Space::new(n, n));
        let best =
            |&length: &usize| Best { x: vec![0.0; length], cost_and_size: (Cost::new(0.5), 1) };
        swarm.bests = lengths.iter().map(best).collect();
        swarm
    }

    /// A rule with inertia `w`.
    fn rule(w: f64) -> impl Fn(f64, f64, f64, f64) -> (f64, f64) {
        move |x, v, e, r| {
            let v = (w * v + 1.494_45 * r * (e - x)).clamp(-0.6, 0.6);
            ((x + v).clamp(0.0, 1.0), v)
        }
    }

    #[test]
    fn every_dimension_moves_by_the_rule() {
        let mut swarm = swarm(&[600, 600]);
        let mut draw = Streams::new(4).rng(0, Phase::Ask, 9);
        for best in &mut swarm.bests {
            best.x.fill_with(|| draw.unit());
        }
        let mut particle = swarm.particles[0].clone();
        particle.x.fill_with(|| draw.unit());
        particle.v.fill_with(|| draw.unit() - 0.5);
        particle.exemplars = vec![(0, 1), (255, 1), (256, 1), (599, 1)];
        let before = particle.clone();
        swarm.step(0, &mut particle, &rule(0.9), &mut Streams::new(1).rng(1, Phase::Ask, 0));
        let mut rng = Streams::new(1).rng(1, Phase::Ask, 0);
        for d in 0..600 {
            let exemplar = usize::from([0, 255, 256, 599].contains(&d));
            let exemplar = swarm.bests[exemplar].x[d];
            let expected = rule(0.9)(before.x[d], before.v[d], exemplar, rng.unit());
            assert_eq!((particle.x[d], particle.v[d]), expected, "{d}");
        }
    }

    #[test]
    fn dimensions_follow_the_order_of_features() {
        let swarm = ExemplarSwarm::new((0.6, 0.6), vec![2, 0, 1], &[2], &Space::new(3, 3));
        let dimensions = swarm.selected_dimensions(&[0.7, 0.6]);
        assert_eq!(swarm.features(&dimensions), Subset::from_indices(3, [2]));
    }

    proptest! {
        #[test]
        fn positions_and_velocities_keep_their_bounds(seed: u64, w in 0.0f64..2.0) {
            let mut swarm = swarm(&[40]);
            let mut rng = Streams::new(seed).rng(0, Phase::Ask, 0);
            let mut particle = swarm.particles[0].clone();
            particle.x.fill_with(|| rng.unit());
            swarm.bests[0].x.fill_with(|| rng.unit());
            for _ in 0..20 {
                swarm.step(0, &mut particle, &rule(w), &mut rng);
                prop_assert!(particle.x.iter().all(|x| (0.0..=1.0).contains(x)));
                prop_assert!(particle.v.iter().all(|v| v.abs() <= 0.6));
            }
        }
    }
}
