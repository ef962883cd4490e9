// The main job, done by the official TypeScript SDKs over stdio or HTTP.
//
// usage: job.mjs BINARY|URL v1|legacy|auto|2026-07-28    v1: @modelcontextprotocol/sdk; else @modelcontextprotocol/client
//        URL: with the token in PANEGLASS_TOKEN
//
// Prints a PASS line for each thing shown; any failure ends it with a non-zero exit.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [server, mode] = process.argv.slice(2);
const http = server.startsWith("http");
const passed = (what) => console.log(`PASS typescript ${http ? "http " : ""}${mode}: ${what}`);

const info = { name: "typescript-sdk", version: "1" };
let client, Transport;
if (mode === "v1") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  Transport = http
    ? (await import("@modelcontextprotocol/sdk/client/streamableHttp.js")).StreamableHTTPClientTransport
    : (await import("@modelcontextprotocol/sdk/client/stdio.js")).StdioClientTransport;
  client = new Client(info);
} else {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  Transport = http
    ? StreamableHTTPClientTransport
    : (await import("@modelcontextprotocol/client/stdio")).StdioClientTransport;
  const negotiation = mode === "legacy" || mode === "auto" ? mode : { pin: mode };
  client = new Client(info, { versionNegotiation: { mode: negotiation } });
}
const faults = [];
client.onerror = (error) => faults.push(error);

const call = async (name, args, options) => {
  const params = { name, arguments: args };
  const result = mode === "v1" ? await client.callTool(params, undefined, options) : await client.callTool(params, options);
  assert.ok(!result.isError, JSON.stringify(result));
  assert.equal(result.content.length, 1);
  assert.equal(result.structuredContent, undefined);
  return { text: result.content[0].text, facts: result._meta?.["paneglass/facts"] };
};

const project = mkdtempSync(join(tmpdir(), "pgc"));
try {
  writeFileSync(join(project, "Makefile"), "hello: main.c\n\tcc -o hello main.c\n");
  writeFileSync(join(project, "main.c"), "int main(void) {\n    return zero;\n}\n");
  const headers = { Authorization: `Bearer ${process.env.PANEGLASS_TOKEN}` };
  const transport = http
    ? new Transport(new URL(server), { requestInit: { headers } })
    : new Transport({ command: server, env: process.env, stderr: "inherit" });
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, "paneglass");
  if (client.getProtocolEra) {
    assert.equal(client.getProtocolEra(), mode === "legacy" ? "legacy" : "modern");
  }
  passed("connects");

  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "run"));
  passed(`${tools.length} tools`);

  await call("session_create", { name: "build", cwd: project });
  const failed = await call("run", { session: "build", input: "make", timeout_s: 60 });
  assert.match(failed.text.split("\n")[0], /exit 2/);
  assert.equal(failed.facts.exit_code, 2);
  const found = await call("search", { session: "build", pattern: "main\\.c:\\d+:\\d+: error:" });
  assert.match(found.text, /main\.c:2:/);
  await call("run", { session: "build", input: "sed -i '2s/zero/0/' main.c" });
  const built = await call("run", { session: "build", input: "make && ./hello", timeout_s: 60 });
  assert.match(built.text.split("\n")[0], /exit 0/);
  assert.equal(built.facts.exit_code, 0);
  passed("a failing build is found, mended and built");

  const ticks = [];
  const onprogress = ({ progress }) => ticks.push(progress);
  await call("run", { session: "build", input: "sleep 7", timeout_s: 60 }, { onprogress });
  assert.ok(ticks.length >= 1, "no progress");
  passed("progress in a long call");

  await call("session_close", { session: "build" });
  await client.close();
  assert.deepEqual(faults, []);
  passed("done");
} finally {
  rmSync(project, { recursive: true, force: true });
}
