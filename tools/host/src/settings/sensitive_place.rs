//! [`SensitivePlace`]: a place in the workspace whose content other programs run.

use std::path::PathBuf;

/// A file or folder that other programs of the person run or obey. Each write below the root needs approval, whatever is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensitivePlace {
    /// The absolute path, or a name in any folder.
    pub path: PathBuf,
    /// True if all files in the folder are meant.
    pub is_folder: bool,
    /// The description in approval requests and refusals.
    pub note: &'static str,
}
