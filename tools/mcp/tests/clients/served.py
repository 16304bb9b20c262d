"""The server under test, and the definitions that it must list."""

import contextlib
import functools
import json
import subprocess


# The tools that need a session, and a search service.
NOT_SERVED = {"agent.spawn", "llm.generate", "todo.read", "todo.write", "web.search"}


def serve_arguments(root):
    return ["serve", "--no-config", "--root", str(root)]


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
    """Returns the definitions of all linked tools by name."""
    names = [json.loads(line)["name"] for line in output(program, "list", "--json").splitlines()]
    return {name: json.loads(output(program, "show", name, "--json")) for name in names}


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
