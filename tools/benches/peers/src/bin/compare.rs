//! Prints the figures of Toolcrib beside those of its peers, as one table: `compare [FIGURE…]`.
//!
//! `cargo build --release --manifest-path tools/benches/peers/Cargo.toml` builds it and the program `heap`, which counts.

use std::process::ExitCode;

use peers::{FIGURES, Table, run_round, serve_bare};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        // The servers and the rounds, which this program starts.
        Some("serve") => return toolcrib::main(),
        Some("serve-bare") => serve_bare(),
        Some("round") => run_round(&arguments[1..]),
        _ => return compare(&arguments),
    }
    ExitCode::SUCCESS
}

/// Prints the table of these figures, or of all.
fn compare(named: &[String]) -> ExitCode {
    let names: Vec<_> = FIGURES.iter().map(|figure| figure.name).collect();
    let unknown = named.iter().find(|name| !names.contains(&name.as_str()));
    if let Some(unknown) = unknown {
        let names = names.join(", ");
        eprintln!("there is no figure {unknown:?}; give some of {names}");
        return ExitCode::from(2);
    }
    let mut table = Table::start();
    for figure in FIGURES {
        if named.is_empty() || named.iter().any(|name| name == figure.name) {
            (figure.measure)(&mut table);
        }
    }
    table.end();
    ExitCode::SUCCESS
}
