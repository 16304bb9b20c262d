use serde_json::{Value, json};

use crate::config::{refused, setting, write_project, write_user};
use crate::model::{ANSWER, serve};
use crate::{Crib, Ended};

const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "sk-secret");
const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "sk-secret");

fn run(crib: &Crib, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = crib.command(arguments);
    // So that no line is wrapped.
    command
        .env("COLUMNS", "300")
        .envs(variables.iter().copied());
    let ended = Ended::from(command.output().unwrap());
    assert!(!format!("{ended:?}").contains("sk-secret"), "{ended:#?}");
    ended
}

fn config(crib: &Crib, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    run(
        crib,
        &[&["config", "--json"], arguments].concat(),
        variables,
    )
    .expect(0)
    .document()
}

#[test]
fn a_key_in_the_environment_chooses_its_provider_and_a_model() {
    let crib = Crib::new();
    for ((variable, key), provider, family) in [
        (OPENAI, "openai", "gpt-"),
        (ANTHROPIC, "anthropic", "claude-"),
    ] {
        let document = config(&crib, &[], &[(variable, key)]);
        assert_eq!(
            setting(&document, "provider"),
            (json!(provider), variable.to_owned())
        );
        let (model, origin) = setting(&document, "model");
        assert!(
            model.as_str().unwrap().starts_with(family) && origin == "default",
            "{document}"
        );
        assert_eq!(
            setting(&document, "key").0,
            json!({"variable": variable, "found": true})
        );

        let report = run(&crib, &["doctor"], &[(variable, key)]).expect(0).stdout;
        let line = report
            .lines()
            .find(|line| line.starts_with("provider: "))
            .unwrap();
        for part in [provider, model.as_str().unwrap(), variable] {
            assert!(line.contains(part), "{line}");
        }
    }
    for (variable, _) in [OPENAI, ANTHROPIC] {
        assert_eq!(
            setting(&config(&crib, &[], &[(variable, "")]), "provider"),
            (json!("direct"), "default".to_owned())
        );
    }
}

#[test]
fn of_two_keys_the_first_provider_by_name_is_chosen_and_the_other_named() {
    let crib = Crib::new();
    let keys = [OPENAI, ANTHROPIC];
    assert_eq!(
        setting(&config(&crib, &[], &keys), "provider"),
        (json!("anthropic"), ANTHROPIC.0.to_owned())
    );
    let report = run(&crib, &["doctor"], &keys).expect(0).stdout;
    assert!(
        report.contains("because ANTHROPIC_API_KEY is set") && report.contains("OPENAI_API_KEY"),
        "{report}"
    );
}

#[test]
fn the_choice_is_one_line_on_standard_error() {
    // Without a prompt no request is sent.
    let ended = run(&Crib::new(), &["chat"], &[OPENAI]).expect(0);
    let notes: Vec<_> = ended
        .stderr
        .lines()
        .filter(|line| line.starts_with("note: "))
        .collect();
    assert!(
        notes.len() == 1 && notes[0].contains("openai with the model gpt-"),
        "{ended:#?}"
    );
    assert!(
        notes[0].contains("because OPENAI_API_KEY is set"),
        "{ended:#?}"
    );
}

#[test]
fn a_key_that_no_setting_names_is_sent_to_no_other_service() {
    let (url, requests) = serve([Some(ANSWER)]);
    let crib = Crib::new();
    let key_file = crib.write("key", "sk-secret");
    let refused = |arguments: &[&str], variables: &[(&str, &str)]| {
        let ended = run(
            &crib,
            &[&["run", "hello"], arguments].concat(),
            &[variables, &[ANTHROPIC]].concat(),
        )
        .expect(2);
        assert!(ended.stderr.contains("without a provider"), "{ended:#?}");
    };
    let service = format!("base_url = '{url}'");
    for text in [
        &service,
        &format!("{service}\nmodel = 'm'"),
        "model = 'm'",
        "key_env = 'MINE'",
        &format!("key_file = '{key_file}'"),
    ] {
        write_user(&crib, text);
        refused(&[], &[]);
    }
    write_user(&crib, "");
    assert!(requests.try_recv().is_err());
}

#[test]
fn a_url_alone_has_the_format_of_most_servers_and_no_key_of_another_provider() {
    let crib = Crib::new();
    for (arguments, is_variable) in [(&["--model", "m"][..], false), (&["--model", "m"], true)] {
        let (url, requests) = serve([Some(ANSWER)]);
        let (flags, variables) = if is_variable {
            (vec![], vec![("TOOLCRIB_BASE_URL", url.as_str()), ANTHROPIC])
        } else {
            (vec!["--base-url", url.as_str()], vec![ANTHROPIC])
        };
        let ended = run(
            &crib,
            &[&["run", "hello"][..], arguments, &flags].concat(),
            &variables,
        )
        .expect(0);
        assert_eq!(ended.stdout.trim_end(), "It says hello.");
        let request = requests.recv().unwrap();
        assert!(
            request.contains("\"messages\"") && !request.contains("sk-secret"),
            "{request}"
        );
    }
}

#[test]
fn a_url_alone_uses_the_only_model_of_its_service() {
    let list = |names: &[&str]| {
        let names: Vec<_> = names.iter().map(|name| json!({"id": name})).collect();
        let body = json!({"object": "list", "data": names}).to_string();
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let crib = Crib::new();
    let one: &'static str = list(&["tiny"]).leak();
    let (url, requests) = serve([Some(one), Some(ANSWER)]);
    let ended = run(&crib, &["run", "hello", "--base-url", &url], &[]).expect(0);
    assert_eq!(ended.stdout.trim_end(), "It says hello.");
    assert!(
        requests
            .iter()
            .any(|request| request.contains("\"model\":\"tiny\""))
    );
    let two: &'static str = list(&["tiny", "large"]).leak();
    let (url, _requests) = serve([Some(two)]);
    let ended = run(&crib, &["run", "hello", "--base-url", &url], &[]).expect(2);
    assert!(
        ended.stderr.contains("tiny, large") && ended.stderr.contains("--model"),
        "{ended:#?}"
    );
}

#[test]
fn a_model_alone_has_the_provider_of_a_key_and_that_of_its_family_first() {
    let crib = Crib::new();
    for (model, provider) in [
        ("gpt-4o", "openai"),
        ("claude-haiku-4-5", "anthropic"),
        ("other", "anthropic"),
    ] {
        let document = config(&crib, &["--model", model], &[OPENAI, ANTHROPIC]);
        assert_eq!(setting(&document, "provider").0, json!(provider), "{model}");
        assert_eq!(setting(&document, "model").0, json!(model));
    }
    let ended = run(&crib, &["run", "x", "--model", "m"], &[]).expect(2);
    assert!(ended.stderr.contains("without a provider"), "{ended:#?}");
}

#[test]
fn a_setting_goes_before_a_key_in_the_environment() {
    let crib = Crib::new();
    let script = crib.script(&[r#"{"text": "played"}"#]);
    for (arguments, variables, answer) in [
        (&["--provider", "direct"][..], &[OPENAI][..], "UTC"),
        (&[], &[OPENAI, ("TOOLCRIB_PROVIDER", "direct")], "UTC"),
        (&["--script", &script], &[OPENAI, ANTHROPIC], "played"),
    ] {
        let ended = run(
            &crib,
            &[&["run", "time.now"], arguments].concat(),
            variables,
        )
        .expect(0);
        assert!(
            ended.stdout.contains(answer) && !ended.stderr.contains("note: "),
            "{ended:#?}"
        );
    }
    write_user(&crib, "provider = 'direct'");
    let document = config(&crib, &[], &[OPENAI]);
    assert_eq!(
        setting(&document, "provider"),
        (json!("direct"), "user:1".to_owned())
    );
    assert_eq!(setting(&document, "model").0, Value::Null);
}

#[test]
fn a_provider_alone_has_its_default_model_and_none_at_another_url() {
    let crib = Crib::new();
    let model = |arguments: &[&str]| setting(&config(&crib, arguments, &[OPENAI]), "model").0;
    assert!(
        model(&["--provider", "openai"])
            .as_str()
            .unwrap()
            .starts_with("gpt-")
    );
    assert_eq!(
        model(&["--provider", "openai", "--base-url", "http://127.0.0.1:9"]),
        Value::Null
    );
    assert_eq!(model(&["--provider", "ollama"]), Value::Null);
}

#[test]
fn an_untrusted_project_does_not_name_the_model_of_a_chosen_provider() {
    let crib = Crib::new();
    write_project(&crib, "model = 'expensive'");
    refused(&crib, &["model is not accepted from an untrusted project"]);
    let ended = run(&crib, &["run", "hello"], &[OPENAI]).expect(2);
    assert!(
        ended
            .stderr
            .contains("model is not accepted from an untrusted project"),
        "{ended:#?}"
    );
}
