//! The swarm of particles of different lengths: divisions, and how their lengths change.
//!
//! Features stand in descending order of relevance and a particle of length L searches the first L of them. Particles
//! belong to divisions; those of one division are of one length.

use super::bests::{Standing, standing};
use super::divisions::{first_lengths, next_lengths};
use super::exemplars::{learning_chance, places};
use super::learners::{Flight, Learners, Purpose};
use super::local_search::{Effort, Guide, LocalSearch, Searcher};
use super::parameters::Inertia;
use crate::base::subset::Subset;
use crate::search::algorithm::{Evaluation, Optimizer, Space, Turn};

/// The settings of the swarm.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// How particles move.
    pub flight: Flight,
    /// What velocity is kept, and how many moves there are.
    pub inertia: Inertia,
    /// Moves without a better own best after which exemplars are drawn anew.
    pub refresh_gap: usize,
    /// How many divisions.
    pub divisions: usize,
    /// Iterations without a better best of all after which lengths change; none for never.
    pub length_gap: Option<usize>,
    /// Whether each division starts with one particle that has all its features.
    pub full_particles: bool,
    /// Whether a best that was cut keeps what it was worth before.
    pub keep_cut_bests: bool,
    /// How much local search there is.
    pub search: Option<Effort>,
}

/// A swarm of particles of different lengths.
#[derive(Debug)]
pub struct VariableSwarm {
    rules: Rules,
    space: Space,
    learners: Learners,
    /// The relevance of each dimension, where it is known.
    relevance: Option<Vec<f32>>,
    /// The length of each division.
    lengths: Vec<usize>,
    /// The best of all.
    best: Option<Standing>,
    /// Iterations since it last improved.
    stall: usize,
    iteration: u64,
    phase: Phase,
    notes: Notes,
}

#[derive(Debug)]
enum Phase {
    /// Positions are drawn, then told.
    Start,
    /// Positions move, then are told.
    Move,
    /// Bests are searched.
    Search(LocalSearch),
    /// Divisions change their lengths, then what changed is told.
    Resize(Resize),
}

/// A change of lengths.
#[derive(Debug, Default)]
struct Resize {
    /// What divisions change to.
    lengths: Vec<usize>,
    /// The particles it changed.
    resized: Vec<usize>,
    /// Those of them whose best lost a feature.
    cut: Vec<usize>,
}

/// What the trace says beside what every trace says.
#[derive(Debug, Clone, Copy, Default)]
struct Notes {
    mean_cost: f64,
    swarm_size: f64,
    improved: bool,
    length_changed: bool,
    best_division: usize,
    searches: usize,
    successes: usize,
}

impl VariableSwarm {
    /// A swarm of about `population` particles, as many in each division.
    pub fn new(population: usize, rules: Rules, space: &Space) -> Self {
        let n = space.n_features();
        let divisions = rules.divisions.min(population);
        let lengths = first_lengths(n, divisions);
        let size = population / divisions;
        let each: Vec<usize> =
            lengths.iter().flat_map(|&length| std::iter::repeat_n(length, size)).collect();
        let order: Vec<usize> =
            space.filter().map_or_else(|| (0..n).collect(), |filter| filter.ranking().to_vec());
        let relevance = space
            .filter()
            .map(|filter| order.iter().map(|&feature| filter.relevance()[feature]).collect());
        Self {
            learners: Learners::new(rules.flight, order, &each, space),
            rules,
            space: space.clone(),
            relevance,
            lengths,
            best: None,
            stall: 0,
            iteration: 0,
            phase: Phase::Start,
            notes: Notes::default(),
        }
    }

    /// Searches around the bests that have just improved, where that is due and it is known what features tell.
    fn begin_search(&mut self, improved: &[bool]) -> Option<LocalSearch> {
        let effort = self.rules.search.filter(|effort| effort.is_due(self.iteration))?;
        self.relevance.as_ref()?;
        let searchers: Vec<Searcher> = (0..improved.len())
            .filter(|&at| improved[at])
            .map(|at| {
                let best = &self.learners.bests[at];
                Searcher::new(at, self.learners.chosen(&best.x), best.standing, &effort)
            })
            // Nothing can be made of an empty best.
            .filter(|searcher| !searcher.solution.is_empty())
            .collect();
        self.notes.searches = searchers.len();
        Some(LocalSearch::new(effort, searchers))
    }

    /// Draws the next tries; when there are none left, what was found is taken over and the iteration ends.
    fn go_on_searching(&mut self, turn: &Turn<'_>, mut search: LocalSearch) {
        if let (Some(filter), Some(relevance)) = (self.space.filter(), &self.relevance) {
            let order = &self.learners.order;
            let between = |a: usize, b: usize| filter.between(order[a], order[b]);
            let guide = Guide { relevance, between: &between, limit: self.space.limit() };
            let first = Purpose::Local as usize * self.learners.particles.len();
            search.draw(turn, &guide, |particle| first + particle);
        }
        if search.tries().next().is_some() {
            self.phase = Phase::Search(search);
            return;
        }
        for found in search.into_searchers().into_iter().filter(|found| found.has_improved) {
            let best = &mut self.learners.bests[found.particle];
            for (d, x) in best.x.iter_mut().enumerate() {
                *x = f64::from(u8::from(found.solution.contains(d)));
            }
            best.standing = found.standing;
            self.notes.successes += 1;
        }
        self.end_iteration(turn);
    }

    fn end_iteration(&mut self, turn: &Turn<'_>) {
        self.notes.improved = self.renew_best();
        self.stall = if self.notes.improved { 0 } else { self.stall + 1 };
        let is_last = self.iteration == self.rules.inertia.iterations;
        if self.iteration == 0 {
            self.assign(turn, 0);
        } else if !is_last && self.rules.length_gap.is_some_and(|gap| self.stall >= gap) {
            self.stall = 0;
            self.change_lengths(turn);
        } else {
            self.assign(turn, self.rules.refresh_gap);
        }
    }

    /// Takes over the best of the bests, and tells whether it is better than any before.
    fn renew_best(&mut self) -> bool {
        let now = self.learners.standings().into_iter().min();
        let improved = self.best.is_none_or(|best| now.is_some_and(|now| now < best));
        if improved {
            self.best = now;
        }
        improved
    }

    /// Draws exemplars for all that have stalled so long.
    fn assign(&mut self, turn: &Turn<'_>, stall: usize) {
        if self.learners.particles.iter().all(|particle| particle.stall < stall) {
            return;
        }
        let population = self.learners.particles.len();
        let chances: Vec<f64> = places(&self.learners.standings())
            .into_iter()
            .map(|place| learning_chance(place, population))
            .collect();
        self.learners.assign(turn, &chances, false, |particle| particle.stall >= stall);
    }

    fn division_size(&self) -> usize {
        self.learners.particles.len() / self.lengths.len()
    }

    /// Finds the best division; unless it is the longest, the others are to be cut below it.
    fn change_lengths(&mut self, turn: &Turn<'_>) {
        let bests = &self.learners.bests;
        let mean = |bests: &[super::learners::Best]| {
            bests.iter().map(|best| best.standing.0.value()).sum::<f64>() / bests.len() as f64
        };
        let means: Vec<f64> = bests.chunks(self.division_size()).map(mean).collect();
        let best = (1..means.len()).fold(0, |b, g| if means[g] < means[b] { g } else { b });
        self.notes.best_division = best + 1;
        if self.lengths.iter().all(|&length| length <= self.lengths[best]) {
            self.assign(turn, 0);
        } else {
            let lengths = next_lengths(&self.lengths, best);
            self.phase = Phase::Resize(Resize { lengths, ..Resize::default() });
        }
    }

    /// Cuts and lengthens; the subsets are the positions of all it did this to, then the bests that lost a feature.
    fn resize(&mut self, turn: &Turn<'_>, lengths: Vec<usize>) -> Vec<Subset> {
        let size = self.division_size();
        let resized: Vec<usize> = (0..self.learners.particles.len())
            .filter(|particle| lengths[particle / size] != self.lengths[particle / size])
            .collect();
        let mut cut = Vec::new();
        let mut subsets = Vec::new();
        for &at in &resized {
            let before = self.learners.chosen(&self.learners.bests[at].x).count();
            subsets.push(self.learners.resize(turn, at, lengths[at / size]));
            let after = self.learners.chosen(&self.learners.bests[at].x).count();
            if after < before && !self.rules.keep_cut_bests {
                cut.push(at);
            }
        }
        for &at in &cut {
            let best = self.learners.chosen(&self.learners.bests[at].x);
            subsets.push(self.learners.features(&best));
        }
        self.lengths.clone_from(&lengths);
        self.phase = Phase::Resize(Resize { lengths, resized, cut });
        subsets
    }

    /// Learns what resized positions and cut bests cost; then all draw exemplars anew.
    fn learn_lengths(&mut self, turn: &Turn<'_>, told: &[Evaluation], resize: &Resize) {
        let (positions, bests) = told.split_at(resize.resized.len());
        for (&at, tried) in resize.cut.iter().zip(bests) {
            self.learners.bests[at].standing = standing(tried);
        }
        for (&at, tried) in resize.resized.iter().zip(positions) {
            self.learners.learn_one(at, tried);
        }
        self.notes.length_changed = true;
        self.notes.improved = self.renew_best();
        self.assign(turn, 0);
    }
}

impl Optimizer for VariableSwarm {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        match &self.phase {
            Phase::Start => {
                let (size, full) = (self.division_size(), self.rules.full_particles);
                self.learners.start(turn, |particle| full && particle % size == 0)
            }
            Phase::Move if self.iteration == self.rules.inertia.iterations => Vec::new(),
            Phase::Move => {
                self.iteration += 1;
                self.learners.advance(turn, self.rules.inertia.at(self.iteration))
            }
            Phase::Search(search) => {
                search.tries().map(|dimensions| self.learners.features(dimensions)).collect()
            }
            Phase::Resize(resize) => {
                let lengths = resize.lengths.clone();
                self.resize(turn, lengths)
            }
        }
    }

    fn tell(&mut self, turn: &Turn<'_>, told: &[Evaluation]) {
        self.notes = Notes {
            mean_cost: self.notes.mean_cost,
            swarm_size: self.notes.swarm_size,
            ..Notes::default()
        };
        match std::mem::replace(&mut self.phase, Phase::Move) {
            Phase::Start | Phase::Move => {
                let n = told.len() as f64;
                self.notes.mean_cost = told.iter().map(|tried| tried.cost.value()).sum::<f64>() / n;
                let sizes: usize = told.iter().map(|tried| tried.subset.count()).sum();
                self.notes.swarm_size = sizes as f64 / n;
                let improved = self.learners.learn(told);
                match self.begin_search(&improved) {
                    Some(search) => self.go_on_searching(turn, search),
                    None => self.end_iteration(turn),
                }
            }
            Phase::Search(mut search) => {
                search.learn(told);
                self.go_on_searching(turn, search);
            }
            Phase::Resize(resize) => self.learn_lengths(turn, told, &resize),
        }
    }

    fn notes(&self) -> Vec<(&'static str, f64)> {
        let flag = |is: bool| f64::from(u8::from(is));
        let notes = &self.notes;
        let mean = self.lengths.iter().sum::<usize>() as f64 / self.lengths.len() as f64;
        vec![
            ("iteration", self.iteration as f64),
            ("mean_cost", notes.mean_cost),
            ("swarm_size", notes.swarm_size),
            ("max_length", self.lengths.iter().copied().max().unwrap_or(0) as f64),
            ("mean_length", mean),
            ("best_improved", flag(notes.improved)),
            ("length_changed", flag(notes.length_changed)),
            ("best_division", notes.best_division as f64),
            ("searches", notes.searches as f64),
            ("successes", notes.successes as f64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, rugged};

    const RULES: Rules = Rules {
        flight: Flight { social: 1.494_45, velocity_limit: 0.6, threshold: 0.6 },
        inertia: Inertia { start: 0.9, end: 0.4, iterations: 100 },
        refresh_gap: 7,
        divisions: 12,
        length_gap: Some(9),
        full_particles: true,
        keep_cut_bests: false,
        search: None,
    };

    #[test]
    fn a_division_has_the_same_number_of_particles() {
        use crate::operators::parameters::population_by_features;
        for (n, population) in
            [(2308, 108), (5327, 264), (5469, 264), (5726, 276), (5920, 288), (10_367, 300)]
        {
            let space = Space::new(n, n);
            let swarm = VariableSwarm::new(population_by_features(None, n), RULES, &space);
            assert_eq!(swarm.learners.particles.len(), population, "{n}");
            assert_eq!(swarm.division_size(), population / 12);
        }
        let few = VariableSwarm::new(5, RULES, &Space::new(100, 100));
        assert_eq!(few.lengths, [20, 40, 60, 80, 100]);
    }

    #[test]
    fn every_turn_leaves_the_swarm_whole() {
        for (seed, turns) in (0..3).flat_map(|seed| [1, 2, 9, 11, 13, 30, 77].map(|n| (seed, n))) {
            let mut swarm = VariableSwarm::new(40, RULES, &Space::new(90, 90));
            drive(&mut swarm, turns, rugged(seed));
            let lengths = swarm.learners.lengths();
            let size = swarm.division_size();
            assert!((0..36).all(|at| lengths[at] == swarm.lengths[at / size] && lengths[at] >= 1));
            for (at, (particle, best)) in
                swarm.learners.particles.iter().zip(&swarm.learners.bests).enumerate()
            {
                assert!(best.x.len() == lengths[at] && particle.v.len() == lengths[at]);
                assert!(particle.x.iter().all(|x| (0.0..=1.0).contains(x)));
                assert!(particle.v.iter().all(|v| v.abs() <= 0.6));
                let has = |&(d, who): &(u32, u32)| lengths[who as usize] > d as usize;
                assert!(particle.lessons.iter().all(|l| has(l) && l.1 as usize != at));
                assert!(swarm.best <= Some(best.standing), "the best of all is forgotten");
            }
        }
    }
}
