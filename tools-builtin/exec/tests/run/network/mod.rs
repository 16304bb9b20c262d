//! Programs with a network, judged from outside.

mod alone;
mod programs;
mod reach;
mod registries;
mod setup;
mod world;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        alone::trials(),
        programs::trials(),
        reach::trials(),
        registries::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
