//! The states of a run, which a job and a due time name. Each change of state is one transaction of the store.
//!
//! 1. *Planned*: `job.next_ms` is the due time. A job has at most one planned run, so several that pass it by are one.
//! 2. *Claimed*: a row of `run` without an end. Only the holder of the job's lock claims; the lock is a lease that ends with its process.
//! 3. *Ended* or *skipped*: the row has its end and is not changed again.
//! 4. `at_most_once` plans the next run with the claim, `at_least_once` with the end. So after a SIGKILL at any moment, a claim of the
//!    former is not repeated, and one of the latter is.
//! 5. A row without an end whose lock is free was cut off. The next holder of the lock says so before anything else.
//! 6. A planned run is *missed* if it was due over a minute before the service began, or before its job was resumed. `skip` then skips
//!    it, `run_once` claims it, unless the log has a run of the job for this time or a later one, as after a wrong clock. Both plan from
//!    now on. A repetition is never missed.
//! 7. The *service* is a row for each workspace, `since` and `until`. A server that was there by `until` continues it, each other one
//!    begins a new one. So all servers decide alike, whoever comes first and whenever it started.
//! 8. A server moves `until` ahead while it waits and while it runs: by a minute, or by two hours if it looks only once.
//! 9. A paused job is not claimed.
//! 10. A look after `until` (a suspension, a clock set forward) begins a new service. After a clock was set back, the planned run waits for
//!     its time; no recorded moment counts as later than now.
//! 11. A run that was planned over a day after now is planned anew: the clock was far ahead then, and is corrected. A clock that is before
//!     all runs of the log, or before this program was written, is not believed: a machine without one starts in 1970. A person who
//!     resumes a job is.
//! 12. The run after one that was cut off repeats it with `at_least_once`, also if a changed clock has planned it for another time.

use jiff::{SignedDuration, Timestamp};

use crate::error::CronError;
use crate::job::{Delivery, DueRun, JobSpec, Missed, Outcome, RunEnd};
use crate::row::Rows;

/// The seconds by which a run may be late without having been missed.
const LATE_SECONDS: i64 = 60;

/// The note of a run that was missed and is not made up for.
const RUN_SINCE: &str = "the log has a run of this job for this time or a later one";

/// The seconds by which a clock is set back at most if runs are to wait for it.
const SET_BACK_SECONDS: i64 = 24 * 60 * 60;

/// The beginning of 2026, when this program was not yet written, in seconds since 1970.
const WRITTEN: i64 = 1_767_225_600;

/// The result of [`claim`].
pub(crate) enum Claim {
    /// No run begins.
    Nothing,
    /// The job is gone.
    Gone,
    /// The run begins now.
    Run(Box<DueRun>),
}

/// Reports a run that was cut off, and begins the run that is due, if any. The caller has the lock of the job. `since` is the beginning
/// of the service.
pub(crate) fn claim(
    rows: Rows<'_>,
    id: i64,
    now: Timestamp,
    since: Timestamp,
) -> Result<Claim, CronError> {
    // The caller has the lock, so the process of such a run is gone.
    rows.cut_off(id, now)?;
    let Some(job) = rows.job(id)? else {
        return Ok(Claim::Gone);
    };
    let due = match job.next {
        Some(due) if due <= now && !job.is_paused => due,
        None => {
            rows.remove(id)?;
            return Ok(Claim::Gone);
        }
        Some(_) => return Ok(Claim::Nothing),
    };
    let is_repeated = job.spec.delivery == Delivery::AtLeastOnce && rows.was_cut_off(id, due)?;
    let served = job
        .resumed
        .map_or(since, |resumed| since.max(resumed))
        .min(now);
    let is_missed = due.as_second() + LATE_SECONDS < served.as_second();
    let skipped = match job.spec.missed {
        _ if !is_missed || is_repeated => None,
        Missed::Skip => Some(None),
        Missed::RunOnce => rows
            .has_run_since(id, due, now)?
            .then(|| Some(RUN_SINCE.to_owned())),
    };
    let run = DueRun {
        id: rows.begin_run(&job, due, now)?,
        due,
        started: now,
        job,
    };
    if let Some(note) = skipped {
        let outcome = Outcome::Skipped;
        rows.end_run(run.id, &RunEnd { outcome, note }, now)?;
        return Ok(if advance(rows, &run, now)? {
            Claim::Nothing
        } else {
            Claim::Gone
        });
    }
    if run.job.spec.delivery == Delivery::AtMostOnce {
        rows.set_next(id, following(&run)?)?;
    }
    Ok(Claim::Run(Box::new(run)))
}

/// Pauses a job, or resumes it. A person who resumes it trusts the clock, also where [`correct_run`] does not.
pub(crate) fn set_paused(
    rows: Rows<'_>,
    id: i64,
    is_paused: bool,
    now: Timestamp,
) -> Result<(), CronError> {
    rows.set_paused(id, is_paused, now)?;
    match rows.job(id) {
        Ok(Some(job)) if !is_paused && is_far(&job.spec, job.next, now)? => {
            rows.set_next(id, job.spec.next_after(now)?)
        }
        Ok(_) | Err(CronError::Unreadable(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Replans the runs of a workspace that a wrong clock planned, as [`correct_run`] does, and caps the ends of pauses that it recorded.
pub(crate) fn correct(rows: Rows<'_>, now: Timestamp) -> Result<(), CronError> {
    rows.cap_resumed(now)?;
    // The others are not far.
    for job in rows.jobs_after(latest(now))?.into_iter().flatten() {
        let next = correct_run(rows, &job.spec, job.next, now)?;
        if next != job.next {
            rows.set_next(job.id, next)?;
        }
    }
    Ok(())
}

/// Returns the planned run, or the next one after `now` if this one is [too far](is_far) from it and `now` can be the time.
fn correct_run(
    rows: Rows<'_>,
    spec: &JobSpec,
    planned: Option<Timestamp>,
    now: Timestamp,
) -> Result<Option<Timestamp>, CronError> {
    let is_wrong =
        is_far(spec, planned, now)? && now.as_second() >= WRITTEN && rows.is_after_a_run(now)?;
    if is_wrong {
        spec.next_after(now)
    } else {
        Ok(planned)
    }
}

/// Returns true if the run was planned more than [`SET_BACK_SECONDS`] after `now`, which the clock can only have shown by mistake, then
/// or now.
fn is_far(spec: &JobSpec, planned: Option<Timestamp>, now: Timestamp) -> Result<bool, CronError> {
    // A run between them shows that the planned one was planned after that run.
    let between = spec.next_after(latest(now))?;
    Ok(between
        .zip(planned)
        .is_some_and(|(between, planned)| between < planned))
}

/// Returns the last moment that is not far from `now`.
fn latest(now: Timestamp) -> Timestamp {
    now.saturating_add(SignedDuration::from_secs(SET_BACK_SECONDS))
        .unwrap_or(now)
}

/// Records the end of a run. Returns false if the job is gone. The caller has the lock of the job.
pub(crate) fn finish(
    rows: Rows<'_>,
    run: &DueRun,
    end: &RunEnd,
    now: Timestamp,
) -> Result<bool, CronError> {
    rows.end_run(run.id, end, now)?;
    let is_repeated =
        run.job.spec.delivery == Delivery::AtLeastOnce && end.outcome == Outcome::CutOff;
    // The row itself is not read: it may have become unreadable meanwhile.
    match rows.exists(run.job.id)? {
        true if !is_repeated => advance(rows, run, now),
        is_kept => Ok(is_kept),
    }
}

/// Returns the due time after a run. Those that passed until the run began are left out.
fn following(run: &DueRun) -> Result<Option<Timestamp>, CronError> {
    run.job.spec.next_after(run.due.max(run.started))
}

/// Plans the run after this one. Removes the job and returns false if there is none.
fn advance(rows: Rows<'_>, run: &DueRun, now: Timestamp) -> Result<bool, CronError> {
    let next = correct_run(rows, &run.job.spec, following(run)?, now)?;
    match next {
        Some(_) => rows.set_next(run.job.id, next)?,
        None => rows.remove(run.job.id)?,
    }
    Ok(next.is_some())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tools::Grant;

    use super::*;
    use crate::job::Work;
    use crate::row::SCHEMA;
    use crate::schedule::Schedule;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_second(WRITTEN + hour * 3600).unwrap()
    }

    /// Returns the steps of SQLite in which a missed job is found, claimed and ended, among so many others with as many runs.
    fn steps_among(others: i64) -> u64 {
        let spec = JobSpec {
            schedule: Schedule::Every {
                seconds: 3600,
                from: at(0),
            },
            zone: "UTC".to_owned(),
            work: Work::Prompt("work".to_owned()),
            missed: Missed::RunOnce,
            delivery: Delivery::AtLeastOnce,
            grant: Grant::none(),
            tools: Vec::new(),
            rules: Vec::new(),
            paths: Vec::new(),
            principal: None,
            exposed: false,
        };
        let end = RunEnd {
            outcome: Outcome::Done,
            note: None,
        };
        let mut connection = SCHEMA.open_in_memory().unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let counted = steps.clone();
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.progress_handler(1, Some(count)).unwrap();
        let transaction = connection.transaction().unwrap();
        let rows = Rows {
            transaction: &transaction,
            workspace: "here",
        };
        let (now, due) = (at(100), at(90));
        let id = rows.insert(&spec, due).unwrap();
        for _ in 0..others {
            let other = rows.insert(&spec, at(101)).unwrap();
            let job = rows.job(other).unwrap().unwrap();
            let run = rows.begin_run(&job, at(1), at(1)).unwrap();
            rows.end_run(run, &end, at(1)).unwrap();
        }
        let before = steps.load(Ordering::Relaxed);
        assert_eq!(rows.pending(now).unwrap(), [id]);
        assert_eq!(rows.next(now).unwrap().is_some(), others > 0);
        let Claim::Run(run) = claim(rows, id, now, now).unwrap() else {
            panic!("the job is due")
        };
        assert!(finish(rows, &run, &end, now).unwrap());
        steps.load(Ordering::Relaxed) - before
    }

    #[test]
    fn the_steps_of_a_run_do_not_grow_with_the_other_jobs() {
        assert_eq!(steps_among(100), steps_among(1000));
    }
}
