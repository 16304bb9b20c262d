//! Compares the commands that a transparent script names with those that a shell runs, word by word.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;

use proptest::collection::vec;
use proptest::sample::select;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use tools::protocol::Access;

use super::shell::{RealShell, is_recorded, words};
use crate::lookup;
use crate::script::{Script, Shell};

/// Parts of scripts. All words are harmless, and there is no `/` but that of `/dev/null`.
const PIECES: &[&str] = &[
    "p0",
    "p1",
    "f0",
    "p0 a",
    "p1 b",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    "\n",
    "\\\n",
    " \\\n",
    "\\\r\n",
    "\r",
    "\u{b}",
    "\u{c}",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{85}",
    "\u{1}",
    "'",
    "\"",
    "\\",
    "''",
    "\"\"",
    "'a b'",
    "\"c d\"",
    "\"e'f\"",
    "'g\"h'",
    "\\'",
    "\\\"",
    "\\ ",
    "\\\\",
    "\\a",
    "\\$",
    "\\\t",
    "$'",
    "$'\\n'",
    "$'\\''",
    "$'\\\\'",
    "$'\\x41'",
    "$'\\u00e9'",
    "$'\\101'",
    "$'\\cA'",
    "$'\\q'",
    "$\"",
    "$",
    "$x",
    "$(",
    ")",
    "`",
    "$((",
    "))",
    "${",
    "}",
    "{",
    "{ ",
    "; }",
    "(",
    "[",
    "[ ",
    " ]",
    "]",
    "[[ ",
    " ]]",
    "{a,b}",
    "{1..3}",
    "*",
    "?",
    "~",
    "~+",
    "#",
    " #",
    "# c\n",
    "# c\\\n",
    "&&",
    " && ",
    "||",
    " || ",
    "; ",
    ";",
    "|",
    " | ",
    "|&",
    "&",
    " & ",
    ";;",
    ";&",
    "!",
    "! ",
    ">",
    ">>",
    ">|",
    "<",
    "<>",
    "<<",
    "<<<",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "&>",
    "&>>",
    ">&",
    "<&",
    ">&-",
    "<&-",
    ">& ",
    "<(",
    ">(",
    ">a",
    "> b",
    "2>",
    "1>",
    "10>",
    "2> ",
    " 2>&1",
    ">&2",
    ">&1-",
    "{v}>",
    "> /dev/null",
    "0",
    "1",
    "2",
    "-",
    "--",
    "=",
    "==",
    "=~",
    "+=",
    "x=1 ",
    "x=1",
    "a[1]=",
    "a=b",
    "%",
    "%1",
    "^",
    "@",
    "@(",
    "!(",
    "+",
    ",",
    ":",
    ".",
    "a",
    "b",
    "é",
    "x y",
    "-n",
    "-e",
    "%s",
    "if ",
    "then ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "while ",
    "case ",
    "esac",
    "time ",
    "time",
    "coproc ",
    "function ",
    "select ",
    "!p0",
    "echo ",
    "true",
    ": ",
    "f() ",
    "()",
    "\\\n#",
    "a#b",
    "\n\n",
    " \n ",
    "\\n",
    "-p0",
    "set -e\n",
    "test ",
];

/// Whole parts, so that long scripts are transparent often.
const PARTS: &[&str] = &[
    "p0",
    "p1 a",
    "f0 b",
    "p0 'a b'",
    "p1 \"c\\\"d\" e",
    "p0 a\\ b",
    "p1 '' \"\"",
    "p0 x=1 --y=z",
    "p1 $'a\\tb'",
    "p0 é",
    "p1 a#b",
    "p0 2",
    "p1 -",
    "p0 a'b'\"c\"d",
    "p1 %s\\n",
    "p0 +x @y ,z ^w",
    "p1 a=b=c",
    "p0 ]",
    "p1 }",
    "p0 !",
    "p1 -- -x",
    "echo a",
    "true",
];

const JOINS: &[&str] = &[
    " && ", "&&", " || ", ";", "; ", "\n", " | ", "|", " & ", " >a ", " 2>&1 ", " 2> b ", ">c ",
    " \\\n ", " # c\n", " ", "\t", "\\\n", "\n\n",
];

fn scripts() -> impl Strategy<Value = String> {
    let soup = vec(select(PIECES), 1..9).prop_map(|pieces| pieces.concat());
    let joined = || {
        vec((select(PARTS), select(JOINS)), 1..6).prop_map(|parts| {
            parts
                .iter()
                .flat_map(|(part, join)| [*part, *join])
                .collect()
        })
    };
    // A valid script with one piece at a random place.
    let mutated = (
        joined(),
        select(PIECES),
        proptest::num::usize::ANY,
        0..3_usize,
    )
        .prop_map(|(text, piece, at, removed): (String, _, _, _)| {
            let characters: Vec<char> = text.chars().collect();
            let at = at % (characters.len() + 1);
            let rest = &characters[(at + removed).min(characters.len())..];
            characters[..at]
                .iter()
                .chain(&piece.chars().collect::<Vec<_>>())
                .chain(rest)
                .collect()
        });
    proptest::prop_oneof![2 => soup, 1 => joined(), 3 => mutated]
}

/// Compares a script with a real shell, if it is transparent. Returns true if it is.
fn compare(shell: &RealShell, dialect: Shell, text: &str) -> Result<bool, TestCaseError> {
    // Not every system has it.
    if dialect == Shell::Sh
        && lookup::program("dash", Path::new("/"), &lookup::folders(&[]), || None).is_err()
    {
        return Ok(false);
    }
    let Ok(script) = Script::parse(text, dialect, ".") else {
        return Ok(false);
    };
    let Some(quoted) = &script.quoted else {
        return Ok(false);
    };
    let named = words(&script);
    let recorded: BTreeSet<_> = named
        .iter()
        .filter(|words| is_recorded(&words[0]))
        .cloned()
        .collect();
    let written: BTreeSet<String> = script
        .files
        .iter()
        .filter(|(access, _)| *access == Access::Write)
        .map(|(_, path)| path.clone())
        .collect();
    // After a failure the rest is left out. Programs in the background are not waited for if their streams are closed.
    let is_whole = !text.contains("&&")
        && !text.contains("||")
        && !text.contains("set")
        && !text.contains('&')
        && !text.contains('<')
        && named.len() == recorded.len();
    for source in [text, quoted] {
        let seen = shell.run(dialect, source, &named);
        let facts = format!("{dialect:?} {source:?}\n named {named:?} {written:?}\n seen {seen:?}");
        if !seen.commands.is_subset(&recorded) || !seen.written.is_subset(&written) {
            return Err(TestCaseError::fail(format!(
                "it runs what it does not name: {facts}"
            )));
        }
        if is_whole && seen.commands != recorded || seen.errors.contains("yntax error") {
            return Err(TestCaseError::fail(format!(
                "it does not run what it names: {facts}"
            )));
        }
    }
    Ok(true)
}

/// Compares random scripts. Returns how many of them were transparent.
fn compare_random(cases: u32, seed: [u8; 32]) -> u32 {
    let (shell, transparent) = (RealShell::new(), Cell::new(0));
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let ended = runner.run(&scripts(), |text| {
        for dialect in [Shell::Bash, Shell::Sh] {
            transparent.set(transparent.get() + u32::from(compare(&shell, dialect, &text)?));
        }
        Ok(())
    });
    if let Err(error) = ended {
        panic!("{error}");
    }
    transparent.get()
}

#[test]
fn a_transparent_script_runs_the_commands_that_it_names() {
    let transparent = compare_random(600, [7; 32]);
    assert!(transparent > 100, "{transparent}");
}

/// Compares scripts for half a minute, others each time.
#[test]
#[ignore = "runs for half a minute"]
#[allow(clippy::print_stdout, reason = "the counts are the result")]
fn many_transparent_scripts_run_the_commands_that_they_name() {
    let start = std::time::Instant::now();
    let seconds = std::env::var("SECONDS_OF_SCRIPTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(30);
    let (mut cases, mut transparent) = (0, 0);
    while start.elapsed().as_secs() < seconds {
        let seed = std::array::from_fn(|_| rand_byte());
        transparent += compare_random(500, seed);
        cases += 500;
    }
    println!("{cases} scripts, each for bash and dash; transparent {transparent}");
}

fn rand_byte() -> u8 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    RandomState::new().build_hasher().finish() as u8
}
