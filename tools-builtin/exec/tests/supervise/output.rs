//! The streams of programs.

use std::fs;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use libtest_mimic::Trial;
use tokio::io::AsyncWriteExt as _;
use tools_exec::supervise::{Capture, Collect, Exit, Ring, Status, start};

use crate::marker::Marker;
use crate::modes::{Mode, line, until};

const MIB: usize = 1024 * 1024;

/// Counts bytes, from the time on when it wants them.
#[derive(Default)]
struct Wanted {
    is_wanted: bool,
    waker: Option<Waker>,
    bytes: usize,
}

impl Wanted {
    fn want(&mut self) {
        self.is_wanted = true;
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl Collect for Wanted {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.waker = Some(cx.waker().clone());
        if self.is_wanted {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
    }
}

pub(crate) fn trials(mode: Mode) -> Vec<Trial> {
    vec![
        mode.trial(
            "output::a_mebibyte_of_input_comes_back",
            async |mode, marker| {
                let input: String = (0..MIB / 8).map(|line| format!("{line:07}\n")).collect();
                let capture = Capture::new(2 * MIB);
                let launch = mode.launch(&marker, &["cat"]);
                let running = start(&launch, capture.clone(), capture)
                    .await
                    .expect("cat starts");
                running.feed(input.clone().into_bytes());
                assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(0));
                assert!(running.stdout().head == input);
            },
        ),
        mode.trial(
            "output::long_output_needs_no_memory",
            async |mode, marker| drained(mode, &marker, 512 << 20).await,
        ),
        mode.trial(
            "output::ten_gibibytes_need_no_memory",
            async |mode, marker| drained(mode, &marker, 10 << 30).await,
        )
        .with_ignored_flag(true),
        mode.trial(
            "output::both_streams_are_drained_at_once",
            async |mode, marker| {
                let running = mode
                    .sh(
                        &marker,
                        "yes out | head -c 9M & yes err | head -c 9M >&2; wait",
                    )
                    .await;
                assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(0));
                for (text, line) in [(running.stdout(), "out\n"), (running.stderr(), "err\n")] {
                    assert_eq!(text.head, line.repeat(1024));
                    assert_eq!(text.tail, line.repeat(1024));
                    assert_eq!(text.left_out, 9 * MIB as u64 - 8192);
                }
            },
        ),
        mode.trial(
            "output::a_program_waits_while_its_output_is_not_wanted",
            async |mode, marker| {
                let launch = mode.launch(&marker, &["sh", "-c", "yes | head -c 9M"]);
                let running = start(&launch, Wanted::default(), Wanted::default())
                    .await
                    .expect("sh starts");
                tokio::time::sleep(Duration::from_millis(300)).await;
                assert_eq!(
                    (running.with_stdout(|stdout| stdout.bytes), running.status()),
                    (0, Status::Running)
                );
                running.with_stdout(Wanted::want);
                assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(0));
                assert_eq!(running.with_stdout(|stdout| stdout.bytes), 9 * MIB);
                // The end of the program is not held back, and the rest of its output comes.
                let launch = mode.launch(&marker, &["echo", "end"]);
                let running = start(&launch, Wanted::default(), Wanted::default())
                    .await
                    .expect("echo starts");
                assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(0));
                assert_eq!(running.with_stdout(|stdout| stdout.bytes), 4);
            },
        ),
        mode.trial(
            "output::the_input_can_be_handed_over",
            async |mode, marker| {
                let running = mode.start(&marker, &["cat"]).await;
                let mut stdin = running.take_stdin().expect("the input");
                assert!(running.take_stdin().is_none() && running.write(b"x").await.is_err());
                stdin.write_all(b"handed over").await.expect("cat reads");
                drop(stdin);
                assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(0));
                assert_eq!(running.stdout().head, "handed over");
            },
        ),
        mode.trial(
            "output::a_terminal_is_read_to_its_end",
            async |mode, marker| {
                let script = "test -t 0 && test -t 1 && test -t 2 && seq 1 30000 >&2";
                let mut launch = mode.launch(&marker, &["sh", "-c", script]);
                launch.has_terminal = true;
                let running = start(&launch, Capture::new(MIB), Capture::new(MIB))
                    .await
                    .expect("sh starts");
                assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(0));
                let expected: String = (1..=30_000).map(|line| format!("{line}\r\n")).collect();
                assert!(running.stdout().head == expected && running.stderr().head.is_empty());
                // The report of the end and the output race.
                for _ in 0..100 {
                    let mut launch = mode.launch(&marker, &["printf", "end"]);
                    launch.has_terminal = true;
                    let running = start(&launch, Capture::new(MIB), Capture::new(MIB))
                        .await
                        .expect("printf starts");
                    running.wait().await.expect("a report");
                    assert_eq!(running.stdout().head, "end");
                }
            },
        ),
        mode.trial(
            "output::streams_may_be_closed_early",
            async |mode, marker| {
                let running = mode
                    .sh(&marker, "exec <&- >&- 2>&-; sleep .1; exit 7")
                    .await;
                assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(7));
            },
        ),
        mode.trial("output::input_need_not_be_read", async |mode, marker| {
            let running = mode.sh(&marker, "exit 7").await;
            running.feed(vec![0; MIB]);
            assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(7));
            // A write that waits ends with the program.
            let running = mode.sh(&marker, "sleep .1").await;
            assert!(running.write(&vec![0; MIB]).await.is_err());
        }),
        mode.trial(
            "output::a_pipe_held_from_outside_does_not_matter",
            async |mode, marker| {
                let running = mode.sh(&marker, "echo ready; sleep 1000").await;
                line(&running, "ready").await;
                let path = format!("/proc/{}/fd/1", marker.processes()[0]);
                let _outside = fs::OpenOptions::new()
                    .write(true)
                    .open(path)
                    .expect("the pipe");
                running.stop();
                running.wait().await.expect("a report");
                assert_eq!(running.stdout().head, "ready\n");
            },
        ),
        mode.trial(
            "output::a_background_program_is_not_slowed_by_its_reader",
            async |mode, marker| {
                let launch = mode.launch(
                    &marker,
                    &["sh", "-c", "yes | head -c 9M; echo; echo end; sleep 1000"],
                );
                let running = start(&launch, Ring::new(1000), Ring::new(1000))
                    .await
                    .expect("sh starts");
                let mut total = 0;
                until("the last line comes", || {
                    let recent = running.with_stdout(Ring::read);
                    assert!(recent.text.len() <= 1000);
                    total += recent.skipped + recent.text.len() as u64;
                    recent.text.ends_with("end\n")
                })
                .await;
                assert_eq!(total, 9 * MIB as u64 + 5);
            },
        ),
    ]
}

async fn drained(mode: Mode, marker: &Marker, bytes: u64) {
    let before = peak_memory();
    let running = mode.sh(marker, &format!("yes | head -c {bytes}")).await;
    assert_eq!(running.wait().await.expect("a report").exit, Exit::Code(0));
    let text = running.stdout();
    assert_eq!(
        text.left_out + (text.head.len() + text.tail.len()) as u64,
        bytes
    );
    // A later reading can be lower than an earlier one: the kernel adds up counters of its processors.
    let more = peak_memory().saturating_sub(before);
    assert!(more < 16 * MIB, "{more} more bytes");
}

/// Returns the most memory that this process has had.
fn peak_memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("its status");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    let kib: usize = line
        .split_whitespace()
        .next()
        .and_then(|number| number.parse().ok())
        .expect("a number");
    kib * 1024
}
