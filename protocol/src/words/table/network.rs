//! Programs that use the network.

use crate::words::row::Effect::{Loads, Writes};
use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // curl(1), "-o", "-O", "-K", "-D", "-c", "--trace", "--libcurl", "--etag-save", "--hsts", "--alt-svc",
    // "--engine", "-w %output{}", also in a file
    Row::of("curl")
        .loads("-K --config --engine")
        .writes(
            "-o --output -O --remote-name --remote-name-all -J --remote-header-name --output-dir --create-dirs \
            -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts \
            --alt-svc --create-file-mode *%output* -w@* --write-out=@* --ssl-sessions",
        )
        .plain("--cookie --connect-timeout --compressed --create --ssl --config-dir")
        .valued("AbCdeEFHmPQrtTuUwxXyYz"),
    // wget(1), "-e", "--use-askpass", "-O", "-o", "-a", "-P", "--config", "--save-cookies", "--warc-file",
    // "--hsts-file", "--rejected-log"
    Row::of("wget wget2")
        .runs("--use-askpass --execute -e --use-server-timestamps-cmd")
        .loads("--config")
        .writes(
            "-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies \
            --warc-* --hsts-file --rejected-log --cut-dirs --default-page --stats-* --content-disposition \
            --trust-server-names",
        )
        .valued("UtTwQBADRIXliG"),
    // aria2c(1), "--on-download-*", "--conf-path", "-d", "-o", "-l"; axel(1) "-o"
    Row::of("aria2c axel lftp ncftp ftp tftp")
        .launches()
        .runs("--on-* -c -e -f --enable-rpc")
        .loads("--conf-path")
        .writes("-d --dir -o --out -l --log --save-session --input-file"),
    // http(1) of HTTPie, "-o", "-d", "--session"; xh
    Row::of("http https xh xhs").writes("-o --output -d --download --session*"),
    // ssh(1), "-o ProxyCommand", "-F", "-S", "-E", "-D", "-L", "-R", "-W", "-I"
    Row::of("ssh").launches().runs("-o -F -S -I -D -L -R -W -J -w").writes("-E").valued("bceilmpQB"),
    // scp(1), sftp(1), "-S", "-o", "-F", "-D", "-b"
    Row::of("scp sftp").launches().runs("-S -o -F -D -b -J -X").valued("ciPl"),
    // ssh-keygen(1) "-D", ssh-add(1) "-s", ssh-agent(1)
    Row::of("ssh-keygen ssh-add ssh-keyscan").loads("-D -s -w -S").writes("-f -O"),
    Row::of("ssh-agent mosh mosh-server autossh sshfs sshuttle dropbear dbclient")
        .launches()
        .runs("-o -F -e --ssh* --cmd*"),
    // ab(1), "-e", "-g"
    Row::of("ab").writes("-e -g").valued("AbBCcHiIkmnpPsStTuvVwxXyzZ"),
    // nc(1), ncat(1), "-e", "-c", "--sh-exec"
    Row::of("nc nc.openbsd nc.traditional ncat netcat").runs("-e -c --exec --sh-exec --lua-exec -U").writes(
        "-o --output -x \
            --hex-dump",
    ),
    // wrk(1), "-s"; clamscan(1), "--copy", "--move"
    Row::of("wrk wrk2").runs("-s --script"),
    Row::of("clamscan clamdscan").loads("-d --database").writes("--copy --move --remove -l --log"),
    // nmap(1), "--script", "-iL", "-oN", "--datadir", "--servicedb"
    Row::of("nmap")
        .runs("--script* --interactive")
        .loads("--datadir --servicedb --versiondb --stylesheet")
        .writes("-o* --resume --append-output"),
    // tcpdump(8), "-z", "-w", "-W"; tshark(1), "-X", "-w", "-G"
    Row::of("tcpdump tshark dumpcap").runs("-z -X -F").loads("-C").writes("-w -b").valued("cirs"),
    // openssl(1), "-engine", "-provider", "-out", "-config", "-writerand", "-provider-path"
    Row::of("openssl")
        .commands(&[Row::of("engine").itself(Loads), Row::of("rehash").itself(Writes)])
        .loads("-engine* -provider* -config -extfile -keyform -propquery -conf*")
        .writes(
            "-out* -writerand -keyout -CAserial -CAcreateserial -sigfile -signature_out -keylogfile -sess_out \
            -msgfile -batch* -respout -reqout -certsout -crlout -cert_chain*",
        ),
    // gpg(1), "-o", "--options", "--exec-path", "--photo-viewer", "--*-program", "--homedir"
    Row::of("gpg gpg2 gpgv gpgsm")
        .runs(
            "--photo-viewer --agent-program --dirmngr-program --keyboxd-program --exec-path --gpg-program \
            --keyserver* --passphrase-fd",
        )
        .loads("--options --homedir")
        .writes("-o --output --logger-file --log-file --status-file --attribute-file --export-* --gen-revoke"),
    // drill(1), "-w"
    Row::of("drill").writes("-w"),
    // dig(1), host(1): only ask. dig "-f" reads.
    Row::of("dig host nslookup whois ping ping6 traceroute tracepath mtr netstat"),
    Row::of("ss").writes("-D --diag -K --kill"),
    // ip(8), "-batch", "netns exec"; tc(8), bridge(8)
    Row::of("ip tc bridge ifconfig route iptables ip6tables nft").launches().runs(
        "-b* -batch* e ex exe exec -f \
            --modprobe -M",
    ),
    // sqlmap, hydra and the like are not known here.
    Row::of("rtmpdump youtube-dl yt-dlp")
        .runs(
            "--exec* --downloader --external-downloader* --postprocessor-args --use-postprocessor --netrc-cmd \
            --ffmpeg-location",
        )
        .loads("--config-location* --plugin-dirs --load-info-json")
        .writes("-o --output -P --paths -a --print-to-file --cookies --download-archive --cache-dir --write-*"),
    Row::of("socat websocat").launches(),
    // smbclient(1), "-c": `!` in a command runs a program.
    Row::of("telnet").launches(),
    Row::of("smbclient rpcclient")
        .launches()
        .runs("-c --command -I")
        .loads("-s --configfile --option -A --authentication-file")
        .writes("-l --log-basename -T --tar -D --directory"),
];
