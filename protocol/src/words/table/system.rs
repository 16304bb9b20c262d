//! Programs of the system, of documents and of media.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // date(1), "-s"; hostname(1); hwclock(8); timedatectl(1)
    Row::of("date").writes("-s --set").valued("drIf"),
    Row::of("hostname domainname").writes_after(0).writes("-F --file -b"),
    // lsof(8) "-D"; ps(1), top(1), free(1), df(1) only read.
    Row::of("lsof").writes("-D*").runs("-X*"),
    Row::of(
        "ps pgrep pidof top htop free vmstat iostat mpstat df du uptime who w last id groups whoami logname \
            tty lscpu lsblk lsusb lspci lsmod uname arch nproc getconf locale getent stat ls dir vdir exa eza \
            numfmt factor seq expr",
    ),
    Row::of("dmesg").runs("-H --human -P*").writes("-C --clear -c --read-clear"),
    Row::of("kill killall pkill reboot shutdown halt poweroff"),
    Row::of("sysctl").loads("-p --load --system").writes("-w --write *=*"),
    // logger(1), wall(1) only tell.
    Row::of("logger wall write mesg"),
    Row::of(
        "xdg-open open start xdg-mime gio exo-open sensible-browser x-www-browser www-browser lynx links \
            w3m elinks firefox chromium google-chrome",
    )
    .launches(),
    // ffmpeg(1): output files are operands; "-dump_attachment", "-report", "-progress", "-vstats_file",
    // "-passlogfile", filters with scripts, "-f tee|concat|lavfi"
    Row::of("ffmpeg ffprobe ffplay avconv sox mplayer mpv vlc cvlc gst-launch-1.0 melt")
        .runs(
            "--script* --scripts* -filter_script* -filter_complex_script* -/* --input-ipc* --input-file* --lua* \
            --ytdl* --extraintf* -I --intf* -slave -af* --load-scripts* *ladspa* *frei0r* *movie=* \
            -init_hw_device*",
        )
        .loads("-fpre* -pre* -vpre* -apre* --config* --include* --plugin* -include -user-config*")
        .writes(
            "-dump_attachment* -report -progress* -vstats* -passlogfile* -y --log-file* --record* \
            --stream-record* --stream-dump* -dumpstream -dumpfile --screenshot* -hls_* -segment_* -sdp_file* \
            -f -save* -o --o* --sout* -o* -print_graphs_file*",
        ),
    // convert(1) of ImageMagick: `|cmd`, `msl:`, `ephemeral:`, "-write", "-script"
    Row::of("convert magick mogrify identify composite montage compare import display animate conjure stream gm")
        .runs(
            "*|* *msl:* *mvg:* *ephemeral:* *url:* *https:* *http:* *svg:* -script* -process* -launch* \
            *inline:* *plugin:* *pango:* *win:* *x:* -define* -use-pixmap",
        )
        .writes("-write* -path* -format* +write* -debug* *show:* *print:* *info:* -monitor -read-mask* -log"),
    // pandoc(1), "-F", "-L", "--pdf-engine", "-o", "-t x.lua", "-d", "--data-dir", "--extract-media"
    Row::of("pandoc")
        .runs(
            "-F --filter -L --lua-filter --pdf-engine --pdf-engine-opt -t --to -w --write -f --from -r --read \
            --katex* --track-changes*",
        )
        .loads(
            "-d --defaults --data-dir --template -H --include-* -A -B --syntax-definition --abbreviations \
            --citeproc-* --metadata-file --csl -C",
        )
        .writes("-o --output --extract-media --log")
        .valued("MVTc"),
    // latex(1), "-shell-escape", "--enable-write18", "-output-directory"; latexmk(1) runs its settings
    Row::of(
        "tex latex pdflatex xelatex lualatex luatex pdftex bibtex biber makeindex latexmk tectonic context \
            dvips dvipdfm dvipdfmx texi2dvi texi2pdf groff troff nroff typst",
    )
    .launches()
    .runs(
        "-shell-escape* --shell-escape* -enable-write18* -enable-pipes* -e* -pdflatex* -latex* -r -U -z -I* \
            -M* -m* -P* -Z* --input-handler* --lua* -fmt* -ini*",
    )
    .loads("-cnf-line* -config* --config* -C* -c --root* --font-path*")
    .writes(
        "-output-directory* -jobname* -o* -outdir* -auxdir* -d --outdir* -t* -recorder* -output* \
            -interaction-file*",
    ),
    // gs(1), "-sOutputFile", "-o", "-dNOSAFER", "-c", "%pipe%"; ps2pdf
    Row::of("gs ghostscript ps2pdf pdf2ps ps2ps eps2eps ps2ascii dvipdf pstopdf")
        .launches()
        .runs("-c -dNOSAFER* -I* *%pipe%* -f -@* @* --permit* -dDELAYSAFER*")
        .writes("-o* -sOutputFile* -sStdout* -sDEVICE*"),
    // qpdf(1), pdftk "output", pdftotext(1): the second operand is the output.
    Row::of("pdftotext pdftohtml pdftops pdftocairo").writes_after(1).valued("flrxyWH"),
    Row::of("pdfinfo pdffonts pdfimages pdftoppm pdfseparate pdfunite qpdf pdftk mutool exiv2 jhead")
        .loads("@* --job-json-file*")
        .runs("-ce* -cm* -cmd* -l* run")
        .writes("output -o* --output* --split-pages* --replace-input"),
    // dot(1) of Graphviz, "-o", "-O", "-c"; plantuml, mermaid "mmdc -o", "-p"
    Row::of(
        "dot neato fdp sfdp twopi circo plantuml mmdc d2 drawio inkscape rsvg-convert libreoffice soffice \
            wkhtmltopdf weasyprint",
    )
    .runs(
        "--actions* --shell* --with-gui* --verb* -P* --convert-to* macro:* -env:* --accept* -p \
            --puppeteerConfigFile* --run-script* --enable-local* -graphvizdot* -c --macro* vnd.*",
    )
    .loads("-l* -config* -C --configFile* --cssFile* --style* -include*")
    .writes("-o* -O* --export* --output* -w --outdir* --print-to-file* -tduration* --cookie-jar*"),
    // zipinfo, md5sum and the like: none
    Row::of("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum crc32 xxhsum b3sum"),
    Row::of("getfacl getfattr lsattr namei findmnt tokei scc cloc loc"),
];
