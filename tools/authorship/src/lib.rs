#![doc = include_str!("../README.md")]

mod approval;
mod committed;
mod content;
mod git;
mod judge;
mod left_out;
mod mark;
mod named;
mod process;
mod records;
mod repository;
mod running;
mod stamp;
mod trust;
mod walk;
mod watch;
mod written;

use host::{Extension, inventory};
use tools::source;

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
