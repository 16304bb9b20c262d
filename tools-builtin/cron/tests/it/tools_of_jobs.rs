//! The tools, through the whole pipeline.

use serde_json::json;
use tools::context::Exposure;
use tools::policy::{Rule, SensitivePath, SensitivePaths, Sensitivity};
use tools::{Catalog, Decision, Policy, RegisterError, Secret, ToolErrorKind, tool};
use tools_cron::{JobSpec, Jobs, Work};
use tools_testkit::{HouseRules, RecordingApprover, TestHost};

use crate::fixture::{cron, hourly, opened, replace_in_specs, spec, time};

fn host() -> TestHost {
    let mut jobs = Jobs::in_memory("here").unwrap();
    jobs.zone = "Europe/Berlin".to_owned();
    TestHost::new(tools_cron::register).with_service(jobs)
}

fn jobs(host: &TestHost) -> std::sync::Arc<Jobs> {
    host.context().service::<Jobs>().unwrap()
}

#[test]
fn the_tools_keep_the_house_rules() {
    HouseRules::new().assert(tools_cron::register);
}

#[tokio::test]
async fn a_job_keeps_the_grant_under_which_it_was_made() {
    let host = host().with_grant(&["cron:*:**", "fs:read:src/**"]);
    host.call("cron.add", json!({"cron": "0 9 * * *", "prompt": "look"}))
        .await
        .unwrap();
    let kept = jobs(&host).list().await.unwrap().remove(0).unwrap();
    assert_eq!(kept.spec.grant, *host.context().grant());
    assert_eq!(
        (kept.spec.zone.as_str(), &kept.spec.work),
        ("Europe/Berlin", &Work::Prompt("look".to_owned()))
    );
}

#[tokio::test]
async fn making_and_removing_a_job_always_ask_and_the_question_shows_three_runs_and_the_grant() {
    let approver = RecordingApprover::new(Decision::Allow);
    let host = host()
        .with_context(|cx| cx.with_policy(Policy::by_effects()))
        .with_approver(approver.clone());
    for _ in 0..2 {
        let job = json!({"at": "2031-01-01T00:00", "prompt": "look"});
        host.call("cron.add", job).await.unwrap();
    }
    host.call(
        "cron.add",
        json!({"cron": "30 2 30 3 *", "tool": "cron.list", "delivery": "at_least_once"}),
    )
    .await
    .unwrap();
    host.call("cron.remove", json!({"id": 1})).await.unwrap();
    let requests = approver.requests();
    let asked: Vec<_> = requests
        .iter()
        .flat_map(|request| &request.targets)
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        asked,
        [
            "cron:write:prompt",
            "cron:write:prompt",
            "cron:write:call/cron.list",
            "cron:destroy:1"
        ]
    );
    let preview = requests[2]
        .preview
        .as_ref()
        .unwrap()
        .as_ref()
        .unwrap()
        .text()
        .to_owned();
    assert_eq!(
        preview.matches("-03-30 02:30:00 +0").count(),
        3,
        "{preview}"
    );
    for part in [
        "call: cron.list {}",
        "may: *:*:**",
        "cut off: repeated",
        "missed runs: left out",
    ] {
        assert!(preview.contains(part), "{preview}");
    }
    assert_eq!(jobs(&host).list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn the_question_shows_a_long_grant_whole_on_lines_that_a_terminal_does_not_cut() {
    let approver = RecordingApprover::new(Decision::Allow);
    let clauses: Vec<_> = (10..50)
        .map(|number| format!("fs:write:folder-{number}/**"))
        .collect();
    let granted: Vec<_> = clauses
        .iter()
        .map(String::as_str)
        .chain(["cron:write:**"])
        .collect();
    let host = host().with_grant(&granted);
    let host = host
        .with_context(|cx| cx.with_policy(Policy::by_effects()))
        .with_approver(approver.clone());
    host.call("cron.add", json!({"every": 60, "prompt": "look"}))
        .await
        .unwrap();
    let preview = approver.requests()[0]
        .preview
        .as_ref()
        .unwrap()
        .as_ref()
        .unwrap()
        .text()
        .to_owned();
    assert!(
        preview.lines().count() <= 20 && preview.lines().all(|line| line.chars().count() <= 160),
        "{preview}"
    );
    assert!(
        preview.contains("may (41 clauses): cron:write:** or "),
        "{preview}"
    );
    assert!(
        clauses.iter().all(|clause| preview.contains(clause)),
        "{preview}"
    );
}

#[tokio::test]
async fn a_mistake_is_answered_with_the_next_step() {
    let host = host();
    for (arguments, part) in [
        (
            json!({"prompt": "look"}),
            "give one of `cron`, `every` and `at`",
        ),
        (
            json!({"cron": "* * * * *", "every": 60, "prompt": "look"}),
            "only one of `cron`, `every` and `at`",
        ),
        (json!({"every": 60}), "give one of `prompt` and `tool`"),
        (
            json!({"every": 60, "prompt": "look", "tool": "cron.list"}),
            "only one of `prompt` and `tool`",
        ),
        (
            json!({"every": 60, "prompt": "look", "arguments": {"a": 1}}),
            "belong to a tool",
        ),
        (json!({"every": 60, "prompt": " "}), "write the task"),
        (
            json!({"every": 59, "prompt": "look"}),
            "shortest one is 60 s",
        ),
        (
            json!({"every": 4_294_967_296_u64, "prompt": "look"}),
            "31622400",
        ),
        (json!({"every": 60, "tool": "cron.lst"}), "cron.list"),
        (
            json!({"every": 60, "tool": "cron.remove", "arguments": {"id": "x"}}),
            "id",
        ),
        (
            json!({"cron": "0 25 * * *", "prompt": "look"}),
            "hour (0-23)",
        ),
        (
            json!({"cron": "0 9 * * *", "zone": "Berlin", "prompt": "look"}),
            "Europe/Berlin",
        ),
        (
            json!({"at": "tomorrow", "prompt": "look"}),
            "write `2026-12-24T09:00`",
        ),
        (
            json!({"at": "2020-01-01T00:00", "prompt": "look"}),
            "in the future",
        ),
    ] {
        let error = host
            .call("cron.add", arguments.clone())
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{arguments}: {error}");
    }
    let error = host
        .call("cron.remove", json!({"id": 7}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("no job is kept"), "{error}");
}

#[tokio::test]
async fn a_call_beyond_the_grant_is_refused_when_the_job_is_made() {
    let host = host().with_grant(&["cron:write:**"]);
    let call = json!({"every": 60, "tool": "cron.remove", "arguments": {"id": 1}});
    let error = host.call("cron.add", call).await.unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::ExecutionFailed { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("no grant for cron:destroy:1"),
        "{error}"
    );
}

/// Opens a door.
#[tool(name = "door.open", pure)]
fn open(
    /// The word that opens it.
    word: Option<Secret>,
) -> &'static str {
    if word.is_some() { "open" } else { "closed" }
}

/// Calls another tool.
#[tool(name = "tools.call", pure)]
fn call(
    /// The name of the tool.
    name: String,
) -> String {
    name
}

fn register_more(catalog: &mut Catalog) -> Result<(), RegisterError> {
    tools_cron::register(catalog)?;
    catalog.submit(&[&OPEN_TOOL, &CALL_TOOL])
}

#[tokio::test]
async fn a_job_names_its_tool_itself_and_keeps_no_secret() {
    let approver = RecordingApprover::new(Decision::Allow);
    let host = TestHost::new(register_more).with_service(Jobs::in_memory("here").unwrap());
    let host = host
        .with_context(|cx| cx.with_policy(Policy::by_effects()))
        .with_approver(approver.clone());
    let nested = json!({"every": 60, "tool": "door.open", "arguments": {"word": "sesame"}});
    for (tool, arguments, part) in [
        (
            "tools.call",
            json!({"name": "cron.list"}),
            "name that tool itself",
        ),
        (
            "door.open",
            json!({"word": "sesame"}),
            "a job cannot keep a secret",
        ),
        ("cron.add", nested, "a job cannot keep a secret"),
    ] {
        let job = json!({"every": 60, "tool": tool, "arguments": arguments});
        let error = host.call("cron.add", job).await.unwrap_err().to_string();
        assert!(error.contains(part) && !error.contains("sesame"), "{error}");
    }
    assert!(jobs(&host).list().await.unwrap().is_empty());
    host.call("cron.add", json!({"every": 60, "tool": "door.open"}))
        .await
        .unwrap();
    let asked: Vec<_> = approver
        .requests()
        .iter()
        .map(|request| format!("{} {request:?}", request.arguments))
        .collect();
    assert_eq!(asked.len(), 4);
    assert!(
        asked.iter().all(|asked| !asked.contains("sesame")),
        "{asked:#?}"
    );
    assert!(
        asked[1].contains(r#"call: door.open {\"word\":\"[secret]\"}"#),
        "{}",
        asked[1]
    );
}

#[tokio::test]
async fn the_list_shows_next_and_last_runs_and_hides_no_control_characters() {
    let host = host();
    assert_eq!(
        host.call("cron.list", json!({})).await.unwrap().to_text(),
        "[no jobs]"
    );
    let added = host
        .call(
            "cron.add",
            json!({"at": "2031-07-01T12:00", "prompt": "a\u{1b}[2J\nb"}),
        )
        .await
        .unwrap();
    assert_eq!(
        added.to_text(),
        "job 1: once, next run Tue 2031-07-01 12:00:00 +02:00"
    );
    host.call(
        "cron.add",
        json!({"at": "2031-07-01T12:00Z", "zone": "utc", "tool": "cron.list"}),
    )
    .await
    .unwrap();
    let listed = host.call("cron.list", json!({})).await.unwrap().to_text();
    let [first, second] = listed.lines().collect::<Vec<_>>()[..] else {
        panic!("{listed}")
    };
    assert!(
        first.contains("prompt: a") && !first.contains('\u{1b}'),
        "{first}"
    );
    assert_eq!(
        second,
        "2: once (UTC), next run Tue 2031-07-01 12:00:00 +00:00; call: cron.list {}"
    );
}

#[tokio::test]
async fn a_job_keeps_the_principal_of_its_session_and_whether_it_had_read_outside_text() {
    for is_exposed in [false, true] {
        let host = host()
            .with_service(Exposure::new())
            .with_context(|cx| cx.with_principal("box/ann"));
        if is_exposed {
            host.context().record_exposure();
        }
        host.call("cron.add", json!({"every": 60, "prompt": "look"}))
            .await
            .unwrap();
        let kept = jobs(&host).list().await.unwrap().remove(0).unwrap();
        assert_eq!(
            (kept.spec.principal.as_deref(), kept.spec.exposed),
            (Some("box/ann"), is_exposed)
        );
    }
}

#[tokio::test]
async fn a_list_with_a_job_that_a_stranger_may_have_dictated_is_text_from_outside() {
    for (exposed, is_readable) in [(false, true), (true, true), (false, false)] {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        kept.add(
            JobSpec {
                exposed,
                ..hourly()
            },
            time("2026-11-24T10:10:00Z"),
        )
        .await
        .unwrap();
        if !is_readable {
            replace_in_specs(folder.path(), "prompt", "dance");
        }
        let host = TestHost::new(tools_cron::register)
            .with_service(kept)
            .with_service(Exposure::new());
        host.call("cron.list", json!({})).await.unwrap();
        assert_eq!(
            host.context().is_exposed(),
            exposed || !is_readable,
            "{exposed} {is_readable}"
        );
    }
}

#[tokio::test]
async fn the_list_names_a_job_that_cannot_be_read_among_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cron.sqlite");
    let host = TestHost::new(tools_cron::register).with_service(Jobs::new(&file, "here"));
    for _ in 0..2 {
        host.call(
            "cron.add",
            json!({"at": "2031-01-01T00:00", "prompt": "look"}),
        )
        .await
        .unwrap();
    }
    let store = rusqlite::Connection::open(&file).unwrap();
    store
        .execute(
            "UPDATE job SET spec = replace(spec, 'once', 'twice\u{1b}') WHERE id = 1",
            [],
        )
        .unwrap();
    let listed = host.call("cron.list", json!({})).await.unwrap().to_text();
    let [first, second] = listed.lines().collect::<Vec<_>>()[..] else {
        panic!("{listed}")
    };
    assert!(
        first.starts_with("1: unreadable; ") && !first.contains('\u{1b}'),
        "{first}"
    );
    assert!(second.starts_with("2: once (UTC), next run "), "{second}");
    host.call("cron.remove", json!({"id": 1})).await.unwrap();
}

#[tokio::test]
async fn a_time_is_in_the_zone_in_its_brackets() {
    let host = host();
    for (at, zone, expected) in [
        (
            "2031-03-01T09:00[America/New_York]",
            None,
            "Sat 2031-03-01 09:00:00 -05:00",
        ),
        (
            "2031-03-01T09:00[america/new_york]",
            Some("America/New_York"),
            "Sat 2031-03-01 09:00:00 -05:00",
        ),
        (
            "2031-03-01T09:00-05:00[America/New_York]",
            None,
            "Sat 2031-03-01 09:00:00 -05:00",
        ),
        (
            "2031-03-01T14:00Z[America/New_York]",
            None,
            "Sat 2031-03-01 09:00:00 -05:00",
        ),
        (
            "2031-03-01T09:00[-05:00]",
            None,
            "Sat 2031-03-01 15:00:00 +01:00",
        ),
        (
            "2031-03-01T09:00-05:00",
            Some("America/New_York"),
            "Sat 2031-03-01 09:00:00 -05:00",
        ),
        ("2031-03-01", None, "Sat 2031-03-01 00:00:00 +01:00"),
        // The second time of the fold, and the end of the gap.
        (
            "2031-10-26T02:30+01:00[Europe/Berlin]",
            None,
            "Sun 2031-10-26 02:30:00 +01:00",
        ),
        (
            "2031-03-30T02:30[Europe/Berlin]",
            Some("Europe/Berlin"),
            "Sun 2031-03-30 03:00:00 +02:00",
        ),
    ] {
        let made = host
            .call(
                "cron.add",
                json!({"at": at, "zone": zone, "prompt": "look"}),
            )
            .await
            .unwrap()
            .to_text();
        assert!(made.ends_with(expected), "{at} {zone:?}: {made}");
    }
    for (at, zone, part) in [
        (
            "2031-03-01T09:00[America/New_York]",
            Some("Europe/Berlin"),
            "names the zone America/New_York, and `zone` is Europe/Berlin",
        ),
        (
            "2031-03-01T09:00+01:00[America/New_York]",
            None,
            "where it is -05",
        ),
        ("2031-03-01T09:00+01:00[+02:00]", None, "where it is +02"),
        (
            "2031-03-30T02:30+01:00[Europe/Berlin]",
            None,
            "where it is +02",
        ),
        (
            "2031-03-01T09:00[Mars/Base]",
            None,
            "no time zone \"Mars/Base\"",
        ),
    ] {
        let error = host
            .call(
                "cron.add",
                json!({"at": at, "zone": zone, "prompt": "look"}),
            )
            .await
            .unwrap_err();
        assert!(error.to_string().contains(part), "{at} {zone:?}: {error}");
    }
}

#[tokio::test]
async fn a_job_keeps_the_rules_and_the_sensitive_paths_of_its_session_but_no_consent() {
    let rule = |json: serde_json::Value| serde_json::from_value::<Rule>(json).unwrap();
    let deny = rule(json!({"verdict": "deny", "target": "fs:write:a.txt", "reason": "it is mine"}));
    let ask = rule(json!({"verdict": "ask", "tool": "fs.*"}));
    let allow = rule(json!({"verdict": "allow", "target": "cron:write:**"}));
    let path = SensitivePath::new("/deploy", Sensitivity::Settings, "a file of the host").unwrap();
    let policy = Policy::by_effects().with_rules([deny.clone(), ask.clone(), allow]);
    let paths = SensitivePaths::default().with_paths([path.clone()]);
    let host = host().with_context(|cx| cx.with_policy(policy).with_sensitive_paths(paths));
    host.call("cron.add", json!({"every": 60, "prompt": "look"}))
        .await
        .unwrap();
    let kept = jobs(&host).list().await.unwrap().remove(0).unwrap();
    assert_eq!(
        (kept.spec.rules, kept.spec.paths),
        (vec![deny, ask], vec![path])
    );
}

#[tokio::test]
async fn a_call_that_a_rule_would_refuse_each_time_makes_no_job() {
    for verdict in ["ask", "deny"] {
        let rule: Rule =
            serde_json::from_value(json!({"verdict": verdict, "target": "cron:read:**"})).unwrap();
        let host = host().with_context(|cx| cx.with_policy(Policy::new().with_rules([rule])));
        let error = host
            .call("cron.add", json!({"every": 60, "tool": "cron.list"}))
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("a rule of this session denies cron:read:jobs or asks about it"),
            "{error}"
        );
    }
}

#[test]
fn a_job_of_an_earlier_version_counts_as_exposed() {
    let made = JobSpec {
        principal: None,
        exposed: false,
        ..spec(cron("0 9 * * *"), "UTC")
    };
    let mut stored = serde_json::to_value(&made).unwrap();
    assert_eq!(
        serde_json::from_value::<JobSpec>(stored.clone()).unwrap(),
        made
    );
    stored
        .as_object_mut()
        .unwrap()
        .retain(|key, _| !["principal", "exposed"].contains(&&**key));
    assert!(serde_json::from_value::<JobSpec>(stored).unwrap().exposed);
}
