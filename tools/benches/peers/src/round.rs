//! [`Round`]: a measurement in a process of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The figures and the result of a round.
#[derive(Debug, Default)]
pub struct Round {
    /// The measured figures. A median is taken of each.
    pub figures: Vec<f64>,
    /// The result of the work, which is equal on both sides.
    pub result: String,
}

/// The sides of a comparison, as a round gets them as its first argument.
pub(crate) const SIDES: [&str; 2] = ["toolcrib", "peer"];

/// The rounds of a side.
pub(crate) const ROUNDS: usize = 7;

impl Round {
    /// Prints the round for the process that started it.
    pub(crate) fn print(&self) {
        let figures: Vec<_> = self.figures.iter().map(f64::to_string).collect();
        println!("{}\n{}", figures.join(" "), self.result);
    }

    /// Starts a program of this package with a round, and returns its outcome.
    pub(crate) fn start(program: &str, arguments: &[&str]) -> Self {
        let output = Command::new(neighbour(program))
            .args(arguments)
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?} failed");
        let text = String::from_utf8(output.stdout).unwrap();
        let (figures, result) = text.split_once('\n').unwrap();
        let figures = figures.split_whitespace();
        Self {
            figures: figures.map(|figure| figure.parse().unwrap()).collect(),
            result: result.trim_end().to_owned(),
        }
    }
}

/// Runs rounds in turn, as often as one side needs, and returns the medians of the figures of each.
pub(crate) fn in_turn<const SIDE: usize>(
    rounds: usize,
    mut round: impl FnMut(usize) -> Round,
) -> [Vec<f64>; SIDE] {
    let mut sides: [Vec<Vec<f64>>; SIDE] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
        let mut results = Vec::new();
        for (side, figures) in sides.iter_mut().enumerate() {
            let round = round(side);
            figures.push(round.figures);
            results.push(round.result);
        }
        assert!(
            results.windows(2).all(|pair| pair[0] == pair[1]),
            "the sides did not do the same work: {results:?}"
        );
    }
    sides.map(|rounds| {
        (0..rounds[0].len())
            .map(|at| median(rounds.iter().map(|round| round[at]).collect()))
            .collect()
    })
}

/// Returns the median of some figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The note of a table without the figures of the heap.
pub(crate) const UNCOUNTED: &str = "The figures of the heap are left out, because the program `heap` is missing, which `cargo build --release` builds, too.";

/// Returns true if the program that counts its heap lies beside this one.
pub(crate) fn can_count() -> bool {
    neighbour("heap").is_file()
}

fn neighbour(program: &str) -> PathBuf {
    std::env::current_exe().unwrap().with_file_name(program)
}
