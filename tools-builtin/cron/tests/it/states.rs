//! The states of runs under random orders of servers, kills, pauses and changed clocks.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tools_cron::{Delivery, DueRun, JobServer, JobSpec, Jobs, Missed, Outcome, RunEnd};

use crate::fixture::{TurnedClock, done, hourly, time};

#[derive(Clone, Copy, Debug)]
enum Step {
    Wait {
        minutes: u64,
    },
    SetBack {
        minutes: u64,
    },
    /// A new server looks once.
    Serve(End),
    Pause(i64),
    Resume(i64),
}

/// The end of a server's first run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Done,
    /// The server was told to end.
    CutOff,
    Killed,
}

fn step() -> impl Strategy<Value = Step> {
    let end = prop_oneof![2 => Just(End::Done), 1 => Just(End::CutOff), 1 => Just(End::Killed)];
    prop_oneof![
        4 => (0..150_u64).prop_map(|minutes| Step::Wait { minutes }),
        1 => (0..100_u64).prop_map(|minutes| Step::SetBack { minutes }),
        6 => end.prop_map(Step::Serve),
        1 => (1..5_i64).prop_map(Step::Pause),
        2 => (1..5_i64).prop_map(Step::Resume),
    ]
}

/// A run that began: its job, its due time, and its end.
type Begun = (i64, Timestamp, End);

async fn serve(jobs: &Jobs, now: Timestamp, end: End, runs: &mut Vec<Begun>) {
    let killed = Notify::new();
    let (token, before) = (CancellationToken::new(), runs.len());
    let mut run = async |run: &DueRun| {
        assert!(run.due <= now, "a run is early");
        let end = if runs.len() == before { end } else { End::Done };
        runs.push((run.job.id, run.due, end));
        match end {
            End::Done => done(),
            End::CutOff => RunEnd {
                outcome: Outcome::CutOff,
                note: None,
            },
            End::Killed => {
                killed.notify_one();
                std::future::pending().await
            }
        }
    };
    let mut server = JobServer::with_clock(
        jobs,
        TurnedClock::new(&now.to_string(), "2100-01-01T00:00:00Z"),
    );
    tokio::select! {
        served = server.serve_due(&token, &mut run) => assert!(served.is_ok()),
        () = killed.notified() => {}
    }
}

/// Checks that each due time of a job was served as its delivery says, in order.
fn check(job: i64, delivery: Delivery, runs: &[Begun]) {
    let of_job: Vec<_> = runs.iter().filter(|run| run.0 == job).collect();
    for pair in of_job.windows(2) {
        let [(_, due, end), (_, next, _)] = pair else {
            unreachable!()
        };
        match (delivery, end) {
            (Delivery::AtLeastOnce, End::CutOff | End::Killed) => {
                assert_eq!(next, due, "it is repeated first")
            }
            _ => assert!(next > due, "it ran twice"),
        }
    }
}

async fn play(steps: Vec<Step>) {
    let jobs = Jobs::in_memory("here").unwrap();
    let mut now = time("2026-11-24T10:10:00Z");
    let mut deliveries = Vec::new();
    for (missed, delivery) in [
        (Missed::Skip, Delivery::AtLeastOnce),
        (Missed::Skip, Delivery::AtMostOnce),
        (Missed::RunOnce, Delivery::AtMostOnce),
        (Missed::RunOnce, Delivery::AtLeastOnce),
    ] {
        jobs.add(
            JobSpec {
                missed,
                delivery,
                ..hourly()
            },
            now,
        )
        .await
        .unwrap();
        deliveries.push(delivery);
    }
    let (mut runs, mut paused) = (Vec::new(), HashSet::new());
    for step in steps {
        match step {
            Step::Wait { minutes } => now += Duration::from_secs(60 * minutes),
            Step::SetBack { minutes } => now -= Duration::from_secs(60 * minutes),
            Step::Pause(id) => {
                jobs.set_paused(id, true, now).await.unwrap();
                paused.insert(id);
            }
            Step::Resume(id) => {
                jobs.set_paused(id, false, now).await.unwrap();
                paused.remove(&id);
            }
            Step::Serve(end) => {
                let before = runs.len();
                serve(&jobs, now, end, &mut runs).await;
                assert!(
                    runs[before..].iter().all(|run| !paused.contains(&run.0)),
                    "a paused job ran"
                );
            }
        }
    }
    for id in paused {
        jobs.set_paused(id, false, now).await.unwrap();
    }
    serve(&jobs, now, End::Done, &mut runs).await;
    for (job, delivery) in (1..).zip(deliveries) {
        check(job, delivery, &runs);
        let log = jobs.log(Some(job), 1000).await.unwrap();
        assert!(log.iter().all(|run| run.outcome != Outcome::Running));
        assert!(
            job <= 2 || log.iter().all(|run| run.outcome != Outcome::Skipped),
            "job {job} makes up for missed runs"
        );
        let began = log
            .iter()
            .filter(|run| run.outcome != Outcome::Skipped)
            .count();
        assert_eq!(
            began,
            runs.iter().filter(|run| run.0 == job).count(),
            "the log has each run of job {job}"
        );
    }
    let listed = jobs.list().await.unwrap();
    assert!(
        listed
            .iter()
            .all(|job| job.as_ref().unwrap().next > Some(now)),
        "all that is due is decided"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn each_due_run_is_decided_once_in_any_order_of_events(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(play(steps));
    }
}
