//! The registry: one row for each algorithm, one file each.

mod aco;
mod bpso;
mod bpsofs;
mod cbpso;
mod cdbpso;
mod cfs;
mod chbpso;
mod clpso;
mod clpso2d;
mod cso;
mod eclpso;
mod erfs;
mod fcbf;
mod ga;
mod gpso;
mod gpso2d;
mod gsbs;
mod hga;
mod igpso;
mod lfs;
mod lpso2d;
mod mopbpso;
mod nsga2;
mod pbpso;
mod pbpsofs;
mod pso;
mod pso42;
mod psofs;
mod psomp;
mod psomp_t;
mod psorws;
mod pta;
mod random;
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
    Algorithm, Card, Field, GroupUse, Optimizer, Space, check_members, default_params, read_params,
};
use serde_json::{Map, Value};

/// A registered algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its id, the name of its file but for dashes.
    pub id: &'static str,
    /// What a reader wants to know about it.
    pub card: &'static Card,
    /// Its settings.
    pub fields: &'static [Field],
    /// Spellings that fix settings, each with these settings as JSON: `hga(3)`.
    pub presets: &'static [(&'static str, &'static str)],
    /// Whether its space must have a filter, where there is a table to make it of.
    pub uses_filter: bool,
    /// What groups are to it, with its defaults until settings are known.
    pub groups: GroupUse,
    /// Whether it seeks a front of trade-offs and not one subset.
    pub seeks_front: bool,
    /// The settings, as JSON, that the spelling it was found by fixes.
    preset: &'static str,
    protocol: fn() -> Protocol,
    objective: fn(&str, &Given) -> Result<Objective>,
    group_use: fn(&str, &Given) -> Result<GroupUse>,
    defaults: fn() -> Map<String, Value>,
    start: Start,
}

type Given = Map<String, Value>;
type Start = fn(&str, &Given, &Space) -> Result<(Box<dyn Optimizer>, Given)>;

/// All algorithms, by id.
pub const REGISTRY: &[Entry] = &[
    entry::<aco::Aco>("aco"),
    entry::<bpso::Bpso>("bpso"),
    entry::<bpsofs::Bpsofs>("bpsofs"),
    entry::<cbpso::Cbpso>("cbpso"),
    entry::<cdbpso::Cdbpso>("cdbpso"),
    entry::<cfs::Cfs>("cfs"),
    entry::<chbpso::Chbpso>("chbpso"),
    entry::<clpso::Clpso>("clpso"),
    entry::<clpso2d::Clpso2d>("clpso2d"),
    entry::<cso::Cso>("cso"),
    entry::<eclpso::Eclpso>("eclpso"),
    entry::<erfs::Erfs>("erfs"),
    entry::<fcbf::Fcbf>("fcbf"),
    entry::<ga::Ga>("ga"),
    entry::<gpso::Gpso>("gpso"),
    entry::<gpso2d::Gpso2d>("gpso2d"),
    entry::<gsbs::Gsbs>("gsbs"),
    entry::<hga::Hga>("hga"),
    entry::<igpso::Igpso>("igpso"),
    entry::<lfs::Lfs>("lfs"),
    entry::<lpso2d::Lpso2d>("lpso2d"),
    entry::<mopbpso::Mopbpso>("mopbpso"),
    entry::<nsga2::Nsga2>("nsga2"),
    entry::<pbpso::Pbpso>("pbpso"),
    entry::<pbpsofs::Pbpsofs>("pbpsofs"),
    entry::<pso::Pso>("pso"),
    entry::<pso42::Pso42>("pso42"),
    entry::<psofs::Psofs>("psofs"),
    entry::<psomp::Psomp>("psomp"),
    entry::<psomp_t::PsompT>("psomp-t"),
    entry::<psorws::Psorws>("psorws"),
    entry::<pta::Pta>("pta"),
    entry::<random::Random>("random"),
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
        fields: <A::Params as crate::search::algorithm::Params>::FIELDS,
        presets: A::PRESETS,
        uses_filter: A::USES_FILTER,
        groups: A::GROUPS,
        seeks_front: A::SEEKS_FRONT,
        preset: "{}",
        protocol: || A::PROTOCOL,
        objective: |id, given| Ok(A::objective(&read::<A>(id, given)?)),
        group_use: |id, given| Ok(A::groups(&read::<A>(id, given)?)),
        defaults: default_params::<A::Params>,
        start: start::<A>,
    }
}

fn read<A: Algorithm>(id: &str, given: &Given) -> Result<A::Params> {
    let params = read_params(id, given)?;
    A::check(&params)?;
    Ok(params)
}

fn start<A: Algorithm>(
    id: &str,
    given: &Given,
    space: &Space,
) -> Result<(Box<dyn Optimizer>, Given)> {
    let params = read::<A>(id, given)?;
    let settings = match serde_json::to_value(&params) {
        Ok(Value::Object(settings)) => settings,
        _ => Map::new(),
    };
    check_members(id, members(&settings, space), space.n_features())?;
    Ok((Box::new(A::start(params, space)), settings))
}

/// How many subsets a search with these settings holds at a time.
fn members(settings: &Given, space: &Space) -> u64 {
    let population = match settings.get("population") {
        Some(Value::Null) => population_by_features(None, space.n_features()) as u64,
        given => given.and_then(Value::as_u64).unwrap_or(0),
    };
    population + settings.get("archive").and_then(Value::as_u64).unwrap_or(0)
}

impl Entry {
    /// Begins a search with the settings in `given`, which names only those that differ from the defaults; returns all
    /// settings beside it.
    ///
    /// # Errors
    /// What the settings are refused for.
    pub fn start(&self, given: &Given, space: &Space) -> Result<(Box<dyn Optimizer>, Given)> {
        (self.start)(self.id, &self.with_fixed(given), space)
    }

    /// The same algorithm, knowing what groups are to it with the settings in `given`.
    ///
    /// # Errors
    /// What the settings are refused for.
    pub fn with(self, given: &Given) -> Result<Self> {
        Ok(Self { groups: (self.group_use)(self.id, &self.with_fixed(given))?, ..self })
    }

    /// What its paper lowers, with the settings in `given`.
    ///
    /// # Errors
    /// What the settings are refused for.
    pub fn objective(&self, given: &Given) -> Result<Objective> {
        (self.objective)(self.id, &self.with_fixed(given))
    }

    /// How its paper measures subsets.
    pub fn protocol(&self) -> Protocol {
        (self.protocol)()
    }

    /// The default settings, by name.
    pub fn defaults(&self) -> Given {
        let mut all = (self.defaults)();
        all.extend(self.fixed());
        all
    }

    fn with_fixed(&self, given: &Given) -> Given {
        let mut all = self.fixed();
        all.extend(given.clone());
        all
    }

    /// What its preset fixes. A test reads all presets, so that none is left out here for being malformed.
    fn fixed(&self) -> Given {
        serde_json::from_str(self.preset).unwrap_or_default()
    }

    /// Every spelling that finds it, with the settings that go with it.
    fn names(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let plain = std::iter::once(self.id).chain(self.card.aliases.iter().copied());
        plain.map(|name| (name, "{}")).chain(self.presets.iter().copied())
    }
}

/// The algorithm with this id or alias, in any case; a preset's spelling brings its settings with it as defaults.
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
    let nearest = names().map(|(_, (name, _))| name).min_by_key(|name| edits(name, &wanted));
    Err(Error::UnknownAlgorithm {
        id: id.to_owned(),
        nearest: nearest.unwrap_or_default().to_owned(),
    })
}

/// How many letters must be added, removed or changed to turn one word into the other.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_names_are_used_once() {
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
    fn a_preset_sets_what_the_user_does_not() {
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
    fn edits_count_letters() {
        for (a, b, n) in [("", "abc", 3), ("kitten", "sitting", 3), ("same", "same", 0)] {
            assert_eq!(edits(a, b), n);
        }
    }
}
