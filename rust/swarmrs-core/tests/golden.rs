//! Traces equal those recorded in `tests/golden`, byte for byte; `make bless` records them anew.

mod support;

use serde_json::json;
use std::path::PathBuf;
use support::{select, spec};
use swarmrs_core::algorithms::REGISTRY;
use swarmrs_core::evaluate::Resources;

const EVALUATIONS: u64 = 300;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// A run with the algorithm's defaults on the made table, as it is recorded: what fixed it and what it found.
fn record(id: &str) -> String {
    let spec = spec(id, EVALUATIONS);
    let selection = select(&spec, Resources::default(), &mut []);
    let record = json!({
        "spec": spec,
        "params": selection.params,
        "selected": selection.selected,
        "cost": selection.cost,
        "scores": selection.scores,
        "evaluations": selection.evaluations,
        "stop": selection.stop,
        "trace": selection.trace,
    });
    serde_json::to_string_pretty(&record).unwrap() + "\n"
}

#[test]
fn traces_are_the_recorded_ones() {
    let is_blessing = std::env::var_os("SWARMRS_BLESS").is_some_and(|value| value == "1");
    if is_blessing {
        std::fs::create_dir_all(folder()).unwrap();
    }
    let mut wrong = Vec::new();
    for entry in REGISTRY {
        let path = folder().join(format!("{}.json", entry.id));
        let found = record(entry.id);
        if is_blessing {
            std::fs::write(&path, found).unwrap();
            continue;
        }
        match std::fs::read_to_string(&path) {
            Err(_) => wrong.push(format!("{}: no trace is recorded; run `make bless`", entry.id)),
            Ok(recorded) => wrong.extend(difference(entry.id, &recorded, &found)),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The first line in which two records differ.
fn difference(id: &str, recorded: &str, found: &str) -> Option<String> {
    if recorded == found {
        return None;
    }
    let lines = recorded.lines().zip(found.lines()).enumerate();
    let (at, (was, is)) = lines.into_iter().find(|(_, (was, is))| was != is).unwrap_or_default();
    Some(format!(
        "{id}: the trace moved, first in line {}: was {was:?}, is {is:?}; if that is meant, run `make bless` and say why",
        at + 1
    ))
}

#[test]
fn every_recorded_trace_has_its_algorithm() {
    let Ok(files) = std::fs::read_dir(folder()) else {
        return;
    };
    for file in files {
        let name = file.unwrap().file_name().into_string().unwrap();
        let is_known = REGISTRY.iter().any(|entry| name == format!("{}.json", entry.id));
        assert!(is_known, "tests/golden/{name} belongs to no registered algorithm");
    }
}
