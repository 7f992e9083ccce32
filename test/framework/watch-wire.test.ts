// Events on the wire: shared chunks bypass Node's own framing, which clients must not notice.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { createGzip } from "node:zlib";
import { allow, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { virtualWorkspaces } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import express from "express";
import { startListener } from "../_support/listener.ts";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

function setUp() {
  const notes = Note.collection();
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Note.serve(notes)],
  });
  return { root: notes.in("root"), views: [view] };
}

async function dial(url: string, ...requests: readonly string[]): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  await once(socket, "connect");
  socket
    .setEncoding("latin1")
    .write(requests.map((head) => `${head}\r\nHost: x\r\nAuthorization: Bearer alice\r\n\r\n`).join(""));
  return socket;
}

/** Reads until `end` matches. */
async function until(socket: Socket, end: RegExp): Promise<string> {
  let text = "";
  while (!end.test(text)) {
    const piece: string | null = socket.read();
    if (piece === null) await once(socket, "readable");
    else text += piece;
  }
  return text;
}

/** Returns the bodies of consecutive responses, without chunk framing. @throws when one is malformed */
function bodies(wire: string): string[] {
  const found: string[] = [];
  let rest = wire;
  while (rest !== "") {
    rest = rest.slice(rest.indexOf("\r\n\r\n") + 4);
    let body = "";
    for (let length = -1; length !== 0; ) {
      const size = /^([0-9a-f]+)\r\n/.exec(rest);
      if (size === null) throw new Error(`no chunk begins here: ${rest.slice(0, 80)}`);
      length = Number.parseInt(size[1] ?? "", 16);
      body += rest.slice(size[0].length, size[0].length + length);
      if (!rest.startsWith("\r\n", size[0].length + length)) throw new Error("a chunk is longer than it says");
      rest = rest.slice(size[0].length + length + 2);
    }
    found.push(Buffer.from(body, "latin1").toString("utf8"));
  }
  return found;
}

const names = (body: string): string[] =>
  [...body.matchAll(/"type":"(\w+)".*?"name":"(\w+)"/g)].map(([, type, name]) => `${type} ${name}`);

describe("events on the wire", () => {
  it("are chunks, from the initial events to the bookmark at the end", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    root.set("first", { text: "é".repeat(70_000) });
    const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const socket = await dial(server.url, `GET ${NOTES}?${query} HTTP/1.1`);
    let wire = await until(socket, /initial-events-end/);
    root.set("second", { text: "€" });
    root.delete("second");
    wire += await until(socket, /DELETED/);
    const closed = server.server.close();
    for await (const piece of socket) wire += String(piece);
    await closed;
    const [body = "", ...others] = bodies(wire);
    expect(others).to.deep.equal([]);
    expect(names(body)).to.deep.equal(["ADDED first", "ADDED second", "DELETED second"]);
    const lines = body.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).type).at(-1)).to.equal("BOOKMARK");
  });

  it("arrive whole at an HTTP/1.0 client, which does not know chunks", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    const socket = await dial(server.url, `GET ${NOTES}?watch=true HTTP/1.0`);
    const head = await until(socket, /\r\n\r\n/);
    expect(head).not.to.match(/transfer-encoding/i);
    root.set("a", { text: "1" });
    const line = await until(socket, /\n$/);
    expect(JSON.parse(line).object.metadata.name).to.equal("a");
    socket.destroy();
  });

  it("wait for the responses to earlier requests on their connection", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    const watch = (name: string, seconds: number) =>
      `GET ${NOTES}?watch=true&fieldSelector=metadata.name%3D${name}&timeoutSeconds=${seconds} HTTP/1.1`;
    const socket = await dial(server.url, watch("a", 1), watch("b", 60));
    let wire = await until(socket, /\r\n\r\n/);
    root.set("b", { text: "for the second" });
    root.set("a", { text: "for the first" });
    wire += await until(socket, /for the second/);
    root.set("b", { text: "once it has its turn" });
    wire += await until(socket, /its turn/);
    const closed = server.server.close();
    for await (const piece of socket) wire += String(piece);
    await closed;
    expect(bodies(wire).map(names)).to.deep.equal([["ADDED a"], ["ADDED b", "MODIFIED b"]]);
  });

  it("pass through a middleware that wraps the response", async () => {
    const { root, views } = setUp();
    const app = express();
    app.use((_req, res: ServerResponse, next) => {
      const gzip = createGzip({ flush: 2 });
      const { write, end } = res;
      gzip.on("data", (piece: Buffer) => write.call(res, piece, "utf8"));
      gzip.on("end", () => end.call(res, "", "utf8"));
      res.setHeader("Content-Encoding", "gzip");
      res.write = gzip.write.bind(gzip) as typeof res.write;
      res.end = gzip.end.bind(gzip) as unknown as typeof res.end;
      next();
    });
    await using middleware = virtualWorkspaces({
      virtualWorkspaces: views,
      authentication: [staticTokens({ alice: { name: "alice" } })],
    });
    await middleware.started;
    app.use(middleware);
    await using server = await startListener(app);
    const response = await fetch(`${server.url}${NOTES}?watch=true`, { headers: { Authorization: "Bearer alice" } });
    root.set("a", { text: "1" });
    middleware.drain();
    expect(response.headers.get("content-encoding")).to.equal("gzip");
    expect(names(await response.text())).to.deep.equal(["ADDED a"]);
  });
});
