//! Jobs that are gone: their log and their locks.

use tokio_util::sync::CancellationToken;
use tools_cron::{JobServer, Jobs, Outcome};

use crate::fixture::{
    TurnedClock, cut_off, done, hourly, once, opened, outcomes, served_once, time,
};

#[tokio::test]
async fn the_log_keeps_a_thousand_runs_of_jobs_that_are_gone_and_no_lock_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let [jobs, elsewhere] = ["here", "elsewhere"]
        .map(|workspace| Jobs::new(folder.path().join("cron.sqlite"), workspace));
    let made = time("2026-11-24T10:10:00Z");
    let kept = jobs.add(hourly(), made).await.unwrap().id;
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:00Z").await, [kept]);
    let store = rusqlite::Connection::open(folder.path().join("cron.sqlite")).unwrap();
    let earlier = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
        INSERT INTO run (job, workspace, due_ms, started_ms, ended_ms, outcome, is_gone) SELECT 1000 + i, ?, i, i, i, 'done', 1 FROM n";
    let running = "INSERT INTO run (job, workspace, due_ms, started_ms, outcome, is_gone) VALUES (1000, 'here', 0, 0, 'running', 1)";
    store.execute(running, []).unwrap();
    let goes_on = std::fs::File::create(folder.path().join("cron.locks/1000.lock")).unwrap();
    goes_on.lock().unwrap();
    for workspace in ["here", "elsewhere"] {
        store.execute(earlier, [workspace]).unwrap();
    }
    // One that ends by itself, and one that is removed.
    let ended = jobs
        .add(once("2026-11-24T12:00:00Z"), made)
        .await
        .unwrap()
        .id;
    assert_eq!(
        served_once(&jobs, "2026-11-24T12:00:00Z").await,
        [kept, ended]
    );
    let log = jobs.log(None, 9000).await.unwrap();
    let of_kept = log.iter().filter(|run| run.job == kept).count();
    assert_eq!(
        (of_kept, log.len() - of_kept),
        (2, 1001),
        "the run that goes on is kept too"
    );
    let removed = jobs.add(hourly(), made).await.unwrap().id;
    assert_eq!(
        served_once(&jobs, "2026-11-24T13:00:00Z").await,
        [removed, kept]
    );
    jobs.remove(removed).await.unwrap();
    let log = jobs.log(None, 9000).await.unwrap();
    let gone: Vec<_> = log
        .iter()
        .map(|run| run.job)
        .filter(|job| *job != kept)
        .collect();
    assert_eq!(
        (&gone[..3], gone.len()),
        (&[removed, ended, 2500][..], 1001)
    );
    assert_eq!(
        elsewhere.log(None, 9000).await.unwrap().len(),
        1500,
        "another workspace has its own"
    );
    let has_lock = |job: i64| {
        folder
            .path()
            .join("cron.locks")
            .join(format!("{job}.lock"))
            .exists()
    };
    assert_eq!([kept, ended, removed].map(has_lock), [true, false, false]);
}

#[tokio::test]
async fn a_job_that_was_removed_and_whose_server_was_killed_leaves_a_run_that_was_cut_off_and_no_lock()
 {
    let folder = tempfile::tempdir().unwrap();
    let jobs = opened(folder.path());
    let made = time("2026-11-24T10:10:00Z");
    let [removed, kept] = [
        jobs.add(hourly(), made).await.unwrap().id,
        jobs.add(hourly(), made).await.unwrap().id,
    ];
    cut_off(opened(folder.path()), "2026-11-24T11:00:00Z").await;
    let locks = folder.path().join("cron.locks");
    let lock = std::fs::File::open(locks.join(format!("{removed}.lock"))).unwrap();
    // As the killed server, which still runs the job.
    lock.lock().unwrap();
    jobs.remove(removed).await.unwrap();
    // One of a server that was killed after the run.
    std::fs::write(locks.join("77.lock"), "").unwrap();
    std::fs::write(locks.join("else.lock"), "").unwrap();
    let lock_files = || {
        let entries = std::fs::read_dir(&locks)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        entries
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:10Z").await, [kept]);
    assert_eq!(
        jobs.log(Some(removed), 1).await.unwrap()[0].outcome,
        Outcome::Running
    );
    assert_eq!(lock_files(), ["1.lock", "2.lock", "else.lock"]);
    drop(lock);
    assert_eq!(served_once(&jobs, "2026-11-24T11:00:20Z").await, [0; 0]);
    let log = jobs.log(Some(removed), 10).await.unwrap();
    assert_eq!(
        (log.len(), log[0].outcome, log[0].ended),
        (1, Outcome::CutOff, Some(time("2026-11-24T11:00:20Z")))
    );
    assert_eq!(lock_files(), ["2.lock", "else.lock"]);
}

#[tokio::test]
async fn a_job_that_is_removed_while_it_runs_is_gone() {
    let jobs = Jobs::in_memory("here").unwrap();
    let id = jobs
        .add(hourly(), time("2026-11-24T10:10:00Z"))
        .await
        .unwrap()
        .id;
    let mut server = JobServer::with_clock(
        &jobs,
        TurnedClock::new("2026-11-24T11:00:00Z", "2030-01-01T00:00:00Z"),
    );
    let mut run = async |_: &tools_cron::DueRun| {
        jobs.remove(id).await.unwrap();
        done()
    };
    server
        .serve_due(&CancellationToken::new(), &mut run)
        .await
        .unwrap();
    assert!(jobs.list().await.unwrap().is_empty());
    assert_eq!(outcomes(&jobs).await, [Outcome::Done]);
}
