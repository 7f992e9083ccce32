// Connections: their number, owners, routes and lifetime.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { Duplex } from "node:stream";
import { promisify } from "node:util";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { startFaulty } from "../_support/faulty.ts";
import { plainAnswer, startRaw, thrown } from "../_support/raw.ts";
import { startRelay } from "../_support/relay.ts";
import { until } from "../_support/until.ts";

const HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

describe("connections", () => {
  it("give each of a thousand watches its own, without delaying other requests", async () => {
    await using server = await startRaw(({ text, socket }) =>
      socket.write(text.includes("/watch") ? `${HEAD}2\r\nab\r\n` : plainAnswer("ok")),
    );
    await using upstream = new Upstream({ url: server.url, connections: 2 });
    const watches = await Promise.all(
      Array.from({ length: 1000 }, () => upstream.stream({ path: "/watch", long: true })),
    );
    expect((await upstream.send({ path: "/" })).body.toString()).to.equal("ok");
    expect(upstream.stats).to.include({ active: 1000, pending: 0, connections: 1001 });
    await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
    await server.until(() => server.sockets.size === 1);
    await until(() => upstream.stats.connections <= 1);
    expect(upstream.stats.active).to.equal(0);
  });

  it("limit the number of short requests, in their order", async () => {
    const order: string[] = [];
    let most = 0;
    let under = 0;
    await using server = await startRaw(({ text, socket }) => {
      order.push(text.split(" ")[1] ?? "");
      most = Math.max(most, ++under);
      setImmediate(() => {
        under -= 1;
        socket.write(plainAnswer("ok"));
      });
    });
    await using upstream = new Upstream({ url: server.url, connections: 3 });
    await Promise.all(Array.from({ length: 300 }, (_, at) => upstream.send({ path: `/${at}` })));
    expect(most).to.be.at.most(3);
    expect(server.opened).to.equal(3);
    const numbers = order.map((path) => Number(path.slice(1)));
    expect(numbers.every((number, at) => Math.abs(number - at) < 3)).to.equal(true);
    expect(upstream.stats).to.include({ active: 0, pending: 0, requests: 300 });
  });

  it("are reused after a watch that ended, a DELETE with a body and a POST", async () => {
    await using server = await startRaw(({ socket }) => socket.write(plainAnswer("ok")));
    await using upstream = new Upstream({ url: server.url });
    for await (const _ of (await upstream.stream({ path: "/", long: true })).body);
    await upstream.send({ path: "/", method: "DELETE", body: "{}" });
    await upstream.send({ path: "/", method: "POST", body: "{}" });
    await upstream.send({ path: "/" });
    expect(server.opened).to.equal(1);
  });

  it("end with the upstream: in use, idle, opening and awaited", async () => {
    await using server = await startRaw(({ text, socket }) => {
      if (text.includes("/body")) socket.write(`${HEAD}2\r\nab\r\n`);
      if (text.includes("/kept")) socket.write(plainAnswer("ok"));
    });
    const upstream = new Upstream({ url: server.url, connections: 2 });
    await upstream.send({ path: "/kept", long: true });
    const watch = await upstream.stream({ path: "/body" });
    const head = thrown(upstream.send({ path: "/head" }));
    const waiting = thrown(upstream.send({ path: "/waiting" }));
    await server.until(() => server.requests.length === 3);
    const closing = upstream[Symbol.asyncDispose]();
    const codes = [(await head).code, (await waiting).code, (await thrown(upstream.send({ path: "/" }))).code];
    expect(codes).to.deep.equal(["closed", "closed", "closed"]);
    const body = watch.body[Symbol.asyncIterator]();
    expect((await body.next()).value?.toString()).to.equal("ab");
    expect((await thrown(body.next())).code).to.equal("closed");
    await closing;
    await upstream[Symbol.asyncDispose]();
    await server.until(() => server.sockets.size === 0);
    expect(upstream.stats).to.include({ active: 0, pending: 0, connections: 0 });
    expect(upstream.stats.failures.closed).to.equal(3);

    const signals: AbortSignal[] = [];
    const tunnel = new Upstream({
      url: "http://x",
      dial: (_target, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    const making = thrown(tunnel.send({ path: "/" }));
    await until(() => signals.length !== 0);
    await tunnel[Symbol.asyncDispose]();
    expect([(await making).code, signals[0]?.aborted]).to.deep.equal(["closed", true]);
  });

  it("finish pending requests and accept no new ones when the upstream drains", async () => {
    await using server = await startRaw(({ text, socket }) => {
      if (text.includes("/kept")) socket.write(plainAnswer("ok"));
      else socket.write(`${HEAD}2\r\nab\r\n`);
    });
    const upstream = new Upstream({ url: server.url });
    await upstream.send({ path: "/kept" });
    const watch = await upstream.stream({ path: "/watch", long: true });
    const body = watch.body[Symbol.asyncIterator]();
    expect((await body.next()).value?.toString()).to.equal("ab");
    const drained = upstream.drain();
    expect((await thrown(upstream.send({ path: "/kept" }))).code).to.equal("closed");
    for (const socket of server.sockets) socket.write("1\r\nc\r\n0\r\n\r\n");
    expect((await body.next()).value?.toString()).to.equal("c");
    expect((await body.next()).done).to.equal(true);
    await drained;
    await server.until(() => server.sockets.size === 0);
    await upstream.drain();
  });

  it("work over IPv6", async function () {
    const server = createServer((_request, response) => response.end(_request.headers.host)).listen(0, "::1");
    const up = await Promise.race([
      once(server, "listening").then(() => true),
      once(server, "error").then(() => false),
    ]);
    if (!up) this.skip();
    const { port } = server.address() as AddressInfo;
    const upstream = new Upstream({ url: `http://[::1]:${port}` });
    expect((await upstream.send({ path: "/" })).body.toString()).to.equal(`[::1]:${port}`);
    await upstream[Symbol.asyncDispose]();
    server.close();
    await once(server, "close");
  });

  it("work through a dial, plain and with verified TLS, and are opened again after a cut", async () => {
    const root = Authority.root("right");
    const shown = root.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] });
    await using plain = await startRaw(({ socket }) => socket.write(plainAnswer("plain")));
    await using secure = await startRaw(({ socket }) => socket.write(plainAnswer("secure")), shown);
    for (const [server, scheme] of [
      [plain, "http"],
      [secure, "https"],
    ] as const) {
      await using relay = await startRelay(server.port);
      const targets: unknown[] = [];
      const dial = async (target: unknown): Promise<Socket> => {
        targets.push(target);
        const socket = connect(relay.port, "127.0.0.1");
        await once(socket, "connect");
        return socket;
      };
      await using upstream = new Upstream({ url: `${scheme}://localhost:1234`, tls: { ca: root.cert }, dial });
      expect((await upstream.send({ path: "/" })).body.toString()).to.equal(scheme === "http" ? "plain" : "secure");
      await upstream.send({ path: "/", method: "POST", body: "{}" });
      relay.cut();
      expect((await upstream.send({ path: "/" })).status).to.equal(200);
      expect(targets).to.deep.equal(Array(2).fill({ host: "localhost", port: 1234 }));
      await using strange = new Upstream({
        url: "https://elsewhere.example",
        tls: { ca: root.cert },
        deadlines: { connect: 1000 },
        dial,
      });
      const { code, delivered } = await thrown(strange.send({ path: "/" }));
      expect(code).to.equal(scheme === "http" ? "connect" : "tls");
      expect(delivered).to.equal(false);
    }
  }).timeout(20_000);

  it("work through a dial that is not a socket: responses, aborts and failed handshakes end it", async () => {
    const root = Authority.root("right");
    await using plain = await startRaw(({ socket, text }) => text.includes("/hang") || socket.write(plainAnswer("ok")));
    const shown = root.issue({ name: "localhost", usages: [SERVER_AUTH] });
    await using secure = await startRaw(
      ({ socket, text }) => text.includes("/hang") || socket.write(plainAnswer("ok")),
      shown,
    );
    for (const [server, scheme] of [
      [plain, "http"],
      [secure, "https"],
    ] as const) {
      const ended: Promise<unknown>[] = [];
      const dial = async (): Promise<Duplex> => {
        const tunnel = new Tunnel(connect(server.port, "127.0.0.1"));
        ended.push(new Promise((resolve) => tunnel.once("close", resolve)));
        return tunnel;
      };
      const upstream = new Upstream({ url: `${scheme}://localhost`, tls: { ca: root.cert }, dial });
      for (let round = 0; round < 3; round++)
        expect((await upstream.send({ path: "/", method: "POST", body: "x".repeat(200_000) })).status).to.equal(200);
      expect(ended).to.have.length(1);
      const controller = new AbortController();
      const hanging = thrown(upstream.send({ path: "/hang", signal: controller.signal }));
      await server.until(() => server.requests.some(({ text }) => text.includes("/hang")));
      controller.abort();
      await hanging;
      await server.until(() => server.sockets.size === 0);
      await upstream.send({ path: "/" });
      await upstream[Symbol.asyncDispose]();
      await server.until(() => server.sockets.size === 0);
      if (scheme === "https") {
        await using wrong = new Upstream({ url: "https://localhost", tls: { ca: Authority.root("other").cert }, dial });
        expect((await thrown(wrong.send({ path: "/" }))).code).to.equal("tls");
        await server.until(() => server.sockets.size === 0);
      }
      await Promise.all(ended);
    }
  }).timeout(20_000);

  it("report the error of a dialed connection that breaks as TLS ends it only once", async () => {
    await using secure = await startRaw(
      undefined,
      Authority.root("right").issue({ name: "localhost", usages: [SERVER_AUTH] }),
    );
    const dial = async (): Promise<Duplex> => {
      const tunnel = new Tunnel(connect(secure.port, "127.0.0.1"));
      const { destroy } = tunnel;
      tunnel.destroy = (error) => destroy.call(tunnel, error ?? new Error("ended early"));
      return tunnel.on("error", () => undefined);
    };
    await using wrong = new Upstream({ url: "https://localhost", tls: { ca: Authority.root("other").cert }, dial });
    expect((await thrown(wrong.send({ path: "/" }))).code).to.equal("tls");
    await secure.until(() => secure.sockets.size === 0);
  });

  it("fail with their dial, and destroy the connection of a late one", async () => {
    await using failing = new Upstream({ url: "http://x", dial: () => Promise.reject(new Error("no tunnel")) });
    const error = await thrown(failing.send({ path: "/" }));
    expect([error.code, error.message]).to.deep.equal(["connect", "GET http://x/: no tunnel"]);

    await using server = await startRaw();
    const gate = Promise.withResolvers<void>();
    await using late = new Upstream({
      url: "http://x",
      deadlines: { connect: 30 },
      dial: async () => {
        const socket = connect(server.port, "127.0.0.1");
        await once(socket, "connect");
        await gate.promise;
        return socket;
      },
    });
    expect((await thrown(late.send({ path: "/" }))).code).to.equal("connect");
    expect(server.sockets.size).to.equal(1);
    gate.resolve();
    await server.until(() => server.sockets.size === 0);
  });

  it("survive an upstream that restarts on the same port", async () => {
    await using server = await startRaw(({ socket }) => socket.write(plainAnswer("ok")));
    await using faulty = await startFaulty(server.url);
    await using upstream = new Upstream({ url: faulty.url });
    await upstream.send({ path: "/" });
    await faulty.stop();
    expect((await thrown(upstream.send({ path: "/" }))).code).to.equal("connect");
    await faulty.start();
    expect((await upstream.send({ path: "/" })).status).to.equal(200);
  });

  it("use kernel probes of the other side", async function () {
    const ss = await promisify(execFile)("ss", ["-V"]).catch(() => undefined);
    if (ss === undefined) this.skip();
    await using server = await startRaw(({ socket }) => socket.write(`${HEAD}2\r\nab\r\n`));
    await using upstream = new Upstream({ url: server.url });
    await using _watch = await upstream.stream({ path: "/", long: true });
    const { stdout } = await promisify(execFile)("ss", ["-Htno", `dport = :${server.port}`]);
    expect(stdout).to.match(/timer:\(keepalive,([34](\.\d+)?sec|3\.\d+|\d+ms)/);
  });
});

/** Bytes in both directions over another transport, as in a tunnel. */
class Tunnel extends Duplex {
  readonly #below: Socket;

  constructor(below: Socket) {
    super();
    this.#below = below;
    below.on("data", (bytes) => {
      if (!this.push(bytes)) below.pause();
    });
    below.on("end", () => this.push(null));
    below.on("error", (error) => this.destroy(error));
    below.on("close", () => this.destroy());
  }

  override _read(): void {
    this.#below.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#below.write(bytes, done);
  }

  override _final(done: () => void): void {
    this.#below.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#below.destroy();
    done(error);
  }
}
