// Why: a tunnel needs few resources before its first stream, and still supports heartbeats, draining and closing.
import { type Duplex, duplexPair } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { AgentEnd, HubEnd } from "@virtual-workspaces/cluster-proxy";
import { expect } from "chai";
import { until } from "../../../_support/until.ts";
import { Between } from "./support/between.ts";
import { Behind, type Ends, ends, pair, read, tlsPair } from "./support/ends.ts";
import { codeOf, failure } from "./support/failures.ts";
import { acknowledged, PREFACE, SETTINGS, take } from "./support/raw.ts";

const targets = (): undefined => undefined;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A target that echoes all bytes. */
const echo = (): Promise<Behind> => Behind.start((socket) => void socket.pipe(socket));

async function echoed(hub: HubEnd, word: string): Promise<string> {
  const stream = await hub.open("api");
  return (await read(stream.end(word))).toString();
}

async function ended({ hub, agent }: Pick<Ends, "hub" | "agent">): Promise<void> {
  expect(await Promise.all([hub.closed, agent.closed])).to.deep.equal([undefined, undefined]);
}

describe("idle tunnel", () => {
  it("stays open, with heartbeats of both ends", async () => {
    const heartbeat = { interval: 20 };
    await using tunnel = await ends({ agent: { targets, heartbeat }, hub: { heartbeat } });
    for (const end of [tunnel.hub, tunnel.agent])
      for (let times = 0, last: number | undefined; times < 3; times++) {
        await until(() => end.stats.heartbeat?.at !== last);
        last = end.stats.heartbeat?.at;
        expect(end.stats.heartbeat?.roundTrip).to.be.at.least(0);
      }
    expect(tunnel.hub.usable).to.equal(true);
    expect(tunnel.hub.stats).to.include({ streams: 0, opened: 0 });
  });

  it("sends single bytes: one ping at a time, and answers to pings", async () => {
    const [near, far] = await pair();
    await using hub = new HubEnd(near, { heartbeat: { interval: 20 } });
    expect(await take(far, 1)).to.equal("?");
    for (let n = 0; n < 3; n++) {
      await setTimeout(20); // After the hub's own timer.
      far.write("?");
      expect(await take(far, 1)).to.equal("!");
    }
    expect(hub.stats.heartbeat).to.equal(undefined);
    far.write("!");
    await until(() => hub.stats.heartbeat !== undefined);
    expect(await take(far, 1)).to.equal("?");
    far.destroy();
  });

  it("carries the agent's report in place of its ping, without a further byte, and later in HTTP/2", async () => {
    const [near, far] = await pair();
    let report: number | undefined = 3;
    await using agent = new AgentEnd(near, { targets, report: () => report, heartbeat: { interval: 20 } });
    expect(await take(far, 1)).to.equal("3");
    report = undefined;
    far.write("!");
    expect(await take(far, 1)).to.equal("?");
    far.destroy();
    await agent.closed;

    await using behind = await echo();
    const heartbeat = { interval: 20 };
    const reports: number[] = [];
    const onReport = (one: number): void => void reports.push(one);
    const reporting = { targets: () => behind, report: () => report, heartbeat };
    await using tunnel = await ends({ agent: reporting, hub: { heartbeat, onReport } });
    report = 0;
    await until(() => reports.at(-1) === 0);
    expect(await echoed(tunnel.hub, "hello")).to.equal("hello");
    for (report of [9, 0, 1]) await until(() => reports.at(-1) === report);
    report = undefined;
    const { at } = tunnel.agent.stats.heartbeat ?? {};
    await until(() => tunnel.agent.stats.heartbeat?.at !== at);
    expect(new Set(reports)).to.deep.equal(new Set([0, 9, 1]));
  });

  it("is closed at both ends when no bytes arrive", async () => {
    const heartbeat = { interval: 20 };
    await using between = await Between.start();
    await using hub = new HubEnd(between.near, { heartbeat });
    await using agent = new AgentEnd(between.far, { targets, heartbeat });
    await until(() => !(hub.stats.heartbeat === undefined || agent.stats.heartbeat === undefined));
    between.silent = true;
    for (const error of await Promise.all([hub.closed, agent.closed]))
      expect(error).to.include({ code: "closed", message: "the other end of the tunnel does not respond" });
    expect(hub.usable).to.equal(false);
  });

  it("is closed when a requested stream or a drain gets no answer", async () => {
    for (const wanted of ["open", "drain"]) {
      await using between = await Between.start();
      between.silent = true;
      await using hub = new HubEnd(between.near, { heartbeat: { interval: 20 } });
      if (wanted === "open") expect(await codeOf(hub.open("api"))).to.equal("closed");
      else await hub.drain();
      expect(await hub.closed).to.include({ code: "closed", message: "the other end of the tunnel does not respond" });
    }
  });

  it("ends when the other end has ended", async () => {
    const [near, far] = await pair();
    await using hub = new HubEnd(near);
    const opening = codeOf(hub.open("api"));
    far.end();
    expect(await opening).to.equal("closed");
    expect(await hub.closed).to.equal(undefined);
    expect(await codeOf(hub.open("api"))).to.equal("closed");
    far.destroy();
  });

  it("ends at once on a connection that has already ended", async () => {
    const [near, far] = await pair();
    near.destroy();
    await new Promise((resolve) => near.once("close", resolve));
    await using hub = new HubEnd(near);
    expect(await hub.closed).to.equal(undefined);
    expect(await codeOf(hub.open("api"))).to.equal("closed");
    far.destroy();
  });

  it("ends with an error after any other byte", async () => {
    for (const said of ["x", "!", "??", "?x", "1?", "11", PREFACE, "\u00ff"])
      for (const end of ["hub", "agent"]) {
        const [near, far] = await pair();
        await using tunnel = end === "hub" ? new HubEnd(near) : new AgentEnd(near, { targets });
        far.write(said, "latin1");
        const error = await tunnel.closed;
        expect(error, `${said} to the ${end}`).to.include({
          code: "closed",
          message: "the other end of the tunnel violates the protocol",
        });
        far.destroy();
      }
  });

  it("ends with an error after bytes that are not HTTP/2 where that should start", async () => {
    const [near, far] = await pair();
    await using hub = new HubEnd(near);
    const opening = codeOf(hub.open("api"));
    far.write(">GET / HTTP/1.1\r\n\r\n");
    expect(await opening).to.equal("closed");
    expect(await hub.closed).to.be.instanceOf(Error);
    far.destroy();
  });
});

describe("first stream of a tunnel", () => {
  it("works like later ones, over TLS and over a connection that is not a socket", async () => {
    await using behind = await echo();
    const connections: (readonly [Duplex, Duplex])[] = [await tlsPair(), duplexPair() as [Duplex, Duplex]];
    for (const sockets of connections) {
      await using tunnel = await ends({ agent: { targets: behind.targets } }, sockets);
      expect(await echoed(tunnel.hub, "first")).to.equal("first");
      expect(await echoed(tunnel.hub, "second")).to.equal("second");
      expect(tunnel.hub.stats).to.include({ opened: 2 });
    }
  });

  it("may be one of many concurrent ones", async () => {
    await using behind = await echo();
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    const words = Array.from({ length: 50 }, (_, at) => `word ${at}`);
    expect(await Promise.all(words.map((word) => echoed(tunnel.hub, word)))).to.deep.equal(words);
    expect(tunnel.agent.stats).to.include({ opened: 50 });
  });

  it("may be canceled before the agent receives it, and the tunnel works for others", async () => {
    await using behind = await echo();
    await using between = await Between.start();
    await using hub = new HubEnd(between.near);
    await using _agent = new AgentEnd(between.far, { targets: behind.targets });
    const leaving = new AbortController();
    const opening = failure(hub.open("api", { signal: leaving.signal }));
    const reason = new Error("the client has left");
    leaving.abort(reason);
    expect(await opening).to.equal(reason);
    expect(hub.stats.opened).to.equal(0);
    expect(await echoed(hub, "another")).to.equal("another");
  });

  it("starts after pending answers, with further bytes in the same chunk, at the hub", async () => {
    const [near, far] = await pair();
    await using hub = new HubEnd(near, { heartbeat: { interval: 20 } });
    expect(await take(far, 1)).to.equal("?");
    const opening = codeOf(hub.open("api"));
    expect(await take(far, 1)).to.equal(">");
    far.write(Buffer.concat([Buffer.from("?!>"), SETTINGS]));
    expect(await take(far, PREFACE.length)).to.equal(PREFACE);
    await acknowledged(far);
    expect(hub.stats.heartbeat).not.to.equal(undefined);
    far.destroy();
    expect(await opening).to.equal("closed");
  });

  it("starts when this end has sent BEGIN after the other", async () => {
    const [near, far] = await tlsPair();
    await using hub = new HubEnd(near);
    const opening = new Promise<string>((resolve) => {
      near.prependOnceListener("readable", () => resolve(codeOf(hub.open("api"))));
    });
    far.write(">");
    expect(await take(far, 1)).to.equal(">");
    far.write(SETTINGS);
    expect(await take(far, PREFACE.length)).to.equal(PREFACE);
    await acknowledged(far);
    far.destroy();
    expect(await opening).to.equal("closed");
  });

  it("starts after pending answers, with further bytes in the same chunk, at the agent", async () => {
    const [near, far] = await tlsPair();
    await using _agent = new AgentEnd(far, { targets });
    near.write(Buffer.concat([Buffer.from(`?>${PREFACE}`), SETTINGS]));
    expect(await take(near, 2)).to.equal("!>");
    await acknowledged(near);
    near.destroy();
  });
});

describe("drain of an idle tunnel", () => {
  it("by the hub notifies the agent and ends the tunnel", async () => {
    await using tunnel = await ends({ agent: { targets } });
    const drained = tunnel.hub.drain();
    expect(tunnel.hub.usable).to.equal(false);
    expect(await codeOf(tunnel.hub.open("api"))).to.equal("draining");
    await tunnel.agent.draining;
    await drained;
    await ended(tunnel);
    expect(await codeOf(tunnel.hub.open("api"))).to.equal("closed");
  });

  it("by the agent ends the tunnel", async () => {
    await using tunnel = await ends({ agent: { targets } }, await tlsPair());
    await tunnel.agent.drain();
    await ended(tunnel);
    expect(await codeOf(tunnel.hub.open("api"))).to.equal("closed");
  });

  it("by both ends the tunnel", async () => {
    await using tunnel = await ends({ agent: { targets } });
    await Promise.all([tunnel.hub.drain(), tunnel.agent.drain()]);
    await ended(tunnel);
  });

  it("by the hub opens streams that were requested before", async () => {
    await using behind = await echo();
    await using tunnel = await ends({ agent: { targets: behind.targets } });
    const before = [echoed(tunnel.hub, "one"), echoed(tunnel.hub, "two")];
    const drained = tunnel.hub.drain();
    expect(await codeOf(tunnel.hub.open("api"))).to.equal("draining");
    expect(await Promise.all(before)).to.deep.equal(["one", "two"]);
    await drained;
    await ended(tunnel);
  });

  it("by the agent rejects concurrent streams with draining", async () => {
    const [near, far] = await pair();
    await using hub = new HubEnd(near);
    const opening = codeOf(hub.open("api"));
    expect(await take(far, 1)).to.equal(">");
    far.end(".");
    expect(await opening).to.equal("draining");
    expect(await hub.closed).to.equal(undefined);
    far.destroy();
  });

  it("by the agent never starts HTTP/2 for a hub that has not received it", async () => {
    const [near, far] = duplexPair() as [Duplex, Duplex];
    await using agent = new AgentEnd(far, { targets });
    const drained = agent.drain();
    near.write("?>");
    expect((await read(near)).toString()).to.equal(".");
    near.end();
    await drained;
    expect(await agent.closed).to.equal(undefined);
  });

  it("opens a stream or rejects it with draining, at any time and with any chunks", async () => {
    await using behind = await echo();
    for (let round = 0; round < 60; round++) {
      await using between = await Between.start();
      between.piece = round % 2 === 0 ? 1 : 4096;
      const hub = new HubEnd(between.near);
      const agent = new AgentEnd(between.far, { targets: behind.targets });
      const later = async (turns: number): Promise<void> => {
        for (let n = 0; n < turns; n++) await turn();
      };
      const asked = Array.from({ length: 3 }, async (_, at) => {
        await later(at * 2);
        const { usable } = hub;
        const outcome = await echoed(hub, `word ${at}`).catch((error: unknown) => codeOf(Promise.reject(error)));
        expect(outcome).to.be.oneOf(usable ? [`word ${at}`, "draining"] : ["draining", "closed"]);
      });
      await later(round / 6);
      await Promise.all([...asked, round % 3 === 0 ? hub.drain() : agent.drain()]);
      await ended({ hub, agent });
    }
  });
});
