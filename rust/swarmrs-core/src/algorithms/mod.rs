//! The registry of algorithms. Each file has one method with its variants.

mod aco;
mod bpso;
mod cbpso;
mod cdbpso;
mod cem;
mod cfs;
mod chbpso;
mod clpso;
mod clpso2d;
mod cso;
mod erfs;
mod fcbf;
mod ga;
mod gpso;
mod gpso2d;
mod gsbs;
mod hga;
mod lfs;
mod mopbpso;
mod nsga2;
mod pbpso;
mod pso;
mod pso42;
mod psomp;
mod pta;
mod random;
mod rks;
mod sbfs;
mod sbs;
mod sffs;
mod sfs;
mod sga;
mod upso2d;
mod vlpso;
mod vlpso_ls;

use crate::base::error::{Error, Result};
use crate::evaluate::Protocol;
use crate::operators::parameters::population_by_features;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Field, GroupUse, Optimizer, Params, Space, check_members, read_params,
    settings,
};
use serde_json::{Map, Value};

/// A registered algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its id.
    pub id: &'static str,
    /// Name, paper and summary.
    pub card: &'static Card,
    /// Its settings.
    pub fields: &'static [Field],
    /// Names of presets like `hga(3)`, each with its settings as JSON.
    pub presets: &'static [(&'static str, &'static str)],
    /// True if it uses the filter of the space.
    pub uses_filter: bool,
    /// True if it uses the ranking of features by F statistic.
    pub uses_relevance: bool,
    /// How it uses feature groups with its defaults.
    pub groups: GroupUse,
    /// True if it is a multi-objective search for a Pareto front.
    pub seeks_front: bool,
    /// Settings, as JSON, of the preset it was found by.
    preset: &'static str,
    defaults: fn() -> Given,
    protocol: fn() -> Protocol,
    prepare: fn(Entry, &Given) -> Result<Prepared>,
}

type Given = Map<String, Value>;

type Start = Box<dyn FnOnce(&Space) -> Box<dyn Optimizer> + Send>;

/// An algorithm with validated hyperparameters, ready to start.
pub struct Prepared {
    /// The row of the registry.
    pub entry: Entry,
    /// All hyperparameters, by name.
    pub settings: Given,
    /// The objective of the paper.
    pub objective: Objective,
    /// How it uses feature groups.
    pub groups: GroupUse,
    /// The evaluation protocol of the paper.
    pub protocol: Protocol,
    start: Start,
}

/// All algorithms, by id.
pub const REGISTRY: &[Entry] = &[
    entry::<aco::Aco>("aco"),
    entry::<bpso::Bpso>("bpso"),
    entry::<bpso::Bpsofs>("bpsofs"),
    entry::<cbpso::Cbpso>("cbpso"),
    entry::<cdbpso::Cdbpso>("cdbpso"),
    entry::<cem::Cem>("cem"),
    entry::<cfs::Cfs>("cfs"),
    entry::<chbpso::Chbpso>("chbpso"),
    entry::<clpso::Clpso>("clpso"),
    entry::<clpso2d::Clpso2d>("clpso2d"),
    entry::<cso::Cso>("cso"),
    entry::<clpso::Eclpso>("eclpso"),
    entry::<erfs::Erfs>("erfs"),
    entry::<fcbf::Fcbf>("fcbf"),
    entry::<ga::Ga>("ga"),
    entry::<gpso::Gpso>("gpso"),
    entry::<gpso2d::Gpso2d>("gpso2d"),
    entry::<gsbs::Gsbs>("gsbs"),
    entry::<hga::Hga>("hga"),
    entry::<gpso::Igpso>("igpso"),
    entry::<lfs::Lfs>("lfs"),
    entry::<gpso2d::Lpso2d>("lpso2d"),
    entry::<mopbpso::Mopbpso>("mopbpso"),
    entry::<nsga2::Nsga2>("nsga2"),
    entry::<pbpso::Pbpso>("pbpso"),
    entry::<pbpso::Pbpsofs>("pbpsofs"),
    entry::<pso::Pso>("pso"),
    entry::<pso42::Pso42>("pso42"),
    entry::<bpso::Psofs>("psofs"),
    entry::<psomp::Psomp>("psomp"),
    entry::<psomp::PsompT>("psomp-t"),
    entry::<psomp::Psorws>("psorws"),
    entry::<pta::Pta>("pta"),
    entry::<random::Random>("random"),
    entry::<rks::Rks>("rks"),
    entry::<sbfs::Sbfs>("sbfs"),
    entry::<sbs::Sbs>("sbs"),
    entry::<sffs::Sffs>("sffs"),
    entry::<sfs::Sfs>("sfs"),
    entry::<sga::Sga>("sga"),
    entry::<upso2d::Upso2d>("upso2d"),
    entry::<vlpso::Vlpso>("vlpso"),
    entry::<vlpso_ls::VlpsoLs>("vlpso-ls"),
];

const fn entry<A: Algorithm>(id: &'static str) -> Entry {
    Entry {
        id,
        card: &A::CARD,
        fields: A::Params::FIELDS,
        presets: A::PRESETS,
        uses_filter: A::USES_FILTER,
        uses_relevance: A::USES_RELEVANCE,
        groups: A::GROUPS,
        seeks_front: A::SEEKS_FRONT,
        preset: "{}",
        defaults: || settings(&A::defaults()),
        protocol: || A::PROTOCOL,
        prepare: prepare::<A>,
    }
}

fn prepare<A: Algorithm>(entry: Entry, given: &Given) -> Result<Prepared> {
    let params = read_params(entry.id, &A::defaults(), given)?;
    A::check(&params)?;
    Ok(Prepared {
        entry,
        settings: settings(&params),
        objective: A::objective(&params),
        groups: A::groups(&params),
        protocol: A::PROTOCOL,
        start: Box::new(|space| Box::new(A::start(params, space))),
    })
}

impl Prepared {
    /// Checks, before anything is allocated, that the population fits in memory with this number of features.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn check_memory(&self, n_features: usize) -> Result<()> {
        let population = match self.settings.get("population") {
            Some(Value::Null) => population_by_features(None, n_features) as u64,
            given => given.and_then(Value::as_u64).unwrap_or(0),
        };
        let archive = self.settings.get("archive").and_then(Value::as_u64).unwrap_or(0);
        check_members(self.entry.id, population + archive, n_features)
    }

    /// Starts the search.
    ///
    /// # Errors
    /// [`Error::TooLarge`], see [`check_memory`](Self::check_memory).
    pub fn start(self, space: &Space) -> Result<Box<dyn Optimizer>> {
        self.check_memory(space.n_features())?;
        Ok((self.start)(space))
    }
}

impl Entry {
    /// Reads and checks the hyperparameters in `given`, which names only those that differ from the defaults.
    ///
    /// # Errors
    /// [`Error::UnknownParameter`] or [`Error::OutOfRange`].
    pub fn prepare(self, given: &Given) -> Result<Prepared> {
        let mut all = self.fixed();
        all.extend(given.clone());
        (self.prepare)(self, &all)
    }

    /// Starts a search with the hyperparameters in `given`; returns it with all hyperparameters.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare) and of [`Prepared::start`].
    pub fn start(self, given: &Given, space: &Space) -> Result<(Box<dyn Optimizer>, Given)> {
        let prepared = self.prepare(given)?;
        let settings = prepared.settings.clone();
        Ok((prepared.start(space)?, settings))
    }

    /// The evaluation protocol of its paper.
    pub fn protocol(&self) -> Protocol {
        (self.protocol)()
    }

    /// The default settings, by name.
    pub fn defaults(&self) -> Given {
        let mut all = (self.defaults)();
        all.extend(self.fixed());
        all
    }

    /// The settings of its preset. A test parses all presets, so none is ignored here because of malformed JSON.
    fn fixed(&self) -> Given {
        serde_json::from_str(self.preset).unwrap_or_default()
    }

    /// Its id, aliases and presets, each with its settings as JSON.
    fn names(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let plain = std::iter::once(self.id).chain(self.card.aliases.iter().copied());
        plain.map(|name| (name, "{}")).chain(self.presets.iter().copied())
    }
}

/// Finds an algorithm by id, alias or preset, ignoring case; the settings of a preset become defaults.
///
/// # Errors
/// [`Error::UnknownAlgorithm`] with the nearest known id.
pub fn find(id: &str) -> Result<Entry> {
    let wanted = id.to_lowercase();
    let names = || REGISTRY.iter().flat_map(|entry| entry.names().map(move |name| (entry, name)));
    if let Some((entry, (_, preset))) = names().find(|(_, (name, _))| name.to_lowercase() == wanted)
    {
        return Ok(Entry { preset, ..*entry });
    }
    let nearest =
        names().map(|(_, (name, _))| name).min_by_key(|name| edit_distance(name, &wanted));
    Err(Error::UnknownAlgorithm {
        id: id.to_owned(),
        nearest: nearest.unwrap_or_default().to_owned(),
    })
}

/// The Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_names_are_unique() {
        assert!(REGISTRY.is_sorted_by(|a, b| a.id < b.id));
        let mut names: Vec<String> = REGISTRY
            .iter()
            .flat_map(|entry| entry.names().map(|(name, _)| name.to_lowercase()))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_field_is_described_in_order() {
        for entry in REGISTRY {
            let described: Vec<&str> = entry.fields.iter().map(|field| field.name).collect();
            let mut sorted: Vec<&str> = described.clone();
            sorted.sort_unstable();
            let mut held: Vec<String> = entry.defaults().keys().cloned().collect();
            held.sort_unstable();
            assert_eq!(held, sorted, "{}", entry.id);
        }
    }

    #[test]
    fn an_unknown_id_offers_the_nearest() {
        let error = find("bpos").unwrap_err();
        assert_eq!(error.to_string(), "unknown algorithm 'bpos'");
        assert_eq!(
            error.hint().unwrap(),
            "did you mean 'bpso'? the list of algorithms has all ids"
        );
        assert_eq!(find("BPSO").unwrap().id, "bpso");
    }

    #[test]
    fn settings_of_the_user_override_a_preset() {
        let space = Space::new(9, 9);
        let ripple = |id: &str, given: &str| {
            let given = serde_json::from_str(given).unwrap();
            find(id).unwrap().start(&given, &space).unwrap().1["ripple"].clone()
        };
        assert_eq!(ripple("HGA(3)", "{}"), 3);
        assert_eq!(ripple("hga(3)", r#"{"ripple": 2}"#), 2);
        assert_eq!(ripple("hga", "{}"), 1);
        assert_eq!(find("hga(4)").unwrap().defaults()["ripple"], 4);
        for entry in REGISTRY {
            for (name, preset) in entry.presets {
                let fixed: Given = serde_json::from_str(preset).unwrap();
                assert!(!fixed.is_empty(), "{name} fixes nothing: it is an alias");
                assert!(find(name).unwrap().start(&Map::new(), &space).is_ok(), "{name}");
            }
        }
    }

    #[test]
    fn edit_distances_have_the_expected_values() {
        for (a, b, n) in [("", "abc", 3), ("kitten", "sitting", 3), ("same", "same", 0)] {
            assert_eq!(edit_distance(a, b), n);
        }
    }
}
