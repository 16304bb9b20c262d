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

use host::{Extension, Parts, inventory};
use tools::source;

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
