//! Servers of jobs that are ended or killed, and several on one store.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tools_builtin::cron::{Delivery, JobSpec, Missed, Work};

use super::{WRITES, add, add_to, call, due, jobs, log, run_once};
use crate::Crib;

/// Starts a server of jobs that may write.
pub(super) fn serve(crib: &Crib, more: &[&str], stderr: Stdio) -> Child {
    let flags = [&["cron", "run", "--grant", "fs:write:**"], more].concat();
    let mut command = crib.command(&flags);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr);
    command.spawn().unwrap()
}

/// Waits until the server says that a job begins.
fn wait_for_job(server: &mut Child) {
    let mut lines = BufReader::new(server.stderr.as_mut().unwrap())
        .lines()
        .map(Result::unwrap);
    assert!(
        lines.any(|line| line.contains("job 1, due at")),
        "the job began"
    );
}

fn terminate(server: &Child) {
    let status = Command::new("kill")
        .args(["-TERM", &server.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_server_that_is_told_to_end_cuts_off_its_run_and_says_so() {
    let crib = Crib::new();
    let script = crib.endless();
    add(&crib, due(Work::Prompt("go on".to_owned()), &WRITES));
    let mut server = serve(
        &crib,
        &["--script", &script, "--max-steps", "100000"],
        Stdio::piped(),
    );
    wait_for_job(&mut server);
    terminate(&server);
    assert_eq!(server.wait_with_output().unwrap().status.code(), Some(0));
    let [run] = &log(&crib)[..] else {
        panic!("one run")
    };
    assert_eq!(run["outcome"], "cut_off");
}

/// Writes the file to which a job adds a line. Returns the work, which would add another one if it was done again.
fn append(crib: &Crib, name: &str) -> Work {
    std::fs::write(crib.root().join(name), "END\n").unwrap();
    call(
        "fs.edit",
        json!({"path": name, "old": "END", "new": "run\nEND"}),
    )
}

fn count(crib: &Crib, name: &str) -> usize {
    std::fs::read_to_string(crib.root().join(name))
        .unwrap()
        .matches("run")
        .count()
}

/// Returns the number of the environment, or the one for a quick test.
fn amount(variable: &str, quick: u64) -> u64 {
    std::env::var(variable).map_or(quick, |text| text.parse().unwrap())
}

/// `.ci/long` kills it at 100 moments.
#[test]
fn a_server_that_is_killed_at_random_moments_keeps_to_the_delivery_of_each_job() {
    let crib = Crib::new();
    let mut random = u64::from(std::process::id()) | 1;
    let mut made = BTreeMap::new();
    for round in 0..amount("TOOLCRIB_CRON_KILLS", 10) {
        for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
            let name = format!("{delivery:?}{round}.txt");
            let job = JobSpec {
                delivery,
                missed: Missed::RunOnce,
                ..due(append(&crib, &name), &WRITES)
            };
            made.insert(add(&crib, job), (delivery, name));
        }
        let mut server = serve(&crib, &[], Stdio::piped());
        // Half of the kills come while jobs run, whatever the machine needs to start a program.
        if round % 2 == 0 {
            let mut line = String::new();
            BufReader::new(server.stderr.as_mut().unwrap())
                .read_line(&mut line)
                .unwrap();
        }
        // Xorshift.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_millis(random % 300));
        server.kill().unwrap();
        server.wait().unwrap();
    }
    run_once(&crib, &["--grant", "fs:write:**"]);
    assert!(
        crib.run(&["cron", "list", "--json"])
            .expect(0)
            .documents()
            .is_empty(),
        "every job has ended"
    );
    let log = log(&crib);
    for (id, (delivery, name)) in made {
        let outcomes: Vec<_> = log
            .iter()
            .filter(|run| run["job"] == id)
            .map(|run| &run["outcome"])
            .collect();
        let runs = count(&crib, &name);
        match delivery {
            Delivery::AtMostOnce => {
                assert!(runs <= 1, "{name} ran {runs} times: {outcomes:?}");
                assert_eq!(outcomes.len(), 1, "{name}: {outcomes:?}");
                assert!(
                    runs == 1 || *outcomes[0] == "cut_off",
                    "{name} did not run: {outcomes:?}"
                );
            }
            Delivery::AtLeastOnce => {
                assert!(runs >= 1, "{name} did not run: {outcomes:?}");
                assert_eq!(outcomes.last(), Some(&&json!("done")), "{name}");
            }
        }
    }
}

/// `.ci/long` runs it for a minute.
#[test]
fn two_servers_and_two_adders_on_one_store_lose_nothing_and_run_nothing_twice() {
    let crib = Crib::new();
    // Nobody reads their output, and a full pipe would block them.
    let servers = [(); 2].map(|()| serve(&crib, &[], Stdio::null()));
    let until = std::time::Instant::now() + Duration::from_secs(amount("TOOLCRIB_CRON_SECONDS", 3));
    let adder = |adder: usize| {
        let jobs = jobs(&crib);
        let mut names = Vec::new();
        while std::time::Instant::now() < until {
            let name = format!("{adder}-{}.txt", names.len());
            let job = JobSpec {
                missed: Missed::RunOnce,
                ..due(append(&crib, &name), &WRITES)
            };
            add_to(&jobs, job);
            names.push(name);
            std::thread::sleep(Duration::from_millis(200));
        }
        names
    };
    let names: Vec<_> = std::thread::scope(|scope| {
        [0, 1]
            .map(|number| scope.spawn(move || adder(number)))
            .map(|adder| adder.join().unwrap())
            .concat()
    });
    let is_empty = || {
        crib.run(&["cron", "list", "--json"])
            .expect(0)
            .documents()
            .is_empty()
    };
    let waits = (0..600)
        .take_while(|_| !is_empty())
        .map(|_| std::thread::sleep(Duration::from_millis(500)))
        .count();
    assert!(waits < 600, "the servers have not run every job");
    for mut server in servers {
        terminate(&server);
        server.wait().unwrap();
    }
    for name in &names {
        assert_eq!(count(&crib, name), 1, "{name}");
    }
    let log = log(&crib);
    assert_eq!(log.len(), names.len());
    assert!(log.iter().all(|run| run["outcome"] == "done"), "{log:?}");
}
