//! The rows of the store.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use tools_store::Schema;

use crate::CronError;
use crate::job::{Job, JobSpec, Outcome, RunEnd, RunRecord};

/// `next_ms` is null if no run follows. Times are milliseconds since 1970.
pub(crate) const SCHEMA: Schema = Schema::new(
    "store of jobs",
    0x6372_6f6e,
    &["CREATE TABLE job (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            workspace TEXT NOT NULL,
            spec TEXT NOT NULL,
            next_ms INTEGER,
            paused INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE run (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            job INTEGER NOT NULL,
            workspace TEXT NOT NULL,
            due_ms INTEGER NOT NULL,
            started_ms INTEGER NOT NULL,
            ended_ms INTEGER,
            outcome TEXT NOT NULL,
            session TEXT,
            note TEXT
        ) STRICT;
        CREATE INDEX run_of_job ON run (job, id);
        CREATE INDEX running ON run (job) WHERE ended_ms IS NULL;"],
);

/// The number of runs of a job that the log keeps.
const KEPT_RUNS: u32 = 1000;

const JOB: &str = "SELECT id, workspace, spec, next_ms, paused FROM job";
const RUN: &str = "SELECT id, job, due_ms, started_ms, ended_ms, outcome, session, note FROM run";

/// A row of a job before its specification is parsed.
type JobRow = (i64, String, String, Option<i64>, bool);

fn job_row(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
}

fn parsed((id, workspace, spec, next, is_paused): JobRow) -> Result<Job, CronError> {
    let unreadable = |reason: String| CronError::Unreadable { id, reason };
    let spec: JobSpec = serde_json::from_str(&spec).map_err(|error| unreadable(error.to_string()))?;
    let next = next.map(Timestamp::from_millisecond).transpose().map_err(|error| unreadable(error.to_string()))?;
    Ok(Job { id, workspace, spec, next, is_paused })
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    workspace: &str,
    spec: &JobSpec,
    next: Timestamp,
) -> Result<i64, CronError> {
    let spec = serde_json::to_string(spec).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let sql = "INSERT INTO job (workspace, spec, next_ms) VALUES (?, ?, ?)";
    transaction.execute(sql, params![workspace, spec, next.as_millisecond()])?;
    Ok(transaction.last_insert_rowid())
}

/// Returns the job, or `None` if there is none.
pub(crate) fn job(transaction: &Transaction<'_>, id: i64) -> Result<Option<Job>, CronError> {
    let sql = format!("{JOB} WHERE id = ?");
    transaction.prepare_cached(&sql)?.query_row([id], job_row).optional()?.map(parsed).transpose()
}

/// Returns the jobs of a workspace, or all.
pub(crate) fn jobs(transaction: &Transaction<'_>, workspace: Option<&str>) -> Result<Vec<Job>, CronError> {
    let sql = format!("{JOB} WHERE ?1 IS NULL OR workspace = ?1 ORDER BY id");
    let mut statement = transaction.prepare_cached(&sql)?;
    let rows = statement.query_map([workspace], job_row)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter().map(parsed).collect()
}

pub(crate) fn ids(transaction: &Transaction<'_>, workspace: &str) -> Result<Vec<i64>, CronError> {
    let mut statement = transaction.prepare_cached("SELECT id FROM job WHERE workspace = ? ORDER BY id")?;
    Ok(statement.query_map([workspace], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Returns the jobs that are due or have a run that has not ended, the one due first before the others.
pub(crate) fn pending(transaction: &Transaction<'_>, workspace: &str, now: Timestamp) -> Result<Vec<i64>, CronError> {
    let sql = "SELECT id FROM job WHERE workspace = ?1 AND ((NOT paused AND next_ms <= ?2)
            OR EXISTS (SELECT 1 FROM run WHERE run.job = job.id AND ended_ms IS NULL))
        ORDER BY next_ms, id";
    let mut statement = transaction.prepare_cached(sql)?;
    let rows = statement.query_map(params![workspace, now.as_millisecond()], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the time at which the next job of the workspace is due.
pub(crate) fn next(transaction: &Transaction<'_>, workspace: &str) -> Result<Option<Timestamp>, CronError> {
    let sql = "SELECT min(next_ms) FROM job WHERE workspace = ? AND NOT paused";
    let next: Option<i64> = transaction.prepare_cached(sql)?.query_row([workspace], |row| row.get(0))?;
    Ok(next.and_then(|next| Timestamp::from_millisecond(next).ok()))
}

pub(crate) fn set_next(transaction: &Transaction<'_>, id: i64, next: Option<Timestamp>) -> Result<(), CronError> {
    let sql = "UPDATE job SET next_ms = ? WHERE id = ?";
    transaction.prepare_cached(sql)?.execute(params![next.map(Timestamp::as_millisecond), id])?;
    Ok(())
}

pub(crate) fn set_paused(transaction: &Transaction<'_>, id: i64, is_paused: bool) -> Result<(), CronError> {
    transaction.execute("UPDATE job SET paused = ? WHERE id = ?", params![is_paused, id])?;
    Ok(())
}

pub(crate) fn remove(transaction: &Transaction<'_>, id: i64) -> Result<(), CronError> {
    transaction.execute("DELETE FROM job WHERE id = ?", [id])?;
    Ok(())
}

/// Records a run. It is [`Outcome::Running`] until [`end_run`].
pub(crate) fn begin_run(
    transaction: &Transaction<'_>,
    job: &Job,
    due: Timestamp,
    now: Timestamp,
) -> Result<i64, CronError> {
    let sql = "INSERT INTO run (job, workspace, due_ms, started_ms, outcome) VALUES (?, ?, ?, ?, ?)";
    let [due, now] = [due, now].map(Timestamp::as_millisecond);
    let outcome = Outcome::Running.as_str();
    transaction.prepare_cached(sql)?.execute(params![job.id, job.workspace, due, now, outcome])?;
    let id = transaction.last_insert_rowid();
    let sql = "DELETE FROM run WHERE job = ?1 AND id <= (SELECT id FROM run WHERE job = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
    transaction.prepare_cached(sql)?.execute(params![job.id, KEPT_RUNS])?;
    Ok(id)
}

/// Pauses a job that cannot be read or served, and records that as a failed run.
pub(crate) fn suspend(transaction: &Transaction<'_>, id: i64, note: String, now: Timestamp) -> Result<(), CronError> {
    let cut_off = RunEnd { outcome: Outcome::CutOff, note: None };
    open_runs(transaction, id)?.into_iter().try_for_each(|run| end_run(transaction, run, &cut_off, now))?;
    let sql = "INSERT INTO run (job, workspace, due_ms, started_ms, ended_ms, outcome, note)
        SELECT id, workspace, ifnull(next_ms, ?2), ?2, ?2, ?3, ?4 FROM job WHERE id = ?1";
    let failed = Outcome::Failed.as_str();
    transaction.execute(sql, params![id, now.as_millisecond(), failed, format!("the job is paused: {note}")])?;
    set_paused(transaction, id, true)
}

/// Records the end of a run, unless it has one.
pub(crate) fn end_run(transaction: &Transaction<'_>, run: i64, end: &RunEnd, now: Timestamp) -> Result<(), CronError> {
    let sql = "UPDATE run SET ended_ms = ?, outcome = ?, note = ? WHERE id = ? AND ended_ms IS NULL";
    let (outcome, note) = (end.outcome.as_str(), &end.note);
    transaction.prepare_cached(sql)?.execute(params![now.as_millisecond(), outcome, note, run])?;
    Ok(())
}

pub(crate) fn set_session(transaction: &Transaction<'_>, run: i64, session: &str) -> Result<(), CronError> {
    transaction.execute("UPDATE run SET session = ? WHERE id = ?", params![session, run])?;
    Ok(())
}

/// Returns the runs of the job that have not ended.
pub(crate) fn open_runs(transaction: &Transaction<'_>, job: i64) -> Result<Vec<i64>, CronError> {
    let mut statement = transaction.prepare_cached("SELECT id FROM run WHERE job = ? AND ended_ms IS NULL")?;
    Ok(statement.query_map([job], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Returns true if a run of the job for this time was cut off.
pub(crate) fn was_cut_off(transaction: &Transaction<'_>, job: i64, due: Timestamp) -> Result<bool, CronError> {
    let sql = "SELECT 1 FROM run WHERE job = ? AND due_ms = ? AND outcome = ?";
    let mut statement = transaction.prepare_cached(sql)?;
    Ok(statement.exists(params![job, due.as_millisecond(), Outcome::CutOff.as_str()])?)
}

/// Returns the newest runs of a job or of all jobs of a workspace, the newest first.
pub(crate) fn runs(
    transaction: &Transaction<'_>,
    workspace: &str,
    job: Option<i64>,
    most: u32,
) -> Result<Vec<RunRecord>, CronError> {
    let sql = format!("{RUN} WHERE workspace = ?1 AND (?2 IS NULL OR job = ?2) ORDER BY id DESC LIMIT ?3");
    let mut statement = transaction.prepare_cached(&sql)?;
    let rows = statement.query_map(params![workspace, job, most], run_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let time = |column: usize, ms: i64| {
        let unreadable = |error: jiff::Error| {
            rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Integer, error.into())
        };
        Timestamp::from_millisecond(ms).map_err(unreadable)
    };
    let (ended, word): (Option<i64>, String) = (row.get(4)?, row.get(5)?);
    Ok(RunRecord {
        id: row.get(0)?,
        job: row.get(1)?,
        due: time(2, row.get(2)?)?,
        started: time(3, row.get(3)?)?,
        ended: ended.map(|ended| time(4, ended)).transpose()?,
        // A later version may have more outcomes.
        outcome: Outcome::from_word(&word).unwrap_or(Outcome::Failed),
        session: row.get(6)?,
        note: row.get(7)?,
    })
}
