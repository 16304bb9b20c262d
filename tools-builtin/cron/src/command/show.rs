//! `cron list` and `cron log`

use host::style::{FAINT, PLAIN, STRONG};
use host::table::Table;
use host::{Arguments, CommandContext, CommandError, Exit, program};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;
use tools::visible::visible;

use crate::error::{CronError, UnreadableJob};
use crate::job::{Job, RunRecord};
use crate::jobs::Jobs;

/// Prints the jobs of the workspace, or all jobs.
pub(super) async fn list(
    arguments: &Arguments,
    cx: &dyn CommandContext,
) -> Result<Exit, CommandError> {
    let jobs = Jobs::of_user(cx.workspace()?)?;
    let is_all = arguments.is_given("all");
    let listed = if is_all {
        jobs.list_all().await?
    } else {
        jobs.list().await?
    };
    if arguments.is_given("json") {
        listed.iter().try_for_each(|job| match job {
            Ok(job) => cx.write_json(&document(job)),
            Err(error) => cx.write_json(&unreadable_document(error)),
        })?;
        return Ok(Exit::Success);
    }
    if listed.is_empty() {
        cx.note(&format!(
            "there is no job; a session makes one with cron.add, and you with {} call cron.add",
            program::name()
        ));
        return Ok(Exit::Success);
    }
    let mut table = Table::new([STRONG, PLAIN, PLAIN, FAINT, PLAIN], 0);
    let place = if is_all { "WORKSPACE" } else { "" };
    table.push(["ID", "NEXT", "TIMES", place, "WORK"].map(str::to_owned));
    for job in &listed {
        let mut row = row(job);
        if !is_all {
            row[3].clear();
        }
        table.push(row);
    }
    cx.write_page(&table.cut(cx.width()))?;
    Ok(Exit::Success)
}

/// Returns the workspace of a job, or `None` if there is no such job.
pub(super) async fn workspace(jobs: &Jobs, id: i64) -> Result<Option<String>, CronError> {
    let mut places = jobs.list_all().await?.into_iter().map(|job| match job {
        Ok(Job { id, workspace, .. }) | Err(UnreadableJob { id, workspace, .. }) => (id, workspace),
    });
    Ok(places.find_map(|(of, workspace)| (of == id).then_some(workspace)))
}

fn document(job: &Job) -> serde_json::Value {
    json!({
        "id": job.id,
        "workspace": job.workspace,
        "schedule": job.spec.schedule.to_string(),
        "zone": job.spec.zone,
        "next": job.next,
        "paused": job.is_paused,
        "work": job.spec.work,
        "missed": job.spec.missed,
        "delivery": job.spec.delivery,
        "grant": job.spec.grant,
        "rules": job.spec.rules,
    })
}

fn unreadable_document(error: &UnreadableJob) -> serde_json::Value {
    json!({"id": error.id, "workspace": error.workspace, "unreadable": error.reason})
}

/// Returns the cells of a job.
fn row(job: &Result<Job, UnreadableJob>) -> [String; 5] {
    let (id, next, times, workspace, work) = match job {
        Ok(job) => {
            let next = match job.next {
                _ if job.is_paused => "paused".to_owned(),
                Some(next) => in_zone(next, job.spec.time_zone().ok()),
                None => "ends".to_owned(),
            };
            let times = format!("{} ({})", job.spec.schedule, job.spec.zone);
            let work = job.spec.work.to_string();
            (job.id, next, times, &job.workspace, work)
        }
        Err(error) => {
            let next = "unreadable".to_owned();
            let reason = error.reason.clone();
            (error.id, next, String::new(), &error.workspace, reason)
        }
    };
    let times = visible(&times).into_owned();
    let workspace = visible(workspace).into_owned();
    [id.to_string(), next, times, workspace, one_line(&work)]
}

/// Prints the newest runs.
pub(super) async fn log(
    arguments: &Arguments,
    cx: &dyn CommandContext,
) -> Result<Exit, CommandError> {
    let last = arguments.value("last")?.unwrap_or_default();
    let jobs = Jobs::of_user(cx.workspace()?)?;
    let runs = jobs.log(arguments.value("id")?, last).await?;
    if arguments.is_given("json") {
        runs.iter().try_for_each(|run| cx.write_json(run))?;
        return Ok(Exit::Success);
    }
    if runs.is_empty() {
        cx.note("no run is recorded");
        return Ok(Exit::Success);
    }
    let mut table = Table::new([STRONG, PLAIN, FAINT, PLAIN, FAINT, PLAIN], 0);
    table.push(["JOB", "DUE", "STARTED", "OUTCOME", "SESSION", "NOTE"].map(str::to_owned));
    runs.iter().for_each(|run| table.push(log_row(run)));
    cx.write_page(&table.wrap(cx.width()))?;
    Ok(Exit::Success)
}

fn log_row(run: &RunRecord) -> [String; 6] {
    [
        run.job.to_string(),
        in_zone(run.due, None),
        in_zone(run.started, None),
        run.outcome.to_string(),
        run.session
            .as_deref()
            .map(|session| visible(session).into_owned())
            .unwrap_or_default(),
        one_line(run.note.as_deref().unwrap_or_default()),
    ]
}

/// Returns a time in a zone, or in that of the host.
fn in_zone(time: Timestamp, zone: Option<TimeZone>) -> String {
    time.to_zoned(zone.unwrap_or_else(TimeZone::system))
        .strftime("%Y-%m-%d %H:%M:%S %:z")
        .to_string()
}

fn one_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}
