//! The provider and the model of a resumed session.

use super::{ids, listed};
use crate::config::write_user;
use crate::model::{ANSWER, serve};
use crate::{Crib, Ended};

/// A response that ends a run without an answer.
const REFUSED: &str = "HTTP/1.1 400 Bad\r\nconnection: close\r\ncontent-length: 3\r\n\r\nbad";

/// Returns the lines that name the choice of the provider.
fn notes(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| line.starts_with("note: ") && line.contains("using ")).collect()
}

fn run(crib: &Crib, arguments: &[&str]) -> Ended {
    let mut command = crib.command(&[&["run"], arguments].concat());
    // So that no line is wrapped.
    crate::ended(command.env("COLUMNS", "400").env("OPENAI_API_KEY", "sk-secret"), b"")
}

#[test]
fn a_resumed_session_has_the_model_that_it_began_with() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(REFUSED), Some(REFUSED), Some(REFUSED), Some(ANSWER)]);
    let is_asked = |model: &str| {
        let request = requests.recv().unwrap();
        assert!(request.contains(&format!("\"model\":\"{model}\"")), "{request}");
    };
    let ended = run(&crib, &["hello", "--provider", "openai", "--model", "first", "--base-url", &url]);
    is_asked("first");
    assert!(notes(&ended.expect(1)).is_empty());

    // The configuration has another model.
    write_user(&crib, &format!("provider = 'openai'\nmodel = 'second'\nbase_url = '{url}'"));
    let ended = run(&crib, &["--resume"]).expect(1);
    is_asked("first");
    let [note] = notes(&ended)[..] else { panic!("{ended:#?}") };
    for part in ["openai with the model first", &ids(&crib)[0], "--provider or --model"] {
        assert!(note.contains(part), "{note}");
    }
    assert_eq!(notes(&run(&crib, &["--resume", "--model", "third"]).expect(1)).len(), 1);
    is_asked("third");
    assert!(notes(&run(&crib, &["--resume", "--provider", "openai", "--model", "third"]).expect(0)).is_empty());
    is_asked("third");
    assert_eq!(listed(&crib)[0]["state"], "finished");
}

#[test]
fn a_flag_for_another_provider_does_not_take_the_model_along() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(REFUSED)]);
    run(&crib, &["time.now", "--provider", "openai", "--model", "m", "--base-url", &url]).expect(1);
    requests.recv().unwrap();
    let ended = run(&crib, &["--resume", "--provider", "direct", "--output", "stream-json"]).expect(0);
    assert!(notes(&ended).is_empty(), "{ended:#?}");
    let first = &ended.documents()[0];
    assert_eq!((&first["provider"], first.get("model")), (&"direct".into(), None));
}

#[test]
fn a_session_is_sent_to_no_other_service_than_it_began_with() {
    let crib = Crib::new();
    let (url, requests) = serve([Some(REFUSED), Some(ANSWER)]);
    run(&crib, &["hello", "--provider", "openai", "--model", "m", "--base-url", &url]).expect(1);
    requests.recv().unwrap();
    let ended = run(&crib, &["--resume"]).expect(2);
    assert!(ended.stderr.contains(&format!("--base-url {url}")), "{ended:#?}");
    run(&crib, &["--resume", "--base-url", &url]).expect(0);
    assert!(requests.recv().unwrap().contains("\"model\":\"m\""));
}

#[test]
fn a_session_without_a_model_is_not_continued_by_one() {
    let crib = Crib::new();
    crib.run_with_input(&["chat"], b"time.now\n").expect(0);
    let mut command = crib.command(&["chat", "--resume"]);
    let ended = crate::ended(command.env("OPENAI_API_KEY", "sk-secret"), b"time.now\n").expect(0);
    assert!(ended.stdout.contains("UTC") && ended.stderr.contains("using direct, because the session"), "{ended:#?}");
}
