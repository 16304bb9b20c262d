//! The budgets of runs, loops and correlation ids.

use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::config::{config, setting, write_project, write_user};
use crate::model::{ANSWER, serve, serve_with_models};
use crate::{Crib, Ended};

/// A script of three turns with two calls each, and an answer.
fn script(crib: &Crib) -> String {
    let call = |tool: &str, path: &str| json!({"name": tool, "arguments": {"path": path}});
    let turn =
        |path: &str| json!({"calls": [call("fs.read", path), call("fs.list", path)]}).to_string();
    let turns = [
        turn("a"),
        turn("b"),
        turn("c"),
        json!({"text": "Done."}).to_string(),
    ];
    crib.script(&turns.each_ref().map(String::as_str))
}

fn outcome(ended: &Ended) -> Value {
    crate::stream::check(ended)
}

#[test]
fn each_limit_of_a_run_has_its_outcome_and_says_how_to_raise_it() {
    let crib = Crib::new();
    let script = script(&crib);
    let run = ["run", "x", "--script", &script, "--output", "stream-json"];
    let limited = |flags: &[&str]| crib.run(&[&run[..], flags].concat());
    let ended = limited(&["--max-calls", "3"]).expect(7);
    let last = outcome(&ended);
    assert_eq!(
        (
            last["outcome"].as_str(),
            last["limit"].as_u64(),
            last["calls"].as_u64()
        ),
        (Some("call_budget"), Some(3), Some(4))
    );
    assert!(ended.stderr.contains("--max-calls"), "{ended:#?}");
    assert_eq!(
        outcome(
            &limited(&["--max-calls", "6", "--deadline", "1h", "--max-tokens", "10"]).expect(0)
        )["outcome"],
        "answer"
    );
    // The name of no session is in the way of the next one.
    let ended = limited(&["--deadline", "1ms", "--no-journal"]).expect(7);
    assert_eq!(outcome(&ended)["outcome"], "time_budget");
    assert!(ended.stderr.contains("--deadline"), "{ended:#?}");
}

#[test]
fn a_run_that_ended_at_a_limit_is_continued_with_a_higher_one() {
    let crib = Crib::new();
    let script = script(&crib);
    crib.run(&["run", "x", "--script", &script, "--max-calls", "3"])
        .expect(7);
    let resumed = ["run", "--script", &script, "--resume"];
    crib.run(&[&resumed[..], &["--max-calls", "3"]].concat())
        .expect(7);
    assert_eq!(
        crib.run(&[&resumed[..], &["--max-calls", "10"]].concat())
            .expect(0)
            .stdout,
        "Done.\n"
    );
}

fn of_model(crib: &Crib, flags: &[&str], replies: usize) -> (Ended, Receiver<String>) {
    let (url, requests) = match replies {
        0 => serve([]),
        _ => serve([Some(ANSWER)]),
    };
    let run = [
        "run",
        "x",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        &url,
        "--output",
        "stream-json",
    ];
    (crib.run(&[&run[..], flags].concat()), requests)
}

/// Each process is a session of its own. An answer has 15 tokens.
#[test]
fn sessions_share_the_windows_of_the_user() {
    for (window, name) in [("daily", "day"), ("monthly", "month")] {
        let crib = Crib::new();
        write_user(&crib, &format!("[{window}]\nmax_tokens = 30"));
        of_model(&crib, &[], 1).0.expect(0);
        of_model(&crib, &["--no-journal"], 1).0.expect(0);
        let (ended, requests) = of_model(&crib, &[], 0);
        let ended = ended.expect(7);
        let last = outcome(&ended);
        assert_eq!(
            (last["outcome"].as_str(), last["window"].as_str()),
            (Some("token_budget"), Some(name))
        );
        assert!(
            ended.stderr.contains(&format!("{window}.max_tokens")),
            "{ended:#?}"
        );
        assert!(requests.try_recv().is_err(), "no request is sent");
    }
}

#[test]
fn processes_that_run_at_the_same_time_do_not_exceed_a_window_together() {
    let crib = Crib::new();
    write_user(&crib, "[daily]\nmax_calls = 9");
    let script = script(&crib);
    let run = [
        "run",
        "x",
        "--no-journal",
        "--script",
        &script,
        "--output",
        "stream-json",
    ];
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| crib.run(&run))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let outcomes: Vec<_> = ended.iter().map(outcome).collect();
    assert!(
        outcomes
            .iter()
            .all(|last| last["outcome"] == "call_budget" || last["outcome"] == "answer"),
        "{outcomes:?}"
    );
    let results = ended
        .iter()
        .flat_map(Ended::documents)
        .filter(|line| line["type"] == "result");
    let granted = results
        .filter(|result| result["error"] != "refused")
        .count();
    assert_eq!(granted, 9, "{ended:#?}");
}

const PRICE: &str =
    "[[prices]]\nmodel = 'm'\ninput = 1000\noutput = '2000.50'\ncache_write = 1250\n";

#[test]
fn money_needs_the_price_of_the_model() {
    let crib = Crib::new();
    write_user(&crib, "[limits]\nmax_cost = '0.01'");
    let ended = of_model(&crib, &[], 0).0.expect(2);
    assert!(
        ended.stderr.contains("toolcrib.toml:2") && ended.stderr.contains("[[prices]]"),
        "{ended:#?}"
    );
    crib.run(&["run", "time.now"]).expect(0);

    write_user(&crib, &format!("[daily]\nmax_cost = '0.018'\n{PRICE}"));
    let prices = setting(&config(&crib, &[]), "prices").0;
    assert_eq!(
        prices,
        json!({"model": "m", "input": "1000.00", "output": "2000.50", "cached": "1000.00", "cache_write": "1250.00"})
    );
    // 12 tokens of input and 3 of output cost 0.0180015.
    of_model(&crib, &[], 1).0.expect(0);
    let ended = of_model(&crib, &[], 0).0.expect(7);
    assert_eq!(outcome(&ended)["outcome"], "cost_budget");
    assert!(ended.stderr.contains("daily.max_cost"), "{ended:#?}");
}

#[test]
fn a_model_without_a_price_is_not_asked_if_money_is_limited() {
    let crib = Crib::new();
    let asked = |file: &str, key: Option<&str>| {
        // Nothing listens there, so that the service is not asked for the price.
        write_user(&crib, &format!("proxy = 'http://127.0.0.1:1'\n{file}"));
        // With the key, the provider would be Anthropic's.
        let flags = "--provider direct --grant llm:read:** --output stream-json";
        let flags: Vec<&str> = flags.split(' ').collect();
        let call = r#"llm.generate prompt="?" model=anthropic/claude-test"#;
        let mut run = crib.command(&[&["run", call], &flags[..]].concat());
        run.envs(key.map(|key| ("ANTHROPIC_API_KEY", key)));
        let ended: Ended = run.output().unwrap().into();
        let lines = ended.documents();
        let result = lines.iter().find(|line| line["type"] == "result").unwrap();
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    // The key is missing: no request is sent.
    assert!(asked("", None).contains("ANTHROPIC_API_KEY"));
    let refused = asked("[monthly]\nmax_cost = '1'", Some("k"));
    assert!(
        refused.contains("monthly.max_cost") && refused.contains("model = \"claude-"),
        "{refused}"
    );
}

#[cfg(feature = "default")]
#[test]
fn the_price_of_a_known_model_needs_no_settings() {
    let crib = Crib::new();
    // 12 tokens of input at 0.50 and 3 of output at 1.50 for a million.
    write_user(&crib, "[daily]\nmax_cost = '0.00001'");
    let (url, _requests) = serve([Some(ANSWER)]);
    let flags = ["--model", "mistral-large-latest", "--dialect", "mistral"];
    let at = [
        "--provider",
        "openai",
        "--base-url",
        &url,
        "--output",
        "stream-json",
    ];
    let run = [&["run", "x"], &flags[..], &at].concat();
    assert_eq!(outcome(&crib.run(&run).expect(0))["outcome"], "answer");
    let ended = crib.run(&run).expect(7);
    assert_eq!(outcome(&ended)["outcome"], "cost_budget", "{ended:#?}");
    // The model of another server with the API has no price.
    let unknown = [&["run", "x", "--model", "gpt-5.1"], &at[..]].concat();
    assert!(crib.run(&unknown).expect(2).stderr.contains("[[prices]]"));
}

#[test]
fn the_service_tells_the_price_of_an_unknown_model() {
    let crib = Crib::new();
    write_user(&crib, "[daily]\nmax_cost = '0.02'");
    let run = |input: &'static str, replies| {
        let models =
            json!({"data": [{"id": "m", "pricing": {"prompt": input, "completion": "0.002"}}]});
        let (url, _requests) = serve_with_models(models, replies);
        let at = ["--provider", "openai", "--model", "m", "--base-url", &url];
        crib.run(&[&["run", "x", "--output", "stream-json"], &at[..]].concat())
    };
    // 12 tokens of input and 3 of output cost 0.018.
    let ended = run("0.001", [Some(ANSWER)]).expect(0);
    assert_eq!(outcome(&ended)["outcome"], "answer", "{ended:#?}");
    let ended = run("0.001", [Some(ANSWER)]).expect(0);
    assert_eq!(outcome(&ended)["outcome"], "answer", "{ended:#?}");
    let ended = run("0.001", [Some(ANSWER)]).expect(7);
    assert_eq!(outcome(&ended)["outcome"], "cost_budget", "{ended:#?}");
    // A price that depends on the chosen model is none.
    let ended = run("-1", [Some(ANSWER)]).expect(2);
    assert!(ended.stderr.contains("[[prices]]"), "{ended:#?}");
}

#[test]
fn a_wrong_price_or_cost_is_an_error_with_its_line() {
    let crib = Crib::new();
    for (text, line) in [
        ("[limits]\nmax_cost = '1,50'", 2),
        ("[[prices]]\nmodel = 'm'\ninput = -1\noutput = 2", 3),
        ("[[prices]]\nmodel = 'm'\ninput = 1", 1),
        (
            "[[prices]]\nmodel = 'm'\ninput = 1\noutput = 2\ncache = 1",
            5,
        ),
    ] {
        write_user(&crib, text);
        let ended = crib.run(&["config"]).expect(2);
        assert!(
            ended.stderr.contains(&format!("toolcrib.toml:{line}")),
            "{text}: {ended:#?}"
        );
    }
}

#[test]
fn an_untrusted_project_may_only_lower_limits() {
    let crib = Crib::new();
    write_user(&crib, "[limits]\nmax_calls = 10");
    write_project(
        &crib,
        "[limits]\nmax_calls = 9\nmax_tokens = 5000\ndeadline = '1m'",
    );
    assert_eq!(setting(&config(&crib, &[]), "limits.max_calls").0, json!(9));
    for text in ["[limits]\nmax_calls = 11", "[daily]\nmax_tokens = 1"] {
        write_project(&crib, text);
        crib.run(&["config"]).expect(2);
    }
}

#[test]
fn a_loop_ends_the_run() {
    let crib = Crib::new();
    let script = crib
        .script(&[r#"{"calls": [{"name": "fs.read", "arguments": {"path": "README.md"}}]}"#; 9]);
    let run = ["run", "x", "--script", &script, "--output", "stream-json"];
    let ended = crib.run(&run).expect(1);
    let last = outcome(&ended);
    assert_eq!(
        (
            last["outcome"].as_str(),
            last["tool"].as_str(),
            last["calls"].as_u64()
        ),
        (Some("loop"), Some("fs.read"), Some(5))
    );
    assert!(ended.stderr.contains("change the prompt"), "{ended:#?}");
}

#[cfg(feature = "default")]
#[test]
fn a_correlation_id_is_in_the_stream_and_in_the_journal() {
    let crib = Crib::new();
    let file = crib.dir.path().join("journal").to_str().unwrap().to_owned();
    let run = [
        "run",
        "time.now",
        "--journal",
        &file,
        "--correlation-id",
        "request 7",
        "--output",
        "stream-json",
    ];
    let ended = crib.run(&run).expect(0);
    outcome(&ended);
    let started = ended
        .documents()
        .into_iter()
        .find(|line| line["type"] == "started")
        .unwrap();
    assert_eq!(started["correlation_id"], "request 7");
    let rows = crib
        .run(&["audit", "show", &file, "--json"])
        .expect(0)
        .documents();
    let intent = rows.iter().find(|row| row["kind"] == "intent").unwrap();
    assert_eq!(intent["correlation_id"], "request 7");
}
