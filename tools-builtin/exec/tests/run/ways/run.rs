//! Calls of `exec.run`: programs that run others, other spellings, and variables.

/// The program, its arguments, and variables.
type Way = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

pub(super) const WAYS: &[Way] = &[
    ("sh", &["-c", "git status; touch pwned"], &[]),
    ("bash", &["-c", "git status"], &[]),
    ("env", &["git", "status"], &[]),
    ("env", &["-S", "touch pwned"], &[]),
    ("xargs", &["git", "status"], &[]),
    ("nice", &["git", "status"], &[]),
    ("timeout", &["5", "touch", "pwned"], &[]),
    ("find", &[".", "-exec", "touch", "pwned", ";"], &[]),
    ("find", &[".", "-name", "a", "-delete"], &[]),
    ("git", &["-c", "core.pager=touch pwned", "status"], &[]),
    ("git", &["--exec-path=.", "status"], &[]),
    ("git", &["status; touch pwned"], &[]),
    ("git status", &[], &[]),
    ("git", &["status\ntouch pwned"], &[]),
    ("git", &["statusx"], &[]),
    ("git", &["", "status"], &[]),
    ("GIT", &["status"], &[]),
    ("./git", &["status"], &[]),
    ("/usr/bin/git", &["status"], &[]),
    ("/bin/../bin/git", &["status"], &[]),
    (" git", &["status"], &[]),
    ("npm", &["testify"], &[]),
    ("npm", &["test", ""], &[]),
    ("npm", &["test", "--", "x"], &[]),
    ("npm", &["--script-shell=./x", "test"], &[]),
    ("", &["git", "status"], &[]),
    ("eval", &["touch pwned"], &[]),
    ("git", &["status"], &["GIT_PAGER=touch pwned"]),
    ("git", &["status"], &["PATH=."]),
    ("git", &["status"], &["LD_PRELOAD=./x.so"]),
    (
        "git",
        &["status"],
        &[
            "GIT_CONFIG_COUNT=1",
            "GIT_CONFIG_KEY_0=core.fsmonitor",
            "GIT_CONFIG_VALUE_0=./x",
        ],
    ),
    ("git", &["status"], &["A="]),
    ("npm", &["test"], &["NODE_OPTIONS=-r ./x"]),
    ("cargo", &["test"], &["RUSTC_WRAPPER=./x"]),
    ("cargo", &["--config", "./x", "test"], &[]),
    ("git\0", &["status"], &[]),
];

/// Variables of `exec.shell`, which runs `git status`.
pub(super) const VARIABLES: &[&str] = &[
    "BASH_ENV=./x",
    "ENV=./x",
    "PATH=.",
    "SHELLOPTS=xtrace",
    "PS4=$(touch pwned)",
    "BASHOPTS=extdebug",
    "LD_PRELOAD=./x.so",
    "A=b",
    "GIT_PAGER=./x",
    "BASH_FUNC_git%%=() { touch pwned; }",
];
