//! [`Jobs`]: the jobs of a workspace.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Transaction;
use tools_store::{Durability, Store, StoreError};

use crate::claim::{self, Claim};
use crate::error::{CronError, UnreadableJob};
use crate::job::{DueRun, Job, JobSpec, Outcome, RunEnd, RunRecord, Work};
use crate::lock::{self, JobLock};
use crate::row::{self, Rows};
use crate::schedule::Schedule;
use crate::service::Presence;

/// The maximum number of jobs of a workspace, unless the host sets another one.
pub(crate) const MAX_JOBS: u32 = 100;

/// The limits of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobLimits {
    /// The maximum number of jobs of a workspace.
    pub jobs: usize,
    /// The shortest interval in seconds. A cron expression is never shorter than a minute.
    pub shortest_interval: u32,
    /// The maximum size of a prompt, or of the arguments of a call, in bytes.
    pub work_bytes: usize,
}

impl Default for JobLimits {
    /// Returns 100 jobs, 60 s, and 16 KiB.
    fn default() -> Self {
        Self {
            jobs: MAX_JOBS as usize,
            shortest_interval: 60,
            work_bytes: 16 * 1024,
        }
    }
}

/// The jobs of a workspace, in a store that other workspaces and processes use too. The service of the tools `cron.*`.
///
/// The file is opened by the first use.
#[derive(Debug)]
pub struct Jobs {
    /// `None` for a store in memory.
    file: Option<PathBuf>,
    workspace: String,
    /// The time zone of jobs that name none.
    pub zone: String,
    /// The limits of new jobs.
    pub limits: JobLimits,
    store: tokio::sync::OnceCell<Store>,
}

/// The state of the jobs at one moment.
pub(crate) struct Look {
    /// The jobs that are due or have a run without an end.
    pub(crate) pending: Vec<i64>,
    /// The time at which the next of the others is due.
    pub(crate) next: Option<Timestamp>,
    /// The beginning of the service.
    pub(crate) since: Timestamp,
}

impl Jobs {
    /// Creates the service for a workspace. The file and its folder are created by the first use, for the user alone.
    pub fn new(file: impl Into<PathBuf>, workspace: impl Into<String>) -> Self {
        Self {
            file: Some(file.into()),
            workspace: workspace.into(),
            zone: "UTC".to_owned(),
            limits: JobLimits::default(),
            store: tokio::sync::OnceCell::new(),
        }
    }

    /// Creates a service whose jobs end with it.
    ///
    /// # Errors
    /// Returns an error if SQLite cannot create the store.
    pub fn in_memory(workspace: impl Into<String>) -> Result<Self, CronError> {
        let store = Store::in_memory(&row::SCHEMA)?;
        Ok(Self {
            file: None,
            store: tokio::sync::OnceCell::new_with(Some(store)),
            ..Self::new("", workspace)
        })
    }

    /// Checks a job against the limits, without keeping it.
    ///
    /// # Errors
    /// Returns an error if the work is too long, the interval is too short, or no run follows.
    pub fn check(&self, spec: &JobSpec, now: Timestamp) -> Result<Timestamp, CronError> {
        let (part, bytes) = match &spec.work {
            Work::Prompt(prompt) => ("prompt", prompt.len()),
            Work::Call { .. } => ("call", spec.work.to_string().len()),
        };
        if bytes > self.limits.work_bytes {
            let most = self.limits.work_bytes;
            return Err(CronError::TooLong { part, bytes, most });
        }
        let shortest = self.limits.shortest_interval;
        if let Schedule::Every { seconds, .. } = spec.schedule
            && seconds < shortest
        {
            return Err(CronError::TooOften { seconds, shortest });
        }
        let next = spec.next_after(now)?;
        let local = now.to_zoned(spec.time_zone()?);
        let now = local.strftime("%Y-%m-%d %H:%M %Z").to_string();
        next.ok_or(CronError::Never { now })
    }

    /// Keeps a job.
    ///
    /// # Errors
    /// Returns the errors of [`check`](Self::check), and an error if the workspace has too many jobs or the store cannot be written.
    pub async fn add(&self, mut spec: JobSpec, now: Timestamp) -> Result<Job, CronError> {
        spec.schedule = spec.schedule.in_seconds();
        let next = self.check(&spec, now)?;
        let most = self.limits.jobs;
        self.write(move |rows| {
            if rows.count()? >= most {
                return Err(CronError::TooMany { most });
            }
            Ok(Job {
                id: rows.insert(&spec, next)?,
                workspace: rows.workspace.to_owned(),
                spec,
                next: Some(next),
                is_paused: false,
                resumed: None,
            })
        })
        .await
    }

    /// Returns the jobs of the workspace, the oldest first. One that cannot be read hides no other.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub async fn list(&self) -> Result<Vec<Result<Job, UnreadableJob>>, CronError> {
        self.read(|rows| rows.jobs()).await
    }

    /// Returns the jobs of all workspaces, as [`list`](Self::list) does.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub async fn list_all(&self) -> Result<Vec<Result<Job, UnreadableJob>>, CronError> {
        self.read(|rows| rows.all_jobs()).await
    }

    /// Removes a job of the workspace. A run that has begun goes on. The log keeps its runs among those of jobs that are gone.
    ///
    /// # Errors
    /// Returns an error if there is no such job, or the store cannot be written.
    pub async fn remove(&self, id: i64) -> Result<(), CronError> {
        self.change(id, move |rows| rows.remove(id)).await?;
        // Else a server has the lock, and removes it after the run.
        if let Some(file) = &self.file
            && let Ok(Some(lock)) = JobLock::try_take(&locks(file), id)
        {
            lock.remove();
        }
        Ok(())
    }

    /// Pauses a job of the workspace, or resumes it. A run that has begun goes on. Runs that were due before `now` are then missed.
    ///
    /// # Errors
    /// Returns an error if there is no such job, or the store cannot be written.
    pub async fn set_paused(
        &self,
        id: i64,
        is_paused: bool,
        now: Timestamp,
    ) -> Result<(), CronError> {
        self.change(id, move |rows| claim::set_paused(rows, id, is_paused, now))
            .await
    }

    /// Returns the newest runs of a job, or of all jobs of the workspace, the newest first. A run whose process is gone is
    /// [`Outcome::CutOff`].
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub async fn log(&self, job: Option<i64>, most: u32) -> Result<Vec<RunRecord>, CronError> {
        let mut runs = self.read(move |rows| rows.runs(job, most)).await?;
        let records = runs.iter_mut();
        for run in records.filter(|run| run.outcome == Outcome::Running) {
            let _lock = match &self.file {
                Some(file) => match JobLock::try_take(&locks(file), run.job)? {
                    Some(lock) => Some(lock),
                    None => continue,
                },
                None => None,
            };
            // It may have ended since, and with the lock here it cannot end now.
            let id = run.id;
            if let Some(ended) = self.read(move |rows| rows.run(id)).await? {
                *run = ended;
            }
            if run.outcome == Outcome::Running {
                run.outcome = Outcome::CutOff;
            }
        }
        Ok(runs)
    }

    /// Records the session of a run, or that it has none.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub async fn set_session(&self, run: &DueRun, session: Option<&str>) -> Result<(), CronError> {
        let id = run.id;
        let session = session.map(str::to_owned);
        self.write(move |rows| rows.set_session(id, session.as_deref()))
            .await
    }

    /// Looks at the jobs, and records that a server does.
    pub(crate) async fn look(&self, presence: Presence) -> Result<Look, CronError> {
        let look = move |rows: Rows<'_>| {
            let recorded = rows.service()?;
            let look = Look {
                pending: rows.pending(presence.now)?,
                next: rows.next(presence.now)?,
                since: presence.continue_service(recorded).since,
            };
            Ok((look, presence.is_known(recorded)))
        };
        match self.read(look).await? {
            (look, true) => Ok(look),
            // Attending may change the times.
            (_, false) => {
                let since = self.attend(presence).await?;
                let (look, _) = self.read(look).await?;
                Ok(Look { since, ..look })
            }
        }
    }

    /// Records that a server is there. Returns the beginning of the service.
    pub(crate) async fn attend(&self, presence: Presence) -> Result<Timestamp, CronError> {
        self.write(move |rows| {
            let service = presence.continue_service(rows.service()?);
            claim::correct(rows, presence.now)?;
            rows.set_service(service)?;
            Ok(service.since)
        })
        .await
    }

    /// Takes the lock of a job. Returns `None` if another process has it.
    pub(crate) fn lock(&self, job: i64) -> Result<Option<Option<JobLock>>, CronError> {
        match &self.file {
            Some(file) => Ok(JobLock::take(&locks(file), job)?.map(Some)),
            None => Ok(Some(None)),
        }
    }

    /// Removes the lock files of jobs that are gone, which a killed server has left.
    pub(crate) async fn remove_left_locks(&self) -> Result<(), CronError> {
        let Some(folder) = self.file.as_deref().map(locks) else {
            return Ok(());
        };
        // Before the store is read, because a lock is made after its job.
        let left = lock::jobs(&folder);
        let states = self.read(move |rows| {
            let states = left.into_iter().map(|id| Ok((id, rows.exists(id)?)));
            states.collect::<Result<Vec<_>, CronError>>()
        });
        for (id, exists) in states.await? {
            if !exists && let Some(lock) = JobLock::try_take(&folder, id)? {
                lock.remove();
            }
        }
        Ok(())
    }

    /// Returns the job if a run of it is due. Returns `None` for one that cannot be read.
    pub(crate) async fn find_due(&self, id: i64, now: Timestamp) -> Result<Option<Job>, CronError> {
        match self.read(move |rows| rows.job(id)).await {
            Ok(Some(job)) if job.is_paused || job.next.is_none_or(|next| next > now) => Ok(None),
            Err(CronError::Unreadable(_)) => Ok(None),
            read => read,
        }
    }

    /// Settles the job and begins its run, as [`claim`](claim::claim) does. The caller has the lock of the job.
    pub(crate) async fn claim(
        &self,
        id: i64,
        now: Timestamp,
        since: Timestamp,
    ) -> Result<Claim, CronError> {
        self.write(move |rows| claim::claim(rows, id, now, since))
            .await
    }

    /// Pauses a job that cannot run, and says so in the log. The caller has the lock of the job.
    pub(crate) async fn suspend(
        &self,
        id: i64,
        note: String,
        now: Timestamp,
    ) -> Result<(), CronError> {
        self.write(move |rows| rows.suspend(id, &note, now)).await
    }

    /// Records the end of a run. Returns false if the job is gone. The caller has the lock of the job.
    pub(crate) async fn finish(
        &self,
        run: &DueRun,
        end: RunEnd,
        now: Timestamp,
    ) -> Result<bool, CronError> {
        let run = run.clone();
        self.write(move |rows| claim::finish(rows, &run, &end, now))
            .await
    }

    async fn change(
        &self,
        id: i64,
        change: impl FnOnce(Rows<'_>) -> Result<(), CronError> + Send + 'static,
    ) -> Result<(), CronError> {
        self.write(move |rows| {
            if rows.has(id)? {
                return change(rows);
            }
            let jobs = rows.ids()?;
            Err(CronError::Unknown { id, jobs })
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(Rows<'_>) -> Result<T, CronError> + Send + 'static,
    ) -> Result<T, CronError> {
        let read = self.in_workspace(read);
        self.store().await?.read(read).await
    }

    async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(Rows<'_>) -> Result<T, CronError> + Send + 'static,
    ) -> Result<T, CronError> {
        let write = self.in_workspace(write);
        self.store().await?.write(write).await
    }

    /// Returns the work on the rows of the workspace as one of a transaction.
    fn in_workspace<T, W: FnOnce(Rows<'_>) -> Result<T, CronError> + Send + 'static>(
        &self,
        work: W,
    ) -> impl FnOnce(&Transaction<'_>) -> Result<T, CronError> + Send + use<T, W> {
        let workspace = self.workspace.clone();
        move |transaction| {
            work(Rows {
                transaction,
                workspace: &workspace,
            })
        }
    }

    async fn store(&self) -> Result<&Store, CronError> {
        let store = self.store.get_or_try_init(|| async {
            let file = self.file.clone().unwrap_or_default();
            tokio::task::spawn_blocking(move || Store::open(&file, &row::SCHEMA, Durability::Power))
                .await
                .map_err(|_| StoreError::Closed)?
        });
        Ok(store.await?)
    }
}

/// Returns the folder of the locks of a store.
fn locks(file: &Path) -> PathBuf {
    file.with_extension("locks")
}
