"""The server under test, and the definitions that it must list."""

import contextlib
import functools
import json
import subprocess


# The tools that need a session, a search service, or skills.
NOT_SERVED = {
    "agent.spawn",
    "skill.load",
    "skill.read",
    "todo.read",
    "todo.write",
    "tools.call",
    "tools.search",
    "web.search",
}


# The defaults that the server adds, by tool and property: the model is the client's.
DEFAULTS = {("llm.generate", "model"): "client/default"}


def serve_arguments(root):
    return ["serve", "--no-config", "--names", "dotted", "--root", str(root)]


@contextlib.contextmanager
def serving(program, root):
    """Runs the server over HTTP, and gives its URL."""
    arguments = [program, *serve_arguments(root), "--http", "127.0.0.1:0"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            line = next(line for line in server.stderr if " at http" in line)
            yield line.split()[-1]
        finally:
            server.terminate()
            assert server.wait(30) == 0


@functools.cache
def definitions(program):
    """Returns the definitions of all linked tools by name, with the defaults of the server."""
    names = [json.loads(line)["name"] for line in output(program, "list", "--json").splitlines()]
    shown = {name: json.loads(output(program, "show", name, "--json")) for name in names}
    for (name, key), default in DEFAULTS.items():
        parameters = shown[name]["parameters"]
        parameters["properties"][key]["default"] = default
        parameters["required"].remove(key)
    return shown


def check_definitions(program, listed):
    """Compares the tools that a client lists, each as JSON, with the definitions of the program."""
    shown = definitions(program)
    assert set(shown) - set(listed) == NOT_SERVED, set(shown) ^ set(listed)
    for name, tool in listed.items():
        definition = shown[name]
        assert tool["inputSchema"] == definition["parameters"], name
        assert tool.get("outputSchema") == definition.get("result"), name
        assert tool["description"] == definition["description"], name
        assert tool["annotations"], name


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
