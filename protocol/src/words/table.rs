//! The table of special words: one row for each program, with the page of its manual that says what its words do.
//!
//! Rows err on the side of a question. A row for a launcher lists the words that turn it into something else than a person expects, such as
//! `make --eval`; what it runs otherwise, such as the targets of a makefile, is what its clause is about.

mod archives;
mod builds;
mod compilers;
mod containers;
mod files;
mod git;
mod interpreters;
mod launchers;
mod network;
mod plain;
mod quality;
mod search;
mod system;
mod text;
mod version_control;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::row::Row;

/// The row of other programs: their options are judged by their names alone.
pub(super) const OTHERS: Row = Row::of("");

const FILES: &[&[Row]] = &[
    archives::ROWS,
    builds::ROWS,
    compilers::ROWS,
    containers::ROWS,
    files::ROWS,
    &[git::ROW],
    interpreters::ROWS,
    launchers::ROWS,
    network::ROWS,
    plain::ROWS,
    quality::ROWS,
    search::ROWS,
    system::ROWS,
    text::ROWS,
    version_control::ROWS,
];

static BY_NAME: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| {
    let rows = FILES.iter().copied().flatten();
    rows.flat_map(|row| {
        row.names
            .split_ascii_whitespace()
            .map(move |name| (name, row))
    })
    .collect()
});

/// The ends of names of platforms before the name of a compiler for them, as in `x86_64-linux-gnu-gcc`.
const PLATFORMS: &str = "-gnu- -gnueabi- -gnueabihf- -musl- -mingw32- -elf- -eabi-";

/// Returns the row of a program by its name, with or without a version at its end, as in `python3.12`, and a platform before it.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    let known = |name: &str| {
        let without_version =
            || name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        BY_NAME
            .get(name)
            .or_else(|| BY_NAME.get(without_version()))
            .copied()
    };
    let without_platform = || PLATFORMS.split(' ').find_map(|end| name.rsplit_once(end));
    known(name).or_else(|| known(without_platform()?.1))
}

#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    FILES.iter().copied().flatten()
}
