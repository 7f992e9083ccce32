// a tunnel that an agent has dialled: GETs through it, one stream far away, streams that nobody reads, an end that dies, and thousands of idle agents
import assert from "node:assert/strict";
import { checked } from "./_harness/checked.ts";
import { type Delayed, delayed } from "./_harness/delayed.ts";
import { type Answer, getRequest, load } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Way } from "./_harness/tunnels.ts";
import type { TunnelAgent } from "./_servers/tunnel-agent.ts";
import type { TunnelHub } from "./_servers/tunnel-hub.ts";
import type { Upstream } from "./_servers/upstream.ts";

const MiB = 1024 * 1024;
const short = process.argv.includes("--short");
const ROUNDS = short ? 2 : 12;
const WARM = short ? 300 : 2500;
const SIZE = 2048;
/** Each way: a round trip of 40 ms. */
const FAR = 20;
const FAR_SIZE = (short ? 8 : 256) * MiB;
/** What Node's windows bring in some seconds. */
const RIVAL_SIZE = (short ? 1 : 3) * MiB;
const UNREAD = 50;
const AGENTS = short ? 100 : 3_800;
const ways = ["ours", "bare", "streams"] as const satisfies readonly Way[];
const request = getRequest("/apis/bench.example/v1/widgets/w00000", { Accept: "application/json" });

await using upstream = await Remote.start<Upstream>("upstream");
const body = Buffer.from(JSON.stringify({ kind: "Widget", text: "x".repeat(SIZE) }).slice(0, SIZE));
await upstream.ask("use", body);
const api = await upstream.ask("listen");

/** A hub and its agent, each a process of its own. */
class Ends implements AsyncDisposable {
  readonly hub: Remote<TunnelHub>;
  readonly agent: Remote<TunnelAgent>;
  readonly clients: number;

  private constructor(hub: Remote<TunnelHub>, agent: Remote<TunnelAgent>, clients: number) {
    this.hub = hub;
    this.agent = agent;
    this.clients = clients;
  }

  /** @param between where the agent dials, given where the hub listens */
  static async start(way: Way, between = async (port: number): Promise<number> => port): Promise<Ends> {
    const hub = await Remote.start<TunnelHub>("tunnel-hub", ["--expose-gc"]);
    const agent = await Remote.start<TunnelAgent>("tunnel-agent");
    const { agents, clients } = await hub.ask("listen", way);
    await agent.ask("dial", { way, hub: await between(agents), api });
    return new Ends(hub, agent, clients);
  }

  async cpu(): Promise<number> {
    return (await this.hub.ask("cpu")) + (await this.agent.ask("cpu"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hub[Symbol.asyncDispose]();
    await this.agent[Symbol.asyncDispose]();
  }
}

await using stack = new AsyncDisposableStack();
const ends = { ours: await Ends.start("ours"), bare: await Ends.start("bare"), streams: await Ends.start("streams") };
for (const each of Object.values(ends)) stack.use(each);

// GETs.
const answers: Partial<Record<Way, Answer>> = {};
for (const way of ways) answers[way] = await checked(way, { port: ends[way].clients, request, body });
async function measure(way: Way, milliseconds: number): Promise<{ cpu: number; rate: number; latency: number }> {
  const before = await ends[way].cpu();
  const terms = { port: ends[way].clients, request, expected: answers[way] as Answer, connections: 16 };
  const { answers: count, seconds } = await load({ ...terms, milliseconds });
  return {
    cpu: ((await ends[way].cpu()) - before) / count,
    rate: count / seconds,
    latency: (seconds * 16_000) / count,
  };
}
await interleave(ways, 1, (way) => measure(way, WARM));
const rounds = await interleave(ways, ROUNDS, (way) => measure(way, 300));

// One that dies, meanwhile.
let dying: Delayed | undefined;
const dead = stack.use(
  await Ends.start("ours", async (port) => {
    dying = stack.use(await delayed(port, 0));
    return dying.port;
  }),
);
await dead.hub.ask("transfer", { size: MiB, up: false });
dying?.silence();
const noticed = short ? undefined : dead.hub.ask("ended");

// Streams that nobody reads.
const before = await measure("ours", 1000);
const held = await ends.ours.hub.ask("hold", { count: UNREAD, size: 64 * MiB });
const beside = await measure("ours", 1000);
await ends.ours.hub.ask("release");
assert.ok(held > UNREAD * 64 * 1024, `of what was asked for ${held} bytes have come`);

// Far away.
const far = async (way: Way) => {
  const pair = stack.use(await Ends.start(way, async (port) => stack.use(await delayed(port, FAR)).port));
  const size = way === "ours" ? FAR_SIZE : RIVAL_SIZE;
  const speed = async (up: boolean) => {
    await pair.hub.ask("transfer", { size: size / 4, up });
    return pair.hub.ask("transfer", { size, up });
  };
  return { down: await speed(false), up: await speed(true) };
};
const speeds = { ours: await far("ours"), bare: await far("bare") };

// Idle agents.
async function idle(ours: boolean): Promise<number> {
  await using hub = await Remote.start<TunnelHub>("tunnel-hub", ["--expose-gc"]);
  await using agents = await Remote.start<TunnelAgent>("tunnel-agent");
  const port = await hub.ask("idle", ours);
  await agents.ask("idle", { hub: port, count: 20, ours });
  await hub.ask("idlers", 20);
  const base = (await hub.ask("memory")).rss;
  await agents.ask("idle", { hub: port, count: AGENTS, ours });
  await hub.ask("idlers", AGENTS + 20);
  if (!short) await hub.ask("heard");
  return ((await hub.ask("memory")).rss - base) / AGENTS;
}
const memory = { bare: await idle(false), ours: await idle(true) };

const get = "CPU of hub and agent per GET of 2 KiB";
const stream = "bytes per second of one stream, 40 ms there and back";
report("tunnel", [
  figure({
    what: get,
    value: rounds.ratio(["ours", "bare"], "cpu"),
    unit: "ratio",
    rival: "bare CONNECT streams of node:http2",
    atMost: 1.4,
  }),
  figure({
    what: "the same",
    value: rounds.ratio(["ours", "streams"], "cpu"),
    unit: "ratio",
    rival: "a stream of node:http2 for each request",
    atMost: 1,
  }),
  ...ways.map((way) => figure({ what: `${get}, ${way}`, value: rounds.of(way, "cpu"), unit: "µs" })),
  figure({
    what: `${stream}, from the agent`,
    value: speeds.ours.down / speeds.bare.down,
    unit: "ratio",
    rival: "Node's windows",
    atLeast: 50,
  }),
  figure({
    what: `${stream}, to the agent`,
    value: speeds.ours.up / speeds.bare.up,
    unit: "ratio",
    rival: "Node's windows",
    atLeast: 50,
  }),
  figure({ what: `held of ${UNREAD} streams of 64 MiB that nobody reads`, value: held / MiB, unit: "MiB", atMost: 64 }),
  figure({
    what: "time of a GET beside them",
    value: beside.latency / before.latency,
    unit: "ratio",
    rival: "without them",
    atMost: 2,
  }),
  ...(noticed === undefined
    ? []
    : [
        figure({
          what: "until the hub knows that its agent is gone, who says nothing",
          value: await noticed,
          unit: "s",
          atMost: 15,
        }),
      ]),
  figure({
    what: `RSS of the hub per idle agent, ${AGENTS.toLocaleString("en")} over TLS`,
    value: memory.ours / memory.bare,
    unit: "ratio",
    rival: "bare TLS connections",
    atMost: 1.3,
  }),
  figure({ what: "the same", value: memory.ours / 1024, unit: "KiB" }),
]);
