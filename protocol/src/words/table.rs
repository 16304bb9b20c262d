//! The tables of special words: one row for each program, with the page of its manual that says what its words do.
//!
//! Rows err on the side of a question. A row for a launcher lists the words that turn it into something else than a person expects, such as
//! `make --eval`; what it runs otherwise, such as the targets of a makefile, is what its clause is about.
//!
//! A line without indentation begins a row: names of programs. The lines below it are indented by two spaces:
//!
//! | line | meaning |
//! |---|---|
//! | `# …` | a comment |
//! | `& NAMES` | further names |
//! | `launches` | the program runs others or code whatever its words are |
//! | `wraps 1` | it runs the command after one operand |
//! | `exact` | it has no special word |
//! | `runs WORDS`, `loads WORDS`, `writes WORDS` | special words |
//! | `writes_after 1` | operands after the first are written |
//! | `plain WORDS` | words that are not special, though they abbreviate one that is |
//! | `valued LETTERS` | options that take the rest of their bundle, or the next word, as their value |
//! | `sub NAMES` | begins the row of a subcommand, whose lines are indented further |
//! | `itself runs` | the subcommand itself has this effect |
//! | `strict` | the lists apply before the subcommand alone, and an unknown subcommand is a program |
//! | `reader NAME` | code finds further special words; `wrapped`: the command that it runs is one |

use std::collections::HashMap;
use std::sync::LazyLock;

use super::row::Row;

/// The row of other programs: their options are judged by their names alone.
pub(super) static OTHERS: LazyLock<Row> = LazyLock::new(Row::default);

const FILES: [&str; 15] = [
    include_str!("table/archives.txt"),
    include_str!("table/builds.txt"),
    include_str!("table/compilers.txt"),
    include_str!("table/containers.txt"),
    include_str!("table/files.txt"),
    include_str!("table/git.txt"),
    include_str!("table/interpreters.txt"),
    include_str!("table/launchers.txt"),
    include_str!("table/network.txt"),
    include_str!("table/plain.txt"),
    include_str!("table/quality.txt"),
    include_str!("table/search.txt"),
    include_str!("table/system.txt"),
    include_str!("table/text.txt"),
    include_str!("table/version_control.txt"),
];

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| FILES.into_iter().flat_map(read).collect());

static BY_NAME: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| {
    let rows = ROWS.iter();
    rows.flat_map(|row| row.names.iter().map(move |name| (*name, row)))
        .collect()
});

fn read(text: &'static str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines() {
        let content = line.trim_start();
        let depth = (line.len() - content.len()) / 2;
        match depth {
            _ if content.is_empty() || content.starts_with('#') => {}
            0 => rows.push(Row::from_names(content)),
            _ => {
                let mut row = rows.last_mut();
                for _ in 1..depth {
                    row = row.and_then(|row| row.commands.last_mut());
                }
                match row {
                    Some(row) => row.read(content),
                    None => unreachable!("{line:?} belongs to no row"),
                }
            }
        }
    }
    rows
}

/// The ends of names of platforms before the name of a compiler for them, as in `x86_64-linux-gnu-gcc`.
const PLATFORMS: &str = "-gnu- -gnueabi- -gnueabihf- -musl- -mingw32- -elf- -eabi-";

/// Returns the row of a program by its name, with or without a version at its end, as in `python3.12`, and a platform before it.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    find_known(name).or_else(|| {
        let mut platforms = PLATFORMS.split(' ');
        let (_, name) = platforms.find_map(|end| name.rsplit_once(end))?;
        find_known(name)
    })
}

fn find_known(name: &str) -> Option<&'static Row> {
    let row = BY_NAME.get(name).or_else(|| {
        BY_NAME.get(name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-'))
    });
    row.copied()
}

#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    ROWS.iter()
}
