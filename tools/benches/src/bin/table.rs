//! Prints the table of the README: `cargo run --release -p toolcrib-benches --bin table`
//!
//! Builds the measured programs and runs them, most of them in valgrind, whose counts do not depend on the machine's load.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Needs valgrind; the table goes to stdout.

use std::env;
use std::process::Command;
use std::time::{Duration, Instant};

use benches::count::Programs;

/// The number of tools in the program `linked`.
const LINKED: u64 = 10_000;

fn main() {
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--release",
            "--quiet",
            "--package",
            "toolcrib-benches",
            "--features",
            "linked",
            "--bins",
        ])
        .status();
    assert!(built.unwrap().success(), "the programs do not build");
    let programs = Programs(env::current_exe().unwrap().with_file_name(""));
    row("figure", "measured", "reach", "stretch");
    row("---", "--:", "--:", "--:");
    let (direct_add, direct_order) = (
        programs.instructions("direct-add"),
        programs.instructions("direct-order"),
    );
    let (add, order) = (programs.instructions("add"), programs.instructions("order"));
    let ratio = |call: f64, direct: f64| format!("{:.2} ({call:.0} / {direct:.0})", call / direct);
    row(
        "`execute(\"add\")` from JSON text, instructions, direct = 1",
        &ratio(add, direct_add),
        "≤ 4.0",
        "≤ 3.0",
    );
    row(
        "`execute(\"order\")` from JSON text, the same",
        &ratio(order, direct_order),
        "≤ 1.5",
        "≤ 1.2",
    );
    row(
        "`add` as an `async fn`, the same",
        &ratio(programs.instructions("add-later"), direct_add),
        "≤ 4.0",
        "≤ 3.0",
    );
    let over = |scenario: &str, direct: &str| {
        ratio(
            programs.instructions(scenario),
            programs.instructions(direct),
        )
    };
    row(
        "an `async fn` with `reads = \"fs:{path}\"`, granted",
        &over("measure", "direct-measure"),
        "≤ 6",
        "≤ 4",
    );
    row(
        "`add` with a journal that does nothing",
        &over("add-journal", "direct-add"),
        "≤ 8",
        "≤ 5",
    );
    row(
        "`order` with a journal that does nothing",
        &over("order-journal", "direct-order"),
        "≤ 2.5",
        "≤ 1.8",
    );
    row(
        "one step through `Driver` that calls `add`, no listener",
        &over("add-step", "direct-add"),
        "≤ 12",
        "≤ 6",
    );
    row(
        "one step through `Driver` that calls `order`",
        &over("order-step", "direct-order"),
        "≤ 2.5",
        "≤ 1.6",
    );
    row(
        "a record of 1 KB as the result",
        &over("records-1k", "direct-records-1k"),
        "≤ 1.6",
        "≤ 1.2",
    );
    row(
        "records of 100 KB as the result",
        &over("records-100k", "direct-records-100k"),
        "≤ 1.3",
        "≤ 1.1",
    );
    row(
        "a call among 2,000 that read its target, among 10 = 1",
        &over("among-2000", "among-10"),
        "≤ 1.3",
        "",
    );
    row(
        "reading the text of `order`, by `serde_json` into a `Value` = 1",
        &over("read-order", "serde-read-order"),
        "< 1",
        "",
    );
    let above =
        |name: &str, direct: &str| programs.allocations(name) - programs.allocations(direct);
    let more = format!(
        "{:.1} / {:.1}",
        above("add", "direct-add"),
        above("order", "direct-order")
    );
    row(
        "heap allocations above direct: add / order",
        &more,
        "≤ 3 / ≤ 16",
        "≤ 1 / ≤ 1",
    );
    // Many rounds, because the cost of hashing many names varies between runs.
    let sizes = ["add-of-10", "add-of-1000", "add-of-100000"]
        .map(|name| programs.instructions_in(name, 100_000));
    let sizes = sizes.map(|count| format!("{:.2}", count / add)).join(" / ");
    row(
        "the same call in a catalog of 10 / 1,000 / 100,000 tools, of 2 = 1",
        &sizes,
        "≤ 1.03",
        "",
    );
    let threads = figure(&programs, "threads", 2) / figure(&programs, "threads", 1);
    row(
        "two threads through one `ToolSet`, rate over that of one thread",
        &format!("{threads:.2}"),
        "≥ 1.8",
        "",
    );
    // Few rounds, because each renders a thousand definitions.
    let [session, copy] =
        ["session", "direct-session"].map(|name| programs.instructions_in(name, 100));
    row(
        "a new session of 1,000 tools (`ToolSet::new` and its definitions), instructions, a copy of the array = 1",
        &ratio(session, copy),
        "≤ 3",
        "≤ 1.5",
    );
    // Many rounds, because growing vectors make single steps more expensive.
    let names = ["step-after-10", "step-after-2000"];
    let [few, many] = names.map(|name| programs.instructions_in(name, 1_000));
    let [few_bytes, many_bytes] = names.map(|name| programs.allocated(name) / 1e3);
    row(
        "one step with checkpoints after 2,000 messages, instructions, after 10 = 1 / allocated, and after 10",
        &format!(
            "{} / {many_bytes:.1} KB, {few_bytes:.1} KB",
            ratio(many, few)
        ),
        "≤ 1.2 / nothing that grows",
        "",
    );
    let times = [
        figure(&programs, "read", 20_000),
        figure(&programs, "direct-read", 20_000),
    ];
    let read = format!(
        "{:.1} ({:.1} µs / {:.1} µs) / {:.1} KB",
        times[0] / times[1],
        times[0],
        times[1],
        programs.allocated("read") / 1e3
    );
    row(
        "`fs.read` of 1 KiB, processor time over `std::fs` / allocated",
        &read,
        "≤ 12 / ≤ 8 KB",
        "",
    );
    let beside = figure(&programs, "beside-a-writer", 3);
    row(
        "`get` p99.9 beside a writer that registers without pause",
        &format!("{beside:.2} µs"),
        "≤ 2 µs",
        "",
    );
    let start =
        time(&programs, "linked", "1").saturating_sub(time(&programs, "scenario", "nothing"));
    let start = format!("{:.1} ms", start.as_secs_f64() * 1e3);
    row(
        "10,000 linked tools: start to first validated execute, above an empty program",
        &start,
        "≤ 10 ms",
        "≤ 4 ms",
    );
    let (idle, one, many) = (
        programs.heap(&[]),
        programs.heap(&["0"]),
        programs.heap(&["200"]),
    );
    let per_tool = (one - idle) / LINKED as f64;
    let called = (many - one) / 200.0 / 1024.0;
    let memory = format!("{per_tool:.0} B / {called:.1} KiB");
    row(
        "heap of a linked tool before first use / after its first validated call",
        &memory,
        "≤ 256 B / ≤ 40 KB",
        "",
    );
    let registered = format!(
        "{:.0} / {:.1} KB",
        programs.registering(),
        programs.kept("register") / 1e3
    );
    row(
        "registering a tool with 1.8 KB of schema: instructions / heap that it keeps",
        &registered,
        "≤ 250,000 / ≤ 20 KB",
        "",
    );
    let first = format!("{:.2} M", programs.first(add) / 1e6);
    row(
        "first validated execute of a process above a later one, instructions",
        &first,
        "≤ 0.8 M",
        "",
    );
}

/// Returns the figure that a scenario prints.
fn figure(programs: &Programs, scenario: &str, count: u64) -> f64 {
    let output = Command::new(programs.path("scenario"))
        .args([scenario, &count.to_string()])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .unwrap()
}

/// Returns the shortest of 20 runs, because other load can only add to a run.
fn time(programs: &Programs, program: &str, argument: &str) -> Duration {
    let run = |_| {
        let start = Instant::now();
        assert!(
            Command::new(programs.path(program))
                .arg(argument)
                .status()
                .unwrap()
                .success()
        );
        start.elapsed()
    };
    (0..20).map(run).min().unwrap_or_default()
}

fn row(figure: &str, measured: &str, reach: &str, stretch: &str) {
    println!("| {figure} | {measured} | {reach} | {stretch} |");
}
