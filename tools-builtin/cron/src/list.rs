//! `cron.list`: lists the jobs.

use tools::{ToolContext, ToolError, tool, visible_line};

use crate::add::show;
use crate::error::CronError;
use crate::job::Job;
use crate::jobs::Jobs;

/// The characters of the work that a line shows.
const SHOWN_WORK: usize = 200;

/// Lists the jobs of this workspace: id, times, next run, work and the outcome of the last run.
#[tool(
    name = "cron.list",
    title = "List the jobs",
    reads = "cron:jobs",
    needs = Jobs,
    tags = ["schedule"],
    example({}),
)]
pub(crate) async fn list(cx: &ToolContext) -> Result<String, ToolError> {
    let jobs = cx.need::<Jobs>()?;
    let mut lines = Vec::new();
    for job in jobs.list().await? {
        // A stranger may have dictated it to the session that made it.
        if job.as_ref().map_or(true, |job| job.spec.exposed) {
            cx.record_exposure();
        }
        let (id, line) = match &job {
            Ok(job) => (job.id, line(job)?),
            Err(error) => (
                error.id,
                format!(
                    "{}: unreadable; {}",
                    error.id,
                    visible_line(&error.reason, SHOWN_WORK)
                ),
            ),
        };
        let last = jobs.log(Some(id), 1).await?;
        let last = last.first().map(|run| {
            format!(
                "; last run {}: {}",
                run.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
                run.outcome
            )
        });
        lines.push(format!("{line}{}", last.unwrap_or_default()));
    }
    Ok(if lines.is_empty() {
        "[no jobs]".to_owned()
    } else {
        lines.join("\n")
    })
}

/// Returns a line about a job.
fn line(job: &Job) -> Result<String, CronError> {
    let spec = &job.spec;
    let zone = spec.time_zone()?;
    let next = match job.next {
        _ if job.is_paused => "paused".to_owned(),
        Some(next) => format!("next run {}", show(&next.to_zoned(zone))),
        None => "last run".to_owned(),
    };
    let work = visible_line(&spec.work.to_string(), SHOWN_WORK);
    Ok(format!(
        "{}: {} ({}), {next}; {work}",
        job.id, spec.schedule, spec.zone
    ))
}

/// Removes a job of this workspace. A run that has begun goes on.
#[tool(
    name = "cron.remove",
    title = "Remove a job",
    destroys = "cron:{id}",
    needs = Jobs,
    tags = ["schedule"],
    example({"id": 3}),
)]
pub(crate) async fn remove(
    cx: &ToolContext,
    /// The id, from `cron.list`.
    #[schemars(range(min = 1))]
    id: i64,
) -> Result<String, ToolError> {
    cx.need::<Jobs>()?.remove(id).await?;
    Ok(format!("removed the job {id}"))
}
