//! Prints the table of the README: builds the programs that are measured and runs them, most under valgrind, whose counts come
//! out the same on a busy machine. `cargo run --release -p toolcrib-benches --bin table`

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Without valgrind there is no table, and printing it is all this does.

use std::env;
use std::process::Command;
use std::time::{Duration, Instant};

use benches::count::Programs;

/// Links in the program `linked`.
const LINKED: u64 = 10_000;

fn main() {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", "toolcrib-benches", "--features", "linked", "--bins"])
        .status();
    assert!(built.unwrap().success(), "the programs do not build");
    let programs = Programs(env::current_exe().unwrap().with_file_name(""));
    row("figure", "measured", "reach", "stretch");
    row("---", "--:", "--:", "--:");
    let (direct_add, direct_order) = (programs.instructions("direct-add"), programs.instructions("direct-order"));
    let (add, order) = (programs.instructions("add"), programs.instructions("order"));
    let ratio = |call: f64, direct: f64| format!("{:.2} ({call:.0} / {direct:.0})", call / direct);
    row("`execute(\"add\")` from JSON text, instructions, direct = 1", &ratio(add, direct_add), "≤ 4.0", "≤ 3.0");
    row("`execute(\"order\")` from JSON text, the same", &ratio(order, direct_order), "≤ 1.5", "≤ 1.2");
    row("`add` as an `async fn`, the same", &ratio(programs.instructions("add-later"), direct_add), "", "");
    let above = |name: &str, direct: &str| programs.allocations(name) - programs.allocations(direct);
    let more = format!("{:.1} / {:.1}", above("add", "direct-add"), above("order", "direct-order"));
    row("heap allocations above direct: add / order", &more, "≤ 3 / ≤ 16", "≤ 1 / ≤ 1");
    // Many rounds: with so many names, hashing them costs some steps more or less in each run.
    let sizes = ["add-of-10", "add-of-1000", "add-of-100000"].map(|name| programs.instructions_in(name, 100_000));
    let sizes = sizes.map(|count| format!("{:.2}", count / add)).join(" / ");
    row("the same call in a catalog of 10 / 1,000 / 100,000 tools, of 2 = 1", &sizes, "≤ 1.03", "");
    let threads = figure(&programs, "threads", 2) / figure(&programs, "threads", 1);
    row("two threads through one `ToolSet`, rate over that of one thread", &format!("{threads:.2}"), "≥ 1.8", "");
    // Few rounds: each makes a thousand tools' definitions.
    let [session, copy] = ["session", "direct-session"].map(|name| programs.instructions_in(name, 100));
    row(
        "a new session of 1,000 tools (`ToolSet::new` and its definitions), instructions, a copy of the bytes = 1",
        &ratio(session, copy),
        "≤ 3",
        "≤ 1.5",
    );
    // Many rounds: vectors that double their room make single steps dearer.
    let names = ["step-after-10", "step-after-2000"];
    let [few, many] = names.map(|name| programs.instructions_in(name, 1_000));
    let [few_bytes, many_bytes] = names.map(|name| programs.allocated(name) / 1e3);
    row(
        "one step with checkpoints after 2,000 messages, instructions, after 10 = 1 / allocated, and after 10",
        &format!("{} / {many_bytes:.1} KB, {few_bytes:.1} KB", ratio(many, few)),
        "≤ 1.2 / nothing that grows",
        "",
    );
    let times = [figure(&programs, "read", 20_000), figure(&programs, "direct-read", 20_000)];
    let read = format!(
        "{:.1} ({:.1} µs / {:.1} µs) / {:.1} KB",
        times[0] / times[1],
        times[0],
        times[1],
        programs.allocated("read") / 1e3
    );
    row("`fs.read` of 1 KiB, processor time over `std::fs` / allocated", &read, "≤ 12 / ≤ 8 KB", "");
    let beside = figure(&programs, "beside-a-writer", 3);
    row("`get` p99.9 beside a writer that registers without pause", &format!("{beside:.2} µs"), "≤ 2 µs", "");
    let start = time(&programs, "linked", "1").saturating_sub(time(&programs, "scenario", "nothing"));
    let start = format!("{:.1} ms", start.as_secs_f64() * 1e3);
    row("10,000 linked tools: start to first validated execute, above an empty program", &start, "≤ 10 ms", "≤ 4 ms");
    let (idle, one, many) = (programs.heap(&[]), programs.heap(&["0"]), programs.heap(&["200"]));
    let per_tool = (one - idle) / LINKED as f64;
    let called = (many - one) / 200.0 / 1024.0;
    let memory = format!("{per_tool:.0} B / {called:.1} KiB");
    row("heap of a linked tool before first use / after its first validated call", &memory, "≤ 256 B / ≤ 40 KB", "");
    let registered = format!("{:.0} / {:.1} KB", programs.registering(), programs.kept("register") / 1e3);
    row(
        "registering a tool with 1.8 KB of schema: instructions / heap that it keeps",
        &registered,
        "≤ 250,000 / ≤ 20 KB",
        "",
    );
    let first = format!("{:.2} M", programs.first(add) / 1e6);
    row("first validated execute of a process above a later one, instructions", &first, "≤ 0.8 M", "");
}

/// The figure that a scenario prints.
fn figure(programs: &Programs, scenario: &str, count: u64) -> f64 {
    let output = Command::new(programs.path("scenario")).args([scenario, &count.to_string()]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

/// The shortest of some runs: what else the machine does can only add to it.
fn time(programs: &Programs, program: &str, argument: &str) -> Duration {
    let run = |_| {
        let start = Instant::now();
        assert!(Command::new(programs.path(program)).arg(argument).status().unwrap().success());
        start.elapsed()
    };
    (0..20).map(run).min().unwrap_or_default()
}

fn row(figure: &str, measured: &str, reach: &str, stretch: &str) {
    println!("| {figure} | {measured} | {reach} | {stretch} |");
}
