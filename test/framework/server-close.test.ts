// Graceful shutdown: requests in progress finish, hanging ones are cut off, and nothing blocks the end.
import { once } from "node:events";
import { connect } from "node:net";
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  type RawRequest,
  type ServerOptions,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Note } from "../_support/note.ts";
import { Wire } from "../_support/wire.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const GOOD = ["Host: x", "Authorization: Bearer token"];
const UPGRADE = ["Connection: Upgrade", "Upgrade: test"];
const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n";
const BIG = "x".repeat(32 * 2 ** 20);

/** Starts a server with a view of notes, and one whose raw handlers wait for the test. */
async function start(options: Partial<ServerOptions> = {}) {
  const notes = Note.collection();
  notes.in("root").set("a", {});
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<RawRequest<unknown>>();
  const raw = defineVirtualWorkspace({
    name: "raw",
    path: "/",
    authorize: () => allow(),
    handle: async (_req, res, request) => {
      entered.resolve(request);
      if (request.tail === "/big") res.end(BIG);
      else if (request.tail === "/begun") res.writeHead(200).write("begun");
      else await gate.promise;
      if (request.tail === "/wait") res.end("done");
    },
    upgrade: (_req, socket, request) => {
      socket.write(SWITCHED);
      socket.pipe(socket);
      entered.resolve(request);
    },
  });
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Note.serve(notes)],
  });
  const server = createServer({
    virtualWorkspaces: [raw, view],
    authentication: [staticTokens({ token: { name: "alice" } })],
    log: testLog().log,
    ...options,
  });
  const { port } = await server.listen({ port: 0 });
  /** @returns the duration in ms */
  const close = async (): Promise<number> => {
    const began = performance.now();
    await server.close();
    return performance.now() - began;
  };
  const open = (): Promise<Wire> => Wire.open(port);
  /** Returns a connection that reports when the server has read all bytes sent before, also on other connections. */
  const echo = async () => {
    const wire = await open();
    wire.request("GET /services/raw/echo HTTP/1.1", ...GOOD, ...UPGRADE);
    await wire.read(SWITCHED.length);
    const turn = async (): Promise<void> => {
      wire.send("ping");
      expect((await wire.read(4)).toString()).to.equal("ping");
    };
    return { turn, close: () => wire.socket.destroy(), [Symbol.dispose]: () => wire[Symbol.dispose]() };
  };
  return {
    server,
    port,
    open,
    close,
    echo,
    gate,
    entered: entered.promise,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

describe("closing a server", () => {
  it("ends idle connections at once, and accepts no new ones", async () => {
    const server = await start();
    using used = await server.open();
    used.request("GET /livez HTTP/1.1", ...GOOD);
    await used.answer();
    using fresh = await server.open();
    expect(await server.close()).to.be.below(1000);
    expect(await used.end()).to.equal("end");
    expect(await fresh.end()).to.equal("end");
    const late = connect(server.port, "127.0.0.1");
    const [error] = await once(late, "error");
    expect(error).to.have.property("code", "ECONNREFUSED");
  });

  it("keeps serving for closeDelay, and fails /readyz meanwhile", async () => {
    const closeDelay = 300;
    const server = await start({ closeDelay });
    using wire = await server.open();
    const closing = server.close();
    wire.request("GET /readyz?verbose HTTP/1.1", ...GOOD);
    const probe = await wire.answer();
    expect([probe?.status, probe?.body]).to.deep.equal([
      503,
      "[-]shutdown failed: reason withheld\n[+]raw ok\n[+]notes ok\nreadyz check failed\n",
    ]);
    using late = await server.open();
    late.request(`GET ${NOTES} HTTP/1.1`, ...GOOD);
    expect((await late.answer())?.status).to.equal(200);
    expect(await closing).to.be.above(closeDelay - 5);
    expect(await late.end()).to.equal("end");
  });

  it("lets a request in progress finish, and rejects the one that follows it", async () => {
    const server = await start();
    using wire = await server.open();
    wire.request("GET /services/raw/wait HTTP/1.1", ...GOOD);
    await server.entered;
    using echo = await server.echo();
    const closing = server.close();
    wire.request(`GET ${NOTES} HTTP/1.1`, ...GOOD);
    await echo.turn();
    server.gate.resolve();
    expect(await wire.answer()).to.include({ status: 200, body: "done" });
    const refused = await wire.answer();
    expect(refused).to.have.property("status", 503);
    expect(refused?.headers).to.include({ "retry-after": "1", connection: "close" });
    expect(JSON.parse(refused?.body ?? "")).to.deep.include({
      kind: "Status",
      reason: "ServiceUnavailable",
      message: "the server is shutting down; try again",
    });
    expect(await wire.answer()).to.equal(undefined);
    echo.close();
    expect(await closing).to.be.below(1000);
  });

  it("is visible to probes", async () => {
    const server = await start();
    using wire = await server.open();
    wire.request("GET /services/raw/wait HTTP/1.1", ...GOOD);
    await server.entered;
    using echo = await server.echo();
    const closing = server.close();
    wire.request("GET /livez HTTP/1.1", ...GOOD);
    wire.request("GET /readyz HTTP/1.1", ...GOOD);
    await echo.turn();
    server.gate.resolve();
    await wire.answer();
    expect(await wire.answer()).to.include({ status: 200, body: "ok" });
    const ready = await wire.answer();
    expect(ready?.body).to.equal("[-]shutdown failed: reason withheld\n[+]raw ok\n[+]notes ok\nreadyz check failed\n");
    echo.close();
    await closing;
  });

  it("sends all written data to slow readers", async () => {
    const server = await start();
    using wire = await server.open();
    wire.socket.pause();
    wire.request("GET /services/raw/big HTTP/1.1", ...GOOD);
    await server.entered;
    const closing = server.close();
    wire.socket.resume();
    expect((await wire.answer())?.body.length).to.equal(BIG.length);
    await closing;
  });

  it("ends watches cleanly, wherever they are", async () => {
    const server = await start();
    const version = async (): Promise<string> => {
      using wire = await server.open();
      wire.request(`GET ${NOTES} HTTP/1.1`, ...GOOD);
      return JSON.parse((await wire.answer())?.body ?? "").metadata.resourceVersion;
    };
    const from = await version();
    const queries = ["watch=true", "watch=true&allowWatchBookmarks=true", `watch=true&resourceVersion=${from}`];
    const wires = await Promise.all(
      queries.map(async (query) => {
        const wire = await server.open();
        wire.request(`GET ${NOTES}?${query} HTTP/1.1`, ...GOOD);
        expect((await wire.read(15)).toString()).to.equal("HTTP/1.1 200 OK");
        return wire;
      }),
    );
    const closing = server.close();
    for (const wire of wires) {
      expect(await wire.rest()).to.match(/\r\n0\r\n\r\n$/);
      wire.socket.destroy();
    }
    expect(await closing).to.be.below(1000);
  });

  describe("with a slow source", () => {
    /** Returns a source with its own versions, whose list waits for the test. */
    function slowSource() {
      const listed = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      const storage: Storage = {
        shareKey: () => "all",
        list: async () => {
          asked.resolve();
          await listed.promise;
          return { items: [], resourceVersion: "5" };
        },
        // biome-ignore lint/correctness/useYield: it has nothing to tell
        async *changes(_scope, _after, { signal }) {
          await once(signal, "abort");
        },
      };
      const view = defineVirtualWorkspace({
        name: "slow",
        path: "/",
        authorize: () => allow(),
        resources: [Note.serve(storage as Storage<never>)],
      });
      return { listed, asked: asked.promise, view };
    }
    const PATH = "/services/slow/apis/test.dev/v1/notes";

    it("ends a watch that waits for a future version", async () => {
      const { listed, view } = slowSource();
      listed.resolve();
      const server = await start({ virtualWorkspaces: [view] });
      using wire = await server.open();
      wire.request(`GET ${PATH}?watch=true&resourceVersion=900 HTTP/1.1`, ...GOOD);
      await wire.read(15);
      expect(await server.close()).to.be.below(1000);
      expect(await wire.rest()).to.match(/\r\n0\r\n\r\n$/);
    });

    it("lets that watch time out too", async () => {
      const { listed, view } = slowSource();
      listed.resolve();
      await using server = await start({ virtualWorkspaces: [view] });
      using wire = await server.open();
      wire.request(`GET ${PATH}?watch=true&resourceVersion=900&timeoutSeconds=1 HTTP/1.1`, ...GOOD);
      expect(await wire.answer()).to.include({ status: 200, body: "" });
    });

    it("ends a watch that was requested before and opens only now", async () => {
      const { listed, asked, view } = slowSource();
      const server = await start({ virtualWorkspaces: [view] });
      using wire = await server.open();
      wire.request(`GET ${PATH}?watch=true HTTP/1.1`, ...GOOD);
      await asked;
      const closing = server.close();
      listed.resolve();
      expect(await wire.answer()).to.include({ status: 200, body: "" });
      expect(await closing).to.be.below(1000);
    });
  });

  it("cuts off hanging requests after closeTimeout, and notifies their handlers", async () => {
    const server = await start({ closeTimeout: 200 });
    using wire = await server.open();
    wire.request("GET /services/raw/hang HTTP/1.1", ...GOOD);
    const { signal } = await server.entered;
    expect(signal.aborted).to.equal(false);
    expect(await server.close()).to.be.within(190, 1000);
    expect(await wire.answer()).to.equal(undefined);
    expect(signal.aborted).to.equal(true);
  });

  it("cuts off a response that does not end, so that the client detects that it is incomplete", async () => {
    const server = await start({ closeTimeout: 100 });
    using wire = await server.open();
    wire.request("GET /services/raw/begun HTTP/1.1", ...GOOD);
    await server.entered;
    await wire.read(15);
    await server.close();
    expect(await wire.rest()).to.match(/begun\r\n$/);
  });

  it("cuts off upgraded connections after closeTimeout, and aborts their signal", async () => {
    const server = await start({ closeTimeout: 200 });
    using wire = await server.open();
    wire.request("GET /services/raw/echo HTTP/1.1", ...GOOD, ...UPGRADE);
    const { signal } = await server.entered;
    await wire.read(SWITCHED.length);
    const closing = server.close();
    wire.send("ping");
    expect((await wire.read(4)).toString()).to.equal("ping");
    expect(signal.aborted).to.equal(false);
    expect(await closing).to.be.within(190, 1000);
    await wire.end();
    expect(signal.aborted).to.equal(true);
  });

  it("does not wait for a request that is still being sent, nor for the reader of an error", async () => {
    const server = await start();
    using half = await server.open();
    half.send("GET /livez HTTP/1.1\r\nHost:");
    using refused = await server.open();
    refused.request("CONNECT a:1 HTTP/1.1", ...GOOD);
    expect((await refused.answer())?.status).to.equal(405);
    expect(await server.close()).to.be.below(1000);
  });

  it("does not wait for TLS handshakes, nor for idle TLS connections", async () => {
    const servers = Authority.root("servers");
    const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
    const server = await start({ tls: keys });
    using silent = await server.open();
    using idle = await Wire.open(server.port, { tls: { ca: servers.cert } });
    idle.request("GET /livez HTTP/1.1", ...GOOD);
    expect((await idle.answer())?.body).to.equal("ok");
    expect(await server.close()).to.be.below(1000);
    await silent.end();
    await idle.end();
  });

  it("can be called twice, and before the server listens", async () => {
    const server = await start();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    const never = createServer({ virtualWorkspaces: [], authentication: [] });
    await never.close();
  });

  it("leaves the views running after a drain, until it is closed", async () => {
    const closed: string[] = [];
    const view = defineVirtualWorkspace({
      name: "running",
      path: "/",
      authorize: () => allow(),
      handle: async (_req, res) => void res.end("done"),
      setup: () => ({ [Symbol.dispose]: () => void closed.push("view") }),
    });
    const { server, open } = await start({ virtualWorkspaces: [view] });
    await server.drain();
    expect(await open().catch(({ code }) => code)).to.equal("ECONNREFUSED");
    expect(closed).to.deep.equal([]);
    await server.close();
    expect(closed).to.deep.equal(["view"]);
  });
});
