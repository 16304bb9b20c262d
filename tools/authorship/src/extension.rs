//! The origin of files: how the family joins a program.

use host::{Extension, inventory};
use tools::source;

use crate::{approval, judge, named, running, written};

inventory::submit! {
    Extension::new("authorship", source!())
        .with_services(&[], |settings, services| {
            settings.root().into_iter().for_each(|root| judge::insert(services, root));
            Ok(())
        })
        .with_protection(named::protect)
        .with_approval(|cx, digests| Box::pin(approval::approve(cx, digests)))
        .with_written_files(written::written_files)
        .with_end(running::wait_for_ends)
}
