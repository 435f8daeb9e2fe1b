//! kd-tree over quantized values: the candidate lists of many rows under few features, without all their distances.
//!
//! A tree gives the lists that a scan of all distances gives, key for key, so that everything behind the lists is the
//! same. A key is a quantized distance with a row index behind it; keys are distinct, and a subtree is passed over only
//! if the least key its box and its lowest row index allow is greater than the last key of the list.
//!
//! Rows that are compared with all rows of other folds share one tree: a query skips the rows of its own fold, and the
//! subtrees that hold nothing else. Given splits have one tree each, of their training rows.

use super::exact::{ExactDistances, TrainingRows};
use super::shortlist::Shortlist;
use crate::base::cancel;
use crate::base::parallel::Pool;
use crate::simd::{Isa, KeyFormat, NO_KEY};

/// Rows of a leaf: one cache line of the values of a feature.
const LEAF: usize = 8;
/// A tree of 2^32 rows has a depth of 30, and a search has at most one subtree of each level ahead of it.
const DEPTH: usize = 32;
/// Queries between two checks for cancellation: about 1 ms.
const BATCH: usize = 256;
/// The fold of a node that has rows of several folds.
const MIXED: u32 = u32::MAX;
/// Subsets of more features have no tree.
pub(super) const MOST_FEATURES: usize = 8;

/// True if trees take less time than all distances, for `k` neighbors of `n_cases` cases under `size` features, where so many
/// pairs of rows are compared.
///
/// All distances take the time of the pairs, about 1.7 ns each for 2 to 8 features. A tree takes a time for each case that
/// grows with the features. Measured times of all distances over those of trees, uniform values (the worst for a tree),
/// Euclidean, 10 folds, 5 and 20 neighbors, 0.45 pairs a case for each row:
///
/// | rows | 2 features | 4 | 5 | 6 | 7 | 8 |
/// |---|---|---|---|---|---|---|
/// | 1000 | 1.7, 1.4 | 0.9, 0.8 | 0.7, 0.7 | 0.6, 0.3 | 0.4, 0.4 | 0.3, 0.3 |
/// | 2000 | 3.0, 2.2 | 1.4, 1.1 | 1.1, 0.9 | 0.8, 0.7 | 0.5, 0.5 | 0.4, 0.4 |
/// | 5000 | 6.0, 3.8 | 2.8, 1.9 | 1.9, 1.5 | 1.4, 1.2 | 0.9, 0.8 | 0.6, 0.5 |
/// | 10 000 | 8.6, 8.1 | 4.7, 3.5 | 3.1, 2.4 | 2.3, 1.6 | 1.4, 1.1 | 1.0, 0.7 |
/// | 20 000 | 20, 9.9 | 7.9, 4.9 | 5.7, 3.2 | 3.5, 2.3 | 2.3, 1.6 | 1.5, 1.0 |
/// | 50 000 | 44, 27 | 18, 10 | 12, 7.0 | 7.6, 4.3 | 5.0, 3.0 | 2.9, 2.0 |
///
/// The limits are where the ratio is about 1.5; about 2 below 4096 rows, where 32-bit keys may take less time than the
/// 64-bit keys measured here. Twenty neighbors need about twice the rows that five do. These are the times of AVX2. AVX-512
/// takes a third of them for all distances, so that a tree has to be three times as fast.
pub(super) fn is_cheaper(pairs: u64, n_cases: usize, size: usize, k: usize, isa: Isa) -> bool {
    /// Pairs of a case, by the number of features, for up to ten neighbors.
    const LEAST: [u64; MOST_FEATURES] = [1000, 1000, 1000, 1500, 2000, 3000, 5000, 9000];
    const LEAST_AVX512: [u64; MOST_FEATURES] = [1000, 1100, 2000, 3300, 5000, 9000, 16_000, 30_000];
    let limits = if matches!(isa, Isa::Avx512(_)) { LEAST_AVX512 } else { LEAST };
    let least = size.checked_sub(1).and_then(|at| limits.get(at));
    least.is_some_and(|least| 10 * pairs >= least * k.max(10) as u64 * n_cases as u64)
}

/// The trees of one subset.
pub(super) trait Forest: Send + Sync {
    /// Finds the `levels` least keys of every case and hands them on in ascending order, [`NO_KEY`] where there are no more;
    /// in parallel where there is a pool.
    fn nearest(
        &self,
        levels: usize,
        format: KeyFormat,
        pool: Option<&Pool>,
        enter: &mut dyn FnMut(usize, &[f64]),
    );

    /// Replaces `rows` by the training rows of a case that are not certainly behind one at `near` steps.
    fn within(&self, case: usize, near: f64, shortlist: &Shortlist, rows: &mut Vec<u32>);
}

/// The rows that trees are built of.
pub(super) struct Places<'a> {
    /// The row at each place.
    pub rows: &'a [u32],
    /// The row index in keys, at each place.
    pub index: &'a [u32],
    /// The cases and their training rows.
    pub exact: &'a ExactDistances,
}

/// The trees for points of `size` features, whose quantized values at each place `value` gives; squared distances or not.
pub(super) fn build(
    places: &Places<'_>,
    size: usize,
    is_squared: bool,
    value: &dyn Fn(usize, usize) -> f64,
) -> Box<dyn Forest> {
    match size {
        1 => build_sized::<1>(places, is_squared, value),
        2 => build_sized::<2>(places, is_squared, value),
        3 => build_sized::<3>(places, is_squared, value),
        4 => build_sized::<4>(places, is_squared, value),
        5 => build_sized::<5>(places, is_squared, value),
        6 => build_sized::<6>(places, is_squared, value),
        7 => build_sized::<7>(places, is_squared, value),
        MOST_FEATURES => build_sized::<MOST_FEATURES>(places, is_squared, value),
        _ => unreachable!("subsets of 1 to {MOST_FEATURES} features have trees"),
    }
}

fn build_sized<const D: usize>(
    places: &Places<'_>,
    is_squared: bool,
    value: &dyn Fn(usize, usize) -> f64,
) -> Box<dyn Forest> {
    if is_squared {
        Box::new(KdForest::<D, true>::new(places, value))
    } else {
        Box::new(KdForest::<D, false>::new(places, value))
    }
}

/// A row of a tree.
#[derive(Debug, Clone, Copy)]
struct Item<const D: usize> {
    point: [f64; D],
    place: u32,
    row: u32,
    /// The row index in keys.
    index: u32,
    fold: u32,
}

/// A subtree: its bounding box, the lowest row index in it, and the fold of all its rows.
#[derive(Debug, Clone, Copy)]
struct Node<const D: usize> {
    low: [f64; D],
    high: [f64; D],
    least: u32,
    fold: u32,
    child: Child,
}

/// The contents of a subtree.
#[derive(Debug, Clone, Copy)]
enum Child {
    /// Two nodes, the first at this index.
    Nodes(u32),
    /// The leaf at this index.
    Leaf(u32),
}

/// Some rows side by side. Padding is infinitely far.
#[derive(Debug, Clone)]
struct Leaf<const D: usize> {
    values: [[f64; LEAF]; D],
    index: [u32; LEAF],
    fold: [u32; LEAF],
    row: [u32; LEAF],
}

#[derive(Debug)]
struct Tree<const D: usize, const SQUARED: bool> {
    nodes: Vec<Node<D>>,
    leaves: Vec<Leaf<D>>,
}

/// A case, its place, the fold whose rows are not compared with it, and the tree of those that are.
#[derive(Debug, Clone, Copy)]
struct Query {
    case: u32,
    place: u32,
    fold: u32,
    tree: u32,
}

#[derive(Debug)]
struct KdForest<const D: usize, const SQUARED: bool> {
    points: Vec<[f64; D]>,
    trees: Vec<Tree<D, SQUARED>>,
    /// Neighbors in space follow each other where they can.
    queries: Vec<Query>,
    /// The index of the query of each case.
    query_index: Vec<u32>,
}

impl<const D: usize, const SQUARED: bool> KdForest<D, SQUARED> {
    fn new(places: &Places<'_>, value: &dyn Fn(usize, usize) -> f64) -> Self {
        let mut points = vec![[0.0; D]; places.rows.len()];
        for feature in 0..D {
            for (place, point) in points.iter_mut().enumerate() {
                point[feature] = value(feature, place);
            }
        }
        let item = |place: u32, fold: u32| {
            let at = place as usize;
            Item { point: points[at], place, row: places.rows[at], index: places.index[at], fold }
        };
        let (mut trees, mut queries) = (Vec::new(), Vec::new());
        match places.exact.training() {
            TrainingRows::OtherFolds(fold_of) => {
                // Each place is a case.
                let folds = places.rows.iter().map(|&row| fold_of[row as usize]);
                let mut items: Vec<Item<D>> =
                    (0..).zip(folds).map(|(place, fold)| item(place, fold)).collect();
                trees.push(Tree::new(&mut items));
                let query = |&Item { place, fold, .. }: &Item<D>| Query {
                    case: place,
                    place,
                    fold,
                    tree: 0,
                };
                queries.extend(items.iter().map(query));
            }
            TrainingRows::Splits { train, split_of } => {
                // Each row is at the place of its number; no row is in fold 1.
                for train in train {
                    let mut items: Vec<Item<D>> = train.iter().map(|&row| item(row, 0)).collect();
                    trees.push(Tree::new(&mut items));
                }
                let query = |(case, &tree): (u32, &u32)| Query {
                    case,
                    place: places.exact.row(case as usize),
                    fold: 1,
                    tree,
                };
                queries.extend((0..).zip(split_of).map(query));
            }
        }
        let mut query_index = vec![0; queries.len()];
        for (at, query) in (0..).zip(&queries) {
            query_index[query.case as usize] = at;
        }
        Self { points, trees, queries, query_index }
    }
}

impl<const D: usize, const SQUARED: bool> Forest for KdForest<D, SQUARED> {
    fn nearest(
        &self,
        levels: usize,
        format: KeyFormat,
        pool: Option<&Pool>,
        enter: &mut dyn FnMut(usize, &[f64]),
    ) {
        let search = |queries: &[Query], keys: &mut Vec<f64>| {
            cancel::check();
            keys.clear();
            keys.resize(queries.len() * levels, NO_KEY);
            for (query, list) in queries.iter().zip(keys.chunks_exact_mut(levels)) {
                let point = &self.points[query.place as usize];
                self.trees[query.tree as usize].nearest(point, query.fold, format, list);
            }
        };
        let mut hand_on = |queries: &[Query], keys: &[f64]| {
            for (query, list) in queries.iter().zip(keys.chunks_exact(levels)) {
                enter(query.case as usize, list);
            }
        };
        if let Some(pool) = pool {
            let parts: Vec<&[Query]> = self.queries.chunks(BATCH).collect();
            let found = pool.map(parts, |queries| {
                let mut keys = Vec::new();
                search(queries, &mut keys);
                keys
            });
            self.queries
                .chunks(BATCH)
                .zip(&found)
                .for_each(|(queries, keys)| hand_on(queries, keys));
        } else {
            let mut keys = Vec::new();
            for queries in self.queries.chunks(BATCH) {
                search(queries, &mut keys);
                hand_on(queries, &keys);
            }
        }
    }

    fn within(&self, case: usize, near: f64, shortlist: &Shortlist, rows: &mut Vec<u32>) {
        let query = self.queries[self.query_index[case] as usize];
        let point = &self.points[query.place as usize];
        rows.clear();
        self.trees[query.tree as usize].within(point, query.fold, near, shortlist, rows);
    }
}

impl<const D: usize, const SQUARED: bool> Tree<D, SQUARED> {
    /// The tree of these rows, which it sorts into the order of its leaves.
    fn new(items: &mut [Item<D>]) -> Self {
        let n_leaves = items.len().div_ceil(LEAF);
        let mut tree =
            Self { nodes: Vec::with_capacity(2 * n_leaves), leaves: Vec::with_capacity(n_leaves) };
        tree.nodes.push(Node::new(items));
        tree.split(0, items);
        tree
    }

    /// Halves the rows of a node along the longest side of its box until they fit a leaf. Rows of equal values are split
    /// by their index, so that a search for the lowest of many copies passes over the others.
    fn split(&mut self, node: usize, items: &mut [Item<D>]) {
        if items.len() <= LEAF {
            self.nodes[node].child = Child::Leaf(self.leaves.len() as u32);
            self.leaves.push(Leaf::new(items));
            return;
        }
        if items.len() >= 1 << 12 {
            cancel::check();
        }
        let Node { low, high, .. } = self.nodes[node];
        let side = |axis: usize| high[axis] - low[axis];
        let axis = (1..D).fold(0, |best, axis| if side(axis) > side(best) { axis } else { best });
        // All leaves but the last are full.
        let half = items.len().div_ceil(LEAF) / 2 * LEAF;
        items.select_nth_unstable_by(half, |a, b| {
            a.point[axis].total_cmp(&b.point[axis]).then(a.index.cmp(&b.index))
        });
        let (left, right) = items.split_at_mut(half);
        let first = self.nodes.len();
        self.nodes[node].child = Child::Nodes(first as u32);
        self.nodes.extend([Node::new(left), Node::new(right)]);
        self.split(first, left);
        self.split(first + 1, right);
    }

    /// Enters the rows of other folds into a list of keys, which is sorted and keeps the least.
    fn nearest(&self, point: &[f64; D], fold: u32, format: KeyFormat, list: &mut [f64]) {
        let last = list.len() - 1;
        // The distance and the row index of the last key; without one, greater than any.
        let mut worst = (f64::MAX, u32::MAX);
        let mut ahead = [(0.0, 0u32); DEPTH];
        let mut n_ahead = 0;
        let mut node = &self.nodes[0];
        loop {
            match node.child {
                Child::Nodes(first) => {
                    let [left, right] = [first, first + 1].map(|at| {
                        let node = &self.nodes[at as usize];
                        (node.distance::<SQUARED>(point), node.least, at)
                    });
                    let is_left = left.0 < right.0 || (left.0 == right.0 && left.1 < right.1);
                    let (near, far) = if is_left { (left, right) } else { (right, left) };
                    if (far.0, far.1) <= worst {
                        ahead[n_ahead] = (far.0, far.2);
                        n_ahead += 1;
                    }
                    // The nearer one may be out of reach too: then so is the other.
                    if (near.0, near.1) <= worst {
                        node = &self.nodes[near.2 as usize];
                        if node.fold != fold {
                            continue;
                        }
                    }
                }
                Child::Leaf(at) => {
                    let leaf = &self.leaves[at as usize];
                    let distances = leaf.distances::<SQUARED>(point);
                    for (lane, &distance) in distances.iter().enumerate() {
                        if (distance, leaf.index[lane]) < worst && leaf.fold[lane] != fold {
                            let base = format.base(distance as u64).to_bits();
                            let key = f64::from_bits(base + u64::from(leaf.index[lane]));
                            let mut level = last;
                            while level > 0 && list[level - 1] > key {
                                list[level] = list[level - 1];
                                level -= 1;
                            }
                            list[level] = key;
                            if list[last] < NO_KEY {
                                let (steps, row) = format.parts(list[last]);
                                worst = (steps as f64, row as u32);
                            }
                        }
                    }
                }
            }
            // The next subtree that is still within reach.
            loop {
                if n_ahead == 0 {
                    return;
                }
                n_ahead -= 1;
                let (distance, at) = ahead[n_ahead];
                node = &self.nodes[at as usize];
                if (distance, node.least) < worst && node.fold != fold {
                    break;
                }
            }
        }
    }

    /// Adds the rows of other folds that are not certainly behind one at `near` steps.
    fn within(
        &self,
        point: &[f64; D],
        fold: u32,
        near: f64,
        shortlist: &Shortlist,
        rows: &mut Vec<u32>,
    ) {
        let is_open = |distance: f64| !shortlist.is_apart(near, distance);
        let mut ahead = [0u32; DEPTH + 1];
        let mut n_ahead = 1;
        while n_ahead > 0 {
            n_ahead -= 1;
            let node = &self.nodes[ahead[n_ahead] as usize];
            if node.fold == fold || !is_open(node.distance::<SQUARED>(point)) {
                continue;
            }
            match node.child {
                Child::Nodes(first) => {
                    (ahead[n_ahead], ahead[n_ahead + 1]) = (first, first + 1);
                    n_ahead += 2;
                }
                Child::Leaf(at) => {
                    let leaf = &self.leaves[at as usize];
                    let distances = leaf.distances::<SQUARED>(point);
                    for (lane, &distance) in distances.iter().enumerate() {
                        if distance < f64::MAX && is_open(distance) && leaf.fold[lane] != fold {
                            rows.push(leaf.row[lane]);
                        }
                    }
                }
            }
        }
    }
}

impl<const D: usize> Node<D> {
    /// The node of some rows, without children.
    fn new(items: &[Item<D>]) -> Self {
        let (mut low, mut high) = (items[0].point, items[0].point);
        let (mut least, mut fold) = (u32::MAX, items[0].fold);
        for item in items {
            for axis in 0..D {
                low[axis] = low[axis].min(item.point[axis]);
                high[axis] = high[axis].max(item.point[axis]);
            }
            least = least.min(item.index);
            fold = if item.fold == fold { fold } else { MIXED };
        }
        Self { low, high, least, fold, child: Child::Leaf(0) }
    }

    /// The distance from a point to the box: no row in it is nearer. Whole numbers, so that it is exact.
    #[inline]
    fn distance<const SQUARED: bool>(&self, point: &[f64; D]) -> f64 {
        let mut sum = 0.0;
        for ((low, high), value) in self.low.iter().zip(&self.high).zip(point) {
            let off = (low - value).max(value - high).max(0.0);
            sum += if SQUARED { off * off } else { off };
        }
        sum
    }
}

impl<const D: usize> Leaf<D> {
    fn new(items: &[Item<D>]) -> Self {
        let mut leaf = Self {
            values: [[f64::INFINITY; LEAF]; D],
            index: [0; LEAF],
            fold: [MIXED; LEAF],
            row: [0; LEAF],
        };
        for (lane, item) in items.iter().enumerate() {
            for axis in 0..D {
                leaf.values[axis][lane] = item.point[axis];
            }
            (leaf.index[lane], leaf.fold[lane], leaf.row[lane]) = (item.index, item.fold, item.row);
        }
        leaf
    }

    #[inline]
    fn distances<const SQUARED: bool>(&self, point: &[f64; D]) -> [f64; LEAF] {
        let mut sums = [0.0; LEAF];
        for (values, own) in self.values.iter().zip(point) {
            for (sum, value) in sums.iter_mut().zip(values) {
                let off = value - own;
                *sum += if SQUARED { off * off } else { off.abs() };
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;
    use crate::data::dataset::{Dataset, Scale};
    use crate::data::folds::{FoldSpec, Folds};
    use crate::evaluate::{Classifier, References, ScaleFit};
    use proptest::prelude::*;

    #[test]
    fn the_distance_to_a_box_is_that_of_its_nearest_corner_or_side() {
        let item =
            |x: f64, y: f64, index: u32| Item { point: [x, y], place: 0, row: 0, index, fold: 0 };
        let node = Node::new(&[item(2.0, 10.0, 5), item(4.0, 30.0, 3)]);
        assert_eq!((node.low, node.high, node.least), ([2.0, 10.0], [4.0, 30.0], 3));
        let cases = [([3.0, 20.0], 0.0, 0.0), ([7.0, 20.0], 3.0, 9.0), ([1.0, 8.0], 3.0, 5.0)];
        for (point, manhattan, squared) in cases {
            assert_eq!(node.distance::<false>(&point), manhattan);
            assert_eq!(node.distance::<true>(&point), squared);
        }
    }

    /// Ties, near ties, outliers and values that are not whole in steps.
    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => (0u32..4).prop_map(f64::from),
            2 => (0u32..4, 0u32..9).prop_map(|(level, off)| f64::from(level) + f64::from(off) * 1.7e-5),
            2 => (0u32..1_000_000).prop_map(|value| f64::from(value) / 333_333.0),
            1 => Just(-70.0),
        ]
    }

    fn codes(n: usize) -> Vec<u32> {
        (0..n as u32).map(|row| row * row % 7 % 3).collect()
    }

    fn spec(k: usize, metric: Metric, weights: Weights, folds: FoldSpec) -> EvaluationSpec {
        EvaluationSpec {
            classifier: Classifier::Knn,
            k,
            metric,
            weights,
            alpha: None,
            scale_fit: ScaleFit::All,
            folds,
        }
    }

    /// The candidates of all cases, certain or not, the classes and the means, as bits.
    type Answers = (Vec<Vec<(u64, usize)>>, Vec<u32>, Vec<u64>);

    fn answers<K: Kernel>(
        plan: &Plan<'_>,
        value: impl Fn(usize) -> K::Value,
        subset: &Subset,
        tree_use: TreeUse,
        pool: Option<&Pool>,
    ) -> Answers {
        let mut neighbors = Neighbors::<K>::new(plan, plan.isa, value);
        neighbors.tree_use = tree_use;
        let shortlist = neighbors.shortlist(subset);
        let found = neighbors.find(Step::from_nothing(subset), shortlist, pool);
        assert_eq!(found.forest.is_some(), tree_use == TreeUse::Always);
        let list = |case: usize| {
            let list = found.candidates.list(case);
            let levels = (0..shortlist.levels).filter(|&level| list.bounds(level).is_some());
            levels.map(|level| list.at(level)).map(|(steps, row)| (steps as u64, row)).collect()
        };
        let lists = (0..neighbors.cases.n_cases()).map(list).collect();
        let numbers: Vec<f64> =
            (0..plan.table.data.n_samples()).map(|row| 1.0 / (row + 3) as f64).collect();
        let means = neighbors.regress(&numbers, &found, shortlist, subset);
        let means = means.into_iter().map(f64::to_bits).collect();
        (lists, neighbors.classify(&found, shortlist, subset), means)
    }

    /// Fails unless trees give what all distances give, bit for bit.
    fn check(data: &Dataset, spec: &EvaluationSpec, subset: &Subset) {
        let folds = Folds::draw(&spec.folds, data.codes(), 3).unwrap().0;
        let table = FoldedTable::new(data, &folds, spec.scale_fit).unwrap().0;
        let resources = Resources::default();
        let isa = Isa::best();
        let plan =
            Plan { table: &table, spec, complete: None, separation: false, resources, isa, ops: 0 };
        let pool = Pool::new(2);
        for pool in [None, Some(&pool)] {
            let [brute, tree] = [TreeUse::Never, TreeUse::Always].map(|tree_use| {
                match (&table.quantization.values, spec.metric) {
                    (Quantized::Narrow(values), Metric::Manhattan) => {
                        answers::<Manhattan16>(&plan, |at| values[at], subset, tree_use, pool)
                    }
                    (Quantized::Narrow(values), Metric::Euclidean) => {
                        answers::<Euclidean16>(&plan, |at| values[at], subset, tree_use, pool)
                    }
                    (Quantized::Wide(values), Metric::Manhattan) => {
                        answers::<Manhattan>(&plan, |at| values[at].into(), subset, tree_use, pool)
                    }
                    (Quantized::Wide(values), Metric::Euclidean) => {
                        answers::<Euclidean>(&plan, |at| values[at].into(), subset, tree_use, pool)
                    }
                }
            });
            assert_eq!(tree, brute);
        }
    }

    proptest! {
        #[test]
        fn trees_give_what_all_distances_give(
            columns in (30usize..150, 1usize..9).prop_flat_map(|(n, d)| {
                proptest::collection::vec(proptest::collection::vec(value(), n), d)
            }),
            constant: bool, scheme in 0..4, k in 1usize..15, is_manhattan: bool, by_distance: bool, scale in 0..3,
        ) {
            let (n, d) = (columns[0].len(), columns.len());
            let mut flat = columns.concat();
            if constant {
                flat[(d - 1) * n..].fill(2.5);
            }
            let names = (0..d).map(|feature| format!("f{feature}")).collect();
            let scale = [Scale::Minmax, Scale::Standard, Scale::None][scale as usize];
            let data = Dataset::new(&flat, codes(n), 3, names, scale).unwrap();
            let half = n as u32 / 2;
            let (first, second): (Vec<u32>, Vec<u32>) = ((0..half).collect(), (half..n as u32).collect());
            let folds = match scheme {
                0 => FoldSpec::Loo,
                1 => FoldSpec::Kfold { k: 5, shuffle: true, seed: 1 },
                2 => FoldSpec::Kfold { k: 2, shuffle: false, seed: 1 },
                _ => FoldSpec::Splits { splits: vec![(first.clone(), second.clone()), (first[..15].to_vec(), second)] },
            };
            let metric = if is_manhattan { Metric::Manhattan } else { Metric::Euclidean };
            let weights = if by_distance { Weights::Distance } else { Weights::Uniform };
            let scale_fit = if scheme == 3 && k % 2 == 0 { ScaleFit::Train } else { ScaleFit::All };
            let spec = EvaluationSpec { scale_fit, ..spec(k, metric, weights, folds) };
            check(&data, &spec, &Subset::full(d));
        }
    }

    #[test]
    fn trees_are_for_many_rows_of_few_features() {
        let is_cheaper_for = |pairs: u64, size, k| is_cheaper(pairs * 7, 7, size, k, Isa::Scalar);
        assert!(is_cheaper_for(1000, 1, 5) && is_cheaper_for(1000, 3, 10));
        assert!(!is_cheaper_for(999, 1, 5) && !is_cheaper_for(1000, 4, 5));
        assert!(is_cheaper_for(9000, 8, 1) && !is_cheaper_for(8999, 8, 1));
        assert!(is_cheaper_for(2000, 2, 20) && !is_cheaper_for(1999, 2, 20));
        assert!(!is_cheaper_for(1 << 40, 0, 5) && !is_cheaper_for(1 << 40, 9, 5));
    }

    /// Small subsets by trees, large ones by sums that start from references: the same scores either way.
    #[test]
    fn trees_and_references_go_together() {
        let (n, d) = (2300, 12);
        let columns: Vec<f64> = (0..n * d).map(|at| (at * at % 7919 % 997) as f64 / 13.0).collect();
        let names = (0..d).map(|feature| format!("f{feature}")).collect();
        let data = Dataset::new(&columns, codes(n), 3, names, Scale::Standard).unwrap();
        let folds = FoldSpec::Kfold { k: 10, shuffle: true, seed: 1 };
        let spec = spec(5, Metric::Euclidean, Weights::Uniform, folds);
        let evaluator = |references| {
            let resources = Resources { references, ..Resources::with_threads(2) };
            crate::evaluate::build(&data, &spec, false, resources).unwrap().0
        };
        let (mut kept, mut fresh) = (evaluator(References::Always), evaluator(References::Never));
        for size in [2, 3, 4, 3, 9, 2] {
            let subset = Subset::from_indices(d, 0..size);
            let measures = kept.evaluate(std::slice::from_ref(&subset)).unwrap();
            assert_eq!(measures, fresh.evaluate(std::slice::from_ref(&subset)).unwrap());
        }
    }
}
