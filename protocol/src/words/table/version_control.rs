//! Version control other than git, and the programs of code hosts.

use crate::words::row::Effect::{Loads, Runs};
use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // hg(1): aliases, hooks and extensions are settings.
    Row::of("hg")
        .runs("--config --debugger --remotecmd --ssh -e --tool -t --command --program --editor")
        .loads("--config-file -R --repository --cwd --style -T --template")
        .writes("-o --output --profile")
        .plain("--prompt")
        .commands(&[
            Row::of("bisect").runs("-c --command"),
            Row::of("extdiff serve config debugshell debugcommands histedit email fix split")
                .itself(Runs),
        ]),
    // svn(1), svnadmin(1)
    Row::of("svn svnadmin svnlook svnsync svnrdump")
        .runs("--diff-cmd --diff3-cmd --merge-cmd --editor-cmd")
        .loads("--config-option --config-dir")
        .plain("--diff"),
    // jj: "--config", "--tool"; bzr, fossil, cvs "-e", darcs "--posthook", sl
    Row::of("jj sl bzr brz fossil darcs pijul")
        .launches()
        .runs("--tool --diff-command --posthook --prehook --editor --exec --command --using *::*")
        .loads("--config --config-toml --config-file -R --repository --repo")
        .writes("-o --output")
        .commands(&[Row::of("util fix run config").itself(Runs)]),
    Row::of("cvs")
        .runs("-e --editor -d")
        .loads("-f")
        .writes("-o"),
    // gh(1): "gh alias", "gh extension", "gh api"
    Row::of("gh glab hub tea")
        .writes("-O -D --dir --clobber")
        .runs("--web -e -w")
        .commands(&[
            Row::of("alias extension ext codespace cs config copilot preview browse auth")
                .itself(Loads),
            Row::of("repo").runs("-c -u --upload-pack"),
            Row::of("api").loads("--hostname --cache"),
        ]),
    // git-lfs(1) is `git lfs`; repo and vcstool run commands over checkouts.
    Row::of("repo vcs mr ghq myrepos").launches(),
    // tig(1), lazygit, gitk: commands inside
    Row::of("tig lazygit gitui gitk git-cola").launches(),
    // git-absorb, git-filter-repo and other programs of the name `git-…` have no row, so the row for others applies.
    Row::of("diffstat filterdiff interdiff combinediff lsdiff")
        .writes("-o --output")
        .runs("--filter"),
];
