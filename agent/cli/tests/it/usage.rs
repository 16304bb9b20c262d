use crate::Crib;

const COMMANDS: [&str; 16] = [
    "list",
    "show",
    "call",
    "why",
    "run",
    "chat",
    "sessions",
    "system",
    "config",
    "audit",
    "doctor",
    "completions",
    "export",
    "lint",
    "lock",
    "new",
];

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    let help = Crib::new().run(&["--help"]).expect(0).stdout;
    for command in COMMANDS {
        let is_described = |line: &str| {
            line.split_whitespace().next() == Some(command) && line.trim().contains("  ")
        };
        assert!(
            help.lines().any(is_described),
            "{command} has no description in {help}"
        );
    }
    for code in [
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "130",
    ] {
        assert!(
            help.lines()
                .any(|line| line.split_whitespace().next() == Some(code)),
            "{code} is not in {help}"
        );
    }
}

#[test]
fn every_command_has_help() {
    for name in COMMANDS {
        let help = Crib::new().run(&[name, "--help"]).expect(0);
        // The help of `audit` lists its subcommands, `export` always prints JSON, and the others print no data.
        let has_json = ["--json", "stream-json"]
            .iter()
            .any(|option| help.stdout.contains(option));
        assert!(
            has_json || ["audit", "completions", "export", "new"].contains(&name),
            "{help:?}"
        );
    }
}

#[test]
fn the_version_is_printed() {
    assert_eq!(
        Crib::new().run(&["--version"]).expect(0).stdout,
        concat!("toolcrib ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn a_command_line_that_cannot_be_read_is_a_usage_error() {
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["list", "--nope"],
        &["show"],
        &["call"],
        &["run"],
        &["call", "fs.read", "path"],
        &["call", "fs.read", "=x"],
        &["call", "fs.read", "path=a", "--args", "{}"],
        &["call", "fs.read", "path=a", "--timeout", "soon"],
        &["call", "fs.read", "path=a", "--timeout", "0"],
        &["run", "time.now", "--max-steps", "0"],
        &["run", "time.now", "--max-steps", "many"],
    ] {
        let ended = Crib::new().run(arguments).expect(2);
        assert!(
            ended.stdout.is_empty() && !ended.stderr.is_empty(),
            "{arguments:?}: {ended:#?}"
        );
    }
}

#[test]
fn a_word_that_names_a_tool_instead_of_a_command_leads_to_the_tool() {
    for (words, tool) in [
        (&["time", "now"][..], None),
        (&["time.now"], Some("time.now")),
        #[cfg(feature = "default")]
        (&["cron", "add"], Some("cron.add")),
        #[cfg(feature = "default")]
        (&["cron", "frobnicate"], None),
        #[cfg(feature = "default")]
        (&["memory", "search", "--json"], Some("memory.search")),
    ] {
        let stderr = Crib::new().run(words).expect(2).stderr;
        let hint = tool.map(|tool| format!("toolcrib call {tool}"));
        assert_eq!(hint.is_some(), stderr.contains("hint: "), "{stderr}");
        assert!(hint.is_none_or(|hint| stderr.contains(&hint)), "{stderr}");
    }
}

#[test]
fn a_prompt_without_quotes_is_a_usage_error_that_says_so() {
    let crib = Crib::new();
    for more in [
        &["zone=UTC"][..],
        &["zone=UTC", "--provider", "direct"],
        &["now", "please"],
    ] {
        let ended = crib.run(&[&["run", "time.now"], more].concat()).expect(2);
        assert!(
            ended.stderr.contains(&format!("{:?}", more[0])) && ended.stderr.contains("quote"),
            "{ended:#?}"
        );
    }
    assert!(
        !crib
            .run(&["run", "--help"])
            .expect(0)
            .stdout
            .contains("OTHERS")
    );
}

#[test]
fn a_bad_grant_says_how_one_is_written() {
    for grant in [
        "",
        "fs",
        "fs:read",
        "fs:peek:**",
        "FS:read:**",
        "fs:read:../x",
        "fs:read:/etc",
        "fs:read:[",
        "fs:read:",
    ] {
        let ended = Crib::new()
            .run(&["call", "time.now", "--grant", grant])
            .expect(2);
        assert!(ended.stderr.contains("--grant"), "{grant}: {ended:#?}");
    }
}

#[test]
fn a_root_that_is_no_directory_is_a_usage_error() {
    let crib = Crib::new();
    for root in ["missing", "README.md", ""] {
        for arguments in [
            &["call", "time.now"][..],
            &["run", "time.now"],
            &["show", "time.now"],
            #[cfg(feature = "default")]
            &["sessions"],
            #[cfg(feature = "default")]
            &["skills"],
            #[cfg(feature = "default")]
            &["mcp"],
            #[cfg(feature = "default")]
            &["cron", "list"],
        ] {
            let ended = crib.run(&[arguments, &["--root", root]].concat()).expect(2);
            assert!(ended.stderr.contains("--root"), "{root:?}: {ended:#?}");
        }
    }
}

#[test]
fn a_bad_selection_is_a_usage_error() {
    for arguments in [
        &["list", "--select", "["][..],
        &["list", "--select", ""],
        &["run", "time.now", "--select", "{"],
    ] {
        let ended = Crib::new().run(arguments).expect(2);
        assert!(ended.stderr.contains("glob"), "{ended:#?}");
    }
}

#[test]
fn arguments_that_are_not_unicode_are_a_usage_error() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let crib = Crib::new();
    let output = crib
        .command(&["show"])
        .arg(OsStr::from_bytes(b"\xff"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}
