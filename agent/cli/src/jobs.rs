//! The service of the tools `cron.*`: the jobs of a workspace, in the data folder.

use jiff::tz::TimeZone;
use tools::Services;
use tools_builtin::cron::Jobs;

use crate::error::Error;
use host::folders;

/// The file of the jobs of all workspaces, in the data folder.
const FILE: &str = "cron.sqlite";

/// Adds the service, unless there is one.
pub(crate) fn insert(services: &mut Services, workspace: String) {
    if services.get::<Jobs>().is_some() {
        return;
    }
    match open(workspace) {
        Ok(jobs) => services.insert(jobs),
        Err(error) => services.insert_absent::<Jobs>(error.to_string()),
    }
}

/// Returns the jobs of a workspace. The file is opened by the first use.
///
/// # Errors
/// Returns an error if the user has no home.
pub(crate) fn open(workspace: String) -> Result<Jobs, Error> {
    let folder = folders::data().ok_or(Error::NoData)?;
    let jobs = Jobs::new(folder.join(FILE), workspace);
    let zone = TimeZone::try_system()
        .ok()
        .and_then(|zone| zone.iana_name().map(str::to_owned));
    Ok(zone.into_iter().fold(jobs, Jobs::with_zone))
}

/// Returns the line of `doctor` about the jobs.
pub(crate) fn report(workspace: String) -> String {
    match open(workspace) {
        Ok(jobs) => format!(
            "jobs: run by `{} cron run`; their time zone is {}",
            crate::program::name(),
            jobs.zone()
        ),
        Err(error) => format!("jobs: unavailable: {error}"),
    }
}
