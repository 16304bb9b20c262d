//! Scripts that are made to take long, or to overflow a stack.

use std::time::Duration;

use proptest::collection::vec;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::script::{Script, ScriptError, Shell, tree};

#[test]
fn twenty_thousand_nested_groups_are_read_on_a_small_stack() {
    let reading = std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(|| {
            for part in ["{ ", "(", "$(", "`", "if "] {
                let text = part.repeat(20_000);
                let tree = super::super::tree(&text, Duration::MAX).unwrap();
                assert_eq!(tree::read(&tree, &text, Shell::Bash, ".").quoted, None);
            }
        });
    reading.unwrap().join().unwrap();
}

#[test]
fn nested_substitutions_are_not_kept_once_for_each_level() {
    for (open, close) in [
        ("x $(", ")"),
        ("x \"$(x a", ")\""),
        ("x a$(", ")b"),
        ("x <(", ")"),
    ] {
        let levels = Script::MAX_BYTES / (open.len() + close.len());
        let script = super::bash(&(open.repeat(levels) + &close.repeat(levels)));
        let kept: usize = super::commands(&script).iter().map(String::len).sum();
        assert!(kept < Script::MAX_BYTES, "{open} {kept}");
    }
}

#[test]
fn a_parser_that_takes_too_long_is_stopped_and_the_script_does_not_run() {
    for part in ["a | ", "a=(", "<<E\n", "a<<E ", "[ a -", "=~ ", "$(", "a;"] {
        let text = part.repeat(Script::MAX_BYTES / part.len());
        assert!(super::super::tree(&text, Duration::ZERO).is_none());
        // A reading that another stage of the call could judge in another way is no reading.
        let stopped = Script::parse_within(Duration::ZERO, &text, Shell::Bash, ".");
        assert_eq!(stopped.map(|_| ()), Err(ScriptError::TooSlow), "{part}");
        match Script::parse(&text, Shell::Bash, ".") {
            Ok(script) => assert_eq!(
                script.quoted.is_none(),
                !script.reasons.is_empty(),
                "{part}"
            ),
            Err(error) => assert_eq!(error, ScriptError::TooSlow, "{part}"),
        }
    }
}

/// For these, the scanner of the grammar reads beyond a table of the C library (tree-sitter/tree-sitter-bash, issue 337).
#[test]
fn characters_of_all_planes_after_a_brace_are_read() {
    for character in ["\u{31860}", "\u{f0000}", "\u{10ffff}"] {
        assert_ne!(super::bash(&format!("{{{character}")).reasons, []);
    }
}

#[test]
fn long_scripts_and_scripts_without_a_command_are_refused() {
    let parse = |text: &str| Script::parse(text, Shell::Bash, ".").map(|_| ());
    assert_eq!(parse(&"é".repeat(Script::MAX_BYTES / 2)), Ok(()));
    assert_eq!(
        parse(&"é".repeat(Script::MAX_BYTES / 2 + 1)),
        Err(ScriptError::TooLong(Script::MAX_BYTES + 2))
    );
    assert_eq!(parse("a\0b"), Err(ScriptError::Nul));
    for text in ["", " \n\t", "# comment", "#!/bin/sh\n"] {
        assert_eq!(parse(text), Err(ScriptError::Empty), "{text:?}");
    }
}

#[test]
fn no_text_makes_the_parser_fail() {
    const PARTS: &[&str] = &[
        "<<E",
        "<<-E",
        "<<'E'",
        "<<\"",
        "<<$",
        "<<\\E",
        "\n",
        "E\n",
        "\nE",
        "$(",
        ")",
        "`",
        "\"",
        "'",
        "${",
        "}",
        "((",
        "))",
        "[[",
        "]]",
        "=~",
        "$'",
        "{",
        "\\",
        "#",
        "|",
        "&",
        ";;",
        ";",
        "case ",
        " in ",
        "esac",
        "x=",
        "(",
        "a",
        " ",
        "@(",
        "*",
        "?",
        "<",
        ">",
        "2>",
        "é",
        "\u{10ffff}",
        "!",
        "$",
        "\t",
        "\r",
        "[",
        "]",
        "%",
        "/",
        ":",
        "-",
        "$((",
        "for ",
        "do ",
        "done",
        "if ",
        "fi",
    ];
    let config = Config {
        cases: 3_000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]));
    let ended = runner.run(&vec(select(PARTS), 1..120), |parts| {
        let _ = Script::parse(&parts.concat(), Shell::Bash, "sub");
        Ok(())
    });
    ended.unwrap();
}
