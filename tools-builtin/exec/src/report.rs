//! The result of a program, as the model reads it.

use std::time::Duration;

use crate::supervise::{Captured, Ended, Exit};

/// A note that clauses were left out of the walls.
pub(crate) const NARROWER: &str =
    "clauses about files with wildcards do not reach programs; grant a folder, such as fs:read:src/**";

/// Returns the end of a program and its output as text.
pub(crate) fn report(end: &str, took: Duration, stdout: &Captured, stderr: &Captured, notes: &[String]) -> String {
    let mut text = format!("[{end}, {:.1} s]", took.as_secs_f64());
    for note in notes {
        text += &format!("\n[{note}]");
    }
    for (name, stream) in [("stdout", stdout), ("stderr", stderr)] {
        if !stream.head.is_empty() || stream.left_out > 0 {
            text += &format!("\n{name}:\n{}", joined(stream));
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

fn joined(stream: &Captured) -> String {
    match stream.left_out {
        0 => stream.head.clone(),
        bytes => format!("{}\n[… {bytes} bytes were not kept …]\n{}", stream.head, stream.tail),
    }
}
