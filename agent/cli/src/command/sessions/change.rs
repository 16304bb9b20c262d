//! `toolcrib sessions fork`, `erase` and `prune`.

use std::collections::BTreeSet;
use std::path::Path;

use tools_journal::{Audit, Durability, JournalOptions};

use crate::config::Settings;
use crate::error::Error;
use crate::notice;
use crate::output;
use crate::sessions::{Retention, SessionFolder};
use crate::wording::counted;

/// Copies a session and prints the ID of the copy.
pub(super) fn fork(id: Option<&str>, workspace: &str) -> Result<(), Error> {
    let folder = SessionFolder::new()?;
    let id = match id {
        Some(id) => folder.find(id)?,
        None => folder.newest(workspace)?,
    };
    // A call that an open session is about to run could run in the copy as well.
    let (original, copy) = (folder.lock(id)?, folder.create()?);
    let options = JournalOptions::new().with_durability(Durability::Process);
    let (from, to) = (original.id.to_string(), copy.id.to_string());
    let forked = Audit::open_unused(original.journal()).map_err(Error::from);
    if let Err(error) = forked.and_then(|audit| Ok(audit.fork(&from, &copy.journal(), &to, &options)?)) {
        copy.erase()?;
        return Err(error);
    }
    output::page(&format!("{to}\n"))
}

/// Erases the sessions whose IDs begin with the texts.
pub(super) fn erase(ids: &[String]) -> Result<(), Error> {
    let folder = SessionFolder::new()?;
    // All texts are looked up first, so that a typing mistake erases nothing.
    let found = ids.iter().map(|id| folder.find(id)).collect::<Result<BTreeSet<_>, _>>()?;
    let locked = found.into_iter().map(|id| folder.lock(id)).collect::<Result<Vec<_>, _>>()?;
    for session in locked {
        let id = session.id;
        session.erase()?;
        notice::note(&format!("erased the session {id}"));
    }
    Ok(())
}

/// Erases the sessions of these names in a journal that may have others.
pub(super) fn erase_in_file(names: &[String], file: &Path) -> Result<(), Error> {
    for name in names {
        if tools_journal::erase(file, name)? == 0 {
            return Err(Error::NoSession(name.clone()));
        }
        notice::note(&format!("erased the session {name}"));
    }
    Ok(())
}

/// Removes the sessions that are too old or too large.
pub(super) fn prune(settings: &Settings) -> Result<(), Error> {
    let removed = SessionFolder::new()?.prune(&Retention::from_settings(settings))?;
    notice::note(&format!("removed {}", counted(removed as u64, "session")));
    Ok(())
}
