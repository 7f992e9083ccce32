// Thousands of streams whose clients do anything at any time: reset them, stop reading, send GOAWAY, cut the connection. Only
// those streams may end: no error, no leaked connection, no mixed-up response.
import type { ClientHttp2Stream } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { createServer, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Http2Client } from "../_support/http2.ts";
import { Note } from "../_support/note.ts";
import { Random } from "../_support/random.ts";

const servers = Authority.root("servers");
const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
const NOTES = "/services/notes/apis/test.dev/v1/notes";
const headers = { authorization: "Bearer token", "content-type": "application/json" };
const SESSIONS = 150;
const STREAMS = 60;

async function start() {
  const notes = Note.collection();
  for (let at = 0; at < 300; at++) notes.in("").set(`n${at}`, { text: "x".repeat(1000) });
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/",
    authorize: () => ({ allowed: true }),
    resources: [Note.serve(notes)],
    handle: async (req, res) => {
      for await (const piece of req) if (!res.write(piece)) await delay(1);
      res.end();
    },
  });
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ token: { name: "alice" } })],
    tls: keys,
    log: testLog().log,
    requestTimeout: 500,
    closeTimeout: 1000,
  });
  const { port } = await server.listen({ port: 0 });
  return { server, port, notes: notes.in("") };
}

function begin(client: Http2Client, random: Random, at: number): ClientHttp2Stream {
  const kind = random.pick(["get", "list", "watch", "stream", "create", "echo", "stranger", "delete"] as const);
  const body = JSON.stringify({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name: `m${at}` }, spec: {} });
  switch (kind) {
    case "get":
      return client.begin({ path: `${NOTES}/n1`, headers });
    case "list":
      return client.begin({ path: NOTES, headers });
    case "watch":
      return client.begin({ path: `${NOTES}?watch=true`, headers });
    case "stream":
      return client.begin({
        path: `${NOTES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        headers,
      });
    case "create":
      return client.begin({ method: "POST", path: NOTES, headers, body: random.pick([body, body.slice(0, 40)]) });
    case "echo":
      return client.begin({ method: "POST", path: "/services/notes/echo", headers });
    case "stranger":
      return client.begin({ method: "POST", path: NOTES });
    case "delete":
      return client.begin({ method: "DELETE", path: `${NOTES}/m${at - 9}`, headers, body: "" });
  }
}

/** Ends a stream in a random way, now or a little later. */
async function leave(stream: ClientHttp2Stream, random: Random): Promise<void> {
  const what = random.pick(["read", "read", "reset", "pause", "write", "end", "late"] as const);
  if (what === "read") stream.resume();
  if (what === "write" && stream.writable) stream.write("x".repeat(random.pick([1, 100_000])));
  if (what === "end") stream.resume().end();
  if (what === "late") await delay(random.pick([0, 1, 5, 20]));
  if (what === "reset" || what === "late") stream.close(random.pick([0, 2, 5, 8, 11]));
}

describe("thousands of HTTP/2 streams", () => {
  it("may end in any way, and leave the server intact", async function () {
    this.timeout(120_000);
    const { server, port, notes } = await start();
    const random = new Random(7);
    const ticking = setInterval(() => notes.set("tick", { text: String(Math.random()) }), 2);
    const session = async (at: number): Promise<void> => {
      using client = await Http2Client.open(port, { ca: servers.cert });
      for (let turn = 0; turn < STREAMS && !client.session.destroyed && !client.session.closed; turn++) {
        void leave(begin(client, random, at * STREAMS + turn), random);
        if (turn % 8 === 0) await delay(random.pick([0, 1, 3]));
      }
      const end = random.pick(["cut", "close", "goaway", "wait"] as const);
      if (end === "goaway" && !client.session.destroyed) client.session.goaway();
      if (end === "close" || end === "goaway") client.session.close();
      await delay(random.pick([0, 10, 50]));
    };
    for (let at = 0; at < SESSIONS; at += 10)
      await Promise.all(Array.from({ length: 10 }, (_, beside) => session(at + beside)));
    clearInterval(ticking);
    using client = await Http2Client.open(port, { ca: servers.cert });
    expect((await client.get(`${NOTES}/n1`, headers)).body).to.have.nested.property("metadata.name", "n1");
    expect(server.stats.sources).to.be.below(2);
    const began = performance.now();
    await server.close();
    expect(performance.now() - began).to.be.below(1500);
  });
});
