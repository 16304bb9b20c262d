//! Settings that reach a service.

use serde_json::json;

use super::run;
use crate::Crib;
use crate::config::{config, refused, setting, write_project, write_user};
use crate::model::{ANSWER, serve};

#[test]
fn an_option_that_the_provider_does_not_take_is_refused_before_the_session_begins() {
    let crib = Crib::new();
    let (url, requests) = serve([None]);
    let service = format!("provider = 'ollama'\nmodel = 'm'\nbase_url = '{url}'");
    write_user(
        &crib,
        &format!("{service}\n[generation]\nreasoning_effort = 'minimal'"),
    );
    let ended = run(&crib, &["run", "x"], &[]).expect(2);
    assert!(
        ended.stderr.contains("generation.reasoning_effort") && ended.stderr.contains("remove"),
        "{ended:#?}"
    );
    assert!(
        run(&crib, &["sessions", "--json"], &[])
            .expect(0)
            .documents()
            .is_empty()
    );
    assert!(requests.try_recv().is_err());
}

#[test]
fn cached_tokens_are_counted_in_the_summary() {
    const CACHED: &str = concat!(
        "data: {\"id\":\"y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"id\":\"y\",\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,\"total_tokens\":15,",
        "\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\ndata: [DONE]\n\n",
    );
    let crib = Crib::new();
    let (url, _) = serve([Some(CACHED), Some(CACHED)]);
    let arguments = [
        "run",
        "x",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    let ended = run(&crib, &arguments, &[]).expect(0);
    assert!(
        ended.stderr.contains("12 tokens in (8 cached), 3 out"),
        "{ended:#?}"
    );
    let ended = run(
        &crib,
        &[&arguments[..], &["--output", "stream-json"]].concat(),
        &[],
    )
    .expect(0);
    assert_eq!(crate::stream::check(&ended)["cached_input_tokens"], 8);
}

#[test]
fn settings_of_answers_reach_the_service_from_files_and_flags() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(ANSWER), Some(ANSWER)]);
    let file = format!(
        "provider = 'openai'\nmodel = 'gpt-4.1'\nbase_url = '{url}'\n[generation]\nmax_output_tokens = 500\ntemperature = 0.25\n"
    );
    write_user(&crib, &file);
    run(&crib, &["run", "x"], &[]).expect(0);
    let body = requests.recv().unwrap();
    for part in ["\"max_tokens\":500", "\"temperature\":0.25"] {
        assert!(body.contains(part), "{part}: {body}");
    }
    let flags = ["--max-output-tokens", "7", "--temperature", "1"];
    run(&crib, &[&["run", "x"][..], &flags].concat(), &[]).expect(0);
    let body = requests.recv().unwrap();
    for part in ["\"max_tokens\":7", "\"temperature\":1.0"] {
        assert!(body.contains(part), "{part}: {body}");
    }
    let document = config(&crib, &["--reasoning-effort", "low"]);
    assert_eq!(
        setting(&document, "generation.reasoning_effort"),
        (json!("low"), "--reasoning-effort".to_owned())
    );
    for (flag, value) in [
        ("--temperature", "3"),
        ("--reasoning-effort", "much"),
        ("--max-output-tokens", "0"),
    ] {
        let ended = run(&crib, &["config", flag, value], &[]).expect(2);
        assert!(ended.stderr.contains(flag), "{ended:#?}");
    }
}

#[test]
fn an_untrusted_project_sets_no_dialect_and_no_proxy_and_spends_no_more() {
    let crib = Crib::new();
    for text in [
        "dialect = 'groq'",
        "proxy = 'environment'",
        "generation.max_output_tokens = 9",
        "generation.reasoning_effort = 'max'",
    ] {
        write_user(&crib, "provider = 'openai'");
        write_project(&crib, text);
        refused(&crib, &["is not accepted from an untrusted project"]);
    }
}

#[test]
fn proxies_of_the_environment_are_used_on_request_and_never_for_this_machine() {
    let crib = Crib::new();
    let (proxy, proxied) = serve([Some(ANSWER)]);
    let (url, requests) = serve([Some(ANSWER), Some(ANSWER)]);
    let proxy = proxy.trim_end_matches("/v1");
    let ask = |url: &str, setting: &str, code: i32| {
        let arguments = [
            "run",
            "x",
            "--provider",
            "openai",
            "--model",
            "m",
            "--base-url",
            url,
        ];
        let variables = [
            ("HTTP_PROXY", proxy),
            ("http_proxy", proxy),
            ("TOOLCRIB_PROXY", setting),
        ];
        run(&crib, &arguments, &variables).expect(code);
    };
    ask(&url, "", 0);
    ask(&url, "environment", 0);
    assert_eq!(requests.try_iter().count(), 2);
    ask("http://service.invalid/v1", "", 1);
    assert!(proxied.try_recv().is_err());
    ask("http://service.invalid/v1", "environment", 0);
    assert!(proxied.try_recv().is_ok());
}
