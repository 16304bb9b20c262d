//! Commands that run other programs.

use super::lexer::{Lexed, lex};
use super::{Word, Words};

/// Programs that run other programs or code whatever their arguments are: shells, programs that take a command, interpreters, and
/// build tools, which run what a project says. Versions after a name, as in `python3.12`, play no part.
const LAUNCHERS: &[&str] = &[
    "R", "Rscript", "ant", "ash", "at", "awk", "bash", "batch", "bpftrace", "bun", "bunx", "busybox", "bwrap", "cargo",
    "chroot", "chrt", "clojure", "cmake", "command", "composer", "containerd", "cpulimit", "crontab", "csh", "ctest",
    "dash", "deno", "direnv", "doas", "docker", "dotnet", "elixir", "emacs", "entr", "env", "eval", "ex", "exec",
    "expect", "fakeroot", "firejail", "fish", "flatpak", "flock", "gawk", "gdb", "ghci", "git-receive-pack",
    "git-upload-pack", "gmake", "go", "gradle", "gradlew", "guile", "ionice", "irb", "java", "journalctl", "julia",
    "just", "kubectl", "ld.so", "less", "lldb", "ltrace", "lua", "luajit", "make", "man", "mawk", "meson", "mix",
    "mksh", "more", "msbuild", "mvn", "mvnw", "nawk", "nice", "ninja", "nix", "nix-shell", "node", "nodejs", "nohup",
    "npm", "npx", "nsenter", "ocaml", "parallel", "perf", "perl", "php", "pip", "pipx", "pkexec", "pnpm", "podman",
    "poetry", "pre-commit", "pry", "pytest", "python", "rake", "rsh", "rsync", "ruby", "run-parts", "runuser",
    "rustup", "sbt", "scala", "scp", "screen", "script", "sed", "setarch", "setpriv", "setsid", "sftp", "sh", "snap",
    "socat", "ssh", "sshpass", "start-stop-daemon", "stdbuf", "strace", "su", "sudo", "swift", "systemd-run",
    "taskset", "tclsh", "tcsh", "time", "timeout", "tmux", "tox", "trap", "ts-node", "tsx", "unbuffer", "unshare",
    "uv", "uvx", "valgrind", "vi", "view", "vim", "vimdiff", "watch", "watchexec", "wish", "xargs", "yarn", "zsh",
];

/// Programs that run others with one of these words, or with a longer word that begins with it. Long options can be abbreviated, as
/// `getopt_long` and git read them.
const WITH_WORDS: &[(&str, &[&str])] = &[
    ("fd", &["-x", "-X", "--exec"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    ("find", &["-exec", "-ok"]),
    (
        "git",
        &[
            "-c", "-O", "-p", "--config-env", "--exec", "--ext-diff", "--open-files-in-pager", "--paginate",
            "--receive-pack", "--textconv", "--upload-pack", "-x", "bisect", "config", "difftool", "ext::",
            "filter-branch", "foreach", "mergetool",
        ],
    ),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program"]),
    (
        "tar",
        &[
            "-F", "-I", "--checkpoint-action", "--info-script", "--new-volume-script", "--rmt-command",
            "--rsh-command", "--to-command", "--use-compress-program",
        ],
    ),
    ("zip", &["-TT", "--unzip-command"]),
];

impl Words {
    /// Returns true if the command is known to run other programs or code that its words contain or name, as `sh -c`, `env`, `xargs`,
    /// `find -exec`, `git -c`, `ssh` and `make` do. Consent to it is consent to whatever these run. Unknown words count as the worst.
    ///
    /// This is a remark for people from a list of well-known programs, and no wall: any other program can run programs, too.
    ///
    /// ```
    /// use protocol::Words;
    ///
    /// let runs = |text: &str| text.parse::<Words>().map(|words| words.runs_programs());
    /// assert_eq!((runs("find . -name a"), runs("find . -exec rm {} +").is_err()), (Ok(false), true));
    /// assert_eq!((runs("find . -exec rm '{}' +"), runs("/usr/bin/python3.12 a.py")), (Ok(true), Ok(true)));
    /// # Ok::<(), protocol::InvalidTarget>(())
    /// ```
    pub fn runs_programs(&self) -> bool {
        runs_programs(&self.words)
    }
}

/// Returns true if a command that the pattern covers is known to run other programs.
pub(crate) fn pattern_runs_programs(pattern: &str) -> bool {
    let word = |lexed: Lexed| match (lexed.word, &lexed.stars[..]) {
        (word, []) => word,
        (Word::Known(text), _) => Word::UnknownWords(text),
        (word, _) => word,
    };
    let words = lex(pattern, true).map(|words| words.into_iter().map(word).collect::<Vec<_>>());
    words.is_ok_and(|words| runs_programs(&words))
}

fn runs_programs(words: &[Word]) -> bool {
    let [Word::Known(program), rest @ ..] = words else { return true };
    let name = program.rsplit('/').next().unwrap_or_default();
    let without_version = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let is_listed = |name: &str| LAUNCHERS.binary_search(&name).is_ok();
    let Some((_, options)) = WITH_WORDS.iter().find(|(program, _)| *program == name) else {
        return is_listed(name) || is_listed(without_version);
    };
    rest.iter().any(|word| match word {
        Word::Known(word) => options.iter().any(|option| word.starts_with(option) || abbreviates(word, option)),
        _ => true,
    })
}

/// Returns true if a word is the beginning of a long option, with or without a value: `--to-com=sh`. Whether another option begins in
/// the same way, so that the program refuses it, plays no part.
fn abbreviates(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.len() > 2 && name.starts_with("--") && option.starts_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_run_others_are_recognised() {
        for (text, expected) in [
            ("sh -c ls", true),
            ("/bin/bash", true),
            ("env A=b ls", true),
            ("python3.12 -m x", true),
            ("python3 x", true),
            ("gcc-12 a.c", false),
            ("xargs rm", true),
            ("find . -name a -print", false),
            ("find . -execdir rm '{}' +", true),
            ("find . $x", true),
            ("git status", false),
            ("git -c core.pager=x log", true),
            ("git -ccore.pager=x log", true),
            ("git clone ext::sh", true),
            ("git submodule foreach ls", true),
            ("tar xf a.tar", false),
            ("tar xf a.tar --to-command=sh", true),
            ("tar xf a.tar --to-com=sh", true),
            ("tar cf a.tar --use-compress-prog sh", true),
            ("tar xf a.tar --touch", false),
            ("tar xf a.tar --", false),
            ("sort --compress-prog sh", true),
            ("sort --check=quiet -- a", false),
            ("git ls-remote --upload-pa=sh a", true),
            ("git log --patch -- a", false),
            ("find . -e", false),
            ("make", true),
            ("ssh host ls", true),
            ("ls -la", false),
            ("\"$program\" a", true),
            ("$program", true),
            ("echo $x", false),
        ] {
            assert_eq!(text.parse::<Words>().unwrap().runs_programs(), expected, "{text}");
        }
    }

    #[test]
    fn a_pattern_counts_as_the_worst_command_that_it_covers() {
        for (pattern, expected) in [
            ("**", true),
            ("* --version", true),
            ("git status", false),
            ("git **", true),
            ("git log *", true),
            ("echo **", false),
            ("cargo test **", true),
            ("python3", true),
        ] {
            assert_eq!(pattern_runs_programs(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn each_abbreviation_of_a_long_option_counts_as_the_option() {
        for (program, options) in WITH_WORDS {
            for option in options.iter().filter(|option| option.starts_with("--")) {
                for end in 3..=option.len() {
                    for value in ["", "=", "=a=b", " a"] {
                        let text = format!("{program} x {}{value}", &option[..end]);
                        assert!(text.parse::<Words>().unwrap().runs_programs(), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_names_are_sorted() {
        assert!(LAUNCHERS.is_sorted());
    }
}
