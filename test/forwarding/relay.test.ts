// Forwarding of whole requests: what reaches the target, what comes back, and what happens when either side disconnects.
import { once } from "node:events";
import { createServer as createHttp, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { relay } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace, groups, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { outcome, type PlainServer, startPlain } from "../_support/plain.ts";
import { ALICE, startTls } from "../_support/server.ts";

interface Other extends AsyncDisposable {
  readonly url: string;
  /** Received requests. */
  readonly asked: IncomingMessage[];
}

/** Starts a plain server with a scripted answer. */
async function other(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<Other> {
  const asked: IncomingMessage[] = [];
  const server = createHttp((req, res) => {
    asked.push(req);
    answer(req, res);
  });
  server.on("upgrade", (req: IncomingMessage, socket) => {
    asked.push(req);
    if (req.headers.upgrade === "echo") {
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\nX-Said: yes\r\n\r\nhello ",
      );
      socket.on("error", () => undefined).pipe(socket);
    } else
      socket.end(
        'HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"reason":"no"}',
      );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const faults: unknown[] = [];

function passing(url: string): VirtualWorkspace {
  const passed = relay({ upstream: { url }, onError: (error) => faults.push(error), what: "the archive" });
  return defineVirtualWorkspace({
    name: "archive",
    path: "/",
    authorize: () => allow(),
    handle: passed.handle,
    upgrade: passed.upgrade,
    setup: () => passed,
  });
}

const start = (url: string): Promise<PlainServer> => startPlain([passing(url)], { impersonation: groups("admins") });
const linesOf = ({ rawHeaders }: IncomingMessage): string[] =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[at + 1]}`] : []));

describe("a relay", () => {
  beforeEach(() => {
    faults.length = 0;
  });

  it("forwards path, query and headers unchanged, with the caller in Impersonate-* headers and a hop count", async () => {
    await using there = await other((_req, res) => res.setHeader("x-two", ["a", "b"]).end("ok"));
    await using here = await start(there.url);
    const headers = {
      "x-own": "Zoë",
      "x-remote-user": "mallory",
      "X-Forwarded-For": "10.0.0.1",
      "x-kcp-virtual-resource-hops": "1",
      via: "1.1 shard",
      connection: "close, x-listed",
      "x-listed": "1",
      cookie: "a=b",
    };
    const sent = { ...headers, "x-own": Buffer.from(headers["x-own"]).toString("latin1") };
    const answer = await here.get("/services/archive/a%2Fb/%41?x=%2F&y=1", { user: "admin", headers: sent });
    expect([answer.status, answer.text, answer.headers["x-two"]]).to.deep.equal([200, "ok", "a, b"]);
    const [asked] = there.asked as [IncomingMessage];
    expect(asked.url).to.equal("/services/archive/a%2Fb/%41?x=%2F&y=1");
    const lines = linesOf(asked);
    expect(lines).to.include.members([
      `x-own: ${sent["x-own"]}`,
      "impersonate-user: admin",
      "impersonate-group: admins",
      "impersonate-group: system:authenticated",
      "x-kcp-virtual-resource-hops: 2",
      "via: 1.1 shard, 1.1 archive",
      "cookie: a=b",
    ]);
    expect(lines.join("\n")).to.not.match(/mallory|10\.0\.0\.1|listed|authorization/i);
  });

  it("names the caller in X-Remote-* if configured, and drops those of the client", async () => {
    await using there = await other((_req, res) => res.end("ok"));
    const passed = relay({ upstream: { url: there.url }, headers: "X-Remote" });
    const view = defineVirtualWorkspace({
      ...{ name: "archive", path: "/", authorize: () => allow(), handle: passed.handle },
      setup: () => passed,
    });
    await using here = await startPlain([view], { impersonation: groups("admins") });
    const headers = { "x-remote-user": "mallory", "x-remote-group": "system:masters", "x-remote-extra-a": "mallory" };
    const as = { "impersonate-user": "carol", "impersonate-uid": "7", "impersonate-extra-example.dev%2Fscopes": "a b" };
    await here.get("/services/archive/x", { user: "admin", headers: { ...headers, ...as } });
    const lines = linesOf(there.asked[0] as IncomingMessage);
    expect(lines.filter((line) => /^(x-remote|impersonate)/.test(line))).to.deep.equal([
      "x-remote-user: carol",
      "x-remote-uid: 7",
      "x-remote-group: system:authenticated",
      "x-remote-extra-example.dev%2fscopes: a b",
    ]);
    expect(lines.join("\n")).to.not.match(/mallory|authorization/);
  });

  it("ends a loop", async () => {
    let own = "";
    await using wire = await other((req, res) => {
      const { authorization: _, host: __, ...headers } = req.headers;
      const again = request(own + req.url, { headers: { ...headers, authorization: "Bearer admin" } }, (answer) => {
        res.statusCode = answer.statusCode ?? 0;
        answer.pipe(res);
      });
      again.end();
    });
    await using here = await start(wire.url);
    own = here.url;
    const { status, text } = await here.get("/services/archive/", { user: "admin" });
    expect([status, text]).to.satisfy(
      ([code, said]: [number, string]) => code === 500 && said.includes("archive -> archive"),
    );
    expect(wire.asked).to.have.length(4);
  });

  it("forwards bytes as they arrive, in both directions", async () => {
    await using there = await other((req, res) => {
      res.flushHeaders();
      req.on("data", (piece: Buffer) => res.write(`got ${piece}\n`));
      req.on("end", () => res.end());
    });
    await using here = await start(there.url);
    const req = request(`${here.url}/services/archive/x`, {
      method: "POST",
      headers: { authorization: "Bearer admin" },
    });
    req.write("one");
    const [res] = (await once(req, "response")) as [IncomingMessage];
    const pieces = res.setEncoding("utf8")[Symbol.asyncIterator]();
    expect((await pieces.next()).value).to.equal("got one\n");
    req.write("two");
    expect((await pieces.next()).value).to.equal("got two\n");
    req.end();
    expect((await pieces.next()).done).to.equal(true);
  });

  it("answers before it has read the whole body, and serves the next request of the connection", async () => {
    await using there = await other((_req, res) => res.writeHead(413, { connection: "close" }).end("too long"));
    await using here = await start(there.url);
    const { port } = new URL(here.url);
    const socket = connect(Number(port), "127.0.0.1");
    const head = "Host: x\r\nAuthorization: Bearer admin\r\n";
    socket.write(`POST /services/archive/x HTTP/1.1\r\n${head}Content-Length: 2000000\r\n\r\n${"x".repeat(1_000)}`);
    let text = "";
    const until = async (what: string): Promise<void> => {
      while (!text.includes(what)) text += String((await once(socket, "data"))[0]);
    };
    await until("too long");
    socket.write("x".repeat(2_000_000 - 1_000));
    socket.write(`GET /livez HTTP/1.1\r\n${head}\r\n`);
    await until("200 OK");
    socket.destroy();
  });

  it("waits for a slow client with bounded buffers", async () => {
    let written = 0;
    await using there = await other((_req, res) => {
      const more = (): void => {
        do written += 64 * 1024;
        while (res.write(Buffer.alloc(64 * 1024)));
        res.once("drain", more);
      };
      more();
    });
    await using here = await start(there.url);
    const req = request(`${here.url}/services/archive/x`, { headers: { authorization: "Bearer admin" } }).end();
    const [res] = (await once(req, "response")) as [IncomingMessage];
    res.on("error", () => undefined).pause();
    let before = -1;
    while (before !== written) {
      before = written;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written)
      .to.be.above(0)
      .and.below(32 * 1024 * 1024);
    const gone = new Promise((resolve) => there.asked[0]?.socket.once("close", resolve));
    req.on("error", () => undefined).destroy();
    await gone; // a disconnect here disconnects there
  });

  it("cuts an incomplete response, so that it does not appear complete", async () => {
    await using there = await other((_req, res) => {
      res.write("half");
      setImmediate(() => res.destroy());
    });
    await using here = await start(there.url);
    const error = await here.get("/services/archive/x", { user: "admin" }).catch((thrown: unknown) => thrown);
    expect((error as NodeJS.ErrnoException).code).to.equal("ECONNRESET");
  });

  it("answers 503 without the address if the target is down, with one log entry; 504 if a write may have been applied", async () => {
    await using here = await start("http://127.0.0.1:9");
    for (const _ of [1, 2]) {
      const message = "the archive cannot be reached; try again";
      expect(outcome(await here.get("/services/archive/x", { user: "admin" }))).to.deep.equal([
        503,
        "ServiceUnavailable",
        message,
      ]);
    }
    expect(faults).to.have.length(1);
    await using there = await other((req) => req.socket.destroy());
    await using lost = await start(there.url);
    expect((await lost.send("POST /services/archive/x", {}, { user: "admin" })).status).to.equal(504);
    expect((await lost.get("/services/archive/x", { user: "admin" })).status).to.equal(503);
  });

  it("answers 503 if the target rejects our own credentials", async () => {
    await using there = await other((_req, res) => res.writeHead(401).end("who are you?"));
    await using here = await start(there.url);
    const { status, text } = await here.get("/services/archive/x", { user: "admin" });
    expect([status, text.includes("rejected this server's credentials")]).to.deep.equal([503, true]);
  });

  it("ends watches after a whole line when the server closes, for clients to resume elsewhere", async () => {
    await using there = await other((_req, res) => {
      res.writeHead(200, { "content-type": "application/json" }).write('{"type":"ADDED","object":{}}\n');
    });
    const here = await start(there.url);
    await using watch = await here.watch("/services/archive/clusters/a/apis/b/v1/c?watch=1", { user: "admin" });
    expect((await watch.next()).type).to.equal("ADDED");
    expect(here.server.stats.longRunning).to.equal(1);
    const closed = here[Symbol.asyncDispose]();
    expect(await watch.rest()).to.deep.equal([]);
    await closed;
  });

  it("forwards upgrades, with early data and the last data of both sides", async () => {
    await using there = await other((_req, res) => res.end());
    await using here = await start(there.url);
    const text = await upgraded(here, "echo", "early ");
    expect(text)
      .to.match(/^HTTP\/1\.1 101 .*\r\n/)
      .and.to.match(/x-said: yes/i)
      .and.to.match(/\r\n\r\nhello early late$/);
    expect(linesOf(there.asked[0] as IncomingMessage)).to.include.members(["impersonate-user: admin", "upgrade: echo"]);
  });

  it("closes an upgraded connection whose other side has ended and reads no more", async () => {
    await using there = createHttp().listen(0, "127.0.0.1");
    there.on("upgrade", (_req, socket: Socket) => {
      socket.on("error", () => undefined).once("data", () => socket.resetAndDestroy());
      socket.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nlast words");
    });
    await once(there, "listening");
    await using here = await start(`http://127.0.0.1:${(there.address() as AddressInfo).port}`);
    const socket = connect({ port: Number(new URL(here.url).port), host: "127.0.0.1", allowHalfOpen: true });
    const head = "Host: x\r\nAuthorization: Bearer admin\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
    socket.write(`GET /services/archive/exec HTTP/1.1\r\n${head}`);
    const text = await new Promise<string>((resolve) => {
      let said = "";
      socket.setEncoding("utf8").on("data", (piece) => {
        said += piece;
      });
      socket.once("end", () => resolve(said));
    });
    expect(text).to.match(/last words$/);
    // The relay continues, since a side that has ended may still read; a write reveals that it does not.
    socket.on("error", () => undefined);
    while (here.server.stats.longRunning > 0) {
      socket.write("still here");
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.destroy();
  });

  it("forwards the HTTP response to a rejected upgrade, and answers 503 if the target is down", async () => {
    await using there = await other((_req, res) => res.end());
    await using here = await start(there.url);
    expect(await upgraded(here, "other", "")).to.match(/^HTTP\/1\.1 403 .*\r\n\r\n\{"reason":"no"\}$/s);
    await using secured = await startTls([passing(there.url)]);
    const { port, authority } = secured;
    const wire = connectTls({ port, host: "127.0.0.1", ca: authority.ca });
    wire.write(
      `GET /services/archive/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ALICE.token}\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n`,
    );
    expect(await text(wire)).to.match(/^HTTP\/1\.1 403 .*\{"reason":"no"\}$/s);
    await using nobody = await start("http://127.0.0.1:9");
    expect(await upgraded(nobody, "echo", "")).to.match(/^HTTP\/1\.1 503 .*the archive cannot be reached/s);
  });
});

/** Requests an upgrade, sends `early` with it and `late` after the response, and reads to the end. */
async function upgraded({ url }: PlainServer, protocol: string, early: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const head = `Host: x\r\nAuthorization: Bearer admin\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
  socket.write(`GET /services/archive/exec HTTP/1.1\r\n${head}\r\n${early}`);
  let text = "";
  for await (const piece of socket.setEncoding("utf8")) {
    text += piece;
    if (text.endsWith(`hello ${early}`) && early !== "") socket.end("late");
  }
  return text;
}
