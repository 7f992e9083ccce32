// Raw handlers: their input, their failures, and upgraded connections.
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  deny,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { UNEXPECTED } from "../_support/internal.ts";
import { Note } from "../_support/note.ts";
import { until } from "../_support/until.ts";
import { Wire } from "../_support/wire.ts";

const GOOD = ["Host: x", "Authorization: Bearer token"];
const UPGRADE = ["Connection: Upgrade", "Upgrade: test"];
const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n";

type Handle = NonNullable<VirtualWorkspace["handle"]>;
type Upgrade = NonNullable<VirtualWorkspace["upgrade"]>;
type Hooks = { handle?: Handle; upgrade?: Upgrade } & Pick<Partial<VirtualWorkspace>, "resources" | "handleWhen">;

async function start(hooks: Hooks) {
  const { log, records } = testLog();
  const view = defineVirtualWorkspace({
    name: "raw",
    path: "/at/:place",
    authorize: ({ path, user }) => (path.startsWith("/forbidden") || user.name !== "alice" ? deny("not you") : allow()),
    ...hooks,
  });
  const authentication = [staticTokens({ token: { name: "alice" }, other: { name: "bob" } })];
  const server = createServer({ virtualWorkspaces: [view], authentication, log });
  const { port } = await server.listen({ port: 0 });
  const wire = (): Promise<Wire> => Wire.open(port);
  /** Returns the response to one request on a connection of its own. */
  const ask = async (target: string, ...lines: readonly string[]) => {
    using connection = await wire();
    connection.request(`GET /services/raw/at/here${target} HTTP/1.1`, ...(lines.length === 0 ? GOOD : lines));
    return await connection.answer();
  };
  return { server, records, wire, ask, [Symbol.asyncDispose]: () => server.close() };
}

function statusOf(answer: { status: number; body: string } | undefined): Record<string, unknown> {
  const body = JSON.parse(answer?.body ?? "");
  expect(body).to.include({ kind: "Status", apiVersion: "v1", status: "Failure", code: answer?.status });
  return body;
}

describe("a raw handler", () => {
  it("receives prefix, tail and query byte for byte", async () => {
    const seen: unknown[] = [];
    await using server = await start({
      handle: (req, res, { prefix, tail, search, params, user, requestId }) => {
        seen.push([prefix, tail, search, params, user.name, requestId === res.getHeader("audit-id"), req.url]);
        res.end();
      },
    });
    const targets = [
      ["", ""],
      ["/", ""],
      ["/a%2Fb/%C3%A9//c%252f;x=y,z/", "?q=%20+&&q"],
      ["/~'()*!$&+=:@|^{}\\", "?a?#f"],
      ["/...", "?"],
    ] as const;
    for (const [tail, search] of targets) {
      await server.ask(tail + search);
      const prefix = "/services/raw/at/here";
      const params = { place: "here" };
      expect(seen.pop()).to.deep.equal([prefix, tail, search, params, "alice", true, prefix + tail + search]);
    }
  });

  it("receives all that handleWhen selects: discovery, objects and reviews, for which the rule is then called", async () => {
    const asked: string[] = [];
    await using server = await start({
      resources: [Note.serve(Note.collection())],
      upgrade: () => {
        throw new Error("nobody asked for one");
      },
      handleWhen: ({ isResource, resource, params: { place } }) =>
        place === "here" && !(isResource && resource === "notes"),
      handle: (req, res) => {
        asked.push(`${req.method} ${req.url}`);
        res.end("mine");
      },
    });
    const review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    for (const path of ["", "/api", "/apis", "/openapi/v3", "/version", review, "/apis/test.dev/v1/others"])
      expect((await server.ask(path))?.body, path).to.equal("mine");
    expect(asked).to.have.length(7);
    expect(statusOf(await server.ask(review, "Host: x", "Authorization: Bearer other"))).to.include({ code: 403 });
    const notes = await server.ask("/apis/test.dev/v1/notes");
    expect(JSON.parse(notes?.body ?? "")).to.include({ kind: "NoteList" });
    for (const path of ["/apis/test.dev/v1/notes/a/b", "/apis/test.dev/v1/notes/a"])
      expect(statusOf(await server.ask(path)).code, path).to.equal(404);
    expect(statusOf(await server.ask("/apis/test.dev/v1/notes/a/log", ...GOOD, ...UPGRADE)).code).to.equal(400);
    expect(() =>
      defineVirtualWorkspace({ name: "v", path: "/", authorize: () => allow(), resources: [], handleWhen: () => true }),
    ).to.throw("set handle");
  });

  it("receives all that resources do not serve, in any method, with unread bodies", async () => {
    await using server = await start({
      resources: [Note.serve(Note.collection())],
      handle: async (req, res) => {
        let body = "";
        for await (const piece of req) body += piece;
        res.end(`${req.method} ${body}`);
      },
    });
    expect(JSON.parse((await server.ask("/apis/test.dev/v1/notes"))?.body ?? "")).to.include({ kind: "NoteList" });
    expect((await server.ask("/apis/test.dev/v1/others"))?.body).to.equal("GET ");
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
      using wire = await server.wire();
      wire.request(`${method} /services/raw/at/here/x HTTP/1.1`, ...GOOD, "Content-Length: 4");
      wire.send("body");
      expect((await wire.answer(method))?.body).to.equal(`${method} body`);
    }
  });

  it("is not called without authentication and authorization", async () => {
    await using server = await start({ handle: () => expect.fail("asked") });
    expect(statusOf(await server.ask("/x", "Host: x"))).to.include({ code: 401 });
    expect(statusOf(await server.ask("/forbidden"))).to.include({ code: 403 });
    expect(statusOf(await server.ask("/x", "Host: x", "Authorization: Bearer other"))).to.include({ code: 403 });
  });

  it("is answered with a Status when it throws before its response: an ApiError unchanged, anything else as 500 without its message", async () => {
    const handle: Handle = (_req, _res, { tail }) => {
      if (tail === "/teapot") throw ApiError.conflict({ group: "g", resource: "pots" }, "tea", "it is short and stout");
      if (tail === "/sync") throw new Error("secret text");
      return Promise.reject(tail === "/odd" ? "secret text" : new Error("secret text"));
    };
    await using server = await start({ handle });
    expect(statusOf(await server.ask("/teapot"))).to.include({ code: 409, reason: "Conflict" });
    for (const tail of ["/sync", "/async", "/odd"]) {
      const answer = await server.ask(tail);
      expect(statusOf(answer)).to.include({ code: 500, reason: "InternalError" });
      expect(statusOf(answer).message).to.match(UNEXPECTED).and.include(answer?.headers["audit-id"]);
      expect(answer?.body).not.to.include("secret");
      expectFault(/request failed .*secret text/);
    }
  });

  it("loses the connection when it throws within its response", async () => {
    await using server = await start({
      handle: async (_req, res, { tail }) => {
        res.writeHead(200, tail === "/sized" ? { "Content-Length": 100 } : {}).write("half");
        throw new Error("half way");
      },
    });
    for (const tail of ["/sized", "/chunked"]) {
      let error: unknown;
      await server.ask(tail).catch((caught: unknown) => (error = caught));
      expect(error)
        .to.be.an("error")
        .with.property("message")
        .that.matches(/ended after|truncated/);
      expectFault(/request failed .*half way/);
    }
  });

  it("has its exceptions after the response logged", async () => {
    await using server = await start({
      handle: async (_req, res) => {
        res.end("whole");
        await once(res, "close");
        throw new Error("too late");
      },
    });
    expect((await server.ask("/x"))?.body).to.equal("whole");
    expectFault(/request failed .*too late/);
  });

  it("cannot change its response by throwing before it is sent", async () => {
    const body = "x".repeat(8 * 2 ** 20);
    await using server = await start({
      handle: (_req, res) => {
        res.end(body);
        throw new Error("too soon");
      },
    });
    expect((await server.ask("/x"))?.body.length).to.equal(body.length);
    expectFault(/request failed .*too soon/);
  });

  it("is notified when the client disconnects, and may throw then", async () => {
    const left = Promise.withResolvers<void>();
    await using server = await start({
      handle: async (_req, _res, { signal }) => {
        await once(signal, "abort");
        left.resolve();
        throw new Error("gone");
      },
    });
    using wire = await server.wire();
    wire.request("GET /services/raw/at/here/x HTTP/1.1", ...GOOD);
    await new Promise<void>((resolve) => wire.socket.write("", () => resolve()));
    wire.socket.destroy();
    await left.promise;
  });
});

describe("an upgrade", () => {
  const echo: Upgrade = (_req, socket, { head }) => {
    socket.write(SWITCHED);
    socket.write(head);
    socket.pipe(socket);
  };

  it("hands over the connection, with the bytes that followed the request", async () => {
    await using server = await start({ upgrade: echo });
    using wire = await server.wire();
    wire.send(`GET /services/raw/at/here/x HTTP/1.1\r\n${[...GOOD, ...UPGRADE].join("\r\n")}\r\n\r\nearly `);
    wire.send("late");
    expect((await wire.read(SWITCHED.length + 10)).toString()).to.equal(`${SWITCHED}early late`);
    wire.socket.end();
    expect(await wire.end()).to.equal("end");
  });

  it("gives its handler the same as a raw handler, without credentials", async () => {
    const seen = Promise.withResolvers<unknown>();
    await using server = await start({
      upgrade: (req, socket, { prefix, tail, search, params, user, signal }) => {
        const { headers, rawHeaders } = req;
        seen.resolve([prefix, tail, search, params, user.name, headers.authorization, rawHeaders.join()]);
        socket.end(SWITCHED);
        expect(signal.aborted).to.equal(false);
      },
    });
    await server.ask("/a%2Fb?c", ...GOOD, ...UPGRADE).catch(() => undefined);
    expect(await seen.promise).to.deep.equal([
      "/services/raw/at/here",
      "/a%2Fb",
      "?c",
      { place: "here" },
      "alice",
      undefined,
      "Host,x,Connection,Upgrade,Upgrade,test",
    ]);
  });

  it("gives its handler a signal that aborts when the connection ends", async () => {
    const aborted = Promise.withResolvers<void>();
    await using server = await start({
      upgrade: (_req, socket, { signal }) => {
        socket.end(SWITCHED);
        signal.addEventListener("abort", () => aborted.resolve());
      },
    });
    using wire = await server.wire();
    wire.request("GET /services/raw/at/here/x HTTP/1.1", ...GOOD, ...UPGRADE);
    await wire.read(SWITCHED.length);
    wire.socket.end();
    await aborted.promise;
  });

  const refusals: Record<string, readonly [number, string, ...string[]]> = {
    "without credentials": [401, "/x", "Host: x", ...UPGRADE],
    "of a denied user": [403, "/x", "Host: x", "Authorization: Bearer other", ...UPGRADE],
    "that is forbidden": [403, "/forbidden", ...GOOD, ...UPGRADE],
    "with a malformed path": [400, "/..", ...GOOD, ...UPGRADE],
    "without a Host": [400, "/x", "Authorization: Bearer token", ...UPGRADE],
  };
  for (const [what, [code, target, ...lines]] of Object.entries(refusals)) {
    it(`is rejected with a Status, and the connection ends: one ${what}`, async () => {
      await using server = await start({ upgrade: () => expect.fail("asked") });
      using wire = await server.wire();
      wire.request(`GET /services/raw/at/here${target} HTTP/1.1`, ...lines);
      const answer = await wire.answer();
      expect(statusOf(answer)).to.include({ code });
      expect(answer?.headers).to.include({ connection: "close" });
      expect(await wire.answer()).to.equal(undefined);
    });
  }

  it("is rejected by a view without upgrades, whatever else it serves", async () => {
    await using server = await start({ handle: () => expect.fail("asked") });
    const answer = await server.ask("/x", ...GOOD, ...UPGRADE);
    expect(statusOf(answer)).to.include({
      code: 400,
      message: "virtual workspace raw does not take upgrades: remove the Upgrade header",
    });
  });

  const offer = (protocol: string) => [
    ...GOOD,
    `Upgrade: ${protocol}`,
    "HTTP2-Settings: AAMAAABkAAQAAP__",
    "Connection: Upgrade, HTTP2-Settings",
  ];

  it("to HTTP/2 is ignored, and the request is served normally, with its body", async () => {
    await using server = await start({
      handle: async (req, res) => void res.end(await text(req)),
      upgrade: () => expect.fail("asked"),
    });
    server.server.app.get("/own", (_req, res) => void res.send("own"));
    for (const protocol of ["h2c", "H2C", "h2c, h2c"]) {
      using wire = await server.wire();
      wire.request("POST /services/raw/at/here/x HTTP/1.1", ...offer(protocol), "Content-Length: 4");
      wire.send("body");
      const answer = await wire.answer();
      expect(answer).to.include({ status: 200, body: "body" });
      expect(answer?.headers).to.include({ connection: "close" });
      expect(await wire.end()).to.equal("end");
    }
    expect(await server.ask("/x", ...offer("h2c"))).to.include({ status: 200, body: "" });
    for (const [path, body] of [
      ["/livez", "ok"],
      ["/own", "own"],
    ]) {
      using wire = await server.wire();
      wire.request(`GET ${path} HTTP/1.1`, ...offer("h2c"));
      expect(await wire.answer()).to.include({ status: 200, body });
    }
  });

  it("without an upgrade token in Connection is ignored: the connection stays open", async () => {
    await using server = await start({ handle: (_req, res) => void res.end("x") });
    using wire = await server.wire();
    for (let at = 0; at < 2; at++) {
      wire.request("GET /services/raw/at/here/x HTTP/1.1", ...GOOD, "Upgrade: h2c");
      expect(await wire.answer()).to.include({ status: 200, body: "x" });
    }
  });

  it("to HTTP/2 is the last request of its connection, since Node loses a part of what follows", async () => {
    const asked: string[] = [];
    const gate = Promise.withResolvers<void>();
    await using server = await start({
      handle: async (_req, res, { tail }) => {
        asked.push(tail);
        await gate.promise;
        res.end(tail);
      },
    });
    using wire = await server.wire();
    const [first, hidden] = ["/1", "/2"].map((tail) => `POST /services/raw/at/here${tail} HTTP/1.1`);
    const plain = [hidden, ...GOOD, "Content-Length: 0", "", ""].join("\r\n");
    wire.send(`${[first, ...offer("h2c"), "Content-Length: 1", "", ""].join("\r\n")}xPOST /lost HTTP/1.1\r\nX: `);
    await until(() => asked.length !== 0);
    wire.send(plain);
    using other = await server.wire();
    other.request("GET /livez HTTP/1.1", "Host: x");
    await other.answer();
    gate.resolve();
    expect(await wire.answer()).to.include({ status: 200, body: "/1" });
    expect(await wire.rest()).to.equal("");
    expect(asked).to.deep.equal(["/1"]);
  });

  it("is answered with a Status when its handler throws before it writes", async () => {
    const upgrade: Upgrade = async (_req, _socket, { tail }) => {
      throw tail === "/known" ? ApiError.serviceUnavailable("the tunnel is down", 3) : new Error("secret text");
    };
    await using server = await start({ upgrade });
    const known = await server.ask("/known", ...GOOD, ...UPGRADE);
    expect(statusOf(known)).to.include({ code: 503, message: "the tunnel is down" });
    expect(known?.headers).to.include({ "retry-after": "3", connection: "close" });
    expect(statusOf(await server.ask("/x", ...GOOD, ...UPGRADE)).message).to.match(UNEXPECTED);
    expectFault(/request failed .*secret text/);
  });

  it("loses its connection when its handler throws later", async () => {
    await using server = await start({
      upgrade: async (_req, socket) => {
        socket.write(SWITCHED);
        throw new Error("half way");
      },
    });
    using wire = await server.wire();
    wire.request("GET /services/raw/at/here/x HTTP/1.1", ...GOOD, ...UPGRADE);
    await wire.read(SWITCHED.length);
    expect(await wire.rest()).to.equal("");
    expectFault(/request failed .*half way/);
  });

  it("may be reset by the client without an error", async () => {
    const over = Promise.withResolvers<void>();
    await using server = await start({
      upgrade: (_req, socket, { signal }) => {
        signal.addEventListener("abort", () => over.resolve());
        socket.write(SWITCHED);
      },
    });
    using wire = await server.wire();
    wire.request("GET /services/raw/at/here/x HTTP/1.1", ...GOOD, ...UPGRADE);
    await wire.read(SWITCHED.length);
    wire.socket.resetAndDestroy();
    await over.promise;
  });
});
