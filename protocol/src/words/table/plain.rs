//! Programs and commands of shells without special words.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // Commands of bash(1) that run nothing else.
    Row::of(
        ": [ [[ break cd continue declare dirs echo exit export false getopts jobs let local popd printf \
            pushd pwd read readonly return set shift shopt test times true type typeset ulimit umask unset \
            wait which whereis",
    ),
    // Of coreutils, grep(1), diffutils(1) and others
    Row::of(
        "basename dirname cat head tail cut tr wc grep egrep fgrep diff cmp sleep yes printenv pathchk cal \
            ncal clear reset tput stty tabs figlet cowsay fortune lolcat neofetch",
    ),
];
