use std::sync::Arc;

use agent::{
    Direct, KeySource, Models, Plan, Provider, ProviderOptions, Selection, Session, SubAgents,
    ToolSet,
};
use serde_json::Value;
use tools::Host;
use tools::protocol::wire::{Format, Strictness};

use crate::Crib;

/// The tools that a session has only on a machine with skills, or with a program that speaks.
const LOCAL: [&str; 2] = ["!skill.*", "!tts.*"];

/// Returns the built-in tools of a selection, as a session of the program offers them.
fn tool_set(globs: &[&str], crib: &Crib) -> ToolSet {
    tools::link!(tools_builtin);
    let mut services = tools::Services::new();
    services.insert(tools::OutputStore::default());
    services.insert(Plan::new());
    services.insert(SubAgents::default());
    services.insert(Models::new(Arc::new(Direct)));
    services.insert(tools_builtin::fs::Workspace::open(crib.root()).unwrap());
    services.insert(tools_builtin::exec::Sandbox::default());
    tools::Tasks::offer(&mut services);
    #[cfg(feature = "default")]
    services.insert(tools_builtin::memory::Memory::in_memory().unwrap());
    #[cfg(feature = "default")]
    services.insert(tools_builtin::cron::Jobs::in_memory("here").unwrap());
    #[cfg(feature = "default")]
    {
        services.insert(tools_http::HttpClient::default());
        services.insert(tools_builtin::message::Channels::new());
    }
    let cx = Host::new().with_services(services);
    Session::new(tools::list(), Selection::parse(globs).unwrap(), cx)
        .tools()
        .clone()
}

/// Returns the definitions that a session sends to the public service of a format, of its provider if there is one.
fn sent(set: &ToolSet, format: Format, strictness: Strictness) -> &str {
    let options = ProviderOptions {
        model: Some("m".into()),
        key: Some(KeySource::Environment("PATH".to_owned())),
        ..ProviderOptions::default()
    };
    let options = ProviderOptions {
        strictness: Some(strictness),
        ..options
    };
    let provider = match format {
        Format::Anthropic => agent_models::Remote::anthropic(&options).unwrap(),
        Format::OpenAiChat => agent_models::Remote::openai(&options).unwrap(),
        Format::OpenAiResponses => agent_models::Remote::openai_responses(&options).unwrap(),
        Format::Gemini => agent_models::Remote::gemini(&options).unwrap(),
        Format::Ollama => agent_models::Remote::ollama(&options).unwrap(),
        _ => return set.wire(format, strictness).definitions(),
    };
    provider.about().wire_tools(set).unwrap().definitions()
}

#[test]
fn the_definitions_are_the_bytes_that_a_session_sends() {
    let crib = Crib::new();
    let local = LOCAL.map(|glob| ["--select", glob]).concat();
    let set = tool_set(&["*", LOCAL[0], LOCAL[1]], &crib);
    // Without a search backend, a session skips web.search.
    assert!(
        set.len() > 10
            && set
                .list_skipped()
                .iter()
                .all(|tool| tool.name.as_str() == "web.search"),
        "{set:?}"
    );
    for format in Format::ALL {
        for (strictness, flags) in [
            (Strictness::Relaxed, &[][..]),
            (Strictness::Strict, &["--strict"]),
        ] {
            let arguments = [
                &["export", "--format", format.name(), "--no-config"],
                flags,
                &["--select", "*"],
                &local,
            ]
            .concat();
            let ended = crib.run(&arguments).expect(0);
            let sent = sent(&set, format, strictness);
            assert_eq!(
                ended.stdout.strip_suffix('\n'),
                Some(sent),
                "{format} {strictness:?}"
            );
            assert!(
                ended
                    .stderr
                    .lines()
                    .all(|line| line.starts_with("warning: web.search: ")),
                "{ended:#?}"
            );
        }
    }
}

#[test]
fn the_settings_select_as_they_do_for_a_session() {
    let crib = Crib::new();
    let config = crib.write("settings.toml", "select = ['fs.read']\n");
    let names = |arguments: &[&str]| -> Vec<String> {
        let export = [
            &[
                "export",
                "--format",
                "openai-responses",
                "--config",
                &config,
            ],
            arguments,
        ]
        .concat();
        let Value::Array(tools) = crib.run(&export).expect(0).document() else {
            panic!("one array is printed")
        };
        tools
            .iter()
            .map(|tool| format!("{} {}", tool["name"].as_str().unwrap(), tool["strict"]))
            .collect()
    };
    assert_eq!(names(&["--strict"]), ["fs__read true"]);
    assert_eq!(names(&["--select", "time.*"]), ["time__now false"]);
}

#[test]
fn examples_are_those_of_a_session_unless_requested_otherwise() {
    let crib = Crib::new();
    let export = |format: &str, flags: &[&str]| {
        let arguments = [
            &[
                "export",
                "--no-config",
                "--select",
                "fs.read",
                "--format",
                format,
            ],
            flags,
        ]
        .concat();
        crib.run(&arguments).expect(0).document()[0].clone()
    };
    let [bare, described] = [&[][..], &["--examples"]].map(|flags| export("gemini", flags));
    let description = |tool: &Value| tool["description"].as_str().unwrap().to_owned();
    assert!(
        description(&described).starts_with(&description(&bare)),
        "{described}"
    );
    assert!(
        description(&described).contains("README.md") && !description(&bare).contains("README.md"),
        "{described}"
    );
    assert_eq!(export("gemini", &["--examples", "false"]), bare);
    assert!(
        export("anthropic", &["--examples", "false"])
            .get("input_examples")
            .is_none()
    );
    let [default, added] =
        [&[][..], &["--examples", "true"]].map(|flags| export("anthropic", flags));
    assert!(
        default["input_examples"].is_array() && default == added,
        "{default}"
    );
    let strict = export("openai-chat", &["--examples", "--strict"]);
    assert_eq!(strict["function"]["strict"], true, "{strict}");
}

#[test]
fn an_unknown_format_is_a_usage_error_with_the_names() {
    let ended = Crib::new().run(&["export", "--format", "openai"]).expect(2);
    assert!(
        Format::ALL
            .iter()
            .all(|format| ended.stderr.contains(format.name())),
        "{ended:#?}"
    );
}
