//! [`Settled`]: what a look after a program found, and its end by the answer of a person.

use std::fs;
use std::path::PathBuf;

use tools::call::AskError;
use tools::{Answer, ProtectedFate, ProtectedFile, ToolContext};

use super::in_place::is_in_place;
use super::question::{Group, question};
use super::{Aside, Origin, Outcome, SetAside};
use crate::protected::{Look, Protected};
use crate::report::shorten;
use crate::teller::Teller;

/// The result of the look after a program. A drop tells the person, unless that was done.
pub(crate) struct Settled {
    outcome: Outcome,
    /// The first name of the paths that lie in a folder which is new itself.
    groups: Vec<Option<String>>,
    /// The changed files that remain, as visible text, with their notes.
    changed: Vec<(String, String)>,
    teller: Option<Teller>,
    is_told: bool,
}

impl Settled {
    /// Moves aside what a program planted. Without a folder for that, nothing is moved. Blocks.
    pub(crate) fn new(
        aside: Option<&Aside>,
        look: &Look,
        before: &Protected,
        now: &Protected,
        origin: &Origin,
        teller: Option<Teller>,
    ) -> Self {
        let outcome = aside
            .map(|aside| aside.set_aside(look, before, now, &[], origin))
            .unwrap_or_default();
        let groups = outcome.aside.iter().map(|file| {
            let below = file.origin.strip_prefix(&look.root).ok()?;
            let first = below.iter().next();
            let first = first.filter(|first| !before.top.contains(*first));
            first.map(|first| first.to_string_lossy().into_owned())
        });
        let groups = groups.collect();
        let mut changed = now.changed_since(before);
        // Without a folder all that has changed remains, also what is harmless.
        if aside.is_some() {
            changed.retain(|path| !now.found.get(*path).is_some_and(|found| found.counts));
        }
        let changed = changed.iter();
        let changed = changed.map(|path| (look.show(path), look.note(path, before)));
        // Those that were removed and put back are told as such.
        let told: Vec<_> = outcome.former.iter().map(|file| &file.path).collect();
        let changed = changed.filter(|(path, _)| !told.contains(&path)).collect();
        Self {
            outcome,
            groups,
            changed,
            teller,
            is_told: false,
        }
    }

    /// Creates the result of a look about which the person is told this.
    pub(crate) fn from_files(former: Vec<ProtectedFile>, teller: Option<Teller>) -> Self {
        Self {
            outcome: Outcome {
                former,
                ..Outcome::default()
            },
            groups: Vec::new(),
            changed: Vec::new(),
            teller,
            is_told: false,
        }
    }

    /// Adds what looks after other programs found.
    pub(crate) fn extend(&mut self, files: impl Iterator<Item = ProtectedFile>) {
        self.outcome.former.extend(files);
    }

    /// Returns the paths that could not be moved, or not be put back.
    pub(crate) fn unfinished_paths(&self) -> &[PathBuf] {
        &self.outcome.unfinished
    }

    /// Asks the person once whether the files that lie aside are put back, tells what became of them, and returns notes for the model.
    pub(crate) async fn finish(mut self, cx: &ToolContext) -> Vec<String> {
        let files = self.outcome.aside.iter().zip(&self.groups);
        let moved: Vec<_> = files.filter(|(file, _)| file.place.is_some()).collect();
        let groups = Group::all(&moved);
        let mut back: Vec<SetAside> = Vec::new();
        let mut notes = Vec::new();
        if let Some((question, shown)) = question(&groups) {
            match cx.ask(question).await {
                Ok(Answer::Confirmation(true)) => back = shown,
                Err(error @ AskError::Host { .. }) => notes.push(error.to_string()),
                // No person, no answer in time, or a no.
                _ => {}
            }
        }
        let back: Vec<SetAside> = back
            .into_iter()
            .filter(|file| match file.put_back() {
                Ok(()) => true,
                Err(error) => {
                    notes.push(format!("{} could not be put back: {error}", file.path));
                    false
                }
            })
            .collect();
        let is_back = |file: &SetAside| back.iter().any(|back| back.origin == file.origin);
        let files = self.files(&is_back);
        self.is_told = files.is_empty() || cx.report_protected(&files);
        notes.extend(self.notes(&is_back));
        self.tell(&files);
        notes
    }

    fn files(&self, is_back: &dyn Fn(&SetAside) -> bool) -> Vec<ProtectedFile> {
        let aside = self.outcome.aside.iter();
        let aside = aside.map(|file| file.to_protected(is_back(file)));
        let former = self.outcome.former.iter().cloned();
        let changed = self.changed.iter();
        let changed = changed.map(|(path, note)| {
            ProtectedFile::new(path.clone(), note.clone(), ProtectedFate::Changed)
        });
        aside.chain(former).chain(changed).collect()
    }

    fn notes(&self, is_back: &dyn Fn(&SetAside) -> bool) -> Vec<String> {
        let named = |is_wanted: &dyn Fn(&SetAside) -> bool| {
            let names = self
                .outcome
                .aside
                .iter()
                .filter(|file| is_wanted(file))
                .map(|file| file.path.clone());
            let names: Vec<String> = names.collect();
            (!names.is_empty()).then(|| shorten(&names))
        };
        let renamed = named(&|file| file.is_in_workspace() && !is_back(file)).map(|names| {
            format!(
                "these files run or configure programs, so they were renamed, because there was no room for them out of the workspace: \
                 {names}; tell the user"
            )
        });
        let aside = named(&|file| file.place.is_some() && !file.is_in_workspace() && !is_back(file)).map(|names| {
            format!(
                "these files run or configure programs, so they were moved out of the workspace, and the user has not agreed to put \
                 them back: {names}; if they are needed, tell the user, or write them with fs.write, which asks"
            )
        });
        let back = named(&|file| is_back(file)).map(|names| {
            format!("these files run or configure programs; they remain, because the user agreed: {names}")
        });
        let stuck = named(&|file| file.place.is_none()).map(|names| {
            format!("these files run or configure programs and could not be moved out of the workspace: {names}; tell the user")
        });
        let changed: Vec<String> = self.changed.iter().map(|(path, _)| path.clone()).collect();
        let changed = (!changed.is_empty()).then(|| {
            format!(
                "these files run or configure programs and have changed: {}",
                shorten(&changed)
            )
        });
        let former = self.outcome.former.iter().map(|file| file.to_string());
        [aside, renamed, back, stuck, changed]
            .into_iter()
            .flatten()
            .chain(former)
            .collect()
    }

    fn tell(&mut self, files: &[ProtectedFile]) {
        if let Some(teller) = self
            .teller
            .as_ref()
            .filter(|_| !self.is_told && !files.is_empty())
        {
            teller.tell(files);
        }
        self.is_told = true;
    }
}

impl Drop for Settled {
    fn drop(&mut self) {
        if !self.is_told {
            let files = self.files(&|_| false);
            self.tell(&files);
        }
    }
}

impl SetAside {
    /// Returns true if the file was renamed in the workspace. No record tells such files from those that another program makes there.
    pub fn is_in_workspace(&self) -> bool {
        self.place.as_deref().is_some_and(is_in_place)
    }

    /// Returns true if a link lies on the path at which the file was, so that a command would put it elsewhere.
    pub fn leads_elsewhere(&self) -> bool {
        let below = self.origin.ancestors();
        let below = below.take_while(|path| *path != self.root);
        below
            .into_iter()
            .any(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()))
    }

    /// Returns what a person is told about the file.
    pub fn to_protected(&self, is_back: bool) -> ProtectedFile {
        let fate = match &self.place {
            _ if is_back => ProtectedFate::PutBack,
            Some(place) => ProtectedFate::SetAside {
                place: place.to_string_lossy().into_owned(),
            },
            None => ProtectedFate::Stuck,
        };
        ProtectedFile::new(self.path.clone(), self.note.clone(), fate)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use tools::{Host, Progress, ProgressSink};

    /// A person who sees what calls report.
    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<ProtectedFile>>>);

    impl ProgressSink for Screen {
        fn report(&self, _: &ToolContext, _: Progress) {}

        fn protected_files(&self, _: &ToolContext, files: &[ProtectedFile]) -> bool {
            self.0.lock().unwrap().extend_from_slice(files);
            true
        }
    }

    #[tokio::test]
    async fn what_a_call_shows_is_not_told_again_and_nothing_is_told_without_files() {
        let told: Arc<Mutex<Vec<usize>>> = Arc::default();
        let log = told.clone();
        let teller = Teller::new(move |files| log.lock().unwrap().push(files.len()));
        let settled = |files| Settled::from_files(files, Some(teller.clone()));
        let screen = Screen::default();
        let host = Host::new().with_progress(Arc::new(screen.clone()));
        settled(Outcome::unknown().into_files()).finish(&host).await;
        drop(settled(Vec::new()));
        assert_eq!(screen.0.lock().unwrap().len(), 1);
        assert_eq!(*told.lock().unwrap(), [0; 0]);
    }

    #[tokio::test]
    async fn a_look_at_too_many_entries_is_told_once_with_or_without_a_call() {
        let told: Arc<Mutex<Vec<ProtectedFile>>> = Arc::default();
        let log = told.clone();
        let teller = Teller::new(move |files| log.lock().unwrap().extend_from_slice(files));
        let files = || Outcome::unknown().into_files();
        let unknown = || Settled::from_files(files(), Some(teller.clone()));
        drop(unknown());
        let notes = unknown().finish(&Host::new()).await;
        assert!(
            notes.len() == 1 && notes[0].contains("too many"),
            "{notes:?}"
        );
        let told = told.lock().unwrap();
        assert_eq!(
            told.iter().map(|file| &file.fate).collect::<Vec<_>>(),
            [&ProtectedFate::Unknown; 2]
        );
    }
}
