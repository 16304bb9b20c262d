//! Counts with valgrind, whose results do not depend on the machine's load.

use std::path::PathBuf;
use std::process::Command;

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
        let [few, many] = [200, 200 + rounds].map(|count| self.instructions_of(&[scenario, &count.to_string()]));
        (many - few) / rounds as f64
    }

    /// Returns the instructions of a process's first validated call beyond those of a later call, which takes `later`.
    pub fn first(&self, later: f64) -> f64 {
        self.instructions_of(&["first", "1"]) - self.instructions_of(&["first", "0"]) - later
    }

    /// Returns the allocations of one round of a scenario.
    pub fn allocations(&self, scenario: &str) -> f64 {
        let count = |count: &str| after(&self.memcheck("scenario", &[scenario, count]), "total heap usage:");
        (count("1200") - count("200")) / 1_000.0
    }

    /// Returns the bytes of heap that one round of a scenario allocates.
    pub fn allocated(&self, scenario: &str) -> f64 {
        let allocated = |count: &str| after(&self.memcheck("scenario", &[scenario, count]), "frees,");
        (allocated("1200") - allocated("200")) / 1_000.0
    }

    /// Returns the instructions of registering a definition with the schema of `order`.
    pub fn registering(&self) -> f64 {
        self.instructions("register") - self.instructions("define")
    }

    /// Returns the bytes of heap that one round of a scenario keeps allocated.
    pub fn kept(&self, scenario: &str) -> f64 {
        let kept = |count: &str| after(&self.memcheck("scenario", &[scenario, count]), "in use at exit:");
        (kept("1200") - kept("200")) / 1_000.0
    }

    /// Returns the bytes on the heap at the end of the program with the linked tools.
    pub fn heap(&self, arguments: &[&str]) -> f64 {
        after(&self.memcheck("linked", arguments), "in use at exit:")
    }

    /// Returns the path of a program.
    pub fn path(&self, program: &str) -> PathBuf {
        self.0.join(program)
    }

    fn instructions_of(&self, arguments: &[&str]) -> f64 {
        let options = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
        after(&self.valgrind(&options, "scenario", arguments), "refs:")
    }

    fn memcheck(&self, program: &str, arguments: &[&str]) -> String {
        self.valgrind(&["--tool=memcheck", "--leak-check=no", "--undef-value-errors=no"], program, arguments)
    }

    /// Runs a program in valgrind and returns valgrind's report.
    fn valgrind(&self, options: &[&str], program: &str, arguments: &[&str]) -> String {
        let output = Command::new("valgrind").args(options).arg(self.path(program)).args(arguments).output();
        let output = output.expect("valgrind is installed");
        assert!(output.status.success(), "{program} {arguments:?} failed");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// Returns the number after a label in a report.
fn after(report: &str, label: &str) -> f64 {
    let rest = report.split_once(label).unwrap_or_else(|| panic!("valgrind's report has no {label:?}")).1;
    let number = rest.split_whitespace().next().unwrap_or_default();
    number.replace(',', "").parse().unwrap()
}
