// Audit sinks: rotated files, slow and broken sinks, and their effect on requests.
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { tree } from "../_setup/tree.ts";
import { MEMOS, policy, startAudited } from "../_support/audited.ts";

const COMPLETE = { ...policy({ level: "Metadata" }), omitStages: ["RequestReceived"] as const };

/** Parses the lines of a file, each of which must be an event. */
function linesOf(path: string): readonly { readonly requestURI: string }[] {
  const text = readFileSync(path, "utf8");
  expect(text.endsWith("\n")).to.equal(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("an audit log", () => {
  it("is a file of JSON lines in order, complete after the server has closed, readable only by its owner", async () => {
    using folder = tree({});
    const path = join(folder.path, "audit.log");
    const server = await startAudited({ policy: COMPLETE, audit: { to: path } });
    const names = Array.from({ length: 50 }, (_, at) => `${MEMOS}/m${at}`);
    for (const name of names) await (await server.ask(name)).text();
    await server.server.close();
    expect(linesOf(path).map(({ requestURI }) => requestURI)).to.deep.equal(names);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).to.equal(0o600);
  });

  it("appends to an existing file", async () => {
    using folder = tree({});
    const path = join(folder.path, "audit.log");
    for (let run = 0; run < 2; run++) {
      await using server = await startAudited({ audit: { to: path } });
      await (await server.ask(MEMOS)).text();
    }
    expect(linesOf(path)).to.have.lengthOf(4);
  });

  it("is rotated before it grows too long, and keeps a limited number of files", async () => {
    using folder = tree({ "other.log": "", "audit-notes.log": "" });
    const path = join(folder.path, "audit.log");
    const to = { path, maxSize: 100_000, maxBackups: 2 };
    {
      await using server = await startAudited({ policy: COMPLETE, audit: { to } });
      for (let at = 0; at < 100; at++) await (await server.ask(`${MEMOS}/m${at}?x=${"x".repeat(5000)}`)).text();
    }
    const files = readdirSync(folder.path).sort();
    const backups = files.filter((file) => /^audit-\d{4}-.*\.log$/.test(file));
    expect(files.length - backups.length).to.equal(3);
    expect(backups).to.have.lengthOf(2);
    const kept = [...backups, "audit.log"].flatMap((file) => linesOf(join(folder.path, file)));
    const last = kept.map(({ requestURI }) => Number(/m(\d+)\?/.exec(requestURI)?.[1]));
    expect(last.length).to.be.within(20, 60);
    expect(last).to.deep.equal(Array.from({ length: last.length }, (_, at) => 100 - last.length + at));
    for (const file of backups) expect(statSync(join(folder.path, file)).size).to.be.below(100_001);
  });

  it("stops the server from starting if it cannot be opened, with a clear error", async () => {
    using folder = tree({});
    const path = join(folder.path, "none", "audit.log");
    const failure = await startAudited({ audit: { to: path } }).catch((error: Error) => error);
    expect((failure as Error).message).to.match(/^audit: cannot write .*audit\.log: ENOENT/);
  });

  it("loses events on a full disk, which are counted and logged, while the server keeps serving", async function () {
    if (!existsSync("/dev/full")) this.skip();
    {
      await using server = await startAudited({ audit: { to: "/dev/full" } });
      expect((await server.ask(MEMOS)).status).to.equal(200);
      expect((await server.ask(MEMOS)).status).to.equal(200);
    }
    expectFault(/audit events lost.*"count":\d.*ENOSPC/);
  });

  it("delays requests while the sink is blocked, at most until their deadline", async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const audit = { to: () => open, maxPending: 1500, whenFull: "wait" } as const;
    {
      await using server = await startAudited({ requestTimeout: 200, audit });
      const codes: number[] = [];
      for (let at = 0; at < 4; at++) codes.push((await server.ask(MEMOS)).status);
      expect(codes[0]).to.equal(200);
      expect(codes.at(-1)).to.equal(503);
      const refused = await (await server.ask(MEMOS)).text();
      expect(refused).to.include("the audit log cannot be written fast enough; try again");
      const waiting = server.ask(MEMOS);
      resolve();
      expect((await waiting).status).to.equal(200);
    }
    expectFault(/audit events lost.*too many audit events are pending/); // caused by the 503s: those requests were not processed
  });

  it("can lose events instead of delaying requests while the sink is blocked, and its queue stays bounded", async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const taken: string[] = [];
    const to = async (line: string): Promise<void> => {
      await open;
      taken.push(line);
    };
    {
      await using server = await startAudited({ audit: { to, maxPending: 1500, whenFull: "drop" } });
      for (let at = 0; at < 10; at++) expect((await server.ask(MEMOS)).status).to.equal(200);
      resolve();
    }
    expectFault(/audit events lost.*too many audit events are pending/);
    expect(taken.length).to.be.within(2, 6);
  });

  it("is not filled by unauthenticated requests, which cannot be delayed, while the sink is blocked; completed requests are still logged", async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const taken: string[] = [];
    const to = async (line: string): Promise<void> => {
      await open;
      taken.push(line);
    };
    {
      await using server = await startAudited({ policy: COMPLETE, audit: { to, maxPending: 100_000 } });
      const long = "x".repeat(200_000);
      for (let at = 0; at < 60; at++) await (await server.ask(`/livez?${at}=${long}`, { token: "" })).text();
      for (let at = 0; at < 20; at++) await (await server.ask(`${MEMOS}?${at}=${long}`, { token: "wrong" })).text();
      const waiting = server.ask(`${MEMOS}/first`);
      resolve();
      expect((await waiting).status).to.equal(200);
    }
    expectFault(/audit events lost.*too many audit events are pending/);
    const length = taken.reduce((sum, line) => sum + line.length, 0);
    expect(length).to.be.within(50_000, 200_000);
    expect(taken.at(-1)).to.include('"name":"first"');
    expect(JSON.parse(taken[0] ?? "").requestURI).to.match(/^\/livez\?0=x+\.\.\.TRUNCATED$/);
  });

  it("works with the middleware too", async () => {
    const lines: string[] = [];
    const { audit } = await import("@virtual-workspaces/framework/audit");
    const { virtualWorkspaces } = await import("@virtual-workspaces/framework/server");
    const { defineVirtualWorkspace, authenticated, staticTokens } = await import("@virtual-workspaces/framework");
    const middleware = virtualWorkspaces({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "v",
          path: "/",
          authorize: authenticated(),
          handle: (_req, res) => void res.end(),
        }),
      ],
      authentication: [staticTokens({ token: { name: "alice" } })],
      audit: audit({ policy: COMPLETE, to: (line) => void lines.push(line) }),
    });
    await middleware.started;
    const http = createServer((req, res) => middleware(req, res, () => void res.end()));
    http.maxHeadersCount = 0;
    await once(http.listen(0, "127.0.0.1"), "listening");
    const { port } = http.address() as AddressInfo;
    await (await fetch(`http://127.0.0.1:${port}/services/v/x`, { headers: { connection: "close" } })).text();
    http.close();
    await once(http, "close");
    await middleware[Symbol.asyncDispose]();
    expect(lines.map((line) => JSON.parse(line).responseStatus.code)).to.deep.equal([401]);
  });

  it("does not stop the server from closing while the sink is blocked", async () => {
    const server = await startAudited({ audit: { to: () => new Promise<void>(() => undefined) } });
    await (await server.ask(MEMOS)).text();
    await server.server.close();
    expectFault(/audit events lost.*"count":2,"error":"the target did not accept them before shutdown"/);
  });

  it("can be a stream, which it does not end", async () => {
    const stream = new PassThrough();
    {
      await using server = await startAudited({ audit: { to: stream } });
      await (await server.ask(MEMOS)).text();
    }
    expect(stream.writableEnded).to.equal(false);
    expect(String(stream.read()).trimEnd().split("\n")).to.have.lengthOf(2);
  });
});
