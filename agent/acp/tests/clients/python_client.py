"""Drives sessions of `toolcrib acp` with the official Python library of the protocol. Arguments: the program and the workspace."""

import asyncio
import os
import pathlib
import sys

import acp
from acp.schema import AllowedOutcome

program, workspace = sys.argv[1], pathlib.Path(sys.argv[2])


class Editor(acp.Client):
    """An editor whose user gives the answer, or none while it is `None`."""

    def __init__(self):
        self.answer = "once"
        self.asked = asyncio.Event()
        self.questions = []
        self.updates = []

    async def request_permission(self, session_id, tool_call, options, **_):
        self.questions.append(tool_call)
        self.asked.set()
        if self.answer is None:
            await asyncio.Event().wait()
        assert self.answer in [option.option_id for option in options], options
        outcome = AllowedOutcome(outcome="selected", option_id=self.answer)
        return acp.RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id, update, **_):
        self.updates.append(update)

    def on_connect(self, connection):
        pass

    def texts(self, kind):
        return "".join(update.content.text for update in self.updates if update.session_update == kind)


def start(editor):
    flags = ["--provider", "direct"]
    return acp.spawn_agent_process(editor, program, "acp", *flags, env=dict(os.environ))


def write(name):
    return [acp.text_block(f"fs.write path={name} content=written")]


async def first():
    editor = Editor()
    async with start(editor) as (connection, process):
        begun = await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        assert begun.protocol_version == 1 and begun.agent_capabilities.load_session, begun
        session = (await connection.new_session(cwd=str(workspace), mcp_servers=[])).session_id

        ended = await connection.prompt(session_id=session, prompt=write("a.txt"))
        assert ended.stop_reason == "end_turn", ended
        assert (workspace / "a.txt").read_text() == "written"
        [question] = editor.questions
        diffs = [block for block in question.content if block.type == "diff"]
        assert diffs and diffs[0].new_text.rstrip() == "written" and not diffs[0].old_text, question
        assert diffs[0].path == str(workspace / "a.txt"), diffs

        editor.answer = "no"
        ended = await connection.prompt(session_id=session, prompt=write("b.txt"))
        assert ended.stop_reason == "end_turn" and not (workspace / "b.txt").exists(), ended

        editor.answer = None
        editor.asked.clear()
        running = asyncio.create_task(connection.prompt(session_id=session, prompt=write("c.txt")))
        await editor.asked.wait()
        message = {"sessionId": session, "prompt": [{"type": "text", "text": "And more."}]}
        steered = await connection.ext_method("session/steering", message)
        assert steered == {"outcome": "injected"}, steered
        await connection.cancel(session_id=session)
        ended = await running
        assert ended.stop_reason == "cancelled" and not (workspace / "c.txt").exists(), ended
        late = await connection.ext_method("session/steering", message)
        assert late == {"outcome": "promptRequired"}, late
    return session


async def second(session):
    editor = Editor()
    async with start(editor) as (connection, process):
        await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        listed = (await connection.list_sessions(cwd=str(workspace))).sessions
        assert [one.session_id for one in listed] == [session], listed
        await connection.load_session(cwd=str(workspace), session_id=session, mcp_servers=[])
        assert "path=a.txt" in editor.texts("user_message_chunk"), editor.updates
        ended = [update.status for update in editor.updates if update.session_update == "tool_call_update"]
        assert ended.count("completed") == 1, editor.updates
        read = [acp.text_block("fs.read path=a.txt")]
        ended = await connection.prompt(session_id=session, prompt=read)
        assert ended.stop_reason == "end_turn", ended
        assert "written" in editor.texts("agent_message_chunk"), editor.updates


async def main():
    session = await asyncio.wait_for(first(), 50)
    await asyncio.wait_for(second(session), 50)
    print("the official Python library drives sessions: edit, diff, rejection, cancel, steering, list, load")


asyncio.run(main())
