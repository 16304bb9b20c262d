//! A simulated year, compared with an independent implementation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use tools_cron::{JobServer, Jobs, Outcome, RunEnd};

use crate::fixture::{TurnedClock, cron, spec, time};

const START: &str = "2026-01-01T00:00:00Z";
const END: &str = "2027-01-01T00:00:00Z";

/// The differences: the runs that only one side has. The README has the reasons.
const DIFFERENCES: &[&str] = &[
    "*/30 */12 * * * in Australia/Lord_Howe, we alone: 2026-04-05T01:30:00Z",
    "*/30 */12 * * * in Australia/Lord_Howe, we alone: 2026-10-04T01:00:00Z",
    "0 */6 * * * in Australia/Lord_Howe, we alone: 2026-04-04T19:30:00Z",
    "0 */6 * * * in Australia/Lord_Howe, we alone: 2026-10-03T19:00:00Z",
    "*/20 1-3 * * 0 in America/Santiago, we alone: 2026-09-06T04:00:00Z",
    "*/20 1-3 * * 0 in America/Santiago, we alone: 2026-09-06T04:20:00Z",
    "*/20 1-3 * * 0 in America/Santiago, we alone: 2026-09-06T04:40:00Z",
];

/// The series of a file: schedule, zone and runs.
fn series(text: &str) -> Vec<(String, String, BTreeSet<Timestamp>)> {
    let parsed = |line: &str| {
        let [schedule, zone, runs] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let runs = runs
            .split_whitespace()
            .map(|run| Timestamp::from_second(run.parse().unwrap()).unwrap());
        (schedule.to_owned(), zone.to_owned(), runs.collect())
    };
    text.lines().map(parsed).collect()
}

/// Serves these jobs for a year. Returns the runs of each job.
async fn served(jobs: &Jobs) -> BTreeMap<i64, Vec<Timestamp>> {
    let clock = TurnedClock::new(START, END);
    let token = clock.token.clone();
    let mut runs: BTreeMap<i64, Vec<Timestamp>> = BTreeMap::new();
    let mut server = JobServer::with_clock(jobs, clock);
    server.poll = Duration::from_secs(7 * 86_400);
    let served = server.serve(&token, async |run| {
        assert_eq!(run.due, run.started, "a run is neither early nor late");
        runs.entry(run.job.id).or_default().push(run.due);
        RunEnd {
            outcome: Outcome::Done,
            note: None,
        }
    });
    served.await.unwrap();
    runs
}

#[tokio::test]
#[ignore = "needs the runs of cronsim: .ci/cronsim"]
async fn a_year_of_runs_is_that_of_cronsim() {
    let file = std::env::var("TOOLCRIB_CRONSIM").expect("the file of .ci/cronsim");
    let series = series(&std::fs::read_to_string(file).unwrap());
    assert_eq!(series.len(), 50, "ten schedules in five zones");
    let jobs = Jobs::in_memory("here").unwrap();
    let mut ids = Vec::new();
    for (schedule, zone, _) in &series {
        ids.push(
            jobs.add(spec(cron(schedule), zone), time(START))
                .await
                .unwrap()
                .id,
        );
    }
    let mut differences = Vec::new();
    let mut served = served(&jobs).await;
    for ((schedule, zone, theirs), id) in series.into_iter().zip(ids) {
        let runs = served.remove(&id).unwrap_or_default();
        assert!(
            runs.is_sorted_by(|a, b| a < b),
            "{schedule} in {zone} runs twice"
        );
        let ours: BTreeSet<_> = runs.into_iter().filter(|run| *run < time(END)).collect();
        let only = |side: &str, a: &BTreeSet<Timestamp>, b: &BTreeSet<Timestamp>| {
            a.difference(b)
                .map(|run| format!("{schedule} in {zone}, {side} alone: {run}"))
                .collect::<Vec<_>>()
        };
        differences.extend(
            only("cronsim", &theirs, &ours)
                .into_iter()
                .chain(only("we", &ours, &theirs)),
        );
    }
    assert_eq!(differences, DIFFERENCES);
}
