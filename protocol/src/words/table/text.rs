//! Programs that edit and show text.

use crate::words::row::Effect::Runs;
use crate::words::row::Row;
use crate::words::{awk, sed};

pub(super) const ROWS: &[Row] = &[
    // sed(1): the commands `e`, `w` and `W`, and the flags `e` and `w` of `s`
    Row::of("sed gsed").launches().loads("-f --file").writes("-i --in-place").reader(sed::read),
    // gawk(1), mawk(1), awk(1p)
    Row::of("awk gawk mawk nawk original-awk")
        .launches()
        .runs("-D --debug -W --exec -E")
        .loads("-f --file -i --include -l --load")
        .writes("-o --pretty-print -d --dump-variables -p --profile")
        .valued("Fv")
        .reader(awk::read),
    // goawk, frawk, perl-like: their programs are not read.
    Row::of("goawk frawk zawk").launches(),
    // sort(1), "-o", "--compress-program", "-T", "--files0-from"
    Row::of("sort gsort").runs("--compress-program").writes("-o --output -T --temporary-directory").valued("kStP"),
    // uniq(1): a second operand is the output.
    Row::of("uniq guniq").writes_after(1).valued("fsw"),
    // split(1), "--filter"; it writes files next to its prefix.
    Row::of("split gsplit").runs("--filter").writes_after(1).valued("abClnt"),
    // csplit(1) writes files named by "-f" and "-b".
    Row::of("csplit").writes("-f --prefix -b --suffix-format"),
    // shuf(1), "-o"
    Row::of("shuf").writes("-o --output").valued("in"),
    // iconv(1), "-o"
    Row::of("iconv").writes("-o --output").valued("ft"),
    // xxd(1), hexdump(1): a second operand is the output.
    Row::of("xxd").writes("-r").writes_after(1).valued("clsgonR"),
    // base64(1) of BSD, base32(1), "-o"
    Row::of("base64 base32 basenc uuencode uudecode").writes("-o --output"),
    // ptx(1), "-G": the second operand is the output.
    Row::of("ptx").writes("-G --traditional").valued("FgMSWbiowA"),
    // diff(1) has none; sdiff(1) "-o"; patch(1) "-o", "-r", "-B", "--get", "-i"
    Row::of("sdiff diff3").runs("--diff-program").writes("-o --output"),
    Row::of("patch")
        .runs("-e --ed -g --get")
        .writes("-o --output -r --reject-file -B -z -Y --prefix --suffix -d --directory")
        .plain("--binary")
        .valued("pFDiV"),
    // delta(1), difft(1), icdiff: "--pager"
    Row::of("delta difft icdiff diff-so-fancy colordiff")
        .runs("--pager --difftool --diff-command --diffcmd")
        .loads("--config"),
    // bat(1), "--pager", "--config-file"; bat cache "--target"
    Row::of("bat batcat").runs("--pager --paging --lessopen").loads("--config-file").writes("--target"),
    // less(1), more(1), most(1): `!` and `|` inside, "-o", "-O", "-k", `+cmd`, "--lesskey*"
    Row::of("less more most pg view-less")
        .launches()
        .runs("+*")
        .loads("-k --lesskey*")
        .writes("-o -O --log-file --LOG-FILE -T --tag-file"),
    // vim(1), "-c", "--cmd", "-S", "-s", "-u", "-U", "-W", "-w", `+cmd`
    Row::of(
        "vi vim vimdiff editor rview vim.basic vim.tiny view ex nvim gvim rvim nano emacs emacsclient \
            ed micro helix hx kak joe",
    )
    .launches()
    .runs("+* -c --cmd -S -s -e --eval -f --funcall -l --load --script -E --speller")
    .loads("-u -U --rcfile -q --init-directory -Q -L")
    .writes("-w -W -o -O --startuptime --log -C --backupdir"),
    // jq(1): reads only. gojq and jaq "-i", "--in-place".
    Row::of("jq gojq").plain("--stream --raw-output --raw-output0"),
    Row::of("jaq").writes("-i --in-place"),
    // yq: "-i", "-s", "--split-exp-file"; dasel "-w" is a format, "-o" a file
    Row::of("yq xq tomlq dasel")
        .loads("--from-file --split-exp-file")
        .writes("-i --inplace --in-place -s --split-exp -o --out --outfile"),
    // mlr(1): `system`, `exec`, `tee >`, `split`, "-n put -f", "-I"
    Row::of("mlr")
        .runs("*system* *exec* *tee* *emit* *print* *dump* *split* --prepipe* -s")
        .loads("-f --load --mload")
        .writes("-I"),
    // xmllint(1), "--output", "--shell", "--loaddtd"; xsltproc(1), "-o", "--writesubtree"; xmlstarlet "ed -L"
    Row::of("xmllint").runs("--shell").writes("-o --output").loads("--loaddtd --catalogs --path"),
    Row::of("xsltproc xmlstarlet saxon xalan").launches().writes("-o --output --writesubtree -L --inplace --profile*"),
    // csvtool(1) "call"; pic(1), eqn(1), tbl(1) "-U"
    Row::of("csvtool").writes("-o").commands(&[Row::of("call").itself(Runs)]).valued("tuzo"),
    Row::of("pic gpic eqn tbl refer grap soelim zsoelim highlight").runs("-U -S --plug-in*").writes(
        "-o -O \
            --outdir",
    ),
    // pygmentize(1), "-x", "-C"
    Row::of("pygmentize").runs("-x").loads("-C").writes("-o").valued("fFlLOPNS"),
    // sass, lessc: a second operand is the output.
    Row::of("sass lessc").loads("--plugin* --js --pkg-importer --load-path -I").writes("*:* --update").writes_after(1),
    // xgettext(1), "-o", "-d", "-p"
    Row::of("xgettext").writes("-o --output* -p -d").valued("fDxLcaks"),
    // msgmerge(1), "-U"; lwp-download(1): the second operand is the output.
    Row::of("msgmerge").writes("-U --update -o --output-file").valued("CDo"),
    Row::of("lwp-download").writes_after(1),
    // tidy(1), "-m"; indent(1): a second operand is the output.
    Row::of("tidy").loads("-config").writes("-m -modify -o -output* -f -file"),
    Row::of("indent").writes("-o").writes_after(1),
    // sponge(1), vipe(1) of moreutils
    Row::of("sponge"),
    Row::of("vipe vidir").launches(),
    // hunspell(1), aspell(1)
    Row::of("hunspell aspell ispell")
        .loads("-p --personal --conf --add-filter* --rem-filter* --per-conf")
        .writes("--save-repl --backup"),
    // sd, sad, rpl edit their operands.
    Row::of("sad").runs("--pager --fzf*"),
    // dos2unix(1), "-n", "-o"
    Row::of("dos2unix unix2dos mac2dos").writes("-n --newfile"),
    // csvkit, xsv, qsv, datamash: "-o", "--output"
    Row::of("xsv qsv csvtk csvsql csvstack datamash tsv-utils")
        .runs("--query --sql --luau --cmd")
        .writes("-o --output --out-file"),
];
