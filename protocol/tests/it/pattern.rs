//! Patterns compared with a slow reference matcher, which expands the alternatives and tries every split.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use protocol::{Access, Clause, Target};

use crate::sample::config;

#[derive(Clone, Debug)]
enum Piece {
    Char(char),
    Slash,
    Question,
    Star,
    /// `**`: a whole segment, outside of braces.
    Stars,
    /// Ranges of ASCII characters. A range of one character is a single member.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    Braces(Vec<Vec<Piece>>),
}

fn text(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Char(c) if "*?[]{}\\,".contains(*c) => format!("\\{c}"),
        Piece::Char(c) => c.to_string(),
        Piece::Slash => "/".to_owned(),
        Piece::Question => "?".to_owned(),
        Piece::Star => "*".to_owned(),
        Piece::Stars => "**".to_owned(),
        Piece::Class { negated, ranges } => {
            let range = |(from, to): &(char, char)| {
                if from == to {
                    from.to_string()
                } else {
                    format!("{from}-{to}")
                }
            };
            format!(
                "[{}{}]",
                if *negated { "!" } else { "" },
                ranges.iter().map(range).collect::<String>()
            )
        }
        Piece::Braces(alternatives) => {
            format!(
                "{{{}}}",
                alternatives
                    .iter()
                    .map(|pieces| text(pieces))
                    .collect::<Vec<_>>()
                    .join(",")
            )
        }
    };
    pieces.iter().map(piece).collect()
}

/// Expands the braces of a pattern into all its alternatives.
fn spelled_out(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let Some((first, rest)) = pieces.split_first() else {
        return vec![Vec::new()];
    };
    let firsts = match first {
        Piece::Braces(alternatives) => alternatives.clone(),
        piece => vec![vec![piece.clone()]],
    };
    let rests = spelled_out(rest);
    firsts
        .iter()
        .flat_map(|first| rests.iter().map(move |rest| [&first[..], rest].concat()))
        .collect()
}

fn segment_matches(pieces: &[Piece], value: &[char]) -> bool {
    match (pieces, value) {
        ([], value) => value.is_empty(),
        ([Piece::Star, rest @ ..], _) => {
            (0..=value.len()).any(|n| segment_matches(rest, &value[n..]))
        }
        ([piece, rest @ ..], [c, value @ ..]) => {
            let is_first = match piece {
                Piece::Char(expected) => expected == c,
                Piece::Question => true,
                Piece::Class { negated, ranges } => {
                    *negated != ranges.iter().any(|(from, to)| (from..=to).contains(&c))
                }
                _ => unreachable!("not in a segment"),
            };
            is_first && segment_matches(rest, value)
        }
        (_, []) => false,
    }
}

fn segments_match(pattern: &[&[Piece]], value: &[&[char]]) -> bool {
    match (pattern, value) {
        ([], value) => value.is_empty(),
        ([[Piece::Stars], rest @ ..], _) => {
            (0..=value.len()).any(|n| segments_match(rest, &value[n..]))
        }
        ([segment, rest @ ..], [first, value @ ..]) => {
            segment_matches(segment, first) && segments_match(rest, value)
        }
        (_, []) => false,
    }
}

fn reference(pattern: &[Piece], value: &str) -> bool {
    if value == "." {
        let mut own: Vec<Vec<Piece>> = pattern
            .split(|piece| matches!(piece, Piece::Slash))
            .map(<[_]>::to_vec)
            .collect();
        while own.len() > 1 && matches!(own[own.len() - 1][..], [Piece::Stars]) {
            own.pop();
        }
        return matches!(&own[..], [own] if matches!(own[..], [Piece::Stars] | [Piece::Char('.')]));
    }
    let value: Vec<char> = value.chars().collect();
    let value: Vec<&[char]> = value.split(|c| *c == '/').collect();
    spelled_out(pattern).iter().any(|pattern| {
        let segments: Vec<&[Piece]> = pattern
            .split(|piece| matches!(piece, Piece::Slash))
            .collect();
        segments_match(&segments, &value)
    })
}

const LETTERS: [char; 10] = ['a', 'b', 'é', '\u{301}', '水', '😀', '.', '-', '*', ']'];

fn letter() -> impl Strategy<Value = char> {
    prop_oneof![4 => select(vec!['a', 'b', 'é']), 1 => select(LETTERS.to_vec())]
}

fn piece() -> impl Strategy<Value = Piece> {
    let ranges = vec(
        select(vec![
            ('a', 'a'),
            ('b', 'b'),
            ('a', 'c'),
            ('*', '.'),
            ('0', 'Z'),
            ('&', '&'),
            ('~', '~'),
        ]),
        1..3,
    );
    prop_oneof![
        6 => letter().prop_map(Piece::Char),
        2 => Just(Piece::Question),
        3 => Just(Piece::Star),
        2 => (any::<bool>(), ranges).prop_map(|(negated, ranges)| Piece::Class { negated, ranges }),
    ]
}

fn alternative() -> impl Strategy<Value = Vec<Piece>> {
    vec(prop_oneof![6 => piece(), 1 => Just(Piece::Slash)], 1..4)
}

fn segment() -> impl Strategy<Value = Vec<Piece>> {
    let braces = vec(alternative(), 1..4).prop_map(Piece::Braces);
    // `*` twice would be `**`.
    let apart = |pieces: &Vec<Piece>| !text(pieces).contains("**");
    prop_oneof![
        2 => Just(vec![Piece::Stars]),
        1 => Just(Vec::new()),
        7 => vec(prop_oneof![8 => piece(), 1 => braces], 1..4).prop_filter("two stars", apart),
    ]
}

fn pattern() -> impl Strategy<Value = Vec<Piece>> {
    vec(segment(), 1..5)
        .prop_map(|segments| segments.join(&Piece::Slash))
        .prop_filter("empty", |pieces| !pieces.is_empty())
}

fn value() -> impl Strategy<Value = String> {
    let character = prop_oneof![5 => letter(), 2 => Just('/')];
    vec(character, 1..7).prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    #![proptest_config(config(1_600))]

    /// Uses the scheme `world`, whose values are not normalised.
    #[test]
    fn a_pattern_matches_as_its_plain_reading_does(pattern in pattern(), values in vec(value(), 64)) {
        let text = text(&pattern);
        let clause: Clause = format!("world:read:{text}").parse().unwrap();
        for value in values.iter().map(String::as_str).chain(["."]) {
            let target = Target::new(Access::Read, "world", value).unwrap();
            prop_assert_eq!(clause.matches(&target), reference(&pattern, value), "{} with {}", text, value);
        }
    }
}

fn covers(clause: &str, target: &str) -> bool {
    clause
        .parse::<Clause>()
        .unwrap()
        .matches(&target.parse().unwrap())
}

#[test]
fn a_question_mark_and_a_class_match_one_whole_character() {
    for character in ["é", "水", "😀"] {
        for pattern in ["?", "[!a]", "x?y", "x[!a-z]y", "{?,ab}"] {
            let value = if pattern.starts_with('x') {
                format!("x{character}y")
            } else {
                character.to_owned()
            };
            assert!(
                covers(&format!("fs:read:{pattern}"), &format!("fs:read:{value}")),
                "{pattern} {value}"
            );
        }
        assert!(!covers("fs:read:??", &format!("fs:read:{character}")));
        assert!(!covers("fs:read:[!a][!a]", &format!("fs:read:{character}")));
    }
}

#[test]
fn two_stars_and_a_slash_at_the_end_ask_for_a_slash() {
    for pattern in ["a/**/", "*/**/", "**/"] {
        assert!(
            covers(&format!("git:read:{pattern}"), "git:read:a/b/"),
            "{pattern}"
        );
        for value in ["a", "a/b", "ab"] {
            assert!(
                !covers(&format!("git:read:{pattern}"), &format!("git:read:{value}")),
                "{pattern} {value}"
            );
        }
    }
}

#[test]
fn the_longest_patterns_compile() {
    for unit in ["?", "*", "?*", "[!a]", "{a,?}", "**/", "*/", "[a-z]"] {
        let pattern = unit.repeat(1024 / unit.len());
        if pattern.contains("**") && unit == "*" {
            continue;
        }
        let clause: Clause = format!("git:read:{pattern}").parse().unwrap();
        assert!(
            !clause.matches(&format!("git:read:{}!", "a/".repeat(4000)).parse().unwrap()),
            "{unit}"
        );
    }
}
