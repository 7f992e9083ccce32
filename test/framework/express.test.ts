// Views in an existing application, and an application beside the views.
import { execFile } from "node:child_process";
import { once } from "node:events";
import {
  createServer as createHttp,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";

import { connect as connectHttp2, createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { Transform } from "node:stream";
import { promisify } from "node:util";
import { createGzip, type Gzip } from "node:zlib";
import { allow, createServer, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import {
  type CoreOptions,
  type VirtualWorkspacesMiddleware,
  virtualWorkspaces,
} from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import express from "express";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";
import { until } from "../_support/until.ts";
import { Wire, type WireAnswer } from "../_support/wire.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const GOOD = ["Host: x", "Authorization: Bearer token"];
const UPGRADE = ["Connection: Upgrade", "Upgrade: test"];
const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n";

function options(notes = Note.collection()): CoreOptions {
  notes.in("root").set("a", {});
  return {
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: () => allow(),
        resources: [Note.serve(notes, { verbs: ["get", "list", "watch"] })],
      }),
      defineVirtualWorkspace({
        name: "echo",
        path: "/",
        authorize: () => allow(),
        upgrade: (_req, socket, { head }) => void socket.pipe(socket).write(SWITCHED + head.toString()),
      }),
    ],
    authentication: [staticTokens({ token: { name: "alice" } })],
    log: testLog().log,
  };
}

/** Another server with `listener`, and the middleware's upgrade handler. */
async function startOwn(
  middleware: VirtualWorkspacesMiddleware,
  listener: RequestListener,
  { maxHeadersCount }: Partial<Pick<HttpServer, "maxHeadersCount">> = {},
) {
  await middleware.started;
  const server = createHttp(listener);
  if (maxHeadersCount !== undefined) server.maxHeadersCount = maxHeadersCount;
  server.on("upgrade", (req, socket, head) => {
    if (!middleware.upgrade(req, socket, head))
      socket.end("HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\n\r\n");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ask: (method: string, target: string, lines?: readonly string[]) => ask(port, `${method} ${target}`, lines),
    async [Symbol.asyncDispose]() {
      await middleware[Symbol.asyncDispose]();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function ask(port: number, request: string, lines: readonly string[] = GOOD): Promise<WireAnswer> {
  using wire = await Wire.open(port);
  wire.request(`${request} HTTP/1.1`, ...lines);
  return (await wire.answer(request.split(" ")[0])) as WireAnswer;
}

function statusOf({ status, body }: WireAnswer): Record<string, unknown> {
  const parsed = JSON.parse(body);
  expect(parsed).to.include({ kind: "Status", apiVersion: "v1", status: "Failure", code: status });
  return parsed;
}

/** Delays each write by a moment. */
function slow(_req: IncomingMessage, res: ServerResponse, next: () => void): void {
  const [write, end] = [res.write.bind(res), res.end.bind(res)];
  const through = new Transform({
    transform: (chunk: Buffer, _encoding, done) => void setImmediate(() => done(null, Buffer.from(chunk))),
  });
  through.on("data", (chunk: Buffer) => write(chunk)).once("end", () => end());
  through.on("drain", () => res.emit("drain"));
  res.write = (chunk: Buffer) => through.write(chunk);
  res.end = (chunk?: unknown) => {
    through.end(chunk);
    return res;
  };
  next();
}

/** Compresses what the client accepts, as the package compression does: it holds back what a watch writes. */
function compressing(req: IncomingMessage, res: ServerResponse, next: () => void): void {
  const [writeHead, write, end] = [res.writeHead, res.write.bind(res), res.end.bind(res)];
  let gzip: Gzip | undefined;
  const begin = (): void => {
    if (!/gzip/.test(String(req.headers["accept-encoding"]))) return;
    res.setHeader("Content-Encoding", "gzip").removeHeader("Content-Length");
    gzip = createGzip().on("data", (chunk: Buffer) => write(chunk)) as Gzip;
    gzip.once("end", () => end());
  };
  res.writeHead = function (this: ServerResponse, code: number, headers?: Record<string, string>) {
    for (const [name, value] of Object.entries(headers ?? {})) this.setHeader(name, value);
    begin();
    return writeHead.call(this, code);
  } as never;
  res.write = ((chunk: Buffer) => {
    if (!res.headersSent) res.writeHead(res.statusCode);
    return gzip === undefined ? write(chunk) : gzip.write(chunk);
  }) as never;
  res.end = ((chunk?: Buffer) => {
    if (!res.headersSent) res.writeHead(res.statusCode);
    return gzip === undefined ? end(chunk) : gzip.end(chunk);
  }) as never;
  next();
}

describe("the middleware", () => {
  it("serves views within an Express application, and leaves it other requests", async () => {
    const middleware = virtualWorkspaces(options());
    const app = express();
    app.use(express.json(), express.urlencoded(), express.text());
    app.get("/before", (_req, res) => void res.send("before"));
    app.use(middleware);
    app.get(["/behind", "/livez", "/servicesx", "/services"], (req, res) => void res.send(`behind ${req.path}`));
    await using own = await startOwn(middleware, app);
    expect(JSON.parse((await own.ask("GET", NOTES)).body)).to.include({ kind: "NoteList" });
    expect(statusOf(await own.ask("GET", `${NOTES}/b`))).to.include({ code: 404 });
    expect(statusOf(await own.ask("GET", NOTES, ["Host: x"]))).to.include({ code: 401 });
    expect(statusOf(await own.ask("GET", "/services/other"))).to.include({ code: 404 });
    expect((await own.ask("GET", "/before")).body).to.equal("before");
    for (const path of ["/behind", "/livez", "/servicesx", "/services"])
      expect((await own.ask("GET", path)).body).to.equal(`behind ${path}`);
    expect((await own.ask("GET", "/nothing")).status).to.equal(404);
  });

  it("writes large lists through a slow middleware without callbacks (compression)", async () => {
    const notes = Note.collection();
    for (let n = 0; n < 5_000; n++) notes.in("root").set(`n${n + 10_000}`, {});
    const middleware = virtualWorkspaces(options(notes));
    const app = express().use(slow, middleware);
    await using own = await startOwn(middleware, app);
    const { items } = JSON.parse((await own.ask("GET", NOTES)).body);
    expect(items).to.have.length(5_001);
    for (const [n, item] of items.slice(1).entries()) expect(item.metadata.name).to.equal(`n${n + 10_000}`);
  });

  it("accepts a body that has already been read", async () => {
    const middleware = virtualWorkspaces(options());
    const app = express().use(express.json(), middleware);
    await using own = await startOwn(middleware, app);
    using wire = await Wire.open(own.port);
    const body = '{"a":1}';
    for (const method of ["GET", "POST", "GET"]) {
      wire.request(`${method} ${NOTES} HTTP/1.1`, ...GOOD, "Content-Type: application/json", "Content-Length: 7");
      wire.send(body);
      expect((await wire.answer())?.status).to.equal(method === "GET" ? 200 : 405);
    }
  });

  it("sends watch events at once through a middleware that compresses", async () => {
    const notes = Note.collection();
    const middleware = virtualWorkspaces(options(notes));
    await using own = await startOwn(middleware, express().use(compressing, middleware));
    const head = [...GOOD, "Accept-Encoding: gzip"];
    expect((await own.ask("GET", NOTES, head)).headers).to.include({ "content-encoding": "gzip" });
    using wire = await Wire.open(own.port);
    wire.request(`GET ${NOTES}?watch=true HTTP/1.1`, ...head);
    await wire.begun();
    let received = "";
    wire.socket.on("data", (piece) => {
      received += piece;
    });
    notes.in("root").set("b", {});
    await until(() => received.includes('"name":"b"'), { what: "the event, before the watch ends" });
    middleware.drain();
    expect((await wire.answer())?.headers).not.to.have.property("content-encoding");
  });

  for (const [where, mount] of [
    ["mounted below a path", (middleware, app) => app.use("/a", express.Router().use("/platform", middleware))],
    ["behind nothing that strips the path", (middleware, app) => app.use(middleware)],
  ] as readonly (readonly [string, (middleware: VirtualWorkspacesMiddleware, app: express.Express) => unknown])[])
    it(`serves views and upgrades below the application's base path, and documents with that path: ${where}`, async () => {
      const middleware = virtualWorkspaces({ ...options(), basePath: "/a/platform" });
      const app = express();
      mount(middleware, app);
      app.use((req, res) => void res.status(404).send(`left: ${req.originalUrl} ${req.url}`));
      await using own = await startOwn(middleware, app);
      expect(JSON.parse((await own.ask("GET", `/a/platform${NOTES}`)).body)).to.include({ kind: "NoteList" });
      const view = "/a/platform/services/notes/clusters/root";
      const { paths } = JSON.parse((await own.ask("GET", `${view}/openapi/v3`)).body);
      const { serverRelativeURL } = paths["apis/test.dev/v1"];
      expect(serverRelativeURL).to.match(
        /^\/a\/platform\/services\/notes\/clusters\/root\/openapi\/v3\/apis\/test\.dev\/v1\?hash=/,
      );
      expect((await own.ask("GET", serverRelativeURL)).status).to.equal(200);
      for (const path of [NOTES, "/a/platformer", "/a/platform", "/a/platform/else"])
        expect((await own.ask("GET", path)).body).to.equal(`left: ${path} ${path}`);
      using wire = await Wire.open(own.port);
      wire.request("GET /a/platform/services/echo/x HTTP/1.1", ...GOOD, ...UPGRADE);
      wire.send("ping");
      expect((await wire.read(SWITCHED.length + 4)).toString()).to.equal(`${SWITCHED}ping`);
      using other = await Wire.open(own.port);
      other.request("GET /services/echo/x HTTP/1.1", ...GOOD, ...UPGRADE);
      expect(await other.rest()).to.match(/^HTTP\/1.1 426 /);
    });

  it("rejects a base path that is none", () => {
    for (const basePath of ["platform", "/platform/", "/", "/a//b", "/a?b", "/:a"])
      expect(() => virtualWorkspaces({ ...options(), basePath }), basePath).to.throw(
        `invalid basePath ${JSON.stringify(basePath)}: use segments that each start with a slash, as in /platform`,
      );
  });

  it("serves views within a plain Node server", async () => {
    const middleware = virtualWorkspaces(options());
    await using own = await startOwn(middleware, (req, res) =>
      middleware(req, res, () => void res.end(`not ours: ${req.url}`)),
    );
    expect(JSON.parse((await own.ask("GET", NOTES)).body)).to.include({ kind: "NoteList" });
    expect((await own.ask("GET", "/else")).body).to.equal("not ours: /else");
  });

  it("serves watches, and ends them cleanly when it drains", async () => {
    const middleware = virtualWorkspaces(options());
    await using own = await startOwn(middleware, express().use(middleware));
    using wire = await Wire.open(own.port);
    wire.request(`GET ${NOTES}?watch=true HTTP/1.1`, ...GOOD);
    await wire.begun();
    middleware.drain();
    expect((await wire.answer())?.body).to.match(/^\{"type":"ADDED",.*\}\n$/);
    wire.request(`GET ${NOTES} HTTP/1.1`, ...GOOD);
    const refused = (await wire.answer()) as WireAnswer;
    expect(statusOf(refused)).to.include({ code: 503, message: "the server is shutting down; try again" });
    expect(refused.headers).to.include({ connection: "close" });
  });

  it("handles upgrades of its own, and leaves others", async () => {
    const middleware = virtualWorkspaces(options());
    await using own = await startOwn(middleware, express().use(middleware));
    using wire = await Wire.open(own.port);
    wire.request("GET /services/echo/x HTTP/1.1", ...GOOD, ...UPGRADE);
    wire.send("ping");
    expect((await wire.read(SWITCHED.length + 4)).toString()).to.equal(`${SWITCHED}ping`);
    using other = await Wire.open(own.port);
    other.request("GET /socket.io HTTP/1.1", ...GOOD, ...UPGRADE);
    expect(await other.rest()).to.match(/^HTTP\/1.1 426 /);
    using refused = await Wire.open(own.port);
    refused.request(`GET ${NOTES} HTTP/1.1`, ...GOOD, ...UPGRADE);
    expect(statusOf((await refused.answer()) as WireAnswer)).to.include({ code: 400 });
  });

  it("ends open upgrades when it is disposed, so that the server can close", async () => {
    const middleware = virtualWorkspaces(options());
    await using own = await startOwn(middleware, express().use(middleware));
    using wire = await Wire.open(own.port);
    wire.request("GET /services/echo/x HTTP/1.1", ...GOOD, ...UPGRADE);
    await wire.read(SWITCHED.length);
    middleware.drain();
    wire.send("ping");
    expect((await wire.read(4)).toString()).to.equal("ping");
    await middleware[Symbol.asyncDispose]();
    expect(await wire.end()).to.be.oneOf(["end", "ECONNRESET"]);
  });

  it("serves an offer of HTTP/2, which the server takes for an upgrade, unless its body is lost", async () => {
    const middleware = virtualWorkspaces(options());
    await using own = await startOwn(middleware, express().use(middleware));
    const head = [...GOOD, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"];
    const answer = await own.ask("GET", `${NOTES}/a`, head);
    expect(answer).to.have.property("status", 200);
    expect(answer.headers).to.include({ connection: "close" });
    expect(JSON.parse(answer.body)).to.have.nested.property("metadata.name", "a");
    expect(statusOf(await own.ask("GET", `${NOTES}/b`, head))).to.include({ code: 404 });
    expect(statusOf(await own.ask("DELETE", `${NOTES}/b`, head))).to.include({ code: 405 });
    expect(statusOf(await own.ask("POST", NOTES, [...head, "Content-Length: 2"]))).to.include({ code: 400 });
    using watch = await Wire.open(own.port);
    watch.request(`GET ${NOTES}?watch=true HTTP/1.1`, ...head);
    await watch.begun();
    expect((await watch.read(12)).toString()).to.equal("HTTP/1.1 200");
    middleware.drain();
    expect(await watch.end()).to.equal("end");
  });

  it("rejects a header block that the server may have truncated", async () => {
    const many = (count: number) => Array.from({ length: count - GOOD.length }, (_, at) => `X-Group: ${at}`);
    for (const [limits, limit] of [
      [{}, 1000],
      [{ maxHeadersCount: 200 }, 200],
    ] as const) {
      const middleware = virtualWorkspaces(options());
      await using own = await startOwn(middleware, (req, res) => middleware(req, res, () => res.end()), limits);
      expect((await own.ask("GET", NOTES, [...GOOD, ...many(limit - 1)])).status).to.equal(200);
      const refused = await own.ask("GET", NOTES, [...GOOD, ...many(limit)]);
      expect(statusOf(refused)).to.include({ code: 431 });
      expect(refused.body).to.include("set maxHeadersCount of the server to 0");
    }
    const middleware = virtualWorkspaces(options());
    await using own = await startOwn(middleware, (req, res) => middleware(req, res, () => res.end()), {
      maxHeadersCount: 0,
    });
    expect((await own.ask("GET", NOTES, [...GOOD, ...many(1100)])).status).to.equal(200);
  });

  it("reports the exception of a setup, and answers 503", async () => {
    const view = defineVirtualWorkspace({
      name: "bad",
      path: "/",
      authorize: () => allow(),
      resources: [],
      setup: () => Promise.reject(new Error("no database")),
    });
    const middleware = virtualWorkspaces({ ...options(), virtualWorkspaces: [view] });
    let error: unknown;
    await middleware.started.catch((caught: unknown) => (error = caught));
    expect(error).to.have.property("message", "no database");
    await middleware[Symbol.asyncDispose]();
  });
});

describe("the middleware in an HTTP/2 server", () => {
  it("rejects requests that it does not support", async () => {
    await using middleware = virtualWorkspaces(options());
    await middleware.started;
    const server = createHttp2((req, res) => middleware(req as never, res as never, () => res.writeHead(404).end()));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const answers = ["/services/notes/", "/own"].map(async (path) => {
      const stream = client.request({ ":path": path });
      const [[headers]] = await Promise.all([once(stream, "response"), once(stream.resume(), "end")]);
      return headers[":status"];
    });
    expect(await Promise.all(answers)).to.deep.equal([505, 404]);
    client.close();
    server.close();
    await once(server, "close");
  });
});

describe("the server's own application", () => {
  async function start(routes: (app: ReturnType<typeof express>) => void) {
    const server = createServer(options());
    routes(server.app as unknown as ReturnType<typeof express>);
    const { port } = await server.listen({ port: 0 });
    return { port, server, [Symbol.asyncDispose]: () => server.close() };
  }

  it("serves routes beside the views, and never gets requests of views", async () => {
    const seen: string[] = [];
    await using server = await start((app) => {
      app.use((req, _res, next) => {
        seen.push(req.url);
        next();
      });
      app.get("/hello", (_req, res) => void res.send("hello"));
    });
    const ours = [NOTES, "/services/", "/services/../hello", "/livez", "/livez?verbose", "/readyz", "/readyz/notes"];
    for (const path of [...ours, "http://x/hello", `http://x${NOTES}`]) await ask(server.port, `GET ${path}`);
    await ask(server.port, "OPTIONS *");
    expect(seen).to.deep.equal([]);
    const answer = await ask(server.port, "GET /hello");
    expect(answer.body).to.equal("hello");
    expect(answer.headers).not.to.have.property("x-powered-by");
    expect(seen).to.deep.equal(["/hello"]);
    expect(JSON.parse((await ask(server.port, `GET ${NOTES}`)).body)).to.include({ kind: "NoteList" });
  });

  it("leaves requests without a route to the server: a Status", async () => {
    await using server = await start((app) => void app.get("/hello", (_req, res) => void res.send("hello")));
    expect(statusOf(await ask(server.port, "GET /nothing"))).to.include({ code: 404, reason: "NotFound" });
    expect(statusOf(await ask(server.port, "POST /hello"))).to.include({ code: 404 });
    expect(statusOf(await ask(server.port, "GET /nothing", ["Host: x"]))).to.include({ code: 401 });
  });

  it("turns exceptions of routes into a Status, without their text", async () => {
    await using server = await start((app) => {
      app.use(express.json({ limit: 10 }));
      app.post("/json", (_req, res) => void res.send("parsed"));
      app.get("/throws", () => {
        throw new Error("secret text");
      });
      app.get("/begun", (_req, res, next) => {
        res.writeHead(200, { "Content-Length": 9 }).write("half");
        next(new Error("half way"));
      });
    });
    expect(statusOf(await ask(server.port, "GET /throws"))).to.include({ message: "Internal error occurred" });
    expectFault(/route failed .*secret text/);
    let error: unknown;
    await ask(server.port, "GET /begun").catch((caught: unknown) => (error = caught));
    expect(error).to.have.property("message", "ended after 4 of 9 bytes");
    expectFault(/route failed .*half way/);
    for (const [body, code] of [
      ["{", 400],
      [`"${"x".repeat(20)}"`, 413],
    ] as const) {
      using wire = await Wire.open(server.port);
      wire.request("POST /json HTTP/1.1", ...GOOD, "Content-Type: application/json", `Content-Length: ${body.length}`);
      wire.send(body);
      expect(statusOf((await wire.answer()) as WireAnswer)).to.include({ code });
    }
    expect(statusOf(await ask(server.port, "GET /%FF"))).to.include({ code: 404 });
  });

  it("is loaded on first use only", async () => {
    const script = `
      import { createRequire } from "node:module";
      import { createServer } from "@virtual-workspaces/framework";
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((file) => /express/.test(file)).length;
      const server = createServer({ virtualWorkspaces: [], authentication: [] });
      const { url } = await server.listen({ port: 0 });
      await (await fetch(url + "/nothing")).text();
      const before = loaded();
      server.app;
      console.log(before, loaded() > 0);
      await server.close();
    `;
    const condition = "--conditions=@virtual-workspaces/source";
    const { stdout } = await promisify(execFile)(process.execPath, [condition, "--input-type=module", "-e", script]);
    expect(stdout).to.equal("0 true\n");
  });
});
