//! Templates of scheme `exec`.

use proptest::collection::vec;
use proptest::prelude::*;
use protocol::{Access, Clause, Declared, Effects, Target, Template, ToolName, Words};

use crate::sample::config;

fn effects(template: &str) -> Effects {
    let writes = vec![template.parse::<Template>().unwrap()];
    Effects::Declared(Declared {
        writes,
        ..Declared::default()
    })
}

#[test]
fn the_template_of_a_command_has_plain_words_and_no_fields() {
    for template in [
        "exec:{a}",
        "exec:{a|path}",
        "exec:git {a|host}",
        "exec:{a|words}",
        "exec:x{*}",
        "exec:{*}{*}",
        "exec:{*}x",
        "exec:'{*}'",
        "exec:git  {*}",
        "exec: git",
        "exec:git ",
        "exec:git 'a'",
        "exec:git *",
        "exec:~",
        "exec:git {{a}}",
        "exec:a;b",
        "exec:$x {*}",
        "exec:git\t{*}",
    ] {
        assert!(template.parse::<Template>().is_err(), "{template}");
    }
    let template: Template = "exec:git -C {*} --".parse().unwrap();
    assert_eq!(
        (&*template.to_string(), template.is_computed()),
        ("exec:git -C {*} --", true)
    );
}

#[test]
fn the_ceiling_of_a_command_is_its_literal_beginning() {
    for (template, expected) in [
        ("exec:{*}", "exec:write:**"),
        ("exec:git {*}", "exec:write:git **"),
        ("exec:git -C {*} x", "exec:write:git -C **"),
        ("exec:cargo test", "exec:write:cargo test"),
    ] {
        let ceiling = effects(template).ceiling(&ToolName::new("run").unwrap());
        assert_eq!(
            ceiling.iter().map(Clause::as_str).collect::<Vec<_>>(),
            [expected],
            "{template}"
        );
    }
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn no_command_is_above_the_ceiling(
        literal in vec("[a-z-]{1,4}", 0..3),
        is_long in any::<bool>(),
        program in "[a '$*\\\\]{1,3}",
        args in vec("[ab '\"$*;\\\\\n]{0,4}", 0..4),
    ) {
        let args = if is_long { [args, vec!["x ".repeat(5000)]].concat() } else { args };
        let template = [&literal[..], &["{*}".to_owned()]].concat().join(" ");
        let words = Words::from_known([&literal[..], &[program], &args[..]].concat()).unwrap();
        let target = Target::new(Access::Write, "exec", words.to_string()).unwrap();
        prop_assert_eq!(target.value() == words.to_string(), !is_long);
        let ceiling = effects(&format!("exec:{template}")).ceiling(&ToolName::new("run").unwrap());
        prop_assert!(ceiling.iter().any(|clause| clause.matches(&target)), "{} is above {ceiling:?}", target);
    }
}
