import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import express from "express";
import { type ReadBodyOptions, readBody } from "../../packages/framework/src/body/read.ts";
import { respond, respondStatus } from "../../packages/framework/src/encode/respond.ts";
import { createListener } from "../../packages/framework/src/listener/listener.ts";
import { computed } from "../_support/cpu.ts";
import { until } from "../_support/until.ts";
import { Wire } from "../_support/wire.ts";

const LIMIT = 1000;

/** A server that responds with the length of the body, and the errors by request. */
interface Reader extends AsyncDisposable {
  readonly port: number;
  /** Result of reading the next request's body: its length, or an error. */
  outcome(): Promise<unknown>;
  wire(): Promise<Wire>;
}

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

async function reader(
  options: ReadBodyOptions = {},
  mount: (handle: Handler) => Handler = (handle) => handle,
): Promise<Reader> {
  const outcomes: unknown[] = [];
  let wake: () => void = () => undefined;
  const server = createListener();
  const tell = (outcome: unknown): void => {
    outcomes.push(outcome);
    wake();
  };
  server.on(
    "request",
    mount((req, res) => {
      res.on("error", () => undefined);
      readBody(req, { limit: LIMIT, res, ...options }).then(
        (body) => {
          tell(body.length);
          respond(res, { code: 200, contentType: "text/plain", body: Buffer.from(String(body.length)) });
        },
        (error: unknown) => {
          tell(error);
          if (isApiError(error) && !res.destroyed) respondStatus(res, error);
          else res.destroy();
        },
      );
    }),
  );
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    outcome: async () => {
      while (outcomes.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return outcomes.shift();
    },
    wire: () => Wire.open(port),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
}

const post = (...lines: readonly string[]): string => ["POST / HTTP/1.1", "Host: x", ...lines, "", ""].join("\r\n");
const chunk = (size: number): string => `${size.toString(16)}\r\n${"x".repeat(size)}\r\n`;

describe("readBody", () => {
  it("reads bodies with a length, chunked and empty, one after the other on a connection", async () => {
    await using server = await reader();
    using wire = await server.wire();
    wire.send(`${post("Content-Length: 1000")}${"x".repeat(LIMIT)}`);
    expect((await wire.answer())?.body).to.equal("1000");
    wire.send(`${post("Transfer-Encoding: chunked")}${chunk(400)}${chunk(600)}0\r\n\r\n`);
    expect((await wire.answer())?.body).to.equal("1000");
    wire.send(post("Content-Encoding: identity"));
    expect((await wire.answer())?.body).to.equal("0");
  });

  it("retains the bytes and not the chunks: a chunk of one byte would take hundreds", async () => {
    const pieces: WeakRef<Buffer>[] = [];
    let all: () => void = () => undefined;
    const come = new Promise<void>((resolve) => (all = resolve));
    await using server = await reader({}, (handle) => (req, res) => {
      handle(req, res);
      req.on("data", (piece: Buffer) => {
        if (pieces.push(new WeakRef(piece)) === LIMIT) all();
      });
    });
    using wire = await server.wire();
    wire.send(`${post("Transfer-Encoding: chunked")}${chunk(1).repeat(LIMIT)}`);
    await come;
    await new Promise(setImmediate);
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    expect(pieces.filter((piece) => piece.deref() !== undefined).length).to.be.below(10);
    wire.send("0\r\n\r\n");
    expect((await wire.answer())?.body).to.equal("1000");
  });

  it("rejects a body with too long a length at once, without reading it, and closes the connection", async () => {
    await using server = await reader();
    using wire = await server.wire();
    wire.send(post("Content-Length: 1001"));
    const { status, headers, body } = (await wire.answer()) ?? {};
    expect([status, headers?.["connection"]]).to.deep.equal([413, "close"]);
    expect(JSON.parse(body ?? "")).to.include({
      reason: "RequestEntityTooLarge",
      message: "Request entity too large: limit is 1000",
    });
    expect(await wire.end()).to.equal("end");
  });

  it("rejects a chunked body when it exceeds the limit, and the response arrives although the client keeps sending", async () => {
    await using server = await reader();
    using wire = await server.wire();
    wire.send(post("Transfer-Encoding: chunked"));
    for (let sent = 0; sent < 64; sent++) wire.send(chunk(65_536));
    const answer = await wire.answer();
    expect([answer?.status, answer?.headers["connection"]]).to.deep.equal([413, "close"]);
    expect(await wire.end()).to.equal("end");
  });

  it("keeps the connection open for the response to a client that stalls for a second and then sends the rest", async () => {
    await using server = await reader();
    using wire = await server.wire();
    wire.send(`${post("Content-Length: 4000000")}${"x".repeat(100_000)}`);
    wire.socket.pause();
    await server.outcome();
    const began = performance.now();
    await until(() => performance.now() - began > 1000);
    wire.send("x".repeat(3_900_000));
    await until(() => wire.socket.writableLength === 0);
    wire.socket.resume();
    expect((await wire.answer())?.status).to.equal(413);
    expect(await wire.end()).to.equal("end");
  });

  it("closes the connection of a client that never stops sending", async () => {
    await using server = await reader();
    using wire = await server.wire();
    wire.send(`${post("Content-Length: 1000000000")}${"x".repeat(100_000)}`);
    expect((await wire.answer())?.status).to.equal(413);
    await wire.cut();
  });

  it("sends 100 Continue only when it reads the body", async () => {
    await using server = await reader();
    using wire = await server.wire();
    wire.send(post("Content-Length: 4", "Expect: 100-continue"));
    expect((await wire.read(25)).toString()).to.equal("HTTP/1.1 100 Continue\r\n\r\n");
    wire.send("abcd");
    const answer = await wire.answer();
    expect([answer?.body, answer?.headers["connection"]]).to.deep.equal(["4", "keep-alive"]);
    wire.send(post("Content-Length: 1001", "Expect: 100-continue"));
    expect((await wire.read(12)).toString()).to.equal("HTTP/1.1 413");
    expect(await wire.rest()).to.match(/\r\nConnection: close\r\n/);
  });

  it("does not stall on a long Content-Encoding", async () => {
    await using server = await reader();
    using wire = await server.wire();
    const before = computed();
    wire.send(Buffer.from(post(`Content-Encoding: ${"\u00a0".repeat(100_000)}x`, "Content-Length: 0"), "latin1"));
    expect((await wire.answer())?.status).to.equal(415);
    expect(computed() - before).to.be.below(500);
  });

  it("rejects compressed bodies", async () => {
    await using server = await reader();
    using wire = await server.wire();
    wire.send(`${post("Content-Encoding: gzip", "Content-Length: 4")}abcd`);
    const { status, body } = (await wire.answer()) ?? {};
    expect(status).to.equal(415);
    expect(JSON.parse(body ?? "")).to.include({
      reason: "UnsupportedMediaType",
      message: "compressed request body is not supported: send it without Content-Encoding",
    });
  });

  it("rejects when the client disconnects, by end or by reset", async () => {
    await using server = await reader();
    for (const leave of ["end", "resetAndDestroy"] as const) {
      const wire = await server.wire();
      wire.send(`${post("Content-Length: 1000")}abc`);
      wire.socket[leave]();
      expect(await server.outcome()).to.include({ code: 400, message: "the request body ended early" });
      wire.socket.destroy();
    }
  });

  it("stops reading when the signal aborts", async () => {
    const stop = new AbortController();
    await using server = await reader({ signal: stop.signal });
    using wire = await server.wire();
    wire.send(`${post("Content-Length: 1000")}abc`);
    setImmediate(() => stop.abort(new Error("enough")));
    expect(await server.outcome()).to.include({ message: "enough" });
    using late = await server.wire();
    late.send(`${post("Content-Length: 3")}abc`);
    expect(await server.outcome()).to.include({ message: "enough" });
  });

  it("reports that the body was already read", async () => {
    await using server = await reader({}, (handle) => express().use(express.json(), handle) as unknown as Handler);
    using wire = await server.wire();
    wire.send(`${post("Content-Type: application/json", "Content-Length: 2")}{}`);
    expect(String(await server.outcome())).to.contain("mount virtual workspaces before body parsers");
  });
});
