//! The service that a key goes to.

use serde_json::{Value, json};

use super::{named, providers, run};
use crate::Crib;
use crate::config::write_user;
use crate::model::{ANSWER, serve};

#[test]
fn the_key_of_a_gateway_goes_to_no_other_service() {
    const CALL: &str = concat!(
        "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",",
        "\"function\":{\"name\":\"llm__generate\",\"arguments\":\"{\\\"prompt\\\":\\\"?\\\",\\\"model\\\":",
        "\\\"openai-responses/m\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
    );
    let crib = Crib::new();
    for choice in [
        "provider = 'openai'\nmodel = 'm'",
        "provider = 'openai'\nmodel = 'm'\nkey_env = 'OPENAI_API_KEY'",
    ] {
        let (url, _requests) = serve([Some(ANSWER), Some(CALL), Some(ANSWER)]);
        let (proxy, connections) = serve([None]);
        write_user(&crib, &format!("{choice}\nbase_url = '{url}'"));
        let proxy = proxy.trim_end_matches("/v1");
        let variables = [("OPENAI_API_KEY", "sk-secret"), ("TOOLCRIB_PROXY", proxy)];
        let checked = run(&crib, &["providers", "--check", "--json"], &variables)
            .expect(0)
            .documents();
        let other = named(&checked, "openai-responses");
        assert_eq!(
            (&other["configured"], &other["check"]),
            (&json!(false), &Value::Null),
            "{choice} {other}"
        );
        assert_eq!(
            other["key"]["value"],
            json!({"variable": "OPENAI_API_KEY", "found": true, "belongs_to": url})
        );
        let page = run(&crib, &["providers"], &variables).expect(0).stdout;
        assert!(
            page.contains(&format!("OPENAI_API_KEY, the key of {url}")),
            "{choice} {page}"
        );

        let task = r#"llm.generate prompt="?" model=openai-responses/m"#;
        let flags = ["--grant", "llm:read:**", "--output", "stream-json"];
        let lines = run(&crib, &[&["run", task][..], &flags].concat(), &variables).documents();
        let result = lines.iter().find(|line| line["type"] == "result").unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("OPENAI_API_KEY") && text.contains("key_env"),
            "{choice} {result}"
        );
        assert!(connections.try_recv().is_err(), "{choice}");
    }
}

#[test]
fn the_key_of_a_gateway_goes_to_no_other_service_when_another_provider_replaces_it() {
    let crib = Crib::new();
    let (gateway, requests) = serve([None]);
    let (proxy, connections) = serve([None]);
    write_user(
        &crib,
        &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{gateway}'"),
    );
    let proxy = proxy.trim_end_matches("/v1");
    let variables = [("OPENAI_API_KEY", "sk-secret"), ("TOOLCRIB_PROXY", proxy)];
    for other in ["openai", "openai-responses"] {
        let task = format!("llm.generate prompt=x model={other}/m");
        let ended = run(
            &crib,
            &[
                "run",
                &task,
                "--provider",
                "direct",
                "--grant",
                "llm:read:**",
            ],
            &variables,
        );
        assert!(
            ended.stdout.contains(&gateway) && ended.stdout.contains("key_env"),
            "{ended:#?}"
        );
        let checking = [&variables[..], &[("TOOLCRIB_PROVIDER", "direct")]].concat();
        let checked = run(&crib, &["providers", "--check", "--json"], &checking)
            .expect(0)
            .documents();
        let row = named(&checked, other);
        assert_eq!(
            (&row["configured"], &row["check"]),
            (&json!(false), &Value::Null),
            "{row}"
        );
        assert_eq!(row["key"]["value"]["belongs_to"], gateway, "{row}");
    }
    let ended = run(
        &crib,
        &["run", "x", "--provider", "openai-responses", "--model", "m"],
        &variables,
    )
    .expect(2);
    assert!(
        ended.stderr.contains(&gateway) && ended.stderr.contains("key_env"),
        "{ended:#?}"
    );
    let checking = [&variables[..], &[("TOOLCRIB_PROVIDER", "openai-responses")]].concat();
    let checked = run(&crib, &["providers", "--check", "--json"], &checking)
        .expect(0)
        .documents();
    let row = named(&checked, "openai-responses");
    assert_eq!(
        (&row["chosen"], &row["configured"], &row["check"]),
        (&json!(true), &json!(false), &Value::Null),
        "{row}"
    );
    assert!(connections.try_recv().is_err() && requests.try_recv().is_err());
}

#[test]
fn a_key_that_is_named_again_goes_to_the_service_that_it_is_named_for() {
    let crib = Crib::new();
    write_user(
        &crib,
        "provider = 'anthropic'\nmodel = 'm'\nbase_url = 'https://gateway.example.org'",
    );
    let keys = [
        ("OPENAI_API_KEY", "sk-secret"),
        ("ANTHROPIC_API_KEY", "sk-other"),
    ];
    let configured = |choice: &[(&'static str, &'static str)], name: &str| {
        let documents = providers(&crib, &[&keys[..], choice].concat());
        named(&documents, name)["configured"].clone()
    };
    let [provider, key] = [
        ("TOOLCRIB_PROVIDER", "openai"),
        ("TOOLCRIB_KEY_ENV", "ANTHROPIC_API_KEY"),
    ];
    assert_eq!(
        configured(&[provider], "openai"),
        true,
        "no other service has its key"
    );
    assert_eq!(configured(&[provider], "anthropic"), false);
    assert_eq!(
        configured(
            &[("TOOLCRIB_PROVIDER", "openai-responses"), key],
            "openai-responses"
        ),
        true
    );
    assert_eq!(
        configured(&[("TOOLCRIB_PROVIDER", "anthropic")], "anthropic"),
        true,
        "the provider of the file"
    );
    let url = ("TOOLCRIB_BASE_URL", "https://other.example.org/v1");
    assert_eq!(configured(&[provider, url], "openai"), true);
}

#[test]
fn a_key_that_belongs_to_a_public_service_configures_each_provider_of_it() {
    let crib = Crib::new();
    let keys = [("OPENAI_API_KEY", "sk-secret"), ("CORP_KEY", "sk-secret")];
    for choice in [
        "provider = 'openai'",
        "provider = 'openai'\nbase_url = 'https://api.openai.com/'",
        "provider = 'openai'\nbase_url = 'https://gateway.example.org/v1'\nkey_env = 'CORP_KEY'",
        "provider = 'openai'\nbase_url = 'https://gateway.example.org/v1'\nkey_file = 'my.key'",
        "provider = 'openai'\nbase_url = 'https://gateway.example.org/v1'\ndialect = 'deepseek'",
        "provider = 'ollama'\nbase_url = 'http://localhost:11435'",
    ] {
        write_user(&crib, choice);
        let documents = providers(&crib, &keys);
        assert_eq!(
            named(&documents, "openai-responses")["configured"],
            true,
            "{choice}"
        );
    }
}

#[test]
fn one_key_chooses_one_provider_although_two_use_it() {
    let crib = Crib::new();
    let keys = [("OPENAI_API_KEY", "sk-secret")];
    let documents = providers(&crib, &keys);
    let chosen: Vec<_> = documents
        .iter()
        .filter(|document| document["chosen"] == true)
        .collect();
    assert!(
        chosen.len() == 1 && chosen[0]["name"] == "openai",
        "{chosen:?}"
    );
    assert_eq!(
        chosen[0]["origin"]["variable"], "OPENAI_API_KEY",
        "{chosen:?}"
    );
    let ended = run(&crib, &["chat"], &keys).expect(0);
    assert!(!ended.stderr.contains("so is"), "{ended:#?}");
    // A key of Ollama names no model, so it chooses no provider.
    let documents = providers(&crib, &[("OLLAMA_API_KEY", "sk-secret")]);
    assert_eq!(named(&documents, "direct")["chosen"], true);
}
