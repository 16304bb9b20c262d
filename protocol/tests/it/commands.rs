//! Templates of scheme `exec`.

use proptest::collection::vec;
use proptest::prelude::*;
use protocol::{Access, Clause, Declared, Effects, Target, TargetError, Template, ToolName, Words};
use serde_json::{Value, json};

use crate::sample::config;

fn effects(template: &str) -> Effects {
    let writes = vec![template.parse::<Template>().unwrap()];
    Effects::Declared(Declared { writes, ..Declared::default() })
}

fn targets(template: &str, arguments: Value) -> Result<Vec<String>, TargetError> {
    let targets = effects(template).targets(&ToolName::new("run").unwrap(), &json!({}), &arguments)?;
    Ok(targets.iter().map(ToString::to_string).collect())
}

#[test]
fn a_list_argument_makes_one_target() {
    const RUN: &str = "exec:{program|word} {args|words}";
    let run = |program: &str, args: &[&str]| targets(RUN, json!({"program": program, "args": args})).unwrap();
    assert_eq!(run("git", &["commit", "-m", "a b; c", ""]), ["exec:write:git commit -m 'a b; c' ''"]);
    assert_eq!(run("git", &[]), ["exec:write:git"]);
    assert_eq!(run("a b", &["$x", "*", "#"]), ["exec:write:'a b' '$x' '*' '#'"]);
    let long = "x".repeat(100_000);
    assert!(run("echo", &["a", &long])[0].starts_with("exec:write:echo a #sha256:"));
    assert_eq!(targets("exec:git {args|words} .", json!({"args": []})).unwrap(), ["exec:write:git ."]);
    assert_eq!(targets("exec:{argv|words}", json!({"argv": ["a", "b c"]})).unwrap(), ["exec:write:a 'b c'"]);
}

#[test]
fn an_argument_that_makes_no_words_is_refused() {
    let refused = |template: &str, arguments: Value| targets(template, arguments).unwrap_err().to_string();
    for (arguments, expected) in [
        (json!({"p": "a", "args": "b"}), "is or contains a text; pass a list of texts"),
        (json!({"p": "a", "args": [1]}), "contains a number; pass a list of texts"),
        (json!({"p": "a", "args": [["b"]]}), "contains a list; pass a list of texts"),
        (json!({"p": "a", "args": null}), "contains null; pass a list of texts"),
        (json!({"p": ["a"], "args": []}), "contains a list; pass a text"),
        (json!({"p": true, "args": []}), "contains a boolean; pass a text"),
        (json!({"p": "", "args": []}), "the program, is empty"),
        (json!({"p": "a\u{0}", "args": []}), "has a NUL"),
        (json!({"p": "a", "args": ["\u{0}"]}), "has a NUL"),
    ] {
        let error = refused("exec:{p|word} {args|words}", arguments);
        assert!(error.contains(expected), "{error}");
    }
    assert!(refused("exec:{argv|words}", json!({"argv": []})).contains("empty"));
    let pointer = targets("exec:git {args|words}", json!({"args": 1})).unwrap_err().pointer();
    assert_eq!(pointer, "/args");
}

#[test]
fn words_are_for_commands_and_commands_are_of_words() {
    for template in [
        "exec:{a}", "exec:{a|path}", "exec:{a|host}", "exec:x{a|word}", "exec:{a|word}{b|words}", "exec:{a|words}x",
        "exec:'{a|word}'", "exec:git  {a|words}", "exec: git", "exec:git ", "exec:git 'a'", "exec:git *", "exec:~",
        "exec:git {{a}}", "exec:a;b", "exec:$x {a|words}", "exec:git\t{a|words}", "fs:{a|word}", "net:{a|words}",
        "world:{a|word}",
    ] {
        assert!(template.parse::<Template>().is_err(), "{template}");
    }
    let template: Template = "exec:git -C {dir|word} {args|words} --".parse().unwrap();
    assert_eq!(template.to_string(), "exec:git -C {dir|word} {args|words} --");
    assert_eq!(template.fields().collect::<Vec<_>>(), ["dir", "args"]);
}

#[test]
fn the_ceiling_of_a_command_is_its_literal_beginning() {
    for (template, expected) in [
        ("exec:{p|word} {args|words}", "exec:write:**"),
        ("exec:{argv|words}", "exec:write:**"),
        ("exec:git {args|words}", "exec:write:git **"),
        ("exec:git -C {dir|word} {args|words} x", "exec:write:git -C **"),
        ("exec:cargo test", "exec:write:cargo test"),
    ] {
        let ceiling = effects(template).ceiling(&ToolName::new("run").unwrap());
        assert_eq!(ceiling.iter().map(Clause::as_str).collect::<Vec<_>>(), [expected], "{template}");
    }
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn no_command_is_above_the_ceiling_and_each_has_exactly_the_words(
        literal in vec("[a-z-]{1,4}", 0..3),
        is_long in any::<bool>(),
        program in "[a '$*\\\\]{1,3}",
        args in vec("[ab '\"$*;\\\\\n]{0,4}", 0..4),
    ) {
        let args = if is_long { [args, vec!["x ".repeat(5000)]].concat() } else { args };
        let template = [&literal[..], &["{p|word}".to_owned(), "{args|words}".to_owned()]].concat().join(" ");
        let effects = effects(&format!("exec:{template}"));
        let tool = ToolName::new("run").unwrap();
        let targets = effects.targets(&tool, &json!({}), &json!({"p": program, "args": args})).unwrap();
        let words = Words::from_known([&literal[..], &[program], &args[..]].concat()).unwrap();
        prop_assert_eq!(&targets, &[Target::new(Access::Write, "exec", words.to_string()).unwrap()]);
        prop_assert_eq!(targets[0].value() == words.to_string(), !is_long);
        let ceiling = effects.ceiling(&tool);
        prop_assert!(ceiling.iter().any(|clause| clause.matches(&targets[0])), "{} is above {ceiling:?}", targets[0]);
    }
}
