"""A proxy that believes everything: it looks for a way to the forbidden server in all that a request says."""
import re, socket, threading, unicodedata, urllib.parse

ADDRESS = None
WORLD = {}


def start(world):
    global ADDRESS
    WORLD.update(world)
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    ADDRESS = listener.getsockname()

    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def addresses(text, is_tunnel):
    """Returns all addresses that somebody could read in a text."""
    text = unicodedata.normalize("NFKC", urllib.parse.unquote(text)).replace("\u3002", ".").lower()
    found = []
    for part in re.split(r"[@\\/#?,;&\s\x00]+", text):
        host = re.match(r"\[[^\]]*\]|[^:]*", part)[0]
        ports = re.findall(r":\+?(0x[0-9a-f]+|\d+)", part[len(host):])
        ports = [int(port, 0 if port.startswith("0x") else 10) % 65536 for port in ports]
        host = host.strip("[]").rstrip(".") if not re.fullmatch(r"\[.*\.test\]", host) else host.strip("[]")
        is_granted = host == "granted.test"
        own = WORLD["front"] if is_granted else WORLD["forbidden"]
        for port in [port for port in ports if port not in (80, 443)] + [own] * (not ports or 80 in ports or 443 in ports or "test" in host):
            if host.endswith(".test") or host in ("test", "granted") or "test" in host or "granted" in host:
                found.append((port, "127.0.0.1"))
            elif host and re.fullmatch(r"[0-9a-fx.:]+|localhost", host):
                found.append((port, host))
    return found


def reach(texts, is_tunnel):
    found = [address for text in texts for address in addresses(text, is_tunnel)]
    for port, host in sorted(found, key=lambda address: address[0] != WORLD["forbidden"]):
        try:
            return socket.create_connection((host, port), 3)
        except OSError:
            continue
    raise OSError("nothing to reach")


def serve(client):
    try:
        client.settimeout(5)
        data = b""
        while not re.search(rb"\r?\n\r?\n", data):
            piece = client.recv(65536)
            if not piece:
                return
            data += piece
        head, rest = re.split(rb"\r?\n\r?\n", data, maxsplit=1)
        text = head.decode("utf-8", "replace")
        line = re.split(r"[\r\n]", text)[0]
        method, _, target = line.partition(" ")
        target = re.sub(r"\s+http/[\d.]*$", "", target, flags=re.I)
        is_tunnel = method.upper() == "CONNECT"
        target = target if is_tunnel else re.sub(r"^[a-zA-Z]*:?[/\\]*", "", target)
        hosts = re.findall(r"(?im)^\s*host\s*:\s*(.*)$", text.replace("\r", "\n"))
        server = reach([target] if target.strip("/*? ") and not target.startswith("by-length") else hosts, is_tunnel)
        if is_tunnel:
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            server.sendall(rest)
        else:
            server.sendall(data)
        threading.Thread(target=carry, args=(client, server), daemon=True).start()
        carry(server, client)
    except OSError:
        client.close()


def carry(source, target):
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
