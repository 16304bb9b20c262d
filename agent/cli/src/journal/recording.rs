//! [`Recording`]: the journal of the running session.

use agent::{Run, Selection, Session};
use host::{CommandError, Exit, SessionRecord, shell};
use tools::journal::SessionStart;
use tools::tasks::StoredTasks;
use tools::{Grant, Host, Tasks, ToolContext};

use crate::config::{Origin, ProgramKeys, ProgramSettings as _, Setting, Settings, Values};
use crate::error::Error;
use crate::notice;
use crate::provider_choice::ProviderChoice;

/// The journal of the running session. Drop it after the session.
pub(crate) struct Recording {
    pub(super) record: SessionRecord,
    pub(super) is_resumed: bool,
    /// True if the journal is one of the state folder, which only this user can write.
    pub(super) is_of_user: bool,
}

impl Recording {
    /// Returns the settings of a resumed session, as `read` reads them for the flags.
    ///
    /// - A session of the state folder has the provider and the model that it began with, unless a flag names another.
    /// - A journal in a file may come from elsewhere, so it names only the model: the settings or a flag must name its provider.
    ///
    /// # Errors
    /// Returns an error if the conversation would go to another provider or another service than before, and no flag names it.
    pub(crate) fn settings(
        &self,
        mut flags: Values,
        read: impl FnOnce(Values) -> Result<Settings, Error>,
    ) -> Result<Settings, Error> {
        let named = self.record.first.as_ref().zip(self.record.name.as_ref());
        let Some((first, name, provider)) =
            named.and_then(|(first, name)| Some((first, name, first.provider.as_ref()?)))
        else {
            return read(flags);
        };
        let began_with =
            |value: &String| Setting::new(value.clone(), Origin::Session(name.clone()));
        let keys: &mut ProgramKeys = flags.of_mut();
        let is_provider_named = keys.provider.is_some();
        let is_model_named = keys.model.is_some();
        if self.is_of_user {
            keys.provider.get_or_insert_with(|| began_with(provider));
        }
        let settings = read(flags)?;
        let chosen = ProviderChoice::from_settings(&settings).provider;
        // Resuming would send the conversation to a service that its person did not choose.
        if chosen != *provider {
            if is_provider_named {
                // Another provider does not have the model of the one before.
                return Ok(settings);
            }
            let reason = format!(
                "the session {name} began with the provider {provider}, and the settings choose {chosen}; name the one that gets its \
                 conversation with --provider"
            );
            return Err(CommandError::new(Exit::Usage, reason).into());
        }
        let base_url = settings.program().base_url.as_ref();
        if let Some(reason) = self.other_service(name, first, provider, base_url) {
            return Err(CommandError::new(Exit::Usage, reason).into());
        }
        Ok(settings.edit(|keys: &mut ProgramKeys| {
            if !is_provider_named {
                keys.provider = Some(began_with(provider));
            }
            if !is_model_named {
                keys.model = first.model.as_ref().map(began_with);
            }
        }))
    }

    /// Returns the reason for an error if the provider's service is not the one that the session began with, and no flag names it.
    fn other_service(
        &self,
        name: &str,
        first: &SessionStart,
        provider: &str,
        base_url: Option<&Setting<String>>,
    ) -> Option<String> {
        let is_named = base_url.is_some_and(|url| matches!(url.origin, Origin::Flag(_)));
        if is_named || first.base_url.as_ref() == base_url.map(|url| &url.value) {
            return None;
        }
        let began_at = first.base_url.as_deref().unwrap_or("its usual service");
        let now = match base_url {
            Some(url) => format!("{} names {}", url.origin, url.value),
            None => "no setting names that service".to_owned(),
        };
        // The URL of a journal of somebody else is not advised.
        let own = first.base_url.as_ref().filter(|_| self.is_of_user);
        let flags = [own, base_url.map(|url| &url.value)]
            .map(|url| Some(format!("--base-url {}", shell::quote(url?))));
        let advice = match flags {
            [Some(first), Some(other)] => {
                format!("continue it there with {first}, or at the other one with {other}")
            }
            [Some(first), None] => format!("continue it there with {first}"),
            [None, Some(other)] => format!("continue it at the other one with {other}"),
            [None, None] => {
                "continue it with --base-url and the URL of a service that you trust".to_owned()
            }
        };
        Some(format!(
            "the session {name} began with the provider {provider} at {began_at}, and {now}; {advice}"
        ))
    }

    /// Adds the journal and the session's name to the host. Narrows the grant to the one that the session began with.
    pub(crate) fn enter(&self, host: Host) -> Host {
        if let (true, true, Some(name)) = (self.is_of_user, self.is_resumed, &self.record.name) {
            notice::note(&format!("resuming the session {name}"));
        }
        // The file may come from elsewhere, with a conversation that another program made.
        if self.is_resumed && !self.is_of_user {
            host.record_exposure();
        }
        let mut host = host.with_journal(self.record.journal.clone());
        if let Some(name) = &self.record.name {
            host = host.with_session(name.as_str());
        }
        let Some(first) = self.first_grant() else {
            return host;
        };
        let grant = host.grant().intersect(first);
        if grant != *host.grant() {
            notice::note(&format!(
                "the session keeps to the grant that it began with: {first}"
            ));
        }
        host.with_grant(grant)
    }

    /// Restores the tasks of an earlier process that other parties have kept, and saves those of this one. A session in a journal file
    /// of the user's choice keeps none.
    pub(crate) fn keep_tasks(&self, context: &ToolContext, servers: &dyn host::AttachedTools) {
        let (Some((stored, store)), Some(tasks)) = (&self.record.tasks, context.service::<Tasks>())
        else {
            return;
        };
        tasks.restore(stored.clone(), |stored| {
            (servers.restore(stored), tools::get(&stored.tool).ok())
        });
        let store = store.clone();
        tasks.set_store(move |tasks: &StoredTasks| store.save(tasks));
    }

    /// Returns the grant that a resumed session began with, which limits its grant.
    pub(crate) fn first_grant(&self) -> Option<&Grant> {
        self.record.first.as_ref().map(|first| &first.grant)
    }

    /// Returns the run to resume, or `None` if a new one starts. The context has the journal and the session's name.
    pub(crate) async fn stored_run(&self, context: &ToolContext) -> Result<Option<Run>, Error> {
        if !self.is_resumed {
            return Ok(None);
        }
        // The run decides about the approver of the session, so it is read before there is one.
        let session = Session::new([], Selection::new(), context.clone());
        let run = session.stored_run().await.map_err(Error::Driver)?;
        run.map(Some)
            .ok_or_else(|| Error::NoSession(self.record.name.clone().unwrap_or_default()))
    }
}
