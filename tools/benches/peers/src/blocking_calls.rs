//! Fifty calls of a plain `fn` that blocks, in one turn of a model.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Driver, Selection, Session};
use tools::{Catalog, Grant, Host, tool};

use crate::calling_provider::CallingProvider;
use crate::figure::Figure;
use crate::round::{Round, SIDES, in_turn};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "blocking-calls",
    measure,
    round,
};

const CALLS: usize = 50;
const TIME: Duration = Duration::from_millis(100);

/// Fewer rounds, because one may take five seconds.
const ROUNDS: usize = 5;

/// Waits for 100 ms and blocks its thread.
#[tool(name = "source.wait", reads = "fs:{path}")]
pub(crate) fn wait(
    /// The path.
    path: String,
) -> usize {
    std::thread::sleep(TIME);
    path.len()
}

fn measure(table: &mut Table) {
    let [toolcrib, peer] = in_turn(ROUNDS, |side| {
        Round::start("compare", &["round", FIGURE.name, SIDES[side]])
    });
    table.compare(
        "fifty calls in one turn of a plain `fn` that blocks for 100 ms, beside `spawn_blocking`, by the clock, two threads",
        "ms",
        [toolcrib[0], peer[0]],
        "",
    );
}

fn round(arguments: &[String]) -> Round {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let is_toolcrib = arguments[0] == SIDES[0];
    let run = async move {
        let start = Instant::now();
        let calls = if is_toolcrib {
            with_driver().await
        } else {
            let task =
                |at: usize| tokio::task::spawn_blocking(move || wait(format!("src/{at}.rs")));
            let tasks: Vec<_> = (0..CALLS).map(task).collect();
            let mut calls = 0;
            for task in tasks {
                calls += usize::from(task.await.unwrap() > 0);
            }
            calls
        };
        (start.elapsed().as_secs_f64() * 1e3, calls)
    };
    let (millis, calls) = runtime.block_on(runtime.spawn(run)).unwrap();
    Round {
        figures: vec![millis],
        result: calls.to_string(),
    }
}

async fn with_driver() -> usize {
    let mut catalog = Catalog::new();
    catalog.submit(&[&WAIT_TOOL]).unwrap();
    let cx = Host::new().with_grant(Grant::parse(["fs:read:src/**"]).unwrap());
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    let provider = CallingProvider::new("source.wait", 1, CALLS, |_| ());
    let driver = Driver::new(Arc::new(provider));
    let summary = driver.run(&mut session, "Wait.").await.unwrap();
    (summary.calls - summary.failed_calls) as usize
}
