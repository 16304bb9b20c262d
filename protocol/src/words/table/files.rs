//! Programs that copy and change files. Operands that are written are ordinary writes inside of the walls.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // install(1), "--strip-program"
    Row::of("install ginstall").runs("--strip-program"),
    // dd(1), "of="
    Row::of("dd").writes("of=* of"),
    // rsync(1), "-e", "--rsh", "--rsync-path", "-M", "--log-file", "--write-batch", "--partial-dir", "-T"
    Row::of("rsync")
        .launches()
        .runs("-e --rsh --rsync-path -M --remote-option --config --daemon")
        .writes("--log-file --write-batch --only-write-batch --temp-dir -T --partial-dir --backup-dir --dparam")
        .plain("--filter")
        .valued("fB"),
    // rename(1) of Perl runs its first operand as code.
    Row::of("rename prename file-rename perl-rename").launches(),
    // shred(1), "--random-source" only reads
    Row::of("shred srm"),
    // file(1), "-C", "-m", "-M", "-P"; "-z" decompresses with programs
    Row::of("file").runs("-z -Z --uncompress*").loads("-m --magic-file -M").writes("-C --compile").valued("FfPe"),
    // exiftool(1), "-config", "-o", "-w", "-@", "-if", "-p", "-stay_open", and assignments of tags
    Row::of("exiftool")
        .runs("-if* -@ -p -execute* -stay_open *${*")
        .loads("-config")
        .writes("-o -out -w* -W* -*=* -csv* -geotag* -tagsfromfile -*<*"),
    // detox, fdupes(1) "-d", jdupes, rdfind
    Row::of("fdupes jdupes rdfind rmlint")
        .writes(
            "-d --delete -L -H -S -o* -O* --linkhard -deleteduplicates -makesymlinks -makehardlinks \
            -outputname",
        )
        .runs("-c --cmd"),
    // stow(8), "--dir", "--target"
    Row::of("stow").writes("-t --target -d --dir"),
    // inotifywait(1), "-o"; fswatch; inotifywatch
    Row::of("inotifywait inotifywatch").writes("-o --outfile"),
    // mount(8), losetup(8): change what is where.
    Row::of("mount umount losetup").launches(),
];
