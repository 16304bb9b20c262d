//! [`Table`]: the figures as they are printed.

use std::collections::BTreeSet;

/// The table, whose rows are printed as they are measured.
#[derive(Debug)]
pub struct Table {
    notes: BTreeSet<&'static str>,
}

impl Table {
    /// Prints the head.
    pub fn start() -> Self {
        println!("| figure | toolcrib | peer | ratio | asked | load |");
        println!("| --- | --: | --: | --: | --: | --: |");
        Self {
            notes: BTreeSet::new(),
        }
    }

    /// Prints the row of a figure and its peer, in the same unit.
    pub(crate) fn compare(
        &mut self,
        figure: &str,
        unit: &str,
        [toolcrib, peer]: [f64; 2],
        asked: &str,
    ) {
        let cell = |figure: f64| format!("{} {unit}", short(figure));
        let ratio = short(toolcrib / peer);
        self.row(figure, &cell(toolcrib), &cell(peer), &ratio, asked);
    }

    /// Prints the row of a figure without a peer.
    pub(crate) fn tell(&mut self, figure: &str, toolcrib: &str, asked: &str) {
        self.row(figure, toolcrib, "", "", asked);
    }

    fn row(&mut self, figure: &str, toolcrib: &str, peer: &str, ratio: &str, asked: &str) {
        let load = load();
        println!("| {figure} | {toolcrib} | {peer} | {ratio} | {asked} | {load} |");
    }

    /// Keeps a sentence about a figure that is missing, for the end of the table.
    pub(crate) fn note(&mut self, sentence: &'static str) {
        self.notes.insert(sentence);
    }

    /// Prints the sentences below the table.
    pub fn end(self) {
        if !self.notes.is_empty() {
            println!();
        }
        for note in self.notes {
            println!("- {note}");
        }
    }
}

/// Returns a figure with three significant digits, or as a whole number.
pub(crate) fn short(figure: f64) -> String {
    match figure.abs() {
        magnitude if magnitude >= 100.0 => format!("{figure:.0}"),
        magnitude if magnitude >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

/// Returns the load of the machine over the last minute. Empty if the system does not tell it.
fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned()
}
