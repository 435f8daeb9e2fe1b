//! A prescreen drops what tells nothing before a search looks at any feature.

mod support;

use support::{N_FEATURES, Watch, select, spec, timeless};
use swarmrs_core::base::error::Error;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::evaluate::Resources;
use swarmrs_core::run::Run;
use swarmrs_core::run::selection::Prescreened;
use swarmrs_core::search::observer::IterationRecord;

/// All features that a run tried, and what its prescreen says.
fn tried(
    rule: &str,
    include: &[usize],
    exclude: &[usize],
    max: Option<usize>,
) -> (Subset, Prescreened) {
    let mut spec = spec("random", 300);
    (spec.include, spec.exclude, spec.max_features) = (include.to_vec(), exclude.to_vec(), max);
    spec.prescreen = Some(rule.to_owned());
    let mut seen = Subset::empty(N_FEATURES);
    let mut watch = Watch(|record: &IterationRecord<'_>| {
        for tried in record.evaluations {
            assert!(tried.subset.count() <= max.unwrap_or(N_FEATURES));
            assert!(include.iter().all(|&feature| tried.subset.contains(feature)));
            seen = seen.union(&tried.subset);
        }
    });
    let screened = select(&spec, Resources::default(), &mut [&mut watch]).prescreen;
    (seen, screened.unwrap())
}

#[test]
fn only_survivors_are_tried() {
    // The first five features of the made table tell the classes apart, and the noise of the last happens to.
    let (seen, screened) = tried("su>0", &[], &[], None);
    assert!(seen.iter().eq([0, 1, 2, 3, 4, 15]));
    assert_eq!(screened, Prescreened { rule: "su>0".into(), candidates: 16, survivors: 6 });
    let (seen, screened) = tried("top=2", &[], &[], None);
    assert!(seen.iter().eq(0..2));
    assert_eq!((screened.candidates, screened.survivors), (16, 2));
}

#[test]
fn what_is_included_survives_and_is_not_counted() {
    let (seen, screened) = tried("top=2", &[9, 0], &[1], Some(3));
    assert!(seen.iter().eq([0, 2, 3, 9]));
    assert_eq!((screened.candidates, screened.survivors), (13, 2));
}

#[test]
fn a_filter_after_a_prescreen_sees_the_survivors_alone() {
    let alone = |rule: Option<&str>, exclude: Vec<usize>| {
        let mut spec = spec("fcbf", 10);
        (spec.prescreen, spec.exclude) = (rule.map(str::to_owned), exclude);
        select(&spec, Resources::default(), &mut []).selected
    };
    assert_eq!(alone(Some("fcbf"), vec![]), alone(None, vec![]));
    assert_eq!(alone(Some("su>0"), vec![0, 1]), alone(None, vec![0, 1]));
    assert_eq!(alone(None, vec![0, 1]), [2, 3, 4, 15]);
}

#[test]
fn nothing_left_is_an_error_with_its_rule() {
    for rule in ["su>0", "top=3", "fcbf", "cfs"] {
        let mut spec = spec("bpso", 100);
        spec.exclude = vec![0, 1, 2, 3, 4, 15];
        spec.prescreen = Some(rule.to_owned());
        let error = Run::new(&spec, &support::table(), Resources::default(), None).err().unwrap();
        assert_eq!(error, Error::NoSurvivors { rule: rule.to_owned(), candidates: 10 });
        assert!(error.hint().is_some());
    }
}

#[test]
fn threads_do_not_change_who_survives() {
    let of = |threads| {
        let mut spec = spec("pbpso", 200);
        spec.prescreen = Some("cfs".to_owned());
        timeless(&select(&spec, Resources::with_threads(threads), &mut []))
    };
    assert_eq!(of(1), of(2));
}
