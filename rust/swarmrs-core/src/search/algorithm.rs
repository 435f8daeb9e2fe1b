//! The contract of an algorithm: it proposes subsets and receives their evaluations.

use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::base::random::{Phase, Rng, Streams};
use crate::base::subset::Subset;
use crate::evaluate::{Measures, Protocol};
use crate::problem::objective::{Cost, Objective};
pub use crate::problem::space::Space;
use crate::search::ranking::Ranked;
use crate::simd::words;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A search under way.
///
/// Implementations must draw random numbers from [`Iteration::rng`] only: then the same seed gives the same search.
///
/// # Examples
/// A search that flips one random bit of the best subset so far, run by the [`Engine`](crate::search::engine::Engine):
///
/// ```
/// use swarmrs_core::Result;
/// use swarmrs_core::base::{clock::Clock, parallel::Pool, random::Streams, subset::Subset};
/// use swarmrs_core::evaluate::{Evaluator, Measures};
/// use swarmrs_core::problem::{budget::Budget, constraints::Constraints, objective::CostFunction};
/// use swarmrs_core::search::algorithm::{Evaluation, Iteration, Optimizer, Space};
/// use swarmrs_core::search::engine::Engine;
///
/// struct FlipOne(Space);
///
/// impl Optimizer for FlipOne {
///     fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
///         let mut rng = iteration.rng(0);
///         let Some(best) = iteration.best else { return vec![self.0.random(&mut rng)] };
///         let mut subset = best.subset.clone();
///         let feature = rng.below(subset.len());
///         subset.set(feature, !subset.contains(feature));
///         vec![subset]
///     }
///
///     // The engine keeps the best subset; this search has no other state.
///     fn tell(&mut self, _: &Iteration<'_>, _: &[Evaluation]) {}
/// }
///
/// /// The cost is the number of missing features.
/// struct Missing;
///
/// impl Evaluator for Missing {
///     fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
///         let missing = |subset: &Subset| (subset.len() - subset.count()) as f64;
///         Ok(subsets.iter().map(|subset| Measures::from_error(missing(subset))).collect())
///     }
/// }
///
/// let constraints = Constraints::new(12, &[], &[], None)?;
/// let outcome = Engine {
///     optimizer: Box::new(FlipOne(constraints.space())),
///     evaluator: &mut Missing,
///     cost_function: CostFunction::error(12),
///     budget: Budget { evaluations: Some(300), cost: Some(0.0), ..Budget::default() },
///     streams: Streams::new(1),
///     constraints: &constraints,
///     pool: &Pool::new(1),
///     replay: None,
///     memory: 1 << 20,
///     clock: Clock::start(),
/// }
/// .run(&mut [])?;
/// assert_eq!(outcome.best.map(|best| best.subset), Some(Subset::full(12)));
/// # Ok::<(), swarmrs_core::Error>(())
/// ```
pub trait Optimizer: Send {
    /// Proposes the subsets of this iteration; none to end the search.
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset>;
    /// Receives their evaluations, in the same order.
    fn tell(&mut self, iteration: &Iteration<'_>, evaluations: &[Evaluation]);
    /// True if `subset` may be the result. A search for a fixed size also evaluates subsets of other sizes, which are not
    /// eligible; one of these is the result only if no eligible subset was evaluated.
    fn is_eligible(&self, _subset: &Subset) -> bool {
        true
    }
    /// Additional columns of the trace for the iteration just evaluated; the names must be the same in every iteration.
    fn diagnostics(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    /// The features by descending support so far, for a search that ranks features.
    fn ranking(&self) -> Vec<Ranked> {
        Vec::new()
    }
}

/// An entry of the registry: a search method with its card and default hyperparameters.
///
/// A variant of a method is an entry of its own that starts the search of that method.
pub trait Algorithm: 'static {
    /// The hyperparameters.
    type Params: Params;
    /// The search it starts.
    type Search: Optimizer + 'static;
    /// Name, paper, summary and defaults.
    const CARD: Card;
    /// Names of presets, each with its settings as JSON; settings of the user take precedence.
    const PRESETS: &'static [(&'static str, &'static str)] = &[];
    /// True if it uses the filter of the space, which is built only if needed.
    const USES_FILTER: bool = false;
    /// True if it uses the ranking of features by F statistic.
    const USES_RELEVANCE: bool = false;
    /// How it uses feature groups with its defaults.
    const GROUPS: GroupUse = GroupUse::Ignored;
    /// True if it is a multi-objective search for a Pareto front of cost and size.
    const SEEKS_FRONT: bool = false;
    /// The evaluation protocol of the paper, used for what the user does not set.
    const PROTOCOL: Protocol = Protocol::COMMON;
    /// The objective of the paper with these hyperparameters: that of the card, unless they change it.
    fn objective(_params: &Self::Params) -> Objective {
        Self::CARD.objective
    }
    /// How it uses feature groups with these hyperparameters.
    fn groups(_params: &Self::Params) -> GroupUse {
        Self::GROUPS
    }
    /// Checks constraints between hyperparameters.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::BadSpec`].
    fn check(_params: &Self::Params) -> Result<()> {
        Ok(())
    }
    /// The hyperparameters of the paper.
    fn defaults() -> Self::Params {
        Self::Params::default()
    }
    /// Starts a search of `space`.
    fn start(params: Self::Params, space: &Space) -> Self::Search;
}

/// How an algorithm uses feature groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupUse {
    /// Not at all.
    Ignored,
    /// Only if the user sets groups.
    Optional,
    /// Always; without a setting they are found by the default method.
    Required,
}

/// The hyperparameters of an algorithm, written by the macro `params!`. `Default` is the paper's setting.
pub trait Params: Default + Serialize + DeserializeOwned + Send + 'static {
    /// Name, range and help of each hyperparameter, in the order of declaration.
    const FIELDS: &'static [Field];
}

/// Declares the hyperparameters of an algorithm: the struct, its `Default` and [`Params::FIELDS`], from one line each.
///
/// A line is `name: type = default, range and help;`. Range and help are an [`Allowed`] and a text, or one of the
/// shared constants of [`operators::parameters`](crate::operators::parameters). A first line `..base: Type;` includes all
/// hyperparameters of another algorithm.
///
/// ```text
/// params! {
///     /// Hyperparameters of catfish BPSO.
///     pub struct CbpsoParams {
///         population: usize = 30, POPULATION;
///         inertia: f64 = 1.0, INERTIA;
///         catfish_rate: f64 = 0.1, Allowed::Above(0.0, 1.0),
///             "fraction of the particles that become catfish; at least one does";
///     }
/// }
/// ```
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $(..$base:ident: $Base:ty;)?
            $($field:ident: $Type:ty = $default:expr, $($described:expr),+;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        pub struct $Name {
            $(#[serde(flatten)] pub(crate) $base: $Base,)?
            $(pub(crate) $field: $Type,)*
        }

        impl Default for $Name {
            fn default() -> Self {
                Self { $($base: Default::default(),)? $($field: $default),* }
            }
        }

        impl $crate::search::algorithm::Params for $Name {
            const FIELDS: &'static [$crate::search::algorithm::Field] = {
                use $crate::search::algorithm::{Field, params};
                const OWN: &[Field] = &[$(params!(@field $field, $($described),+)),*];
                params!(@all OWN $($Base)?)
            };
        }
    };
    (@field $name:ident, $described:expr) => {
        Field::new(stringify!($name), $described)
    };
    (@field $name:ident, $allowed:expr, $about:expr) => {
        Field::new(stringify!($name), ($allowed, $about))
    };
    (@all $OWN:ident) => {
        $OWN
    };
    (@all $OWN:ident $Base:ty) => {{
        use $crate::search::algorithm::{Params, joined};
        const BASE: &[Field] = <$Base as Params>::FIELDS;
        &joined::<{ BASE.len() + $OWN.len() }>(BASE, $OWN)
    }};
}
pub(crate) use params;

/// No hyperparameters.
#[derive(Debug, Clone, Default, Serialize, serde::Deserialize)]
pub struct NoParams {}

impl Params for NoParams {
    const FIELDS: &'static [Field] = &[];
}

/// One hyperparameter, as users see it.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The name, in the struct and on the command line.
    pub name: &'static str,
    /// The accepted values.
    pub allowed: Allowed,
    /// One line of help, with the paper's symbol and the unit.
    pub about: &'static str,
}

/// The accepted values of a hyperparameter and its help.
pub type Described = (Allowed, &'static str);

impl Field {
    /// A hyperparameter with its range and help.
    pub(crate) const fn new(name: &'static str, (allowed, about): Described) -> Self {
        Self { name, allowed, about }
    }
}

/// The concatenation of two lists of hyperparameters, `N` in total.
pub(crate) const fn joined<const N: usize>(base: &[Field], own: &[Field]) -> [Field; N] {
    let mut all = [Field::new("", (Allowed::Flag, "")); N];
    let mut i = 0;
    while i < N {
        all[i] = if i < base.len() { base[i] } else { own[i - base.len()] };
        i += 1;
    }
    all
}

/// The maximum size of a population or an archive, to which the memory of a search is proportional.
pub const MOST_MEMBERS: u64 = 100_000;
/// The maximum number of tries of a local search, to which its time is proportional.
pub const MOST_TRIES: u64 = 10_000;
/// The maximum of counts that need no memory: iterations, features, moves without improvement.
pub const MOST_STEPS: u64 = 1_000_000_000;
/// The maximum memory of a population in bytes.
const MOST_BYTES: u64 = 8 << 30;
/// An upper bound of the bytes per feature and member: position, velocity, personal best and exemplar.
const BYTES: u64 = 32;

/// Checks, before anything is allocated, that a population needs at most 8 GiB for this number of features.
///
/// # Errors
/// [`Error::TooLarge`].
pub fn check_members(id: &str, members: u64, n_features: usize) -> Result<()> {
    let bytes = members.saturating_mul(n_features as u64).saturating_mul(BYTES);
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let gib = bytes as f64 / f64::from(1 << 30);
    Err(Error::TooLarge {
        what: format!(
            "{id} with {members} members of {n_features} features needs about {gib:.0} GiB, expected 8 GiB at most"
        ),
        hint: "lower population or archive, or leave out features".into(),
    })
}

/// The accepted values of a hyperparameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowed {
    /// A number in [min, ∞).
    AtLeast(f64),
    /// An integer in [min, max].
    Whole(u64, u64),
    /// An integer in [min, max], or null to switch off what is on by default.
    WholeOrNull(u64, u64),
    /// A number in [min, max].
    Within(f64, f64),
    /// A number in (min, max].
    Above(f64, f64),
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// True or false.
    Flag,
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(lo) => write!(f, "{lo} or more"),
            Self::Whole(lo, hi) => write!(f, "a whole number from {lo} to {hi}"),
            Self::WholeOrNull(lo, hi) => write!(f, "a whole number from {lo} to {hi}, or null"),
            Self::Within(lo, hi) => write!(f, "{lo} to {hi}"),
            Self::Above(lo, hi) if hi.is_infinite() => write!(f, "above {lo}"),
            Self::Above(lo, hi) => write!(f, "above {lo}, up to {hi}"),
            Self::OneOf(words) => write!(f, "{}", words.join(", ")),
            Self::Flag => write!(f, "true or false"),
        }
    }
}

impl Allowed {
    fn accepts(self, value: &Value) -> bool {
        let number = || value.as_f64();
        match self {
            Self::AtLeast(lo) => number().is_some_and(|x| x >= lo && x.is_finite()),
            Self::Whole(lo, hi) => value.as_u64().is_some_and(|x| (lo..=hi).contains(&x)),
            Self::WholeOrNull(lo, hi) => value.is_null() || Self::Whole(lo, hi).accepts(value),
            Self::Within(lo, hi) => number().is_some_and(|x| (lo..=hi).contains(&x)),
            Self::Above(lo, hi) => number().is_some_and(|x| x > lo && x <= hi && x.is_finite()),
            Self::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Flag => value.is_boolean(),
        }
    }
}

/// Reads the hyperparameters of algorithm `id` from `given`, which names only those that differ from `defaults`.
///
/// # Errors
/// [`Error::UnknownParameter`] or [`Error::OutOfRange`].
pub fn read_params<P: Params>(
    id: &str,
    defaults: &P,
    given: &serde_json::Map<String, Value>,
) -> Result<P> {
    let mut all = settings(defaults);
    for (name, value) in given {
        let Some(field) = P::FIELDS.iter().find(|field| field.name == name) else {
            return Err(Error::UnknownParameter {
                algorithm: id.to_owned(),
                name: name.clone(),
                known: P::FIELDS.iter().map(|field| field.name.to_owned()).collect(),
            });
        };
        // Null is accepted if it is the default.
        let is_off = value.is_null() && all.get(name) == Some(&Value::Null);
        if !is_off && !field.allowed.accepts(value) {
            return Err(Error::out_of_range(name, value, &field.allowed.to_string()));
        }
        all.insert(name.clone(), value.clone());
    }
    // All values have been checked, so this does not fail.
    serde_json::from_value(Value::Object(all))
        .map_err(|error| Error::BadSpec { what: format!("a parameter of {id}: {error}") })
}

/// The values of hyperparameters, by name.
pub fn settings<P: Params>(params: &P) -> serde_json::Map<String, Value> {
    match serde_json::to_value(params) {
        Ok(Value::Object(all)) => all,
        _ => serde_json::Map::new(),
    }
}

/// The card of an algorithm, as users see it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Card {
    /// The name in full.
    pub name: &'static str,
    /// The kind of search.
    pub family: Family,
    /// The year of publication.
    pub year: u16,
    /// Authors, title, venue.
    pub paper: &'static str,
    /// The DOI; empty if there is none.
    pub doi: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// One line on the method, as users see it.
    pub summary: &'static str,
    /// The budget of the paper, used by default; None for a search that ends by itself.
    pub evaluations: Option<u64>,
    /// The objective of the paper, used by default.
    pub objective: Objective,
}

/// The kind of search an algorithm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Random search.
    Baseline,
    /// Particle swarms.
    Swarm,
    /// Genetic algorithms.
    Genetic,
    /// Ant colonies.
    Ant,
    /// Sequential search, one feature at a time.
    Sequential,
    /// Filters, which evaluate only their result.
    Filter,
    /// Rankings of features by the subsets that contain them; the result is a prefix of the ranking.
    Ranking,
}

/// One iteration: an ask and a tell.
#[derive(Debug)]
pub struct Iteration<'a> {
    /// The number of the iteration; 0 evaluates the initial subsets.
    pub number: u64,
    /// The fraction of the budget that is spent, from 0 to 1.
    pub fraction: f64,
    /// The number of iterations that fit the budget, assuming that all are as large as the first; None without a limit.
    pub iterations: Option<u64>,
    /// The total budget of evaluations, if limited.
    pub max_evaluations: Option<u64>,
    /// The best so far.
    pub best: Option<&'a Evaluation>,
    pub(crate) streams: &'a Streams,
    pub(crate) phase: Phase,
    pub(crate) pool: &'a Pool,
}

impl Iteration<'_> {
    /// The random stream of one slot (a particle, an ant, a move) in this iteration; to be taken once per ask or tell.
    pub fn rng(&self, slot: usize) -> Rng {
        words::widened(self.streams.rng(self.number, self.phase, slot))
    }

    /// Applies `work` to each item on the threads of the run; results are in the order of the items.
    pub fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        self.pool.map(items, work)
    }
}

/// A subset with its scores and cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The subset.
    pub subset: Subset,
    /// Its scores.
    pub measures: Measures,
    /// Its cost.
    pub cost: Cost,
}

impl Evaluation {
    /// True if this one costs less, or the same with fewer features.
    pub fn is_better_than(&self, other: &Self) -> bool {
        (self.cost, self.subset.count()) < (other.cost, other.subset.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_smaller_subset() {
        let of = |cost, features: &[usize]| Evaluation {
            subset: Subset::from_indices(9, features.iter().copied()),
            measures: Measures::WORST,
            cost: Cost::new(cost),
        };
        assert!(of(0.1, &[1, 2]).is_better_than(&of(0.2, &[1])));
        assert!(of(0.1, &[1]).is_better_than(&of(0.1, &[2, 3])));
        assert!(!of(0.1, &[1]).is_better_than(&of(0.1, &[2])));
    }
}
