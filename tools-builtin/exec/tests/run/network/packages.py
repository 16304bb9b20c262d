"""Makes a project for cargo and one for npm, and a package for each of three registries, with the pages that lead to it."""
import base64, gzip, hashlib, io, json, os, tarfile, zipfile


def archive(name, files):
    with tarfile.open(name, "w:gz") as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return open(name, "rb").read()


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)


os.makedirs("served")
crate = archive("served/dep.crate", {
    "probe-dep-1.0.0/Cargo.toml": '[package]\nname = "probe-dep"\nversion = "1.0.0"\nedition = "2021"\n', "probe-dep-1.0.0/src/lib.rs": "",
})
entry = {"name": "probe-dep", "vers": "1.0.0", "deps": [], "cksum": hashlib.sha256(crate).hexdigest(), "features": {}, "yanked": False}
write("served/index.json", json.dumps(entry) + "\n")
write("served/config.json", json.dumps({"dl": "https://crates.test/{crate}-{version}.crate"}))
write("Cargo.toml", '[package]\nname = "probe"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nprobe-dep = { version = "1", registry = "standin" }\n[workspace]\n')
write("src/lib.rs", "")

package = archive("served/dep.tgz", {"package/package.json": json.dumps({"name": "probe-dep", "version": "1.0.0"}), "package/index.js": "module.exports = 7\n"})
integrity = "sha512-" + base64.b64encode(hashlib.sha512(package).digest()).decode()
project = {"name": "probe", "version": "1.0.0", "dependencies": {"probe-dep": "1.0.0"}}
write("package.json", json.dumps(project))
locked = {"version": "1.0.0", "resolved": "https://npm.test/probe-dep/-/probe-dep-1.0.0.tgz", "integrity": integrity}
write("package-lock.json", json.dumps({**project, "lockfileVersion": 3, "packages": {"": project, "node_modules/probe-dep": locked}}))

wheel = "probe_dep-1.0-py3-none-any.whl"
with zipfile.ZipFile("served/" + wheel, "w") as file:
    file.writestr("probe_dep.py", "VALUE = 7\n")
    file.writestr("probe_dep-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: probe-dep\nVersion: 1.0\n")
    file.writestr("probe_dep-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: probe\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    file.writestr("probe_dep-1.0.dist-info/RECORD", "probe_dep.py,,\n")
digest = hashlib.sha256(open("served/" + wheel, "rb").read()).hexdigest()
write("served/simple.html", f'<!DOCTYPE html><html><body><a href="https://files.test/{wheel}#sha256={digest}">{wheel}</a></body></html>')

write("pages.json", json.dumps({
    "index.test/config.json": "served/config.json", "index.test/pr/ob/probe-dep": "served/index.json", "crates.test/probe-dep-1.0.0.crate": "served/dep.crate",
    "npm.test/probe-dep/-/probe-dep-1.0.0.tgz": "served/dep.tgz", "pypi.test/simple/probe-dep/": "served/simple.html", f"files.test/{wheel}": f"served/{wheel}",
}))
