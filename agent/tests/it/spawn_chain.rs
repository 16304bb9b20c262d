//! Chains of sub-agents, of which each starts the next one.

use std::sync::{Arc, Mutex};

use agent::{BudgetLimits, Event, RunOptions, SubAgents, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};
use tools::{ErrorCode, Grant, Target, ToolCall, ToolContext};

use crate::spawn::{agents, catalog, context, session, spawning};
use crate::workshop::{EventLog, add, tool};

/// The grants of a chain of agents, by the path of the agent.
type Grants = Arc<Mutex<Vec<(Option<String>, Grant)>>>;

const CLAUSES: [&str; 10] = [
    "*:*:**", "fs:*:**", "fs:read:**", "fs:write:src/**", "fs:read:src/*", "agent:*:**", "agent:write:n",
    "net:read:a.org", "*:read:**", "world:write:**",
];

const TARGETS: [&str; 9] = [
    "fs:read:a", "fs:read:src/a", "fs:write:src/a/b", "fs:destroy:src/a", "fs:write:b", "net:read:a.org",
    "net:write:a.org", "agent:write:n", "world:write:x",
];

fn clauses() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(&CLAUSES[..]), 0..4)
}

/// Runs a chain of sub-agents that begins with this grant, and returns the grant of each agent that could work.
fn chain_of(first: &[&str], chain: &[Option<Vec<&'static str>>]) -> Vec<(Option<String>, Grant)> {
    let grants = Grants::default();
    let seen = grants.clone();
    let mut catalog = catalog();
    let note = move |cx: ToolContext, _: Value| {
        seen.lock().unwrap().push((cx.agent().map(str::to_owned), cx.grant().clone()));
        async { "noted" }
    };
    catalog.register(tool("note"), note).unwrap();
    let chain = chain.to_vec();
    // The task is the number of agents above.
    let driver = agents(move |task, number| {
        let level = task.parse::<usize>().unwrap();
        let mut calls = vec![ToolCall::new("n", "note", json!({}))];
        calls.extend(chain.get(level).map(|grant| {
            let mut arguments = json!({"name": "n", "task": (level + 1).to_string()});
            if let Some(grant) = grant {
                arguments["grant"] = json!(grant);
            }
            spawning("s", arguments)
        }));
        if number == 0 { Turn::calls(calls) } else { Turn::answer("finished") }
    });
    let cx = ToolContext::new().with_grant(Grant::parse(first).unwrap());
    let mut session = session(&catalog, cx.with_service(SubAgents::new().with_max_depth(8)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(driver.run(&mut session, "0")).unwrap();
    std::mem::take(&mut *grants.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn no_chain_of_sub_agents_widens_a_grant(
        first in clauses(),
        chain in proptest::collection::vec(proptest::option::of(clauses()), 1..6),
    ) {
        let grants = chain_of(&first, &chain);
        let targets = TARGETS.map(|target| target.parse::<Target>().unwrap());
        for (position, (path, grant)) in grants.iter().enumerate() {
            prop_assert_eq!(path.as_deref().map_or(0, |path| path.split('/').count()), position);
            let own = position.checked_sub(1).and_then(|above| chain[above].as_ref());
            for target in &targets {
                let above = position.checked_sub(1).is_none_or(|above| grants[above].1.permits(target));
                let by_own = own.is_none_or(|own| Grant::parse(own).unwrap().permits(target));
                let by_first = position > 0 || Grant::parse(&first).unwrap().permits(target);
                prop_assert_eq!(grant.permits(target), above && by_own && by_first, "{} at {}", target, position);
            }
        }
        // A chain ends at the first agent that may not start another.
        let may_start = |grant: &Grant| grant.permits(&"agent:write:n".parse::<Target>().unwrap());
        let reached = 1 + grants.iter().take(chain.len()).take_while(|(_, grant)| may_start(grant)).count();
        prop_assert_eq!(grants.len(), reached);
    }

    /// Each agent makes two calls, starts the next one, and makes two more calls.
    #[test]
    fn no_chain_of_sub_agents_exceeds_a_budget(
        first in 1_u32..20,
        chain in proptest::collection::vec(proptest::option::of(1_u32..12), 1..5),
    ) {
        let made = calls_of(first, &chain);
        let limits = [Some(first)].into_iter().chain(chain.iter().copied());
        for (level, limit) in limits.enumerate() {
            let below: u32 = made.iter().skip(level).sum();
            prop_assert!(limit.is_none_or(|limit| below <= limit), "{made:?} at {level} of {first} and {chain:?}");
        }
        let is_unlimited = first >= 5 * made.len() as u32 && chain.iter().flatten().all(|limit| *limit >= 25);
        prop_assert!(!is_unlimited || made.len() == chain.len() + 1);
    }
}

/// Runs a chain of sub-agents with these limits, and returns the number of calls that ran for each level.
fn calls_of(first: u32, chain: &[Option<u32>]) -> Vec<u32> {
    let log = EventLog::default();
    let mut catalog = catalog();
    add(&mut catalog, "look");
    let limits = chain.to_vec();
    let driver = agents(move |task, number| {
        let level = task.parse::<usize>().unwrap();
        let look = |id: &str| ToolCall::new(id, "look", json!({"number": number}));
        let next = limits.get(level).map(|limit| {
            let budget = limit.map_or(json!({}), |calls| json!({"calls": calls}));
            spawning("s", json!({"name": "n", "task": (level + 1).to_string(), "budget": budget}))
        });
        match number {
            0 => Turn::calls([look("a"), look("b")].into_iter().chain(next)),
            1 => Turn::calls([look("c"), look("d")]),
            _ => Turn::answer("finished"),
        }
    });
    let options = RunOptions::new().with_limits(BudgetLimits::new().with_calls(first.into()));
    let driver = driver.with_options(options).with_events(log.clone());
    let mut session = session(&catalog, context().with_service(SubAgents::new().with_max_depth(8)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(driver.run(&mut session, "0")).unwrap();
    let mut made = Vec::new();
    for event in log.events() {
        let (level, event) = match event {
            Event::SubAgent { agent, event, .. } => (agent.split('/').count(), *event),
            event => (0, event),
        };
        made.resize(made.len().max(level + 1), 0);
        let is_run = matches!(&event, Event::Result { error, .. } if *error != Some(ErrorCode::Refused));
        made[level] += u32::from(is_run);
    }
    made
}
