//! The check of a job before a run of it begins.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tools_cron::{Delivery, DueRun, Job, JobServer, JobSpec, Jobs, Outcome};

use crate::fixture::{TurnedClock, cut_off, done, hourly, opened, outcomes, served_once, time};

/// Makes three jobs, the second of which is refused.
async fn three_jobs() -> Jobs {
    let jobs = Jobs::in_memory("here").unwrap();
    for delivery in [
        Delivery::AtMostOnce,
        Delivery::AtMostOnce,
        Delivery::AtLeastOnce,
    ] {
        jobs.add(
            JobSpec {
                delivery,
                ..hourly()
            },
            time("2026-11-24T10:10:00Z"),
        )
        .await
        .unwrap();
    }
    jobs
}

#[tokio::test]
async fn a_server_ends_before_it_takes_a_job_that_the_check_refuses() {
    for is_once in [false, true] {
        let jobs = three_jobs().await;
        let (mut checked, token) = (Vec::new(), CancellationToken::new());
        let clock = TurnedClock::new("2026-11-24T11:00:00Z", "2030-01-01T00:00:00Z");
        let check = async |job: &Job| {
            checked.push(job.id);
            job.id != 2
        };
        let mut server = JobServer {
            jobs: &jobs,
            clock,
            poll: Duration::from_secs(2),
            check,
        };
        let mut run = async |_: &DueRun| done();
        if is_once {
            assert_eq!(server.serve_due(&token, &mut run).await.unwrap().runs, 1);
        } else {
            server.serve(&token, &mut run).await.unwrap();
        }
        assert_eq!((checked, token.is_cancelled()), (vec![1, 2], false));
        assert_eq!(outcomes(&jobs).await, [Outcome::Done]);
        assert_eq!(
            served_once(&jobs, "2026-11-24T11:00:30Z").await,
            [2, 3],
            "both are still due"
        );
    }
}

#[tokio::test]
async fn a_job_whose_run_was_cut_off_is_not_checked_before_the_next_one_is_due() {
    let folder = tempfile::tempdir().unwrap();
    opened(folder.path())
        .add(hourly(), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap();
    cut_off(opened(folder.path()), "2026-11-24T11:00:00Z").await;
    for (now, checked) in [("2026-11-24T11:10:00Z", 0), ("2026-11-24T12:00:00Z", 1)] {
        let (jobs, mut checks) = (opened(folder.path()), 0);
        let check = async |_: &Job| {
            checks += 1;
            true
        };
        let clock = TurnedClock::new(now, "2030-01-01T00:00:00Z");
        let mut server = JobServer {
            jobs: &jobs,
            clock,
            poll: Duration::from_secs(2),
            check,
        };
        server
            .serve_due(&CancellationToken::new(), &mut async |_: &DueRun| done())
            .await
            .unwrap();
        assert_eq!(checks, checked, "{now}");
    }
}
