//! Models that take over: the key `models`.

use serde_json::{Value, json};

use crate::Crib;
use crate::config::{refused, setting, write_project, write_user};
use crate::model::{ANSWER, serve};

const UNKNOWN: &str =
    "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 17\r\n\r\nno model of yours";

fn config(crib: &Crib, arguments: &[&str]) -> Value {
    let arguments = [&["config", "--json"], arguments].concat();
    crib.run(&arguments).expect(0).document()
}

#[test]
fn the_next_model_goes_on_and_is_named_in_every_output_and_in_the_record() {
    let (url, requests) = serve([Some(UNKNOWN), Some(ANSWER), Some(UNKNOWN), Some(ANSWER)]);
    let crib = Crib::new();
    let models = ["--models", "openai/gone", "--models", "openai/here"];
    let arguments = [&["run", "hello", "--base-url", &url][..], &models].concat();
    let ended = crib.run(&arguments).expect(0);
    assert_eq!(ended.stdout.trim_end(), "It says hello.");
    assert!(
        ended
            .stderr
            .contains("openai/here goes on for openai/gone: the provider openai answered with status 404 (unknown model)"),
        "{ended:#?}"
    );
    let asked: Vec<Value> = requests
        .iter()
        .take(2)
        .map(|body| serde_json::from_str(&body).unwrap())
        .collect();
    assert_eq!(
        [&asked[0]["model"], &asked[1]["model"]],
        ["gone", "here"],
        "{asked:?}"
    );
    let session = crib.run(&["sessions", "--json"]).expect(0).document();
    // The system text and the prompt precede the answer.
    assert_eq!(session["models"], json!({"2": "openai/here"}));

    let ended = crib
        .run(&[&arguments[..], &["--output", "stream-json"]].concat())
        .expect(0);
    crate::stream::check(&ended);
    let lines = ended.documents();
    let mut changes = lines.iter().filter(|line| line["type"] == "model_changed");
    let change = changes.next().unwrap();
    assert_eq!(
        [&change["from"], &change["to"], &change["kind"]],
        ["openai/gone", "openai/here", "unknown_model"]
    );
    assert!(changes.next().is_none());
}

#[test]
fn the_first_of_the_models_is_the_provider_and_the_model_of_its_layer() {
    let crib = Crib::new();
    let list = json!(["ollama/a", "openai/b/c"]);
    write_user(&crib, &format!("models = {list}\ncontext_tokens = 4096"));
    let at = |value: &str| (json!(value), "user:1".to_owned());
    let document = config(&crib, &[]);
    assert_eq!(setting(&document, "provider"), at("ollama"));
    assert_eq!(setting(&document, "model"), at("a"));
    assert_eq!(setting(&document, "models").0, list);
    assert_eq!(setting(&document, "context_tokens").0, 4096);

    // Another model of the provider has the same ones behind it, and another provider has none.
    let document = config(&crib, &["--model", "m"]);
    assert_eq!(setting(&document, "provider"), at("ollama"));
    assert_eq!(setting(&document, "model").0, "m");
    assert_eq!(setting(&document, "models").0, list);
    for other in [&["--provider", "gemini"][..], &["--models", "gemini/g"]] {
        let document = config(&crib, other);
        assert_eq!(setting(&document, "provider").0, "gemini");
        assert_ne!(setting(&document, "models").0, list, "{document}");
        assert_eq!(setting(&document, "context_tokens").0, Value::Null);
    }
}

#[test]
fn a_list_of_models_that_cannot_be_used_is_refused() {
    let crib = Crib::new();
    for (text, part) in [
        ("models = []", "models is empty"),
        ("models = ['gpt-5.1']", "must be provider/model"),
        ("models = ['/m']", "must be provider/model"),
        (
            "models = ['openai/m']\nmodel = 'm'",
            "models conflicts with provider and model",
        ),
        (
            "provider = 'openai'\nmodels = ['openai/m']",
            "models conflicts with provider and model",
        ),
    ] {
        write_user(&crib, text);
        refused(&crib, &[part]);
    }
    write_user(&crib, "models = ['ollama/a', 'nobody/b']");
    let ended = crib.run(&["run", "hello"]).expect(3);
    assert!(ended.stderr.contains("nobody"), "{ended:#?}");

    write_user(&crib, "models = ['ollama/a', 'ollama/b']");
    write_project(&crib, "models = ['ollama/a', 'openai/b']");
    refused(&crib, &["models", "where prompts and keys are sent"]);
}

#[test]
fn each_model_needs_a_price_if_money_is_limited_and_a_key_of_its_own() {
    let crib = Crib::new();
    let price = "[[prices]]\nmodel = 'a'\ninput = 1\noutput = 1\n";
    let models = "models = ['ollama/a', 'ollama/b']\nlimits.max_cost = '1'\n";
    write_user(&crib, &format!("{models}{price}"));
    let ended = crib.run(&["run", "hello"]).expect(2);
    assert!(
        ended.stderr.contains("needs the price of the model b"),
        "{ended:#?}"
    );

    // The key of a gateway is not sent to the public service of another provider.
    let mut command = crib.command(&["run", "hello"]);
    write_user(
        &crib,
        "models = ['openai/a', 'openai-responses/b']\nbase_url = 'http://localhost:1/v1'",
    );
    command.env("OPENAI_API_KEY", "sk-secret");
    let ended = crate::Ended::from(command.output().unwrap()).expect(2);
    assert!(
        ended
            .stderr
            .contains("OPENAI_API_KEY holds the key of http://localhost:1/v1"),
        "{ended:#?}"
    );
}
