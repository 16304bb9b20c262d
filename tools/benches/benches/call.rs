//! Compares the time of a call with that of a direct one: `cargo bench -p toolcrib-benches`.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use benches::{ADD, ORDER, catalog, direct_add, direct_order};
use criterion::{Criterion, criterion_group, criterion_main};
use tools::Host;

fn calls(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _inside = runtime.enter();
    let (catalog, cx) = (catalog(1_000), Host::new());
    for (name, arguments, direct) in [
        ("add", ADD, direct_add as fn(&str) -> String),
        ("order", ORDER, direct_order),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.bench_function("direct", |bencher| {
            bencher.iter(|| direct(black_box(arguments)))
        });
        group.bench_function("execute", |bencher| {
            bencher.iter(|| {
                runtime
                    .block_on(catalog.execute(&cx, name, black_box(arguments)))
                    .unwrap()
            });
        });
        group.finish();
    }
}

criterion_group!(benches, calls);
criterion_main!(benches);
