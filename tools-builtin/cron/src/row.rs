//! The rows of the store.

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use tools_store::Schema;

use crate::job::{Job, JobSpec, Outcome, RunEnd, RunRecord};
use crate::service::Service;
use crate::{CronError, UnreadableJob};

/// `next_ms` is null if no run follows. `resumed_ms` is the end of the last pause. Times are milliseconds since 1970.
pub(crate) const SCHEMA: Schema = Schema::new(
    "store of jobs",
    0x6372_6f6e,
    &[
        "CREATE TABLE job (
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
        CREATE INDEX running ON run (job) WHERE ended_ms IS NULL;",
        "ALTER TABLE job ADD COLUMN resumed_ms INTEGER;
        CREATE TABLE service (
            workspace TEXT PRIMARY KEY,
            since_ms INTEGER NOT NULL,
            until_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;",
    ],
);

/// The number of runs that the log keeps: the newest of each job, and the newest of all jobs of a workspace that are gone.
const KEPT_RUNS: u32 = 1000;

const JOB: &str = "SELECT id, workspace, spec, next_ms, paused, resumed_ms FROM job";
const RUN: &str = "SELECT id, job, due_ms, started_ms, ended_ms, outcome, session, note FROM run";

/// Reads the columns of [`JOB`]. A row that this program cannot understand is no error of the store.
fn job_row(row: &Row<'_>) -> rusqlite::Result<Result<Job, UnreadableJob>> {
    let (id, workspace, next, resumed): (_, _, Option<i64>, Option<i64>) =
        (row.get(0)?, text(row, 1)?, row.get(3)?, row.get(5)?);
    Ok(match parsed(row.get_ref(2)?.as_bytes()?) {
        Ok(spec) => {
            let (next, is_paused, resumed) = (next.map(moment), row.get(4)?, resumed.map(moment));
            Ok(Job {
                id,
                workspace,
                spec,
                next,
                is_paused,
                resumed,
            })
        }
        Err(reason) => Err(UnreadableJob {
            id,
            workspace,
            reason,
        }),
    })
}

/// Returns the text of a column, also if it is no UTF-8.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes()?).into_owned())
}

fn parsed(spec: &[u8]) -> Result<JobSpec, String> {
    let spec: JobSpec = serde_json::from_slice(spec).map_err(|error| error.to_string())?;
    spec.time_zone().map_err(|error| error.to_string())?;
    Ok(spec)
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    workspace: &str,
    spec: &JobSpec,
    next: Timestamp,
) -> Result<i64, CronError> {
    let spec = serde_json::to_string(spec)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let sql = "INSERT INTO job (workspace, spec, next_ms) VALUES (?, ?, ?)";
    transaction.execute(sql, params![workspace, spec, next.as_millisecond()])?;
    Ok(transaction.last_insert_rowid())
}

/// Returns the job, or `None` if there is none.
pub(crate) fn job(transaction: &Transaction<'_>, id: i64) -> Result<Option<Job>, CronError> {
    let sql = format!("{JOB} WHERE id = ?");
    let job = transaction
        .prepare_cached(&sql)?
        .query_row([id], job_row)
        .optional()?;
    Ok(job.transpose()?)
}

/// Returns the jobs of a workspace, or all.
pub(crate) fn jobs(
    transaction: &Transaction<'_>,
    workspace: Option<&str>,
) -> Result<Vec<Result<Job, UnreadableJob>>, CronError> {
    let sql = format!("{JOB} WHERE ?1 IS NULL OR workspace = ?1 ORDER BY id");
    let mut statement = transaction.prepare_cached(&sql)?;
    Ok(statement
        .query_map([workspace], job_row)?
        .collect::<Result<_, _>>()?)
}

pub(crate) fn ids(transaction: &Transaction<'_>, workspace: &str) -> Result<Vec<i64>, CronError> {
    let mut statement =
        transaction.prepare_cached("SELECT id FROM job WHERE workspace = ? ORDER BY id")?;
    Ok(statement
        .query_map([workspace], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// Returns the jobs that are due or have a run that has not ended, the one due first before the others. Jobs that are gone have such a
/// run if their server was killed.
pub(crate) fn pending(
    transaction: &Transaction<'_>,
    workspace: &str,
    now: Timestamp,
) -> Result<Vec<i64>, CronError> {
    let sql = "SELECT id, next_ms FROM job WHERE workspace = ?1 AND NOT paused AND next_ms <= ?2
        UNION SELECT run.job, next_ms FROM run LEFT JOIN job ON job.id = run.job
            WHERE run.workspace = ?1 AND ended_ms IS NULL
        ORDER BY next_ms, id";
    let mut statement = transaction.prepare_cached(sql)?;
    let rows = statement.query_map(params![workspace, now.as_millisecond()], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the time at which the next job of the workspace is due after `now`.
pub(crate) fn next(
    transaction: &Transaction<'_>,
    workspace: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>, CronError> {
    let sql = "SELECT min(next_ms) FROM job WHERE workspace = ? AND NOT paused AND next_ms > ?";
    let mut statement = transaction.prepare_cached(sql)?;
    let next: Option<i64> =
        statement.query_row(params![workspace, now.as_millisecond()], |row| row.get(0))?;
    Ok(next.map(moment))
}

/// Returns the moment. One that is out of range, which this program never writes, is the first or the last one.
fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

/// Returns the service of the workspace, or `None` if no server has ever looked.
pub(crate) fn service(
    transaction: &Transaction<'_>,
    workspace: &str,
) -> Result<Option<Service>, CronError> {
    let sql = "SELECT since_ms, until_ms FROM service WHERE workspace = ?";
    let service = |row: &Row<'_>| {
        Ok(Service {
            since: moment(row.get(0)?),
            until: moment(row.get(1)?),
        })
    };
    Ok(transaction
        .prepare_cached(sql)?
        .query_row([workspace], service)
        .optional()?)
}

pub(crate) fn set_service(
    transaction: &Transaction<'_>,
    workspace: &str,
    service: Service,
) -> Result<(), CronError> {
    let sql = "INSERT OR REPLACE INTO service (workspace, since_ms, until_ms) VALUES (?, ?, ?)";
    let [since, until] = [service.since, service.until].map(Timestamp::as_millisecond);
    transaction
        .prepare_cached(sql)?
        .execute(params![workspace, since, until])?;
    Ok(())
}

pub(crate) fn exists(transaction: &Transaction<'_>, id: i64) -> Result<bool, CronError> {
    Ok(transaction
        .prepare_cached("SELECT 1 FROM job WHERE id = ?")?
        .exists([id])?)
}

pub(crate) fn set_next(
    transaction: &Transaction<'_>,
    id: i64,
    next: Option<Timestamp>,
) -> Result<(), CronError> {
    let sql = "UPDATE job SET next_ms = ? WHERE id = ?";
    transaction
        .prepare_cached(sql)?
        .execute(params![next.map(Timestamp::as_millisecond), id])?;
    Ok(())
}

pub(crate) fn set_paused(
    transaction: &Transaction<'_>,
    id: i64,
    is_paused: bool,
    now: Timestamp,
) -> Result<(), CronError> {
    let sql = "UPDATE job SET paused = ?2, resumed_ms = CASE WHEN paused AND NOT ?2 THEN ?3 ELSE resumed_ms END WHERE id = ?1";
    transaction.execute(sql, params![id, is_paused, now.as_millisecond()])?;
    Ok(())
}

/// Makes no end of a pause in the workspace later than now.
pub(crate) fn cap_resumed(
    transaction: &Transaction<'_>,
    workspace: &str,
    now: Timestamp,
) -> Result<(), CronError> {
    let sql = "UPDATE job SET resumed_ms = ?2 WHERE workspace = ?1 AND resumed_ms > ?2";
    transaction
        .prepare_cached(sql)?
        .execute(params![workspace, now.as_millisecond()])?;
    Ok(())
}

/// Removes the job. Its runs are now those of a job that is gone, of which older ones make room for them.
pub(crate) fn remove(transaction: &Transaction<'_>, id: i64) -> Result<(), CronError> {
    let sql = "DELETE FROM job WHERE id = ? RETURNING workspace";
    let workspace = transaction
        .prepare_cached(sql)?
        .query_row([id], |row| text(row, 0))
        .optional()?;
    let sql = "DELETE FROM run WHERE id IN (SELECT id FROM run WHERE workspace = ?1 AND ended_ms IS NOT NULL
        AND job NOT IN (SELECT id FROM job) ORDER BY id DESC LIMIT -1 OFFSET ?2)";
    transaction
        .prepare_cached(sql)?
        .execute(params![workspace, KEPT_RUNS])?;
    Ok(())
}

/// Records a run. It is [`Outcome::Running`] until [`end_run`].
pub(crate) fn begin_run(
    transaction: &Transaction<'_>,
    job: &Job,
    due: Timestamp,
    now: Timestamp,
) -> Result<i64, CronError> {
    let sql =
        "INSERT INTO run (job, workspace, due_ms, started_ms, outcome) VALUES (?, ?, ?, ?, ?)";
    let [due, now] = [due, now].map(Timestamp::as_millisecond);
    let outcome = Outcome::Running.as_str();
    transaction
        .prepare_cached(sql)?
        .execute(params![job.id, job.workspace, due, now, outcome])?;
    let id = transaction.last_insert_rowid();
    let sql = "DELETE FROM run WHERE job = ?1 AND id <= (SELECT id FROM run WHERE job = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
    transaction
        .prepare_cached(sql)?
        .execute(params![job.id, KEPT_RUNS])?;
    Ok(id)
}

/// Pauses a job that cannot be read or served, and records that as a failed run.
pub(crate) fn suspend(
    transaction: &Transaction<'_>,
    id: i64,
    note: String,
    now: Timestamp,
) -> Result<(), CronError> {
    let cut_off = RunEnd {
        outcome: Outcome::CutOff,
        note: None,
    };
    open_runs(transaction, id)?
        .into_iter()
        .try_for_each(|run| end_run(transaction, run, &cut_off, now))?;
    let sql = "INSERT INTO run (job, workspace, due_ms, started_ms, ended_ms, outcome, note)
        SELECT id, workspace, ifnull(next_ms, ?2), ?2, ?2, ?3, ?4 FROM job WHERE id = ?1";
    let failed = Outcome::Failed.as_str();
    transaction.execute(
        sql,
        params![
            id,
            now.as_millisecond(),
            failed,
            format!("the job is paused: {note}")
        ],
    )?;
    set_paused(transaction, id, true, now)
}

/// Records the end of a run, unless it has one.
pub(crate) fn end_run(
    transaction: &Transaction<'_>,
    run: i64,
    end: &RunEnd,
    now: Timestamp,
) -> Result<(), CronError> {
    let sql =
        "UPDATE run SET ended_ms = ?, outcome = ?, note = ? WHERE id = ? AND ended_ms IS NULL";
    let (outcome, note) = (end.outcome.as_str(), &end.note);
    transaction
        .prepare_cached(sql)?
        .execute(params![now.as_millisecond(), outcome, note, run])?;
    Ok(())
}

pub(crate) fn set_session(
    transaction: &Transaction<'_>,
    run: i64,
    session: Option<&str>,
) -> Result<(), CronError> {
    transaction.execute(
        "UPDATE run SET session = ? WHERE id = ?",
        params![session, run],
    )?;
    Ok(())
}

/// Returns the runs of the job that have not ended.
pub(crate) fn open_runs(transaction: &Transaction<'_>, job: i64) -> Result<Vec<i64>, CronError> {
    let mut statement =
        transaction.prepare_cached("SELECT id FROM run WHERE job = ? AND ended_ms IS NULL")?;
    Ok(statement
        .query_map([job], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// Returns true if the newest run of the job was cut off. The row of a job that was [suspended](suspend) at this due time is no run.
pub(crate) fn was_cut_off(
    transaction: &Transaction<'_>,
    job: i64,
    due: Timestamp,
) -> Result<bool, CronError> {
    let sql = "SELECT outcome = ?3 FROM run WHERE job = ?1 AND (due_ms <> ?2 OR outcome <> ?4) ORDER BY id DESC LIMIT 1";
    let [cut_off, failed] = [Outcome::CutOff, Outcome::Failed].map(Outcome::as_str);
    let parameters = params![job, due.as_millisecond(), cut_off, failed];
    Ok(transaction
        .prepare_cached(sql)?
        .query_row(parameters, |row| row.get(0))
        .optional()?
        .unwrap_or(false))
}

/// Returns true if the log has a run of the job that was due at this time or later, up to now. The row of a job that was
/// [suspended](suspend) then is no run.
pub(crate) fn has_run_since(
    transaction: &Transaction<'_>,
    job: i64,
    due: Timestamp,
    now: Timestamp,
) -> Result<bool, CronError> {
    let sql = "SELECT 1 FROM run WHERE job = ?1 AND due_ms BETWEEN ?2 AND ?3 AND (due_ms > ?2 OR outcome <> ?4)";
    let [due, now] = [due, now].map(Timestamp::as_millisecond);
    Ok(transaction
        .prepare_cached(sql)?
        .exists(params![job, due, now, Outcome::Failed.as_str()])?)
}

/// Returns true if a run of the log began before this moment, or the log is empty.
pub(crate) fn is_after_a_run(
    transaction: &Transaction<'_>,
    moment: Timestamp,
) -> Result<bool, CronError> {
    let sql = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM run) OR EXISTS (SELECT 1 FROM run WHERE started_ms < ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    Ok(statement.exists([moment.as_millisecond()])?)
}

/// Returns the newest runs of a job or of all jobs of a workspace, the newest first.
pub(crate) fn runs(
    transaction: &Transaction<'_>,
    workspace: &str,
    job: Option<i64>,
    most: u32,
) -> Result<Vec<RunRecord>, CronError> {
    let sql = format!(
        "{RUN} WHERE workspace = ?1 AND (?2 IS NULL OR job = ?2) ORDER BY id DESC LIMIT ?3"
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let rows = statement.query_map(params![workspace, job, most], run_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the run, or `None` if the log does not keep it.
pub(crate) fn run(transaction: &Transaction<'_>, id: i64) -> Result<Option<RunRecord>, CronError> {
    Ok(transaction
        .prepare_cached(&format!("{RUN} WHERE id = ?"))?
        .query_row([id], run_row)
        .optional()?)
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let optional = |column| match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => text(row, column).map(Some),
    };
    Ok(RunRecord {
        id: row.get(0)?,
        job: row.get(1)?,
        due: moment(row.get(2)?),
        started: moment(row.get(3)?),
        ended: row.get::<_, Option<i64>>(4)?.map(moment),
        // A later version may have more outcomes.
        outcome: Outcome::from_word(&text(row, 5)?).unwrap_or(Outcome::Failed),
        session: optional(6)?,
        note: optional(7)?,
    })
}
