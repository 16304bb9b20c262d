//! Moves aside what programs left among protected files before a session reads the workspace, and says what lies aside.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Once;

use host::{folders, program};
use tools::counted;
use tools::protocol::Word;

use crate::aside::{Aside, SetAside};

/// The most files of which `doctor` has a line.
const LISTED: usize = 20;

/// Guards the note on what lies aside, because later sessions of the process have the same workspace.
static NOTED: Once = Once::new();

/// Returns the folder for what programs plant. Returns `None` without a home.
pub(super) fn folder() -> Option<Aside> {
    Some(Aside::new(folders::state()?.join("aside")))
}

/// Moves aside what programs left whose session has died, and says once how much lies aside. Call it before a file of the workspace is read.
pub(super) fn recover(workspace: Option<&Path>) {
    let Some(aside) = folder() else { return };
    // The settings are those of the working directory.
    let mut places: Vec<PathBuf> = workspace.map(Path::to_owned).into_iter().collect();
    places.extend(std::env::current_dir().and_then(|place| place.canonicalize()));
    places.dedup();
    places
        .iter()
        .flat_map(|place| aside.recover(place))
        .for_each(|file| program::warn(&file.to_string()));
    NOTED.call_once(|| {
        let lying = lying(&aside, workspace);
        let Some(line) = count(&lying) else { return };
        let recorded = lying.iter().find(|file| !file.is_in_workspace());
        let advice = match recorded.or(lying.first()) {
            Some(first) if !first.is_in_workspace() => {
                let folder = first
                    .place
                    .as_ref()
                    .and_then(|place| place.parent()?.parent())
                    .map(quote_path);
                format!(
                    "{}, and rm -r {} forgets all",
                    way_back(first),
                    folder.unwrap_or_default()
                )
            }
            first => first.map(way_back).unwrap_or_default(),
        };
        program::note(&format!("{line}; {advice}"));
    });
}

/// Returns the lines of `doctor` on what lies aside.
pub(super) fn report(workspace: Option<&Path>) -> Vec<String> {
    let lying = folder()
        .map(|aside| lying(&aside, workspace))
        .unwrap_or_default();
    let lines = lying
        .iter()
        .take(LISTED)
        .flat_map(|file| match command(file) {
            Some(command) => vec![
                format!("- {}, {}; to put it back:", file.path, file.note),
                format!("  {command}"),
            ],
            None => vec![format!(
                "- {}, {}: {}",
                file.path,
                file.note,
                way_back(file)
            )],
        });
    count(&lying).into_iter().chain(lines).collect()
}

fn lying(aside: &Aside, workspace: Option<&Path>) -> Vec<SetAside> {
    workspace
        .map(|workspace| aside.list(workspace))
        .unwrap_or_default()
}

fn count(lying: &[SetAside]) -> Option<String> {
    let files = counted(lying.len() as u64, "protected file");
    (!lying.is_empty()).then(|| format!("aside: {files} that programs left in this workspace"))
}

/// Returns the command that puts a file back, if a record knows the file and no link leads elsewhere.
fn command(file: &SetAside) -> Option<String> {
    let place = quote_path(file.place.as_ref()?);
    let origin = quote_path(&file.origin);
    let mode = file.mode.map(|mode| format!(" && chmod {mode:o} {origin}"));
    let is_known = !file.is_in_workspace() && !file.leads_elsewhere();
    is_known.then(|| format!("mv {place} {origin}{}", mode.unwrap_or_default()))
}

/// Returns the command that puts a file back, or what to do otherwise.
fn way_back(file: &SetAside) -> String {
    let place = file.place.as_ref().map(quote_path).unwrap_or_default();
    if file.is_in_workspace() {
        return format!("{place} may be anybody's, so look at it, and remove it or rename it");
    }
    match command(file) {
        Some(command) => format!("{command} puts back {}", file.path),
        None => format!(
            "{} lies at {place}, and a link is on the way to where it was",
            file.path
        ),
    }
}

/// Returns a path as a word that a shell reads as the same bytes.
fn quote_path(path: impl AsRef<Path>) -> String {
    let chunks = path.as_ref().as_os_str().as_bytes().utf8_chunks();
    let chunks = chunks.map(|chunk| {
        let valid = match chunk.valid() {
            "" => String::new(),
            text => Word::Known(text.to_owned()).to_string(),
        };
        let raw = chunk.invalid().iter();
        valid
            + &raw
                .map(|byte| format!("$'\\x{byte:02x}'"))
                .collect::<String>()
    });
    chunks.collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_path_as_the_same_bytes() {
        for path in [
            &b"/a/plain"[..],
            b"/a b/it's",
            b"/a\xff/b c\xe9\xff1/\n",
            b"/\xc3\xa9\xff/$x",
            b"/\xff",
        ] {
            let quoted = quote_path(OsStr::from_bytes(path));
            let script = format!("printf %s {quoted}");
            let read = Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(read.stdout, path, "{quoted}");
        }
    }
}
