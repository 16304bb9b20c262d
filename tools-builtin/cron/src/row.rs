//! The rows of the store.

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, Params, Row, Transaction, params};
use tools_store::Schema;

use crate::error::{CronError, UnreadableJob};
use crate::job::{Job, JobSpec, Outcome, RunEnd, RunRecord};
use crate::service::Service;

/// `next_ms` is null if no run follows. `is_gone` is 1 for a run of a job that was removed. `resumed_ms` is the end of the last pause. Times are milliseconds since 1970.
pub(crate) const SCHEMA: Schema = Schema::new(
    "store of jobs",
    0x6372_6f6e,
    &[
        // AUTOINCREMENT, because a lock file and the log go by the id of a job: none is used again.
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
        // Without them, a look and a count read all jobs, and a removal reads all runs.
        "CREATE INDEX due ON job (workspace, next_ms, paused);
        ALTER TABLE run ADD COLUMN is_gone INTEGER NOT NULL DEFAULT 0;
        UPDATE run SET is_gone = 1 WHERE job NOT IN (SELECT id FROM job);
        CREATE INDEX run_of_gone ON run (workspace, id) WHERE is_gone = 1;",
    ],
);

/// The number of runs that the log keeps: the newest of each job, and the newest of all jobs of a workspace that are gone.
const KEPT_RUNS: u32 = 1000;

/// The jobs that are due, and those with a run that has not ended.
const PENDING: &str =
    "SELECT id, next_ms FROM job WHERE workspace = ?1 AND NOT paused AND next_ms <= ?2
    UNION SELECT run.job, next_ms FROM run INDEXED BY running LEFT JOIN job ON job.id = run.job
        WHERE run.workspace = ?1 AND ended_ms IS NULL
    ORDER BY next_ms, id";
const NEXT: &str =
    "SELECT min(next_ms) FROM job WHERE workspace = ? AND NOT paused AND next_ms > ?";
const COUNT: &str = "SELECT count(*) FROM job WHERE workspace = ?";
/// Removes the oldest runs of jobs that are gone. SQLite has no `OFFSET` without a `LIMIT`, and -1 is none.
const TRIM_GONE: &str =
    "DELETE FROM run WHERE id IN (SELECT id FROM run WHERE workspace = ?1 AND is_gone = 1
    AND ended_ms IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?2)";

const JOB: &str = "SELECT id, workspace, spec, next_ms, paused, resumed_ms FROM job";
const RUN: &str = "SELECT id, job, due_ms, started_ms, ended_ms, outcome, session, note FROM run";

/// The rows of the store in one transaction, for the server of a workspace.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) transaction: &'a Transaction<'a>,
    pub(crate) workspace: &'a str,
}

impl Rows<'_> {
    fn execute(self, sql: &str, parameters: impl Params) -> Result<(), CronError> {
        self.transaction.prepare_cached(sql)?.execute(parameters)?;
        Ok(())
    }

    fn exists_row(self, sql: &str, parameters: impl Params) -> Result<bool, CronError> {
        Ok(self.transaction.prepare_cached(sql)?.exists(parameters)?)
    }

    fn all<T>(
        self,
        sql: &str,
        parameters: impl Params,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, CronError> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        let rows = statement.query_map(parameters, read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn first<T>(
        self,
        sql: &str,
        parameters: impl Params,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, CronError> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        Ok(statement.query_row(parameters, read).optional()?)
    }

    /// Returns the id of the new job.
    pub(crate) fn insert(self, spec: &JobSpec, next: Timestamp) -> Result<i64, CronError> {
        let spec = serde_json::to_string(spec)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let sql = "INSERT INTO job (workspace, spec, next_ms) VALUES (?, ?, ?)";
        self.execute(sql, params![self.workspace, spec, next.as_millisecond()])?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Returns the job, or `None` if there is none.
    pub(crate) fn job(self, id: i64) -> Result<Option<Job>, CronError> {
        let job = self.first(&format!("{JOB} WHERE id = ?"), [id], job_row)?;
        Ok(job.transpose()?)
    }

    /// Returns the jobs of the workspace.
    pub(crate) fn jobs(self) -> Result<Vec<Result<Job, UnreadableJob>>, CronError> {
        let sql = format!("{JOB} WHERE workspace = ? ORDER BY id");
        self.all(&sql, [self.workspace], job_row)
    }

    /// Returns the jobs of all workspaces.
    pub(crate) fn all_jobs(self) -> Result<Vec<Result<Job, UnreadableJob>>, CronError> {
        self.all(&format!("{JOB} ORDER BY id"), [], job_row)
    }

    /// Returns the jobs of the workspace whose next run is after this moment.
    pub(crate) fn jobs_after(
        self,
        moment: Timestamp,
    ) -> Result<Vec<Result<Job, UnreadableJob>>, CronError> {
        let sql = format!("{JOB} WHERE workspace = ? AND next_ms > ? ORDER BY id");
        let parameters = params![self.workspace, moment.as_millisecond()];
        self.all(&sql, parameters, job_row)
    }

    /// Returns the number of jobs of the workspace.
    pub(crate) fn count(self) -> Result<usize, CronError> {
        let count = self.first(COUNT, [self.workspace], |row| row.get(0))?;
        Ok(count.unwrap_or_default())
    }

    /// Returns true if the workspace has the job.
    pub(crate) fn has(self, id: i64) -> Result<bool, CronError> {
        let sql = "SELECT 1 FROM job WHERE id = ? AND workspace = ?";
        self.exists_row(sql, params![id, self.workspace])
    }

    /// Returns the ids of the jobs of the workspace.
    pub(crate) fn ids(self) -> Result<Vec<i64>, CronError> {
        let sql = "SELECT id FROM job WHERE workspace = ? ORDER BY id";
        self.all(sql, [self.workspace], |row| row.get(0))
    }

    /// Returns the jobs that are due or have a run that has not ended, the one due first before the others. Jobs that are gone have such
    /// a run if their server was killed.
    pub(crate) fn pending(self, now: Timestamp) -> Result<Vec<i64>, CronError> {
        let parameters = params![self.workspace, now.as_millisecond()];
        self.all(PENDING, parameters, |row| row.get(0))
    }

    /// Returns the time at which the next job of the workspace is due after `now`.
    pub(crate) fn next(self, now: Timestamp) -> Result<Option<Timestamp>, CronError> {
        let parameters = params![self.workspace, now.as_millisecond()];
        let next = self.first(NEXT, parameters, |row| row.get::<_, Option<i64>>(0))?;
        Ok(next.flatten().map(moment))
    }

    /// Returns the service of the workspace, or `None` if no server has ever looked.
    pub(crate) fn service(self) -> Result<Option<Service>, CronError> {
        let sql = "SELECT since_ms, until_ms FROM service WHERE workspace = ?";
        self.first(sql, [self.workspace], |row| {
            Ok(Service {
                since: moment(row.get(0)?),
                until: moment(row.get(1)?),
            })
        })
    }

    pub(crate) fn set_service(self, service: Service) -> Result<(), CronError> {
        let sql = "INSERT OR REPLACE INTO service (workspace, since_ms, until_ms) VALUES (?, ?, ?)";
        let [since, until] = [service.since, service.until].map(Timestamp::as_millisecond);
        self.execute(sql, params![self.workspace, since, until])
    }

    pub(crate) fn exists(self, id: i64) -> Result<bool, CronError> {
        self.exists_row("SELECT 1 FROM job WHERE id = ?", [id])
    }

    pub(crate) fn set_next(self, id: i64, next: Option<Timestamp>) -> Result<(), CronError> {
        let next = next.map(Timestamp::as_millisecond);
        self.execute("UPDATE job SET next_ms = ? WHERE id = ?", params![next, id])
    }

    pub(crate) fn set_paused(
        self,
        id: i64,
        is_paused: bool,
        now: Timestamp,
    ) -> Result<(), CronError> {
        let sql = "UPDATE job SET paused = ?2, resumed_ms = CASE WHEN paused AND NOT ?2 THEN ?3 ELSE resumed_ms END WHERE id = ?1";
        self.execute(sql, params![id, is_paused, now.as_millisecond()])
    }

    /// Makes no end of a pause in the workspace later than now.
    pub(crate) fn cap_resumed(self, now: Timestamp) -> Result<(), CronError> {
        let sql = "UPDATE job SET resumed_ms = ?2 WHERE workspace = ?1 AND resumed_ms > ?2";
        self.execute(sql, params![self.workspace, now.as_millisecond()])
    }

    /// Removes the job. Its runs are now those of a job that is gone, of which older ones make room for them.
    pub(crate) fn remove(self, id: i64) -> Result<(), CronError> {
        let sql = "DELETE FROM job WHERE id = ? RETURNING workspace";
        let workspace = self.first(sql, [id], |row| text(row, 0))?;
        self.execute("UPDATE run SET is_gone = 1 WHERE job = ?", [id])?;
        self.execute(TRIM_GONE, params![workspace, KEPT_RUNS])
    }

    /// Records a run. It is [`Outcome::Running`] until [`end_run`](Self::end_run).
    pub(crate) fn begin_run(
        self,
        job: &Job,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<i64, CronError> {
        let sql =
            "INSERT INTO run (job, workspace, due_ms, started_ms, outcome) VALUES (?, ?, ?, ?, ?)";
        let [due, now] = [due, now].map(Timestamp::as_millisecond);
        let outcome = Outcome::Running.as_str();
        self.execute(sql, params![job.id, job.workspace, due, now, outcome])?;
        let id = self.transaction.last_insert_rowid();
        let sql = "DELETE FROM run WHERE job = ?1 AND id <= (SELECT id FROM run WHERE job = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
        self.execute(sql, params![job.id, KEPT_RUNS])?;
        Ok(id)
    }

    /// Pauses a job that cannot be read or served, and records that as a failed run.
    pub(crate) fn suspend(self, id: i64, note: &str, now: Timestamp) -> Result<(), CronError> {
        self.cut_off(id, now)?;
        let sql = "INSERT INTO run (job, workspace, due_ms, started_ms, ended_ms, outcome, note)
            SELECT id, workspace, ifnull(next_ms, ?2), ?2, ?2, ?3, ?4 FROM job WHERE id = ?1";
        let ms = now.as_millisecond();
        let failed = Outcome::Failed.as_str();
        let note = format!("the job is paused: {note}");
        self.execute(sql, params![id, ms, failed, note])?;
        self.set_paused(id, true, now)
    }

    /// Records that the runs of the job that have not ended were cut off.
    pub(crate) fn cut_off(self, job: i64, now: Timestamp) -> Result<(), CronError> {
        let sql = "UPDATE run SET ended_ms = ?, outcome = ? WHERE job = ? AND ended_ms IS NULL";
        let outcome = Outcome::CutOff.as_str();
        self.execute(sql, params![now.as_millisecond(), outcome, job])
    }

    /// Records the end of a run, unless it has one.
    pub(crate) fn end_run(self, run: i64, end: &RunEnd, now: Timestamp) -> Result<(), CronError> {
        let sql =
            "UPDATE run SET ended_ms = ?, outcome = ?, note = ? WHERE id = ? AND ended_ms IS NULL";
        let outcome = end.outcome.as_str();
        self.execute(sql, params![now.as_millisecond(), outcome, end.note, run])
    }

    pub(crate) fn set_session(self, run: i64, session: Option<&str>) -> Result<(), CronError> {
        let sql = "UPDATE run SET session = ? WHERE id = ?";
        self.execute(sql, params![session, run])
    }

    /// Returns true if the newest run of the job was cut off. The row of a job that was [suspended](Self::suspend) at this due time is
    /// no run.
    pub(crate) fn was_cut_off(self, job: i64, due: Timestamp) -> Result<bool, CronError> {
        let sql = "SELECT outcome = ?3 FROM run WHERE job = ?1 AND (due_ms <> ?2 OR outcome <> ?4) ORDER BY id DESC LIMIT 1";
        let [cut_off, failed] = [Outcome::CutOff, Outcome::Failed].map(Outcome::as_str);
        let parameters = params![job, due.as_millisecond(), cut_off, failed];
        Ok(self.first(sql, parameters, |row| row.get(0))? == Some(true))
    }

    /// Returns true if the log has a run of the job that was due at this time or later, up to now. The row of a job that was
    /// [suspended](Self::suspend) then is no run.
    pub(crate) fn has_run_since(
        self,
        job: i64,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<bool, CronError> {
        let sql = "SELECT 1 FROM run WHERE job = ?1 AND due_ms BETWEEN ?2 AND ?3 AND (due_ms > ?2 OR outcome <> ?4)";
        let [due, now] = [due, now].map(Timestamp::as_millisecond);
        self.exists_row(sql, params![job, due, now, Outcome::Failed.as_str()])
    }

    /// Returns true if a run of the log began before this moment, or the log is empty.
    pub(crate) fn is_after_a_run(self, moment: Timestamp) -> Result<bool, CronError> {
        let sql = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM run) OR EXISTS (SELECT 1 FROM run WHERE started_ms < ?)";
        self.exists_row(sql, [moment.as_millisecond()])
    }

    /// Returns the newest runs of a job or of all jobs of the workspace, the newest first.
    pub(crate) fn runs(self, job: Option<i64>, most: u32) -> Result<Vec<RunRecord>, CronError> {
        // An alternative in the condition would keep SQLite from the index.
        let of_job = job.map_or("", |_| "AND job = ?2");
        let sql = format!("{RUN} WHERE workspace = ?1 {of_job} ORDER BY id DESC LIMIT ?3");
        self.all(&sql, params![self.workspace, job, most], run_row)
    }

    /// Returns the run, or `None` if the log does not keep it.
    pub(crate) fn run(self, id: i64) -> Result<Option<RunRecord>, CronError> {
        self.first(&format!("{RUN} WHERE id = ?"), [id], run_row)
    }
}

/// Reads the columns of [`JOB`]. A row that this program cannot understand is no error of the store.
fn job_row(row: &Row<'_>) -> rusqlite::Result<Result<Job, UnreadableJob>> {
    let (id, workspace, next, resumed): (_, _, Option<i64>, Option<i64>) =
        (row.get(0)?, text(row, 1)?, row.get(3)?, row.get(5)?);
    Ok(match parse_spec(row.get_ref(2)?.as_bytes()?) {
        Ok(spec) => Ok(Job {
            id,
            workspace,
            spec,
            next: next.map(moment),
            is_paused: row.get(4)?,
            resumed: resumed.map(moment),
        }),
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

fn parse_spec(spec: &[u8]) -> Result<JobSpec, String> {
    let spec: JobSpec = serde_json::from_slice(spec).map_err(|error| error.to_string())?;
    spec.time_zone().map_err(|error| error.to_string())?;
    Ok(spec)
}

/// Returns the moment. One that is out of range, which this program never writes, is the first or the last one.
fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
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

#[cfg(test)]
mod tests {
    use tools_store::{Store, StoreError};

    use super::*;

    #[test]
    fn a_look_an_addition_and_a_removal_read_only_their_rows() {
        let store = Store::in_memory(&SCHEMA).unwrap();
        let checked: Result<(), StoreError> = store.read_blocking(|transaction| {
            for sql in [PENDING, NEXT, COUNT, TRIM_GONE] {
                let mut plan = transaction.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let rows = plan.raw_query().mapped(|row| row.get::<_, String>(3));
                for step in rows {
                    let step = step?;
                    let is_short = !step.starts_with("SCAN") || step.ends_with("INDEX running");
                    assert!(is_short && step != "SEARCH job", "{sql}: {step}");
                }
            }
            Ok(())
        });
        checked.unwrap();
    }
}
