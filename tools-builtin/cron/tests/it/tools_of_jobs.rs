//! The tools, through the whole pipeline.

use serde_json::json;
use tools::{Decision, Exposure, Policy, ToolErrorKind};
use tools_cron::{JobSpec, Jobs, Work};
use tools_testkit::{HouseRules, RecordingApprover, TestHost};

use crate::fixture::{cron, spec};

fn host() -> TestHost {
    TestHost::new(tools_cron::register).with_service(Jobs::in_memory("here").unwrap().with_zone("Europe/Berlin"))
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
    host.call("cron.add", json!({"cron": "0 9 * * *", "prompt": "look"})).await.unwrap();
    let kept = jobs(&host).list().await.unwrap().remove(0);
    assert_eq!(kept.spec.grant, *host.context().grant());
    assert_eq!((kept.spec.zone.as_str(), &kept.spec.work), ("Europe/Berlin", &Work::Prompt("look".to_owned())));
}

#[tokio::test]
async fn making_and_removing_a_job_always_ask_and_the_question_shows_three_runs_and_the_grant() {
    let approver = RecordingApprover::new(Decision::Allow);
    let host = host().with_context(|cx| cx.with_policy(Policy::by_effects())).with_approver(approver.clone());
    for _ in 0..2 {
        let job = json!({"at": "2031-01-01T00:00", "prompt": "look"});
        host.call("cron.add", job).await.unwrap();
    }
    host.call("cron.add", json!({"cron": "30 2 30 3 *", "tool": "cron.list", "delivery": "at_least_once"}))
        .await
        .unwrap();
    host.call("cron.remove", json!({"id": 1})).await.unwrap();
    let requests = approver.requests();
    let asked: Vec<_> = requests.iter().flat_map(|request| &request.targets).map(ToString::to_string).collect();
    assert_eq!(asked, ["cron:write:prompt", "cron:write:prompt", "cron:write:call/cron.list", "cron:destroy:1"]);
    let preview = requests[2].preview.as_ref().unwrap().as_ref().unwrap().text().to_owned();
    assert_eq!(preview.matches("-03-30 02:30:00 +0").count(), 3, "{preview}");
    for part in ["call: cron.list {}", "may: *:*:**", "cut off: repeated", "missed runs: left out"] {
        assert!(preview.contains(part), "{preview}");
    }
    assert_eq!(jobs(&host).list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_mistake_is_answered_with_the_next_step() {
    let host = host();
    for (arguments, part) in [
        (json!({"prompt": "look"}), "give one of `cron`, `every` and `at`"),
        (json!({"cron": "* * * * *", "every": 60, "prompt": "look"}), "only one of `cron`, `every` and `at`"),
        (json!({"every": 60}), "give one of `prompt` and `tool`"),
        (json!({"every": 60, "prompt": "look", "tool": "cron.list"}), "only one of `prompt` and `tool`"),
        (json!({"every": 60, "prompt": "look", "arguments": {"a": 1}}), "belong to a tool"),
        (json!({"every": 60, "prompt": " "}), "write the task"),
        (json!({"every": 59, "prompt": "look"}), "shortest one is 60 s"),
        (json!({"every": 60, "tool": "cron.lst"}), "cron.list"),
        (json!({"every": 60, "tool": "cron.remove", "arguments": {"id": "x"}}), "id"),
        (json!({"cron": "0 25 * * *", "prompt": "look"}), "hour (0-23)"),
        (json!({"cron": "0 9 * * *", "zone": "Berlin", "prompt": "look"}), "Europe/Berlin"),
        (json!({"at": "tomorrow", "prompt": "look"}), "write `2026-12-24T09:00`"),
        (json!({"at": "2020-01-01T00:00", "prompt": "look"}), "in the future"),
    ] {
        let error = host.call("cron.add", arguments.clone()).await.unwrap_err().to_string();
        assert!(error.contains(part), "{arguments}: {error}");
    }
    let error = host.call("cron.remove", json!({"id": 7})).await.unwrap_err().to_string();
    assert!(error.contains("no job is kept"), "{error}");
}

#[tokio::test]
async fn a_call_beyond_the_grant_is_refused_when_the_job_is_made() {
    let host = host().with_grant(&["cron:write:**"]);
    let call = json!({"every": 60, "tool": "cron.remove", "arguments": {"id": 1}});
    let error = host.call("cron.add", call).await.unwrap_err();
    assert!(matches!(error.kind(), ToolErrorKind::ExecutionFailed { .. }), "{error}");
    assert!(error.to_string().contains("no grant for cron:destroy:1"), "{error}");
}

#[tokio::test]
async fn the_list_shows_next_and_last_runs_and_hides_no_control_characters() {
    let host = host();
    assert_eq!(host.call("cron.list", json!({})).await.unwrap().to_text(), "[no jobs]");
    let added = host.call("cron.add", json!({"at": "2031-07-01T12:00", "prompt": "a\u{1b}[2J\nb"})).await.unwrap();
    assert_eq!(added.to_text(), "job 1: once, next run Tue 2031-07-01 12:00:00 +02:00");
    host.call("cron.add", json!({"at": "2031-07-01T12:00Z", "zone": "utc", "tool": "cron.list"})).await.unwrap();
    let listed = host.call("cron.list", json!({})).await.unwrap().to_text();
    let [first, second] = listed.lines().collect::<Vec<_>>()[..] else { panic!("{listed}") };
    assert!(first.contains("prompt: a") && !first.contains('\u{1b}'), "{first}");
    assert_eq!(second, "2: once (UTC), next run Tue 2031-07-01 12:00:00 +00:00; call: cron.list {}");
}

#[tokio::test]
async fn a_job_keeps_the_principal_of_its_session_and_whether_it_had_read_outside_text() {
    for is_exposed in [false, true] {
        let host = host().with_service(Exposure::new()).with_context(|cx| cx.with_principal("box/ann"));
        if is_exposed {
            host.context().record_exposure();
        }
        host.call("cron.add", json!({"every": 60, "prompt": "look"})).await.unwrap();
        let kept = jobs(&host).list().await.unwrap().remove(0);
        assert_eq!((kept.spec.principal.as_deref(), kept.spec.exposed), (Some("box/ann"), is_exposed));
    }
}

#[test]
fn a_job_of_an_earlier_version_counts_as_exposed() {
    let made = JobSpec { principal: None, exposed: false, ..spec(cron("0 9 * * *"), "UTC") };
    let mut stored = serde_json::to_value(&made).unwrap();
    assert_eq!(serde_json::from_value::<JobSpec>(stored.clone()).unwrap(), made);
    stored.as_object_mut().unwrap().retain(|key, _| !["principal", "exposed"].contains(&&**key));
    assert!(serde_json::from_value::<JobSpec>(stored).unwrap().exposed);
}
