//! The search for neighbours in two steps: short keys leave few candidates, exact distances decide.
//!
//! Short keys hold distances with a known error. Where the error leaves no doubt that the k-th neighbour of a row lies
//! nearer than the next, the k are known. Where it does, a few candidates more are compared exactly, and where the list
//! of candidates ends too soon, all rows are. So the answer is always that of exact distances.

use super::super::Weights;
use super::super::kernels::{
    Change, From, Kernel, Lane, NO_SHORT, ROWS, SIDE, Short, ShortFormat, Tile,
};
use super::super::sums::Step;
use super::Neighbours;
use super::net::Net;
use crate::subset::Subset;

/// How the neighbours of one subset are screened.
pub(super) struct Screen {
    pub format: ShortFormat,
    /// Keys in a list.
    pub levels: usize,
    is_squared: bool,
    /// How much nearer to each other two exact distances may be than the short ones say.
    slack: f64,
    /// Whether short keys sort exactly as distances and rows do.
    is_exact: bool,
}

/// Lists are longer than k by this, so that ties at the k-th place find room.
const SPARE: usize = 2;
/// Lists of more neighbours cost more than they save.
const MOST_NEIGHBOURS: usize = 10;
/// Keys with longer row indices have too few bits left for the distance.
const MOST_ROW_BITS: u32 = 12;
/// Subsets on which screening is tried before it is used.
const TRIALS: usize = 4;
/// It is not worth its while where it leaves one row in so many undecided.
const DOUBTFUL: usize = 10;

impl Screen {
    fn new(short: Short, size: usize, k: usize, row_bits: u32) -> Self {
        let format = ShortFormat::new(short.farthest * size as u64, row_bits);
        // The difference of two stripped values is off by less than 1, namely by the share of a step that was lost. By
        // the triangle inequality a distance is off by no more than the length of a vector of such errors.
        let off = 1.0 - 0.5f64.powi(short.lost.cast_signed());
        let error = off * if short.is_squared { (size as f64).sqrt() } else { size as f64 };
        // Both distances may be off; roots are rounded too, by far less than what is added here.
        let slack = if short.lost == 0 { 0.0 } else { 2.0 * error + 1e-6 };
        let is_exact = short.lost == 0 && format.drop == 0;
        let levels = if is_exact { k } else { k + SPARE };
        Self { format, levels, is_squared: short.is_squared, slack, is_exact }
    }

    /// How many of the nearest are known to be nearer than all others: `k` or some more, none if the list is too short.
    fn settled(&self, k: usize, key: impl Fn(usize) -> u32) -> Option<usize> {
        if self.is_exact {
            return Some(k);
        }
        (k..self.levels).find(|&level| self.is_apart(key(level - 1), key(level)))
    }

    fn is_apart(&self, near: u32, far: u32) -> bool {
        if far == NO_SHORT {
            return true;
        }
        // The farthest that the one and the nearest that the other can be.
        let near = (self.format.parts(near).0 + (1 << self.format.drop) - 1) as f64;
        let far = self.format.parts(far).0 as f64;
        if self.is_squared {
            far.sqrt() - near.sqrt() > self.slack
        } else {
            far - near > self.slack
        }
    }
}

impl<K: Kernel> Neighbours<K> {
    /// Whether lists of short keys are of use for so many rows and neighbours, and such folds.
    pub(super) fn fits_short_keys(&self) -> bool {
        let is_small = self.k <= MOST_NEIGHBOURS && self.format.shift <= MOST_ROW_BITS;
        is_small && self.layout.is_symmetric()
    }

    /// Finds out whether neighbours can be screened and, by a trial on some subsets, whether they should be. Returns the
    /// element operations that took.
    pub(super) fn try_screening(&mut self) -> u64 {
        self.is_screened = K::SHORT.is_some() && self.fits_short_keys();
        if !self.is_screened {
            return 0;
        }
        let (mut undecided, mut sizes) = (0, 0);
        for trial in 1..=TRIALS {
            // Every feature, every second, every third: coarse and fine ones come together as in any search.
            let chosen = (0..self.n_features).step_by(trial);
            let subset = Subset::from_indices(self.n_features, chosen);
            undecided += self.undecided(&subset);
            sizes += subset.count() as u64;
        }
        self.is_screened = undecided * DOUBTFUL <= TRIALS * self.tally.n_cases();
        sizes * self.layout.pairs()
    }

    /// How many cases the short keys of a subset leave undecided.
    fn undecided(&self, subset: &Subset) -> usize {
        let add = subset.iter().map(|feature| feature as u32).collect();
        let step = Step { from: None, add, remove: Vec::new(), subset, keep: None };
        let screen = self.screen(subset);
        match (&screen, self.nearest(step, screen.as_ref(), None).0) {
            (Some(screen), Net::Short { lists, .. }) => (0..self.tally.n_cases())
                .filter(|&case| screen.settled(self.k, self.list(&lists, screen, case).1).is_none())
                .count(),
            _ => 0,
        }
    }

    /// How to screen the neighbours of a subset.
    pub(super) fn screen(&self, subset: &Subset) -> Option<Screen> {
        let short = K::SHORT.filter(|_| self.is_screened)?;
        Some(Screen::new(short, subset.count(), self.k, self.format.shift))
    }

    /// The place of a case, and its list.
    fn list<'l>(
        &self,
        lists: &'l [u32],
        screen: &Screen,
        case: usize,
    ) -> (usize, impl Fn(usize) -> u32 + Copy + use<'l, K>) {
        let (group, lane) = self.layout.place(case);
        let own = group * ROWS + lane;
        let width = screen.levels * SIDE;
        let list = &lists[own / SIDE * width..][..width];
        (own, move |level: usize| list[level * SIDE + own % SIDE])
    }

    /// The class each case is given by the list of its neighbours.
    pub(super) fn screened(&self, lists: &[u32], screen: &Screen, subset: &Subset) -> Vec<u32> {
        let mut votes = vec![0.0; self.n_classes];
        let mut classes = Vec::with_capacity(self.tally.n_cases());
        let features: Vec<u32> = subset.iter().map(|feature| feature as u32).collect();
        let mut open = Vec::new();
        let mut near = Vec::new();
        for case in 0..self.tally.n_cases() {
            let (own, key) = self.list(lists, screen, case);
            let row = |level: usize| screen.format.parts(key(level)).1;
            let class = match screen.settled(self.k, key) {
                None => {
                    open.push((case, own));
                    0
                }
                Some(count) if count == self.k && self.weights == Weights::Uniform => {
                    self.vote((0..count).map(|level| (0, row(level))), &mut votes)
                }
                Some(count) => {
                    near.clear();
                    near.extend((0..count).map(|level| {
                        (self.steps(&features, own, self.layout.place_of(row(level))), row(level))
                    }));
                    near.sort_unstable();
                    self.vote(near[..self.k].iter().copied(), &mut votes)
                }
            };
            classes.push(class);
        }
        self.decide(&features, &open, &mut classes);
        classes
    }

    /// The exact distance of two places.
    fn steps(&self, features: &[u32], a: usize, b: usize) -> u64 {
        let stride = self.layout.stride();
        let difference = |&feature: &u32| {
            let column = &self.values[feature as usize * stride..][..stride];
            K::difference(column[a], column[b])
        };
        features.iter().map(difference).sum()
    }

    /// Compares the rows of some cases, each with its place, exactly with all others.
    fn decide(&self, features: &[u32], open: &[(usize, usize)], classes: &mut [u32]) {
        if open.is_empty() {
            return;
        }
        let (n, stride) = (self.layout.n(), self.layout.stride());
        let change = Change { add: features, remove: &[] };
        let packed = K::Exact::pack(self.isa, self.columns(), change);
        let mut sums = vec![<K::Exact as Kernel>::Sum::default(); ROWS * stride];
        let mut votes = vec![0.0; self.n_classes];
        for some in open.chunks(ROWS) {
            let rows = std::array::from_fn(|at| some.get(at).map_or(0, |&(_, place)| place as u32));
            let tile = Tile { rows, columns: 0..stride };
            K::Exact::accumulate(self.isa, &packed, &tile, From::Zero, (&mut sums, stride));
            for (&(case, place), strip) in some.iter().zip(sums.chunks_exact(stride)) {
                let mut near: Vec<(u64, usize)> = (0..n)
                    .filter(|&other| self.layout.is_compared(place, other))
                    .map(|other| (strip[other].steps(), self.layout.rows()[other] as usize))
                    .collect();
                near.select_nth_unstable(self.k - 1);
                near.truncate(self.k);
                near.sort_unstable();
                classes[case] = self.vote(near.into_iter(), &mut votes);
            }
        }
    }
}
