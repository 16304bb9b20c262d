//! The linked backends.

use tools::linked;
use tools_tts::{Speech, SpeechBackend, SpeechError};

#[test]
fn the_backends_are_linked_once() {
    let names: Vec<_> = tools_tts::list()
        .iter()
        .map(|backend| backend.name)
        .collect();
    assert_eq!(names, ["espeak-ng", "openai"]);
    assert!(linked::conflicts::<SpeechBackend>().is_empty());
    assert!(linked::problems::<SpeechBackend>().is_empty());
    let error = tools_tts::get("espeak").unwrap_err().to_string();
    assert!(error.contains("espeak-ng"), "{error}");
}

#[test]
fn an_option_that_a_backend_has_not_is_refused() {
    let espeak = || tools_tts::get("espeak-ng").unwrap();
    assert!(matches!(
        Speech::new(espeak(), Some("http://localhost")),
        Err(SpeechError::Option {
            option: "address",
            ..
        })
    ));
    assert!(matches!(
        Speech::new(espeak(), None).unwrap().with_model("x"),
        Err(SpeechError::Option { .. })
    ));
    assert!(
        Speech::new(espeak(), None)
            .unwrap()
            .bind_key("key")
            .unwrap()
            .is_none()
    );
    let openai = || tools_tts::get("openai").unwrap();
    for url in [
        "ftp://a",
        "http://me:secret@a",
        "http://a?b",
        "http://a#b",
        "a",
    ] {
        let error = Speech::new(openai(), Some(url)).unwrap_err().to_string();
        assert!(
            error.contains("https://api.openai.com/v1") && !error.contains("secret"),
            "{error}"
        );
    }
    let targets = |speech: Speech| {
        speech
            .targets()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        targets(Speech::new(espeak(), None).unwrap()),
        ["speech:read:text"]
    );
    assert_eq!(
        targets(Speech::new(openai(), None).unwrap()),
        ["speech:read:text", "net:write:api.openai.com"]
    );
}
