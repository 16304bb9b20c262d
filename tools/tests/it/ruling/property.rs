//! The laws of rulings, for any grant, policy and targets.

use std::sync::{Arc, LazyLock};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tools::policy::{Reason, Rule, Ruling, Verdict};
use tools::{Catalog, Clause, ErrorCode, Grant, Host, Policy, Target, ToolContext};

use super::{TOOL, touching};
use crate::sample::{Yes, echo, holding};

const VALUES: [&str; 6] = ["a", "src/a", "src/b", ".git/config", "toolcrib.toml", "."];
const HOSTS: [&str; 4] = ["a.org", "a.org:8080", "b.org", "[::1]:8080"];
const HOST_PATTERNS: [&str; 6] = [
    "**",
    "a.org",
    "a.org:*",
    "*.org",
    "*.org:8080",
    r"\[::1\]:*",
];
const PATTERNS: [&str; 9] = [
    "**",
    "*",
    "a",
    "src/**",
    "src/*",
    "src/a",
    ".git/**",
    "**/.git/**",
    "toolcrib.toml",
];

/// A grant by its layers, a policy by its rules, and the targets of a call of `fs.tool`.
#[derive(Clone, Debug)]
struct Case {
    layers: Vec<Vec<Clause>>,
    /// The default is by effects if true. `None` without a policy.
    policy: Option<(bool, Vec<Rule>)>,
    targets: Vec<Target>,
}

impl Case {
    fn context(&self) -> Host {
        let mut layers = self
            .layers
            .iter()
            .map(|clauses| Grant::new(clauses.iter().cloned()));
        let first = layers.next().unwrap();
        let cx = Host::new().with_grant(layers.fold(first, |grant, layer| grant.intersect(&layer)));
        match &self.policy {
            None => cx,
            Some((true, rules)) => cx.with_policy(Policy::by_effects().with_rules(rules.clone())),
            Some((false, rules)) => cx.with_policy(Policy::new().with_rules(rules.clone())),
        }
    }

    /// Returns the case without some clauses of one layer.
    fn without_clauses(&self, layer: &[Clause], taken: &[&Clause]) -> Self {
        let mut case = self.clone();
        for clauses in case
            .layers
            .iter_mut()
            .filter(|clauses| Grant::new(clauses.iter().cloned()).layers().next() == Some(layer))
        {
            clauses.retain(|clause| !taken.contains(&clause));
        }
        case
    }

    fn without_rules(&self, taken: &[&Rule]) -> Self {
        let mut case = self.clone();
        case.policy
            .iter_mut()
            .for_each(|(_, rules)| rules.retain(|rule| !taken.contains(&rule)));
        case
    }
}

fn clause() -> impl Strategy<Value = Clause> {
    let access = || select(vec!["read", "write", "destroy", "*"]);
    let clause = |(scheme, access, pattern): (&str, &str, &str)| {
        format!("{scheme}:{access}:{pattern}").parse().unwrap()
    };
    prop_oneof![
        2 => (select(vec!["fs", "fs", "*"]), access(), select(PATTERNS.to_vec())).prop_map(clause),
        1 => (select(vec!["net", "net", "*"]), access(), select(HOST_PATTERNS.to_vec())).prop_map(clause),
    ]
}

/// Selects from rules that are compiled once.
fn rule() -> impl Strategy<Value = Rule> {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let mut rules = Vec::new();
        for verdict in [Verdict::Allow, Verdict::Allow, Verdict::Ask, Verdict::Deny] {
            for names in [None, Some("fs.*"), Some("fs.tool"), Some("other")] {
                rules.extend(names.map(|names| Rule::new(verdict, Some(names), None).unwrap()));
                for access in ["read", "write", "destroy", "*"] {
                    let clauses = PATTERNS
                        .iter()
                        .map(|pattern| format!("fs:{access}:{pattern}").parse().unwrap());
                    let hosts = HOST_PATTERNS
                        .iter()
                        .map(|pattern| format!("net:{access}:{pattern}").parse().unwrap());
                    rules.extend(
                        clauses
                            .chain(hosts)
                            .map(|clause| Rule::new(verdict, names, Some(clause)).unwrap()),
                    );
                }
            }
        }
        rules
    });
    (0..RULES.len()).prop_map(|index| RULES[index].clone())
}

fn target() -> impl Strategy<Value = Target> {
    let path = (
        select(vec!["read", "write", "destroy"]),
        select(VALUES.to_vec()),
    );
    let host = (
        select(vec!["read", "read", "write"]),
        select(HOSTS.to_vec()),
    );
    prop_oneof![
        2 => path.prop_map(|(access, value)| format!("fs:{access}:{value}").parse().unwrap()),
        1 => host.prop_map(|(access, value)| format!("net:{access}:{value}").parse().unwrap()),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let layers = vec(vec(clause(), 0..5), 1..3);
    let policy = prop::option::weighted(0.8, (any::<bool>(), vec(rule(), 0..5)));
    (layers, policy, vec(target(), 0..3)).prop_map(|(layers, policy, mut targets)| {
        targets.sort();
        targets.dedup();
        Case {
            layers,
            policy,
            targets,
        }
    })
}

fn call_verdict(rulings: &[Ruling<'_>]) -> Verdict {
    rulings.iter().map(|ruling| ruling.verdict).max().unwrap()
}

/// Checks that taking away what a ruling names changes it as documented.
fn check(case: &Case, cx: &ToolContext, at: usize, ruling: &Ruling<'_>, verdict: Verdict) {
    let changed = |case: &Case, expected: &dyn Fn(&Ruling<'_>) -> bool| {
        let cx = case.context();
        let rulings: Vec<_> = cx.rulings(&*TOOL, &case.targets).collect();
        assert!(
            expected(&rulings[at]),
            "{ruling} became {} by {case:?}",
            rulings[at]
        );
        call_verdict(&rulings)
    };
    let reasons = ruling.reasons();
    let granting = reasons
        .iter()
        .filter(|reason| matches!(reason, Reason::Granted(_)));
    for (layer, reason) in cx.grant().layers().zip(granting) {
        let Reason::Granted(clauses) = reason else {
            unreachable!()
        };
        let now = changed(&case.without_clauses(layer, clauses), &|now| {
            now.verdict == Verdict::Ask
        });
        assert!(
            verdict != Verdict::Allow || now == Verdict::Ask,
            "the answer about the call changes too"
        );
    }
    for reason in &reasons {
        let others: Vec<_> = reasons
            .iter()
            .filter(|other| *other != reason)
            .cloned()
            .collect();
        match reason {
            Reason::Rules(rules) => {
                let without = case.without_rules(rules);
                let now = match ruling.verdict {
                    Verdict::Deny => changed(&without, &|now| now.verdict < Verdict::Deny),
                    Verdict::Ask if others.is_empty() => {
                        changed(&without, &|now| now.verdict == Verdict::Allow)
                    }
                    Verdict::Ask => changed(&without, &|now| now.reasons() == others),
                    Verdict::Allow if ruling.target.is_none() => {
                        changed(&without, &|now| now.reasons() == [Reason::Untouched])
                    }
                    Verdict::Allow => changed(&without, &|now| now.verdict == Verdict::Ask),
                };
                let was_allowed = verdict == Verdict::Allow && ruling.target.is_some();
                assert!(
                    !was_allowed || now == Verdict::Ask,
                    "the answer about the call changes too"
                );
            }
            Reason::Ungranted => {
                let mut with = case.clone();
                with.layers
                    .iter_mut()
                    .for_each(|layer| layer.extend(ruling.target.map(Target::to_clause)));
                changed(&with, &|now| !now.reasons().contains(&Reason::Ungranted));
            }
            Reason::Default(_) => {
                let mut with = case.clone();
                let allow = ruling
                    .target
                    .map(|target| Rule::for_target(Verdict::Allow, target.to_clause()));
                with.policy.as_mut().unwrap().1.extend(allow);
                changed(&with, &|now| !now.reasons().contains(reason));
            }
            Reason::UnnamedHost => {
                let mut with = case.clone();
                with.layers
                    .iter_mut()
                    .for_each(|layer| layer.extend(ruling.target.map(Target::to_clause)));
                let is_left = |now: &Ruling<'_>| {
                    let expected = |reason: &&Reason<'_>| {
                        !matches!(reason, Reason::UnnamedHost | Reason::Ungranted)
                    };
                    let expected: Vec<_> = reasons.iter().filter(expected).cloned().collect();
                    if expected.is_empty() {
                        now.verdict == Verdict::Allow
                    } else {
                        now.reasons() == expected
                    }
                };
                changed(&with, &is_left);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn taking_away_what_a_ruling_names_changes_it(case in case()) {
        let cx = case.context();
        let rulings: Vec<_> = cx.rulings(&*TOOL, &case.targets).collect();
        prop_assert_eq!(rulings.len(), case.targets.len().max(1));
        let verdict = call_verdict(&rulings);
        for (at, ruling) in rulings.iter().enumerate() {
            prop_assert!(!ruling.reasons().is_empty());
            check(&case, &cx, at, ruling, verdict);
        }
    }
}

#[test]
fn a_call_ends_as_its_rulings_say() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let config = ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(case in case())| {
        let catalog = holding(touching(&case.targets), echo);
        let cx = case.context();
        let rulings: Vec<_> = cx.rulings(&*TOOL, &case.targets).collect();
        let asked: Vec<_> = rulings.iter().filter(|ruling| ruling.verdict == Verdict::Ask).collect();
        let outcome = runtime.block_on(catalog.execute(&cx, "fs.tool", json!({})));
        match (call_verdict(&rulings), &outcome) {
            (Verdict::Allow, Ok(_)) => {}
            (Verdict::Ask, Err(error)) => {
                prop_assert!(matches!(error.code(), ErrorCode::PermissionDenied | ErrorCode::Unapproved), "{}", error);
            }
            (Verdict::Deny, Err(error)) => prop_assert_eq!(error.code(), ErrorCode::Denied),
            (verdict, outcome) => prop_assert!(false, "{verdict}: {outcome:?}"),
        }
        let approver = Arc::new(Yes::default());
        let outcome = runtime.block_on(catalog.execute(&cx.clone().with_approver(approver.clone()), "fs.tool", json!({})));
        prop_assert_eq!(outcome.is_ok(), call_verdict(&rulings) < Verdict::Deny);
        let targets: Vec<_> = asked.iter().filter_map(|ruling| ruling.target.map(ToString::to_string)).collect();
        let questions = if call_verdict(&rulings) == Verdict::Ask { vec![targets.join(" ")] } else { vec![] };
        prop_assert_eq!(approver.asked(), questions);
    });
}

/// A tool that discovers all targets of a case, which its effects do not name.
fn discovering(targets: &[Target]) -> Catalog {
    let targets = targets.to_vec();
    let discover = move |cx: ToolContext, _: Value| {
        let found = targets
            .iter()
            .try_for_each(|target| cx.require(target.access(), target.scheme(), target.value()));
        async move { found }
    };
    holding(touching(&[]), discover)
}

#[test]
fn discovered_targets_are_decided_by_the_same_rulings() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let config = ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(case in case(), target in target())| {
        let cx = case.context();
        prop_assume!(cx.rulings(&*TOOL, &[]).all(|ruling| ruling.verdict == Verdict::Allow));
        let targets = [target];
        let ruling = cx.rulings(&*TOOL, &targets).next().unwrap();
        let outcome = runtime.block_on(discovering(&targets).execute(&cx, "fs.tool", json!({})));
        let expected = match ruling.verdict {
            Verdict::Allow => None,
            Verdict::Ask if ruling.reasons().contains(&Reason::Ungranted) => Some(ErrorCode::PermissionDenied),
            Verdict::Ask => Some(ErrorCode::Unapproved),
            Verdict::Deny => Some(ErrorCode::Denied),
        };
        prop_assert_eq!(outcome.err().map(|error| error.code()), expected, "{}", ruling);
    });
}
