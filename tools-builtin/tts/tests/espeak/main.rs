//! The real espeak-ng, in the sandbox. `apt-get install espeak-ng bubblewrap`, then
//! `cargo test -p toolcrib-tts --test espeak -- --include-ignored`.

#![allow(
    clippy::unwrap_used,
    reason = "these are tests, although the harness is not that of Rust"
)]

use std::io::Cursor;

use data_encoding::BASE64;
use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};
use tools::{Content, ToolError, ToolResult};
use tools_exec::Sandbox;
use tools_exec::walls::{Bubblewrap, Layers};
use tools_fs::Workspace;
use tools_testkit::{TempWorkspace, TestHost};
use tools_tts::Speech;

fn main() {
    tools_exec::enter();
    let trials: [(&str, fn()); 8] = [
        (
            "a_text_becomes_a_wav_file_that_another_reader_reads",
            a_text_becomes_a_wav_file_that_another_reader_reads,
        ),
        (
            "without_a_path_the_sound_is_returned",
            without_a_path_the_sound_is_returned,
        ),
        (
            "a_text_is_no_option_and_no_file",
            a_text_is_no_option_and_no_file,
        ),
        (
            "a_voice_is_no_option_and_no_path",
            a_voice_is_no_option_and_no_path,
        ),
        (
            "the_longest_text_is_within_the_limits",
            the_longest_text_is_within_the_limits,
        ),
        (
            "a_text_has_no_phonemes_and_no_commands",
            a_text_has_no_phonemes_and_no_commands,
        ),
        (
            "a_sound_over_the_limit_ends_the_program",
            a_sound_over_the_limit_ends_the_program,
        ),
        (
            "the_program_never_runs_without_walls",
            the_program_never_runs_without_walls,
        ),
    ];
    let trial = |(name, test): (&str, fn())| {
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(true)
    };
    libtest_mimic::run(&Arguments::from_args(), trials.map(trial).into()).exit();
}

fn host(workspace: &TempWorkspace) -> TestHost {
    TestHost::new(tools_tts::register)
        .with_grant(&["speech:read:text", "fs:write:sounds/**"])
        .with_service(Workspace::open(workspace.path()).unwrap())
        .with_service(Sandbox::default())
        .with_service(Speech::new(tools_tts::get("espeak-ng").unwrap(), None).unwrap())
}

fn call(host: &TestHost, arguments: Value) -> Result<ToolResult, ToolError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(host.call("tts.speak", arguments))
}

/// Returns the number of samples of a WAV file, as an independent reader finds them.
fn samples(bytes: &[u8]) -> usize {
    let reader = hound::WavReader::new(Cursor::new(bytes)).unwrap();
    assert_eq!(
        (
            reader.spec().channels,
            reader.spec().sample_rate,
            reader.spec().bits_per_sample
        ),
        (1, 22050, 16)
    );
    let declared = reader.len() as usize;
    assert_eq!(44 + 2 * declared, bytes.len());
    let samples: Vec<i16> = reader.into_samples().map(Result::unwrap).collect();
    assert!(
        samples.iter().any(|sample| sample.unsigned_abs() > 1000),
        "it is silent"
    );
    assert_eq!(samples.len(), declared);
    declared
}

fn spoken(text: &str) -> Vec<u8> {
    let workspace = TempWorkspace::new();
    call(
        &host(&workspace),
        json!({"text": text, "path": "sounds/a.wav"}),
    )
    .unwrap();
    workspace.read_bytes("sounds/a.wav")
}

fn a_text_becomes_a_wav_file_that_another_reader_reads() {
    let workspace = TempWorkspace::new();
    let result = call(
        &host(&workspace),
        json!({"text": "Good morning, world.", "path": "sounds/deep/hello.wav"}),
    )
    .unwrap();
    let bytes = workspace.read_bytes("sounds/deep/hello.wav");
    // More than half a second, and less than five.
    assert!((11_025..110_250).contains(&samples(&bytes)));
    let note = format!(
        "wrote `sounds/deep/hello.wav`: audio/wav, {} bytes, spoken by espeak-ng",
        bytes.len()
    );
    assert_eq!(result.to_text(), note);
    let longer = spoken("Good morning, world. And good evening to everyone else.");
    assert!(samples(&longer) > samples(&bytes));
    let refused = call(
        &host(&workspace),
        json!({"text": "hello", "path": "elsewhere.wav"}),
    )
    .unwrap_err();
    assert_eq!(refused.code(), tools::ErrorCode::PermissionDenied);
    let refused = call(
        &host(&workspace),
        json!({"text": "hello", "path": "sounds/a.mp3"}),
    )
    .unwrap_err()
    .to_string();
    assert!(refused.contains("espeak-ng makes .wav"), "{refused}");
}

fn without_a_path_the_sound_is_returned() {
    let workspace = TempWorkspace::new();
    let result = call(&host(&workspace), json!({"text": "Hello"})).unwrap();
    let [Content::Text { .. }, Content::Audio { data, mime_type }] = &result.content[..] else {
        panic!("{result:?}")
    };
    assert_eq!(mime_type, "audio/wav");
    assert!(samples(&BASE64.decode(data.as_bytes()).unwrap()) > 1000);
    assert_eq!(workspace.files(), [""; 0]);
}

fn a_text_is_no_option_and_no_file() {
    let short = samples(&spoken("a"));
    // Each would print a list, read a file or end at once, if it were an option.
    for text in [
        "--voices",
        "-f /etc/passwd",
        "--version",
        "-q hello hello",
        "/etc/passwd",
        "--help; one",
    ] {
        assert!(samples(&spoken(text)) > short, "{text}");
    }
    for text in [" \n", "-- …", "\u{200b}"] {
        let error = call(&host(&TempWorkspace::new()), json!({"text": text}))
            .unwrap_err()
            .to_string();
        assert!(error.contains("write words"), "{text:?}: {error}");
    }
}

fn a_voice_is_no_option_and_no_path() {
    let workspace = TempWorkspace::new();
    let english = BASE64.encode(&spoken("Guten Morgen zusammen"));
    let german = call(
        &host(&workspace),
        json!({"text": "Guten Morgen zusammen", "voice": "de"}),
    )
    .unwrap();
    assert!(matches!(&german.content[1], Content::Audio { data, .. } if *data != english));
    for voice in [
        "-f",
        "--path=/tmp",
        "../../etc/passwd",
        "/etc/passwd",
        "de -f x",
        "mb/de1",
        "\u{202e}de",
    ] {
        let error = call(&host(&workspace), json!({"text": "hello", "voice": voice}))
            .unwrap_err()
            .to_string();
        assert!(error.contains("is no name of a voice"), "{voice}: {error}");
    }
    let error = call(
        &host(&workspace),
        json!({"text": "hello", "voice": "nobody"}),
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.contains("espeak-ng failed") && error.contains("write a language such as en-gb"),
        "{error}"
    );
}

fn the_longest_text_is_within_the_limits() {
    let text = "Many words follow. ".repeat(300)[..Speech::MAX_TEXT].to_owned();
    assert!(samples(&spoken(&text)) > 22_050 * 60);
    let workspace = TempWorkspace::new();
    let error = call(&host(&workspace), json!({"text": text}))
        .unwrap_err()
        .to_string();
    assert!(error.contains("give a path"), "{error}");
    let error = call(&host(&workspace), json!({"text": text + "x"})).unwrap_err();
    assert_eq!(error.code(), tools::ErrorCode::InvalidArguments);
}

fn a_text_has_no_phonemes_and_no_commands() {
    // The program speaks these phonemes as it does the word.
    let word = spoken("one");
    for text in ["[[w'0n]]", "[\u{ad}[w'0n]]", "[[[w'0n]]]"] {
        assert_ne!(spoken(text), word, "{text}");
    }
    assert_eq!(spoken("one \u{1}50S two"), spoken("one  50S two"));
    assert!(samples(&spoken("one\0 two three")) > samples(&word));
}

fn a_sound_over_the_limit_ends_the_program() {
    // The name of this character takes more than a second. Without a limit, the program would write 44 MB.
    let text = format!("a {}", "\u{1f574} ".repeat(Speech::MAX_TEXT / 2 - 1));
    let workspace = TempWorkspace::new();
    let error = call(
        &host(&workspace),
        json!({"text": text, "path": "sounds/a.wav"}),
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.contains("more than 33554432 bytes; speak a shorter text"),
        "{error}"
    );
    assert_eq!(workspace.files(), [""; 0]);
}

fn the_program_never_runs_without_walls() {
    let workspace = TempWorkspace::new();
    let none = Layers {
        landlock: None,
        seccomp: false,
        bubblewrap: Bubblewrap::Missing,
    };
    let host = host(&workspace).with_service(Sandbox {
        layers: none.into(),
        may_run_unconfined: true,
        ..Sandbox::default()
    });
    let error = call(&host, json!({"text": "hello"})).unwrap_err();
    assert_eq!(error.code(), tools::ErrorCode::Unavailable, "{error}");
    assert!(
        error
            .to_string()
            .contains("cannot be confined on this machine"),
        "{error}"
    );
}
