// Views in an existing application, and an application beside the views.
import { execFile } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { Transform } from "node:stream";
import { promisify } from "node:util";
import { allow, createServer, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { virtualWorkspaces } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import express from "express";
import { expectFault } from "../_setup/faults.ts";
import { Note } from "../_support/note.ts";
import { Wire, type WireAnswer } from "../_support/wire.ts";
import { ask, GOOD, NOTES, options, SWITCHED, startOwn, statusOf, UPGRADE } from "./express-fixtures.ts";

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
