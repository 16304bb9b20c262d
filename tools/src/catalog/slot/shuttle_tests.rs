//! Linked tools, which are built on first use, under the scheduler of [`schedule`](crate::schedule).

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::Tool;

use super::Slot;
use crate::admission::Admission;
use crate::entry::Entry;
use crate::register_error::DefinitionError;
use crate::schedule::{Thread, all, check, nothing, thread, tool};
use crate::source::Source;
use crate::submission::Submission;

const fn submission(
    name: &'static str,
    definition: fn() -> Result<Tool, DefinitionError>,
) -> Submission {
    Submission {
        name,
        was: &[],
        source: Source::new("c", "1", "lib.rs", 1),
        definition,
        handler: &nothing,
    }
}

static PLAIN: Submission = submission("t", || Ok(tool("t")));

/// Uses a slot from several threads, each through another method, and returns the outcomes.
fn seen_by_all(slot: &Slot, admission: &Arc<Admission>) -> Vec<Result<Arc<Entry>, String>> {
    let seen = Arc::new(shuttle::sync::Mutex::new(Vec::new()));
    let shared = (slot.clone(), admission.clone(), seen.clone());
    let look = |look: fn(&Slot) -> Result<Arc<Entry>, String>| {
        thread(&shared, move |(slot, admission, seen)| {
            let entry = look(slot);
            let is_joined = entry
                .as_ref()
                .is_ok_and(|entry| Arc::ptr_eq(entry.admission(), admission));
            assert!(
                is_joined || entry.is_err(),
                "an entry is visible only with its catalog's admission"
            );
            seen.lock().unwrap().push(entry);
        })
    };
    all([
        look(|slot| slot.resolve("t").map_err(|error| error.to_string())),
        look(|slot| {
            slot.entry()
                .ok_or_else(|| slot.problem().unwrap().error.to_string())
        }),
        look(|slot| match slot.problem() {
            Some(problem) => Err(problem.error.to_string()),
            None => Ok(slot.entry().unwrap()),
        }),
    ]);
    seen.lock().unwrap().drain(..).collect()
}

#[test]
fn a_linked_tool_is_built_once_for_all_threads() {
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    static SLOW: Submission = submission("t", || {
        BUILT.fetch_add(1, Ordering::SeqCst);
        shuttle::thread::yield_now();
        Ok(tool("t"))
    });
    check(|| {
        BUILT.store(0, Ordering::SeqCst);
        let admission = Arc::new(Admission::default());
        let seen = seen_by_all(&Slot::linked(&SLOW, admission.clone(), None), &admission);
        let first = seen[0].as_ref().unwrap();
        assert!(
            seen.iter()
                .all(|entry| Arc::ptr_eq(entry.as_ref().unwrap(), first))
        );
        assert_eq!(BUILT.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_linked_tool_that_cannot_be_built_is_built_once_and_every_thread_gets_the_error() {
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    static PANICS: Submission = submission("t", || {
        TRIED.fetch_add(1, Ordering::SeqCst);
        shuttle::thread::yield_now();
        // Skips the panic hook, which would print each panic.
        std::panic::resume_unwind(Box::new("on purpose"))
    });
    check(|| {
        TRIED.store(0, Ordering::SeqCst);
        let admission = Arc::new(Admission::default());
        let slot = Slot::linked(&PANICS, admission.clone(), None);
        let seen = seen_by_all(&slot, &admission);
        assert!(
            seen.iter().all(|entry| entry
                .as_ref()
                .is_err_and(|error| error.contains("on purpose"))),
            "{seen:?}"
        );
        assert_eq!(TRIED.load(Ordering::SeqCst), 1);
        // After a failure, the same thread can build another tool.
        assert!(
            Slot::linked(&PANICS, admission.clone(), None)
                .entry()
                .is_none()
        );
        assert!(Slot::linked(&PLAIN, admission, None).entry().is_some());
    });
}

#[test]
fn builders_that_look_at_each_others_tools_do_not_wait_for_each_other() {
    static SLOTS: std::sync::Mutex<Option<[Slot; 2]>> = std::sync::Mutex::new(None);
    fn slot(index: usize) -> Slot {
        SLOTS.lock().unwrap().as_ref().unwrap()[index].clone()
    }
    fn looks_at(index: usize) -> Result<Tool, DefinitionError> {
        shuttle::thread::yield_now();
        // The other tool is either built already or refused as circular.
        if let Err(refused) = slot(index).resolve("other") {
            assert!(
                refused
                    .to_string()
                    .contains(&DefinitionError::Circular.to_string()),
                "{refused}"
            );
        }
        Ok(tool(["a", "b"][1 - index]))
    }
    static A: Submission = submission("a", || looks_at(1));
    static B: Submission = submission("b", || looks_at(0));
    check(|| {
        let admission = Arc::new(Admission::default());
        *SLOTS.lock().unwrap() = Some([
            Slot::linked(&A, admission.clone(), None),
            Slot::linked(&B, admission, None),
        ]);
        let look = |index| -> Thread { Box::new(move || assert!(slot(index).entry().is_some())) };
        all([look(0), look(1), look(0)]);
        // A refusal during a build is not permanent.
        let built = [slot(0).resolve("a").is_ok(), slot(1).resolve("b").is_ok()];
        *SLOTS.lock().unwrap() = None;
        assert_eq!(built, [true, true]);
    });
}

#[test]
fn a_tool_that_is_built_while_its_catalog_gets_another_admission_has_one_of_the_two() {
    check(|| {
        let admissions = [(); 2].map(|()| Arc::new(Admission::default()));
        let slot = Slot::linked(&PLAIN, admissions[0].clone(), None);
        let first = slot.clone();
        let second = admissions[1].clone();
        let moved = Arc::new(shuttle::sync::Mutex::new(None));
        let put = moved.clone();
        all([
            Box::new(move || assert!(first.entry().is_some())) as Thread,
            Box::new(move || *put.lock().unwrap() = Some(slot.with_admission(&second))),
        ]);
        let entry = moved.lock().unwrap().take().unwrap().entry().unwrap();
        assert!(
            admissions
                .iter()
                .any(|admission| Arc::ptr_eq(entry.admission(), admission))
        );
    });
}
