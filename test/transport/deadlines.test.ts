// Every wait for another server ends at its deadline, and not before.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { startFaulty } from "../_support/faulty.ts";
import { plainAnswer, startRaw, thrown } from "../_support/raw.ts";
import { until } from "../_support/until.ts";

const HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

async function took(work: Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work;
  return performance.now() - begin;
}

describe("deadlines", () => {
  it("head: ends a request to a server that never answers, and frees the connection", async () => {
    await using server = await startRaw();
    await using upstream = new Upstream({ url: server.url, deadlines: { head: 150 } });
    const failed = thrown(upstream.send({ path: "/secret?token=1" }));
    const ms = await took(failed);
    const error = await failed;
    expect(error.code).to.equal("timeout");
    expect(error.delivered).to.equal(true);
    expect(error.message).to.equal(`GET ${server.url}/secret: no answer within 150 ms`);
    expect(ms).to.be.within(140, 1150);
    await server.until(() => server.sockets.size === 0);
    expect(upstream.stats.failures.timeout).to.equal(1);
  });

  it("head: the request's own takes precedence over the upstream's", async () => {
    await using server = await startRaw(({ socket }) => setTimeout(() => socket.write(plainAnswer("late")), 150));
    await using upstream = new Upstream({ url: server.url, deadlines: { head: 20 } });
    expect((await upstream.send({ path: "/", deadlines: { head: Number.POSITIVE_INFINITY } })).status).to.equal(200);
    expect((await upstream.send({ path: "/", deadlines: { head: 2 ** 40 } })).status).to.equal(200);
    expect((await thrown(upstream.send({ path: "/" }))).code).to.equal("timeout");
  });

  it("head: counts the wait for credentials", async () => {
    await using server = await startRaw(({ socket }) => socket.write(plainAnswer("")));
    const never = new Promise<never>(() => undefined);
    await using upstream = new Upstream({
      url: server.url,
      credentials: { get: () => never },
      deadlines: { head: 50 },
    });
    const error = await thrown(upstream.send({ path: "/" }));
    expect([error.code, error.delivered, server.opened]).to.deep.equal(["timeout", false, 0]);
  });

  it("head: counts the wait for another credential after a rejection", async () => {
    await using server = await startRaw(({ socket }) =>
      socket.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"),
    );
    let asked = 0;
    await using upstream = new Upstream({
      url: server.url,
      credentials: {
        get: () => (asked++ % 2 === 0 ? {} : new Promise<never>(() => undefined)),
        refused: () => undefined,
      },
      deadlines: { head: 100 },
    });
    for (const call of [() => upstream.send({ path: "/" }), () => upstream.stream({ path: "/" })]) {
      const error = await thrown(call());
      expect([error.code, error.delivered]).to.deep.equal(["timeout", true]);
    }
    expect(upstream.stats.active).to.equal(0);
  });

  it("head: counts the wait for a free connection, and prevents a late request", async () => {
    await using server = await startRaw(({ text, socket }) => {
      if (!text.startsWith("GET /hang")) socket.write(plainAnswer("ok"));
    });
    await using upstream = new Upstream({ url: server.url, connections: 2 });
    const hold = new AbortController();
    const hanging = [1, 2].map(() => thrown(upstream.send({ path: "/hang", signal: hold.signal })));
    await server.until(() => server.requests.length === 2);
    const waiting = thrown(upstream.send({ path: "/late", method: "POST", body: "x", deadlines: { head: 60 } }));
    await until(() => upstream.stats.pending !== 0);
    expect(upstream.stats).to.include({ active: 3, pending: 1, connections: 2 });
    const error = await waiting;
    expect([error.code, error.delivered]).to.deep.equal(["timeout", false]);
    const patient = upstream.send({ path: "/patient" });
    hold.abort();
    await Promise.all(hanging);
    expect((await patient).body.toString()).to.equal("ok");
    expect(server.requests.filter(({ text }) => text.includes("/late"))).to.have.length(0);
  });

  it("connect: ends a dial that hangs, and a TLS handshake without an answer", async () => {
    await using upstream = new Upstream({
      url: "http://nowhere.invalid",
      deadlines: { connect: 60 },
      dial: () => new Promise(() => undefined),
    });
    const error = await thrown(upstream.send({ path: "/" }));
    expect([error.code, error.delivered]).to.deep.equal(["connect", false]);
    expect(error.message).to.equal("GET http://nowhere.invalid/: no connection within 60 ms");

    await using server = await startRaw();
    await using secure = new Upstream({ url: `https://127.0.0.1:${server.port}`, deadlines: { connect: 60 } });
    expect((await thrown(secure.send({ path: "/" }))).code).to.equal("connect");
    await server.until(() => server.opened === 1 && server.sockets.size === 0);
  });

  it("connect: ends an attempt on a server with a full backlog", async function () {
    if (process.platform !== "linux") this.skip();
    // A stopped process: its kernel accepts connections until the backlog is full.
    const source =
      'require("net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () { console.log(this.address().port); })';
    const child = spawn(process.execPath, ["-e", source], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      child.kill("SIGSTOP");
      await using upstream = new Upstream({
        url: `http://127.0.0.1:${Number(line.toString())}`,
        deadlines: { connect: 150, head: 100 },
      });
      // The first few are in the backlog: these get a connection, and no response.
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, () => thrown(upstream.send({ path: "/", deadlines: { head: 2000 } }))),
      );
      const refused = outcomes.filter(({ code }) => code === "connect");
      expect(refused).to.have.length.of.at.least(3);
      expect(refused[0]?.message).to.contain("no connection within 150 ms");
      expect(refused.every(({ delivered }) => delivered === false)).to.equal(true);
    } finally {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  });

  it("connect: an unused port fails at once", async () => {
    const server = await startRaw();
    await server[Symbol.asyncDispose]();
    await using upstream = new Upstream({ url: server.url });
    const error = await thrown(upstream.send({ path: "/" }));
    expect([error.code, error.delivered]).to.deep.equal(["connect", false]);
    expect(error.message).to.contain("ECONNREFUSED");
    expect(upstream.stats.failures.connect).to.equal(1);
  });

  it("idle: ends a body that stops, streamed or whole", async () => {
    await using server = await startRaw(({ socket }) => socket.write(`${HEAD}2\r\nab\r\n`));
    await using upstream = new Upstream({ url: server.url, deadlines: { idle: 200 } });
    const answer = await upstream.stream({ path: "/" });
    const body = answer.body[Symbol.asyncIterator]();
    expect((await body.next()).value?.toString()).to.equal("ab");
    let code: string | undefined;
    expect(await took(thrown(body.next()).then((error) => (code = error.code)))).to.be.within(190, 1200);
    expect(code).to.equal("timeout");
    expect(await took(thrown(upstream.send({ path: "/" })).then((error) => (code = error.code)))).to.be.within(
      190,
      1200,
    );
    expect(code).to.equal("timeout");
    await server.until(() => server.sockets.size === 0);
    await until(() => upstream.stats.connections <= 0);
    expect(upstream.stats.active).to.equal(0);
    expect(upstream.stats.failures.timeout).to.equal(2);
  });

  it("idle: only runs during reads, starts again with each chunk, and can be disabled", async () => {
    await using server = await startRaw(({ socket, text }) => {
      socket.write(HEAD);
      if (text.includes("/forever")) return;
      const pieces = setInterval(() => socket.write("1\r\n.\r\n"), 60);
      socket.on("close", () => clearInterval(pieces));
    });
    await using upstream = new Upstream({ url: server.url, deadlines: { idle: 150 } });
    const forever = await upstream.stream({ path: "/forever", deadlines: { idle: Number.POSITIVE_INFINITY } });
    const patient = forever.body[Symbol.asyncIterator]().next();
    const rested = await upstream.stream({ path: "/rested" });
    // This read waits, and the next ones do not.
    expect((await rested.body[Symbol.asyncIterator]().next()).value?.length).to.equal(1);
    const slow = await upstream.stream({ path: "/slow" });
    let length = 0;
    // Eight chunks at 60 ms each: longer than 150 ms in all.
    for await (const piece of slow.body) {
      length += piece.length;
      if (length >= 8) break;
    }
    expect((await rested.body[Symbol.asyncIterator]().next()).value?.length).to.be.at.least(5);
    expect(upstream.stats.failures.timeout).to.equal(0);
    await forever[Symbol.asyncDispose]();
    expect((await patient).done).to.equal(true);
    await rested[Symbol.asyncDispose]();
  });

  it("idle: ends a watch whose relay becomes a black hole", async () => {
    await using server = await startRaw(({ socket }) => socket.write(`${HEAD}3\r\n{}\n\r\n`));
    await using faulty = await startFaulty(server.url);
    await using upstream = new Upstream({ url: faulty.url, deadlines: { idle: 100 } });
    const watch = await upstream.stream({ path: "/", long: true });
    const body = watch.body[Symbol.asyncIterator]();
    await body.next();
    faulty.blackHole();
    expect((await thrown(body.next())).code).to.equal("timeout");
    expect((await thrown(upstream.send({ path: "/", deadlines: { head: 100 } }))).code).to.equal("timeout");
    await faulty.until(({ connections }) => connections === 0);
  });

  it("reject an invalid duration", async () => {
    expect(() => new Upstream({ url: "http://x", deadlines: { idle: Number.NaN } })).to.throw("deadlines.idle");
    await using upstream = new Upstream({ url: "http://x" });
    expect((await thrown(upstream.send({ path: "/", deadlines: { head: 0 } }))).message).to.contain("deadlines.head");
  });
});
