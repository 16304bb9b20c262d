//! The time of `true` as a bare process and by `exec.run`, behind each kind of walls.
//!
//! `cargo bench -p toolcrib-exec --bench start` prints the median and the 95th percentile of 200 calls each, which alternate.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is a benchmark"
)]

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use tools_exec::Sandbox;
use tools_exec::walls::{Bubblewrap, Layers};
use tools_testkit::{TempWorkspace, TestHost};
use tools_workspace::Workspace;

const CALLS: usize = 200;

fn main() {
    tools_exec::enter();
    let workspace = TempWorkspace::new();
    let host = |layers: Layers| {
        let sandbox = Sandbox {
            layers: layers.into(),
            may_run_unconfined: true,
            ..Sandbox::default()
        };
        let root = Workspace::open(workspace.path()).unwrap();
        TestHost::new(tools_exec::register)
            .with_grant(&["fs:read:**", "exec:write:true"])
            .with_service(root)
            .with_service(sandbox)
    };
    let found = Layers::probe();
    let none = Layers {
        landlock: None,
        seccomp: false,
        bubblewrap: Bubblewrap::Missing,
    };
    let hosts = [
        ("exec.run without walls", host(none)),
        (
            "exec.run, Landlock alone",
            host(found.clone().without_bubblewrap()),
        ),
        (
            "exec.run, bubblewrap alone",
            host(Layers {
                landlock: None,
                ..found.clone()
            }),
        ),
        ("exec.run, bubblewrap and Landlock", host(found)),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let mut bare = Vec::new();
    let mut called: Vec<Vec<Duration>> = vec![Vec::new(); hosts.len()];
    for _ in 0..CALLS {
        let started = Instant::now();
        assert!(Command::new("/bin/true").status().unwrap().success());
        bare.push(started.elapsed());
        for ((name, host), times) in hosts.iter().zip(&mut called) {
            let started = Instant::now();
            let result = runtime
                .block_on(host.call("exec.run", json!({"program": "true"})))
                .unwrap();
            times.push(started.elapsed());
            assert!(
                result.to_text().starts_with("[exit code 0, "),
                "{name}: {}",
                result.to_text()
            );
        }
    }
    println!("{:<36} {:>10} {:>10}", "true", "median", "95 %");
    report("bare process", bare);
    for ((name, _), times) in hosts.iter().zip(called) {
        report(name, times);
    }
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| {
        format!(
            "{:.1} ms",
            times[times.len() * part / 100].as_secs_f64() * 1000.0
        )
    };
    println!("{name:<36} {:>10} {:>10}", at(50), at(95));
}
