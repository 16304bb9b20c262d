//! The files of servers that tools must not replace.

use std::path::{Path, PathBuf};

use tools_mcp::config::{FileOwner, Transport};

use crate::inventory::{Inventory, Program, Resolved, Standing};

impl Inventory {
    /// Returns the programs of the servers that sessions may start, and the existing files among their arguments. They run without a
    /// question, so replacing one needs approval.
    pub(crate) fn control_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for server in self
            .servers()
            .into_iter()
            .filter_map(|(.., configured)| configured.ok())
        {
            let (Standing::Ready(resolved) | Standing::Disabled(resolved)) = self.standing(&server)
            else {
                continue;
            };
            let Resolved {
                transport: Transport::Stdio { args, .. },
                program: Some(program),
                ..
            } = resolved
            else {
                continue;
            };
            let Program { executable, cwd } = program;
            // A project's server whose link leads elsewhere is no longer approved.
            let path = (server.owner == FileOwner::User).then_some(executable.path);
            files.extend([executable.target].into_iter().chain(path));
            files.extend(args.iter().flat_map(|argument| named(argument, &cwd)));
        }
        files
    }
}

/// Returns the existing files that an argument names, such as `server.py` or `--config=server.json`.
fn named(argument: &str, cwd: &Path) -> impl Iterator<Item = PathBuf> {
    let value = argument.split_once('=').map(|(_, value)| value);
    [Some(argument), value]
        .into_iter()
        .flatten()
        .map(|name| cwd.join(name))
        .filter(|path| path.is_file())
}
