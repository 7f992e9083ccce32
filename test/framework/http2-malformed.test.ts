// HTTP/2 requests that no correct client sends, frame by frame: forms of smuggling known from HTTP/1.1, and floods. The
// server rejects each, goes on, and passes nothing of it to a view.
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { block, END_HEADERS, END_STREAM, Frames, TYPE } from "../_support/frames.ts";
import { Http2Client } from "../_support/http2.ts";
import { whoami } from "../_support/whoami.ts";

const servers = Authority.root("servers");
const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
const TLS = { ca: servers.cert };

async function start() {
  let asked = 0;
  const view = whoami(() => {
    asked++;
    return { allowed: true };
  });
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [staticTokens({ token: { name: "alice" } })],
    tls: keys,
    log: testLog().log,
  });
  const { port } = await server.listen({ port: 0 });
  return {
    port,
    /** Number of requests that reached the view. */
    asked: () => asked,
    open: () => Frames.open(port, TLS),
    /** Fails unless the server still serves other clients. */
    serves: async () => {
      using client = await Http2Client.open(port, TLS);
      expect((await client.get("/livez")).text).to.equal("ok");
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

type Line = [string, string];
const GOOD: readonly Line[] = [
  [":method", "GET"],
  [":scheme", "https"],
  [":authority", "x"],
  [":path", "/services/who/"],
  ["authorization", "Bearer token"],
];
const without = (name: string): Line[] => GOOD.filter(([one]) => one !== name);
const POST = [[":method", "POST"] as Line, ...without(":method")];

describe("HTTP/2 requests", () => {
  it("are served when they are valid", async () => {
    await using server = await start();
    using frames = await server.open();
    frames.headers(1, GOOD);
    expect(await frames.outcome(1)).to.equal("answered");
    expect(server.asked()).to.equal(1);
  });

  const wrong: Record<string, readonly Line[]> = {
    "with Transfer-Encoding": [...POST, ["transfer-encoding", "chunked"]],
    "with Connection": [...GOOD, ["connection", "x-remote-user"]],
    "with Keep-Alive": [...GOOD, ["keep-alive", "timeout=5"]],
    "with Upgrade": [...GOOD, ["upgrade", "websocket"]],
    "with Proxy-Connection": [...GOOD, ["proxy-connection", "close"]],
    "with TE other than trailers": [...GOOD, ["te", "gzip"]],
    "with upper-case names": [...GOOD, ["X-Remote-User", "admin"]],
    "with two paths": [...GOOD.slice(0, 4), [":path", "/livez"], ...GOOD.slice(4)],
    "with two methods": [[":method", "DELETE"], ...GOOD],
    "with two authorities": [[":authority", "y"], ...GOOD],
    "with two Content-Lengths": [...POST, ["content-length", "1"], ["content-length", "2"]],
    "with a Content-Length that is none": [...POST, ["content-length", "+1"]],
    "with a pseudo header behind others": [...without(":path"), [":path", "/livez"]],
    "with a pseudo header of answers": [[":status", "200"], ...GOOD],
    "with one that there is not": [[":user", "admin"], ...GOOD],
    "with :protocol": [[":protocol", "websocket"], [":method", "CONNECT"], ...without(":method")],
    "without a host": without(":authority"),
    "without a path": without(":path"),
    "with an empty path": [...without(":path").slice(0, 3), [":path", ""]],
    "with a URL for a path": [...without(":path").slice(0, 3), [":path", "http://x/services/who/"]],
    "without a method": without(":method"),
    "without a scheme": without(":scheme"),
  };
  for (const [what, lines] of Object.entries(wrong)) {
    it(`with ${what} are rejected`, async () => {
      await using server = await start();
      using frames = await server.open();
      frames.headers(1, lines);
      expect(await frames.outcome(1)).to.match(/^(reset|goaway) /);
      expect(server.asked()).to.equal(0);
      await server.serves();
    });
  }

  // Node's library drops such lines; RFC 9113 forbids them, and clients do not send them.
  const spoilt: Record<string, Line> = {
    "a line break in a value": ["x-a", "b\r\nx-remote-user: admin"],
    "a lone line feed in a value": ["x-a", "b\nx-remote-user: admin"],
    "NUL in a value": ["x-a", "b\0c"],
    "a line break in a name": ["x-a\r\nx-remote-user", "c"],
    "a colon in a name": ["x-a:", "c"],
    "a space in a name": ["x-a b", "c"],
    "no name": ["", "c"],
  };
  for (const [what, line] of Object.entries(spoilt)) {
    it(`with ${what} lose that line`, async () => {
      await using server = await start();
      using frames = await server.open();
      frames.headers(1, [...GOOD, line, ["x-z", "z"]]);
      expect((await frames.json(1)).headers[2]).to.deep.equal(["host", "x", "x-z", "z"]);
    });
  }

  it("keep lines with leading and trailing spaces, and any bytes", async () => {
    await using server = await start();
    using frames = await server.open();
    const values = [" a", "b ", "\tc\t", "", "Zo\xc3\xab", "\xff\x80"];
    frames.headers(1, [...GOOD, ...values.map((value): Line => ["x-group", value])]);
    expect((await frames.json(1)).headers[1]["x-group"]).to.deep.equal(values);
  });

  it("with two Authorization lines, or two hosts, are rejected with a Status", async () => {
    await using server = await start();
    using frames = await server.open();
    frames.headers(1, [...GOOD, ["authorization", "Bearer token"]]);
    expect(await frames.json(1)).to.include({ code: 400, message: "two Authorization headers: send one" });
    frames.headers(3, [...GOOD, ["host", "y"]]);
    expect(await frames.json(3)).to.include({
      code: 400,
      message: "the request names two hosts: send one Host header",
    });
    expect(server.asked()).to.equal(0);
  });

  it("may name their host in either header, or in both if the values are equal", async () => {
    await using server = await start();
    using frames = await server.open();
    frames.headers(1, [...without(":authority"), ["host", "x"]]);
    frames.headers(3, [...GOOD, ["host", "x"]]);
    for (const stream of [1, 3]) expect((await frames.json(stream)).headers[2]).to.deep.equal(["host", "x"]);
  });

  it("are rejected when their body is longer or shorter than its stated length", async () => {
    await using server = await start();
    for (const length of ["3", "5"]) {
      using frames = await server.open();
      frames.headers(1, [...POST, ["content-length", length]], END_HEADERS);
      frames.send({ type: TYPE.data, flags: END_STREAM, stream: 1, payload: Buffer.from("body") });
      const end = await frames.next(({ type }) => type === TYPE.reset || type === TYPE.goaway);
      expect(end?.payload.readUInt32BE(end.payload.length - 4)).to.be.above(0);
    }
    await server.serves();
  });

  it("allow no other frame inside an incomplete header block", async () => {
    await using server = await start();
    using frames = await server.open();
    frames.headers(1, GOOD, END_STREAM);
    frames.headers(3, GOOD);
    expect(await frames.outcome(1)).to.equal("goaway 1");
    expect(server.asked()).to.equal(0);
  });
});

describe("floods over HTTP/2", () => {
  const flood: Record<string, (frames: Frames, turn: number) => void> = {
    "of resets": (frames, turn) => {
      frames.headers(2 * turn + 1, GOOD);
      frames.send({ type: TYPE.reset, stream: 2 * turn + 1, payload: Buffer.alloc(4, 8) });
    },
    "of continuations": (frames, turn) => {
      if (turn === 0) frames.headers(1, GOOD, END_STREAM);
      else frames.send({ type: TYPE.continuation, stream: 1, payload: block([["x-pad", "p".repeat(1000)]]) });
    },
    "of empty continuations": (frames, turn) => {
      if (turn === 0) frames.headers(1, GOOD, END_STREAM);
      else frames.send({ type: TYPE.continuation, stream: 1 });
    },
  };

  for (const [what, send] of Object.entries(flood)) {
    it(`${what} end the connection, and other clients are served`, async function () {
      this.timeout(30_000);
      await using server = await start();
      using frames = await server.open();
      for (let turn = 0; turn < 5000 && frames.socket.writable; turn++) {
        send(frames, turn);
        await frames.drained();
      }
      expect(await frames.next(({ type }) => type === TYPE.goaway)).to.satisfy(
        (frame: unknown) => frame !== undefined || frames.socket.destroyed,
      );
      await server.serves();
    });
  }

  it("of header blocks above 1 MiB are rejected one by one, without more memory", async function () {
    this.timeout(30_000);
    await using server = await start();
    using frames = await server.open();
    const payload = block([...GOOD, ...Array.from({ length: 18 }, (): Line => ["x-long", "p".repeat(60_000)])]);
    const before = process.memoryUsage().rss;
    for (let turn = 0; turn < 200; turn++) {
      frames.split(2 * turn + 1, { payload, size: 256 * 1024 });
      expect(await frames.outcome(2 * turn + 1)).to.equal("reset 11"); // ENHANCE_YOUR_CALM
    }
    expect(process.memoryUsage().rss - before).to.be.below(128 * 2 ** 20);
    frames.headers(401, GOOD);
    expect(await frames.outcome(401)).to.equal("answered");
  });

  for (const type of ["ping", "settings"] as const) {
    it(`of ${type}s with unread responses end the connection`, async function () {
      this.timeout(30_000);
      await using server = await start();
      using frames = await server.open();
      frames.socket.pause();
      const payload = type === "ping" ? Buffer.alloc(8) : Buffer.of(0, 4, 0, 1, 0, 0);
      const before = process.memoryUsage().rss;
      while (frames.socket.writable && frames.socket.bytesWritten < 256 * 2 ** 20) {
        for (let turn = 0; turn < 1000; turn++) frames.send({ type: TYPE[type], payload });
        await Promise.race([frames.drained(), settled()]);
        if (frames.socket.writableLength > 8 * 2 ** 20) break;
      }
      expect(frames.socket.writable).to.equal(false);
      expect(process.memoryUsage().rss - before).to.be.below(128 * 2 ** 20);
      await server.serves();
    });
  }
});

/** Enough time for a server that still reads. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 500).unref());
