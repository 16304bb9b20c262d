//! The jobs of the user, and the line on them: how the family joins a program.

use host::settings::{Settings, SettingsError};
use host::{Extension, FamilyReport, Parts, folders, inventory, program};
use jiff::tz::TimeZone;
use tools::{Services, source};

use crate::error::CronError;
use crate::jobs::Jobs;
use crate::keys::JobKeys;

/// The file of the jobs of all workspaces, in the data folder.
const FILE: &str = "cron.sqlite";

inventory::submit! {
    Extension::new("cron", source!(), Parts {
        keys: || vec![Box::new(JobKeys::default())],
        services: insert,
        report: Some(|settings, _| Box::pin(async { Ok(report(settings)) })),
        commands: &[crate::command::CRON],
        ..Parts::NONE
    })
}

impl Jobs {
    /// Returns the user's jobs of a workspace, in the data folder of the program. The file is opened by the first use.
    ///
    /// # Errors
    /// Returns an error if the user has no home.
    pub fn of_user(workspace: impl Into<String>) -> Result<Self, CronError> {
        let folder = folders::data().ok_or(CronError::NoHome)?;
        let mut jobs = Self::new(folder.join(FILE), workspace);
        let zone = TimeZone::try_system().ok();
        if let Some(name) = zone.as_ref().and_then(TimeZone::iana_name) {
            jobs.zone = name.to_owned();
        }
        Ok(jobs)
    }
}

/// Adds the jobs of the session's root. Those that the program adds itself stay.
fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    if services.get::<Jobs>().is_some() {
        return Ok(());
    }
    let Some(root) = settings.root() else {
        return Ok(());
    };
    match Jobs::of_user(root.to_string_lossy()) {
        Ok(mut jobs) => {
            jobs.limits.jobs = settings.of::<JobKeys>().max_jobs.value as usize;
            services.insert(jobs);
        }
        Err(error) => services.insert_absent::<Jobs>(error.to_string()),
    }
    Ok(())
}

fn report(settings: &Settings) -> FamilyReport {
    let root = settings.root();
    let line = root.map(|root| match Jobs::of_user(root.to_string_lossy()) {
        Ok(jobs) => format!(
            "jobs: run by `{} cron run`; their time zone is {}",
            program::name(),
            jobs.zone
        ),
        Err(error) => format!("jobs: unavailable: {error}"),
    });
    FamilyReport {
        lines: line.into_iter().collect(),
        ..FamilyReport::default()
    }
}
