//! `providers`, and the settings that reach a service.

use serde_json::{Value, json};

use crate::config::{config, refused, setting, user_file, write_project, write_user};
use crate::model::{ANSWER, serve};
use crate::{Crib, Ended};

const UNKNOWN: &str = "HTTP/1.1 401 Unknown\r\nconnection: close\r\ncontent-length: 12\r\n\r\nwho are you?";

fn run(crib: &Crib, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = crib.command(arguments);
    let ended = Ended::from(command.env("COLUMNS", "300").envs(variables.iter().copied()).output().unwrap());
    assert!(!format!("{ended:?}").contains("sk-secret"), "{ended:#?}");
    ended
}

fn providers(crib: &Crib, variables: &[(&str, &str)]) -> Vec<Value> {
    run(crib, &["providers", "--json"], variables).expect(0).documents()
}

fn named<'a>(documents: &'a [Value], name: &str) -> &'a Value {
    documents.iter().find(|document| document["name"] == name).unwrap()
}

#[test]
fn every_linked_provider_is_listed_with_what_it_needs() {
    let documents = providers(&Crib::new(), &[]);
    let names: Vec<_> = documents.iter().map(|document| document["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["anthropic", "direct", "gemini", "ollama", "openai", "openai-responses", "scripted"]);
    for (name, variable) in [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("ollama", "OLLAMA_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("openai-responses", "OPENAI_API_KEY"),
    ] {
        let document = named(&documents, name);
        assert_eq!(document["key"]["value"], json!({"variable": variable, "found": false}), "{document}");
        assert_eq!((&document["configured"], &document["chosen"]), (&json!(false), &json!(false)), "{document}");
        assert_eq!(document["model"]["value"].is_string(), name != "ollama", "{document}");
        assert_eq!(document["needs_key"], name != "ollama", "{document}");
    }
    assert_eq!(named(&documents, "ollama")["base_url"]["value"], "http://localhost:11434");
    assert_eq!(named(&documents, "direct")["chosen"], true);
}

#[test]
fn a_provider_is_configured_by_its_key_or_by_the_settings_and_each_origin_is_shown() {
    let crib = Crib::new();
    let keys = [("ANTHROPIC_API_KEY", "sk-secret"), ("DEEPSEEK_API_KEY", "sk-secret")];
    write_user(&crib, "provider = 'openai'\nmodel = 'm'\nbase_url = 'https://api.deepseek.com/v1/chat/completions'");
    let documents = providers(&crib, &keys);
    let anthropic = named(&documents, "anthropic");
    assert_eq!((&anthropic["configured"], &anthropic["chosen"]), (&json!(true), &json!(false)), "{anthropic}");
    let openai = named(&documents, "openai");
    assert_eq!((&openai["configured"], &openai["chosen"]), (&json!(true), &json!(true)), "{openai}");
    assert_eq!((&openai["model"]["value"], &openai["model"]["origin"]["line"]), (&json!("m"), &json!(2)), "{openai}");
    assert_eq!(openai["base_url"]["value"], "https://api.deepseek.com/v1");
    // The key of a known service is its own, so that no other one goes there.
    assert_eq!(openai["key"]["value"], json!({"variable": "DEEPSEEK_API_KEY", "found": true}), "{openai}");
    assert_eq!(named(&documents, "gemini")["configured"], false);

    let page = run(&crib, &["providers"], &keys).expect(0).stdout;
    assert!(
        page.contains(&format!("openai (chosen by {}:1)", user_file(&crib).display()))
            && page.contains("gemini (not configured)"),
        "{page}"
    );
    assert!(page.contains(&format!("{}:3", user_file(&crib).display())), "{page}");
    assert!(page.contains("DEEPSEEK_API_KEY, set") && page.contains("GEMINI_API_KEY, not set"), "{page}");
}

#[test]
fn the_key_of_a_gateway_goes_to_no_other_service() {
    const CALL: &str = concat!(
        "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",",
        "\"function\":{\"name\":\"llm__generate\",\"arguments\":\"{\\\"prompt\\\":\\\"?\\\",\\\"model\\\":",
        "\\\"openai-responses/m\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
    );
    let crib = Crib::new();
    for choice in ["provider = 'openai'\nmodel = 'm'", "provider = 'openai'\nmodel = 'm'\nkey_env = 'OPENAI_API_KEY'"] {
        let (url, _requests) = serve([Some(ANSWER), Some(CALL), Some(ANSWER)]);
        let (proxy, connections) = serve([None]);
        write_user(&crib, &format!("{choice}\nbase_url = '{url}'"));
        let proxy = proxy.trim_end_matches("/v1");
        let variables = [("OPENAI_API_KEY", "sk-secret"), ("TOOLCRIB_PROXY", proxy), ("TOOLCRIB_RETRIES_MAX", "0")];
        let checked = run(&crib, &["providers", "--check", "--json"], &variables).expect(0).documents();
        let other = named(&checked, "openai-responses");
        assert_eq!((&other["configured"], &other["check"]), (&json!(false), &Value::Null), "{choice} {other}");
        assert_eq!(other["key"]["value"], json!({"variable": "OPENAI_API_KEY", "found": true, "belongs_to": url}));
        let page = run(&crib, &["providers"], &variables).expect(0).stdout;
        assert!(page.contains(&format!("OPENAI_API_KEY, the key of {url}")), "{choice} {page}");

        let task = r#"llm.generate prompt="?" model=openai-responses/m"#;
        let flags = ["--grant", "llm:read:**", "--output", "stream-json"];
        let lines = run(&crib, &[&["run", task][..], &flags].concat(), &variables).documents();
        let result = lines.iter().find(|line| line["type"] == "result").unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("OPENAI_API_KEY") && text.contains("key_env"), "{choice} {result}");
        assert!(connections.try_recv().is_err(), "{choice}");
    }
}

#[test]
fn the_key_of_a_gateway_goes_to_no_other_service_when_another_provider_replaces_it() {
    let crib = Crib::new();
    let (gateway, requests) = serve([None]);
    let (proxy, connections) = serve([None]);
    write_user(&crib, &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{gateway}'"));
    let proxy = proxy.trim_end_matches("/v1");
    let variables = [("OPENAI_API_KEY", "sk-secret"), ("TOOLCRIB_PROXY", proxy), ("TOOLCRIB_RETRIES_MAX", "0")];
    for other in ["openai", "openai-responses"] {
        let task = format!("llm.generate prompt=x model={other}/m");
        let ended = run(&crib, &["run", &task, "--provider", "direct", "--grant", "llm:read:**"], &variables);
        assert!(ended.stdout.contains(&gateway) && ended.stdout.contains("key_env"), "{ended:#?}");
        let checking = [&variables[..], &[("TOOLCRIB_PROVIDER", "direct")]].concat();
        let checked = run(&crib, &["providers", "--check", "--json"], &checking).expect(0).documents();
        let row = named(&checked, other);
        assert_eq!((&row["configured"], &row["check"]), (&json!(false), &Value::Null), "{row}");
        assert_eq!(row["key"]["value"]["belongs_to"], gateway, "{row}");
    }
    let ended = run(&crib, &["run", "x", "--provider", "openai-responses", "--model", "m"], &variables).expect(2);
    assert!(ended.stderr.contains(&gateway) && ended.stderr.contains("key_env"), "{ended:#?}");
    let checking = [&variables[..], &[("TOOLCRIB_PROVIDER", "openai-responses")]].concat();
    let checked = run(&crib, &["providers", "--check", "--json"], &checking).expect(0).documents();
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
    write_user(&crib, "provider = 'anthropic'\nmodel = 'm'\nbase_url = 'https://gateway.example.org'");
    let keys = [("OPENAI_API_KEY", "sk-secret"), ("ANTHROPIC_API_KEY", "sk-other")];
    let configured = |choice: &[(&'static str, &'static str)], name: &str| {
        let documents = providers(&crib, &[&keys[..], choice].concat());
        named(&documents, name)["configured"].clone()
    };
    let [provider, key] = [("TOOLCRIB_PROVIDER", "openai"), ("TOOLCRIB_KEY_ENV", "ANTHROPIC_API_KEY")];
    assert_eq!(configured(&[provider], "openai"), true, "no other service has its key");
    assert_eq!(configured(&[provider], "anthropic"), false);
    assert_eq!(configured(&[("TOOLCRIB_PROVIDER", "openai-responses"), key], "openai-responses"), true);
    assert_eq!(configured(&[("TOOLCRIB_PROVIDER", "anthropic")], "anthropic"), true, "the provider of the file");
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
        assert_eq!(named(&documents, "openai-responses")["configured"], true, "{choice}");
    }
}

#[test]
fn a_check_asks_each_configured_service_once() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(ANSWER), Some(UNKNOWN)]);
    write_user(&crib, &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{url}'"));
    let check = |code: i32| {
        let ended = run(&crib, &["providers", "--check", "--json"], &[]).expect(code);
        named(&ended.documents(), "openai")["check"].clone()
    };
    assert_eq!(check(0)["ok"], true);
    let body = requests.recv().unwrap();
    assert!(body.contains("\"model\":\"m\"") && !body.contains("\"tools\""), "{body}");

    let failed = check(8);
    let error = failed["error"].as_str().unwrap();
    assert!(failed["ok"] == false && error.contains("401") && error.contains("OPENAI_API_KEY is not set"), "{failed}");

    let idle = run(&Crib::new(), &["providers", "--check"], &[]).expect(0);
    assert!(idle.stderr.contains("no service is configured"), "{idle:#?}");
}

#[test]
fn a_refusal_names_the_variable_that_is_not_set() {
    let crib = Crib::new();
    let (url, _) = serve([Some(UNKNOWN)]);
    let ended = run(&crib, &["run", "x", "--provider", "openai", "--model", "m", "--base-url", &url], &[]).expect(1);
    assert!(ended.stderr.contains("OPENAI_API_KEY is not set"), "{ended:#?}");
    let ended = run(&crib, &["run", "x", "--provider", "gemini", "--model", "m"], &[]).expect(2);
    assert!(ended.stderr.contains("GEMINI_API_KEY"), "{ended:#?}");
    let ended = run(&crib, &["run", "x", "--provider", "gemini"], &[]).expect(2);
    assert!(ended.stderr.contains("--model"), "{ended:#?}");
}

#[test]
fn an_option_that_the_provider_does_not_take_is_refused_before_the_session_begins() {
    for provider in ["gemini", "ollama"] {
        let crib = Crib::new();
        let (url, requests) = serve([None]);
        let service = format!("provider = '{provider}'\nmodel = 'm'\nbase_url = '{url}'");
        write_user(&crib, &format!("{service}\n[generation]\nparallel_calls = false"));
        let ended = run(&crib, &["run", "x"], &[]).expect(2);
        assert!(ended.stderr.contains("generation.parallel_calls") && ended.stderr.contains("remove"), "{ended:#?}");
        assert!(run(&crib, &["sessions", "--json"], &[]).expect(0).documents().is_empty());
        assert!(requests.try_recv().is_err());
    }
}

#[test]
fn one_key_chooses_one_provider_although_two_use_it() {
    let crib = Crib::new();
    let keys = [("OPENAI_API_KEY", "sk-secret")];
    let documents = providers(&crib, &keys);
    let chosen: Vec<_> = documents.iter().filter(|document| document["chosen"] == true).collect();
    assert!(chosen.len() == 1 && chosen[0]["name"] == "openai", "{chosen:?}");
    assert_eq!(chosen[0]["origin"]["variable"], "OPENAI_API_KEY", "{chosen:?}");
    let ended = run(&crib, &["chat"], &keys).expect(0);
    assert!(!ended.stderr.contains("so is"), "{ended:#?}");
    // A key of Ollama names no model, so it chooses no provider.
    let documents = providers(&crib, &[("OLLAMA_API_KEY", "sk-secret")]);
    assert_eq!(named(&documents, "direct")["chosen"], true);
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
    let arguments = ["run", "x", "--provider", "openai", "--model", "m", "--base-url", &url];
    let ended = run(&crib, &arguments, &[]).expect(0);
    assert!(ended.stderr.contains("12 tokens in (8 cached), 3 out"), "{ended:#?}");
    let ended = run(&crib, &[&arguments[..], &["--output", "stream-json"]].concat(), &[]).expect(0);
    assert_eq!(crate::stream::check(&ended)["cached_input_tokens"], 8);
}

#[test]
fn settings_of_answers_reach_the_service_from_files_and_flags() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(ANSWER), Some(ANSWER)]);
    let file = format!(
        "provider = 'openai'\nmodel = 'gpt-4.1'\nbase_url = '{url}'\n[generation]\nmax_output_tokens = 500\ntemperature = 0.25\n\
         parallel_calls = false\ntool_choice = 'none'\n"
    );
    write_user(&crib, &file);
    run(&crib, &["run", "x"], &[]).expect(0);
    let body = requests.recv().unwrap();
    for part in
        ["\"max_tokens\":500", "\"temperature\":0.25", "\"parallel_tool_calls\":false", "\"tool_choice\":\"none\""]
    {
        assert!(body.contains(part), "{part}: {body}");
    }
    let flags = ["--max-output-tokens", "7", "--temperature", "1", "--tool-choice", "fs.read"];
    run(&crib, &[&["run", "x"][..], &flags].concat(), &[]).expect(0);
    let body = requests.recv().unwrap();
    for part in ["\"max_tokens\":7", "\"temperature\":1.0", "\"name\":\"fs__read\"}"] {
        assert!(body.contains(part), "{part}: {body}");
    }
    let document = config(&crib, &["--reasoning-effort", "low"]);
    assert_eq!(setting(&document, "generation.reasoning_effort"), (json!("low"), "--reasoning-effort".to_owned()));
    for (flag, value) in [("--temperature", "3"), ("--reasoning-effort", "much"), ("--max-output-tokens", "0")] {
        let ended = run(&crib, &["config", flag, value], &[]).expect(2);
        assert!(ended.stderr.contains(flag), "{ended:#?}");
    }
}

#[test]
fn deferred_tools_are_asked_of_a_gateway_on_request_alone() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(UNKNOWN), Some(UNKNOWN)]);
    let base_url = url.trim_end_matches("/v1");
    let service = format!("provider = 'anthropic'\nmodel = 'm'\nbase_url = '{base_url}'\ndisclosure.mode = 'search'");
    for (settings, is_asked) in [("", false), ("[generation]\ndeferred_tools = true", true)] {
        write_user(&crib, &format!("{service}\n{settings}"));
        run(&crib, &["run", "x"], &[]).expect(1);
        let body = requests.recv().unwrap();
        assert_eq!(body.contains("\"defer_loading\":true"), is_asked, "{body}");
        assert_eq!(body.contains("\"tools__call\""), !is_asked, "{body}");
    }
    write_user(
        &crib,
        &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{url}'\ngeneration.deferred_tools = true"),
    );
    let ended = run(&crib, &["run", "x"], &[]).expect(2);
    assert!(ended.stderr.contains("generation.deferred_tools"), "{ended:#?}");
}

#[test]
fn eager_input_streaming_is_asked_of_anthropic_on_request_alone() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(UNKNOWN), Some(UNKNOWN)]);
    let service = format!("provider = 'anthropic'\nmodel = 'm'\nbase_url = '{}'", url.trim_end_matches("/v1"));
    for (settings, is_asked) in [("", false), ("[generation]\neager_input_streaming = true", true)] {
        write_user(&crib, &format!("{service}\n{settings}"));
        run(&crib, &["run", "x"], &[]).expect(1);
        let body = requests.recv().unwrap();
        assert_eq!(body.contains("\"eager_input_streaming\":true"), is_asked, "{body}");
        assert!(body.contains("\"tools\""), "{body}");
    }
    write_user(
        &crib,
        &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{url}'\ngeneration.eager_input_streaming = true"),
    );
    let ended = run(&crib, &["run", "x"], &[]).expect(2);
    assert!(ended.stderr.contains("generation.eager_input_streaming"), "{ended:#?}");
}

#[test]
fn an_untrusted_project_sets_no_dialect_and_no_proxy_and_spends_no_more() {
    let crib = Crib::new();
    for text in [
        "dialect = 'groq'", "proxy = 'environment'", "generation.max_output_tokens = 9",
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
        let arguments = ["run", "x", "--provider", "openai", "--model", "m", "--base-url", url];
        let variables =
            [("HTTP_PROXY", proxy), ("http_proxy", proxy), ("TOOLCRIB_PROXY", setting), ("TOOLCRIB_RETRIES_MAX", "0")];
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
