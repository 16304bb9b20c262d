//! The share of daily work that a person is asked about: the `run:` lines of public CI workflows, judged by the whole pipeline.
//!
//! `scripts.json` has them with the package, its version, and the name of the workflow, from packages on crates.io, PyPI and the npm
//! registry that contain their workflows. What the CI replaces before a shell sees it, `${{ … }}`, is the word `value`.

use std::collections::BTreeMap;
use std::sync::Arc;

use libtest_mimic::Trial;
use serde_json::json;
use tools::layer::{Layer, Next};
use tools::policy::{Rule, Verdict};
use tools::{Decision, HandlerFuture, Policy, ToolContext, ToolResult};
use tools_testkit::{RecordingApprover, TempWorkspace};

use crate::setup::{ALL, host, trial};

const SCRIPTS: &str = include_str!("scripts.json");

/// The rules of a person who works on projects in Rust, Python and JavaScript.
const ALLOWED: &[&str] = &[
    "exec:write:cargo **",
    "exec:write:cross **",
    "exec:write:rustc **",
    "exec:write:rustup **",
    "exec:write:python **",
    "exec:write:python3 **",
    "exec:write:pip **",
    "exec:write:pytest **",
    "exec:write:tox **",
    "exec:write:npm **",
    "exec:write:node **",
    "exec:write:make **",
    "exec:write:just **",
    "exec:write:git add **",
    "exec:write:git commit **",
    "exec:write:git diff **",
    "exec:write:git fetch **",
    "exec:write:git log **",
    "exec:write:git show **",
    "exec:write:git status **",
    "exec:write:cat **",
    "exec:write:cd **",
    "exec:write:cp **",
    "exec:write:diff **",
    "exec:write:echo **",
    "exec:write:exit *",
    "exec:write:grep **",
    "exec:write:head **",
    "exec:write:jq **",
    "exec:write:ls **",
    "exec:write:mkdir **",
    "exec:write:mv **",
    "exec:write:printf **",
    "exec:write:pwd",
    "exec:write:rm **",
    "exec:write:set **",
    "exec:write:sort **",
    "exec:write:tail **",
    "exec:write:tee **",
    "exec:write:test **",
    "exec:write:touch **",
    "exec:write:true",
    "exec:write:uniq **",
    "exec:write:wc **",
    "fs:write:**",
];

/// Answers calls that were authorised, without running them.
struct Answer;

impl Layer for Answer {
    fn call<'a>(&'a self, _: ToolContext, _: Next<'a>) -> HandlerFuture<'a> {
        HandlerFuture::ready(Ok(ToolResult::text("authorised")))
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial(
        "most_scripts_of_public_workflows_run_unasked",
        || {
            let scripts: Vec<(String, String)> = serde_json::from_str(SCRIPTS).unwrap();
            let workspace = TempWorkspace::new();
            let rules = ALLOWED
                .iter()
                .map(|clause| Rule::for_target(Verdict::Allow, clause.parse().unwrap()));
            let policy = Policy::by_effects().with_rules(rules);
            let approver = RecordingApprover::new(Decision::Deny {
                reason: "no".to_owned(),
            });
            let host = host(&workspace, &ALL).with_approver(approver.clone());
            let host = host.with_context(|cx| cx.with_policy(policy).with_layer(Arc::new(Answer)));
            let (mut unasked, mut opaque, mut others) = (0, 0, 0);
            let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
            for (source, script) in &scripts {
                let before = approver.requests().len();
                let ended = host.call_blocking("exec.shell", json!({"script": script}));
                let requests = approver.requests();
                let Some(request) = requests.get(before) else {
                    assert!(ended.is_ok(), "{source} {script:?} {ended:?}");
                    unasked += 1;
                    continue;
                };
                let preview = request
                    .preview
                    .as_ref()
                    .unwrap()
                    .as_ref()
                    .unwrap()
                    .text()
                    .to_owned();
                let because: Vec<&str> = preview
                    .lines()
                    .filter_map(|line| line.strip_prefix("asked about, because "))
                    .collect();
                opaque += usize::from(!because.is_empty());
                others += usize::from(because.is_empty());
                if let Some(what) = because
                    .first()
                    .and_then(|reason| reason.split_once(" has ")?.1.split(':').next())
                {
                    *reasons.entry(what.to_owned()).or_default() += 1;
                }
            }
            let all = scripts.len();
            let share =
                |count: usize| format!("{count} ({:.1} %)", 100.0 * count as f64 / all as f64);
            println!(
                "{all} scripts; unasked {}; asked about {}",
                share(unasked),
                share(all - unasked)
            );
            println!(
                "opaque {}; transparent, with a command without a rule {}",
                share(opaque),
                share(others)
            );
            println!("{reasons:#?}");
            assert!(all > 500 && unasked * 100 > all * 69, "{unasked} of {all}");
            assert!(opaque * 100 > all * 5, "{opaque} of {all} are opaque");
        },
    )]
}
