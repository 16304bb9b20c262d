//! The first commands of a newcomer: without a provider, with the help, and with the completions of a shell.

use std::io::Read as _;
use std::net::TcpListener;

use rexpect::session::spawn_command;

use crate::Crib;
use crate::terminal::{TIMEOUT_MS, rest};

/// Runs a command on a terminal without any provider.
fn without_provider(crib: &Crib, arguments: &[&str]) -> (String, i32) {
    rest(spawn_command(crib.command(arguments), Some(TIMEOUT_MS)).unwrap())
}

#[test]
fn without_a_provider_a_terminal_shows_three_ways_on_and_nothing_runs() {
    let crib = Crib::new();
    for arguments in [
        &["chat"][..],
        &["run", "What is in here?"],
        &["run", "time.now"],
    ] {
        let (shown, code) = without_provider(&crib, arguments);
        let lines: Vec<_> = shown.lines().collect();
        assert!(code == 2 && lines.len() == 4, "{shown}");
        for (line, part) in lines.iter().zip([
            "no model is chosen",
            "set its key: ",
            "for a model on this machine",
            "--provider direct",
        ]) {
            assert!(line.contains(part), "{part}: {shown}");
        }
        #[cfg(feature = "default")]
        assert!(lines[1].contains("ANTHROPIC_API_KEY"), "{shown}");
    }
}

#[test]
fn a_person_who_names_the_provider_direct_or_runs_a_script_is_not_stopped() {
    let crib = Crib::new();
    let script = crib.script(&[r#"{"text": "played"}"#]);
    for (flags, part) in [
        (["--provider", "direct"], "UTC"),
        (["--script", &script], "played"),
    ] {
        let (shown, code) = without_provider(&crib, &[&["run", "time.now"], &flags[..]].concat());
        assert!(code == 0 && shown.contains(part), "{shown}");
    }
}

#[test]
fn a_program_on_the_port_of_a_local_model_is_named_and_gets_nothing() {
    // Another program of the machine may have some of them.
    let ports = [
        (1234, "LM Studio"),
        (11434, "Ollama"),
        (8080, "llama.cpp"),
        (8000, "vLLM"),
    ];
    let mut bound = ports.into_iter().filter_map(|(port, name)| {
        Some((TcpListener::bind(("127.0.0.1", port)).ok()?, port, name))
    });
    let Some((listener, port, name)) = bound.next() else {
        return;
    };
    let (shown, _) = without_provider(&Crib::new(), &["chat"]);
    let line = shown.lines().nth(2).unwrap();
    assert!(
        line.contains(name) && line.contains(&port.to_string()),
        "{shown}"
    );
    let (mut connection, _) = listener.accept().unwrap();
    let mut sent = Vec::new();
    connection.read_to_end(&mut sent).unwrap();
    assert!(sent.is_empty(), "{sent:?}");
}

#[test]
fn a_question_to_the_provider_direct_is_answered_with_what_it_takes() {
    let ended = Crib::new()
        .run(&["run", "What is in here?", "--provider", "direct"])
        .expect(2);
    for part in [
        "has no model",
        "fs.list path=. ; time.now zone=UTC",
        "`What` is no tool",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {ended:#?}");
    }
    assert!(!ended.stderr.contains("key=value"), "{ended:#?}");
}

#[test]
fn help_lists_the_commands_in_groups_in_the_order_of_need() {
    let help = Crib::new().run(&["--help"]).expect(0).stdout;
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in help.lines().take_while(|line| *line != "Options:") {
        match line.strip_prefix("  ") {
            None => groups.extend(line.strip_suffix(':').map(|group| (group, Vec::new()))),
            Some(row) if !row.starts_with(' ') => {
                groups.last_mut().unwrap().1.extend(row.split(' ').next());
            }
            Some(_) => {}
        }
    }
    #[cfg(feature = "default")]
    assert_eq!(
        groups,
        [
            (
                "Use",
                vec!["chat", "run", "sessions", "memory", "cron", "listen"]
            ),
            (
                "Connect",
                vec![
                    "providers",
                    "config",
                    "mcp",
                    "skills",
                    "trust",
                    "always",
                    "serve",
                    "acp",
                    "doctor",
                    "completions"
                ]
            ),
            (
                "Make tools",
                vec![
                    "new", "list", "show", "call", "why", "search", "lint", "lock", "export",
                    "audit", "system"
                ]
            ),
        ],
        "{help}"
    );
    assert_eq!(groups[0].1[..2], ["chat", "run"], "{help}");
}

#[test]
fn the_help_of_run_has_headings_in_the_order_of_need() {
    for form in ["-h", "--help"] {
        let help = Crib::new().run(&["run", form]).expect(0).stdout;
        let headings = help.lines().filter_map(|line| line.strip_suffix(':'));
        let headings: Vec<_> = headings.filter(|line| !line.starts_with(' ')).collect();
        let expected = [
            "Arguments",
            "Options",
            "Model",
            "Tools",
            "Permissions",
            "Limits",
            "Recording",
            "Examples",
        ];
        assert_eq!(headings, expected, "{help}");
        let of = |flag: &str| {
            // Texts of other flags name some of them.
            let (before, _) = help.split_once(&format!("\n      {flag} ")).unwrap();
            let heading = before
                .lines()
                .rfind(|line| line.ends_with(':') && !line.starts_with(' '));
            heading.unwrap().to_owned()
        };
        for (flag, heading) in [
            ("--output", "Options:"),
            ("--base-url", "Model:"),
            ("--script", "Model:"),
            ("--select", "Tools:"),
            ("--grant", "Permissions:"),
            ("--approve", "Permissions:"),
            ("--max-steps", "Limits:"),
            ("--resume", "Recording:"),
        ] {
            assert_eq!(of(flag), heading, "{flag}: {help}");
        }
    }
}

#[test]
fn the_completions_of_each_shell_have_the_commands_of_families_too() {
    let crib = Crib::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = crib.run(&["completions", shell]).expect(0).stdout;
        for word in [
            "chat",
            "max-steps",
            #[cfg(feature = "default")]
            "unconfirmed",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let ended = crib.run(&["completions", "csh"]).expect(2);
    assert!(ended.stderr.contains("bash"), "{ended:#?}");
}
