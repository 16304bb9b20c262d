//! A step among 10,000 calls of one tool, beside a step among 100: with a model in memory, and with and without a journal.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use agent::{Driver, Selection, Session};
use tools::{Catalog, Grant, Host};
use tools_journal::{Durability, JournalOptions, SqliteJournal};

use crate::calling_provider::CallingProvider;
use crate::chat::runtime;
use crate::clock::ProcessorTime;
use crate::figure::Figure;
use crate::long_run::DESCRIBE_TOOL;
use crate::round::{Round, in_turn};
use crate::table::Table;

pub(crate) const FIGURE: Figure = Figure {
    name: "growing-run",
    measure,
    round,
};

/// The steps of the long run and of the short one. The last of each are measured.
const STEPS: [usize; 2] = [10_000, 200];
const LAST: usize = 100;

/// Fewer rounds, because each has a run of 10,000 steps.
const ROUNDS: usize = 5;

fn measure(table: &mut Table) {
    for (journal, description) in [
        ("off", "without a journal"),
        (
            "on",
            "recorded: SQLite and checkpoints, durable at the end of a process",
        ),
    ] {
        let [long, short] = in_turn(ROUNDS, |side| {
            Round::start(
                "compare",
                &["round", FIGURE.name, &STEPS[side].to_string(), journal],
            )
        });
        let figure =
            format!("a step among 10,000 calls of one tool, beside one among 100, {description}");
        table.compare(
            &format!("{figure}, processor time"),
            "µs",
            [long[0], short[0]],
            "≤ 1.1 ×",
        );
        if journal == "on" {
            table.compare(
                "the recorded step by the clock",
                "µs",
                [long[1], short[1]],
                "≤ 400 µs, flat",
            );
        }
    }
}

fn round(arguments: &[String]) -> Round {
    let [steps, journal] = arguments else {
        panic!("a round needs the number of steps and whether there is a journal")
    };
    let steps: usize = steps.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut catalog = Catalog::new();
    catalog.submit(&[&DESCRIBE_TOOL]).unwrap();
    let mut cx = Host::new().with_grant(Grant::parse(["fs:read:src/**"]).unwrap());
    if journal == "on" {
        let options = JournalOptions {
            durability: Durability::Process,
            ..JournalOptions::default()
        };
        let journal = SqliteJournal::open(folder.path().join("journal"), options).unwrap();
        cx = cx.with_journal(Arc::new(journal)).with_session("measured");
    }
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    let marks = Arc::new(Mutex::new(Vec::new()));
    let noted = marks.clone();
    let provider = CallingProvider::new("source.describe", steps, 1, move |step| {
        if step == steps - LAST || step == steps {
            let mark = (ProcessorTime::now(), Instant::now());
            noted.lock().unwrap().push(mark);
        }
    });
    let driver = Driver::new(Arc::new(provider))
        .with_max_steps(1 + steps as u32)
        .with_checkpoints(journal == "on");
    let summary = runtime().block_on(driver.run(&mut session, "Look at all files."));
    let summary = summary.unwrap();
    assert_eq!((summary.calls as usize, summary.failed_calls), (steps, 0));
    let marks = marks.lock().unwrap();
    let [(before, start), (after, end)] = &marks[..] else {
        panic!("the model was not asked twice")
    };
    let micros = [after.since(before), (*end - *start).as_secs_f64() * 1e6];
    Round {
        figures: micros.map(|micros| micros / LAST as f64).to_vec(),
        result: String::new(),
    }
}
