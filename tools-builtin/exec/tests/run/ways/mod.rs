//! Ways to get a command past a rule: each is refused or asked about. The tables name the public threads that some of them come from.

mod compound;
mod environment;
mod launcher;
mod quoting;
mod redirection;
mod run;
mod substitution;
mod syntax;
mod words;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tools::policy::{Rule, Verdict};
use tools::{Decision, ErrorCode, Policy};
use tools_testkit::{RecordingApprover, TempWorkspace, TestHost};

use crate::setup::{ALL, host, trial};

/// The commands that a person has allowed, and one folder to write.
const ALLOWED: &[&str] = &[
    "exec:write:git status **",
    "exec:write:npm test",
    "exec:write:cargo test **",
    "exec:write:ls **",
    "exec:write:echo **",
    "exec:write:cat **",
    "exec:write:grep **",
    "exec:write:cd *",
    "exec:write:true",
    "exec:write:find . -name *",
    "exec:write:printf **",
    "exec:write:test **",
    "fs:write:out/**",
];

const SCRIPTS: &[(&str, &[(&str, &str)])] = &[
    ("compound", compound::WAYS),
    ("environment", environment::WAYS),
    ("launcher", launcher::WAYS),
    ("quoting", quoting::WAYS),
    ("redirection", redirection::WAYS),
    ("substitution", substitution::WAYS),
    ("syntax", syntax::WAYS),
    ("words", words::WAYS),
];

/// Plain commands that the rules cover.
const PLAIN: &[&str] = &[
    "git status",
    "git status --short -- src",
    "npm test",
    "cargo test --workspace -- --nocapture",
    "git status && cargo test",
    "git status; ls -la\necho 'it'\\''s done' # a comment",
    "cd out && ls",
    "cat file | grep -v \"a b\" > out/b 2>/dev/null",
    "ls missing 2>&1 || echo none >> out/c",
    "find . -name '*.rs' | grep src",
    "test -f file && printf '%s\\n' yes",
    "grep -E '^(a|b)$' file < file",
    "git status '; touch pwned'",
    "echo '$(touch pwned)' '`id`' '*' '~' '{a,b}' \\$x",
    "git \\\n  status",
];

/// Judges a call by the whole pipeline. Returns true if it ran unasked, or tried to.
fn runs_unasked(
    host: &TestHost,
    approver: &RecordingApprover,
    tool: &str,
    arguments: Value,
) -> Result<bool, String> {
    let before = approver.requests().len();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let ended = runtime.block_on(host.call(tool, arguments));
    let is_asked = approver.requests().len() > before;
    match ended {
        Ok(_) if is_asked => Err("it ran although the answer was no".to_owned()),
        Err(error) if is_asked && error.code() != ErrorCode::Denied => {
            Err(format!("after the question: {error}"))
        }
        Ok(_) => Ok(true),
        Err(error) => Ok(!is_asked
            && !matches!(
                error.code(),
                ErrorCode::InvalidArguments | ErrorCode::PermissionDenied
            )),
    }
}

fn asking(workspace: &TempWorkspace) -> (TestHost, RecordingApprover) {
    let rules = ALLOWED
        .iter()
        .map(|clause| Rule::for_target(Verdict::Allow, clause.parse().unwrap()));
    let policy = Policy::by_effects().with_rules(rules);
    let approver = RecordingApprover::new(Decision::Deny {
        reason: "no".to_owned(),
    });
    (
        host(workspace, &ALL)
            .with_approver(approver.clone())
            .with_context(|cx| cx.with_policy(policy)),
        approver,
    )
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("no_way_past_a_rule_runs_unasked", || {
            let workspace = TempWorkspace::from_files([("file", "text"), ("src/a.rs", "")]);
            let (host, approver) = asking(&workspace);
            let scripts = SCRIPTS
                .iter()
                .flat_map(|(table, ways)| ways.iter().map(move |(_, script)| (*table, *script)));
            let shells = scripts.flat_map(|(table, script)| {
                ["bash", "sh"].map(|shell| {
                    (
                        format!("{table} {shell}"),
                        "exec.shell",
                        json!({"script": script, "shell": shell}),
                    )
                })
            });
            let programs = run::WAYS.iter().map(|(program, args, env)| {
                (
                    "run".to_owned(),
                    "exec.run",
                    json!({"program": program, "args": args, "env": env}),
                )
            });
            let variables = run::VARIABLES.iter().flat_map(|variable| {
                ["bash", "sh"].map(|shell| {
                    (
                        "run".to_owned(),
                        "exec.shell",
                        json!({"script": "git status", "shell": shell, "env": [variable]}),
                    )
                })
            });
            let mut unasked = Vec::new();
            for (table, tool, arguments) in shells.chain(programs).chain(variables) {
                match runs_unasked(&host, &approver, tool, arguments.clone()) {
                    Ok(false) => {}
                    other => unasked.push(format!("{table}: {arguments} {other:?}")),
                }
            }
            assert!(unasked.is_empty(), "{unasked:#?}");
            assert!(!workspace.join("pwned").exists());
            let count = SCRIPTS.iter().map(|(_, ways)| ways.len()).sum::<usize>()
                + run::WAYS.len()
                + run::VARIABLES.len();
            println!(
                "{count} ways, {} of them from public threads",
                SCRIPTS
                    .iter()
                    .flat_map(|(_, ways)| *ways)
                    .filter(|(source, _)| !source.is_empty())
                    .count()
            );
            assert!(count >= 200, "{count}");
        }),
        trial("plain_commands_run_unasked_by_the_same_rules", || {
            let workspace =
                TempWorkspace::from_files([("file", "text"), ("src/a.rs", ""), ("out/a", "")]);
            let (host, approver) = asking(&workspace);
            for script in PLAIN {
                for shell in ["bash", "sh"] {
                    let ended = runs_unasked(
                        &host,
                        &approver,
                        "exec.shell",
                        json!({"script": script, "shell": shell, "timeout": 20}),
                    );
                    assert_eq!(ended, Ok(true), "{script} {:?}", approver.requests().last());
                }
            }
            let ended = runs_unasked(
                &host,
                &approver,
                "exec.run",
                json!({"program": "git", "args": ["status"]}),
            );
            assert_eq!(ended, Ok(true));
        }),
    ]
}
