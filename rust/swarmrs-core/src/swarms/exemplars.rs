//! A swarm in the unit cube that learns from exemplars. Its particles may differ in length: dimension d stands for the
//! same feature in all that have it.

use crate::base::isa::Isa;
use crate::base::random::{Rng, WORDS};
use crate::base::subset::Subset;
use crate::operators::ordering::{CostAndSize, cost_and_size};
use crate::operators::threshold::select_as;
use crate::operators::topology::{Exemplar, ExemplarSampler};
use crate::operators::velocity;
use crate::search::algorithm::{Evaluation, Iteration, Space};
use crate::simd::words;

/// The purposes of random numbers: each has streams of its own, so that none depends on whether another was needed.
#[derive(Debug, Clone, Copy)]
pub enum StreamKind {
    /// Starting and moving.
    Move,
    /// Drawing exemplars.
    Exemplars,
    /// Local search.
    LocalSearch,
    /// Growing.
    Resize,
}

/// One particle, without its best.
#[derive(Debug, Clone, Default)]
pub struct Particle {
    /// Its position; its length is the particle's.
    pub x: Vec<f64>,
    /// Its velocity.
    pub v: Vec<f64>,
    /// The dimensions that learn from others, ascending.
    pub exemplars: Vec<Exemplar>,
    /// Moves since its best last improved.
    pub stall: usize,
}

/// The best position of a particle.
#[derive(Debug, Clone)]
pub struct Best {
    /// As long as the particle.
    pub x: Vec<f64>,
    /// Its cost_and_size.
    pub cost_and_size: CostAndSize,
}

/// Particles and their bests.
#[derive(Debug)]
pub struct ExemplarSwarm {
    space: Space,
    /// Velocities start anywhere within plus and minus this.
    velocity_limit: f64,
    /// A feature is selected where its coordinate is above.
    threshold: f64,
    /// The feature of each dimension.
    pub order: Vec<usize>,
    /// The particles.
    pub particles: Vec<Particle>,
    /// Their bests, once they are evaluated.
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

    /// The stream of a particle for one purpose, to be taken once an iteration and phase.
    pub fn rng(&self, iteration: &Iteration<'_>, purpose: StreamKind, particle: usize) -> Rng {
        iteration.rng(purpose as usize * self.particles.len() + particle)
    }

    /// The lengths of all particles.
    pub fn lengths(&self) -> Vec<usize> {
        self.particles.iter().map(|particle| particle.x.len()).collect()
    }

    /// Puts every particle anywhere, those that are `full` where all features are in, and gives it any velocity.
    pub fn start(
        &mut self,
        iteration: &Iteration<'_>,
        full: impl Fn(usize) -> bool + Sync,
    ) -> Vec<Subset> {
        self.each(iteration, |swarm, at, particle, rng| {
            if full(at) {
                particle.x.fill(1.0);
            } else {
                words::units(rng, &mut particle.x);
            }
            velocity::draw(&mut particle.v, swarm.velocity_limit, rng);
            swarm.select(&mut particle.x, rng)
        })
    }

    /// Moves every particle, dimension by dimension: `rule` gets position x, velocity v, the exemplar's position e and
    /// a random number r, and returns the new x and v.
    pub fn advance(
        &mut self,
        iteration: &Iteration<'_>,
        rule: impl Fn(f64, f64, f64, f64) -> (f64, f64) + Sync,
    ) -> Vec<Subset> {
        self.each(iteration, |swarm, at, particle, rng| {
            swarm.fly(at, particle, &rule, rng);
            swarm.select(&mut particle.x, rng)
        })
    }

    /// Moves every particle, all at once, by what may look at the bests.
    fn each<R: Send>(
        &mut self,
        iteration: &Iteration<'_>,
        work: impl Fn(&Self, usize, &mut Particle, &mut Rng) -> R + Sync,
    ) -> Vec<R> {
        let mut particles = std::mem::take(&mut self.particles);
        let slots = StreamKind::Move as usize * particles.len();
        let done = iteration.map(particles.iter_mut().enumerate().collect(), |(at, particle)| {
            work(self, at, particle, &mut iteration.rng(slots + at))
        });
        self.particles = particles;
        done
    }

    fn fly(
        &self,
        at: usize,
        particle: &mut Particle,
        rule: &impl Fn(f64, f64, f64, f64) -> (f64, f64),
        rng: &mut Rng,
    ) {
        let own = &self.bests[at].x;
        let mut exemplars = particle.exemplars.iter().peekable();
        for word in words::of(particle.x.len()) {
            let mut goal = [0.0; WORDS];
            goal[..word.count].copy_from_slice(&own[word.range()]);
            while let Some(&(d, who)) =
                exemplars.next_if(|(d, _)| word.range().contains(&(*d as usize)))
            {
                goal[d as usize - word.from] = self.bests[who as usize].x[d as usize];
            }
            let r = word.units(rng);
            let (x, v) = (&mut particle.x[word.range()], &mut particle.v[word.range()]);
            words::advance(rng.isa(), x, v, [&goal, &r], |x, v, [e, r]| rule(x, v, e, r));
        }
    }

    /// The features a position selects; see [`threshold`](crate::operators::threshold).
    pub fn select(&self, x: &mut [f64], rng: &mut Rng) -> Subset {
        let of = |d: usize| self.order[d];
        self.features(&select_as(x, self.threshold, &self.space, of, rng))
    }

    /// The dimensions a position puts in.
    pub fn chosen(&self, x: &[f64]) -> Subset {
        words::all_above(Isa::usual(), x, self.threshold)
    }

    /// The features of some dimensions.
    pub fn features(&self, dimensions: &Subset) -> Subset {
        Subset::from_indices(self.order.len(), dimensions.iter().map(|d| self.order[d]))
    }

    /// Updates personal bests and stalls; returns whose best improved.
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
            .map(|at| {
                let improved = self.update_best(at, &evaluations[at]);
                let particle = &mut self.particles[at];
                particle.stall = if improved { 0 } else { particle.stall + 1 };
                improved
            })
            .collect()
    }

    /// Updates one personal best; returns true if it improved.
    pub fn update_best(&mut self, at: usize, tried: &Evaluation) -> bool {
        let (best, new) = (&mut self.bests[at], cost_and_size(tried));
        let improved = new < best.cost_and_size;
        if improved {
            best.x.clone_from(&self.particles[at].x);
            best.cost_and_size = new;
        }
        improved
    }

    /// The cost_and_size of each best.
    pub fn best_costs(&self) -> Vec<CostAndSize> {
        self.bests.iter().map(|best| best.cost_and_size).collect()
    }

    /// Draws exemplars for the particles that are `due`, with each one's probability to learn from others; their
    /// patience begins anew. Where they `must` learn, one that would learn from itself alone gets one lesson from
    /// another.
    pub fn assign(
        &mut self,
        iteration: &Iteration<'_>,
        probabilities: &[f64],
        must: bool,
        due: impl Fn(&Particle) -> bool,
    ) {
        let (sampler, best_costs) = (ExemplarSampler::new(self.lengths()), self.best_costs());
        let slots = StreamKind::Exemplars as usize * self.particles.len();
        let particles = self.particles.iter_mut().enumerate().filter(|(_, one)| due(one)).collect();
        iteration.map(particles, |(at, particle): (usize, &mut Particle)| {
            let mut rng = iteration.rng(slots + at);
            particle.stall = 0;
            particle.exemplars = sampler.draw(at, probabilities[at], &best_costs, &mut rng);
            if must && particle.exemplars.is_empty() {
                particle.exemplars.extend(sampler.draw_one(at, &mut rng));
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
    fn every_dimension_moves_by_the_rule_with_the_drawn_number() {
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
        swarm.fly(0, &mut particle, &rule(0.9), &mut Streams::new(1).rng(1, Phase::Ask, 0));
        let mut rng = Streams::new(1).rng(1, Phase::Ask, 0);
        for d in 0..600 {
            let teacher = usize::from([0, 255, 256, 599].contains(&d));
            let goal = swarm.bests[teacher].x[d];
            let expected = rule(0.9)(before.x[d], before.v[d], goal, rng.unit());
            assert_eq!((particle.x[d], particle.v[d]), expected, "{d}");
        }
    }

    #[test]
    fn a_dimension_is_a_feature_of_its_rank() {
        let swarm = ExemplarSwarm::new((0.6, 0.6), vec![2, 0, 1], &[2], &Space::new(3, 3));
        let chosen = swarm.chosen(&[0.7, 0.6]);
        assert_eq!(swarm.features(&chosen), Subset::from_indices(3, [2]));
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
                swarm.fly(0, &mut particle, &rule(w), &mut rng);
                prop_assert!(particle.x.iter().all(|x| (0.0..=1.0).contains(x)));
                prop_assert!(particle.v.iter().all(|v| v.abs() <= 0.6));
            }
        }
    }
}
