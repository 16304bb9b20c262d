//! A workspace, a client, and calls of the tool.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use libtest_mimic::{Completion, Trial};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tools_exec::Sandbox;
use tools_exec::walls::{Confinement, Layers};
use tools_http::{HttpClient, HttpOptions};
use tools_testkit::http::TestResolver;
use tools_testkit::{TempWorkspace, TestHost};
use tools_workspace::Workspace;

/// Everything in the workspace.
pub(crate) const ALL: [&str; 3] = ["fs:read:**", "fs:write:**", "exec:write:**"];

/// Returns the runtime of all tests, in which their servers live.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap()
    })
}

/// Returns options in which names lead to servers, and may do so.
pub(crate) fn names<'a>(names: impl IntoIterator<Item = (&'a str, SocketAddr)>) -> HttpOptions {
    let (mut options, mut resolver) = (HttpOptions::default(), TestResolver::new());
    for (name, address) in names {
        options.private_hosts.push(name.to_owned());
        resolver = resolver.with_name(name, address);
    }
    options.resolver = Some(Arc::new(resolver));
    options
}

/// Returns a host with these hosts granted.
pub(crate) fn host(workspace: &TempWorkspace, options: HttpOptions, network: &[&str]) -> TestHost {
    TestHost::new(tools_exec::register)
        .with_grant(&[&ALL[..], network].concat())
        .with_service(Workspace::open(workspace.path()).unwrap())
        .with_service(Sandbox::default())
        .with_service(HttpClient::from_options(options).unwrap())
}

pub(crate) fn run(host: &TestHost, arguments: Value) -> String {
    runtime()
        .block_on(host.call("exec.run", arguments))
        .unwrap()
        .to_text()
}

/// Runs a script by `sh`.
pub(crate) fn sh(host: &TestHost, script: &str) -> String {
    run(host, json!({"program": "sh", "args": ["-c", script]}))
}

/// A test that is left out, with the reason, if this machine has no bubblewrap or one of these programs is missing.
pub(crate) fn trial(name: &str, programs: &'static [&'static str], test: fn()) -> Trial {
    let is_bubblewrap =
        |confinement: &Confinement| matches!(confinement, Confinement::Bubblewrap(_));
    trial_with(name, Layers::probe, is_bubblewrap, programs, test)
}

/// A test without bubblewrap, which is left out if this machine has not enough of Landlock.
pub(crate) fn trial_alone(name: &str, programs: &'static [&'static str], test: fn()) -> Trial {
    let is_alone = |confinement: &Confinement| *confinement == Confinement::LandlockAlone;
    trial_with(
        name,
        || Layers::probe().without_bubblewrap(),
        is_alone,
        programs,
        test,
    )
}

fn trial_with(
    name: &str,
    layers: fn() -> Layers,
    is_fit: fn(&Confinement) -> bool,
    programs: &'static [&'static str],
    test: fn(),
) -> Trial {
    Trial::ignorable_test(format!("network::{name}"), move || {
        match layers().confinement() {
            Ok(confinement) if is_fit(&confinement) => {}
            other => return Ok(Completion::ignored_with(format!("{other:?}"))),
        }
        // A name is looked up, and a path has to be a file or folder.
        let is_there = |program: &str| {
            if program.contains('/') {
                Path::new(program).exists()
            } else {
                Command::new(program).arg("--version").output().is_ok()
            }
        };
        if let Some(missing) = programs.iter().find(|program| !is_there(program)) {
            return Ok(Completion::ignored_with(format!("{missing} is missing")));
        }
        test();
        Ok(Completion::Completed)
    })
}
