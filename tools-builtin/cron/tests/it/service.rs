//! The service of a workspace: several servers, one after the other and at once, and pauses.

use std::cell::RefCell;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tools_cron::{Delivery, DueRun, JobServer, JobSpec, Jobs, Missed, Outcome, Schedule};

use crate::fixture::{
    TokioClock, TurnedClock, done, hourly, once, opened, outcomes, replace_in_specs, served_once,
    spec, time,
};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_runs_what_a_busy_one_has_not_reached() {
    let folder = tempfile::tempdir().unwrap();
    let [busy, starting] = [(); 2].map(|()| opened(folder.path()));
    for at in [
        "2026-11-24T11:00:00Z",
        "2026-11-24T11:01:00Z",
        "2026-11-24T11:20:00Z",
    ] {
        busy.add(once(at), time("2026-11-24T10:00:00Z"))
            .await
            .unwrap();
    }
    let clock = TokioClock::new("2026-11-24T10:59:00Z");
    let (token, runs) = (CancellationToken::new(), RefCell::new(Vec::new()));
    let first = async {
        let run = async |run: &DueRun| {
            runs.borrow_mut().push(("first", run.job.id));
            tokio::time::sleep(10 * MINUTE).await;
            done()
        };
        JobServer::with_clock(&busy, clock)
            .serve(&token, run)
            .await
            .unwrap();
    };
    let second = async {
        tokio::time::sleep(6 * MINUTE).await;
        let mut run = async |run: &DueRun| {
            runs.borrow_mut().push(("second", run.job.id));
            done()
        };
        JobServer::with_clock(&starting, clock)
            .serve_due(&token, &mut run)
            .await
            .unwrap();
        tokio::time::sleep(30 * MINUTE).await;
        token.cancel();
    };
    tokio::join!(first, second);
    assert_eq!(*runs.borrow(), [("first", 1), ("second", 2), ("first", 3)]);
    assert_eq!(outcomes(&busy).await, [Outcome::Done; 3]);
}

#[tokio::test(start_paused = true)]
async fn many_short_runs_in_a_row_are_no_absence() {
    let jobs = Jobs::in_memory("here").unwrap();
    let clock = TokioClock::new("2026-11-24T10:59:00Z");
    for _ in 0..10 {
        jobs.add(hourly(), time("2026-11-24T10:10:00Z"))
            .await
            .unwrap();
    }
    jobs.add(once("2026-11-24T11:01:00Z"), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap();
    let token = CancellationToken::new();
    let run = async |_: &DueRun| {
        tokio::time::sleep(MINUTE / 4).await;
        done()
    };
    let person = async {
        tokio::time::sleep(10 * MINUTE).await;
        token.cancel();
    };
    let mut server = JobServer::with_clock(&jobs, clock);
    let (served, ()) = tokio::join!(server.serve(&token, run), person);
    served.unwrap();
    assert_eq!(outcomes(&jobs).await, [Outcome::Done; 11]);
}

#[tokio::test]
async fn a_timer_that_serves_once_every_few_minutes_misses_nothing() {
    let jobs = Jobs::in_memory("here").unwrap();
    jobs.add(
        JobSpec {
            schedule: crate::fixture::cron("*/7 * * * *"),
            ..hourly()
        },
        time("2026-11-24T10:00:30Z"),
    )
    .await
    .unwrap();
    let mut due = Vec::new();
    for minute in (0..60).step_by(5) {
        let now = format!("2026-11-24T10:{minute:02}:40Z");
        if !served_once(&jobs, &now).await.is_empty() {
            due.push(
                jobs.log(None, 1).await.unwrap()[0]
                    .due
                    .strftime("%M")
                    .to_string(),
            );
        }
    }
    assert_eq!(due, ["07", "14", "21", "28", "35", "42", "49"]);
}

#[tokio::test]
async fn after_an_absence_the_rule_of_each_job_holds_whoever_comes_first() {
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
    assert_eq!(served_once(&jobs, "2026-11-24T10:20:00Z").await, [0; 0]);
    assert_eq!(
        served_once(&jobs, "2026-11-24T12:19:00Z").await,
        [1, 2],
        "within two hours"
    );
    assert_eq!(
        served_once(&jobs, "2026-11-24T14:20:00Z").await,
        [2],
        "after them"
    );
    assert_eq!(
        served_once(&jobs, "2026-11-24T14:20:01Z").await,
        [0; 0],
        "it is decided"
    );
    assert_eq!(
        outcomes(&jobs).await[2..],
        [Outcome::Skipped, Outcome::Done]
    );
}

#[tokio::test(start_paused = true)]
async fn runs_that_were_due_while_their_job_was_paused_were_missed() {
    for (missed, expected) in [
        (Missed::Skip, vec!["14:00"]),
        (Missed::RunOnce, vec!["11:00", "14:00"]),
    ] {
        let jobs = Jobs::in_memory("here").unwrap();
        let clock = TokioClock::new("2026-11-24T10:30:00Z");
        let id = jobs
            .add(JobSpec { missed, ..hourly() }, time("2026-11-24T10:30:00Z"))
            .await
            .unwrap()
            .id;
        jobs.set_paused(id, true, time("2026-11-24T10:30:00Z"))
            .await
            .unwrap();
        let (token, runs) = (CancellationToken::new(), RefCell::new(Vec::new()));
        let run = async |run: &DueRun| {
            runs.borrow_mut()
                .push(run.due.strftime("%H:%M").to_string());
            done()
        };
        let person = async {
            tokio::time::sleep(3 * 60 * MINUTE).await;
            jobs.set_paused(id, false, time("2026-11-24T13:30:00Z"))
                .await
                .unwrap();
            tokio::time::sleep(60 * MINUTE).await;
            token.cancel();
        };
        let mut server = JobServer::with_clock(&jobs, clock);
        server.poll = MINUTE;
        let (served, ()) = tokio::join!(server.serve(&token, run), person);
        served.unwrap();
        assert_eq!(*runs.borrow(), expected, "{missed:?}");
    }
}

#[tokio::test]
async fn a_pause_that_ended_before_the_clock_was_set_back_makes_no_run_a_missed_one() {
    let jobs = Jobs::in_memory("here").unwrap();
    let id = jobs
        .add(hourly(), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap()
        .id;
    for is_paused in [true, false] {
        jobs.set_paused(id, is_paused, time("2026-11-25T10:10:00Z"))
            .await
            .unwrap();
    }
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:00Z").await, [id]);
}

#[tokio::test]
async fn after_a_clock_that_was_years_ahead_is_corrected_jobs_run_at_their_next_time() {
    for (wrong, is_served) in [
        ("2035-11-24T11:00:00Z", true),
        ("2035-11-24T11:00:00Z", false),
        ("2026-11-27T11:00:00Z", true),
    ] {
        let jobs = Jobs::in_memory("here").unwrap();
        let hour = jobs
            .add(hourly(), time("2026-11-24T09:10:00Z"))
            .await
            .unwrap()
            .id;
        assert_eq!(served_once(&jobs, "2026-11-24T10:00:00Z").await, [hour]);
        let added_then = jobs.add(hourly(), time(wrong)).await.unwrap().id;
        let every = Schedule::Every {
            seconds: 3600,
            from: time(wrong),
        };
        let every = jobs.add(spec(every, "UTC"), time(wrong)).await.unwrap().id;
        let once = jobs
            .add(once("2026-11-24T13:00:00Z"), time("2026-11-24T10:10:00Z"))
            .await
            .unwrap()
            .id;
        jobs.set_paused(once, true, time("2026-11-24T10:10:00Z"))
            .await
            .unwrap();
        if is_served {
            served_once(&jobs, wrong).await;
        }
        jobs.set_paused(once, false, time("2026-11-24T10:20:00Z"))
            .await
            .unwrap();
        assert_eq!(served_once(&jobs, "2026-11-24T10:20:00Z").await, [0; 0]);
        assert_eq!(
            served_once(&jobs, "2026-11-24T11:00:00Z").await,
            [hour, added_then, every],
            "{wrong} {is_served}"
        );
        assert_eq!(
            served_once(&jobs, "2026-11-24T13:00:00Z").await,
            [hour, added_then, every, once]
        );
    }
}

#[tokio::test]
async fn a_first_job_that_was_made_by_a_clock_years_ahead_runs_at_its_next_time() {
    let jobs = Jobs::in_memory("here").unwrap();
    let wrong = time("2035-11-24T10:10:00Z");
    let hour = jobs.add(hourly(), wrong).await.unwrap().id;
    let every = jobs
        .add(
            spec(
                Schedule::Every {
                    seconds: 3600,
                    from: wrong,
                },
                "UTC",
            ),
            wrong,
        )
        .await
        .unwrap()
        .id;
    assert_eq!(served_once(&jobs, "2026-11-24T10:20:00Z").await, [0; 0]);
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:00Z").await, [hour]);
    assert_eq!(served_once(&jobs, "2026-11-24T11:10:00Z").await, [every]);
}

#[tokio::test]
async fn a_job_that_has_only_run_by_a_clock_years_ahead_runs_again_once_a_person_resumes_it() {
    let jobs = Jobs::in_memory("here").unwrap();
    let id = jobs
        .add(hourly(), time("2035-11-24T10:10:00Z"))
        .await
        .unwrap()
        .id;
    assert_eq!(served_once(&jobs, "2035-11-24T11:00:00Z").await, [id]);
    for now in ["2026-11-24T10:20:00Z", "2026-11-24T11:00:00Z"] {
        assert_eq!(
            served_once(&jobs, now).await,
            [0; 0],
            "before all runs of the log"
        );
    }
    for is_paused in [true, false] {
        jobs.set_paused(id, is_paused, time("2026-11-24T11:10:00Z"))
            .await
            .unwrap();
    }
    assert_eq!(served_once(&jobs, "2026-11-24T12:00:00Z").await, [id]);
}

#[tokio::test]
async fn a_run_by_a_clock_years_ahead_hides_no_missed_run() {
    let jobs = Jobs::in_memory("here").unwrap();
    let job = JobSpec {
        missed: Missed::RunOnce,
        ..hourly()
    };
    let id = jobs
        .add(job, time("2026-11-24T09:10:00Z"))
        .await
        .unwrap()
        .id;
    for (now, runs) in [
        ("2026-11-24T10:00:00Z", vec![id]),
        ("2035-11-24T11:00:00Z", vec![id]),
        ("2035-11-24T12:00:00Z", vec![id]),
        ("2026-11-24T10:20:00Z", vec![]),
        ("2026-11-24T12:00:00Z", vec![id]),
        // That of 13:00 was missed.
        ("2026-11-24T17:00:00Z", vec![id]),
    ] {
        assert_eq!(served_once(&jobs, now).await, runs, "{now}");
    }
}

#[tokio::test]
async fn a_run_that_was_due_while_its_job_could_not_be_read_is_made_up_for() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = opened(folder.path());
    let job = JobSpec {
        missed: Missed::RunOnce,
        ..hourly()
    };
    let id = jobs
        .add(job, time("2026-11-24T10:10:00Z"))
        .await
        .unwrap()
        .id;
    replace_in_specs(folder.path(), "UTC", "Mars/Base");
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:00Z").await, [0; 0]);
    replace_in_specs(folder.path(), "Mars/Base", "UTC");
    jobs.set_paused(id, false, time("2026-11-24T12:30:00Z"))
        .await
        .unwrap();
    assert_eq!(served_once(&jobs, "2026-11-24T12:30:00Z").await, [id]);
}

#[tokio::test]
async fn a_person_who_resumes_a_job_after_a_clock_was_set_back_within_a_day_repeats_no_run() {
    let jobs = Jobs::in_memory("here").unwrap();
    let id = jobs
        .add(hourly(), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap()
        .id;
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:00Z").await, [id]);
    for is_paused in [true, false] {
        jobs.set_paused(id, is_paused, time("2026-11-24T10:30:00Z"))
            .await
            .unwrap();
    }
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:00Z").await, [0; 0]);
}

#[tokio::test]
async fn a_pause_that_ended_by_a_clock_years_ahead_makes_no_late_run_a_missed_one() {
    let jobs = Jobs::in_memory("here").unwrap();
    let id = jobs
        .add(hourly(), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap()
        .id;
    for is_paused in [true, false] {
        jobs.set_paused(id, is_paused, time("2035-11-24T10:10:00Z"))
            .await
            .unwrap();
    }
    assert_eq!(served_once(&jobs, "2026-11-24T10:20:00Z").await, [0; 0]);
    assert_eq!(served_once(&jobs, "2026-11-24T11:05:00Z").await, [id]);
}

#[tokio::test]
async fn a_clock_that_was_days_behind_makes_no_job_run_a_second_time() {
    for missed in [Missed::Skip, Missed::RunOnce] {
        let jobs = Jobs::in_memory("here").unwrap();
        let daily = JobSpec {
            missed,
            schedule: crate::fixture::cron("0 11 * * *"),
            ..hourly()
        };
        let id = jobs
            .add(daily, time("2026-11-20T10:00:00Z"))
            .await
            .unwrap()
            .id;
        for day in 20..=24 {
            assert_eq!(
                served_once(&jobs, &format!("2026-11-{day}T11:00:00Z")).await,
                [id]
            );
        }
        assert_eq!(
            served_once(&jobs, "2026-11-21T12:00:00Z").await,
            [0; 0],
            "the clock is behind"
        );
        assert_eq!(
            served_once(&jobs, "2026-11-24T13:00:00Z").await,
            [0; 0],
            "{missed:?}"
        );
        let log = jobs.log(None, 1).await.unwrap();
        assert_eq!(
            (log[0].outcome, log[0].due),
            (Outcome::Skipped, time("2026-11-22T11:00:00Z"))
        );
        assert_eq!(log[0].note.is_some(), missed == Missed::RunOnce, "{log:?}");
        assert_eq!(served_once(&jobs, "2026-11-25T11:00:00Z").await, [id]);
        // One that was truly missed.
        let made_up = if missed == Missed::RunOnce {
            vec![id]
        } else {
            vec![]
        };
        assert_eq!(served_once(&jobs, "2026-11-26T15:00:00Z").await, made_up);
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_corrected_while_a_job_runs_does_not_delay_its_next_run() {
    for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
        let jobs = Jobs::in_memory("here").unwrap();
        let job = JobSpec {
            delivery,
            missed: Missed::RunOnce,
            ..hourly()
        };
        let id = jobs
            .add(job, time("2026-11-24T09:10:00Z"))
            .await
            .unwrap()
            .id;
        assert_eq!(
            served_once(&jobs, "2026-11-24T10:00:00Z").await,
            [id],
            "{delivery:?}"
        );
        let clock = TurnedClock::new("2035-11-24T11:00:00Z", "2040-01-01T00:00:00Z");
        let mut run = async |_: &DueRun| {
            clock.set(time("2026-11-24T10:20:00Z"));
            // The server attends meanwhile, which corrects the times.
            tokio::time::sleep(MINUTE).await;
            done()
        };
        let mut server = JobServer::with_clock(&jobs, clock.clone());
        server
            .serve_due(&CancellationToken::new(), &mut run)
            .await
            .unwrap();
        assert_eq!(
            served_once(&jobs, "2026-11-24T10:20:00Z").await,
            [0; 0],
            "{delivery:?}"
        );
        assert_eq!(
            served_once(&jobs, "2026-11-24T11:00:00Z").await,
            [id],
            "{delivery:?}"
        );
        assert_eq!(outcomes(&jobs).await, [Outcome::Done; 3]);
    }
}

#[tokio::test]
async fn a_machine_that_starts_in_1970_until_it_learns_the_time_runs_nothing_before_its_time() {
    let jobs = Jobs::in_memory("here").unwrap();
    let monthly = spec(crate::fixture::cron("0 0 1 * *"), "UTC");
    let id = jobs
        .add(
            JobSpec {
                missed: Missed::RunOnce,
                ..monthly
            },
            time("2026-10-15T00:00:00Z"),
        )
        .await
        .unwrap()
        .id;
    for (start, runs) in [
        ("1970-01-01T00:05:00Z", vec![]),
        ("2026-10-24T11:00:00Z", vec![]),
        ("2026-11-01T00:00:00Z", vec![id]),
        ("1970-01-01T00:05:00Z", vec![]),
        ("2026-11-24T11:00:00Z", vec![]),
    ] {
        assert_eq!(served_once(&jobs, start).await, runs, "{start}");
    }
    assert_eq!(served_once(&jobs, "2026-12-01T00:00:00Z").await, [id]);
}

#[tokio::test]
async fn a_clock_that_is_set_back_within_a_day_repeats_no_run_of_any_schedule() {
    for schedule in [
        "0 11 * * *",
        "0 11 24 11 *",
        "0 11 * * 2",
        "*/30 10-11 * * *",
    ] {
        let jobs = Jobs::in_memory("here").unwrap();
        let id = jobs
            .add(
                spec(crate::fixture::cron(schedule), "UTC"),
                time("2026-11-24T10:55:00Z"),
            )
            .await
            .unwrap()
            .id;
        assert_eq!(
            served_once(&jobs, "2026-11-24T11:00:00Z").await,
            [id],
            "{schedule}"
        );
        assert_eq!(
            served_once(&jobs, "2026-11-23T12:00:00Z").await,
            [0; 0],
            "{schedule}"
        );
        assert_eq!(
            served_once(&jobs, "2026-11-24T11:00:30Z").await,
            [0; 0],
            "{schedule}"
        );
    }
}
