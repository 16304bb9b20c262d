//! [`Teller`]: tells the person at the host about protected files, where no call does.

use std::sync::Arc;

use tools::ProtectedFile;

/// Tells the person at the host about protected files.
#[derive(Clone)]
pub struct Teller(Arc<Tell>);

type Tell = dyn Fn(&[ProtectedFile]) + Send + Sync;

impl Teller {
    /// Creates a teller that calls `tell` with the files. It must not block.
    pub fn new(tell: impl Fn(&[ProtectedFile]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, files: &[ProtectedFile]) {
        (self.0)(files);
    }
}

tools::debug_fields!(self: Teller {});
