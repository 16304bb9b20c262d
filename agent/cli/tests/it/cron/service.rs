//! The service of a workspace by `cron run --once`, and jobs that cannot be read.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use tools::CancellationToken;
use tools_builtin::cron::{Clock, DueRun, JobServer, JobSpec, Jobs, Missed, Schedule, Work};

use super::{WRITES, add, call, due, jobs, log, run_once, run_to, write};
use crate::Crib;

/// A clock that stands.
struct StandingClock(Timestamp);

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    async fn sleep(&self, _time: Duration) {}
}

fn minutes_ago(minutes: u64) -> Timestamp {
    Timestamp::now() - Duration::from_secs(60 * minutes)
}

/// Makes a job that is due 10 minutes ago, and looks at the jobs this long ago, when none was due.
#[tokio::main(flavor = "current_thread")]
async fn late(jobs: &Jobs, looked: u64) {
    let job = JobSpec {
        schedule: Schedule::Once(minutes_ago(10)),
        ..due(write("a.txt"), &WRITES)
    };
    assert_eq!(job.missed, Missed::Skip);
    jobs.add(job, minutes_ago(200)).await.unwrap();
    let mut run = async |_: &DueRun| unreachable!("no job is due");
    let token = CancellationToken::new();
    JobServer::with_clock(jobs, StandingClock(minutes_ago(looked)))
        .serve_due(&token, &mut run)
        .await
        .unwrap();
}

#[test]
fn a_timer_may_serve_the_jobs_by_single_runs_of_the_program() {
    for (looked, outcome) in [(15, "done"), (150, "skipped")] {
        let crib = Crib::new();
        late(&jobs(&crib), looked);
        run_once(&crib, &["--grant", "fs:write:**"]);
        let [run] = &log(&crib)[..] else {
            panic!("one run")
        };
        assert_eq!(run["outcome"], outcome, "{looked} {run}");
    }
}

#[test]
fn the_exit_code_of_a_single_run_tells_whether_a_job_failed_or_else_was_refused() {
    let [done, failed, refused] = [
        write("a.txt"),
        call("fs.read", json!({"path": "missing"})),
        write("b.txt"),
    ];
    for (works, code) in [
        (vec![], 0),
        (vec![&done], 0),
        (vec![&refused, &done], 5),
        (vec![&failed, &done], 1),
        (vec![&refused, &failed], 1),
        (vec![&failed, &refused], 1),
    ] {
        let crib = Crib::new();
        for work in &works {
            add(&crib, due((*work).clone(), &WRITES));
        }
        run_to(&crib, &["--grant", "fs:write:a.txt"], code);
        assert_eq!(log(&crib).len(), works.len());
    }
}

#[test]
fn a_provider_that_cannot_be_used_is_an_error_before_a_job_is_taken_that_needs_it() {
    let prompt = Work::Prompt("go".to_owned());
    let misnamed = &["--provider", "drect"][..];
    for (work, provider, code) in [
        (&prompt, misnamed, 3),
        // None is named, and the environment has no key.
        (&prompt, &[], 2),
        // The prompt is no call.
        (&prompt, &["--provider", "direct"], 1),
        (&write("a.txt"), misnamed, 0),
        (&write("a.txt"), &[], 0),
    ] {
        let crib = Crib::new();
        add(&crib, due(work.clone(), &WRITES));
        let late = Schedule::Once("2100-01-01T00:00:00Z".parse().unwrap());
        add(
            &crib,
            JobSpec {
                schedule: late,
                ..due(prompt.clone(), &WRITES)
            },
        );
        run_to(
            &crib,
            &[provider, &["--grant", "fs:write:a.txt"]].concat(),
            code,
        );
        assert_eq!(
            log(&crib).is_empty(),
            [2, 3].contains(&code),
            "{work} {provider:?}"
        );
        if code == 2 {
            // A server would come to the other job too.
            let ended = crib.run(&["cron", "run"]).expect(2);
            assert!(ended.stderr.contains("--provider"), "{ended:#?}");
        }
    }
}

/// Changes a job as a newer version might write it.
fn make_unreadable(crib: &Crib) {
    let file = crib.dir.path().join("data/toolcrib/cron.sqlite");
    // A text of SQLite is stored as it is.
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes
        .windows(12)
        .rposition(|text| text == b"at_most_once")
        .unwrap();
    bytes[at..at + 12].copy_from_slice(b"at_will_once");
    std::fs::write(&file, bytes).unwrap();
}

#[test]
fn a_due_job_that_cannot_be_read_counts_as_failed() {
    let crib = Crib::new();
    add(&crib, due(write("a.txt"), &WRITES));
    // The commands close the store, so that its file has all.
    crib.run(&["cron", "list"]).expect(0);
    make_unreadable(&crib);
    let ended = run_to(&crib, &[], 1);
    assert!(ended.stderr.contains("cron log"), "{ended:#?}");
    assert_eq!(log(&crib)[0]["outcome"], "failed");
    run_once(&crib, &[]);
}

#[test]
fn a_job_that_cannot_be_read_is_listed_and_removed() {
    let crib = Crib::new();
    for _ in 0..2 {
        let arguments = json!({"every": 60, "prompt": "look"}).to_string();
        crib.run(&[
            "call",
            "cron.add",
            "--args",
            &arguments,
            "--grant",
            "cron:write:prompt",
        ])
        .expect(0);
    }
    make_unreadable(&crib);
    let listed = crib.run(&["cron", "list", "--json"]).expect(0).documents();
    let unreadable = listed
        .iter()
        .find(|job| !job["unreadable"].is_null())
        .unwrap();
    assert!(
        unreadable["unreadable"]
            .as_str()
            .unwrap()
            .contains("at_will_once"),
        "{listed:?}"
    );
    assert_eq!(listed.len(), 2);
    let shown = crib.run(&["cron", "list"]).expect(0).stdout;
    assert!(
        shown.contains("unreadable") && shown.contains("every 60 s"),
        "{shown}"
    );
    crib.run(&["cron", "remove", &unreadable["id"].to_string()])
        .expect(0);
    assert_eq!(
        crib.run(&["cron", "list", "--json"])
            .expect(0)
            .documents()
            .len(),
        1
    );
}

#[test]
fn a_flag_for_one_session_or_for_questions_is_no_flag_of_jobs() {
    for flag in [
        "--resume",
        "--session=s",
        "--journal=calls.journal",
        "--approval-timeout=1s",
    ] {
        let ended = Crib::new().run(&["cron", "run", "--once", flag]).expect(2);
        assert!(
            ended.stderr.contains("unexpected argument"),
            "{flag}: {ended:#?}"
        );
    }
}
