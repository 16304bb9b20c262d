"""Uses `toolcrib serve` through the inspector of npm, over stdio and HTTP, in each protocol era of the inspector.

Arguments: the program, the folder of its workspace, and the command of the inspector.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from served import check_definitions, serve_arguments, serving

PROGRAM, ROOT, *INSPECTOR = sys.argv[1:]
# The exit code of the inspector for a tool that fails.
TOOL_FAILED = 5


def inspect(target, era, *options):
    """Returns the exit code and the two outputs."""
    command = [*INSPECTOR, "--cli", "--protocol-era", era, "--format", "json", *options, *target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def call(target, era, name, arguments):
    options = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)]
    return inspect(target, era, *options)


def scenario(transport, target, era):
    code, output, error = inspect(target, era, "--method", "tools/list", "--strict")
    assert code == 0, error
    listed = {tool["name"]: tool for tool in json.loads(output)["result"]["tools"]}
    check_definitions(PROGRAM, listed)

    code, output, error = call(target, era, "fs.read", {"path": "notes.txt"})
    assert code == 0, error
    result = json.loads(output)["result"]
    assert result["content"][0]["text"] == "the content\n" and not result.get("isError"), result

    for arguments in [{"path": "missing.txt"}, {"path": 7}]:
        code, output, error = call(target, era, "fs.read", arguments)
        assert code == TOOL_FAILED and json.loads(output)["result"]["isError"], (code, output, error)

    # The inspector does not send a call of an unknown tool.
    code, output, error = call(target, era, "no.tool", {})
    assert code == TOOL_FAILED and "tool_not_found" in error and not output, (code, output, error)
    return f"npm inspector, {transport}, {era}: strict"


def main():
    with serving(PROGRAM, ROOT) as url, ThreadPoolExecutor(4) as pool:
        targets = {"stdio": [PROGRAM, *serve_arguments(ROOT)], "http": ["--transport", "http", "--server-url", url]}
        eras = ["legacy", "modern", "auto"]
        runs = [pool.submit(scenario, name, target, era) for name, target in targets.items() for era in eras]
        for run in runs:
            print(run.result())


main()
