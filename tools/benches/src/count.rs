//! Counting, by valgrind: what comes out is the same on a busy machine.

use std::path::PathBuf;
use std::process::Command;

/// Where the programs are that are measured.
#[derive(Debug)]
pub struct Programs(pub PathBuf);

impl Programs {
    /// Instructions of one round of a scenario.
    pub fn instructions(&self, scenario: &str) -> f64 {
        self.instructions_in(scenario, 1_000)
    }

    /// The same, as the mean of so many rounds.
    pub fn instructions_in(&self, scenario: &str, rounds: u64) -> f64 {
        let [few, many] = [200, 200 + rounds].map(|count| self.instructions_of(&[scenario, &count.to_string()]));
        (many - few) / rounds as f64
    }

    /// Instructions that the first validated call of a process takes above a later one, of which there are so many.
    pub fn first(&self, later: f64) -> f64 {
        self.instructions_of(&["first", "1"]) - self.instructions_of(&["first", "0"]) - later
    }

    /// Allocations of one round of a scenario.
    pub fn allocations(&self, scenario: &str) -> f64 {
        let count = |count: &str| after(&self.memcheck("scenario", &[scenario, count]), "total heap usage:");
        (count("1200") - count("200")) / 1_000.0
    }

    /// Bytes of heap that one round of a scenario allocates.
    pub fn allocated(&self, scenario: &str) -> f64 {
        let allocated = |count: &str| after(&self.memcheck("scenario", &[scenario, count]), "frees,");
        (allocated("1200") - allocated("200")) / 1_000.0
    }

    /// Instructions of registering a definition with the schema of `order`.
    pub fn registering(&self) -> f64 {
        self.instructions("register") - self.instructions("define")
    }

    /// Bytes of heap that one round of a scenario keeps.
    pub fn kept(&self, scenario: &str) -> f64 {
        let kept = |count: &str| after(&self.memcheck("scenario", &[scenario, count]), "in use at exit:");
        (kept("1200") - kept("200")) / 1_000.0
    }

    /// Bytes on the heap at the end of the program with the linked tools.
    pub fn heap(&self, arguments: &[&str]) -> f64 {
        after(&self.memcheck("linked", arguments), "in use at exit:")
    }

    /// One of them.
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

    /// What valgrind says of a program.
    fn valgrind(&self, options: &[&str], program: &str, arguments: &[&str]) -> String {
        let output = Command::new("valgrind").args(options).arg(self.path(program)).args(arguments).output();
        let output = output.expect("valgrind is installed");
        assert!(output.status.success(), "{program} {arguments:?} failed");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// The number after a label.
fn after(report: &str, label: &str) -> f64 {
    let rest = report.split_once(label).unwrap_or_else(|| panic!("valgrind says no {label:?}")).1;
    let number = rest.split_whitespace().next().unwrap_or_default();
    number.replace(',', "").parse().unwrap()
}
