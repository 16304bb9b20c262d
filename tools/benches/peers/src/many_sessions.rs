//! 100 sessions of 100 steps each in one process, with a model in memory, on two threads.

use std::sync::Arc;
use std::time::Instant;

use agent::{Driver, Selection, Session};
use tools::{Catalog, Grant, Host};

use crate::calling_provider::CallingProvider;
use crate::clock::ProcessorTime;
use crate::figure::Figure;
use crate::heap::HEAP;
use crate::long_run::DESCRIBE_TOOL;
use crate::round::{ROUNDS, Round, UNCOUNTED, can_count, in_turn};
use crate::table::{Table, short};

pub(crate) const FIGURE: Figure = Figure {
    name: "many-sessions",
    measure,
    round,
};

const SESSIONS: usize = 100;
const STEPS: usize = 100;

fn measure(table: &mut Table) {
    let [round] = in_turn(ROUNDS, |_| Round::start("compare", &["round", FIGURE.name]));
    table.tell(
        "100 sessions of 100 steps in one process, a model in memory, two threads: steps by the clock, and processor time of one",
        &format!("{}/s, {} µs", short(round[0]), short(round[1])),
        "≥ 20,000/s",
    );
    if !can_count() {
        return table.note(UNCOUNTED);
    }
    let [round] = in_turn(ROUNDS, |_| Round::start("heap", &["round", FIGURE.name]));
    table.tell(
        "heap that each of these sessions keeps, and the text of its conversation",
        &format!("{} KB, {} KB", short(round[2] / 1e3), short(round[3] / 1e3)),
        "≤ 60 KB + its text",
    );
}

fn round(_: &[String]) -> Round {
    let mut catalog = Catalog::new();
    catalog.submit(&[&DESCRIBE_TOOL]).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let run = || {
        let entries = catalog.list();
        runtime.spawn(async move {
            let cx = Host::new().with_grant(Grant::parse(["fs:read:src/**"]).unwrap());
            let mut session = Session::new(entries, Selection::new(), cx);
            let provider = CallingProvider::new("source.describe", STEPS, 1, |_| ());
            let driver = Driver::new(Arc::new(provider)).with_max_steps(1 + STEPS as u32);
            let summary = driver.run(&mut session, "Look at all files.").await;
            let summary = summary.unwrap();
            assert_eq!((summary.calls as usize, summary.failed_calls), (STEPS, 0));
            session
        })
    };
    // Prepares the tool.
    runtime.block_on(run()).unwrap();
    let (heap, time, start) = (HEAP.start(), ProcessorTime::now(), Instant::now());
    let tasks: Vec<_> = (0..SESSIONS).map(|_| run()).collect();
    let sessions: Vec<_> = tasks
        .into_iter()
        .map(|task| runtime.block_on(task).unwrap())
        .collect();
    let (seconds, micros) = (start.elapsed().as_secs_f64(), time.micros());
    let kept = HEAP.kept_above(heap) / SESSIONS as f64;
    let text = serde_json::to_string(sessions[0].messages()).unwrap().len();
    let steps = (SESSIONS * STEPS) as f64;
    Round {
        figures: vec![steps / seconds, micros / steps, kept, text as f64],
        result: String::new(),
    }
}
