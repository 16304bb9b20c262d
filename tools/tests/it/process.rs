//! Faults that end the process even though the pipeline isolates tools. The tests run them in a child process.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use crate::sample::pure;
use serde_json::{Value, json};
use tools::{Catalog, Host, ToolContext, handler};

/// The environment variable that names the tool the child runs.
const TOOL: &str = "TOOLCRIB_TEST_FAULT";

const SIGABRT: i32 = 6;

/// The address space of a process whose tool asks for too much, in KiB: 1 GiB.
const ADDRESS_SPACE: u32 = 1 << 20;

/// Runs the child process with this tool.
fn process(tool: &str) -> Output {
    // The shell sets the limits, so that they do not apply to this process. Core dumps are off.
    let script = format!("ulimit -c 0; ulimit -v {ADDRESS_SPACE}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap());
    command
        .args([
            "process::other_process",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(TOOL, tool);
    // Each malloc arena would take 64 MiB of the address space.
    command
        .env("MALLOC_ARENA_MAX", "1")
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The child process, not a test of its own.
#[test]
#[ignore = "the process that the others start"]
fn other_process() {
    let Ok(name) = std::env::var(TOOL) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let outcome = runtime.block_on(catalog().execute(&Host::new(), &name, json!({})));
    let outcome = outcome.map_or_else(
        |error| error.code().to_string(),
        |result| result.to_text().len().to_string(),
    );
    eprintln!("the process lives: {outcome}");
}

fn catalog() -> Catalog {
    struct PanicsToo;
    impl Drop for PanicsToo {
        fn drop(&mut self) {
            panic!("once more");
        }
    }
    let mut catalog = Catalog::new();
    let mut add = |name: &str, run: fn() -> Result<String, String>| {
        catalog
            .register(
                pure(name),
                handler::blocking(move |_: &ToolContext, _: Value| run()),
            )
            .unwrap();
    };
    add("panics", || panic!("once"));
    add("panics_twice", || {
        let _too = PanicsToo;
        panic!("once")
    });
    add("recurses", || Ok(deep(0).to_string()));
    add("aborts", || std::process::abort());
    add("exits", || std::process::exit(7));
    add("allocates", || {
        let mut all = Vec::new();
        loop {
            all.push(vec![1_u8; 16 << 20]);
            if all.len() > 4096 {
                return Ok("64 GiB".to_owned());
            }
        }
    });
    add("asks_before_it_allocates", || {
        let mut all = Vec::<u8>::new();
        all.try_reserve_exact(4 << 30)
            .map_err(|error| error.to_string())?;
        Ok(String::new())
    });
    catalog
}

/// Recurses until the stack overflows.
fn deep(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    if depth == u64::MAX {
        0
    } else {
        deep(depth + 1).wrapping_add(room[63])
    }
}

#[test]
fn a_process_lives_on_after_a_panic() {
    let output = process("panics");
    assert!(
        output.status.success() && stderr(&output).contains("the process lives: panicked"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_panic_while_panicking_ends_the_process() {
    let output = process("panics_twice");
    assert_eq!(output.status.signal(), Some(SIGABRT), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("once more") && !stderr(&output).contains("lives"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_stack_overflow_ends_the_process() {
    let output = process("recurses");
    assert_eq!(output.status.signal(), Some(SIGABRT), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("overflowed its stack") && !stderr(&output).contains("lives"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn memory_that_is_not_there_ends_the_process() {
    let output = process("allocates");
    assert_eq!(output.status.signal(), Some(SIGABRT), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("memory allocation of"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_tool_that_asks_whether_there_is_memory_fails_alone() {
    let output = process("asks_before_it_allocates");
    assert!(
        stderr(&output).contains("the process lives: execution_failed"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_tool_that_ends_the_process_does_so() {
    assert_eq!(process("aborts").status.signal(), Some(SIGABRT));
    assert_eq!(process("exits").status.code(), Some(7));
}
