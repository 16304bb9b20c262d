//! The provider and the model of a resumed session.

use super::{ids, listed};
use crate::config::{setting, write_user};
use crate::model::{ANSWER, serve};
use crate::{Crib, Ended};

/// A response that ends a run without an answer.
const REFUSED: &str = "HTTP/1.1 400 Bad\r\nconnection: close\r\ncontent-length: 3\r\n\r\nbad";

/// Returns the lines that name the choice of the provider.
fn notes(ended: &Ended) -> Vec<&str> {
    ended
        .stderr
        .lines()
        .filter(|line| line.starts_with("note: ") && line.contains("using "))
        .collect()
}

fn run(crib: &Crib, arguments: &[&str]) -> Ended {
    let mut command = crib.command(&[&["run"], arguments].concat());
    // So that no line is wrapped.
    crate::ended(
        command
            .env("COLUMNS", "400")
            .env("OPENAI_API_KEY", "sk-secret"),
        b"",
    )
}

#[test]
fn a_resumed_session_has_the_model_that_it_began_with() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(REFUSED), Some(REFUSED), Some(REFUSED), Some(ANSWER)]);
    let is_asked = |model: &str| {
        let request = requests.recv().unwrap();
        assert!(
            request.contains(&format!("\"model\":\"{model}\"")),
            "{request}"
        );
    };
    let ended = run(
        &crib,
        &[
            "hello",
            "--provider",
            "openai",
            "--model",
            "first",
            "--base-url",
            &url,
        ],
    );
    is_asked("first");
    assert!(notes(&ended.expect(1)).is_empty());

    // The configuration has another model.
    write_user(
        &crib,
        &format!("provider = 'openai'\nmodel = 'second'\nbase_url = '{url}'"),
    );
    let ended = run(&crib, &["--resume"]).expect(1);
    is_asked("first");
    let [note] = notes(&ended)[..] else {
        panic!("{ended:#?}")
    };
    for part in [
        "openai with the model first",
        &ids(&crib)[0],
        "--provider or --model",
    ] {
        assert!(note.contains(part), "{note}");
    }
    assert_eq!(
        notes(&run(&crib, &["--resume", "--model", "third"]).expect(1)).len(),
        1
    );
    is_asked("third");
    assert!(
        notes(
            &run(
                &crib,
                &["--resume", "--provider", "openai", "--model", "third"]
            )
            .expect(0)
        )
        .is_empty()
    );
    is_asked("third");
    assert_eq!(listed(&crib)[0]["state"], "finished");
}

#[test]
fn a_flag_for_another_provider_does_not_take_the_model_along() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(REFUSED)]);
    run(
        &crib,
        &[
            "time.now",
            "--provider",
            "openai",
            "--model",
            "m",
            "--base-url",
            &url,
        ],
    )
    .expect(1);
    requests.recv().unwrap();
    let ended = run(
        &crib,
        &[
            "--resume",
            "--provider",
            "direct",
            "--output",
            "stream-json",
        ],
    )
    .expect(0);
    assert!(notes(&ended).is_empty(), "{ended:#?}");
    let first = &ended.documents()[0];
    assert_eq!(
        (&first["provider"], first.get("model")),
        (&"direct".into(), None)
    );
}

/// Begins a session at the service, which refuses its request.
fn begun(crib: &Crib, flags: &[&str]) {
    run(
        crib,
        &[&["hello", "--provider", "openai", "--model", "m"], flags].concat(),
    )
    .expect(1);
}

#[test]
fn a_session_is_sent_to_no_other_service_than_it_began_with() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(REFUSED), Some(ANSWER)]);
    let (cloud, others) = serve([Some(ANSWER)]);
    begun(&crib, &["--base-url", &url]);
    requests.recv().unwrap();
    let is_refused = |arguments: &[&str]| {
        let ended = run(&crib, &[&["--resume"], arguments].concat()).expect(2);
        assert!(
            ended.stderr.contains(&format!("--base-url {url}")),
            "{ended:#?}"
        );
    };
    let provider = ["--provider", "openai"];
    for settings in [
        "",
        &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{cloud}'"),
    ] {
        write_user(&crib, settings);
        is_refused(&[]);
        is_refused(&provider);
    }
    assert!(
        others.try_recv().is_err(),
        "the other service got the session"
    );
    run(&crib, &["--resume", "--base-url", &url]).expect(0);
    assert!(requests.recv().unwrap().contains("\"model\":\"m\""));
}

#[test]
fn a_session_at_the_usual_service_is_not_sent_to_the_one_of_the_settings() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(ANSWER)]);
    // The request to the usual service ends at a proxy, which refuses it.
    let (proxy, proxied) = serve([Some(REFUSED)]);
    let mut command = crib.command(&["run", "hello", "--provider", "openai", "--model", "m"]);
    command
        .env("OPENAI_API_KEY", "sk-secret")
        .env("TOOLCRIB_PROXY", "environment");
    let began = crate::ended(
        command.env("HTTPS_PROXY", proxy.trim_end_matches("/v1")),
        b"",
    );
    assert!(proxied.try_recv().is_ok(), "{began:#?}");
    assert_eq!(ids(&crib).len(), 1, "{began:#?}");
    write_user(
        &crib,
        &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{url}'"),
    );
    let ended = run(&crib, &["--resume"]).expect(2);
    assert!(
        ended.stderr.contains(&format!("--base-url {url}")),
        "{ended:#?}"
    );
    assert!(requests.try_recv().is_err());
    run(&crib, &["--resume", "--base-url", &url]).expect(0);
}

#[test]
fn a_journal_in_a_file_does_not_choose_the_provider_or_its_service() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(REFUSED), Some(REFUSED), Some(ANSWER)]);
    let (cloud, others) = serve([Some(ANSWER)]);
    let file = crib.dir.path().join("calls.journal").display().to_string();
    let journal = ["--journal", &file, "--session", "s"];
    begun(&crib, &[&["--base-url", &*url][..], &journal].concat());
    requests.recv().unwrap();
    let resume = |flags: &[&str]| run(&crib, &[&["--resume"], &journal[..], flags].concat());
    for (settings, named) in [
        ("provider = 'direct'", "--provider"),
        ("provider = 'anthropic'\nmodel = 'm'", "--provider"),
        // A key in the environment chooses openai, at its usual service.
        ("", "--base-url"),
        (
            &format!("provider = 'openai'\nmodel = 'm'\nbase_url = '{cloud}'"),
            "--base-url",
        ),
    ] {
        write_user(&crib, settings);
        let ended = resume(&[]).expect(2);
        assert!(ended.stderr.contains(named), "{ended:#?}");
        assert!(
            !ended.stderr.contains(&format!("--base-url {url}")),
            "{ended:#?}"
        );
    }
    resume(&["--provider", "openai"]).expect(2);
    assert!(requests.try_recv().is_err() && others.try_recv().is_err());

    // The settings name the provider and the service of the session.
    write_user(
        &crib,
        &format!("provider = 'openai'\nmodel = 'second'\nbase_url = '{url}'"),
    );
    resume(&[]).expect(1);
    assert!(requests.recv().unwrap().contains("\"model\":\"m\""));
    write_user(&crib, "");
    resume(&["--provider", "openai", "--base-url", &url]).expect(0);
    assert!(requests.recv().unwrap().contains("\"model\":\"m\""));
}

#[test]
fn a_session_without_a_model_gets_none_from_the_settings() {
    let crib = Crib::new();
    write_user(&crib, "provider = 'direct'");
    crib.run_with_input(&["chat"], b"time.now\n").expect(0);
    write_user(&crib, "provider = 'direct'\nmodel = 'later'");
    let resume = ["chat", "--resume", "--output", "stream-json"];
    let ended = crib.run_with_input(&resume, b"time.now\n").expect(0);
    assert_eq!(ended.documents()[0].get("model"), None, "{ended:#?}");
    let ended = crib
        .run_with_input(
            &[&resume[..], &["--model", "named"]].concat(),
            b"time.now\n",
        )
        .expect(0);
    assert_eq!(ended.documents()[0]["model"], "named", "{ended:#?}");
}

#[test]
fn config_shows_the_model_of_the_session_to_resume() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(REFUSED)]);
    let settings =
        |model: &str| format!("provider = 'openai'\nmodel = '{model}'\nbase_url = '{url}'");
    write_user(&crib, &settings("first"));
    run(&crib, &["hello"]).expect(1);
    requests.recv().unwrap();
    write_user(&crib, &settings("second"));
    let origin = format!("session {}", ids(&crib)[0]);
    let document = crib
        .run(&["config", "--resume", "--json"])
        .expect(0)
        .document();
    assert_eq!(
        setting(&document, "provider"),
        ("openai".into(), origin.clone())
    );
    assert_eq!(setting(&document, "model"), ("first".into(), origin));
    let document = crib.run(&["config", "--json"]).expect(0).document();
    assert_eq!(setting(&document, "model").0, "second");
}

#[test]
fn a_session_without_a_model_is_not_continued_by_one() {
    let crib = Crib::new();
    crib.run_with_input(&["chat"], b"time.now\n").expect(0);
    let mut command = crib.command(&["chat", "--resume"]);
    let ended = crate::ended(command.env("OPENAI_API_KEY", "sk-secret"), b"time.now\n").expect(0);
    assert!(
        ended.stdout.contains("UTC") && ended.stderr.contains("using direct, because the session"),
        "{ended:#?}"
    );
}
