//! Chains of sub-agents, of which each starts the next one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::{
    Budget, BudgetLimits, Cost, Event, Price, RunOptions, Spending, SubAgents, Turn, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tools::{ErrorCode, Grant, Host, Target, ToolCall, ToolContext};

use crate::spawn::{agents, agents_at, catalog, context, session, spawning};
use crate::workshop::{EventLog, tool};

/// The grants of a chain of agents, by the path of the agent.
type Grants = Arc<Mutex<Vec<(Option<String>, Grant)>>>;

const CLAUSES: [&str; 10] = [
    "*:*:**",
    "fs:*:**",
    "fs:read:**",
    "fs:write:src/**",
    "fs:read:src/*",
    "agent:*:**",
    "agent:write:n",
    "net:read:a.org",
    "*:read:**",
    "world:write:**",
];

const TARGETS: [&str; 9] = [
    "fs:read:a",
    "fs:read:src/a",
    "fs:write:src/a/b",
    "fs:destroy:src/a",
    "fs:write:b",
    "net:read:a.org",
    "net:write:a.org",
    "agent:write:n",
    "world:write:x",
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
        seen.lock()
            .unwrap()
            .push((cx.agent().map(str::to_owned), cx.grant().clone()));
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
        if number == 0 {
            Turn::calls(calls)
        } else {
            Turn::answer("finished")
        }
    });
    let cx = Host::new().with_grant(Grant::parse(first).unwrap());
    let mut session = session(&catalog, cx.with_service(SubAgents { max_depth: 8 }));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
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
        first in limits(),
        cost in proptest::option::of(1_u64..1000),
        chain in proptest::collection::vec(limits(), 1..5),
    ) {
        let levels = budgets_of(first, cost, &chain);
        // The time of the first one is not drawn.
        let first = Limits { seconds: None, ..first };
        for (number, level) in levels.iter().enumerate() {
            let below = levels[number..].iter().fold(Spending::default(), |sum, level| sum.saturating_add(level.made));
            // An agent that made no call left no budget to compare.
            let Some(budget) = &level.budget else { continue };
            prop_assert_eq!(budget.spent(), below, "level {}", number);
            let own = if number == 0 { first } else { chain[number - 1] };
            let is_within = |limit: Option<u32>, spent: u64| limit.is_none_or(|limit| spent <= limit.into());
            prop_assert!(is_within(own.steps, below.steps) && is_within(own.calls, below.calls), "{own:?}: {below:?}");
            // No turn begins at the limit, and the last one may exceed it.
            let is_begun_within = |limit: Option<u64>, spent: u64, turn: u64| limit.is_none_or(|limit| spent < limit + turn);
            prop_assert!(is_begun_within(own.tokens.map(u64::from), below.tokens, TURN.tokens), "{own:?}: {below:?}");
            let cost = cost.filter(|_| number == 0);
            prop_assert!(is_begun_within(cost, below.cost.nanos(), TURN.cost.nanos()), "{cost:?}: {below:?}");
            // The time of a sub-agent also ends with that of its call.
            let time = budget.limits().time;
            let is_in_time = |seconds: u32| time.is_some_and(|time| time <= Duration::from_secs(seconds.into()));
            prop_assert!(own.seconds.is_none_or(is_in_time), "{own:?}: {time:?}");
        }
        let is_ample = |limits: &Limits| {
            let of = |limit: Option<u32>, needed: usize| limit.is_none_or(|limit| limit as usize >= needed);
            of(limits.steps, 15) && of(limits.calls, 25) && of(limits.tokens, 151)
        };
        let is_unlimited = chain.iter().chain([&first]).all(is_ample) && cost.is_none_or(|cost| cost > 15 * TURN.cost.nanos());
        if is_unlimited {
            prop_assert_eq!(levels.len(), chain.len() + 1);
            prop_assert!(levels.iter().all(|level| level.made.steps == 3));
        }
    }
}

/// The limits of an agent, each of which it may not have.
#[derive(Clone, Copy, Debug)]
struct Limits {
    steps: Option<u32>,
    calls: Option<u32>,
    tokens: Option<u32>,
    seconds: Option<u32>,
}

fn limits() -> impl Strategy<Value = Limits> {
    use proptest::option::of;
    (
        of(1_u32..20),
        of(1_u32..30),
        of(1_u32..200),
        of(100_u32..200),
    )
        .prop_map(|(steps, calls, tokens, seconds)| Limits {
            steps,
            calls,
            tokens,
            seconds,
        })
}

/// The tokens of each turn, and their price.
const USAGE: Usage = Usage {
    input_tokens: 7,
    output_tokens: 3,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
};

/// The amounts of each turn without calls, at 2 and 5 nanos for a token.
const TURN: Spending = Spending {
    steps: 1,
    calls: 0,
    tokens: 10,
    cost: Cost::from_nanos(29),
};

/// An agent of a chain.
#[derive(Default)]
struct Level {
    /// The amounts of its own turns and calls.
    made: Spending,
    /// Its budget, as its calls have it.
    budget: Option<Budget>,
}

/// Runs a chain of sub-agents with these limits.
fn budgets_of(first: Limits, cost: Option<u64>, chain: &[Limits]) -> Vec<Level> {
    let levels = Arc::new(Mutex::new(Vec::<Level>::new()));
    let log = EventLog::default();
    let mut catalog = catalog();
    let seen = levels.clone();
    let look = move |cx: ToolContext, _: Value| {
        let number = cx.agent().map_or(0, |path| path.split('/').count());
        seen.lock().unwrap()[number].budget =
            cx.service::<Budget>().map(|budget| Budget::clone(&budget));
        async { "seen" }
    };
    catalog.register(tool("look"), look).unwrap();
    let (turns, limits) = (levels.clone(), chain.to_vec());
    let price = Price::new(Cost::from_nanos(2_000_000), Cost::from_nanos(5_000_000));
    let driver = agents_at(Some(price), move |task, number| {
        let level = task.parse::<usize>().unwrap();
        let mut turns = turns.lock().unwrap();
        let reached = turns.len().max(level + 1);
        turns.resize_with(reached, Level::default);
        turns[level].made = turns[level].made.saturating_add(TURN);
        let look = |id: &str| ToolCall::new(id, "look", json!({"number": number}));
        let next = limits.get(level).map(
            |Limits {
                 steps,
                 calls,
                 tokens,
                 seconds,
             }| {
                let budget =
                    json!({"steps": steps, "calls": calls, "tokens": tokens, "seconds": seconds});
                spawning(
                    "s",
                    json!({"name": "n", "task": (level + 1).to_string(), "budget": budget}),
                )
            },
        );
        let turn = match number {
            0 => Turn::calls([look("a"), look("b")].into_iter().chain(next)),
            1 => Turn::calls([look("c"), look("d")]),
            _ => Turn::answer("finished"),
        };
        Turn {
            usage: Some(USAGE),
            ..turn
        }
    });
    let mut own = BudgetLimits::default();
    (own.steps, own.calls) = (first.steps.map(u64::from), first.calls.map(u64::from));
    (own.tokens, own.cost) = (first.tokens.map(u64::from), cost.map(Cost::from_nanos));
    let driver = driver
        .with_options(RunOptions {
            limits: own,
            ..RunOptions::default()
        })
        .with_events(log.clone());
    let mut session = session(&catalog, context().with_service(SubAgents { max_depth: 8 }));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(driver.run(&mut session, "0")).unwrap();
    let mut levels = std::mem::take(&mut *levels.lock().unwrap());
    for event in log.events() {
        let (level, event) = match event {
            Event::SubAgent { agent, event, .. } => (agent.split('/').count(), *event),
            event => (0, event),
        };
        if matches!(&event, Event::Result { error, .. } if *error != Some(ErrorCode::Refused)) {
            levels[level].made.calls += 1;
        }
    }
    levels
}
