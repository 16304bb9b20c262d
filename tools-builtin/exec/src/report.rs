//! The result of a program, as the model reads it.

use std::path::Path;
use std::time::Duration;

use tools::visible_line;

use crate::supervise::{Captured, Ended, Exit};

/// The most clauses that a line names.
const NAMED: usize = 10;

/// The characters of a clause that a line shows.
const SHOWN: usize = 100;

/// Returns a note that names the clauses that were left out of the walls.
pub(crate) fn left_out(clauses: &[String]) -> Option<String> {
    (!clauses.is_empty()).then(|| {
        format!(
            "these clauses do not reach programs, because the kernel knows no wildcards in paths: {}; grant a folder, such as fs:read:src/**",
            shorten(clauses)
        )
    })
}

/// Returns a note that names the writable paths that do not exist.
pub(crate) fn missing(paths: &[String]) -> Option<String> {
    (!paths.is_empty()).then(|| {
        format!(
            "programs cannot create these paths, because the kernel opens only those that exist: {}; create them first, such as by \
             fs.write, or grant the folder around them",
            shorten(paths)
        )
    })
}

/// Returns a path below the root as one line.
pub(crate) fn show_path(path: &Path, root: &Path) -> String {
    visible_line(
        &path.strip_prefix(root).unwrap_or(path).to_string_lossy(),
        200,
    )
}

/// Names clauses or paths in one line.
pub(crate) fn shorten(clauses: &[String]) -> String {
    let mut names: Vec<String> = clauses
        .iter()
        .take(NAMED)
        .map(|clause| visible_line(clause, SHOWN))
        .collect();
    if clauses.len() > NAMED {
        names.push(format!("{} more", clauses.len() - NAMED));
    }
    names.join(", ")
}

/// Returns the end of a program and its output as text.
pub(crate) fn report(
    end: &str,
    took: Duration,
    stdout: &Captured,
    stderr: &Captured,
    notes: &[String],
) -> String {
    let mut text = format!("[{end}, {:.1} s]", took.as_secs_f64());
    for note in notes {
        text += &format!("\n[{note}]");
    }
    for (name, stream) in [("stdout", stdout), ("stderr", stderr)] {
        if !stream.head.is_empty() || stream.left_out > 0 {
            text += &format!("\n{name}:\n{}", join_ends(stream));
        }
    }
    if stdout.head.is_empty() && stderr.head.is_empty() {
        text += "\n[no output]";
    }
    text
}

/// Describes how a program ended.
pub(crate) fn end(ended: Ended) -> String {
    let mut end = match ended.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(number) => format!("ended by signal {number}"),
        Exit::Unknown => "end unknown".to_owned(),
    };
    if ended.remaining > 0 {
        end += &format!(", {} of its processes could not be ended", ended.remaining);
    }
    end
}

fn join_ends(stream: &Captured) -> String {
    match stream.left_out {
        0 => stream.head.clone(),
        bytes => format!(
            "{}\n[… {bytes} bytes were not kept …]\n{}",
            stream.head, stream.tail
        ),
    }
}
