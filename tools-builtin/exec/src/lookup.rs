//! Finds the file of a program.

use std::fs;
use std::path::{Path, PathBuf};

use tools::ToolError;

use crate::command::WORDS_IN_ARGS;
use crate::toolchain::{Folders, Toolchain};

/// The folders in which a program without a path is looked up, in this order.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Returns the folders in which a program without a path is looked up: those of the toolchains, then those of the system.
pub(crate) fn folders(toolchains: &[Folders]) -> Vec<PathBuf> {
    let of_toolchains = toolchains.iter().flat_map(|folders| folders.search.clone());
    of_toolchains.chain(std::env::split_paths(PATH)).collect()
}

/// Returns the absolute path of a program. A name with `/` is a path below the workspace root, or absolute. The working directory
/// plays no part, so that a clause of a grant means one file. `toolchain` returns the toolchain of a program that is in none of `folders`.
pub(crate) fn program(
    name: &str,
    root: &Path,
    folders: &[PathBuf],
    toolchain: impl FnOnce() -> Option<Toolchain>,
) -> Result<PathBuf, ToolError> {
    let candidates: Vec<PathBuf> = if name.contains('/') {
        vec![root.join(name)]
    } else {
        folders.iter().map(|folder| folder.join(name)).collect()
    };
    let found = candidates.into_iter().find(|path| is_program(path));
    found.ok_or_else(|| {
        let place = if name.contains('/') {
            "it is not an executable file".to_owned()
        } else {
            format!(
                "it is in none of {}",
                folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
            )
        };
        let advice = match toolchain() {
            Some(toolchain) => format!(
                "it belongs to the toolchain {toolchain}, so ask the user to add \"{toolchain}\" to programs.toolchains"
            ),
            None if name.contains(' ') => WORDS_IN_ARGS.to_owned(),
            None => "name another program, or its path below the workspace root".to_owned(),
        };
        ToolError::execution_failed(format!("there is no program {name:?}: {place}; {advice}"))
    })
}

/// Returns true if the file can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && is_executable(&metadata))
}

pub(crate) fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_name_is_looked_up_in_the_folders_of_the_system_alone() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("ls");
        fs::write(&own, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(
            program("ls", root.path(), &folders(&[]), || None).unwrap(),
            own
        );
        assert_eq!(
            program("./ls", root.path(), &folders(&[]), || None)
                .unwrap()
                .file_name(),
            own.file_name()
        );
        fs::set_permissions(&own, fs::Permissions::from_mode(0o644)).unwrap();
        for name in ["./ls", "no-such-program", "./none", "/etc/passwd", "/"] {
            assert!(
                program(name, root.path(), &folders(&[]), || None).is_err(),
                "{name}"
            );
        }
    }

    #[test]
    fn a_path_with_its_arguments_in_one_text_is_refused_with_advice() {
        let advice = |name: &str| {
            program(name, Path::new("/"), &folders(&[]), || None)
                .unwrap_err()
                .to_string()
        };
        assert!(
            advice("/bin/ls -l").contains("`args`")
                && !advice("/bin/no-such-program").contains("`args`")
        );
    }

    #[test]
    fn a_toolchain_is_added_to_those_that_are_set() {
        let error = program("cargo-of-nobody", Path::new("/"), &folders(&[]), || {
            Some(Toolchain::Rust)
        })
        .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("add \"rust\" to programs.toolchains"),
            "{error}"
        );
    }
}
