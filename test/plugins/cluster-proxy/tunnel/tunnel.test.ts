// Streams in a tunnel work like TCP connections: bytes both ways, end and error distinguished, no blocking of one by another.
import { once } from "node:events";
import { performServerHandshake } from "node:http2";
import { AgentEnd, HubEnd, isTunnelError, TunnelError } from "@virtual-workspaces/cluster-proxy";
import { expect } from "chai";
import { until } from "../../../_support/until.ts";
import { Between } from "./support/between.ts";
import { Behind, ends, pair, read } from "./support/ends.ts";
import { codeOf, failure } from "./support/failures.ts";
import { begun } from "./support/raw.ts";

const MiB = 1024 * 1024;

describe("stream in a tunnel", () => {
  it("transfers bytes both ways, also after the end of one direction", async () => {
    await using behind = await Behind.start((socket) => {
      void read(socket).then((asked) => socket.end(Buffer.concat([Buffer.from("you said: "), asked])));
    });
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    const stream = await tunnel.hub.open("api");
    stream.write("one, ");
    stream.end("two");
    expect((await read(stream)).toString()).to.equal("you said: one, two");
  });

  it("transfers 64 MiB each way unchanged", async () => {
    await using behind = await Behind.start((socket) => void socket.pipe(socket));
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    const stream = await tunnel.hub.open("api");
    const piece = Buffer.from(Array.from({ length: MiB }, (_, at) => at % 251));
    const writing = (async () => {
      for (let n = 0; n < 64; n++) if (!stream.write(piece)) await once(stream, "drain");
      stream.end();
    })();
    const all = await read(stream);
    await writing;
    expect(all.length).to.equal(64 * MiB);
    for (let n = 0; n < 64; n++)
      expect(all.subarray(n * MiB, (n + 1) * MiB).equals(piece), `piece ${n}`).to.equal(true);
  });

  it("leads only to targets that the agent allows", async () => {
    await using behind = await Behind.start((socket) => socket.end("hello"));
    const told: string[] = [];
    await using tunnel = await ends({
      agent: {
        targets: (name) => {
          if (name !== "broken") return behind.targets(name);
          return { dial: () => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.1:443")) };
        },
        onError: (error, target) => told.push(`${target}: ${(error as Error).message}`),
      },
    });
    const refused = await failure(tunnel.hub.open("127.0.0.1:22"));
    expect(refused).to.be.instanceOf(TunnelError).with.property("code", "refused");
    expect((refused as Error).message).to.equal(
      "127.0.0.1:22: the agent does not allow this target: its administrator can",
    );
    const unreachable = await failure(tunnel.hub.open("broken"));
    expect(unreachable).to.be.instanceOf(TunnelError).with.property("code", "unreachable");
    expect((unreachable as Error).message).to.equal("broken: the agent cannot connect to the target");
    expect(told).to.deep.equal(["broken: connect ECONNREFUSED 10.0.0.1:443"]);
    expect((await read(await tunnel.hub.open("api"))).toString()).to.equal("hello");
  });

  it("fails alone if the agent's own code throws", async () => {
    await using behind = await Behind.start((socket) => socket.end("hello"));
    const told: string[] = [];
    await using tunnel = await ends({
      agent: {
        targets: (name) => {
          if (name === "api") return behind.targets(name);
          if (name === "unknown") throw new Error("no such file");
          return { accept: () => expect.fail("not taken") };
        },
        onError: (error, target) => told.push(`${target}: ${(error as Error).message}`),
      },
    });
    expect(await codeOf(tunnel.hub.open("unknown"))).to.equal("unreachable");
    const taken = await tunnel.hub.open("taken");
    await failure(read(taken));
    expect(told).to.deep.equal(["unknown: no such file", "taken: not taken"]);
    expect((await read(await tunnel.hub.open("api"))).toString()).to.equal("hello");
  });

  it("fails with a message of the hub's own, whatever an agent sends", async () => {
    const [near, far] = await pair();
    await using hub = new HubEnd(near);
    await begun(far);
    const session = performServerHandshake(far);
    session.on("stream", (stream) =>
      stream.respond({ ":status": 403, "tunnel-message": "%zz\u00a0%0d%0a" }, { endStream: true }),
    );
    const refused = await failure(hub.open("api"));
    expect(refused).to.include({
      code: "refused",
      message: "api: the agent does not allow this target: its administrator can",
    });
    session.destroy();
  });

  it("fails at the hub when it fails at the target, and never looks complete", async () => {
    await using behind = await Behind.start((socket) => {
      socket.once("data", () => socket.write("half of it", () => socket.resetAndDestroy()));
    });
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    const stream = await tunnel.hub.open("api");
    stream.write("all of it?");
    await failure(read(stream));
  });

  it("ends at the target when the hub ends it, early or before it is connected", async () => {
    const closed = Promise.withResolvers<void>();
    await using behind = await Behind.start((socket) => {
      socket.once("end", () => closed.resolve()).resume();
      socket.write("more to come");
    });
    const dialled = Promise.withResolvers<AbortSignal>();
    await using tunnel = await ends({
      agent: {
        targets: (name) =>
          name === "slow"
            ? {
                dial: ({ signal }) => {
                  dialled.resolve(signal);
                  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
                },
              }
            : behind.targets(name),
      },
    });
    const stream = await tunnel.hub.open("api");
    await once(stream, "data");
    stream.destroy();
    await closed.promise;
    const leaving = new AbortController();
    const opening = failure(tunnel.hub.open("slow", { signal: leaving.signal }));
    const { signal } = { signal: await dialled.promise };
    const reason = new Error("the client has left");
    leaving.abort(reason);
    expect(await opening).to.equal(reason);
    if (!signal.aborted) await once(signal, "abort");
  });

  it("is not blocked by fifty others without a reader, which buffer no more than the tunnel's limit", async () => {
    await using behind = await Behind.start((socket) => {
      socket.once("data", (asked) => {
        if (asked.toString() === "small") socket.end("here");
        else socket.write(Buffer.alloc(64 * MiB));
      });
    });
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    const unread = await Promise.all(Array.from({ length: 50 }, () => tunnel.hub.open("api")));
    for (const stream of unread) stream.write("large");
    for (let n = 0; n < 20; n++) {
      const stream = await tunnel.hub.open("api");
      stream.end("small");
      expect((await read(stream)).toString()).to.equal("here");
    }
    expect(tunnel.hub.stats.read).to.be.below(64 * MiB + MiB);
    await until(() => tunnel.hub.stats.streams <= 50);
    for (const stream of unread) stream.destroy();
  });

  it("waits for its turn if the agent has its maximum of streams", async () => {
    await using behind = await Behind.start((socket) => void socket.pipe(socket));
    await using tunnel = await ends({ agent: { targets: behind.targets, streams: 2 } });
    const first = await tunnel.hub.open("api");
    const second = await tunnel.hub.open("api");
    const third = tunnel.hub.open("api");
    second.end();
    await read(second);
    const stream = await third;
    stream.end("third");
    expect((await read(stream)).toString()).to.equal("third");
    first.destroy();
  });

  it("leaves nothing behind after 1,000 of them", async () => {
    await using behind = await Behind.start((socket) => void socket.pipe(socket));
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    for (let n = 0; n < 20; n++)
      await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const stream = await tunnel.hub.open("api");
          stream.write("x");
          await once(stream, "data");
          if (at % 3 === 0) stream.destroy();
          else {
            stream.end();
            await read(stream);
          }
        }),
      );
    const last = await tunnel.hub.open("api");
    last.end();
    await read(last);
    await until(() => tunnel.hub.stats.streams + tunnel.agent.stats.streams + behind.open <= 0);
    expect(tunnel.hub.stats).to.include({ streams: 0, opened: 1001 });
  });
});

describe("tunnel", () => {
  it("accepts no new streams when the agent drains it, and ends when the open ones have ended", async () => {
    await using behind = await Behind.start((socket) => void socket.pipe(socket));
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    const stream = await tunnel.hub.open("api");
    stream.write("a");
    await once(stream, "data");
    const drained = tunnel.agent.drain();
    await until(() => !tunnel.hub.usable);
    expect(await codeOf(tunnel.hub.open("api"))).to.equal("draining");
    stream.end("b");
    expect((await read(stream)).toString()).to.equal("b");
    await drained;
    expect(await tunnel.hub.closed).to.equal(undefined);
    expect(await codeOf(tunnel.hub.open("api"))).to.equal("closed");
  });

  it("opens concurrent streams or rejects them with draining when it is drained", async () => {
    for (let round = 0; round < 20; round++) {
      await using behind = await Behind.start((socket) => void socket.pipe(socket));
      await using tunnel = await ends({ agent: { targets: behind.targets } });
      await tunnel.hub.open("api").then((stream) => read(stream.end()));
      let drained: Promise<void> | undefined;
      const asked = Array.from({ length: 40 }, async (_, at) => {
        if (at === round) drained = tunnel.agent.drain();
        try {
          const stream = await tunnel.hub.open("api");
          expect((await read(stream.end("x"))).toString()).to.equal("x");
          return "open";
        } catch (error) {
          return isTunnelError(error) ? error.code : expect.fail(String(error));
        }
      });
      for (const outcome of await Promise.all(asked)) expect(outcome).to.be.oneOf(["open", "draining"]);
      await drained;
    }
  });

  it("notifies its agent when the hub drains it, and the agent redials before it ends", async () => {
    await using behind = await Behind.start((socket) => void socket.pipe(socket));
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    const stream = await tunnel.hub.open("api");
    const drained = tunnel.hub.drain();
    await tunnel.agent.draining;
    expect(await codeOf(tunnel.hub.open("api"))).to.equal("draining");
    stream.end("still here");
    expect((await read(stream)).toString()).to.equal("still here");
    await drained;
    await tunnel.agent.closed;
  });

  it("detects a silent connection at both ends, and fails its streams", async () => {
    const heartbeat = { interval: 20 };
    await using behind = await Behind.start((socket) => void socket.pipe(socket));
    await using between = await Between.start();
    await using hub = new HubEnd(between.near, { heartbeat });
    await using agent = new AgentEnd(between.far, { targets: behind.targets, heartbeat });
    const stream = await hub.open("api");
    stream.write("a");
    await once(stream, "data");
    const broken = failure(read(stream));
    between.silent = true;
    const [atHub, atAgent] = await Promise.all([hub.closed, agent.closed]);
    for (const error of [atHub, atAgent])
      expect(error).to.include({ code: "closed", message: "the other end of the tunnel does not respond" });
    await broken;
    expect(await codeOf(hub.open("api"))).to.equal("closed");
  });

  it("survives late answers behind other bytes", async () => {
    const heartbeat = { interval: 20 };
    await using behind = await Behind.start((socket) => socket.write(Buffer.alloc(4 * MiB)));
    await using between = await Between.start();
    await using hub = new HubEnd(between.near, { heartbeat });
    await using _agent = new AgentEnd(between.far, { targets: behind.targets, heartbeat: { interval: 60_000 } });
    between.slowly = true;
    const stream = await hub.open("api");
    let length = 0;
    for await (const piece of stream) {
      length += piece.length;
      if (length === 4 * MiB) break;
    }
    expect(hub.usable).to.equal(true);
  });

  it("fails the streams at the other end when one end is killed", async () => {
    await using behind = await Behind.start((socket) => void socket.pipe(socket));
    await using between = await Between.start();
    await using hub = new HubEnd(between.near);
    await using agent = new AgentEnd(between.far, { targets: behind.targets });
    const stream = await hub.open("api");
    const broken = failure(read(stream));
    const opening = hub.open("api").then(
      (opened) => failure(read(opened)),
      (error: unknown) => error,
    );
    await between[Symbol.asyncDispose]();
    await broken;
    expect(await opening).to.be.instanceOf(Error);
    expect(await codeOf(hub.open("api"))).to.equal("closed");
    await agent.closed;
    await until(() => behind.open <= 0);
  });

  it("validates its options", async () => {
    const [near, far] = await pair();
    const cases = [
      [{ windows: { tunnel: 1000 } }, /invalid windows.tunnel: use at least 262144 bytes/],
      [{ windows: { stream: 1000 } }, /invalid windows.stream: use at least 65536 bytes/],
      [{ windows: { tunnel: MiB, stream: 2 * MiB } }, /at most windows.tunnel/],
      [{ heartbeat: { interval: 0 } }, /invalid heartbeat.interval: use more than 0 ms/],
    ] as const;
    for (const [options, said] of cases) expect(() => new HubEnd(near, options)).to.throw(said);
    const targets = (): undefined => undefined;
    expect(() => new AgentEnd(far, { targets, streams: 0 })).to.throw(
      /^invalid streams of an agent: use a number of at least 1/,
    );
    for (const socket of [near, far]) socket.destroy();
  });
});
