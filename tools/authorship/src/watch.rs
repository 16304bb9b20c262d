//! [`Watch`]: the time in which a program may write.

use std::path::PathBuf;
use std::{io, mem};

use crate::mark::{Mark, Marks};
use crate::running::{Recorded, Running};
use crate::written::Written;

/// The time in which a program may write. A drop records the files that it wrote, and marks its repositories.
#[derive(Debug)]
pub(crate) struct Watch {
    marks: Marks,
    put: Vec<(PathBuf, Mark)>,
    recorded: Recorded,
}

impl Watch {
    /// Records a program that is about to start.
    pub(crate) fn begin(marks: &Marks, program: Running) -> io::Result<Self> {
        let recorded = marks.programs.record(program)?;
        let mut watch = Self {
            marks: marks.clone(),
            put: Vec::new(),
            recorded,
        };
        watch.put = marks.begin(&watch.recorded.program)?;
        Ok(watch)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let program = self.recorded.now();
        let later = self.marks.programs.put_later(&program);
        let marked = self.marks.settle(&program, mem::take(&mut self.put));
        // The record stays if this fails, so that the program counts as lost.
        if settle_files(&program).and(marked).and(later).is_ok() {
            self.marks.programs.end(&self.recorded);
            // Other programs may have moved folders out of its root.
            let _ = settle_lost(&self.marks);
        }
    }
}

/// Settles the programs whose sessions have died before they did.
///
/// # Errors
/// Returns an error if a record cannot be read or written. Such a program counts as one that may have written until now.
pub(crate) fn settle_lost(marks: &Marks) -> io::Result<()> {
    marks.programs.settle(|program| {
        // Its time covers those that cannot be marked.
        let _ = marks.settle(program, Vec::new());
        settle_files(program)
    })
}

fn settle_files(program: &Running) -> io::Result<()> {
    Written::own().map_or(Ok(()), |written| written.settle(program))
}
