// The official TypeScript SDK as client, over all three transports. Arguments: the program, URL, SSE URL, token.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(join(process.env.QUINTAIN_PEER_NPM, "package.json"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { SSEClientTransport } = require("@modelcontextprotocol/sdk/client/sse.js");
const { ElicitRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const [program, url, sse, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };

async function use(transport) {
  const client = new Client({ name: "t", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: {} }));
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "fixture_echo"));
  const done = await client.callTool({ name: "fixture_echo", arguments: { text: "hi" } });
  assert.equal(done.structuredContent.answer, "hi");
  const asked = await client.callTool({ name: "fixture_confirm", arguments: {} });
  assert.equal(asked.structuredContent.answer, "accepted");
  const failed = await client.callTool({ name: "fixture_fail", arguments: {} });
  assert.equal(failed.isError, true);
  await assert.rejects(client.callTool({ name: "fixture_echo", arguments: {} }), (error) => {
    assert.equal(error.code, -32602);
    assert.deepEqual(error.data.validation_errors, ["text is required"]);
    return true;
  });
  const read = await client.readResource({ uri: "violentutf://fixtures/greeting" });
  assert.equal(read.contents[0].text, "hello");
  await client.close();
}

const env = { ...process.env, QUINTAIN_HOME: mkdtempSync(join(tmpdir(), "quintain-")) };
await use(new StdioClientTransport({ command: program, args: ["serve", "--stdio", "--fixtures"], env }));
await use(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
await use(new SSEClientTransport(new URL(sse), { requestInit: { headers } }));
console.log("0 failed");
