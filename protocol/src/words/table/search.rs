//! Programs that search.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // rg(1), "--pre", "--hostname-bin", "-z"
    Row::of("rg rga")
        .runs("--pre -z --search-zip")
        .plain("--pretty --pre-glob")
        .valued("ABCdefgjmMrtT"),
    // ugrep(1), "--filter", "--pager", "--view", "-Q", "---FILE"
    Row::of("ugrep ug ugrep+ ug+")
        .runs("--filter* --pager --view -Q --query")
        .loads("---* --config")
        .writes("--save-config"),
    // fd(1), "-x", "-X"
    Row::of("fd fdfind")
        .plain("--extension")
        .runs("-x -X")
        .valued("tedESjcoC"),
    // find(1), "ACTIONS"
    Row::of("find gfind bfs")
        .plain("-executable")
        .runs("-exec* -ok*")
        .writes("-delete -fprint* -fls"),
    // ack(1), "--pager", "--ackrc", "--output" (an expression of Perl), "--type-set"
    Row::of("ack")
        .runs("--pager --output --eval")
        .loads("--ackrc"),
    // ag(1), "--pager"
    Row::of("ag pt sift ucg")
        .runs("--pager --less")
        .writes("--output --write-config"),
    // fzf(1), "--preview", "--bind", "--with-shell", "--listen"
    Row::of("fzf sk").runs(
        "--preview --bind --with-shell --listen --become -c --cmd -i --interactive -I \
            --print0-cmd",
    ),
    // ast-grep: "-U", "-c"; comby: "-i", "-in-place"; semgrep: "--config", "-o"
    Row::of("ast-grep sg comby semgrep")
        .runs("-i")
        .loads("-c --config")
        .writes("-U --update-all -in-place -o --output -a --autofix"),
    // locate(1), updatedb(8)
    Row::of("updatedb").writes("-o --output"),
    // tree(1), "-o", "-R" (writes 00Tree.html), "--output"
    Row::of("tree").writes("-o -R --output"),
    // ctags(1), "-f", "-o", "--options", "--_*", "-e"
    Row::of("ctags etags gtags cscope")
        .runs("--fields-cmd")
        .loads("--options* --optlib-dir -L")
        .writes("-f -o -F --output*"),
    // eza(1), exa(1), lsd: none but the configuration of lsd
    Row::of("lsd").loads("--config-file"),
    // du(1), ncdu(1) "-o", "-O"
    Row::of("ncdu gdu dust")
        .loads("--config")
        .writes("-o -O --output* --dump*"),
];
