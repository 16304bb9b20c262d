//! One attempt to get past the walls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use libtest_mimic::{Completion, Failed, Trial};

use crate::case::Case;
use crate::site::{SECRET, Site};

/// The proof that an attempt succeeded.
#[derive(Clone, Copy)]
enum Evidence {
    /// The secret is in the output.
    Leaked,
    /// The script came to the end, which it says.
    Reached,
    /// A file or process outside has changed.
    Changed(fn(&Site) -> bool),
}

/// The result of a probe without walls, for one user. The layers of its cases do not matter.
type Control = Arc<OnceLock<Result<(), String>>>;

static CONTROLS: Mutex<Option<HashMap<(&str, u32), Control>>> = Mutex::new(None);

/// A Python script that tries to get past the walls.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    name: &'static str,
    script: &'static str,
    evidence: Evidence,
    root_only: bool,
    optional: bool,
    inherits: bool,
    beside_process: bool,
    landlock_only: bool,
    gap: fn(&Case) -> bool,
}

pub(crate) fn leaks(name: &'static str, script: &'static str) -> Probe {
    Probe {
        name,
        script,
        evidence: Evidence::Leaked,
        root_only: false,
        optional: false,
        inherits: false,
        beside_process: false,
        landlock_only: false,
        gap: |_| false,
    }
}

pub(crate) fn reaches(name: &'static str, script: &'static str) -> Probe {
    Probe {
        evidence: Evidence::Reached,
        ..leaks(name, script)
    }
}

pub(crate) fn changes(
    name: &'static str,
    script: &'static str,
    changed: fn(&Site) -> bool,
) -> Probe {
    Probe {
        evidence: Evidence::Changed(changed),
        ..leaks(name, script)
    }
}

impl Probe {
    /// Needs root for its control.
    pub(crate) fn of_root(self) -> Self {
        Self {
            root_only: true,
            ..self
        }
    }

    /// Needs a feature that not every kernel has, or that some forbid.
    pub(crate) fn if_possible(self) -> Self {
        Self {
            optional: true,
            ..self
        }
    }

    /// Gets the secret file as descriptor 9.
    pub(crate) fn with_open_file(self) -> Self {
        Self {
            inherits: true,
            ..self
        }
    }

    /// Needs a process outside.
    pub(crate) fn beside_process(self) -> Self {
        Self {
            beside_process: true,
            ..self
        }
    }

    /// Succeeds in the namespaces of bubblewrap, where it reaches nothing outside.
    pub(crate) fn with_landlock_alone(self) -> Self {
        Self {
            landlock_only: true,
            ..self
        }
    }

    /// Is known to get past the walls in some cases, which `Confinement::caveats` tells the user.
    pub(crate) fn with_gap(self, gap: fn(&Case) -> bool) -> Self {
        Self { gap, ..self }
    }

    pub(crate) fn suits(&self, case: &Case) -> bool {
        (case.is_root() || !self.root_only) && (case.alone || !self.landlock_only)
    }

    pub(crate) fn trial(self, case: Case) -> Trial {
        Trial::ignorable_test(format!("{case}::{}", self.name), move || self.run(&case))
    }

    fn run(self, case: &Case) -> Result<Completion, Failed> {
        if let Some(missing) = &case.missing {
            return Ok(Completion::ignored_with(missing));
        }
        if let Err(reason) = self.control(case) {
            return if self.optional {
                Ok(Completion::ignored_with(
                    reason.lines().last().unwrap_or_default(),
                ))
            } else {
                Err(reason.into())
            };
        }
        let site = self.site(case);
        let confined = site.confined(case, self.script, self.inherits);
        let errors = String::from_utf8_lossy(&confined.stderr);
        // A program that did not start proves nothing.
        if errors.starts_with("toolcrib:") || errors.starts_with("bwrap:") {
            return Err(errors.into_owned().into());
        }
        match (self.succeeded(&site, &confined), (self.gap)(case)) {
            (false, _) => Ok(Completion::Completed),
            (true, true) => Ok(Completion::ignored_with("known gap")),
            (true, false) => Err(format!(
                "it got past the walls: {}",
                String::from_utf8_lossy(&confined.stdout)
            )
            .into()),
        }
    }

    /// Runs the script without walls, unless that was done for this user. Returns an error if it does not succeed.
    fn control(self, case: &Case) -> Result<(), String> {
        let control = CONTROLS
            .lock()
            .unwrap()
            .get_or_insert_default()
            .entry((self.name, case.user))
            .or_default()
            .clone();
        let result = control.get_or_init(|| {
            let site = self.site(case);
            let output = site.unconfined(case, self.script, self.inherits);
            if self.succeeded(&site, &output) {
                Ok(())
            } else {
                Err(format!(
                    "without walls it fails too: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                ))
            }
        });
        result.clone()
    }

    fn site(self, case: &Case) -> Site {
        let site = Site::new(case);
        if self.beside_process {
            site.with_bystander(case)
        } else {
            site
        }
    }

    fn succeeded(&self, site: &Site, output: &std::process::Output) -> bool {
        let printed = String::from_utf8_lossy(&output.stdout);
        match self.evidence {
            Evidence::Leaked => printed.contains(SECRET),
            Evidence::Reached => printed.contains("REACHED"),
            Evidence::Changed(changed) => changed(site),
        }
    }
}
