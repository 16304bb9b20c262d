//! The files that a program needs and that its walls hide.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tools::{ToolError, visible_line};

use crate::sandbox::Sandbox;
use crate::walls;

/// The bytes of a script in which its first line is looked for.
const FIRST_LINE: u64 = 256;

/// The characters of a path that a message shows.
const SHOWN: usize = 200;

/// The most arguments that a note names.
const NAMED: usize = 3;

/// The files that the walls of one program show, beside those of the system.
pub(crate) struct Shown<'a> {
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) root: &'a Path,
    pub(crate) read: &'a [PathBuf],
}

impl Shown<'_> {
    /// Checks that the program can be started: it is shown, and so is the interpreter that its first line names.
    ///
    /// # Errors
    /// Returns an error that names the hidden file, and the clause or the toolchain that shows it.
    pub(crate) fn check(&self, program: &Path) -> Result<(), ToolError> {
        if let Some(hidden) = self.explain_hidden(program) {
            let program = line(program);
            return Err(ToolError::execution_failed(format!(
                "the walls hide the program {program}: {hidden}"
            )));
        }
        let interpreter = interpreter(program);
        match interpreter
            .as_deref()
            .and_then(|path| Some((path, self.explain_hidden(path)?)))
        {
            Some((path, hidden)) => Err(ToolError::execution_failed(format!(
                "the walls hide {}, which runs the program {}: {hidden}",
                line(path),
                line(program)
            ))),
            None => Ok(()),
        }
    }

    /// Returns notes about the arguments that name hidden files, such as the script of an interpreter.
    pub(crate) fn notes(&self, args: &[String], cwd: &Path) -> Vec<String> {
        let values = args.iter().map(|arg| {
            arg.split_once('=')
                .filter(|_| arg.starts_with('-'))
                .map_or(&**arg, |it| it.1)
        });
        let paths = values.filter(|value| value.contains('/'));
        let paths = paths
            .map(|value| cwd.join(value))
            .filter(|path| path.exists());
        let hidden = paths.filter_map(|path| {
            Some(format!(
                "the walls hide {}: {}",
                line(&path),
                self.explain_hidden(&path)?
            ))
        });
        hidden.take(NAMED).collect()
    }

    fn shows(&self, path: &Path) -> bool {
        self.read.iter().any(|tree| path.starts_with(tree)) || walls::shows_to_all(path)
    }

    /// Returns the next step if the walls hide a file, or the file that it is a link to.
    fn explain_hidden(&self, path: &Path) -> Option<String> {
        let real = path.canonicalize().ok()?;
        let hidden = [path, &real].into_iter().find(|path| !self.shows(path))?;
        let place = if hidden == path {
            String::new()
        } else {
            format!("it is a link to {}; ", line(hidden))
        };
        let step = match (
            self.sandbox.other_toolchain_of(hidden),
            hidden.strip_prefix(self.root),
        ) {
            (Some(toolchain), _) => {
                format!(
                    "it belongs to the toolchain {toolchain}, so add \"{toolchain}\" to programs.toolchains"
                )
            }
            (None, Ok(below)) => format!("add fs:read:{} to the grant", line(below)),
            (None, Err(_)) => {
                "no clause reaches files there; install it below the workspace root or below /usr"
                    .to_owned()
            }
        };
        Some(place + &step)
    }
}

/// Returns the interpreter that the first line of a script names.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    File::open(program)
        .ok()?
        // The kernel reads no more of a first line, either.
        .take(FIRST_LINE)
        .read_to_end(&mut start)
        .ok()?;
    let text = String::from_utf8_lossy(&start);
    let first = text.strip_prefix("#!")?.lines().next()?;
    Some(PathBuf::from(first.split_whitespace().next()?))
}

fn line(path: &Path) -> String {
    visible_line(&path.to_string_lossy(), SHOWN)
}
