//! Counts with valgrind, whose results do not depend on the machine's load.

use std::path::PathBuf;
use std::process::Command;
use std::thread;

/// The directory of the measured programs.
#[derive(Debug)]
pub struct Programs(pub PathBuf);

impl Programs {
    /// Returns the instructions of one round of a scenario.
    pub fn instructions(&self, scenario: &str) -> f64 {
        self.instructions_in(scenario, 1_000)
    }

    /// Returns the instructions of one round, as the mean of `rounds`.
    pub fn instructions_in(&self, scenario: &str, rounds: u64) -> f64 {
        per_round(rounds, |count| self.instructions_of(&[scenario, count]))
    }

    /// Returns the instructions of one of 10,000 rounds, of one of 1,000 = 1. Runs with threads differ by some percent, so short parts of
    /// them cannot be compared.
    pub fn growth(&self, scenario: &str) -> f64 {
        self.instructions_in(scenario, 10_000) / self.instructions_in(scenario, 1_000)
    }

    /// Returns the instructions of a process's first validated call beyond those of a later call, which takes `later`.
    pub fn first(&self, later: f64) -> f64 {
        self.instructions_of(&["first", "1"]) - self.instructions_of(&["first", "0"]) - later
    }

    /// Returns the allocations of one round of a scenario.
    pub fn allocations(&self, scenario: &str) -> f64 {
        self.heap_per_round(scenario, "total heap usage:")
    }

    /// Returns the bytes of heap that one round of a scenario allocates.
    pub fn allocated(&self, scenario: &str) -> f64 {
        self.heap_per_round(scenario, "frees,")
    }

    /// Returns the instructions of registering a definition with the schema of `order`.
    pub fn registering(&self) -> f64 {
        self.instructions("register") - self.instructions("define")
    }

    /// Returns the bytes of heap that one round of a scenario keeps allocated.
    pub fn kept(&self, scenario: &str) -> f64 {
        self.heap_per_round(scenario, "in use at exit:")
    }

    /// Returns the bytes on the heap at the end of the program with the linked tools.
    pub fn heap(&self, arguments: &[&str]) -> f64 {
        after(&self.memcheck("linked", arguments), "in use at exit:")
    }

    /// Returns the path of a program.
    pub fn path(&self, program: &str) -> PathBuf {
        self.0.join(program)
    }

    fn heap_per_round(&self, scenario: &str, label: &str) -> f64 {
        per_round(1_000, |count| {
            after(&self.memcheck("scenario", &[scenario, count]), label)
        })
    }

    fn instructions_of(&self, arguments: &[&str]) -> f64 {
        let options = [
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ];
        after(&self.valgrind(&options, "scenario", arguments), "refs:")
    }

    fn memcheck(&self, program: &str, arguments: &[&str]) -> String {
        self.valgrind(
            &[
                "--tool=memcheck",
                "--leak-check=no",
                "--undef-value-errors=no",
            ],
            program,
            arguments,
        )
    }

    /// Runs a program in valgrind and returns valgrind's report.
    fn valgrind(&self, options: &[&str], program: &str, arguments: &[&str]) -> String {
        let output = Command::new("valgrind")
            .args(options)
            .arg(self.path(program))
            .args(arguments)
            .output();
        let output = output.expect("valgrind is installed");
        assert!(output.status.success(), "{program} {arguments:?} failed");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// Returns the cost of one round: the difference of a long and a short run, which run at the same time.
fn per_round(rounds: u64, cost: impl Fn(&str) -> f64 + Sync) -> f64 {
    let short = 200.min(rounds / 5);
    thread::scope(|scope| {
        let few = scope.spawn(|| cost(&short.to_string()));
        let many = cost(&(short + rounds).to_string());
        (many - few.join().unwrap()) / rounds as f64
    })
}

/// Returns the number after a label in a report.
fn after(report: &str, label: &str) -> f64 {
    let rest = report
        .split_once(label)
        .unwrap_or_else(|| panic!("valgrind's report has no {label:?}"))
        .1;
    let number = rest.split_whitespace().next().unwrap_or_default();
    number.replace(',', "").parse().unwrap()
}
