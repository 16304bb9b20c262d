//! Runs that were cut off and are to be repeated, while the clock is wrong.

use tools_cron::{Delivery, JobSpec, Missed, Outcome};

use crate::fixture::{
    cron, cut_off, hourly, opened, outcomes, replace_in_specs, served_once, time,
};

#[tokio::test]
async fn a_run_that_was_cut_off_before_the_clock_was_set_back_by_days_is_repeated_once() {
    for missed in [Missed::Skip, Missed::RunOnce] {
        for behind in [
            &["2026-11-21T12:00:00Z"][..],
            &["2026-11-21T12:00:00Z", "2026-11-22T11:00:00Z"],
        ] {
            let folder = tempfile::tempdir().unwrap();
            let jobs = opened(folder.path());
            let daily = JobSpec {
                missed,
                delivery: Delivery::AtLeastOnce,
                schedule: cron("0 11 * * *"),
                ..hourly()
            };
            let id = jobs
                .add(daily, time("2026-11-20T10:00:00Z"))
                .await
                .unwrap()
                .id;
            for day in 20..=23 {
                assert_eq!(
                    served_once(&jobs, &format!("2026-11-{day}T11:00:00Z")).await,
                    [id]
                );
            }
            cut_off(opened(folder.path()), "2026-11-24T11:00:00Z").await;
            let mut runs = Vec::new();
            for now in behind {
                runs.extend(served_once(&jobs, now).await);
            }
            runs.extend(served_once(&jobs, "2026-11-24T13:00:00Z").await);
            assert_eq!(runs, [id], "{missed:?} {behind:?}");
            assert_eq!(
                outcomes(&jobs).await[4..6],
                [Outcome::CutOff, Outcome::Done]
            );
            assert_eq!(served_once(&jobs, "2026-11-25T11:00:00Z").await, [id]);
        }
    }
}

#[tokio::test]
async fn a_run_that_was_cut_off_by_a_clock_years_ahead_is_repeated_at_the_next_time() {
    for (missed, then) in [
        (Missed::Skip, "2026-11-24T11:00:00Z"),
        (Missed::RunOnce, "2026-11-24T11:00:00Z"),
        // That of 11:00 was missed.
        (Missed::Skip, "2026-11-24T14:20:00Z"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let jobs = opened(folder.path());
        let job = JobSpec {
            missed,
            delivery: Delivery::AtLeastOnce,
            ..hourly()
        };
        let id = jobs
            .add(job, time("2026-11-24T09:10:00Z"))
            .await
            .unwrap()
            .id;
        assert_eq!(served_once(&jobs, "2026-11-24T10:00:00Z").await, [id]);
        served_once(&jobs, "2035-11-24T11:00:00Z").await;
        cut_off(opened(folder.path()), "2035-11-24T12:00:00Z").await;
        assert_eq!(served_once(&jobs, "2026-11-24T10:20:00Z").await, [0; 0]);
        assert_eq!(served_once(&jobs, then).await, [id], "{missed:?} {then}");
        assert_eq!(
            outcomes(&jobs)
                .await
                .iter()
                .rev()
                .take(2)
                .collect::<Vec<_>>(),
            [&Outcome::Done, &Outcome::CutOff]
        );
        assert_eq!(
            served_once(&jobs, then).await,
            [0; 0],
            "it is repeated once"
        );
    }
}

#[tokio::test]
async fn a_run_that_was_cut_off_is_repeated_after_its_job_could_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = opened(folder.path());
    let job = JobSpec {
        delivery: Delivery::AtLeastOnce,
        ..hourly()
    };
    let id = jobs
        .add(job, time("2026-11-24T10:10:00Z"))
        .await
        .unwrap()
        .id;
    cut_off(opened(folder.path()), "2026-11-24T11:00:00Z").await;
    replace_in_specs(folder.path(), "UTC", "Mars/Base");
    assert_eq!(served_once(&jobs, "2026-11-24T11:10:00Z").await, [0; 0]);
    replace_in_specs(folder.path(), "Mars/Base", "UTC");
    jobs.set_paused(id, false, time("2026-11-24T12:30:00Z"))
        .await
        .unwrap();
    assert_eq!(served_once(&jobs, "2026-11-24T12:30:00Z").await, [id]);
}
