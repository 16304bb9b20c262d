//! git, from the manual of git 2.47.

use crate::words::row::Effect::{Loads, Runs, Writes};
use crate::words::row::Row;

/// The manual of each subcommand has its options. Options before the subcommand: git(1). A subcommand without a row
/// is an alias or a program
/// `git-NAME`.
pub(super) const ROW: Row = Row::of("git")
    .runs("-c -p --config-env --exec-path --paginate")
    .loads("--git-dir --work-tree --namespace --super-prefix --attr-source --shallow-file")
    .plain(
        "--no-pager -P --bare --literal-pathspecs --no-optional-locks --no-replace-objects --no-advice \
            --no-lazy-fetch --version --help",
    )
    .commands(COMMANDS)
    .strict();

/// Remote helpers: `x::y` runs `git-remote-x`. gitremote-helpers(7), git-remote-ext(1).
const HELPERS: &str = "*::*";

const COMMANDS: &[Row] = &[
    // git-diff(1), "--output", "--ext-diff", "--textconv"; all commands that show changes take these.
    Row::of(
        "diff log show whatchanged diff-tree diff-files diff-index rev-list range-diff reflog shortlog \
            cherry blame annotate stash merge-tree show-branch",
    )
    .runs("--ext-diff --textconv")
    .writes("--output")
    .plain("--text --diff-filter --filter --binary --log-size"),
    // git-format-patch(1), "-o"
    Row::of("format-patch")
        .runs("--ext-diff --textconv")
        .writes("-o --output --output-directory")
        .plain("--text --binary --diff-filter"),
    // git-grep(1), "-O", "--textconv"
    Row::of("grep").runs("-O --open-files-in-pager --textconv --ext-grep").valued("efABCm").plain("--text"),
    // git-fetch(1), git-ls-remote(1), git-push(1), git-fetch-pack(1), git-send-pack(1)
    Row::of("fetch pull ls-remote fetch-pack send-pack push")
        .runs("--upload-pack --receive-pack --exec *::* --rebase=i* --strategy -s")
        .writes("--output")
        .plain("--filter"),
    // git-clone(1), "-u", "-c", "--template"
    Row::of("clone")
        .runs("--upload-pack -u -c --config *::*")
        .loads("--template")
        .writes("--separate-git-dir")
        .plain("--filter")
        .valued("boj"),
    Row::of("remote subtree").runs(HELPERS),
    // git-init(1), "--template"
    Row::of("init init-db").loads("--template").writes("--separate-git-dir"),
    // git-archive(1), "-o", "--exec"
    Row::of("archive").runs("--exec *::*").writes("-o --output"),
    // git-rebase(1), "-x", "-i", "-s": a strategy `x` is the program `git-merge-x`.
    Row::of("rebase").runs("-x --exec -i --interactive --edit-todo -s --strategy").valued("XC"),
    Row::of("merge").runs("-s --strategy").valued("XmFS"),
    Row::of("cherry-pick revert").runs("--strategy"),
    // git-bisect(1), "bisect run", "bisect view"
    Row::of("bisect").commands(&[
        Row::of("run visualize view").itself(Runs),
        Row::of("start bad new good old skip reset terms next log replay help"),
    ]),
    // git-submodule(1), "foreach"
    Row::of("submodule").runs(HELPERS).commands(&[
        Row::of("foreach").itself(Runs),
        Row::of("status init add update summary sync deinit absorbgitdirs set-url set-branch"),
    ]),
    // git-config(1): keys such as `core.pager`, `alias.x` and `core.fsmonitor` are programs.
    Row::of("config").reader(super::super::config::read),
    // git-cat-file(1), "--textconv", "--filters"
    Row::of("cat-file").runs("--textconv --filters"),
    // git-bundle(1), "create"
    Row::of("bundle")
        .runs(HELPERS)
        .commands(&[Row::of("create").itself(Writes), Row::of("verify list-heads unbundle")]),
    // git-apply(1)
    Row::of("apply").writes("--build-fake-ancestor"),
    // git-fast-export(1), "--export-marks"
    Row::of("fast-export").writes("--export-marks"),
    // git-interpret-trailers(1), "--in-place"
    Row::of("interpret-trailers").runs("--trailer").writes("--in-place"),
    // git-help(1), "--man", "--info", "--web"
    Row::of("help").runs("-i --info -m --man -w --web"),
    // git-notes(1), git-worktree(1): a subcommand makes commits and checkouts as the others do.
    Row::of(
        "add am branch check-attr check-ignore check-mailmap check-ref-format checkout clean \
            commit commit-graph commit-tree count-objects describe for-each-ref fsck gc get-tar-commit-id \
            hash-object ls-files ls-tree merge-base merge-file mktree mv name-rev notes \
            pack-refs patch-id prune prune-packed repack replace rerere reset restore rev-parse \
            rm show-index show-ref sparse-checkout status stripspace switch symbolic-ref tag \
            update-index update-ref update-server-info var verify-commit verify-pack verify-tag version \
            worktree write-tree",
    ),
    // git-index-pack(1), "-o"; git-read-tree(1), "--index-output"; git-merge-index(1): an operand is a program.
    Row::of("index-pack").writes("-o --keep"),
    Row::of("read-tree").writes("--index-output").plain("--prefix"),
    // git-checkout-index(1), "--prefix"
    Row::of("checkout-index").writes("--prefix"),
    // git-difftool(1), "-x"; git-mergetool(1), "-t"
    Row::of("difftool mergetool").itself(Runs).runs("-x --extcmd -t --tool").writes("--output"),
    // git-maintenance(1), "start": jobs of the system
    Row::of("maintenance").itself(Runs).commands(&[Row::of("start register").itself(Loads)]),
    // Each of these runs programs or writes files by its nature: git-filter-branch(1), git-hook(1) …
    Row::of(
        "filter-branch send-email daemon instaweb hook credential shell upload-pack receive-pack \
            merge-index merge-one-file web--browse imap-send cvsexportcommit",
    )
    .runs("-d --httpd --browser -b --setup --to-cmd --cc-cmd --header-cmd --smtp-server -c --config")
    .itself(Runs),
    Row::of("fast-import").itself(Writes),
    Row::of("scalar gui citool").itself(Loads),
];
