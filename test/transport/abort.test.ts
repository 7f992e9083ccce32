// A caller that aborts gets its own reason, and frees its resources, at every stage of a request.
import { getEventListeners } from "node:events";
import { Cancellation, Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { plainAnswer, startRaw, thrown } from "../_support/raw.ts";
import { until } from "../_support/until.ts";

const HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
/** Not even an error: it must be passed unchanged. */
const REASON = { because: "the user left" };

describe("a request's signal", () => {
  it("prevents the request if it aborted before", async () => {
    await using server = await startRaw();
    await using upstream = new Upstream({ url: server.url });
    expect(await thrown(upstream.send({ path: "/", signal: AbortSignal.abort(REASON) }))).to.equal(REASON);
    expect([server.opened, upstream.stats.requests]).to.deep.equal([0, 0]);
  });

  it("prevents the request while it waits for credentials or a connection", async () => {
    await using server = await startRaw();
    const gate = Promise.withResolvers<object>();
    let asked = 0;
    const get = async (): Promise<object> => (++asked === 1 ? gate.promise : {});
    await using upstream = new Upstream({ url: server.url, connections: 1, credentials: { get } });
    const first = new AbortController();
    const early = thrown(upstream.send({ path: "/early", signal: first.signal }));
    first.abort(REASON);
    expect(await early).to.equal(REASON);

    const holder = new AbortController();
    const holding = thrown(upstream.send({ path: "/holding", signal: holder.signal }));
    await server.until(() => server.requests.length === 1);
    const second = new AbortController();
    const waiting = thrown(upstream.send({ path: "/waiting", signal: second.signal }));
    await until(() => upstream.stats.pending !== 0);
    second.abort(REASON);
    expect(await waiting).to.equal(REASON);
    expect(upstream.stats.pending).to.equal(0);
    holder.abort(REASON);
    expect(await holding).to.equal(REASON);
    await server.until(() => server.sockets.size === 0);
    gate.resolve({});
    expect(server.requests.map(({ text }) => text.split(" ")[1])).to.deep.equal(["/holding"]);
  });

  it("aborts the dial and the handshake", async () => {
    await using silent = await startRaw();
    await using secure = new Upstream({ url: `https://127.0.0.1:${silent.port}` });
    const first = new AbortController();
    const handshake = thrown(secure.send({ path: "/", signal: first.signal }));
    await silent.until(() => silent.sockets.size === 1);
    first.abort(REASON);
    expect(await handshake).to.equal(REASON);
    await silent.until(() => silent.sockets.size === 0);

    const dialled = Promise.withResolvers<AbortSignal>();
    await using tunnel = new Upstream({
      url: "http://x",
      dial: (_target, { signal }) => {
        dialled.resolve(signal);
        return new Promise(() => undefined);
      },
    });
    const second = new AbortController();
    const dialling = thrown(tunnel.send({ path: "/", signal: second.signal }));
    const signal = await dialled.promise;
    second.abort(REASON);
    expect(await dialling).to.equal(REASON);
    expect(signal.aborted).to.equal(true);
    expect(tunnel.stats).to.include({ active: 0, pending: 0, connections: 0 });
  });

  it("closes the connection during the head and during the body", async () => {
    await using server = await startRaw(({ text, socket }) => {
      if (text.includes("/body")) socket.write(`${HEAD}2\r\nab\r\n`);
    });
    await using upstream = new Upstream({ url: server.url });
    for (const path of ["/head", "/body"]) {
      const controller = new AbortController();
      const sent = server.requests.length;
      const whole = thrown(upstream.send({ path, signal: controller.signal }));
      await server.until(() => server.requests.length > sent);
      controller.abort(REASON);
      expect(await whole).to.equal(REASON);
      await server.until(() => server.sockets.size === 0);
    }
    const controller = new AbortController();
    const answer = await upstream.stream({ path: "/body", signal: controller.signal });
    const body = answer.body[Symbol.asyncIterator]();
    await body.next();
    const next = thrown(body.next());
    controller.abort(REASON);
    expect(await next).to.equal(REASON);
    await server.until(() => server.sockets.size === 0);
    // Aborts by callers are no failures of the upstream.
    expect(Object.values(upstream.stats.failures).every((count) => count === 0)).to.equal(true);
    expect(upstream.stats.active).to.equal(0);
  });

  it("has no listeners left after thousands of requests, and causes no warning", async () => {
    await using server = await startRaw(({ socket, text }) => {
      if (text.includes("/cut")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
      else socket.write(plainAnswer("ok"));
    });
    await using upstream = new Upstream({ url: server.url, connections: 20 });
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warn);
    const { signal } = new AbortController();
    for (let round = 0; round < 40; round++)
      await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          if (at === 0) await thrown(upstream.send({ path: "/cut", signal }));
          else if (at % 10 === 0) for await (const _ of (await upstream.stream({ path: "/", signal })).body);
          else await upstream.send({ path: "/", signal });
        }),
      );
    process.off("warning", warn);
    expect(getEventListeners(signal, "abort")).to.have.length(0);
    expect(warnings).to.deep.equal([]);
    expect(upstream.stats).to.include({ active: 0, pending: 0, requests: 2000 });
    expect(server.opened).to.be.at.most(20 + 40 * 2);
  });
});

describe("a request's cancellation", () => {
  it("ends the request at every stage with its reason, like a signal", async () => {
    await using server = await startRaw(({ text, socket }) => {
      if (text.includes("/body")) socket.write(`${HEAD}2\r\nab\r\n`);
    });
    await using upstream = new Upstream({ url: server.url });
    const before = new Cancellation();
    before.cancel(REASON);
    expect(await thrown(upstream.send({ path: "/", cancellation: before }))).to.equal(REASON);
    expect(server.opened).to.equal(0);
    for (const path of ["/head", "/body"]) {
      const cancellation = new Cancellation();
      const sent = server.requests.length;
      const whole = thrown(upstream.send({ path, cancellation }));
      await server.until(() => server.requests.length > sent);
      cancellation.cancel(REASON);
      expect(await whole).to.equal(REASON);
      await server.until(() => server.sockets.size === 0);
    }
    expect(upstream.stats.active).to.equal(0);
  });

  it("calls each listener once, and aborts its signal whenever it was read", () => {
    const heard: unknown[] = [];
    const cancellation = new Cancellation();
    const gone = (reason: unknown): void => void heard.push(["gone", reason]);
    cancellation.on((reason) => heard.push(["first", reason]));
    cancellation.on(gone);
    cancellation.on((reason) => heard.push(["last", reason]));
    cancellation.off(gone);
    const { signal } = cancellation;
    cancellation.cancel(REASON);
    cancellation.cancel("again");
    expect(heard).to.deep.equal([
      ["first", REASON],
      ["last", REASON],
    ]);
    expect([signal.aborted, signal.reason]).to.deep.equal([true, REASON]);
    const late = new Cancellation();
    late.cancel(REASON);
    expect([late.cancelled, late.reason, late.signal.reason]).to.deep.equal([true, REASON, REASON]);
  });
});
