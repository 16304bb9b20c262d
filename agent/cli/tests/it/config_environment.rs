use serde_json::{Value, json};

use crate::config::{config, setting, trust, write_project, write_user};
use crate::{Crib, Ended};

fn run(crib: &Crib, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    crib.command(arguments)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
        .into()
}

fn config_with(crib: &Crib, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    run(
        crib,
        &[&["config", "--json"], arguments].concat(),
        variables,
    )
    .expect(0)
    .document()
}

#[test]
fn a_variable_goes_before_the_files_and_after_the_flags() {
    let crib = Crib::new();
    write_project(&crib, "model = 'b'\nlimits.approval_timeout = '5s'");
    trust(
        &crib,
        "provider = 'openai'\nmodel = 'a'\nprofile = 'p'\n[profiles.p]\nlimits.max_steps = 4",
    );
    let variables = [
        ("TOOLCRIB_MODEL", "c"),
        ("TOOLCRIB_SESSIONS_RECORD", "false"),
        ("TOOLCRIB_LIMITS_MAX_STEPS", "7"),
        ("TOOLCRIB_LIMITS_APPROVAL_TIMEOUT", "2m"),
        ("TOOLCRIB_PROFILE", ""),
    ];
    let document = config_with(&crib, &[], &variables);
    for (key, value, origin) in [
        ("provider", json!("openai"), "user:2"),
        ("model", json!("c"), "TOOLCRIB_MODEL"),
        ("sessions.record", json!(false), "TOOLCRIB_SESSIONS_RECORD"),
        ("profile", json!("p"), "user:4"),
        ("limits.max_steps", json!(7), "TOOLCRIB_LIMITS_MAX_STEPS"),
        (
            "limits.approval_timeout",
            json!("120s"),
            "TOOLCRIB_LIMITS_APPROVAL_TIMEOUT",
        ),
    ] {
        assert_eq!(setting(&document, key), (value, origin.to_owned()), "{key}");
    }
    let document = config_with(&crib, &["--model", "d", "--max-steps", "8"], &variables);
    assert_eq!(
        setting(&document, "model"),
        (json!("d"), "--model".to_owned())
    );
    assert_eq!(
        setting(&document, "limits.max_steps"),
        (json!(8), "--max-steps".to_owned())
    );
}

#[test]
fn a_variable_can_name_the_provider_its_key_and_a_profile() {
    let crib = Crib::new();
    write_user(
        &crib,
        "provider = 'openai'\nmodel = 'm'\nkey_env = 'A'\n[profiles.p]\nselect = ['fs.*']",
    );
    let document = config_with(
        &crib,
        &[],
        &[("TOOLCRIB_KEY_FILE", "my.key"), ("TOOLCRIB_PROFILE", "p")],
    );
    assert_eq!(
        setting(&document, "key"),
        (
            json!({"file": "my.key", "found": false}),
            "TOOLCRIB_KEY_FILE".to_owned()
        )
    );
    assert_eq!(
        setting(&document, "select"),
        (json!(["fs.*"]), "user:5".to_owned())
    );
    // Another provider does not inherit the model and the key of the file.
    let document = config_with(&crib, &[], &[("TOOLCRIB_PROVIDER", "direct")]);
    assert_eq!(
        setting(&document, "provider"),
        (json!("direct"), "TOOLCRIB_PROVIDER".to_owned())
    );
    assert_eq!(setting(&document, "model").0, Value::Null);
}

#[test]
fn the_default_grants_can_be_dropped_by_a_variable() {
    let crib = Crib::new();
    run(
        &crib,
        &["call", "fs.list"],
        &[("TOOLCRIB_DEFAULT_GRANTS", "true")],
    )
    .expect(0);
    run(
        &crib,
        &["call", "fs.list"],
        &[("TOOLCRIB_DEFAULT_GRANTS", "false")],
    )
    .expect(5);
    // The grants of the user's file are kept.
    write_user(&crib, "grants = ['fs:read:**']");
    run(
        &crib,
        &["call", "fs.list"],
        &[("TOOLCRIB_DEFAULT_GRANTS", "false")],
    )
    .expect(0);
}

#[test]
fn a_mistake_in_a_variable_names_it_and_repeats_no_secret() {
    let crib = Crib::new();
    for (variable, value, part) in [
        (
            "TOOLCRIB_LIMITS_MAX_STEPS",
            "0",
            "limits.max_steps must be a whole number from 1",
        ),
        (
            "TOOLCRIB_LIMITS_MAX_STEPS",
            "sk-secret",
            "limits.max_steps must be a whole number from 1",
        ),
        (
            "TOOLCRIB_SESSIONS_RECORD",
            "yes",
            "sessions.record must be true or false",
        ),
        (
            "TOOLCRIB_LIMITS_APPROVAL_TIMEOUT",
            "sk-secret",
            "limits.approval_timeout is not a duration",
        ),
        (
            "TOOLCRIB_BASE_URL",
            "https://me:sk-secret@example.org",
            "base_url must be http",
        ),
        ("TOOLCRIB_KEY_ENV", "sk-secret", "key_env must be the name"),
        (
            "TOOLCRIB_MODEL",
            "m",
            "model has no effect without a provider",
        ),
    ] {
        let ended = run(&crib, &["run", "time.now"], &[(variable, value)]).expect(2);
        assert!(
            ended.stderr.contains(&format!("error: {variable}: {part}")),
            "{ended:#?}"
        );
        assert!(!format!("{ended:?}").contains("sk-secret"), "{ended:#?}");
    }
    let both = [
        ("TOOLCRIB_PROVIDER", "openai"),
        ("TOOLCRIB_KEY_ENV", "A"),
        ("TOOLCRIB_KEY_FILE", "b"),
    ];
    let ended = run(&crib, &["config"], &both).expect(2);
    assert!(
        ended
            .stderr
            .contains("TOOLCRIB_KEY_FILE: key_file conflicts with key_env"),
        "{ended:#?}"
    );
}

#[test]
fn a_variable_does_not_let_an_untrusted_project_in() {
    let crib = Crib::new();
    write_project(&crib, "model = 'expensive'");
    let variables = [
        ("TOOLCRIB_PROVIDER", "openai"),
        ("TOOLCRIB_MODEL", "expensive"),
    ];
    let ended = run(&crib, &["config"], &variables).expect(2);
    assert!(
        ended
            .stderr
            .contains("model is not accepted from an untrusted project"),
        "{ended:#?}"
    );
    assert_eq!(config(&crib, &["--no-config"])["files"], json!([]));
}
