//! The origin of files: how the family joins a program.

use host::{Extension, Parts, inventory};
use tools::source;

use crate::{approval, judge, named, running, written};

inventory::submit! {
    Extension::new("authorship", source!(), Parts {
        services: |settings, services| {
            settings.root().into_iter().for_each(|root| judge::insert(services, root));
            Ok(())
        },
        protection: named::protect,
        approval: Some(|cx, digests| Box::pin(approval::approve(cx, digests))),
        written_files: written::written_files,
        end: running::wait_for_ends,
        ..Parts::NONE
    })
}
