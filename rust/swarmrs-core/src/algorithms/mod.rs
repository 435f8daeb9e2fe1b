//! The registry: one row for each algorithm, one file each.

mod bpso;
mod pbpso;
mod random;
mod sfs;

use crate::error::{Error, Result};
use crate::search::{Algorithm, Card, Field, Optimizer, Space, default_params, read_params};
use serde_json::{Map, Value};

/// A registered algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its id, the name of its file.
    pub id: &'static str,
    /// What a reader wants to know about it.
    pub card: &'static Card,
    /// Its settings.
    pub fields: &'static [Field],
    defaults: fn() -> Map<String, Value>,
    start: Start,
}

type Given = Map<String, Value>;
type Start = fn(&str, &Given, &Space) -> Result<(Box<dyn Optimizer>, Given)>;

/// All algorithms, by id.
pub const REGISTRY: &[Entry] = &[
    entry::<bpso::Bpso>("bpso"),
    entry::<pbpso::Pbpso>("pbpso"),
    entry::<random::Random>("random"),
    entry::<sfs::Sfs>("sfs"),
];

const fn entry<A: Algorithm>(id: &'static str) -> Entry {
    Entry {
        id,
        card: &A::CARD,
        fields: <A::Params as crate::search::Params>::FIELDS,
        defaults: default_params::<A::Params>,
        start: start::<A>,
    }
}

fn start<A: Algorithm>(id: &str, given: &Given, space: &Space) -> Result<(Box<dyn Optimizer>, Given)> {
    let params: A::Params = read_params(id, given)?;
    let settings = match serde_json::to_value(&params) {
        Ok(Value::Object(settings)) => settings,
        _ => Map::new(),
    };
    Ok((Box::new(A::start(params, space)), settings))
}

impl Entry {
    /// Begins a search with the settings in `given`, which names only those that differ from the defaults; returns all
    /// settings beside it.
    ///
    /// # Errors
    /// What the settings are refused for.
    pub fn start(&self, given: &Given, space: &Space) -> Result<(Box<dyn Optimizer>, Given)> {
        (self.start)(self.id, given, space)
    }

    /// The default settings, by name.
    pub fn defaults(&self) -> Given {
        (self.defaults)()
    }
}

/// The algorithm with this id or alias, in any case.
///
/// # Errors
/// [`Error::UnknownAlgorithm`] with the nearest known id.
pub fn find(id: &str) -> Result<&'static Entry> {
    let wanted = id.to_lowercase();
    let names = |entry: &'static Entry| {
        std::iter::once(entry.id).chain(entry.card.aliases.iter().copied())
    };
    REGISTRY
        .iter()
        .find(|entry| names(entry).any(|name| name.to_lowercase() == wanted))
        .ok_or_else(|| {
            let nearest = REGISTRY
                .iter()
                .flat_map(names)
                .min_by_key(|name| edits(name, &wanted))
                .unwrap_or_default();
            Error::UnknownAlgorithm { id: id.to_owned(), nearest: nearest.to_owned() }
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
            .flat_map(|e| std::iter::once(&e.id).chain(e.card.aliases).map(|n| n.to_lowercase()))
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
        assert_eq!(error.hint().unwrap(), "did you mean 'bpso'? the list of algorithms has all ids");
        assert_eq!(find("BPSO").unwrap().id, "bpso");
    }

    #[test]
    fn edits_count_letters() {
        for (a, b, n) in [("", "abc", 3), ("kitten", "sitting", 3), ("same", "same", 0)] {
            assert_eq!(edits(a, b), n);
        }
    }
}
