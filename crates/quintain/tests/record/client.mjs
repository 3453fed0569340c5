// Drives a server with the official TypeScript SDK and prints what a user of the SDK sees, as JSON.
//
// Usage: node client.mjs SDK stdio COMMAND ARG... | node client.mjs SDK http URL | node client.mjs SDK sse URL

const [sdk, kind, ...where] = process.argv.slice(2);
const load = (path) => import(`${sdk}/dist/esm/${path}.js`);
const { Client } = await load("client/index");
const types = await load("types");

async function transport() {
  if (kind === "stdio") {
    const { StdioClientTransport } = await load("client/stdio");
    return new StdioClientTransport({ command: where[0], args: where.slice(1), stderr: "inherit" });
  }
  if (kind === "sse") {
    const { SSEClientTransport } = await load("client/sse");
    return new SSEClientTransport(new URL(where[0]));
  }
  const { StreamableHTTPClientTransport } = await load("client/streamableHttp");
  return new StreamableHTTPClientTransport(new URL(where[0]));
}

const client = new Client(
  { name: "typescript", version: "1" },
  { capabilities: { sampling: {}, roots: {}, elicitation: {} } },
);
client.setRequestHandler(types.CreateMessageRequestSchema, () => ({
  role: "assistant",
  content: { type: "text", text: "sampled text" },
  model: "none",
}));
client.setRequestHandler(types.ListRootsRequestSchema, () => ({
  roots: [{ uri: "file:///tmp/root", name: "root" }],
}));
client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: "decline" }));

const attempt = async (work) => {
  try {
    return await work;
  } catch (error) {
    return { failed: String(error.message) };
  }
};

await client.connect(await transport());
const seen = [client.getServerVersion(), client.getServerCapabilities()];
const tools = await client.listTools();
seen.push(tools.tools.map((tool) => tool.name).sort());
const call = (name, args, options) =>
  attempt(client.callTool({ name, arguments: args }, undefined, options));
for (const number of [0, 1]) seen.push(await call("echo", { message: `hello ${number}` }));
seen.push(await call("get-sum", { a: 2, b: 40 }));
const progress = [];
const onprogress = (step) => progress.push([step.progress, step.total]);
seen.push(await call("trigger-long-running-operation", { duration: 0.4, steps: 4 }, { onprogress }));
// The SDK drops the last notification when the result follows at once.
seen.push(progress.slice(0, 3));
seen.push(await call("trigger-sampling-request", { prompt: "p", maxTokens: 5 }));
seen.push(await call("trigger-elicitation-request", {}));
seen.push(await call("no-such-tool", {}));
const resources = await client.listResources();
seen.push(resources.resources);
seen.push(await attempt(client.readResource({ uri: resources.resources[0].uri })));
seen.push(await attempt(client.listPrompts()));
seen.push(await attempt(client.getPrompt({ name: "simple-prompt" })));
seen.push(await attempt(client.ping()));
await client.close();
console.log(JSON.stringify(seen, null, 1));
process.exit(0);
