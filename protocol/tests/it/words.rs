//! Lists of words, compared with a real shell, and their patterns, compared with a slow reference matcher.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use protocol::{Access, Clause, InvalidTarget, Target, Word, Words, is_invisible};

use crate::sample::config;

fn text() -> impl Strategy<Value = String> {
    let characters =
        "ab/ '\"$`\\*?[]{}~#=!;|&<>()%^+-@:\t\n\r\u{1b}\u{7f}\u{85}\u{a0}\u{202e}\u{feff}\u{e0041}é水1f".chars();
    vec(
        prop_oneof![1 => select(vec!['a', 'b']), 2 => select(characters.collect::<Vec<_>>())],
        0..6,
    )
    .prop_map(|characters| characters.into_iter().collect())
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![3 => text().prop_map(Word::Known), 1 => text().prop_map(Word::Unknown), 1 => text().prop_map(Word::UnknownWords)]
}

fn words(word: impl Strategy<Value = Word>) -> impl Strategy<Value = Words> {
    vec(word, 1..5).prop_filter_map("no program", |words| Words::new(words).ok())
}

fn known() -> impl Strategy<Value = Words> {
    words(text().prop_map(Word::Known))
}

fn target(words: &Words) -> Target {
    Target::new(Access::Write, "exec", words.to_string()).unwrap()
}

fn clause(pattern: &str) -> Clause {
    format!("exec:write:{pattern}").parse().unwrap()
}

fn covers(pattern: &str, value: &str) -> bool {
    clause(pattern).matches(&format!("exec:write:{value}").parse().unwrap())
}

/// Returns the words of each text as the shell reads them, or `None` if there is no such shell.
fn read_by(shell: &str, texts: &[String]) -> Option<Vec<Vec<String>>> {
    let script: String = texts
        .iter()
        .map(|text| format!("set -- {text}\nprintf '%s\\0' \"$#\" \"$@\"\n"))
        .collect();
    let mut command = Command::new(shell);
    let folder = std::env::temp_dir();
    command
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let mut fields = output
        .stdout
        .split(|byte| *byte == 0)
        .map(|field| String::from_utf8_lossy(field).into_owned());
    let mut list = || {
        let count = fields
            .next()
            .and_then(|count| count.parse().ok())
            .unwrap_or_default();
        fields.by_ref().take(count).collect()
    };
    Some(texts.iter().map(|_| list()).collect())
}

fn texts(words: &Words) -> Vec<String> {
    words
        .iter()
        .map(|word| {
            if let Word::Known(text) = word {
                text.clone()
            } else {
                format!("unknown {word}")
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn a_shell_reads_the_words_from_the_canonical_text(lists in vec(known(), 64)) {
        for shell in ["bash", "sh"] {
            // Not every `sh` knows `$'…'`.
            let lists: Vec<_> = lists.iter().filter(|list| shell == "bash" || !list.to_string().contains("$'")).collect();
            let read = read_by(shell, &lists.iter().map(ToString::to_string).collect::<Vec<_>>());
            let expected: Vec<_> = lists.iter().map(|list| texts(list)).collect();
            prop_assert_eq!(read.unwrap_or_else(|| expected.clone()), expected);
        }
    }

    #[test]
    fn a_text_of_known_words_has_the_words_that_a_shell_reads(
        lists in vec(vec(select(vec![
            "a", "b", " ", " ", "\t", "'", "'", "\"", "\"", "\\", "$'", "\\n", "\\x1b", "\\u202e", "\\303\\251", "\\'", "\\\"",
            "\\\\", "$", "$x", "*", "~", "=", "#", "{a,b}", "!", "%", "^", "é", "\n", "a b", "''", "\"\"", "\\\n",
        ]), 1..8), 256)
    ) {
        let texts_read: Vec<_> = lists.iter().map(|pieces| pieces.concat())
            .filter_map(|text| text.parse::<Words>().ok().filter(Words::is_known).map(|words| (text, words)))
            .collect();
        let given: Vec<_> = texts_read.iter().map(|(text, _)| text.clone()).collect();
        let expected: Vec<_> = texts_read.iter().map(|(_, words)| texts(words)).collect();
        prop_assert_eq!(read_by("bash", &given).unwrap_or_else(|| expected.clone()), expected, "{:?}", given);
    }
}

proptest! {
    #![proptest_config(config(4_000))]

    #[test]
    fn a_list_reads_back_from_its_text_without_invisible_characters(words in words(word())) {
        let text = words.to_string();
        prop_assert!(!text.contains(is_invisible), "{text:?}");
        prop_assert_eq!(text.parse::<Words>(), Ok(words.clone()), "{}", &text);
        prop_assert_eq!(target(&words).value().to_owned(), text);
        prop_assert_eq!(serde_json::from_value::<Words>(serde_json::to_value(&words).unwrap()).unwrap(), words);
    }

    #[test]
    fn no_text_makes_words_or_patterns_panic(text in prop_oneof![any::<String>(), "[ab'\"$\\\\*{}(@ \n#]{0,12}"]) {
        if let Ok(target) = Target::new(Access::Write, "exec", &*text) {
            prop_assert_eq!(target.to_string().parse(), Ok(target));
        }
        if let Ok(clause) = format!("exec:write:{text}").parse::<Clause>() {
            prop_assert_eq!(clause.to_string().parse(), Ok(clause));
        }
    }

    #[test]
    fn an_approval_covers_its_own_list_and_no_other(one in words(word()), other in words(word())) {
        let clause = target(&one).to_clause();
        prop_assert_eq!(clause.matches(&target(&one)), one.is_known());
        prop_assert!(one == other || !clause.matches(&target(&other)));
        prop_assert_eq!(clause.to_string().parse::<Clause>().unwrap().matches(&target(&one)), one.is_known());
        for more in ["x", "''", "$x"] {
            let longer = target(&format!("{one} {more}").parse().unwrap());
            prop_assert!(!clause.matches(&longer));
        }
    }
}

/// A word of a pattern. `None` is `**`, and a piece `None` is `*`.
type PatternWord = Option<Vec<Option<char>>>;

fn pattern_word() -> impl Strategy<Value = PatternWord> {
    let piece = prop_oneof![2 => select(vec!['a', 'b', '/', ' ', '*', '\n']).prop_map(Some), 1 => Just(None)];
    let apart = |pieces: &Vec<Option<char>>| {
        !pieces.is_empty() && !pieces.windows(2).any(|two| two == [None, None])
    };
    prop_oneof![1 => Just(None), 3 => vec(piece, 1..4).prop_filter("two stars", apart).prop_map(Some)]
}

fn pattern_text(pattern: &[PatternWord]) -> String {
    let piece = |piece: &Option<char>| match piece {
        None => "*".to_owned(),
        Some('\n') => "$'\\n'".to_owned(),
        Some(c) => format!("'{c}'"),
    };
    let word = |word: &PatternWord| {
        word.as_ref()
            .map_or("**".to_owned(), |pieces| pieces.iter().map(piece).collect())
    };
    pattern.iter().map(word).collect::<Vec<String>>().join(" ")
}

fn word_matches(pieces: &[Option<char>], text: &[char]) -> bool {
    match (pieces, text) {
        ([], text) => text.is_empty(),
        ([None, rest @ ..], text) => (0..=text.len()).any(|n| word_matches(rest, &text[n..])),
        ([Some(expected), rest @ ..], [c, text @ ..]) => expected == c && word_matches(rest, text),
        _ => false,
    }
}

fn reference(pattern: &[PatternWord], words: &[Word]) -> bool {
    match (pattern, words) {
        ([], words) => words.is_empty(),
        ([None, rest @ ..], words) => (0..=words.len()).any(|n| reference(rest, &words[n..])),
        ([Some(pieces), rest @ ..], [word, words @ ..]) => {
            let is_first = match word {
                Word::Known(text) => word_matches(pieces, &text.chars().collect::<Vec<_>>()),
                Word::Unknown(_) => pieces[..] == [None],
                _ => false,
            };
            is_first && reference(rest, words)
        }
        _ => false,
    }
}

fn value() -> impl Strategy<Value = Words> {
    let text = vec(select(vec!['a', 'b', '/', ' ', '*', '\n']), 0..4)
        .prop_map(|text| text.into_iter().collect::<String>());
    words(prop_oneof![
        8 => text.prop_map(Word::Known),
        1 => select(vec!["$x", "a$x"]).prop_map(|text| Word::Unknown(text.to_owned())),
        1 => select(vec!["$x", "a$x"]).prop_map(|text| Word::UnknownWords(text.to_owned())),
    ])
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn a_pattern_matches_as_its_plain_reading_does(pattern in vec(pattern_word(), 1..5), values in vec(value(), 64)) {
        let clause = clause(&pattern_text(&pattern));
        let again: Clause = clause.to_string().parse().unwrap();
        for value in &values {
            let list: Vec<_> = value.iter().cloned().collect();
            let expected = reference(&pattern, &list);
            prop_assert_eq!(clause.matches(&target(value)), expected, "{} with {}", &clause, value);
            prop_assert_eq!(again.matches(&target(value)), expected, "{} with {}", &again, value);
        }
    }

    #[test]
    fn a_pattern_without_wildcards_covers_only_the_equal_list(pattern in value(), values in vec(value(), 64)) {
        let clause = clause(&pattern.to_string());
        for value in values {
            prop_assert_eq!(clause.matches(&target(&value)), pattern == value && value.is_known(), "{} with {}", &clause, value);
        }
    }
}

#[test]
fn a_command_is_not_covered_by_a_similar_one() {
    for (pattern, value, covered) in [
        ("npm test", "npm test", true),
        ("npm test", "npm testify", false),
        ("npm test", "npm test x", false),
        ("npm test", "'npm test'", false),
        ("npm test", "npm", false),
        ("npm test **", "npm testify", false),
        ("npm test **", "npm test", true),
        ("npm test **", "npm test x 'y z'", true),
        ("'git status'", "git status", false),
        ("git *", "git a/b", true),
        ("git *", "git", false),
        ("git *", "git ''", true),
        ("git *", "git a b", false),
        ("g*", "git status", false),
        ("*", "git", true),
        ("**", "git status", true),
        ("** --force **", "git push --force", true),
        ("rm '*'", "rm a", false),
        ("rm '*'", r"rm \*", true),
        ("cp \"$x\"", "cp \"$x\"", false),
        ("cp $x", "cp $x", false),
        ("cp $x **", "cp $x y", false),
        ("c* $x", "cp", false),
        ("c* $x", "cp $x", false),
        ("cp *", "cp \"out-$x\"", true),
        ("cp out-*", "cp \"out-$x\"", false),
        ("cp *", "cp $x", false),
        ("cp * **", "cp $x", false),
        ("cp **", "cp $x", true),
        ("*", "$x", false),
    ] {
        assert_eq!(covers(pattern, value), covered, "{pattern} with {value}");
    }
    for hostile in [
        "git status; rm x",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git status `rm`",
    ] {
        assert!(
            matches!(
                Target::new(Access::Write, "exec", hostile),
                Err(InvalidTarget::Words { .. })
            ),
            "{hostile}"
        );
    }
}

#[test]
fn a_clause_for_any_scheme_covers_a_command_only_if_it_covers_everything() {
    let target = "exec:write:cargo".parse().unwrap();
    let matches = |clause: &str| clause.parse::<Clause>().unwrap().matches(&target);
    assert!(
        ["*:*:**", "*:write:**/**", "exec:*:**", "exec:*:** **"]
            .into_iter()
            .all(matches)
    );
    assert!(
        !["*:*:*", "*:*:cargo", "*:*:cargo/**", "*:*:c*o", "fs:*:**"]
            .into_iter()
            .any(matches)
    );
}

#[test]
fn a_text_that_is_no_list_of_literal_words_is_refused() {
    for text in [
        "",
        " ",
        "'a",
        "\"a",
        "a\\",
        "$'a",
        "$'\\q'",
        "$'\\x'",
        "$'\\xff'",
        "$'\\400'",
        "$'\\ud800'",
        "$'\\0'",
        "a;b",
        "a&",
        "a|b",
        "a<b",
        "a>b",
        "a(b",
        "a)",
        "`a`",
        "\"`a`\"",
        "$(a)",
        "\"$(a)\"",
        "\"${x:-a}\"",
        "\"$[1]\"",
        "a*",
        "a?",
        "[a]",
        "{a,b}",
        "~",
        "~/a",
        "a=~/b",
        "a:~",
        "#a",
        "a #b",
        "a\nb",
        "a\\\nb",
        "a\rb",
        "a\u{a0}b",
        "a\u{202e}",
        "a\0",
        "'a\0'",
        "'' a",
        "#sha256:00",
    ] {
        assert!(
            Target::new(Access::Write, "exec", text).is_err(),
            "{text:?}"
        );
    }
    for pattern in [
        "a**", "**a", "a ***", "''**", "a ?", "[a] *", "{a,b} **", "~ *", "a; *", "", "'' *'",
        "$(a) *", "'' **",
    ] {
        assert!(
            format!("exec:write:{pattern}").parse::<Clause>().is_err(),
            "{pattern:?}"
        );
    }
    assert!(Words::from_known(["a", "\0"]).is_err());
    let error = "exec:write:git status; rm x".parse::<Target>().unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("write one command, or quote the character"),
        "{error}"
    );
}

#[test]
fn a_text_becomes_canonical() {
    for (text, canonical) in [
        ("  cargo\ttest ", "cargo test"),
        (r#""cargo" 'te'st"#, "cargo test"),
        (r"a\ b it\'s", r"'a b' 'it'\''s'"),
        ("HEAD~1 a#b a!", "'HEAD~1' 'a#b' 'a!'"),
        (
            "a '\n\u{1b}\u{202e}\u{e0041}\\'",
            r"a $'\n\x1b\u202e\U000e0041\\'",
        ),
        (r"$'\303\251' $'\u00e9'", "'é' 'é'"),
        (
            r#"a "$x"'y z' b$x "$@" "$*" $? "${x}" ${x}"#,
            r#"a "$xy z" b$x $@ "$*" $? "${x}" ${x}"#,
        ),
        ("a \"\\\n\" \"\\a\"", r"a '' '\a'"),
    ] {
        let read = text
            .parse::<Words>()
            .map_or(String::new(), |words| words.to_string());
        assert_eq!(read, canonical, "{text:?}");
    }
    assert_eq!(clause("  git   *'*'a ** **").pattern(), "git *'*a' **");
    assert_eq!(clause("\"git\"  log").pattern(), "git log");
}

#[test]
fn a_long_list_keeps_its_first_words_before_a_digest() {
    let long = "x y".repeat(3000);
    let list = |words: &[&str]| target(&Words::from_known(words.iter().copied()).unwrap());
    let (one, other) = (
        list(&["echo", "a", &long]),
        list(&["echo", "a", &long, "b"]),
    );
    assert!(
        one.value().starts_with("echo a #sha256:") && one.value().len() == 7 + 8 + 64,
        "{one}"
    );
    assert_ne!(one, other);
    assert_eq!(one.to_string().parse().as_ref(), Ok(&one));
    let last = one.value().parse::<Words>().unwrap().iter().last().cloned();
    assert!(matches!(last, Some(Word::Digest(_))), "{last:?}");
    for (pattern, covered) in [
        ("**", true),
        ("echo **", true),
        ("echo a **", true),
        ("echo * *", false),
        ("echo b **", false),
    ] {
        assert_eq!(clause(pattern).matches(&one), covered, "{pattern}");
    }
    assert!(one.to_clause().matches(&one) && !one.to_clause().matches(&other));
    let spelled_out = clause(&format!("echo a '{long}'"));
    assert!(spelled_out.matches(&one) && !spelled_out.matches(&other));
    assert_eq!(spelled_out, one.to_clause());
    let quoted = list(&["echo", "a", &one.value()[7..]]);
    assert!(
        !one.to_clause().matches(&quoted),
        "a word with the text of a digest"
    );

    let unknown = format!("echo '{long}' \"$x\"").parse::<Words>().unwrap();
    let unknown = target(&unknown);
    assert!(unknown.value().starts_with("echo $sha256:"), "{unknown}");
    assert!(!unknown.to_clause().matches(&unknown) && clause("echo **").matches(&unknown));
    let at_most = list(&["echo", &"x".repeat(Target::MAX_LENGTH - 5)]);
    assert_eq!(at_most.value().len(), Target::MAX_LENGTH);
    assert!(
        list(&["echo", &"x".repeat(Target::MAX_LENGTH - 4)])
            .value()
            .starts_with("echo #sha256:")
    );
    let kept = "x".repeat(Target::MAX_LENGTH - 73);
    assert_eq!(list(&[&kept, &long]).value().len(), Target::MAX_LENGTH);
    assert!(
        list(&[&(kept + "x"), &long])
            .value()
            .starts_with("#sha256:")
    );
}

#[test]
fn the_longest_patterns_match_the_longest_lists() {
    for unit in ["*a", "* ", "** a ", "*a*b ", "'*'* "] {
        let pattern = format!("{}c", unit.repeat(1000 / unit.len()));
        assert!(
            !clause(&pattern).matches(&target(&format!("{}d", "a ".repeat(4000)).parse().unwrap())),
            "{unit}"
        );
        assert!(
            !clause(&pattern).matches(&target(&"a".repeat(8000).parse().unwrap())),
            "{unit}"
        );
    }
    assert!(
        format!("exec:write:{}", "* ".repeat(600))
            .parse::<Clause>()
            .is_err()
    );
}
