//! Ways to reach a host that is not granted: inside the sandbox none of them does, outside of it each of them does.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::Arc;

use libtest_mimic::Trial;
use serde_json::json;
use tools::policy::{Policy, Rule, Verdict};
use tools_http::{HttpOptions, Resolver, ResolverFuture};
use tools_testkit::{TempWorkspace, TestHost};

use super::setup::{host, run, trial};
use super::world::{PYTHON, World};

/// The least number of ways.
const WAYS: usize = 200;

/// Names of the table that a URL can have.
const NAMES: [&str; 14] = [
    "granted.test",
    "forbidden.test",
    "sub.granted.test",
    "a.b.granted.test",
    "granted.test.forbidden.test",
    "xgranted.test",
    "granted.testx",
    "granted.tes",
    "granted",
    "test",
    "forbidden_.test",
    "granted-test",
    "localhost",
    "forbidden.granted.test",
];

/// Leads the granted name to its server, and all others to the forbidden one.
struct Everywhere {
    front: SocketAddr,
    forbidden: SocketAddr,
}

impl Resolver for Everywhere {
    fn resolve(&self, host: &str) -> ResolverFuture {
        let found = if host == "granted.test" {
            self.front
        } else {
            self.forbidden
        };
        Box::pin(async move { Ok(vec![found]) })
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "outside_of_the_sandbox_each_way_reaches_another_host",
            &[PYTHON],
            || {
                let (world, workspace) = (World::start(), workspace());
                let ended = Command::new(PYTHON)
                    .args(["ways.py", &world.addresses.to_string(), "control"])
                    .current_dir(workspace.path())
                    .output()
                    .unwrap();
                let reached = outcomes(&String::from_utf8_lossy(&ended.stdout));
                let failed: Vec<_> = reached
                    .iter()
                    .filter(|(_, reached)| !**reached)
                    .map(|(name, _)| name)
                    .collect();
                // Only root makes raw sockets.
                assert!(
                    failed
                        .iter()
                        .all(|name| name.contains("raw") || name.contains("packet")),
                    "{failed:?}"
                );
                assert!(reached.len() - failed.len() >= WAYS, "{}", reached.len());
                assert!(world.visits().len() >= WAYS);
            },
        ),
        trial(
            "where_only_the_grant_stands_against_it_no_way_reaches_another_host",
            &[PYTHON],
            || {
                let world = World::start();
                let everything = NAMES
                    .into_iter()
                    .chain(["127.0.0.0/8", "::1", "0.0.0.0", "::"]);
                let machine = world.addresses["machine"].as_str().unwrap();
                let mut options = options(&world);
                options.private_hosts = everything.chain([machine]).map(str::to_owned).collect();
                let workspace = workspace();
                none_reaches(world, &host(&workspace, options, &["net:*:granted.test"]));
            },
        ),
        trial(
            "where_only_the_filter_stands_against_it_no_way_reaches_another_host",
            &[PYTHON],
            || {
                let world = World::start();
                let mut options = options(&world);
                options.private_hosts = ["granted.test:80", "granted.test:443"]
                    .map(str::to_owned)
                    .into();
                let rule = Rule::new(
                    Verdict::Allow,
                    Some("exec.run"),
                    Some("net:*:**".parse().unwrap()),
                )
                .unwrap();
                let workspace = workspace();
                let host = host(&workspace, options, &["net:*:**"]);
                none_reaches(
                    world,
                    &host.with_context(|cx| cx.with_policy(Policy::new().with_rules([rule]))),
                );
            },
        ),
    ]
}

fn workspace() -> TempWorkspace {
    TempWorkspace::from_files([
        ("ways.py", include_str!("ways.py")),
        ("control.py", include_str!("control.py")),
    ])
}

fn options(world: &World) -> HttpOptions {
    let (front, forbidden) = (world.address("front"), world.address("forbidden"));
    let forbidden = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), forbidden.port());
    HttpOptions {
        resolver: Some(Arc::new(Everywhere { front, forbidden })),
        ..HttpOptions::default()
    }
}

/// Tries each way inside the sandbox.
fn none_reaches(world: World, host: &TestHost) {
    let args = ["ways.py".to_owned(), world.addresses.to_string()];
    let answer = run(
        host,
        json!({"program": PYTHON, "args": args, "timeout": 300}),
    );
    let reached = outcomes(&answer);
    let answer = answer.split("stdout:").next().unwrap_or_default();
    let others: Vec<_> = reached
        .iter()
        .filter(|(_, reached)| **reached)
        .map(|(name, _)| name)
        .collect();
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(world.visits(), Vec::<String>::new(), "{answer}");
    assert!(reached.len() >= WAYS, "{}", reached.len());
}

/// Returns each way with whether it got there.
fn outcomes(output: &str) -> BTreeMap<String, bool> {
    let line = output
        .lines()
        .find(|line| line.starts_with("{\""))
        .unwrap_or_else(|| panic!("{output}"));
    serde_json::from_str(line).unwrap()
}
