//! The server, with a clock that the tests turn.

use std::future::{Future as _, poll_fn};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tools_cron::{
    Clock as _, CronError, Delivery, JobServer, JobSpec, Jobs, Missed, Outcome, RunEnd, Schedule,
    Work,
};

use crate::fixture::{
    TokioClock, TurnedClock, cron, cut_off, done, hourly, once, opened, outcomes, served_once,
    spec, time,
};

const HOUR: Duration = Duration::from_secs(3600);

/// Serves until the end of the clock. Returns the runs: job, due and start.
async fn served(jobs: &Jobs, clock: TurnedClock) -> Vec<(i64, String, String)> {
    let (token, mut runs) = (clock.token.clone(), Vec::new());
    let mut server = JobServer::with_clock(jobs, clock);
    server.poll = HOUR * 24;
    let run = async |run: &tools_cron::DueRun| {
        runs.push((run.job.id, run.due.to_string(), run.started.to_string()));
        done()
    };
    server.serve(&token, run).await.unwrap();
    runs
}

#[tokio::test]
async fn missed_runs_are_left_out_or_made_up_for_by_one_run() {
    let jobs = Jobs::in_memory("here").unwrap();
    let made = time("2026-11-24T10:10:00Z");
    jobs.add(hourly(), made).await.unwrap();
    jobs.add(
        JobSpec {
            missed: Missed::RunOnce,
            ..hourly()
        },
        made,
    )
    .await
    .unwrap();
    let runs = served(
        &jobs,
        TurnedClock::new("2026-11-24T15:30:00Z", "2026-11-24T16:00:01Z"),
    )
    .await;
    let run = |job, due: &str, start: &str| {
        (
            job,
            format!("2026-11-24T{due}Z"),
            format!("2026-11-24T{start}Z"),
        )
    };
    assert_eq!(
        runs,
        [
            run(2, "11:00:00", "15:30:00"),
            run(1, "16:00:00", "16:00:00"),
            run(2, "16:00:00", "16:00:00")
        ]
    );
    assert_eq!(
        outcomes(&jobs).await,
        [
            Outcome::Skipped,
            Outcome::Done,
            Outcome::Done,
            Outcome::Done
        ]
    );
}

#[tokio::test]
async fn a_run_is_not_missed_by_a_server_that_starts_within_a_minute() {
    let jobs = Jobs::in_memory("here").unwrap();
    jobs.add(hourly(), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap();
    let runs = served(
        &jobs,
        TurnedClock::new("2026-11-24T11:01:00Z", "2026-11-24T11:30:00Z"),
    )
    .await;
    assert_eq!(runs.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn runs_that_are_due_while_the_job_runs_are_one_run_after_it() {
    let jobs = Jobs::in_memory("here").unwrap();
    let clock = TokioClock::new("2026-11-24T10:10:00Z");
    jobs.add(hourly(), clock.now()).await.unwrap();
    let (token, mut runs) = (CancellationToken::new(), Vec::new());
    let mut server = JobServer::with_clock(&jobs, clock);
    server.poll = HOUR * 24;
    let run = async |run: &tools_cron::DueRun| {
        if runs.is_empty() {
            tokio::time::sleep(HOUR * 5 / 2).await;
        }
        runs.push(run.due.to_string());
        done()
    };
    let end = async {
        tokio::time::sleep(HOUR * 16 / 3).await;
        token.cancel();
    };
    let (served, ()) = tokio::join!(server.serve(&token, run), end);
    served.unwrap();
    // The first ends at 13:30. That of 13:00 is left out, as the one of 12:00 stands for both.
    let times = ["11:00", "12:00", "14:00", "15:00"];
    assert_eq!(runs, times.map(|time| format!("2026-11-24T{time}:00Z")));
}

#[tokio::test]
async fn a_machine_that_was_suspended_has_missed_its_runs() {
    for (missed, expected) in [
        (Missed::Skip, vec!["11:00", "18:00"]),
        (Missed::RunOnce, vec!["11:00", "12:00", "18:00"]),
    ] {
        let jobs = Jobs::in_memory("here").unwrap();
        let clock = TurnedClock::new("2026-11-24T10:10:00Z", "2026-11-24T18:00:01Z");
        jobs.add(JobSpec { missed, ..hourly() }, clock.now())
            .await
            .unwrap();
        let (token, mut runs) = (clock.token.clone(), Vec::new());
        let suspended = SuspendedOnce(clock.clone());
        let mut server = JobServer::with_clock(&jobs, suspended);
        server.poll = HOUR * 24;
        let run = async |run: &tools_cron::DueRun| {
            runs.push(run.due.strftime("%H:%M").to_string());
            done()
        };
        server.serve(&token, run).await.unwrap();
        assert_eq!(runs, expected, "{missed:?}");
    }
}

#[tokio::test]
async fn a_machine_that_was_suspended_while_a_job_ran_has_missed_its_runs() {
    for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
        for (missed, expected) in [
            (Missed::Skip, vec!["11:00", "18:00"]),
            (Missed::RunOnce, vec!["11:00", "12:00", "18:00"]),
        ] {
            let jobs = Jobs::in_memory("here").unwrap();
            let clock = TurnedClock::new("2026-11-24T10:10:00Z", "2026-11-24T18:00:01Z");
            jobs.add(
                JobSpec {
                    missed,
                    delivery,
                    ..hourly()
                },
                clock.now(),
            )
            .await
            .unwrap();
            let (token, mut runs) = (clock.token.clone(), Vec::new());
            let mut server = JobServer::with_clock(&jobs, clock.clone());
            server.poll = HOUR * 24;
            let run = async |run: &tools_cron::DueRun| {
                if runs.is_empty() {
                    clock.set(time("2026-11-24T17:30:00Z"));
                }
                runs.push(run.due.strftime("%H:%M").to_string());
                done()
            };
            server.serve(&token, run).await.unwrap();
            assert_eq!(runs, expected, "{missed:?} {delivery:?}");
        }
    }
}

/// A clock whose wait for 12:00 ends at 17:30.
struct SuspendedOnce(TurnedClock);

impl tools_cron::Clock for SuspendedOnce {
    fn now(&self) -> jiff::Timestamp {
        self.0.now()
    }

    async fn sleep(&self, wait: Duration) {
        self.0.turn(wait);
        if self.now() == time("2026-11-24T12:00:00Z") {
            self.0.set(time("2026-11-24T17:30:00Z"));
        }
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_repeats_no_run() {
    let jobs = Jobs::in_memory("here").unwrap();
    let clock = TurnedClock::new("2026-11-24T10:10:00Z", "2026-11-24T14:30:00Z");
    jobs.add(hourly(), clock.now()).await.unwrap();
    let (token, mut runs) = (clock.token.clone(), Vec::new());
    let mut server = JobServer::with_clock(&jobs, clock.clone());
    server.poll = HOUR * 24;
    let run = async |run: &tools_cron::DueRun| {
        runs.push(run.due.strftime("%H:%M").to_string());
        if runs.len() == 2 {
            clock.set(time("2026-11-24T09:30:00Z"));
        }
        done()
    };
    server.serve(&token, run).await.unwrap();
    assert_eq!(runs, ["11:00", "12:00", "13:00", "14:00"]);
}

#[tokio::test]
async fn a_run_that_was_cut_off_is_reported_and_only_repeated_if_the_job_says_so() {
    for (delivery, schedule, repeated, log) in [
        (
            Delivery::AtMostOnce,
            cron("0 11 * * *"),
            vec![],
            vec![Outcome::CutOff],
        ),
        (
            Delivery::AtMostOnce,
            once("2026-11-24T11:00:00Z").schedule,
            vec![],
            vec![Outcome::CutOff],
        ),
        (
            Delivery::AtLeastOnce,
            cron("0 11 * * *"),
            vec![1],
            vec![Outcome::CutOff, Outcome::Done],
        ),
        (
            Delivery::AtLeastOnce,
            once("2026-11-24T11:00:00Z").schedule,
            vec![1],
            vec![Outcome::CutOff, Outcome::Done],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let job = JobSpec {
            delivery,
            ..spec(schedule.clone(), "UTC")
        };
        opened(folder.path())
            .add(job, time("2026-11-24T10:10:00Z"))
            .await
            .unwrap();
        cut_off(opened(folder.path()), "2026-11-24T11:00:00Z").await;
        // Nobody has settled it yet, and the log knows.
        assert_eq!(outcomes(&opened(folder.path())).await, [Outcome::CutOff]);
        // Also a repetition that is late enough to have been missed.
        let jobs = opened(folder.path());
        assert_eq!(
            served_once(&jobs, "2026-11-24T13:30:00Z").await,
            repeated,
            "{delivery:?} {schedule}"
        );
        assert_eq!(outcomes(&jobs).await, log, "{delivery:?} {schedule}");
        assert_eq!(served_once(&jobs, "2026-11-24T13:40:00Z").await, [0; 0]);
        let left = jobs.list().await.unwrap();
        assert_eq!(left.is_empty(), matches!(schedule, Schedule::Once(_)));
    }
}

#[tokio::test]
async fn a_run_that_ends_with_the_server_is_repeated_if_the_job_says_so() {
    for (delivery, next) in [
        (Delivery::AtMostOnce, "2026-11-24T12:00:00Z"),
        (Delivery::AtLeastOnce, "2026-11-24T11:00:00Z"),
    ] {
        let jobs = Jobs::in_memory("here").unwrap();
        jobs.add(
            JobSpec {
                delivery,
                ..hourly()
            },
            time("2026-11-24T10:10:00Z"),
        )
        .await
        .unwrap();
        let mut server = JobServer::with_clock(
            &jobs,
            TurnedClock::new("2026-11-24T11:00:00Z", "2030-01-01T00:00:00Z"),
        );
        let mut run = async |_: &tools_cron::DueRun| RunEnd {
            outcome: Outcome::CutOff,
            note: None,
        };
        server
            .serve_due(&CancellationToken::new(), &mut run)
            .await
            .unwrap();
        assert_eq!(
            jobs.list().await.unwrap()[0].as_ref().unwrap().next,
            Some(time(next)),
            "{delivery:?}"
        );
    }
}

#[tokio::test]
async fn two_servers_never_run_one_job_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let delivery = Delivery::AtLeastOnce;
    opened(folder.path())
        .add(
            JobSpec {
                delivery,
                ..hourly()
            },
            time("2026-11-24T10:10:00Z"),
        )
        .await
        .unwrap();
    let jobs = opened(folder.path());
    let mut server = JobServer::with_clock(
        &jobs,
        TurnedClock::new("2026-11-24T11:00:00Z", "2030-01-01T00:00:00Z"),
    );
    let mut run = async |_: &tools_cron::DueRun| {
        // Another server, while this one runs the job.
        assert_eq!(
            served_once(&opened(folder.path()), "2026-11-24T11:00:05Z").await,
            [0; 0]
        );
        assert_eq!(outcomes(&opened(folder.path())).await, [Outcome::Running]);
        done()
    };
    assert_eq!(
        server
            .serve_due(&CancellationToken::new(), &mut run)
            .await
            .unwrap()
            .runs,
        1
    );
    assert_eq!(outcomes(&jobs).await, [Outcome::Done]);
}

#[tokio::test]
async fn a_paused_job_does_not_run_and_a_removed_one_keeps_its_log() {
    let jobs = Jobs::in_memory("here").unwrap();
    let made = time("2026-11-24T10:10:00Z");
    let [paused, removed] = [
        jobs.add(hourly(), made).await.unwrap().id,
        jobs.add(hourly(), made).await.unwrap().id,
    ];
    jobs.set_paused(paused, true, made).await.unwrap();
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:00Z").await, [removed]);
    jobs.remove(removed).await.unwrap();
    assert_eq!(jobs.log(Some(removed), 10).await.unwrap().len(), 1);
    jobs.set_paused(paused, false, time("2026-11-24T11:00:30Z"))
        .await
        .unwrap();
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:30Z").await, [paused]);
    let error = jobs.remove(removed).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("there is no job {removed}; the jobs are {paused}")
    );
}

#[tokio::test]
async fn a_job_that_cannot_be_served_is_paused_and_the_others_run() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = opened(folder.path());
    let made = time("2026-11-24T10:10:00Z");
    let zoned = jobs.add(hourly(), made).await.unwrap().id;
    let other = jobs.add(hourly(), made).await.unwrap().id;
    // As an older program finds a zone that a newer one knows.
    let store = rusqlite::Connection::open(folder.path().join("cron.sqlite")).unwrap();
    store
        .execute(
            "UPDATE job SET spec = replace(spec, 'UTC', 'Mars/Base') WHERE id = ?",
            [zoned],
        )
        .unwrap();
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:00Z").await, [other]);
    let log = jobs.log(Some(zoned), 10).await.unwrap();
    assert_eq!(log.len(), 1);
    assert!(
        log[0]
            .note
            .as_ref()
            .unwrap()
            .contains("cannot be read: there is no time zone"),
        "{log:?}"
    );
    assert_eq!(served_once(&jobs, "2026-11-24T12:00:00Z").await, [other]);
    assert_eq!(jobs.log(Some(zoned), 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_unreadable_job_hides_no_other_and_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = opened(folder.path());
    let made = time("2026-11-24T10:10:00Z");
    jobs.add(
        JobSpec {
            missed: Missed::RunOnce,
            ..hourly()
        },
        made,
    )
    .await
    .unwrap();
    let store = rusqlite::Connection::open(folder.path().join("cron.sqlite")).unwrap();
    let limit = r#"{"limit":1,"#;
    for (broken, reason) in [
        (
            format!("spec = replace(spec, '{{\"schedule\"', '{limit}\"schedule\"')"),
            "unknown field `limit`",
        ),
        (
            "spec = replace(spec, 'prompt', 'dance')".to_owned(),
            "unknown variant `dance`",
        ),
        ("spec = CAST(x'ff' AS TEXT)".to_owned(), "expected value"),
        ("spec = ''".to_owned(), "EOF"),
        ("next_ms = -9e18, spec = '{}'".to_owned(), "missing field"),
        (
            "spec = replace(spec, 'UTC', 'Mars/Base')".to_owned(),
            "no time zone",
        ),
    ] {
        let id = jobs.add(hourly(), made).await.unwrap().id;
        assert_eq!(
            store
                .execute(&format!("UPDATE job SET {broken} WHERE id = {id}"), [])
                .unwrap(),
            1
        );
        for listed in [jobs.list().await.unwrap(), jobs.list_all().await.unwrap()] {
            assert_eq!(listed[0].as_ref().unwrap().id, 1);
            let error = listed[1].as_ref().unwrap_err();
            assert_eq!((error.id, error.workspace.as_str()), (id, "here"));
            assert!(error.reason.contains(reason), "{broken}: {error}");
        }
        jobs.remove(id).await.unwrap();
    }
}

#[tokio::test]
async fn a_job_that_becomes_unreadable_while_it_runs_stops_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = opened(folder.path());
    jobs.add(hourly(), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap();
    let store = rusqlite::Connection::open(folder.path().join("cron.sqlite")).unwrap();
    let mut server = JobServer::with_clock(
        &jobs,
        TurnedClock::new("2026-11-24T11:00:00Z", "2030-01-01T00:00:00Z"),
    );
    let mut run = async |_: &tools_cron::DueRun| {
        store.execute("UPDATE job SET spec = '{}'", []).unwrap();
        done()
    };
    assert_eq!(
        server
            .serve_due(&CancellationToken::new(), &mut run)
            .await
            .unwrap()
            .runs,
        1
    );
    assert_eq!(outcomes(&jobs).await, [Outcome::Done]);
}

#[tokio::test]
async fn jobs_of_another_workspace_are_neither_listed_nor_run_nor_removed() {
    let folder = tempfile::tempdir().unwrap();
    let here = opened(folder.path());
    let id = here
        .add(hourly(), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap()
        .id;
    let other = Jobs::new(folder.path().join("cron.sqlite"), "elsewhere");
    assert!(other.list().await.unwrap().is_empty());
    assert_eq!(served_once(&other, "2026-11-24T11:00:00Z").await, [0; 0]);
    assert!(matches!(
        other.remove(id).await,
        Err(CronError::Unknown { .. })
    ));
    assert_eq!(other.list_all().await.unwrap().len(), 1);
}

#[tokio::test]
async fn too_many_too_frequent_and_too_long_jobs_are_refused() {
    let jobs = Jobs::in_memory("here").unwrap();
    let now = time("2026-11-24T10:10:00Z");
    for _ in 0..100 {
        jobs.add(hourly(), now).await.unwrap();
    }
    assert!(matches!(
        jobs.add(hourly(), now).await,
        Err(CronError::TooMany { most: 100 })
    ));
    let often = spec(
        Schedule::Every {
            seconds: 59,
            from: now,
        },
        "UTC",
    );
    assert!(matches!(
        jobs.add(often, now).await,
        Err(CronError::TooOften {
            seconds: 59,
            shortest: 60
        })
    ));
    let long = JobSpec {
        work: Work::Prompt("x".repeat(16 * 1024 + 1)),
        ..hourly()
    };
    assert!(matches!(
        jobs.add(long, now).await,
        Err(CronError::TooLong { most: 16_384, .. })
    ));
    for never in [
        once("2026-11-24T10:10:00Z"),
        spec(cron("0 0 30 2 *"), "UTC"),
    ] {
        assert!(matches!(
            jobs.add(never, now).await,
            Err(CronError::Never { .. })
        ));
    }
}

#[tokio::test]
async fn a_run_that_ends_while_the_log_is_read_was_not_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let [serving, reading] = [(); 2].map(|()| opened(folder.path()));
    serving
        .add(hourly(), time("2026-11-24T10:59:30Z"))
        .await
        .unwrap();
    assert!(reading.log(None, 1).await.unwrap().is_empty());
    let [begun, may_end, ended] = [(); 3].map(|()| Notify::new());
    let served = async {
        let mut run = async |_: &tools_cron::DueRun| {
            begun.notify_one();
            may_end.notified().await;
            done()
        };
        let clock = TurnedClock::new("2026-11-24T11:00:00Z", "2030-01-01T00:00:00Z");
        let served = JobServer::with_clock(&serving, clock)
            .serve_due(&CancellationToken::new(), &mut run)
            .await;
        assert_eq!(served.unwrap().runs, 1);
        ended.notify_one();
    };
    let read = async {
        begun.notified().await;
        assert_eq!(
            reading.log(None, 1).await.unwrap()[0].outcome,
            Outcome::Running
        );
        let mut log = Box::pin(reading.log(None, 1));
        // Now and then the thread of the store is faster than this poll, and the log is read before the run ends.
        while poll_fn(|cx| Poll::Ready(log.as_mut().poll(cx).is_ready())).await {
            log = Box::pin(reading.log(None, 1));
        }
        // The store reads in order, so the log has read the row of the run.
        reading.list().await.unwrap();
        may_end.notify_one();
        ended.notified().await;
        log.await.unwrap()
    };
    let (log, ()) = tokio::join!(read, served);
    assert_eq!(log[0].outcome, Outcome::Done);
}
