"""The main job, done by the official Python SDK over stdio or HTTP.

usage: job.py BINARY|URL MODE    MODE: legacy, auto, or a modern revision; URL: with the token in PANEGLASS_TOKEN

Makes a C project that does not build, and through the server builds it, finds the error, mends it and builds again.
Prints a PASS line for each thing shown; any failure ends it with a traceback and a non-zero exit.
"""

import json
import os
import pathlib
import re
import sys
import tempfile

import anyio
import httpx2
from jsonschema import Draft202012Validator
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

SERVER, MODE = sys.argv[1:3]
HTTP = SERVER.startswith("http")
MODERN = "2026-07-28"
FACTS = "paneglass/facts"
# Generous: only a failing run waits so long.
DEADLINE_S = 120

MAKEFILE = "hello: main.c\n\tcc -o hello main.c\n"
BROKEN = """#include <stdio.h>
int main(void) {
    int count = 41;
    printf("count is %d\\n", coutn + 1);
    return 0;
}
"""


def passed(what: str) -> None:
    print(f"PASS python {'http ' if HTTP else ''}{MODE}: {what}", flush=True)


def text(result) -> str:
    assert not result.is_error, result
    [block] = result.content
    return block.text


def facts(result) -> dict:
    assert result.structured_content is None, result.structured_content
    return result.meta[FACTS]


def transport():
    if not HTTP:
        return stdio_client(StdioServerParameters(command=SERVER, env=dict(os.environ)))
    headers = {"Authorization": f"Bearer {os.environ['PANEGLASS_TOKEN']}"}
    return streamable_http_client(SERVER, http_client=httpx2.AsyncClient(headers=headers, timeout=DEADLINE_S))


async def shake_hands(client: Client) -> None:
    # With a pinned revision the SDK asks nothing before the first call.
    if MODE in ("legacy", "auto"):
        assert client.server_info.name == "paneglass", client.server_info
        assert client.instructions
    modern = client.protocol_version == MODERN
    assert modern == (MODE != "legacy"), client.protocol_version
    passed(f"speaks {client.protocol_version}")


async def check_tools(client: Client) -> None:
    listed = await client.list_tools()
    names = [tool.name for tool in listed.tools]
    assert {"session_create", "run", "search", "session_close"} <= set(names), names
    for tool in listed.tools:
        Draft202012Validator.check_schema(tool.input_schema)
        if tool.output_schema is not None:
            Draft202012Validator.check_schema(tool.output_schema)
        assert tool.title and tool.description and tool.annotations, tool.name
    passed(f"{len(names)} tools with valid schemas")


async def check_errors(client: Client) -> None:
    try:
        await client.call_tool("no_such_tool", {})
        raise AssertionError("an unknown tool was called")
    except MCPError as error:
        assert error.error.code == -32602, error
    wrong = await client.call_tool("run", {"session": "nowhere", "input": "true"})
    assert wrong.is_error, wrong
    passed("unknown tools and sessions are told apart")


async def build(client: Client, project: pathlib.Path) -> None:
    created = text(await client.call_tool("session_create", {"name": "build", "cwd": str(project)}))
    assert "build" in created, created

    failed = await client.call_tool("run", {"session": "build", "input": "make", "timeout_s": 60})
    header = text(failed).splitlines()[0]
    assert "exit 2" in header and facts(failed)["exit_code"] == 2, failed
    passed("a failing build has its exit status")

    found = text(await client.call_tool("search", {"session": "build", "pattern": r"main\.c:\d+:\d+: error:"}))
    [line] = {int(number) for number in re.findall(r"main\.c:(\d+):\d+: error:", found)}
    assert BROKEN.splitlines()[line - 1].strip().startswith("printf"), (line, found)
    passed(f"search finds the error in line {line}")

    mended = await client.call_tool("run", {"session": "build", "input": f"sed -i '{line}s/coutn/count/' main.c"})
    assert facts(mended)["exit_code"] == 0, mended

    built = await client.call_tool("run", {"session": "build", "input": "make && ./hello", "timeout_s": 60})
    header = text(built).splitlines()[0]
    assert "exit 0" in header and facts(built)["exit_code"] == 0, built
    assert "count is 42" in text(built), built
    passed("the mended build ends with exit 0")


async def programs(client: Client) -> None:
    """One program by argv. The SDK itself checks each record against the declared output schema."""
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}

    async def record(tool: str, **arguments) -> dict:
        result = await client.call_tool(tool, arguments)
        header, told = text(result).split("\n", 1)
        assert header.startswith("["), header
        assert json.loads(told) == result.structured_content, result
        Draft202012Validator(schemas[tool]).validate(result.structured_content)
        return result.structured_content

    async def read_all(program: str) -> tuple[str, dict]:
        printed, cursor = "", 0
        while True:
            read = await record("read_program", programId=program, cursor=cursor)
            printed, cursor = printed + read["text"], read["cursor"]
            if read["ended"]:
                return printed, read

    words = ["", "a b", "it's", 'a "word"', "two\nlines", "é漢🙂"]
    script = "import sys; print(sys.argv[1:]); sys.exit(3)"
    started = await record("start_program", argv=[sys.executable, "-c", script, *words])
    printed, end = await read_all(started["programId"])
    assert printed == f"{words}\n", printed
    assert end["outcome"] == "completed" and end["exitStatus"] == 3 and end["outputComplete"], end
    passed("a program gets its exact argv, and its exit status is known")

    missing = await record("start_program", argv=["/nonexistent/program"])
    printed, end = await read_all(missing["programId"])
    assert end["outcome"] == "not_started" and end["exitStatus"] == 127, end
    sleeping = await record("start_program", argv=["sleep", "600"])
    screen = await record("capture_pane", paneId=sleeping["paneId"])
    assert (screen["cols"], screen["rows"]) == (120, 40), screen
    stopped = await record("stop_program", programId=sleeping["programId"])
    assert stopped["outcome"] == "stopped" and stopped["signal"] == "SIGTERM", stopped
    for program in (started, missing):
        await record("stop_program", programId=program["programId"])
    unknown = await client.call_tool("read_program", {"programId": sleeping["programId"]})
    assert unknown.is_error, unknown
    passed("the records of all four tools are valid against their schemas")


async def wait_and_cancel(client: Client) -> None:
    ticks: list[float] = []

    async def tick(progress: float, total: float | None, message: str | None) -> None:
        ticks.append(progress)

    slow = await client.call_tool(
        "run", {"session": "build", "input": "sleep 12", "timeout_s": 60}, progress_callback=tick
    )
    assert facts(slow)["exit_code"] == 0, slow
    assert ticks and ticks == sorted(set(ticks)), ticks
    passed(f"{len(ticks)} strictly increasing progress messages in a long call")

    with anyio.move_on_after(2) as scope:
        await client.call_tool("run", {"session": "build", "input": "sleep 600", "timeout_s": 600})
    assert scope.cancelled_caught
    text(await client.call_tool("session_list", {}))
    stopped = await client.call_tool("send", {"session": "build", "keys": ["ctrl+c"]})
    assert not stopped.is_error, stopped
    passed("a cancelled call leaves the server answering")


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pgc") as scratch:
        project = pathlib.Path(scratch)
        (project / "Makefile").write_text(MAKEFILE)
        (project / "main.c").write_text(BROKEN)
        who = Implementation(name="python-sdk", version="1")
        with anyio.fail_after(DEADLINE_S):
            async with Client(transport(), mode=MODE, client_info=who) as client:
                await shake_hands(client)
                await check_tools(client)
                await check_errors(client)
                await build(client, project)
                await programs(client)
                await wait_and_cancel(client)
                text(await client.call_tool("session_close", {"session": "build"}))
    passed("done")


anyio.run(main)
