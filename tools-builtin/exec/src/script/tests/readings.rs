//! Scripts and their readings.

use tools::protocol::Access;

use super::{bash, commands};
use crate::script::{Script, Shell};

#[test]
fn transparent_scripts_name_their_commands_and_files() {
    for (text, named, files) in [
        ("cargo test", &["cargo test"] as &[_], &[] as &[_]),
        (
            "cd sub && cargo test --workspace 2>&1 | tail -n 5",
            &["cd sub", "cargo test --workspace", "tail -n 5"],
            &[],
        ),
        ("a; b\nc & d || e", &["a", "b", "c", "d", "e"], &[]),
        ("a\n\n# comment `id`\n\tb # $(c)\n", &["a", "b"], &[]),
        ("a && \\\n  b \\\n  c", &["a", "b c"], &[]),
        ("a; a; a", &["a"], &[]),
        (
            "a 'b c' \"d e\" f\\ g h'i'\"j\"",
            &["a 'b c' 'd e' 'f g' hij"],
            &[],
        ),
        (
            "git commit -m \"it's\na \\$x\"",
            &[r"git commit -m $'it\'s\na $x'"],
            &[],
        ),
        (
            r"printf '%s\n' $'a\tb\x41'",
            &[r"printf '%s\n' $'a\tbA'"],
            &[],
        ),
        ("make CC=gcc -j4", &["make CC=gcc -j4"], &[]),
        ("grep 'x$' a]b }", &["grep 'x$' 'a]b' '}'"], &[]),
        ("a '' \"\"", &["a '' ''"], &[]),
        (
            "! sort f | b; ! time c\n! d",
            &["sort f", "b", "c", "d"],
            &[],
        ),
        (
            "time sort f >g && time b | c",
            &["sort f", "b", "c"],
            &[(Access::Write, "g")],
        ),
        ("a >out 2>/dev/null", &["a"], &[(Access::Write, "out")]),
        (
            "a >> 'x y' 2>&1; b < ./in/f",
            &["a", "b"],
            &[(Access::Write, "x y"), (Access::Read, "in/f")],
        ),
        (">out echo a", &["echo a"], &[(Access::Write, "out")]),
        ("echo >out a b", &["echo a b"], &[(Access::Write, "out")]),
        (
            "a &>out; b |& c; d >|e; f 2>&- >&2",
            &["a", "b", "c", "d", "f"],
            &[(Access::Write, "out"), (Access::Write, "e")],
        ),
        (
            "set -euo pipefail; set +x; true",
            &["set -euo pipefail", "set +x", "true"],
            &[],
        ),
        (
            "test -f a && echo b || exit 1",
            &["test -f a", "echo b", "exit 1"],
            &[],
        ),
    ] {
        let script = bash(text);
        assert_eq!(script.reasons, [], "{text}");
        assert_eq!(commands(&script), named, "{text}");
        let opened: Vec<(Access, &str)> = script
            .files
            .iter()
            .map(|(access, path)| (*access, &**path))
            .collect();
        assert_eq!(opened, files, "{text}");
    }
}

#[test]
fn a_transparent_script_is_written_anew_with_every_word_in_quotes() {
    let script = bash("b 'it'\\''s' 2>&1 >\"x y\" && \ncd a | c # d\ne");
    assert_eq!(
        script.quoted.unwrap(),
        " 'b' 'it'\\''s' 2>&1 >'x y' && \n 'cd' 'a' |  'c'\n 'e'"
    );
    assert_eq!(bash("! a; time b").quoted.unwrap(), " ! 'a' ;  time 'b'");
    assert_eq!(bash("a $b").quoted, None);
    // There, `time` is a program.
    assert_eq!(
        Script::parse("time a", Shell::Sh, ".").unwrap().quoted,
        None
    );
}

#[test]
fn everything_else_is_opaque_with_a_reason() {
    for (text, reason) in [
        ("a $(b)", "a command substitution: $(b)"),
        ("a `b`", "a command substitution: `b`"),
        ("a \"$(b)\"", "a command substitution"),
        ("a <(b)", "a process substitution"),
        ("a $b", "a variable: $b"),
        ("a \"${b}\"", "a variable"),
        ("a $((1))", "arithmetic"),
        ("a {b,c}", "braces"),
        ("a b{c,d}", "braces"),
        ("a $\"b\"", "a variable"),
        ("A=1 b", "an assignment"),
        ("A=1", "an assignment"),
        ("export A=1; b", "a change of variables"),
        ("a[1]=b c", "an assignment"),
        ("\\A=1 b", "an assignment"),
        ("f() { a; }; f", "a function"),
        ("function f { a; }; f", "a function"),
        ("for a in b; do c; done", "a loop"),
        ("while a; do b; done", "a loop"),
        ("if a; then b; fi", "a condition"),
        ("case a in a) b;; esac", "a condition"),
        ("[[ a == b ]]", "a test in brackets"),
        ("[ -v 'a[$(b)]' ]", "a test in brackets"),
        ("(a)", "a group"),
        ("{ a; }", "a group"),
        ("((1))", "a group"),
        ("! ! a", "line 1 has"),
        ("!", "line 1 has"),
        ("a | ! b", "line 1 has"),
        ("a | time b", "line 1 has"),
        ("! >b a", "line 1 has"),
        ("!\na", "line 1 has"),
        (">b time a", "line 1 has"),
        ("time", "line 1 has"),
        ("time; a", "line 1 has"),
        ("time -p a", "line 1 has"),
        ("time\na", "line 1 has"),
        ("time ! a", "line 1 has"),
        ("time time a", "line 1 has"),
        ("! (a)", "a group"),
        ("a <<E\nb\nE", "a text for standard input"),
        ("a <<< b", "a text for standard input"),
        ("a *", "a pattern of file names"),
        ("*", "a pattern of file names"),
        ("a b?", "a pattern of file names"),
        ("a ~", "a home folder"),
        ("a b=~/c", "a home folder"),
        ("ti'me' a", "a keyword"),
        ("coproc a", "a keyword"),
        ("a;;b", "not known"),
        ("a <> b", "a syntax error"),
        ("a &&", "a syntax error"),
        ("a 'b", "a syntax error"),
        ("a $'b\\\\' ; c 'd'", "a syntax error"),
        ("a $'\\u00e9'", "in different ways"),
        ("a $'\\q'", "in different ways"),
        ("a \\ b", "a blank or a line end"),
        ("ec\\\nho a", "a blank or a line end"),
        ("a\u{b}b", "an invisible character"),
        ("a\r\nb", "an invisible character"),
        ("a 'b\u{202e}'", "an invisible character"),
        ("a\u{a0}b", "an invisible character"),
        ("a 10>b", "a redirection that shells read"),
        ("a {b}>c", "braces"),
        ("a >&b", "a redirection that shells read"),
        ("a <&3-", "a redirection that shells read"),
        ("a >&1>b", "without a blank"),
        ("a;&>b c", "without a blank"),
        ("a >&-b", "without a blank"),
        ("a >/etc/b", "absolute"),
        ("a >b/../c", "absolute or has `..`"),
        ("a >''", "not valid"),
        (">a", "a redirection without a command"),
        ("'' a", "without a name"),
        ("cd a; ./b", "a path of a program"),
        ("cd a; b >c", "an unknown folder"),
        ("%1", "a command of the shell"),
        ("printf x%n PATH; a", "a command of the shell"),
        ("printf -v PATH .; a", "a command of the shell"),
        ("test -v 'a[$(b)]'", "a command of the shell"),
        ("'[' -v 'a[$(b)]' ]", "a command of the shell"),
        ("test -v a", "a command of the shell"),
        ("test 'a[$(b)]' -eq 1", "a command of the shell"),
        ("exit 'a[`b`]'", "a command of the shell"),
        ("set -k; a B=1", "a command of the shell"),
        ("set -- a", "a command of the shell"),
        ("eval a", "a command of the shell"),
        ("ev'al' a", "a command of the shell"),
    ] {
        let script = bash(text);
        let reasons: Vec<String> = script.reasons.iter().map(ToString::to_string).collect();
        assert!(
            reasons.iter().any(|shown| shown.contains(reason)),
            "{text:?} {reasons:?}"
        );
        assert_eq!(script.quoted, None, "{text}");
    }
}

#[test]
fn commands_inside_an_opaque_script_are_named_too() {
    for (text, named) in [
        ("a \"$b\" $c d$e", &["a \"$b\" $c d$e"] as &[_]),
        (
            "a $(b c | d) e",
            &["b c", "d", "a $\\(b\\ c\\ \\|\\ d\\) e"],
        ),
        ("for x in 1 2; do a $x > b; done", &["a $x"]),
        ("if a; then b; else c; fi", &["a", "b", "c"]),
        ("f() { a; }; f", &["a", "f"]),
        ("A=$(b) c d", &["b", "c d"]),
        ("a <<E | b\n$(c)\nE\nd", &["c", "b", "a", "d"]),
        ("a \"$@\" <(b)", &["b", "a $@ $\\<\\(b\\)"]),
        ("! a; (b; c)", &["a", "b", "c"]),
    ] {
        let script = bash(text);
        assert_eq!(commands(&script), named, "{text}");
        assert_ne!(script.reasons, []);
    }
}

#[test]
fn paths_are_relative_to_the_working_directory() {
    let script = Script::parse("a >b 2>./c/d", Shell::Bash, "sub/x").unwrap();
    assert_eq!(
        script.files,
        [
            (Access::Write, "sub/x/b".to_owned()),
            (Access::Write, "sub/x/c/d".to_owned())
        ]
    );
    assert_eq!(script.reasons, []);
    for text in ["./a", "a >''", "a >../b"] {
        assert_ne!(
            Script::parse(text, Shell::Bash, "sub").unwrap().reasons,
            [],
            "{text}"
        );
    }
    assert_eq!(
        Script::parse("./a; /b/c", Shell::Bash, ".")
            .unwrap()
            .reasons,
        []
    );
}

#[test]
fn only_a_script_for_bash_may_use_the_syntax_of_bash() {
    for text in ["a &>b", "a &>>b", "a |& b", "a $'b'", "a c$'b'"] {
        assert_eq!(bash(text).reasons, [], "{text}");
        assert_ne!(
            Script::parse(text, Shell::Sh, ".").unwrap().reasons,
            [],
            "{text}"
        );
    }
    assert_eq!(
        Script::parse("grep 'x$' \"a\" 2>&1 | b", Shell::Sh, ".")
            .unwrap()
            .reasons,
        []
    );
}

/// The shells of this machine say which words they do not look up as programs.
#[test]
fn each_builtin_and_keyword_is_opaque_or_known_to_be_safe() {
    const SAFE: [&str; 10] = [
        "!", ":", "cd", "echo", "exit", "false", "pwd", "test", "time", "true",
    ];
    let output = std::process::Command::new("bash")
        .args(["-c", "compgen -bk"])
        .output()
        .unwrap();
    let of_bash = String::from_utf8(output.stdout).unwrap();
    let of_dash = ["chdir", "getopts", "local", "ulimit"];
    let mut others = 0;
    for name in of_bash.lines().chain(of_dash) {
        let script = Script::parse(&format!("{name} a"), Shell::Bash, ".");
        let is_opaque = script.is_ok_and(|script| !script.reasons.is_empty());
        assert_eq!(
            is_opaque,
            !SAFE.contains(&name) && name != "printf",
            "{name}"
        );
        others += u32::from(is_opaque);
    }
    assert!(others > 60, "{others}");
}
