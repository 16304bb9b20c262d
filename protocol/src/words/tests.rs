//! Tests over all rows of the table of special words.

use std::collections::BTreeSet;

use proptest::prelude::*;
use regex::Regex;

use super::pattern::WordsPattern;
use super::row::Row;
use super::{Words, table};
use crate::access::Access;
use crate::clause::Clause;
use crate::target::Target;

fn target(words: &[&str]) -> Target {
    let words = Words::from_known(words.iter().copied()).unwrap();
    Target::new(Access::Write, "exec", words.to_string()).unwrap()
}

fn clause(words: &[&str], end: &str) -> Clause {
    let words = Words::from_known(words.iter().copied()).unwrap();
    format!("exec:write:{words}{end}").parse().unwrap()
}

/// Calls the function with the words up to each program and subcommand that has lists of words.
fn each_row(
    rows: impl Iterator<Item = &'static Row>,
    before: &[&'static str],
    f: &mut dyn FnMut(&[&str], &Row),
) {
    for row in rows {
        // One name is enough: all have the same row.
        let words = [before, &row.names[..1]].concat();
        f(&words, row);
        each_row(row.commands.iter(), &words, f);
    }
}

/// Returns words of this form.
fn samples(row: &Row, form: &str) -> Vec<String> {
    let mut samples = match form {
        "=" => {
            return vec![
                "MY_VARIABLE=x".to_owned(),
                "LD_PRELOAD=./x.so".to_owned(),
                "PATH=.".to_owned(),
            ];
        }
        form if form.contains('*') => return vec![form.replace('*', "a"), form.replace('*', "")],
        form if form.len() == 2 && form.starts_with('-') => {
            let letter = &form[1..];
            let bundle = ["-", "q", letter].concat();
            let is_value = row.valued.contains('q');
            return [form.to_owned(), format!("{form}value")]
                .into_iter()
                .chain((!is_value).then_some(bundle))
                .collect();
        }
        form => vec![form.to_owned()],
    };
    if form.starts_with("--") {
        samples.extend((3..form.len()).map(|end| form[..end].to_owned()));
    }
    let with_value: Vec<_> = samples
        .iter()
        .map(|sample| format!("{sample}=a=b"))
        .collect();
    samples.extend(with_value);
    samples
}

/// Returns the programs whose operands are never special.
fn without_readers() -> Vec<&'static str> {
    let rows =
        table::all().filter(|row| row.operands.is_none() && row.reader.is_none() && !row.is_strict);
    rows.flat_map(|row| row.names.iter().copied()).collect()
}

/// Returns those of whose special words none looks like an operand, as `u` of `jar` does.
fn with_options_alone() -> Vec<&'static str> {
    let is_operand = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase());
    let has_operand = |name: &&str| {
        let row = table::all().find(|row| row.has_name(name));
        row.is_some_and(|row| {
            let special = [&row.runs, &row.loads, &row.writes];
            special.into_iter().flatten().any(|word| is_operand(word))
        })
    };
    let mut names = without_readers();
    names.retain(|name| !has_operand(name));
    names
}

#[test]
fn each_special_word_needs_a_clause_that_spells_it() {
    let (mut count, mut faults) = (0, Vec::new());
    let mut check = |is_right: bool, text: String| {
        if !is_right {
            faults.push(text)
        }
    };
    each_row(table::all(), &[], &mut |words, row| {
        let operands: &[&str] = if row.operands.is_some() { &[] } else { &["1p"] };
        let places: &[(&[&str], &[&str])] = if row.is_strict {
            &[(&[], &["log"]), (&["-C", "a"], &["log"])]
        } else {
            &[
                (&[], &[]),
                (operands, &[]),
                (&[], operands),
                (&["--"], operands),
            ]
        };
        let program = clause(words, " **");
        let outer = clause(&words[..1], " **");
        let forms = [&row.runs, &row.loads, &row.writes].into_iter().flatten();
        let samples = forms.flat_map(|form| samples(row, form));
        // An option that takes the next word is special with some of its values.
        for sample in samples.filter(|sample| !row.is_plain_word(sample) && !row.takes_next(sample))
        {
            for (before, after) in places {
                let special = [&sample[..]];
                let command = target(&[words, before, &special, after].concat());
                count += 1;
                check(
                    program.matches(&command),
                    format!("{program} does not match {command}"),
                );
                check(
                    !program.permits(&command),
                    format!("{program} permits {command}"),
                );
                check(
                    !outer.permits(&command),
                    format!("{outer} permits {command}"),
                );
                let spelled = clause(&[words, before, &special].concat(), " **");
                check(
                    spelled.permits(&command),
                    format!("{spelled} does not permit {command}"),
                );
                check(command.to_clause().permits(&command), format!("{command}"));
            }
        }
        if row.itself.is_some() {
            let command = target(words);
            check(
                !clause(&words[..words.len() - 1], " **").permits(&command),
                format!("{command}"),
            );
            check(clause(words, " **").permits(&command), format!("{command}"));
        }
    });
    assert!(count > 10_000, "{count}");
    assert!(
        faults.is_empty(),
        "{}: {:#?}",
        faults.len(),
        &faults[..faults.len().min(60)]
    );
}

#[test]
fn an_operand_is_no_option_that_has_the_same_letters() {
    let all = clause(&["protoc"], " *");
    assert!(all.permits(&target(&["protoc", "m4"])));
    for option in ["--m4=x", "-m4=x", "--M4"] {
        assert!(!all.permits(&target(&["protoc", option])), "{option}");
    }
}

#[test]
fn each_program_has_one_row() {
    let mut names = BTreeSet::new();
    for row in table::all() {
        for name in &row.names {
            assert!(names.insert(name), "{name} has two rows");
        }
    }
    assert!(names.len() > 500);
}

proptest! {
    #[test]
    fn a_pattern_without_special_words_permits_what_it_matches(
        pattern in "[abc]( (\\*|\\*\\*|a\\*|\\*b|a\\*b|[abc]{1,2})){0,5}",
        words in prop::collection::vec("[abc]{1,3}", 1..7),
    ) {
        let Ok((_, compiled)) = WordsPattern::compile(&pattern) else { return Ok(()) };
        let words = Words::from_known(words).unwrap();
        let WordsPattern::Glob(_) = &compiled else { return Ok(()) };
        let regex: String = pattern
            .split(' ')
            .map(|word| match word {
                "**" => "([abc]+ )*".to_owned(),
                word => format!("{} ", word.replace('*', "[abc]*")),
            })
            .collect();
        let is_expected = Regex::new(&format!("^{regex}$")).unwrap().is_match(&format!("{words} "));
        prop_assert_eq!(compiled.matches(&words.to_string()), is_expected);
    }

    #[test]
    fn a_clause_permits_no_more_than_it_matches_and_all_that_has_only_operands(
        name in prop::sample::select(with_options_alone()),
        args in prop::collection::vec("[a-z]{1,2}[0-9]", 0..5),
        pattern in "(a\\*|\\*|\\*\\*|[a-z][0-9])( (\\*|\\*\\*)){0,3}",
    ) {
        let words: Vec<&str> = [name].into_iter().chain(args.iter().map(|arg| &**arg)).collect();
        let target = target(&words);
        let name = Words::from_known([name]).unwrap();
        let clause: Clause = format!("exec:write:{name} {pattern}").parse().unwrap();
        prop_assert_eq!(clause.permits(&target), clause.matches(&target), "{} {}", clause, target);
        prop_assert!(!clause.matches(&target) || clause.concerns(&target));
    }
}
