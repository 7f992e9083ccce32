// HTTP/2: negotiated in the handshake, with the same handling as HTTP/1.1: requests of views, bodies, rejections, upgrades.
import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  type ServerOptions,
  staticTokens,
} from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Http2Client } from "../_support/http2.ts";
import { Note } from "../_support/note.ts";
import { whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const servers = Authority.root("servers");
const clients = Authority.root("clients");
const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
const ALICE = { authorization: "Bearer token" };
const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

async function start(options: Partial<ServerOptions> = {}) {
  const notes = Note.collection();
  notes.in("root").set("a", {});
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Note.serve(notes)],
  });
  const server = createServer({
    virtualWorkspaces: [whoami(), view],
    authentication: [clientCertificates({ ca: clients.cert }), staticTokens({ token: { name: "alice" } })],
    tls: keys,
    log: testLog().log,
    ...options,
  });
  const { port } = await server.listen({ port: 0 });
  return {
    server,
    port,
    notes: notes.in("root"),
    open: (identity = {}) => Http2Client.open(port, { ca: servers.cert, ...identity }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Returns the protocol that a server selects; an error's code when it selects none. */
async function chosen(port: number, ALPNProtocols?: string[]): Promise<unknown> {
  const socket = connectTls({ port, host: "127.0.0.1", ca: servers.cert, ...(ALPNProtocols && { ALPNProtocols }) });
  try {
    await once(socket, "secureConnect");
    return socket.alpnProtocol;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
  }
}

describe("HTTP/2", () => {
  it("accepts only methods of HTTP, spelt exactly", async () => {
    await using server = await start();
    using client = await server.open();
    for (const method of ["constructor", "toString", "__proto__", "gEt", "get", "CONNECTED"]) {
      for (const path of [`${NOTES}/a`, "/services/who/", "/livez", "/x"]) {
        const { status, body } = await client.ask({ method, path, headers: ALICE, body: "" });
        expect([status, body.kind], `${method} ${path}`).to.deep.equal([405, "Status"]);
      }
    }
    expect((await client.get("/livez")).status).to.equal(200);
  });

  it("is preferred where a client offers it, and optional for others", async () => {
    await using server = await start();
    expect(await chosen(server.port, ["http/1.1", "h2"])).to.equal("h2");
    expect(await chosen(server.port, ["http/1.1"])).to.equal("http/1.1");
    expect(await chosen(server.port)).to.equal(false);
    expect(await chosen(server.port, ["spdy/3"])).to.equal("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
  });

  it("is no longer offered once there is an application, and its clients reconnect", async () => {
    await using server = await start();
    using client = await server.open();
    const watch = client.begin({ path: `${NOTES}?watch=true`, headers: ALICE });
    await once(watch, "response");
    server.server.app.get("/mine", (_req, res) => void res.send("mine"));
    await once(client.session, "goaway");
    expect(client.goaways).to.deep.equal([0]);
    // Requests under way complete.
    server.notes.set("b", {});
    await once(watch, "data");
    watch.close();
    await client.closed;
    expect(await chosen(server.port, ["h2", "http/1.1"])).to.equal("http/1.1");
    using wire = await Wire.open(server.port, { tls: { ca: servers.cert } });
    wire.request("GET /mine HTTP/1.1", "Host: x");
    expect((await wire.answer())?.body).to.equal("mine");
  });

  it("is not offered where the application was there first", async () => {
    const server = createServer({ virtualWorkspaces: [], authentication: [], tls: keys, log: testLog().log });
    await using closing = server;
    expect(server.app).to.be.a("function");
    const { port } = await closing.listen({ port: 0 });
    expect(await chosen(port, ["h2", "http/1.1"])).to.equal("http/1.1");
  });

  it("has requests look like HTTP/1.1: no pseudo headers, a host, and every line", async () => {
    await using server = await start();
    using client = await server.open();
    const headers = { ...ALICE, "x-text": ["a", "b"], cookie: ["c=1", "d=2"] };
    const { body } = await client.get("/services/who/x%20y?q", headers);
    const host = `127.0.0.1:${server.port}`;
    expect(body).to.include({ name: "alice", tail: "/x%20y", search: "?q" });
    expect(body.headers).to.deep.equal([
      { host, "x-text": "a, b", cookie: "c=1; d=2" },
      { host: [host], "x-text": ["a", "b"], cookie: ["c=1", "d=2"] },
      ["host", host, "x-text", "a", "x-text", "b", "cookie", "c=1", "cookie", "d=2"],
    ]);
  });

  it("authenticates users by certificates, once per connection, and by tokens", async () => {
    await using server = await start();
    using zoe = await server.open(clients.issue({ name: "Zoë", organizations: ["g"] }));
    using stranger = await server.open();
    for (let turn = 0; turn < 3; turn++) {
      expect((await zoe.get("/services/who/")).body).to.include({ name: "Zoë" });
      expect((await stranger.get("/services/who/")).status).to.equal(401);
      expect((await stranger.get("/services/who/", ALICE)).body).to.include({ name: "alice" });
    }
  });

  it("serves reads, writes and watches", async () => {
    await using server = await start();
    using client = await server.open();
    const watch = client.begin({ path: `${NOTES}?watch=true&resourceVersion=0`, headers: ALICE });
    const events = watch.setEncoding("utf8")[Symbol.asyncIterator]();
    expect((await events.next()).value).to.include('"ADDED"');
    const note = {
      apiVersion: "test.dev/v1",
      kind: "Note",
      metadata: { name: "b" },
      spec: { text: "x".repeat(300_000) },
    };
    const headers = { ...ALICE, "content-type": "application/json" };
    const made = await client.ask({ method: "POST", path: NOTES, headers, body: JSON.stringify(note) });
    expect(made.status, made.text).to.equal(201);
    expect((await events.next()).value).to.include('"ADDED"');
    expect((await client.get(NOTES, ALICE)).body.items).to.have.length(2);
    expect((await client.ask({ method: "HEAD", path: "/livez", body: "" })).status).to.equal(200);
    // Options in a body without a stated length count, too.
    const remove = { method: "DELETE", path: `${NOTES}/b`, headers };
    const dry = JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] });
    expect((await client.ask({ ...remove, body: dry })).body).to.include({ status: "Success" });
    expect((await client.get(`${NOTES}/b`, ALICE)).status).to.equal(200);
    expect((await client.ask({ ...remove, body: "" })).body).to.include({ status: "Success" });
    expect((await client.get(`${NOTES}/b`, ALICE)).status).to.equal(404);
  });

  it("rejects with a Status: CONNECT, unknown expectations, bodies that are too long", async () => {
    await using server = await start();
    using client = await server.open();
    const tunnel = client.session.request({ ":method": "CONNECT", ":authority": "a:1" });
    const [connected] = await once(tunnel, "response");
    expect(connected[":status"]).to.equal(405);
    expect((await client.get(NOTES, { ...ALICE, expect: "magic" })).status).to.equal(417);
    const long = { method: "POST", path: NOTES, headers: { ...ALICE, "content-type": "application/json" } };
    const body = JSON.stringify({ pad: "x".repeat(4 * 2 ** 20) });
    expect((await client.ask({ ...long, body })).body).to.include({ code: 413 });
    expect((await client.get("/livez")).text).to.equal("ok");
  });

  it("requests a body that the client holds back, unless it rejects the request", async () => {
    await using server = await start();
    using client = await server.open();
    const refused = client.begin({ method: "POST", path: NOTES, headers: { expect: "100-continue" } });
    refused.on("continue", () => expect.fail("asked for"));
    expect((await once(refused, "response"))[0][":status"]).to.equal(401);
    await once(refused.resume(), "close");
    expect(refused.rstCode).to.equal(0);
    const headers = { ...ALICE, "content-type": "application/json", expect: "100-continue" };
    const stream = client.begin({ method: "POST", path: NOTES, headers });
    await once(stream, "continue");
    stream.end(JSON.stringify({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "c" }, spec: {} }));
    const [answer] = await once(stream, "response");
    expect(answer[":status"]).to.equal(201);
  });

  it("leaves upgrades to HTTP/1.1 connections beside it", async () => {
    const echo = defineVirtualWorkspace({
      name: "echo",
      path: "/",
      authorize: () => allow(),
      upgrade: (_req, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
        socket.pipe(socket);
      },
    });
    await using server = await start({ virtualWorkspaces: [echo] });
    using client = await server.open();
    expect(client.session.remoteSettings.enableConnectProtocol).to.not.equal(true);
    using wire = await Wire.open(server.port, { tls: { ca: servers.cert, ALPNProtocols: ["http/1.1"] } });
    wire.request(
      "GET /services/echo HTTP/1.1",
      "Host: x",
      "Authorization: Bearer token",
      "Connection: Upgrade",
      "Upgrade: test",
    );
    expect((await wire.answer())?.status).to.equal(101);
    wire.send("ping");
    expect((await wire.read(4)).toString()).to.equal("ping");
  });
});
