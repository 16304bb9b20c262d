//! Runs a round with a counted heap. `compare` starts it.

use peak_alloc::PeakAlloc;
use peers::{HEAP, run_round};

#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

fn main() {
    HEAP.set(&COUNTED);
    let arguments: Vec<_> = std::env::args().skip(2).collect();
    run_round(&arguments);
}
