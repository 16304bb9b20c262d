//! `providers`, and the services that it checks.

mod key;
mod setting;

use serde_json::{Value, json};

use crate::config::{user_file, write_user};
use crate::model::{ANSWER, serve};
use crate::{Crib, Ended};

const UNKNOWN: &str =
    "HTTP/1.1 401 Unknown\r\nconnection: close\r\ncontent-length: 12\r\n\r\nwho are you?";

fn run(crib: &Crib, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = crib.command(arguments);
    let ended = Ended::from(
        command
            .env("COLUMNS", "300")
            .envs(variables.iter().copied())
            .output()
            .unwrap(),
    );
    assert!(!format!("{ended:?}").contains("sk-secret"), "{ended:#?}");
    ended
}

fn providers(crib: &Crib, variables: &[(&str, &str)]) -> Vec<Value> {
    run(crib, &["providers", "--json"], variables)
        .expect(0)
        .documents()
}

fn named<'a>(documents: &'a [Value], name: &str) -> &'a Value {
    documents
        .iter()
        .find(|document| document["name"] == name)
        .unwrap()
}

#[test]
fn every_linked_provider_is_listed_with_what_it_needs() {
    let documents = providers(&Crib::new(), &[]);
    let names: Vec<_> = documents
        .iter()
        .map(|document| document["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "anthropic",
            "direct",
            "gemini",
            "ollama",
            "openai",
            "openai-responses",
            "scripted"
        ]
    );
    for (name, variable) in [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("ollama", "OLLAMA_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("openai-responses", "OPENAI_API_KEY"),
    ] {
        let document = named(&documents, name);
        assert_eq!(
            document["key"]["value"],
            json!({"variable": variable, "found": false}),
            "{document}"
        );
        assert_eq!(
            (&document["configured"], &document["chosen"]),
            (&json!(false), &json!(false)),
            "{document}"
        );
        assert_eq!(
            document["model"]["value"].is_string(),
            name != "ollama",
            "{document}"
        );
        assert_eq!(document["needs_key"], name != "ollama", "{document}");
    }
    assert_eq!(
        named(&documents, "ollama")["base_url"]["value"],
        "http://localhost:11434"
    );
    assert_eq!(named(&documents, "direct")["chosen"], true);
}

#[test]
fn a_provider_is_configured_by_its_key_or_by_the_settings_and_each_origin_is_shown() {
    let crib = Crib::new();
    let keys = [
        ("ANTHROPIC_API_KEY", "sk-secret"),
        ("DEEPSEEK_API_KEY", "sk-secret"),
    ];
    write_user(
        &crib,
        "provider = 'openai'\nmodel = 'm'\nbase_url = 'https://api.deepseek.com/v1/chat/completions'",
    );
    let documents = providers(&crib, &keys);
    let anthropic = named(&documents, "anthropic");
    assert_eq!(
        (&anthropic["configured"], &anthropic["chosen"]),
        (&json!(true), &json!(false)),
        "{anthropic}"
    );
    let openai = named(&documents, "openai");
    assert_eq!(
        (&openai["configured"], &openai["chosen"]),
        (&json!(true), &json!(true)),
        "{openai}"
    );
    assert_eq!(
        (
            &openai["model"]["value"],
            &openai["model"]["origin"]["line"]
        ),
        (&json!("m"), &json!(2)),
        "{openai}"
    );
    assert_eq!(openai["base_url"]["value"], "https://api.deepseek.com/v1");
    // The key of a known service is its own, so that no other one goes there.
    assert_eq!(
        openai["key"]["value"],
        json!({"variable": "DEEPSEEK_API_KEY", "found": true}),
        "{openai}"
    );
    assert_eq!(named(&documents, "gemini")["configured"], false);

    let page = run(&crib, &["providers"], &keys).expect(0).stdout;
    assert!(
        page.contains(&format!(
            "openai (chosen by {}:1)",
            user_file(&crib).display()
        )) && page.contains("gemini (not configured)"),
        "{page}"
    );
    assert!(
        page.contains(&format!("{}:3", user_file(&crib).display())),
        "{page}"
    );
    assert!(
        page.contains("DEEPSEEK_API_KEY, set") && page.contains("GEMINI_API_KEY, not set"),
        "{page}"
    );
}

#[test]
fn a_check_asks_each_configured_service_once() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(ANSWER), Some(UNKNOWN)]);
    write_user(
        &crib,
        &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{url}'"),
    );
    let check = |code: i32| {
        let ended = run(&crib, &["providers", "--check", "--json"], &[]).expect(code);
        named(&ended.documents(), "openai")["check"].clone()
    };
    assert_eq!(check(0)["ok"], true);
    let body = requests.recv().unwrap();
    assert!(
        body.contains("\"model\":\"m\"") && !body.contains("\"tools\""),
        "{body}"
    );

    let failed = check(8);
    let error = failed["error"].as_str().unwrap();
    assert!(
        failed["ok"] == false
            && error.contains("401")
            && error.contains("OPENAI_API_KEY is not set"),
        "{failed}"
    );

    let idle = run(&Crib::new(), &["providers", "--check"], &[]).expect(0);
    assert!(
        idle.stderr.contains("no service is configured"),
        "{idle:#?}"
    );
}

#[test]
fn a_refusal_names_the_variable_that_is_not_set() {
    let crib = Crib::new();
    let (url, _) = serve([Some(UNKNOWN)]);
    let ended = run(
        &crib,
        &[
            "run",
            "x",
            "--provider",
            "openai",
            "--model",
            "m",
            "--base-url",
            &url,
        ],
        &[],
    )
    .expect(1);
    assert!(
        ended.stderr.contains("OPENAI_API_KEY is not set"),
        "{ended:#?}"
    );
    let ended = run(
        &crib,
        &["run", "x", "--provider", "gemini", "--model", "m"],
        &[],
    )
    .expect(2);
    assert!(ended.stderr.contains("GEMINI_API_KEY"), "{ended:#?}");
    let ended = run(&crib, &["run", "x", "--provider", "gemini"], &[]).expect(2);
    assert!(ended.stderr.contains("GEMINI_API_KEY"), "{ended:#?}");
}
