"""Ways to reach a host that is not granted. Each returns the bytes that it got: REACHED means that it got there.

With a proxy of its own that believes everything, as the control outside of the sandbox, each of them gets there.
"""
import concurrent.futures, json, os, socket, ssl, struct, sys

WORLD = json.loads(sys.argv[1])
PORT, FRONT, IS_CONTROL = WORLD["forbidden"], WORLD["front"], len(sys.argv) > 2
PROXY = ("127.0.0.1", 3128)
OTHER, GRANTED = "forbidden.test", "granted.test"
WAYS = {}


def way(name, act, *arguments):
    assert name not in WAYS, name
    WAYS[name] = lambda: act(*arguments)


def read(stream, wait=0.6):
    stream.settimeout(wait)
    got = b""
    try:
        while piece := stream.recv(65536):
            got += piece
            if b"REACHED" in got:
                break
    except OSError:
        pass
    return got


def talk(*pieces):
    """Sends pieces to the proxy. Reads before each but the first, up to the end of a head."""
    with socket.create_connection(PROXY, 5) as stream:
        got = b""
        for number, piece in enumerate(pieces):
            if number:
                stream.settimeout(3)
                while b"\r\n\r\n" not in got:
                    if not (more := stream.recv(4096)):
                        return got
                    got += more
            try:
                stream.sendall(piece.encode("latin-1", "surrogateescape") if isinstance(piece, str) else piece)
            except OSError:
                break
        return got + read(stream)


def get(target, host=GRANTED, method="GET", version="HTTP/1.1", more=""):
    return talk(f"{method} {target} {version}\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n")


def hello(name, **options):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for option, value in options.items():
        if option == "alpn":
            context.set_alpn_protocols(value)
        else:
            setattr(context, option, value)
    outgoing = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()


def tunnel(target, *inside, head=""):
    return talk(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{head}\r\n", *inside)


def direct(family, address, kind=socket.SOCK_STREAM, protocol=0, before=lambda stream: None):
    with socket.socket(family, kind, protocol) as stream:
        stream.settimeout(3)
        before(stream)
        stream.connect(address)
        return read(stream)


# Spellings of addresses of this machine.
MACHINE = WORLD["machine"]
a, b, c, d = (int(part) for part in MACHINE.split("."))
ADDRESSES = [
    "127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1",
    "0177.0.0.1", "0177.1", "017700000001", "127.0x0.0.1", "127.0.0.01", "0.0.0.0", "0", "0x0", MACHINE, f"{a}.{(b << 16) + (c << 8) + d}",
    f"{a}.{b}.{(c << 8) + d}", str((a << 24) + (b << 16) + (c << 8) + d), hex((a << 24) + (b << 16) + (c << 8) + d),
    f"0{a:o}.0{b:o}.0{c:o}.0{d:o}", f"{a:#x}.{b:#x}.{c:#x}.{d:#x}", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]", "[::]", f"[::ffff:{MACHINE}]", "localhost", "LOCALHOST", "127.0.0.1.", "127%2e0%2e0%2e1",
    "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021",
]
for address in ADDRESSES:
    spelled = address.encode().decode("latin-1")
    way(f"get address {address!a}", get, f"http://{spelled}:{PORT}/")
    way(f"tunnel to address {address!a}", tunnel, f"{spelled}:{PORT}", hello(GRANTED))

# Other names, and names that look like the granted one.
NAMES = [
    OTHER, OTHER.upper(), OTHER + ".", "sub." + GRANTED, "a.b." + GRANTED, GRANTED + "." + OTHER, "x" + GRANTED, GRANTED + "x", "-" + GRANTED,
    GRANTED[:-1], "granted", "test", "xn--granted-9za.test", "gr\u0430nted.test", "\u24d6ranted.test", "granted\u00ad-x.test", GRANTED.replace(".", "-"),
    "granted.tes%74.x", "forbidden%2etest", "%66orbidden.test", "forbidden_.test", "*.test", "granted.test,forbidden.test",
    "granted.test;forbidden.test", "granted.test&forbidden.test", "granted.test$.test", "granted.test!.test", "granted..test", ".granted.test",
]
for name in NAMES:
    spelled = name.encode().decode("latin-1")
    way(f"get name {name!a}", get, f"http://{spelled}/", spelled)
    way(f"tunnel to name {name!a}", tunnel, f"{spelled}:{PORT}", hello(OTHER))

# Two readings of one URL.
for url in [
    f"http://{GRANTED}@{OTHER}/", f"http://{GRANTED}:80@{OTHER}/", f"http://{GRANTED}%40{OTHER}/", f"http://u:p@{OTHER}/",
    f"http://{GRANTED}\\@{OTHER}/", f"http://{OTHER}\\@{GRANTED}/", f"http://{GRANTED}%00.{OTHER}/", f"http://{GRANTED}#@{OTHER}/",
    f"http://{GRANTED}?@{OTHER}/", f"http://{OTHER}#{GRANTED}/", f"http://{OTHER}?{GRANTED}", f"http://{OTHER};{GRANTED}/", f"http:///{OTHER}/",
    f"http:/{OTHER}/", f"http:{OTHER}/", f"http:\\\\{OTHER}\\", f"//{OTHER}/", f"HTTP://{OTHER}/", f"hTTp://{OTHER}/", f"https://{OTHER}/", f"ws://{OTHER}/",
    f"ftp://{OTHER}/", f"gopher://{OTHER}/", f"{OTHER}:{PORT}", f"{OTHER}/", f"http://{OTHER}\t/", f"http://{OTHER}:{PORT}/{GRANTED}", f"http://[{OTHER}]/",
    f"http://{GRANTED}[{OTHER}]/", f"http://{GRANTED} http://{OTHER}/", f"http://{OTHER}%20{GRANTED}/",
]:
    way(f"get URL {url!a}", get, url, OTHER)

# Other ports of the granted host.
for port in [str(PORT), f"0{PORT}", f"00000{PORT}", f"+{PORT}", str(PORT + 65536), f"{PORT}%20", f"80:{PORT}", f"{PORT}:80", f"0x{PORT:x}"]:
    way(f"get port {port}", get, f"http://{GRANTED}:{port}/")
    way(f"tunnel to port {port}", tunnel, f"{GRANTED}:{port}", hello(GRANTED))

# Methods.
for method in ["HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "REPORT", "get", "Connect", "PRI"]:
    way(f"{method} of another name", get, f"http://{OTHER}/", OTHER, method)
for version in ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", ""]:
    way(f"version {version!r}", get, f"http://{OTHER}/", OTHER, "GET", version)

# Headers against the URL.
for host in [
    f"Host: {OTHER}", f"host: {OTHER}", f"hOsT:{OTHER}", f"Host:\t{OTHER}", f"Host : {OTHER}", f" Host: {OTHER}", f"Host: {GRANTED}\r\nHost: {OTHER}",
    f"Host: {OTHER}\r\nHost: {GRANTED}", f"Host: {GRANTED}\r\n Host: {OTHER}", f"X: y\r\n\tHost: {OTHER}", f"Host: {OTHER}\r\nConnection: Host",
    f"Host: {OTHER}\r\nConnection: close, host", f"X: y\nHost: {OTHER}", f"X: y\rHost: {OTHER}", f"Host: {OTHER}:80", f"Host: {GRANTED}, {OTHER}", f"Host: {GRANTED}@{OTHER}",
    f"Host: {OTHER}\r\nX-Host: {GRANTED}", f"Proxy-Connection: Host\r\nHost: {OTHER}", f"Transfer-Encoding: chunked\r\nTrailer: Host\r\n\r\n0\r\nHost: {OTHER}",
]:
    way(f"header {host!a}", talk, f"GET http://{GRANTED}/ HTTP/1.1\r\n{host}\r\n\r\n")
for line in ["GET / HTTP/1.1", "GET * HTTP/1.1", "OPTIONS * HTTP/1.1", "GET / HTTP/1.0", "GET http:/ HTTP/1.1", "GET ? HTTP/1.1", "POST /by-length HTTP/1.1"]:
    way(f"header alone with {line}", talk, f"{line}\r\nHost: {OTHER}\r\n\r\n")
way("header alone with a tunnel", talk, f"CONNECT / HTTP/1.1\r\nHost: {OTHER}\r\n\r\n", hello(OTHER))



# Redirects of the granted host, which the program follows.
def follow(status, location):
    moved = get(f"http://{GRANTED}/to-{status}-{location.encode().hex()}").decode()
    [location] = [line[10:] for line in moved.splitlines() if line.startswith("location: ")]
    location = "http:" + location if location.startswith("//") else location
    return tunnel(location[8:-1], hello(OTHER)) if location.startswith("https") else get(location, OTHER)


for status in [301, 302, 303, 307, 308]:
    way(f"redirect with {status}", follow, status, f"http://{OTHER}/")
for location in [f"//{OTHER}/", f"http://127.0.0.1:{PORT}/", f"http://[::1]:{PORT}/", f"http://{GRANTED}:{PORT}/", f"http://{GRANTED}@{OTHER}/", f"https://{OTHER}:{PORT}/", f"https://{GRANTED}:{PORT}/"]:
    way(f"redirect to {location}", follow, 302, location)

# Lines in the host or the path.
for name, target in [
    ("line in host", f"http://{GRANTED}\r\nHost: {OTHER}\r\n\r\n/"), ("line in path", f"http://{GRANTED}/ HTTP/1.1\r\nHost: {OTHER}\r\nX: "),
    ("bare line in path", f"http://{GRANTED}/ HTTP/1.1\nHost: {OTHER}\nX: "), ("request in path", f"http://{GRANTED}/ HTTP/1.1\r\nHost: {GRANTED}\r\n\r\nGET http://{OTHER}/"),
    ("bare request in path", f"http://{GRANTED}/ HTTP/1.1\n\nGET http://{OTHER}/"), ("tab in line", f"http://{GRANTED}/\tHTTP/1.1\r\nHost: {OTHER}\r\nX: "),
]:
    way(name, get, target)
way("line in tunnel", tunnel, f"{GRANTED}:443 HTTP/1.1\r\nHost: {OTHER}:{PORT}\r\nX: ", hello(OTHER))
way("tunnel with a URL", tunnel, f"http://{OTHER}/", hello(OTHER))
way("tunnel with userinfo", tunnel, f"{GRANTED}@{OTHER}:{PORT}", hello(OTHER))
way("tunnel with userinfo and port", tunnel, f"{GRANTED}:443@{OTHER}:{PORT}", hello(OTHER))
way("tunnel with path", tunnel, f"{OTHER}:{PORT}/{GRANTED}", hello(OTHER))
way("tunnel with query", tunnel, f"{OTHER}:{PORT}?{GRANTED}", hello(OTHER))
way("tunnel without port", tunnel, OTHER, hello(OTHER))
way("tunnel whose host header is granted", talk, f"CONNECT {OTHER}:{PORT} HTTP/1.1\r\nHost: {GRANTED}\r\n\r\n", hello(OTHER))
way("tunnel of HTTP/1.0", talk, f"CONNECT {OTHER}:{PORT} HTTP/1.0\r\n\r\n", hello(OTHER))
way("tunnel with a body", tunnel, f"{OTHER}:{PORT}", hello(OTHER), "x" * 10)
way("tunnel with a length", talk, f"CONNECT {OTHER}:{PORT} HTTP/1.1\r\nContent-Length: 5\r\n\r\n12345")
way("bytes before the answer to a tunnel", talk, f"CONNECT {OTHER}:{PORT} HTTP/1.1\r\n\r\n".encode() + hello(OTHER))

# A second request, hidden in the first one.
HIDDEN = f"GET / HTTP/1.1\r\nHost: {OTHER}\r\n\r\n"
FIRST = f"http://{GRANTED}"
for path, name, value in [
    ("/by-length", "Transfer-Encoding", "chunked"), ("/by-length", "transfer-encoding", "Chunked"), ("/by-length", "Transfer-Encoding", "identity, chunked"),
    ("/by-length", "Transfer-Encoding", "chunked, chunked"), ("/by-length", "Transfer-Encoding", "gzip, chunked"), ("/by-length", "Transfer-Encoding", " chunked "),
]:
    body = f"0\r\n\r\n{HIDDEN}"
    way(f"hidden by the length, {name}: {value}", talk, f"POST {FIRST}{path} HTTP/1.1\r\nHost: {GRANTED}\r\n{name}: {value}\r\nContent-Length: 5\r\n\r\n{body}")
for name, value in [
    ("Transfer-Encoding", "xchunked"), ("Transfer-Encoding", "chunkedx"), ("Transfer-Encoding", "chunked\t, x"), ("Transfer-Encoding ", "chunked"),
    (" Transfer-Encoding", "chunked"), ("Transfer_Encoding", "chunked"), ("Transfer-Encoding", "\x0bchunked"), ("Transfer-Encoding", "\"chunked\""), ("X: y\nTransfer-Encoding", "chunked"),
    ("Transfer-Encoding", "identity\r\nTransfer-Encoding: chunked"), ("Transfer-Encoding", "chunked\r\nTransfer-Encoding: identity"), ("Transfer-Encoding", "chunked; x=y"),
]:
    body = f"0\r\n\r\n{HIDDEN}"
    way(f"hidden by the coding, {name}: {value!a}", talk, f"POST {FIRST}/ HTTP/1.1\r\nHost: {GRANTED}\r\n{name}: {value}\r\nContent-Length: {len(body)}\r\n\r\n{body}")
for lengths in ["Content-Length: 0\r\nContent-Length: {n}", "Content-Length: +0\r\nX-Content-Length: {n}", "Content-Length: 0, {n}", "Content-Length: -1", "Content-Length: 0x0", "Content-Length:\t0"]:
    way(f"hidden by lengths {lengths!a}", talk, f"POST {FIRST}/by-length HTTP/1.1\r\nHost: {GRANTED}\r\n{lengths.format(n=len(HIDDEN))}\r\n\r\n{HIDDEN}")
for size in ["0;x=y", "0 ", "00000000000000000", "0\n", "-0", "0x0"]:
    way(f"hidden by a chunk {size!a}", talk, f"POST {FIRST}/ HTTP/1.1\r\nHost: {GRANTED}\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n\r\n{HIDDEN}")
way("a second request", talk, f"GET {FIRST}/ HTTP/1.1\r\nHost: {GRANTED}\r\n\r\nGET http://{OTHER}/ HTTP/1.1\r\nHost: {OTHER}\r\n\r\n")
way("a second request by its path", talk, f"GET {FIRST}/ HTTP/1.1\r\nHost: {GRANTED}\r\n\r\n{HIDDEN}")
way("a second request after a refusal", talk, f"GET http://u@{GRANTED}/ HTTP/1.1\r\nHost: {GRANTED}\r\n\r\n{HIDDEN}")
way("a hundredth request", talk, f"GET {FIRST}/ HTTP/1.1\r\nHost: {GRANTED}\r\n\r\n" * 99 + f"GET http://{OTHER}/ HTTP/1.1\r\nHost: {OTHER}\r\n\r\n")
way("a body of GET", talk, f"GET {FIRST}/by-length HTTP/1.1\r\nHost: {GRANTED}\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n{HIDDEN}")
way("a request after an upgrade", talk, f"GET {FIRST}/ HTTP/1.1\r\nHost: {GRANTED}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n{HIDDEN}")
way("a request after an upgrade to HTTP/2", talk, f"GET {FIRST}/ HTTP/1.1\r\nHost: {GRANTED}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n\r\n{HIDDEN}")
way("a request after waiting for 100", talk, f"POST {FIRST}/by-length HTTP/1.1\r\nHost: {GRANTED}\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n{HIDDEN}")

# Another name inside a tunnel to the granted host.
for name, inside in {
    "plain request": HIDDEN.encode(), "request by URL": f"GET http://{OTHER}/ HTTP/1.1\r\nHost: {OTHER}\r\n\r\n".encode(), "TLS": hello(OTHER), "TLS 1.2": hello(OTHER, maximum_version=ssl.TLSVersion.TLSv1_2),
    "TLS of a subdomain": hello("forbidden." + GRANTED), "TLS in capitals": hello(OTHER.upper()), "TLS with HTTP/2": hello(OTHER, alpn=["h2"]), "TLS with a longer name": hello(GRANTED + "." + OTHER),
    "a line before the request": b"\r\n" + HIDDEN.encode(), "TLS in two records": (lambda h: h[:3] + struct.pack(">H", 40) + h[5:45] + h[:3] + struct.pack(">H", len(h) - 45) + h[45:])(hello(OTHER)),
    "two messages of TLS": hello(OTHER) + hello(GRANTED), "an old record version": b"\x16\x03\x00" + hello(OTHER)[3:], "SSH": b"SSH-2.0-x\r\n" + HIDDEN.encode(), "SOCKS": b"\x05\x01\x00" + HIDDEN.encode(),
    "a tunnel in the tunnel": f"CONNECT {OTHER}:443 HTTP/1.1\r\nHost: {OTHER}\r\n\r\n".encode(), "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nHost: forbidden.test\r\n\r\n",
}.items():
    way(f"inside a tunnel: {name}", tunnel, f"{GRANTED}:443", inside)

# Slow and large heads.

def slowly():
    with socket.create_connection(PROXY, 5) as stream:
        for byte in f"GET http://{OTHER}/ HTTP/1.1\r\nHost: {OTHER}\r\n\r\n".encode():
            stream.sendall(bytes([byte]))
        return read(stream)


way("head byte by byte", slowly)
for count in [100, 190, 1000]:
    way(f"{count} headers", get, f"http://{OTHER}/", OTHER, "GET", "HTTP/1.1", "".join(f"X{number}: y\r\n" for number in range(count)))
for size in [8000, 60000, 200000]:
    way(f"header of {size} bytes", get, f"http://{OTHER}/", OTHER, "GET", "HTTP/1.1", f"X: {'y' * size}\r\n")
    way(f"path of {size} bytes", get, f"http://{OTHER}/{'y' * size}", OTHER)
    way(f"name of {size} bytes", get, f"http://{'y.' * (size // 2)}{OTHER}/", OTHER)

# Without the proxy.
def any_interface(stream):
    stream.setsockopt(socket.SOL_SOCKET, 25, b"lo\0")


TCP4, TCP6 = socket.AF_INET, socket.AF_INET6
way("connect to 127.0.0.1", direct, TCP4, ("127.0.0.1", PORT))
way("connect to this machine", direct, TCP4, (MACHINE, PORT))
way("connect to 0.0.0.0", direct, TCP4, ("0.0.0.0", PORT))
way("connect to 127.9.9.9", direct, TCP4, ("127.9.9.9", PORT))
way("connect to ::1", direct, TCP6, ("::1", PORT))
way("connect to a mapped address", direct, TCP6, ("::ffff:127.0.0.1", PORT))
way("connect to this machine, mapped", direct, TCP6, ("::ffff:" + MACHINE, PORT))
way("connect from a bound address", direct, TCP4, ("127.0.0.1", PORT), socket.SOCK_STREAM, 0, lambda stream: stream.bind(("127.0.0.5", 0)))
way("connect by a device", direct, TCP4, ("127.0.0.1", PORT), socket.SOCK_STREAM, 0, any_interface)
way("connect with MPTCP", direct, TCP4, ("127.0.0.1", PORT), socket.SOCK_STREAM, 262)
way("connect with the number of TCP", direct, TCP4, ("127.0.0.1", PORT), socket.SOCK_STREAM, 6)
way("connect to the front directly", lambda: direct(TCP4, ("127.0.0.1", FRONT)) or talk_to(FRONT))
way("Unix socket by path", direct, socket.AF_UNIX, WORLD["path"])
way("Unix socket by relative path", direct, socket.AF_UNIX, os.path.relpath(WORLD["path"]))
way("abstract Unix socket", direct, socket.AF_UNIX, WORLD["abstract"])


def talk_to(port):
    with socket.create_connection(("127.0.0.1", port), 3) as stream:
        stream.sendall(HIDDEN.encode())
        return read(stream)


def open_first(data=b""):
    with socket.socket(TCP4, socket.SOCK_STREAM) as stream:
        stream.sendto(data, 0x20000000, ("127.0.0.1", PORT))
        return read(stream)


way("connect while sending", open_first, b"x")


def udp(address, family=TCP4):
    with socket.socket(family, socket.SOCK_DGRAM) as stream:
        stream.settimeout(2)
        stream.sendto(b"x", (address, WORLD["udp"]))
        return stream.recv(100)


way("UDP to 127.0.0.1", udp, "127.0.0.1")
way("UDP to this machine", udp, MACHINE)


def made(*arguments):
    socket.socket(*arguments).close()
    return b"REACHED"


for name, arguments in {
    "UDP socket": (TCP4, socket.SOCK_DGRAM), "UDP socket of IPv6": (TCP6, socket.SOCK_DGRAM), "raw ICMP": (TCP4, socket.SOCK_RAW, 1), "raw TCP": (TCP4, socket.SOCK_RAW, 6), "raw ICMP of IPv6": (TCP6, socket.SOCK_RAW, 58),
    "packet socket": (17, socket.SOCK_RAW, 0), "netlink route": (16, socket.SOCK_RAW, 0), "netlink diagnosis": (16, socket.SOCK_RAW, 4), "netlink generic": (16, socket.SOCK_DGRAM, 16),
    "raw socket close on exec": (TCP4, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 255),
}.items():
    way(name, made, *arguments)


def main():
    if IS_CONTROL:
        import control
        control.start(WORLD)
        globals()["PROXY"] = control.ADDRESS

    def run(name):
        try:
            return name, b"REACHED" in WAYS[name]()
        except OSError:
            return name, False

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        print(json.dumps(dict(pool.map(run, WAYS))))
    sys.stdout.flush()
    os._exit(0)


main()
