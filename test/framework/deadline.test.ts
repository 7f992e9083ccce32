// The deadline of a request, and responses that come too late.
import { setTimeout } from "node:timers/promises";
import {
  type Authenticator,
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { computed } from "../_support/cpu.ts";
import { Note } from "../_support/note.ts";
import { Wire } from "../_support/wire.ts";

const Tome = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Tome",
  scope: "Cluster",
  spec: { type: "object" },
});
const NOTES = "/services/notes/apis/test.dev/v1/notes";
const GOOD = ["Host: x", "Authorization: Bearer token"];
const object = { apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "a" }, spec: {} };

/** A storage that responds when the test releases it. */
async function start() {
  const asked: AbortSignal[] = [];
  const gate = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const slow = async <T>(signal: AbortSignal, value: T): Promise<T> => {
    asked.push(signal);
    await gate.promise;
    setImmediate(done.resolve);
    return value;
  };
  const storage: Storage = {
    get: (_scope, { name }, { signal }) => (name === "quick" ? object : slow(signal, object)),
    list: (_scope, { signal }) => slow(signal, { items: [object], resourceVersion: "1" }),
    create: () => object,
  };
  /** A list in two parts, the second when the test releases it. */
  const stream: Storage = {
    appliesSelectors: true,
    list: (_scope, { signal }) => {
      asked.push(signal);
      const body = (async function* () {
        yield Buffer.from('{"first":');
        await gate.promise;
        yield Buffer.from('"last"}');
      })();
      return { body };
    },
  };
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/",
    authorize: () => allow(),
    resources: [Note.serve(storage as Storage<never>), Tome.serve(stream as Storage<never>)],
  });
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ token: { name: "alice" } })],
    log: testLog().log,
    requestTimeout: 50,
  });
  const { port } = await server.listen({ port: 0 });
  return { asked, gate, done, wire: () => Wire.open(port), [Symbol.asyncDispose]: () => server.close() };
}

describe("the deadline of a request", () => {
  for (const path of [`${NOTES}/a`, NOTES]) {
    it(`gets 504, and a late response is dropped: ${path}`, async () => {
      await using server = await start();
      using wire = await server.wire();
      wire.request(`GET ${path} HTTP/1.1`, ...GOOD);
      const answer = await wire.answer();
      expect(JSON.parse(answer?.body ?? "")).to.deep.include({
        kind: "Status",
        reason: "Timeout",
        message: "Timeout: the request did not finish within 0.05 s",
        code: 504,
      });
      const [signal] = server.asked;
      expect(signal?.aborted).to.equal(true);
      expect(signal?.reason).to.have.property("code", 504);
      server.gate.resolve();
      await server.done.promise;
      // The late response has not damaged the connection, and nothing is logged.
      wire.request(`GET ${NOTES}/quick HTTP/1.1`, ...GOOD);
      expect(JSON.parse((await wire.answer())?.body ?? "")).to.deep.equal(object);
    });
  }

  it("gets 400 without delay when it is not a duration, however long the text", async () => {
    await using server = await start();
    using wire = await server.wire();
    const before = computed();
    wire.request(`GET ${NOTES}/quick?timeout=${"1".repeat(60_000)} HTTP/1.1`, ...GOOD);
    expect((await wire.answer())?.status).to.equal(400);
    expect(computed() - before).to.be.below(500);
  });

  it("applies to a slow body: the response is 504, and the connection closes after it", async () => {
    await using server = await start();
    using wire = await server.wire();
    wire.request(`POST ${NOTES} HTTP/1.1`, ...GOOD, "Content-Type: application/json", "Content-Length: 1000000");
    const trickle = setInterval(() => wire.send(" "), 5);
    try {
      const answer = await wire.answer();
      expect(answer?.status).to.equal(504);
      expect(answer?.headers).to.include({ connection: "close" });
      await wire.cut();
    } finally {
      clearInterval(trickle);
    }
  });

  it("applies to all hooks, and to watches until they start", async () => {
    const hang = (): Promise<never> => new Promise(() => undefined);
    const asks: Authenticator = {
      name: "asks",
      authenticate: ({ headers }) => (headers.authorization === "Bearer hangs" ? hang() : undefined),
    };
    const view = defineVirtualWorkspace({
      name: "hung",
      path: "/",
      authorize: hang,
      resources: [Note.serve(Note.collection())],
      upgrade: () => undefined,
    });
    await using server = createServer({
      virtualWorkspaces: [view],
      authentication: [asks, staticTokens({ token: { name: "alice" } })],
      impersonation: hang,
      log: testLog().log,
      requestTimeout: 100,
    });
    const { port } = await server.listen({ port: 0 });
    const upgrade = ["Connection: Upgrade", "Upgrade: test"];
    const notesPath = "/services/hung/apis/test.dev/v1/notes";
    const requests: readonly (readonly string[])[] = [
      [`GET ${notesPath}`, "Authorization: Bearer hangs"],
      ["GET /services/none", "Authorization: Bearer hangs"],
      [`GET ${notesPath}`, "Authorization: Bearer token", "Impersonate-User: bob"],
      [`GET ${notesPath}`, "Authorization: Bearer token"],
      [`GET ${notesPath}?watch=true`, "Authorization: Bearer token"],
      ["GET /services/hung/tunnel", "Authorization: Bearer token", ...upgrade],
      ["GET /services/hung/tunnel", "Authorization: Bearer hangs", ...upgrade],
    ];
    for (const [line = "", ...headers] of requests) {
      using wire = await Wire.open(port);
      wire.request(`${line} HTTP/1.1`, "Host: x", ...headers);
      const answer = await wire.answer();
      expect(answer?.status, line).to.equal(504);
      expect(JSON.parse(answer?.body ?? "")).to.include({ reason: "Timeout" });
    }
  });

  it("does not interrupt a response that has started", async () => {
    await using server = await start();
    using wire = await server.wire();
    wire.request("GET /services/notes/apis/test.dev/v1/tomes HTTP/1.1", ...GOOD);
    await wire.begun();
    await setTimeout(120); // more than twice the deadline
    expect(server.asked[0]?.aborted).to.equal(false);
    server.gate.resolve();
    expect(await wire.answer()).to.include({ status: 200, body: '{"first":"last"}' });
  });

  it("is at most what the client requests, and an invalid duration is reported in time", async () => {
    await using server = await start();
    using wire = await server.wire();
    for (const text of ["1h", "1.5h.5m1.s7ms", "-1ns", "+0", "0", ""]) {
      wire.request(`GET ${NOTES}/quick?timeout=${encodeURIComponent(text)} HTTP/1.1`, ...GOOD);
      expect((await wire.answer())?.status, text).to.equal(200);
    }
    const before = process.cpuUsage();
    for (const text of ["soon", "1", "1..5s", ".s", "1s ", `${"1".repeat(100_000)}x`, `${"1s".repeat(50_000)}x`]) {
      wire.request(`GET ${NOTES}/quick?timeout=${encodeURIComponent(text)} HTTP/1.1`, ...GOOD);
      const { status, body = "" } = (await wire.answer()) ?? {};
      expect([status, JSON.parse(body).reason]).to.deep.equal([400, "BadRequest"]);
      expect(JSON.parse(body).message).to.include("invalid timeout specified in the request URL - ");
      expect(body.length).to.be.below(400);
    }
    const { user } = process.cpuUsage(before);
    expect(user / 1000, "milliseconds").to.be.below(1000);
  });
});
