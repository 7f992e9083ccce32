// A log for machines: one object a line, with the request it is about, without what is secret.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Authorizer, allow, createServer, staticTokens } from "@virtual-workspaces/framework";
import { type JsonLogOptions, jsonLog } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { whoami } from "../_support/whoami.ts";

// biome-ignore lint/suspicious/noExplicitAny: particulars differ from line to line
type Line = Readonly<Record<string, any>>;

/** What a server whose rule is `authorize` logs of one request. */
async function logged(authorize: Authorizer<unknown>, headers: Readonly<Record<string, string>> = {}) {
  const lines: Line[] = [];
  await using log = jsonLog({ to: (line) => void lines.push(JSON.parse(line)) });
  await using server = createServer({
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
  it("says of which request and trace a line is", async () => {
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

  it("masks credentials that slipped into an error's text", async () => {
    const slip: Authorizer<unknown> = () => {
      throw new Error("GET https://bob:pa55word@db.example/ with Authorization: Bearer alice-token failed");
    };
    const { lines } = await logged(slip);
    const text = JSON.stringify(lines);
    expect(text).to.include("Bearer [masked]").and.include("https://bob:[masked]@db.example/");
    expect(text).not.to.include("alice-token").and.not.include("pa55word");
  });

  it("writes anything as a line, and no line that is too long", async () => {
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

  it("leaves out what is below its level", async () => {
    expect(await written({ level: "info" }, { level: "warn" })).to.deep.equal([]);
    expect(await written({ level: "warn" }, { level: "warn" })).to.have.lengthOf(1);
  });

  it("loses lines that nobody takes, and says how many", async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const lines: Line[] = [];
    const to = async (line: string): Promise<void> => {
      await open;
      lines.push(JSON.parse(line));
    };
    const log = jsonLog({ to, maxPending: 500 });
    for (let at = 0; at < 100; at++) log({ level: "info", message: `line ${at}` });
    resolve();
    await log[Symbol.asyncDispose](); // what waits is written; a function is not closed
    log({ level: "info", message: "later" });
    await log[Symbol.asyncDispose]();
    const lost = lines.find(({ message }) => message === "log lines lost");
    expect(lines.length).to.be.below(15);
    expect(lost?.["count"]).to.equal(100 - (lines.length - 2));
    expect(lines.at(-1)?.["message"]).to.equal("later");
  });

  it("goes to a file, which must be writable from the beginning", async () => {
    using folder = tree({});
    const path = join(folder.path, "server.log");
    const log = jsonLog({ to: path });
    log({ level: "info", message: "hello" });
    await log[Symbol.asyncDispose]();
    expect(JSON.parse(readFileSync(path, "utf8"))).to.include({ message: "hello" });
    expect(() => jsonLog({ to: join(folder.path, "none", "server.log") })).to.throw(/^log: cannot write .*ENOENT/);
  });
});
