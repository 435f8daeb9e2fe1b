//! What a filter costs. Ids show rows x columns.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use swarmrs_benches::table;
use swarmrs_core::base::parallel::Pool;
use swarmrs_core::filter::{CfsRules, Filter};

const SHAPES: [(usize, usize); 2] = [(174, 12_533), (2000, 500)];

fn filters(c: &mut Criterion) {
    for (n_samples, n_features) in SHAPES {
        let data = table(n_samples, n_features);
        let columns: Vec<usize> = (0..n_features).collect();
        let id = |name| format!("{name}/{n_samples}x{n_features}");
        let filter = Filter::new(data.levels(&Pool::new(1)), &columns, 0);
        // A table keeps its levels, so every round gets one that has none yet.
        let fresh = table(n_samples, n_features);
        c.bench_function(&id("levels"), |b| {
            b.iter_batched(
                || fresh.clone(),
                |data| black_box(data.levels(&Pool::new(1))),
                BatchSize::PerIteration,
            );
        });
        c.bench_function(&id("fcbf"), |b| {
            b.iter(|| black_box(filter.fcbf(n_features)));
        });
        c.bench_function(&id("cfs"), |b| {
            b.iter(|| black_box(filter.cfs(CfsRules::default(), n_features)));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = filters
}
criterion_main!(benches);
