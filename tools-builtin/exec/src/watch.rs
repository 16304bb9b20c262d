//! [`Watch`]: the look at the protected files before a program, until the one after it.

use std::mem;
use std::sync::{Mutex, MutexGuard};

use tools::policy::{Rule, Verdict};
use tools::{IgnorePoison as _, ToolContext, ToolError, visible_line};
use tools_workspace::Workspace;

use crate::aside::{Aside, Origin, Outcome, RunningRecord, Settled, separate_linked};
use crate::command::command;
use crate::protected::{Judge, Look, Protected, Tree};
use crate::request::Request;
use crate::reserved::without_links;
use crate::sandbox::{Granted, Sandbox};
use crate::teller::Teller;

/// The characters of a command line in a record.
const SHOWN: usize = 200;

/// The look at the protected files before a program. [`settle`](Self::settle) makes the one after it.
pub(crate) struct Watch {
    look: Look,
    /// The folder for what is found.
    aside: Option<Aside>,
    teller: Option<Teller>,
    pub(crate) before: Protected,
    origin: Origin,
    state: Mutex<State>,
}

enum State {
    /// The program may run. With a folder, a record says what there was.
    Before(Option<RunningRecord>),
    /// The result of the look after it, until it is taken.
    After(Option<Settled>),
}

impl Watch {
    /// Looks at the files before a program. `is_kept` says whether the walls protect them. Blocks.
    ///
    /// # Errors
    /// Returns an error if the trees have too many entries to look at.
    pub(crate) fn begin(
        cx: &ToolContext,
        sandbox: &Sandbox,
        workspace: &Workspace,
        granted: &Granted,
        is_kept: bool,
        request: &Request,
    ) -> Result<Self, ToolError> {
        let aside = sandbox.aside.clone();
        let hidden = workspace
            .hidden_paths()
            .iter()
            .filter(|_| is_kept)
            .map(|path| without_links(path));
        let skipped = hidden
            .chain(aside.iter().map(|aside| without_links(aside.folder())))
            .collect();
        let trees = granted.writable.paths.iter().map(|tree| Tree {
            path: tree.path.clone(),
            is_tree: tree.is_tree,
        });
        let look = Look {
            judge: Judge::from_call(cx),
            root: workspace.root().to_owned(),
            trees: trees.collect(),
            is_kept,
            skipped,
            may_redirect: spells(cx, request),
        };
        let teller = sandbox.teller.clone();
        let late: Vec<_> = aside
            .iter()
            .flat_map(|aside| aside.recover_ended(&look.root))
            .collect();
        if !late.is_empty() && !cx.report_protected(&late) {
            teller.iter().for_each(|teller| teller.tell(&late));
        }
        let mut before = match &aside {
            Some(_) => look.find_with_content()?,
            None => look.find()?,
        };
        // The program writes no objects of another repository, such as the one that this one was cloned from.
        separate_linked(&look, before.linked_objects());
        if let Some(aside) = &aside {
            aside.inherit(&look.root, &mut before);
        }
        let program = visible_line(
            &format!("{} {}", request.program, request.args.join(" ")),
            SHOWN,
        );
        let origin = Origin {
            program,
            session: cx.session().map(str::to_owned),
        };
        Ok(Self {
            look,
            aside,
            teller,
            before,
            origin,
            state: Mutex::new(State::Before(None)),
        })
    }

    /// Writes what there was before the program, so that the next session looks again if this process ends before it does.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    pub(crate) fn record(&self) -> Result<(), ToolError> {
        let Some(aside) = &self.aside else {
            return Ok(());
        };
        let record = RunningRecord::create(aside, &self.look, &self.before, &self.origin);
        let record = record.map_err(|error| {
            let folder = aside.folder().display();
            ToolError::execution_failed(format!(
                "{folder} cannot be written: {error}; make room for it, or free it"
            ))
        })?;
        *self.state() = State::Before(Some(record));
        Ok(())
    }

    /// Looks at the files after the program, unless that was done, and moves aside what it planted. Blocks.
    pub(crate) fn settle(&self) {
        let mut state = self.state();
        if let State::Before(record) = &mut *state {
            let aside = &self.aside;
            let look = &self.look;
            let teller = &self.teller;
            let root = &look.root;
            let record = match (aside, record.take()) {
                (Some(aside), Some(record)) if record.root().as_ref() != Some(root) => {
                    let files = aside.recover_moved(root, record);
                    *state = State::After(Some(Settled::from_files(files, teller.clone())));
                    return;
                }
                (_, record) => record,
            };
            let put = record.as_ref().map_or(Ok(()), RunningRecord::put_later);
            let settled = match look.find() {
                Ok(now) if put.is_ok() => {
                    let aside = aside.as_ref();
                    let mut settled = Settled::new(
                        aside,
                        look,
                        &self.before,
                        &now,
                        &self.origin,
                        teller.clone(),
                    );
                    record
                        .into_iter()
                        .for_each(|record| record.finish(settled.unfinished_paths()));
                    let of_others = aside.iter().flat_map(|aside| aside.recover_later(root));
                    settled.extend(of_others);
                    settled
                }
                // The next session looks again.
                _ => Settled::from_files(Outcome::unknown().into_files(), teller.clone()),
            };
            *state = State::After(Some(settled));
        }
    }

    /// Returns the result of the look after the program. Returns `None` if it was taken before.
    pub(crate) fn take(&self) -> Option<Settled> {
        match &mut *self.state() {
            State::Before(_) => None,
            State::After(settled) => mem::take(settled),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }
}

/// Returns true if a clause spells the whole command of git.
fn spells(cx: &ToolContext, request: &Request) -> bool {
    let Ok(words) = command(&request.env, &request.program, &request.args) else {
        return false;
    };
    let value = words.to_string();
    let rules = cx.policy().into_iter().flat_map(|policy| policy.rules());
    let allowed = rules
        .filter(|rule| rule.verdict == Verdict::Allow)
        .filter_map(Rule::target);
    let mut clauses = cx.grant().clauses().chain(allowed);
    request.program == "git"
        && clauses.any(|clause| clause.scheme() == Some("exec") && clause.pattern() == value)
}

#[cfg(test)]
mod tests;
