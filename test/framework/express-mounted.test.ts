// The middleware beside others in an application: below a path, behind compression, and with open upgrades at shutdown.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createGzip, type Gzip } from "node:zlib";
import { type VirtualWorkspacesMiddleware, virtualWorkspaces } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import express from "express";
import { Note } from "../_support/note.ts";
import { until } from "../_support/until.ts";
import { Wire } from "../_support/wire.ts";
import { GOOD, NOTES, options, SWITCHED, startOwn, UPGRADE } from "./express-fixtures.ts";

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

describe("the middleware in an application", () => {
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
});
