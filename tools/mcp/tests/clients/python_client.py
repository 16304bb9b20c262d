"""Uses `toolcrib serve` through the official client of PyPI, over stdio and HTTP, in each mode of the client.

Arguments: the program, the folder of its workspace.
"""

import asyncio
import logging
import sys
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from served import check_definitions, serve_arguments, serving

PROGRAM, ROOT = sys.argv[1], Path(sys.argv[2])
REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


class Warnings(logging.Handler):
    """Collects what the client complains about."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


class Person:
    """Answers each question of the server, and remembers the questions."""

    def __init__(self, is_willing):
        self.is_willing, self.questions = is_willing, []

    async def __call__(self, _context, params):
        self.questions.append(params.message)
        return ElicitResult(action="accept", content={"allow": self.is_willing})


async def lists_all_tools(client):
    listed, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        listed += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    names = [tool.name for tool in listed]
    assert names == sorted(names), names
    as_json = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed]
    check_definitions(PROGRAM, {tool["name"]: tool for tool in as_json})


async def calls(client):
    result = await client.call_tool("fs.read", {"path": "notes.txt"})
    assert not result.is_error and result.content[0].text == "the content\n", result
    for arguments in [{"path": "missing.txt"}, {"path": 7}, {}]:
        result = await client.call_tool("fs.read", arguments)
        assert result.is_error and result.content[0].text, result
    try:
        await client.call_tool("no.tool", {})
    except MCPError as error:
        assert error.error.code == -32602, error
    else:
        raise AssertionError("an unknown tool has a result")


async def approvals(connect, name):
    write = {"path": f"{name}/new.txt", "content": "new", "parents": True}
    unwilling = Person(False)
    async with connect(unwilling) as client:
        result = await client.call_tool("fs.write", write)
    assert result.is_error and len(unwilling.questions) == 1 and "fs.write" in unwilling.questions[0], result
    assert not (ROOT / name).exists()
    willing, reports = Person(True), []

    async def progress(done, total, message):
        reports.append((done, total, message))

    async with connect(willing) as client:
        result = await client.call_tool("fs.write", write, progress_callback=progress)
    assert not result.is_error and len(willing.questions) == 1, result
    assert (ROOT / name / "new.txt").read_text() == "new"
    assert any(message and name in message for _, _, message in reports), reports
    # Without elicitation, the call is refused.
    async with connect(None) as client:
        result = await client.call_tool("fs.write", {"path": "other.txt", "content": "new"})
    assert result.is_error and not (ROOT / "other.txt").exists(), result


async def cancellation(connect, seconds):
    """An abandoned call ends the program that it runs."""
    async with connect(Person(True)) as client:
        call = asyncio.create_task(client.call_tool("exec.run", {"program": "sleep", "args": [seconds]}))
        await until(lambda: is_running(seconds))
        call.cancel()
        await until(lambda: not is_running(seconds))


def is_running(argument):
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().endswith(f"\0{argument}\0".encode()):
                return True
        except OSError:
            pass
    return False


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.05)


async def scenarios(transport, target):
    for number, (mode, revision) in enumerate(REVISIONS.items()):
        def connect(person):
            return Client(target, mode=mode, elicitation_callback=person)

        async with connect(None) as client:
            assert client.protocol_version == revision, client.protocol_version
            await lists_all_tools(client)
            await calls(client)
        await approvals(connect, f"{transport}-{mode}")
        await cancellation(connect, f"{7000 + number}.{len(transport)}")
        print(f"PyPI mcp, {transport}, {mode}: revision {revision}")


async def main():
    warnings = Warnings()
    logging.getLogger().addHandler(warnings)
    stdio = StdioServerParameters(command=PROGRAM, args=serve_arguments(ROOT))
    await scenarios("stdio", stdio)
    with serving(PROGRAM, ROOT) as url:
        await scenarios("http", url)
    assert not warnings.messages, warnings.messages


asyncio.run(main())
