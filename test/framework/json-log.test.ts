// A machine-readable log: one object a line, with its request, without secrets.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Authorizer, allow, createServer, staticTokens } from "@virtual-workspaces/framework";
import { type JsonLogOptions, jsonLog } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { whoami } from "../_support/whoami.ts";

// biome-ignore lint/suspicious/noExplicitAny: particulars differ from line to line
type Line = Readonly<Record<string, any>>;

/** Returns what a server whose rule is `authorize` logs about one request. */
async function logged(authorize: Authorizer<unknown>, headers: Readonly<Record<string, string>> = {}) {
  const lines: Line[] = [];
  await using log = jsonLog({ to: (line) => void lines.push(JSON.parse(line)) });
  await using server = createServer({
    tls: false,
    virtualWorkspaces: [whoami(authorize)],
    authentication: [staticTokens({ "alice-token": { name: "alice" } })],
    log,
  });
  const { url } = await server.listen({ port: 0 });
  const answer = await fetch(`${url}/services/who/`, { headers: { authorization: "Bearer alice-token", ...headers } });
  await answer.text();
  await log[Symbol.asyncDispose]();
  return { lines, requestId: answer.headers.get("audit-id") };
}

async function written(record: object, options: JsonLogOptions = {}): Promise<string[]> {
  const lines: string[] = [];
  const log = jsonLog({ ...options, to: (line) => void lines.push(line) });
  log({ level: "error", message: "m", ...record });
  await log[Symbol.asyncDispose]();
  return lines;
}

describe("a JSON log", () => {
  it("has the request id and the trace id in each line", async () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const broken: Authorizer<unknown> = () => {
      throw new Error("no database");
    };
    const { lines, requestId } = await logged(broken, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ level: "error", message: "request failed", requestId, traceId: trace });
    expect(lines[0]?.["error"]).to.include("no database");
    expect(new Date(lines[0]?.["time"]).toISOString()).to.equal(lines[0]?.["time"]);
    expect((await logged(() => allow())).lines).to.deep.equal([]);
  });

  it("masks credentials in the text of errors", async () => {
    const slip: Authorizer<unknown> = () => {
      throw new Error("GET https://bob:pa55word@db.example/ with Authorization: Bearer alice-token failed");
    };
    const { lines } = await logged(slip);
    const text = JSON.stringify(lines);
    expect(text).to.include("Bearer [masked]").and.include("https://bob:[masked]@db.example/");
    expect(text).not.to.include("alice-token").and.not.include("pa55word");
  });

  it("writes any value as a line, and truncates long lines", async () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    for (const record of [
      { big: 2n ** 70n, at: new Error("x\ny"), many: new Set([1]) },
      { circular },
      { error: "x".repeat(1e6), requestId: "r" },
      { text: '\u2028 \n "' },
    ]) {
      const [line = "", ...more] = await written(record);
      expect(more).to.deep.equal([]);
      expect(line).not.to.include("\n");
      expect(line.length).to.be.below(40_000);
      expect(JSON.parse(line)).to.include({ level: "error", message: "m" });
    }
  });

  it("omits records below its level", async () => {
    expect(await written({ level: "info" }, { level: "warn" })).to.deep.equal([]);
    expect(await written({ level: "warn" }, { level: "warn" })).to.have.lengthOf(1);
  });

  it("drops lines that the target does not accept, and reports their number", async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const lines: Line[] = [];
    const to = async (line: string): Promise<void> => {
      await open;
      lines.push(JSON.parse(line));
    };
    const log = jsonLog({ to, maxPending: 500 });
    for (let at = 0; at < 100; at++) log({ level: "info", message: `line ${at}` });
    resolve();
    await log[Symbol.asyncDispose](); // pending lines are written; a function is not closed
    log({ level: "info", message: "later" });
    await log[Symbol.asyncDispose]();
    const lost = lines.find(({ message }) => message === "log lines lost");
    expect(lines.length).to.be.below(15);
    expect(lost?.["count"]).to.equal(100 - (lines.length - 2));
    expect(lines.at(-1)?.["message"]).to.equal("later");
  });

  it("writes to a file, which must be writable at the start", async () => {
    using folder = tree({});
    const path = join(folder.path, "server.log");
    const log = jsonLog({ to: path });
    log({ level: "info", message: "hello" });
    await log[Symbol.asyncDispose]();
    expect(JSON.parse(readFileSync(path, "utf8"))).to.include({ message: "hello" });
    expect(() => jsonLog({ to: join(folder.path, "none", "server.log") })).to.throw(/^log: cannot write .*ENOENT/);
  });
});
