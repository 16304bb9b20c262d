//! Runs a round with a counted heap. `compare` builds and starts it.

use peak_alloc::PeakAlloc;
use peers::{HEAP, run_round};

#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

fn main() {
    HEAP.set(&COUNTED);
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    run_round(&arguments);
}
