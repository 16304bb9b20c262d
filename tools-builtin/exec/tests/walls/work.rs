//! Work that the walls leave possible.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Completion, Failed, Trial};

use tools_exec::walls::Limits;

use crate::case::Case;
use crate::site::Site;

pub(crate) type Test = fn(&Site, &Case) -> Result<(), Failed>;

pub(crate) fn trials(case: &Case) -> Vec<Trial> {
    let tests: [(&str, Test); 13] = [
        (
            "files_in_the_granted_folder_can_be_changed",
            |site, case| {
                shell(
                    site,
                    case,
                    "set -e; echo a >new; mv new sub/moved; cat <sub/moved; rm -r sub; mkdir sub; ln -s file link; ln file hard",
                )?;
                assert!(site.path("granted/hard").exists());
                Ok(())
            },
        ),
        ("readable_files_can_be_read", |site, case| {
            assert_eq!(shell(site, case, "cat \"$READONLY\"/file")?, "before");
            Ok(())
        }),
        ("shells_have_pipes_and_devices", |site, case| {
            let script = "set -e; seq 3 | sort -r >/dev/null; head -c 3 /dev/urandom >/dev/zero; cat <(echo pipe) < /dev/null";
            assert_eq!(shell(site, case, script)?, "pipe\n");
            Ok(())
        }),
        (
            "the_exit_code_and_the_environment_pass_through",
            |site, case| {
                let output = run(site, case, "/bin/sh", &["-c", "echo $0-$TCP4; exit 7"]);
                assert_eq!(output.status.code(), Some(7));
                assert!(!String::from_utf8_lossy(&output.stdout).contains("TOOLCRIB"));
                let names = shell(site, case, "env | grep -c TOOLCRIB_ || true")?;
                assert_eq!(names, "0\n");
                Ok(())
            },
        ),
        ("a_large_list_of_arguments_passes", |site, case| {
            let argument = "x".repeat(9);
            let many: Vec<&str> = std::iter::repeat_n(argument.as_str(), 100_000).collect();
            let output = run(
                site,
                case,
                "/bin/sh",
                &[&["-c", "echo $#", "sh"], &many[..]].concat(),
            );
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "100000\n",
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            Ok(())
        }),
        ("a_program_that_is_missing_is_reported", |site, case| {
            let output = run(site, case, "/nowhere/program", &[]);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(126), "{errors}");
            assert!(
                errors.starts_with("toolcrib: cannot start the program: /nowhere/program: "),
                "{errors}"
            );
            assert_eq!(errors.lines().count(), 1);
            Ok(())
        }),
        ("scratch_holds_temporary_files", |site, case| {
            let mut launch = site.launch(
                case,
                "/bin/sh",
                &["-c", "echo kept >\"${TMPDIR:-/tmp}\"/file"],
            );
            launch.walls.scratch = Some(site.path("scratch"));
            let mut command = launch.command()?;
            let output = case.switch_user(&mut command).output()?;
            assert!(output.status.success(), "{output:?}");
            assert_eq!(site.text("scratch/file"), "kept\n");
            Ok(())
        }),
        (
            "temporary_folders_in_memory_can_be_written",
            |site, case| {
                if !case.alone {
                    let script =
                        "echo a >/tmp/file; echo b >/var/tmp/file; cat /tmp/file /var/tmp/file";
                    assert_eq!(shell(site, case, script)?, "a\nb\n");
                }
                Ok(())
            },
        ),
        (
            "other_processes_of_the_user_do_not_use_up_the_limit",
            |site, case| {
                let mut sleep = Command::new("/bin/sleep");
                let mut others: Vec<_> = (0..80)
                    .map(|_| case.switch_user(sleep.arg("60")).spawn())
                    .collect::<Result<_, _>>()?;
                let result = shell(site, case, "ls | cat; ls | cat");
                for other in &mut others {
                    other.kill()?;
                    other.wait()?;
                }
                result.map(drop)
            },
        ),
        ("git_commits", |site, case| {
            let mut git = Command::new("git");
            // Making a repository sets permissions by path, which does not work with Landlock alone.
            if case
                .switch_user(git.args(["init", "-q"]).current_dir(site.path("granted")))
                .status()
                .is_err()
            {
                return Ok(());
            }
            let script = "set -e; export HOME=$PWD/sub PATH=/usr/local/bin:/usr/bin:/bin
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
git add file; git commit -qm first; git checkout -qb next; echo b >file; git commit -qam second; git log --oneline | wc -l";
            assert_eq!(shell(site, case, script)?.trim(), "2");
            Ok(())
        }),
        ("a_compiler_makes_programs", |site, case| {
            let script = "set -e; export TMPDIR=$PWD PATH=/usr/local/bin:/usr/bin:/bin
command -v cc >/dev/null || exit 0
echo 'int main(){return 0;}' >a.c; cc a.c -o a";
            shell(site, case, script)?;
            if site.path("granted/a.c").exists() && !case.alone {
                shell(site, case, "./a")?;
            }
            Ok(())
        }),
        ("cargo_tests_a_crate", |site, case| {
            let sysroot = Command::new("rustc")
                .args(["--print", "sysroot"])
                .output()?;
            let toolchain = Path::new(String::from_utf8(sysroot.stdout)?.trim()).canonicalize()?;
            let mut reachable = Command::new("/usr/bin/test");
            if !case
                .switch_user(reachable.arg("-x").arg(toolchain.join("bin/cargo")))
                .status()?
                .success()
            {
                return Ok(());
            }
            let script = "set -e; export PATH=$TOOLCHAIN/bin:/usr/bin:/bin HOME=$PWD TMPDIR=$PWD USER=somebody
mkdir -p probe/src; cd probe; echo '#[test] fn works() {}' >src/lib.rs
printf '[package]\\nname = \"probe\"\\nedition = \"2024\"\\n[workspace]\\n' >Cargo.toml
cargo test --offline; touch src/lib.rs; cargo test --offline --release";
            let mut launch = site.launch(case, "/bin/bash", &["-c", script]);
            launch
                .env
                .push(("TOOLCHAIN".into(), toolchain.display().to_string()));
            launch.walls.read.push(toolchain);
            launch.walls.limits = Limits::default();
            let output = case.switch_user(&mut launch.command()?).output()?;
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            Ok(())
        }),
        ("unix_sockets_work_in_bubblewrap", |site, case| {
            if case.alone {
                return Ok(());
            }
            let script = "server = socket.socket(socket.AF_UNIX)
server.bind('here'); server.listen()
client = socket.socket(socket.AF_UNIX); client.connect('here'); server.accept()[0].send(b'hello'); print(client.recv(9))";
            let output = site.confined(case, script, false);
            assert!(
                String::from_utf8_lossy(&output.stdout).contains("hello"),
                "{output:?}"
            );
            Ok(())
        }),
    ];
    tests
        .into_iter()
        .map(|(name, test)| trial(format!("{case}::work::{name}"), test, case))
        .collect()
}

pub(crate) fn trial(name: String, test: Test, case: &Case) -> Trial {
    let case = case.clone();
    Trial::ignorable_test(name, move || match &case.missing {
        Some(missing) => Ok(Completion::ignored_with(missing)),
        None => test(&Site::new(&case), &case).map(|()| Completion::Completed),
    })
}

fn run(site: &Site, case: &Case, program: &str, args: &[&str]) -> Output {
    let mut command = site.launch(case, program, args).command().unwrap();
    case.switch_user(&mut command)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs a script of bash and returns its output.
fn shell(site: &Site, case: &Case, script: &str) -> Result<String, Failed> {
    let output = run(site, case, "/bin/bash", &["-c", script]);
    if !output.status.success() {
        return Err(format!(
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
