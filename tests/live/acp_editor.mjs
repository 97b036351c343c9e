// Drives an ACP agent with the client of @agentclientprotocol/sdk and prints what it saw, a JSON line each.
// node acp_editor.mjs <path of the library> <folder> <kind of permission> <program> [argument...]
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

const [library, folder, kind, program, ...rest] = process.argv.slice(2);
const acp = await import(library);
const { methods } = acp;
const tell = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const child = spawn(program, rest, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
let heard = () => {};

await acp
  .client({ name: "editor" })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    tell({ permission: params.toolCall.title, kinds: params.options.map((each) => each.kind) });
    const { optionId } = params.options.find((each) => each.kind === kind);
    return { outcome: { outcome: "selected", optionId } };
  })
  .onNotification(methods.client.session.update, ({ params }) => {
    tell({ update: params.update });
    heard();
  })
  .connectWith(stream, async (agent) => {
    const hello = await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    tell({ hello });
    const opened = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
    tell({ opened });
    const sessionId = opened.sessionId;
    const ask = (text) => agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    tell({ ended: await ask("make a file") });
    const first = new Promise((resolve) => (heard = resolve));
    const running = ask("count");
    await first;
    await agent.notify(methods.agent.session.cancel, { sessionId });
    tell({ ended: await running });
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: "yolo" });
    tell({ ended: await ask("bye") });
  });
child.stdin.end();
process.exit(0);
