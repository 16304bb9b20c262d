//! Tests that an untrusted project widens nothing, for the keys of the program.

use std::path::Path;
use std::sync::Arc;

use host::settings::{self, Layer, Setting, Settings, SettingsError, Values, check};

use proptest::prelude::*;
use tools::Target;

use crate::config::ProgramSettings as _;

const TARGETS: [&str; 5] = [
    "fs:read:a",
    "fs:write:src/a",
    "fs:destroy:a",
    "clock:read:now",
    "net:write:host",
];

fn layer(text: &str) -> Layer {
    settings::layer(
        &Arc::from(Path::new("/p/toolcrib.toml")),
        text,
        Some(Path::new("/home/me")),
    )
    .unwrap()
}

fn bounds() -> impl Strategy<Value = String> {
    let clause = prop::sample::select(vec![
        "fs:read:**",
        "fs:write:src/**",
        "*:*:**",
        "net:write:**",
        "fs:*:a",
    ]);
    let clauses = prop::option::of(prop::collection::vec(clause, 0..3));
    let globs = prop::option::of(prop::sample::select(vec![r#"["fs.*"]"#, r#"["*"]"#]));
    let switch = prop::option::of(any::<bool>());
    let limits = (prop::option::of(1..100_u32), prop::option::of(1..100_u32));
    (clauses.clone(), clauses, globs, switch, limits).prop_map(
        |(grants, within, select, switch, limits)| {
            let mut text = String::new();
            grants
                .iter()
                .for_each(|grants| text += &format!("grants = {grants:?}\n"));
            within
                .iter()
                .for_each(|within| text += &format!("within = {within:?}\n"));
            select
                .iter()
                .for_each(|select| text += &format!("select = {select}\n"));
            switch
                .iter()
                .for_each(|switch| text += &format!("default_grants = {switch}\n"));
            limits
                .0
                .iter()
                .for_each(|steps| text += &format!("limits.max_steps = {steps}\n"));
            limits
                .1
                .iter()
                .for_each(|time| text += &format!("limits.call_timeout = \"{time}s\"\n"));
            text
        },
    )
}

fn file(name: &'static str) -> impl Strategy<Value = String> {
    let word = |words: &[&'static str]| prop::option::of(prop::sample::select(words.to_vec()));
    let provider = (
        word(&["openai", "anthropic"]),
        word(&["m", "n"]),
        word(&["http://a", "http://b"]),
        word(&["K", "L"]),
    );
    let profile = (
        word(&["both", "user", "project"]),
        prop::option::of(bounds()),
        prop::option::of(bounds()),
    );
    (provider, bounds(), profile).prop_map(
        move |((provider, model, url, key), bounds, (chosen, both, own))| {
            let mut text = String::new();
            if let Some(provider) = provider {
                text += &format!("provider = {provider:?}\n");
                url.iter()
                    .for_each(|url| text += &format!("base_url = {url:?}\n"));
                key.iter()
                    .for_each(|key| text += &format!("key_env = {key:?}\n"));
                model
                    .iter()
                    .for_each(|model| text += &format!("model = {model:?}\n"));
            }
            chosen
                .iter()
                .for_each(|chosen| text += &format!("profile = {chosen:?}\n"));
            text += &bounds;
            both.iter()
                .for_each(|both| text += &format!("[profiles.both]\n{both}"));
            own.iter()
                .for_each(|own| text += &format!("[profiles.{name}]\n{own}"));
            text
        },
    )
}

#[test]
fn a_key_that_a_project_may_not_set_is_refused() {
    let refused: Vec<_> = Values::keys().filter(|key| key.project == "no").collect();
    assert!(
        refused.iter().any(|key| key.name == "context_tokens"),
        "{refused:?}"
    );
    for key in refused {
        let example = if key.example.is_empty() {
            "'x'"
        } else {
            key.example
        };
        let refusal = check(
            &layer(&format!("{} = {example}", key.name)),
            &Layer::default(),
            "",
        )
        .unwrap_err();
        assert!(
            matches!(&refusal, SettingsError::Untrusted { key: name, .. } if name == key.name),
            "{refusal}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_untrusted_project_never_widens_what_the_user_says(user in file("user"), project in file("project")) {
        let settings = |files| Settings::from_layers(files, Values::default(), Values::default(), Vec::new());
        let alone = settings(vec![layer(&user)]);
        let is_let_in = check(&layer(&project), &layer(&user), "").is_ok();
        let with = settings(vec![layer(&user), layer(&project)]);
        if let (Ok(alone), Ok(with), true) = (alone, with, is_let_in) {
            for target in TARGETS.map(|target| target.parse::<Target>().unwrap()) {
                prop_assert!(!with.grant().permits(&target) || alone.grant().permits(&target), "{target}");
            }
            prop_assert!(with.program().max_steps.value <= alone.program().max_steps.value);
            let time = |settings: &Settings| settings.program().call_timeout.as_ref().map(|setting| setting.value);
            prop_assert!(time(&with).is_none() || time(&alone).is_some_and(|most| time(&with) <= Some(most)));
            let value = |setting: &Option<Setting<String>>| setting.as_ref().map(|setting| setting.value.clone());
            prop_assert_eq!(value(&with.program().provider), value(&alone.program().provider));
            prop_assert_eq!(value(&with.program().model), value(&alone.program().model));
            prop_assert_eq!(value(&with.program().base_url), value(&alone.program().base_url));
            prop_assert_eq!(with.program().key().map(|key| key.value), alone.program().key().map(|key| key.value));
            prop_assert!(alone.program().select.is_none() || with.program().select.as_ref().map(|s| &s.value) == alone.program().select.as_ref().map(|s| &s.value));
        }
    }
}
