//! `toolcrib sessions fork`, `erase` and `prune`.

use std::collections::BTreeSet;
use std::path::Path;

use host::settings::Settings;
use host::{CommandContext, CommandError, Retention, folders};
use tools::counted;
use tools_journal::{Audit, Durability, JournalOptions};

use crate::audit::advice;
use crate::error::SessionError;
use crate::folder::SessionFolder;

/// Copies a session and prints the ID of the copy.
pub(crate) fn fork(
    cx: &dyn CommandContext,
    id: Option<&str>,
    workspace: &str,
) -> Result<(), CommandError> {
    let folder = SessionFolder::new()?;
    let id = folder.find_or_newest(id, workspace)?;
    // A call that an open session is about to run could run in the copy as well.
    let original = folder.lock(id)?;
    let copy = folder.create()?;
    let options = JournalOptions {
        durability: Durability::Process,
        ..JournalOptions::default()
    };
    let from = original.id.to_string();
    let to = copy.id.to_string();
    // Read as an unused one, so that SQLite leaves no files beside the original.
    let file = folder.private_journal(id);
    let audit = file.and_then(|file| Ok(Audit::open_unused(file)?));
    let forked = audit.and_then(|audit| {
        let start = audit.find_start(&from).map_err(SessionError::Damaged)?;
        // The copy would lose the limits of the job.
        start.map_or(Ok(()), |start| SessionError::check_no_job(&from, &start))?;
        Ok(audit.fork(&from, &copy.journal(), &to, &options)?)
    });
    if let Err(error) = forked {
        // A copy without rows would be the newest session.
        copy.erase()?;
        return Err(error.into());
    }
    cx.write_page(&format!("{to}\n"))
}

/// Erases the sessions whose IDs begin with the texts.
pub(crate) fn erase(cx: &dyn CommandContext, ids: &[String]) -> Result<(), SessionError> {
    let folder = SessionFolder::new()?;
    // All texts are looked up first, so that a typing mistake erases nothing.
    let found = ids.iter().map(|id| folder.find(id));
    let found = found.collect::<Result<BTreeSet<_>, _>>()?;
    // All are locked first, so that an open session erases none of the others.
    let locked = found.into_iter().map(|id| folder.lock(id));
    for session in locked.collect::<Result<Vec<_>, _>>()? {
        let id = session.id;
        session.erase()?;
        cx.note(&format!("erased the session {id}"));
    }
    note_history(cx);
    Ok(())
}

/// Erases the sessions of these names in a journal that may have others. Goes on after an error, and returns the last one.
pub(crate) fn erase_in_file(
    cx: &dyn CommandContext,
    names: &[String],
    file: &Path,
) -> Result<(), SessionError> {
    let mut failed = None;
    let mut is_erased = false;
    for name in names {
        match erase_name(name, file) {
            Ok(erased) => {
                cx.note(&erased);
                is_erased = true;
            }
            Err(error) => {
                if let Some(earlier) = failed.replace(error) {
                    cx.warn(&earlier.to_string());
                }
            }
        }
    }
    if is_erased {
        note_history(cx);
    }
    failed.map_or(Ok(()), Err)
}

/// Erases a session in a journal. Returns the result in words.
fn erase_name(name: &str, file: &Path) -> Result<String, SessionError> {
    if tools_journal::erase(file, name)? > 0 {
        return Ok(format!("erased the session {name}"));
    }
    // An earlier attempt may have erased the rows and left bytes in the log, which this one has removed.
    let audit = Audit::open(file)?;
    match audit.count_erased().map_err(SessionError::Damaged)? {
        0 => Err(SessionError::NoCalls {
            name: name.to_owned(),
            advice: advice(&audit, name)?,
        }),
        _ => Ok(format!(
            "the journal has no session {name}; if it was erased before, its last bytes are now removed too"
        )),
    }
}

/// Names the file in which prompts of an erased session may be left.
fn note_history(cx: &dyn CommandContext) {
    if let Some(path) = folders::history().filter(|path| path.exists()) {
        cx.note(&format!(
            "{} may still have prompts typed in chats; edit or delete it",
            path.display()
        ));
    }
}

/// Removes the sessions that are too old or too large.
pub(crate) fn prune(cx: &dyn CommandContext, settings: &Settings) -> Result<(), SessionError> {
    let removed = SessionFolder::new()?.prune(&Retention::from_settings(settings))?;
    cx.note(&format!("removed {}", counted(removed as u64, "session")));
    Ok(())
}
