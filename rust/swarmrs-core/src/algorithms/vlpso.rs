//! Variable-length PSO: particles search prefixes of the features ranked by relevance; prefixes become shorter.
//!
//! Features are ranked by symmetrical uncertainty with the class. The population has D divisions of equal size; a particle
//! of division V searches the first L = floor(V n / D) features. Particles learn as in comprehensive learning PSO, but only
//! from particles that are long enough:
//!
//! ```text
//! v <- w v + c r (p(e) - x), clamped to ±velocity_limit     c social, e the exemplar of i for feature d
//! x <- x + v, clamped to [0, 1]
//! a feature is selected if x > θ                             θ threshold
//! Pc(i) = 0.05 + 0.45 (exp(10 (k - 1) / (P - 1)) - 1) / (exp(10) - 1)       k the rank of i's personal best
//! e = i with probability 1 - Pc(i), else the better one of two others with L > d; i if there are no two
//! ```
//!
//! After `refresh_gap` (α) moves without a better personal best, the exemplars of a particle are redrawn. After
//! `length_gap` (β) iterations without a better global best, lengths change: the division b whose personal bests have the
//! least mean cost becomes the longest, the others get the lengths floor(L(b) k / D) for k = 1, 2, ... in the order of
//! divisions. Shortened particles lose their last dimensions; lengthened ones get random new dimensions, in which their
//! personal bests select nothing. Resized positions, and personal bests that lost a feature, are evaluated in an iteration of
//! their own; then all exemplars are redrawn. If b is the longest already, only exemplars are redrawn.
//!
//! Where the paper is silent or contradicts itself, we follow the authors' program: k counts every division but b, also if a
//! length does not change; lengths are at least 1; particles that do not fill a division are dropped; the first particle of
//! each division starts with all its features (`full_particles`); velocities are limited to ±0.6 and initially uniform; the
//! gap ends with α moves, not after them. The program keeps the cost of a shortened personal best (`keep_cut_bests`). Of
//! equal costs the smaller subset is the better best. The population is n / 20, from 100 to 300. Without a filter, features
//! are in the order of the table. Random numbers come from slot i for moves, P + i for exemplars, 3 P + i for resizing.
//!
//! Two departures: the paper's equation for Pc lacks the -1 in the numerator, which comprehensive learning PSO has and
//! which makes Pc range from 0.05 to 0.5 exactly; and the two candidates for an exemplar are drawn from the particles that
//! are long enough, while the paper draws from all particles with up to P rejections. The distribution is the same except
//! for the rare case that all draws are rejected.
//!
//! B. Tran, B. Xue, M. Zhang, Variable-length particle swarm optimization for feature selection on high-dimensional
//! classification, IEEE Trans. Evolutionary Computation 23 (2019), doi:10.1109/TEVC.2018.2869405

use super::vlpso_ls::{Effort, Guide, LocalSearch, Searcher};
use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::ordering::{CostAndSize, cost_and_size};
use crate::operators::parameters::{
    EXEMPLAR_GAP, EXEMPLAR_PULL, INERTIA, INERTIA_END, ITERATIONS, POPULATION_BY_FEATURES,
    THRESHOLD, VELOCITY_LIMIT, linear_schedule, population_by_features,
};
use crate::operators::topology::{learning_probability, ranks};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_MEMBERS, MOST_STEPS, Optimizer,
    Space, params,
};
use crate::swarms::exemplars::{Best, ExemplarSwarm, StreamKind};

params! {
    /// Settings of [`Vlpso`].
    pub struct VlpsoParams {
        population: Option<usize> = None, POPULATION_BY_FEATURES;
        iterations: u64 = 100, ITERATIONS;
        inertia: f64 = 0.9, INERTIA;
        inertia_end: f64 = 0.4, INERTIA_END;
        social: f64 = 1.494_45, EXEMPLAR_PULL;
        velocity_limit: f64 = 0.6, VELOCITY_LIMIT;
        threshold: f64 = 0.6, THRESHOLD;
        refresh_gap: usize = 7, EXEMPLAR_GAP;
        divisions: usize = 12, Allowed::Whole(1, MOST_MEMBERS),
            "D, number of divisions of equal particle length, at most one per particle";
        length_gap: Option<usize> = Some(9), Allowed::WholeOrNull(1, MOST_STEPS),
            "beta, iterations without a better global best before lengths change; null for never";
        full_particles: bool = true, Allowed::Flag,
            "the first particle of each division starts with all its features selected";
        keep_cut_bests: bool = false, Allowed::Flag,
            "a shortened personal best keeps its former cost instead of being evaluated again";
    }
}

impl VlpsoParams {
    /// One dimension of a move with inertia `w`: the new position and velocity.
    #[inline]
    fn step(&self, w: f64, (x, v): (f64, f64), e: f64, r: f64) -> (f64, f64) {
        let (c, limit) = (self.social, self.velocity_limit);
        let v = (w * v + c * r * (e - x)).clamp(-limit, limit);
        ((x + v).clamp(0.0, 1.0), v)
    }
}

/// The initial lengths of `divisions` divisions of `n` features.
fn initial_lengths(n: usize, divisions: usize) -> Vec<usize> {
    (1..=divisions).map(|v| (v * n / divisions).max(1)).collect()
}

/// The new lengths: division `best` keeps its length, and the others are distributed below it.
fn next_lengths(lengths: &[usize], best: usize) -> Vec<usize> {
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

/// A swarm of particles of different lengths.
#[derive(Debug)]
pub struct Vlpso {
    params: VlpsoParams,
    /// The settings of local search, if any.
    effort: Option<Effort>,
    space: Space,
    swarm: ExemplarSwarm,
    /// The relevance of each dimension; None without a filter.
    relevance: Option<Vec<f32>>,
    /// The length of each division.
    lengths: Vec<usize>,
    /// The cost and size of the global best.
    best: Option<CostAndSize>,
    /// Iterations since the global best last improved.
    stall: usize,
    iteration: u64,
    phase: Phase,
    diagnostics: Diagnostics,
}

#[derive(Debug)]
enum Phase {
    /// Draw and evaluate initial positions.
    Start,
    /// Move particles and evaluate their positions.
    Move,
    /// Local search around personal bests.
    Search(LocalSearch),
    /// Change lengths and evaluate the changed positions and personal bests.
    Resize(Resize),
}

/// A change of lengths.
#[derive(Debug, Default)]
struct Resize {
    /// The new lengths of the divisions.
    lengths: Vec<usize>,
    /// The particles whose length changed.
    resized: Vec<usize>,
    /// The resized particles whose personal best lost a feature.
    cut: Vec<usize>,
}

/// The diagnostics of an iteration.
#[derive(Debug, Clone, Copy, Default)]
struct Diagnostics {
    mean_cost: f64,
    swarm_size: f64,
    improved: bool,
    length_changed: bool,
    best_division: usize,
    searches: usize,
    successes: usize,
}

impl Vlpso {
    /// A swarm in divisions of equal size, with or without local search.
    pub fn new(params: VlpsoParams, effort: Option<Effort>, space: &Space) -> Self {
        let n = space.n_features();
        let population = population_by_features(params.population, n);
        let divisions = params.divisions.min(population);
        let lengths = initial_lengths(n, divisions);
        let size = population / divisions;
        let particle_lengths: Vec<usize> =
            lengths.iter().flat_map(|&length| std::iter::repeat_n(length, size)).collect();
        let order: Vec<usize> =
            space.filter().map_or_else(|| (0..n).collect(), |filter| filter.ranking().to_vec());
        let relevance = space
            .filter()
            .map(|filter| order.iter().map(|&feature| filter.relevance()[feature]).collect());
        let bounds = (params.velocity_limit, params.threshold);
        Self {
            swarm: ExemplarSwarm::new(bounds, order, &particle_lengths, space),
            params,
            effort,
            space: space.clone(),
            relevance,
            lengths,
            best: None,
            stall: 0,
            iteration: 0,
            phase: Phase::Start,
            diagnostics: Diagnostics::default(),
        }
    }

    /// Starts a local search around the personal bests that have just improved, if it is due and there is a filter.
    fn start_local_search(&mut self, improved: &[bool]) -> Option<LocalSearch> {
        let effort = self.effort.filter(|effort| effort.is_due(self.iteration))?;
        self.relevance.as_ref()?;
        let searchers: Vec<Searcher> = (0..improved.len())
            .filter(|&at| improved[at])
            .map(|at| {
                let best = &self.swarm.bests[at];
                Searcher::new(
                    at,
                    self.swarm.selected_dimensions(&best.x),
                    best.cost_and_size,
                    &effort,
                )
            })
            // An empty best has no features to compare with.
            .filter(|searcher| !searcher.solution.is_empty())
            .collect();
        self.diagnostics.searches = searchers.len();
        Some(LocalSearch::new(effort, searchers))
    }

    /// Draws the next tries; when there are none left, updates the personal bests and ends the iteration.
    fn continue_local_search(&mut self, iteration: &Iteration<'_>, mut search: LocalSearch) {
        if let (Some(filter), Some(relevance)) = (self.space.filter(), &self.relevance) {
            let order = &self.swarm.order;
            let redundancy = |a: usize, b: usize| filter.redundancy(order[a], order[b]);
            let guide = Guide { relevance, redundancy: &redundancy, limit: self.space.limit() };
            let first_slot = StreamKind::LocalSearch as usize * self.swarm.particles.len();
            search.draw(iteration, &guide, |particle| first_slot + particle);
        }
        if search.tries().next().is_some() {
            self.phase = Phase::Search(search);
            return;
        }
        for found in search.into_searchers().into_iter().filter(|found| found.has_improved) {
            let best = &mut self.swarm.bests[found.particle];
            for (d, x) in best.x.iter_mut().enumerate() {
                *x = f64::from(u8::from(found.solution.contains(d)));
            }
            best.cost_and_size = found.cost_and_size;
            self.diagnostics.successes += 1;
        }
        self.end_iteration(iteration);
    }

    fn end_iteration(&mut self, iteration: &Iteration<'_>) {
        self.diagnostics.improved = self.update_global_best();
        self.stall = if self.diagnostics.improved { 0 } else { self.stall + 1 };
        let is_last = self.iteration == self.params.iterations;
        if self.iteration == 0 {
            self.draw_exemplars(iteration, 0);
        } else if !is_last && self.params.length_gap.is_some_and(|gap| self.stall >= gap) {
            self.stall = 0;
            self.change_lengths(iteration);
        } else {
            self.draw_exemplars(iteration, self.params.refresh_gap);
        }
    }

    /// Moves all particles.
    fn advance(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let VlpsoParams { iterations, inertia, inertia_end, .. } = self.params;
        let w = linear_schedule(inertia, inertia_end, self.iteration, iterations);
        let params = &self.params;
        self.swarm.advance(iteration, |x, v, e, r| params.step(w, (x, v), e, r))
    }

    /// Updates the global best; returns true if it improved.
    fn update_global_best(&mut self) -> bool {
        let current = self.swarm.best_costs().into_iter().min();
        let improved = self.best.is_none_or(|best| current.is_some_and(|current| current < best));
        if improved {
            self.best = current;
        }
        improved
    }

    /// Draws exemplars for all particles with at least this stall.
    fn draw_exemplars(&mut self, iteration: &Iteration<'_>, stall: usize) {
        if self.swarm.particles.iter().all(|particle| particle.stall < stall) {
            return;
        }
        let population = self.swarm.particles.len();
        let probabilities: Vec<f64> = ranks(&self.swarm.best_costs())
            .into_iter()
            .map(|rank| learning_probability(rank, population))
            .collect();
        self.swarm
            .draw_exemplars(iteration, &probabilities, false, |particle| particle.stall >= stall);
    }

    fn division_size(&self) -> usize {
        self.swarm.particles.len() / self.lengths.len()
    }

    /// Finds the best division and plans the new lengths; if it is the longest already, redraws exemplars.
    fn change_lengths(&mut self, iteration: &Iteration<'_>) {
        let bests = &self.swarm.bests;
        let mean = |bests: &[Best]| {
            bests.iter().map(|best| best.cost_and_size.0.value()).sum::<f64>() / bests.len() as f64
        };
        let means: Vec<f64> = bests.chunks(self.division_size()).map(mean).collect();
        let best = (1..means.len()).fold(0, |b, g| if means[g] < means[b] { g } else { b });
        self.diagnostics.best_division = best + 1;
        if self.lengths.iter().all(|&length| length <= self.lengths[best]) {
            self.draw_exemplars(iteration, 0);
        } else {
            let lengths = next_lengths(&self.lengths, best);
            self.phase = Phase::Resize(Resize { lengths, ..Resize::default() });
        }
    }

    /// Resizes the particles; returns the positions of resized ones, then the personal bests that lost a feature.
    fn resize(&mut self, iteration: &Iteration<'_>, lengths: Vec<usize>) -> Vec<Subset> {
        let size = self.division_size();
        let resized: Vec<usize> = (0..self.swarm.particles.len())
            .filter(|particle| lengths[particle / size] != self.lengths[particle / size])
            .collect();
        let mut cut = Vec::new();
        let mut subsets = Vec::new();
        for &at in &resized {
            let before = self.swarm.selected_dimensions(&self.swarm.bests[at].x).count();
            subsets.push(self.resize_one(iteration, at, lengths[at / size]));
            let after = self.swarm.selected_dimensions(&self.swarm.bests[at].x).count();
            if after < before && !self.params.keep_cut_bests {
                cut.push(at);
            }
        }
        for &at in &cut {
            let best = self.swarm.selected_dimensions(&self.swarm.bests[at].x);
            subsets.push(self.swarm.features(&best));
        }
        self.lengths.clone_from(&lengths);
        self.phase = Phase::Resize(Resize { lengths, resized, cut });
        subsets
    }

    /// Resizes a particle and returns its position. New dimensions of the position are random, of the personal best 0, so
    /// that its subset does not change.
    fn resize_one(&mut self, iteration: &Iteration<'_>, at: usize, length: usize) -> Subset {
        let mut rng = self.swarm.rng(iteration, StreamKind::Resize, at);
        let limit = self.params.velocity_limit;
        let mut particle = std::mem::take(&mut self.swarm.particles[at]);
        particle.x.resize_with(length, || rng.unit());
        particle.v.resize_with(length, || limit * (2.0 * rng.unit() - 1.0));
        // Frees the memory of shortened particles.
        particle.x.shrink_to_fit();
        particle.v.shrink_to_fit();
        let best = &mut self.swarm.bests[at].x;
        best.resize(length, 0.0);
        best.shrink_to_fit();
        let subset = self.swarm.select(&mut particle.x, &mut rng);
        self.swarm.particles[at] = particle;
        subset
    }

    /// Updates the personal bests of resized particles; then redraws all exemplars.
    fn update_resized(
        &mut self,
        iteration: &Iteration<'_>,
        evaluations: &[Evaluation],
        resize: &Resize,
    ) {
        let (positions, bests) = evaluations.split_at(resize.resized.len());
        for (&particle, tried) in resize.cut.iter().zip(bests) {
            self.swarm.bests[particle].cost_and_size = cost_and_size(tried);
        }
        for (&particle, tried) in resize.resized.iter().zip(positions) {
            self.swarm.update_best(particle, tried);
        }
        self.diagnostics.length_changed = true;
        self.diagnostics.improved = self.update_global_best();
        self.draw_exemplars(iteration, 0);
    }
}

impl Optimizer for Vlpso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        match &self.phase {
            Phase::Start => {
                let (size, full) = (self.division_size(), self.params.full_particles);
                self.swarm.start(iteration, |particle| full && particle % size == 0)
            }
            Phase::Move if self.iteration == self.params.iterations => Vec::new(),
            Phase::Move => {
                self.iteration += 1;
                self.advance(iteration)
            }
            Phase::Search(search) => {
                search.tries().map(|dimensions| self.swarm.features(dimensions)).collect()
            }
            Phase::Resize(resize) => {
                let lengths = resize.lengths.clone();
                self.resize(iteration, lengths)
            }
        }
    }

    fn tell(&mut self, iteration: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.diagnostics = Diagnostics {
            mean_cost: self.diagnostics.mean_cost,
            swarm_size: self.diagnostics.swarm_size,
            ..Diagnostics::default()
        };
        match std::mem::replace(&mut self.phase, Phase::Move) {
            Phase::Start | Phase::Move => {
                let n = evaluations.len() as f64;
                self.diagnostics.mean_cost =
                    evaluations.iter().map(|tried| tried.cost.value()).sum::<f64>() / n;
                let sizes: usize = evaluations.iter().map(|tried| tried.subset.count()).sum();
                self.diagnostics.swarm_size = sizes as f64 / n;
                let improved = self.swarm.update(evaluations);
                match self.start_local_search(&improved) {
                    Some(search) => self.continue_local_search(iteration, search),
                    None => self.end_iteration(iteration),
                }
            }
            Phase::Search(mut search) => {
                search.update(evaluations);
                self.continue_local_search(iteration, search);
            }
            Phase::Resize(resize) => self.update_resized(iteration, evaluations, &resize),
        }
    }

    fn diagnostics(&self) -> Vec<(&'static str, f64)> {
        let flag = |is: bool| f64::from(u8::from(is));
        let diagnostics = &self.diagnostics;
        let mean = self.lengths.iter().sum::<usize>() as f64 / self.lengths.len() as f64;
        vec![
            ("moves", self.iteration as f64),
            ("mean_cost", diagnostics.mean_cost),
            ("swarm_size", diagnostics.swarm_size),
            ("max_length", self.lengths.iter().copied().max().unwrap_or(0) as f64),
            ("mean_length", mean),
            ("best_improved", flag(diagnostics.improved)),
            ("length_changed", flag(diagnostics.length_changed)),
            ("best_division", diagnostics.best_division as f64),
            ("searches", diagnostics.searches as f64),
            ("successes", diagnostics.successes as f64),
        ]
    }
}

impl Algorithm for Vlpso {
    type Params = VlpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Variable-length PSO",
        family: Family::Swarm,
        year: 2019,
        paper: "B. Tran, B. Xue, M. Zhang, Variable-length particle swarm optimization for feature selection on high-dimensional classification, IEEE Trans. Evolutionary Computation 23",
        doi: "10.1109/TEVC.2018.2869405",
        aliases: &[],
        summary: "particles search prefixes of the features ranked by relevance; prefixes are shortened when the swarm stalls",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;
    const USES_FILTER: bool = true;

    fn start(params: VlpsoParams, space: &Space) -> Self {
        Self::new(params, None, space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::algorithm::read_params;
    use crate::testing::{drive, drive_with_diagnostics, least, onemax, rugged};

    fn start(n: usize) -> Vlpso {
        Vlpso::start(VlpsoParams::default(), &Space::new(n, n))
    }

    fn of(population: usize, n: usize) -> Vlpso {
        let params = VlpsoParams { population: Some(population), ..VlpsoParams::default() };
        Vlpso::start(params, &Space::new(n, n))
    }

    #[test]
    fn a_move_has_the_worked_values() {
        let assert_close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        let step = |at, e, r| VlpsoParams::default().step(0.9, at, e, r);
        let (x, v) = step((0.55, 0.1), 0.9, 0.5);
        assert_close(v, 0.351_528_75);
        assert_close(x, 0.901_528_75);
        let (x, v) = step((0.95, 0.5), 1.0, 1.0);
        assert_close(v, 0.524_722_5);
        assert_eq!(x, 1.0);
    }

    #[test]
    fn each_division_starts_with_one_full_particle() {
        let history = drive(&mut start(240), 1, onemax);
        assert_eq!(history[0].len(), 96);
        let full = |division: usize| Subset::from_indices(240, 0..20 * (division + 1));
        for (at, tried) in history[0].iter().enumerate() {
            let division = at / 8;
            if at % 8 == 0 {
                assert_eq!(tried.subset, full(division));
            } else {
                assert!(tried.subset.difference(&full(division)).is_empty());
                assert!(tried.subset != full(division));
            }
        }
    }

    #[test]
    fn lengths_change_after_nine_iterations_without_progress() {
        // The full particle of the first division is the optimum.
        let first = Subset::from_indices(240, 0..20);
        let cost = |x: &Subset| if *x == first { 0.1 } else { 0.2 + 1e-4 * x.count() as f64 };
        let (history, diagnostics) = drive_with_diagnostics(&mut start(240), 14, cost);
        let column = |name: &str| -> Vec<f64> {
            let of = |row: &Vec<(&str, f64)>| row.iter().find(|(key, _)| *key == name).unwrap().1;
            diagnostics.iter().map(of).collect()
        };
        // Iterations 0 to 9 are the start and nine moves; the tenth iteration begins with new lengths.
        assert_eq!(column("length_changed").iter().position(|&is| is > 0.0), Some(10));
        assert_eq!(column("best_division")[9], 1.0);
        assert_eq!(column("moves")[9..12], [9.0, 9.0, 10.0]);
        assert_eq!(column("max_length")[9..12], [240.0, 20.0, 20.0]);
        // 11 divisions are resized to floor(20 k / 12); personal bests that lost a feature are evaluated again.
        let positions = history[10].len();
        assert!((88..=176).contains(&positions), "{positions}");
        assert!(history[10..].iter().flatten().all(|x| x.subset.difference(&first).is_empty()));
    }

    #[test]
    fn without_a_gap_lengths_never_change() {
        // As a user sets it.
        let given = serde_json::from_str(r#"{"length_gap": null}"#).unwrap();
        let params = read_params("vlpso", &VlpsoParams::default(), &given).unwrap();
        let mut swarm = Vlpso::start(params, &Space::new(240, 240));
        let history = drive(&mut swarm, 200, |_| 0.5);
        assert_eq!(history.len(), 101);
        assert!(history.iter().all(|iteration| iteration.len() == 96));
    }

    #[test]
    fn the_longest_never_grows_and_all_iterations_are_done() {
        for seed in 0..4 {
            let mut swarm = start(60);
            let (history, diagnostics) = drive_with_diagnostics(&mut swarm, 300, rugged(seed));
            let longest: Vec<f64> = diagnostics.iter().map(|row| row[3].1).collect();
            assert!(longest.is_sorted_by(|a, b| a >= b), "{longest:?}");
            assert_eq!(diagnostics.last().unwrap()[0], ("moves", 100.0));
            // The swarm ends by itself when all iterations are done.
            assert!(history.len() < 300);
        }
    }

    #[test]
    fn it_finds_a_planted_subset_of_the_first_features() {
        let planted = Subset::from_indices(60, [0, 1, 3, 4]);
        let history = drive(&mut start(60), 300, |x| x.distance(&planted) as f64 / 60.0);
        assert!(least(&history) <= 1.0 / 60.0, "{}", least(&history));
    }

    #[test]
    fn divisions_have_the_worked_lengths() {
        assert_eq!(initial_lengths(5000, 5), [1000, 2000, 3000, 4000, 5000]);
        assert_eq!(
            initial_lengths(2308, 12),
            [192, 384, 577, 769, 961, 1154, 1346, 1538, 1731, 1923, 2115, 2308]
        );
        assert_eq!(initial_lengths(3, 5), [1, 1, 1, 2, 3]);
    }

    #[test]
    fn new_lengths_have_the_worked_values() {
        let after = |lengths: &[usize], bests: &[usize]| {
            bests.iter().fold(lengths.to_vec(), |lengths, &best| next_lengths(&lengths, best - 1))
        };
        let five = [1000, 2000, 3000, 4000, 5000];
        assert_eq!(after(&five, &[3]), [600, 1200, 3000, 1800, 2400]);
        // k counts a division even if its length does not change.
        let four = [400, 800, 1200, 1600];
        assert_eq!(after(&four, &[2]), [200, 800, 400, 600]);
        assert_eq!(after(&four, &[2, 1]), [200, 50, 100, 150]);
        assert_eq!(after(&four, &[2, 1, 3]), [25, 50, 100, 75]);
        assert_eq!(after(&[4, 5, 6, 7, 8], &[1]), [4, 1, 1, 2, 3]);
        assert_eq!(after(&[1, 1, 1, 1], &[3]), [1; 4]);
        // 3000 is the longest, so division 5 with 2400 shortens the others again.
        assert_eq!(after(&five, &[3, 5]), [480, 960, 1440, 1920, 2400]);
    }

    #[test]
    fn a_division_has_the_same_number_of_particles() {
        for (n, population) in
            [(2308, 108), (5327, 264), (5469, 264), (5726, 276), (5920, 288), (10_367, 300)]
        {
            let swarm = start(n);
            assert_eq!(swarm.swarm.particles.len(), population, "{n}");
            assert_eq!(swarm.division_size(), population / 12);
        }
        let few = of(5, 100);
        assert_eq!(few.lengths, [20, 40, 60, 80, 100]);
    }

    #[test]
    fn the_state_is_consistent_after_every_iteration() {
        for (seed, iterations) in
            (0..3).flat_map(|seed| [1, 2, 9, 11, 13, 30, 77].map(|n| (seed, n)))
        {
            let mut swarm = of(40, 90);
            drive(&mut swarm, iterations, rugged(seed));
            let lengths = swarm.swarm.lengths();
            let size = swarm.division_size();
            assert!((0..36).all(|at| lengths[at] == swarm.lengths[at / size] && lengths[at] >= 1));
            for (at, (particle, best)) in
                swarm.swarm.particles.iter().zip(&swarm.swarm.bests).enumerate()
            {
                assert!(best.x.len() == lengths[at] && particle.v.len() == lengths[at]);
                assert!(particle.x.iter().all(|x| (0.0..=1.0).contains(x)));
                assert!(particle.v.iter().all(|v| v.abs() <= 0.6));
                let has = |&(d, who): &(u32, u32)| lengths[who as usize] > d as usize;
                assert!(particle.exemplars.iter().all(|l| has(l) && l.1 as usize != at));
                assert!(swarm.best <= Some(best.cost_and_size), "the global best is lost");
            }
        }
    }
}
