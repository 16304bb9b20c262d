//! Archives and compression.

use crate::words::Word;
use crate::words::row::Row;
use crate::words::special::Special;

pub(super) const ROWS: &[Row] = &[
    // tar(1), "-I", "-F", "--to-command", "--checkpoint-action" …; extraction and creation write files by an option.
    // A file `host:file` is read by `rsh`.
    Row::of("tar gtar bsdtar")
        .runs(
            "-I --use-compress-program -F --info-script --new-volume-script --checkpoint-action --to-command \
            --rsh-command --rmt-command --compress-program --filter *:*",
        )
        .writes(
            "-c --create -x --extract --get -r --append -u --update -A --catenate --concatenate --delete \
            --index-file -g --listed-incremental --volno-file --options -O",
        )
        .plain("--to-stdout --check-links")
        .valued("fCTXbHKLNV")
        .reader(read_tar_letters),
    // cpio(1), "-o", "-i", "-p", "-F", "--rsh-command", "--to-stdout"; pax(1)
    Row::of("cpio pax").runs("--rsh-command").writes(
        "-i --extract -o --create -p --pass-through -F -O \
            --file -r -w",
    ),
    // zip(1), "-TT", "-O", "-lf", "-b"
    Row::of("zip")
        .runs("-*TT* --unzip-command -m --move")
        .writes("-*O* --output-file --out -lf* -la* --logfile-path -b* --temp-path"),
    Row::of("zipcloak zipnote zipsplit").writes("-O* -b* -w* --output-file"),
    // unzip(1), "-d"
    Row::of("unzip").writes("-d*"),
    // gzip(1), bzip2(1), xz(1), zstd(1) "-o", "--output-dir-flat", lz4(1): operands are replaced.
    Row::of("zstd zstdmt unzstd zstdcat pzstd brotli lzop lzma lz4 xz")
        .writes("-o --output* --output-dir-flat --output-dir-mirrored --trace"),
    Row::of(
        "gzip gunzip bzip2 bunzip2 unxz compress uncompress zcat bzcat xzcat zgrep zless zmore \
            zdiff zcmp",
    ),
    // 7z: "-o", "-w", "-si", "-so"
    Row::of("7z 7za 7zr 7zz p7zip").writes("-o* -w* -v*"),
    // unrar, unar(1) "-o", ar(1), ranlib
    Row::of("unar lsar rar unrar").writes("-o -op* -w* --output-directory -ilog* -z*"),
    Row::of("ar gcc-ar llvm-ar").loads("--plugin @*").writes("--output"),
    // jar(1), "-f", "-m"; dpkg-deb(1); rpm2cpio
    Row::of("jar").loads("@* -J*").writes("-c* -u* -x* --create --update --extract c* u* x*"),
    Row::of("dpkg-deb").writes("-x -X -e -b -R --extract --vextract --control --build --raw-extract"),
    // borg, restic: "--remote-path", "--rsh", "--password-command"
    Row::of("borg restic rclone duplicity rdiff-backup")
        .launches()
        .runs("--rsh --remote-path --password-command --remote-schema -o --option --content-from-command --ssh*")
        .loads("--config --rc*")
        .writes("--log-file --output*"),
];

/// Adds the first argument of tar if its letters are special with a dash before them: `tar xf a.tar`. Each is an option, and none takes the
/// rest as its value.
fn read_tar_letters(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let index = command.1 + 1;
    let Some(Word::Known(word)) = words.get(index) else {
        return;
    };
    if word.starts_with('-') {
        return;
    }
    let Some(row) = super::row("tar") else { return };
    let effects = word
        .chars()
        .filter_map(|letter| row.effect(&format!("-{letter}")));
    if let Some((effect, _)) = effects.min_by_key(|(effect, _)| *effect as u8) {
        found.push(Special {
            index,
            length: usize::MAX,
            effect,
            command,
        });
    }
}
