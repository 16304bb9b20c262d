//! Programs and commands of shells without special words.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // Commands of bash(1) that run nothing else.
    Row::exact(
        ": [ [[ break cd continue declare dirs echo exit export false getopts jobs let local popd printf \
            pushd pwd read readonly return set shift shopt test times true type typeset ulimit umask unset \
            wait which whereis",
    ),
    // Of coreutils, grep(1), diffutils(1) and others
    Row::exact(
        "basename dirname cat head tail cut tr wc grep egrep fgrep diff cmp sleep yes printenv pathchk cal \
            ncal clear reset tput stty tabs ls dir vdir stat ps pgrep pidof du df md5sum sha1sum sha224sum sha256sum \
            sha384sum sha512sum b2sum cksum sum shasum crc32 xxhsum b3sum column nl pr fold fmt comm join paste expand \
            unexpand rev tac tsort look strings od hexdump hd realpath readlink cp mv ln mkdir rmdir rm touch chmod \
            chown chgrp tee truncate mktemp mkfifo mknod unlink link sync fallocate",
    ),
];
