// what lasts, through a view that passes it on: idle watches, those who leave, a server that dies within a list, and lists of 20 MB, against http-proxy and the direct way
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { median } from "./_harness/statistics.ts";
import type { HttpProxied } from "./_servers/http-proxied.ts";
import type { MountTarget } from "./_servers/mount-target.ts";
import type { Proxied } from "./_servers/proxied.ts";

const short = process.argv.includes("--short");
const WATCHES = short ? 200 : 2_000;
const LEAVING = short ? 500 : 10_000;
const DEATHS = 40;
const AT_ONCE = 250;
const KIB = 1024;
const WATCH = "/apis/bench.example/v1/widgets?watch=1";
const LIST = "/apis/bench.example/v1/list";
const headers = { Authorization: "Bearer bench-token", Accept: "application/json" };

await using target = await Remote.start<MountTarget>("mount-target");
await using ours = await Remote.start<Proxied>("proxied", ["--expose-gc"]);
await using package_ = await Remote.start<HttpProxied>("http-proxied", ["--expose-gc"]);
const behind = await target.ask("listen");
const port: Readonly<Record<string, number>> = {
  ours: await ours.ask("listen", behind),
  direct: behind,
  "http-proxy": await package_.ask("listen", behind),
};
const pathOf = (name: string, path: string): string => (name === "ours" ? `/services/mount${path}` : path);

// Memory first: what watches add to a server that has passed nothing on yet.
const own = await held("ours");

// The head of a watch of which nothing happens.
const heads = await interleave(["ours", "direct"], short ? 5 : 200, async (name) => {
  const began = performance.now();
  const watch = await watched(name);
  const ms = performance.now() - began;
  watch.destroy();
  return { ms };
});
await target.ask("left");

// Who leaves: one by one, and all of many.
const lags: number[] = [];
for (let round = 0; round < 20; round++) {
  const watch = await watched("ours");
  const began = performance.now();
  watch.destroy();
  await target.ask("left");
  lags.push(performance.now() - began);
}
for (let left = LEAVING; left > 0; left -= AT_ONCE) {
  const watches = await Promise.all(Array.from({ length: Math.min(left, AT_ONCE) }, () => watched("ours")));
  for (const watch of watches) watch.destroy();
}
await target.ask("left");
const left = await remaining();

// A server that dies within a list.
let whole = 0;
for (let round = 0; round < DEATHS; round++) if (await isWhole(round % 2 === 0 ? "/dies" : "/chunks/dies")) whole += 1;

// It never hears who has left: nothing that waits for that comes behind it.
const theirs = await held("http-proxy");

const lists: Record<string, Answer> = {};
for (const name of Object.keys(port)) lists[name] = await fetchOnce(port[name] ?? 0, requestOf(name));
const rates = await interleave(Object.keys(port), short ? 2 : 9, async (name) => {
  const terms = { port: port[name] ?? 0, request: requestOf(name), expected: lists[name] as Answer, connections: 4 };
  const { answers, seconds } = await load({ ...terms, milliseconds: 600 });
  return { rate: (answers * 20) / seconds };
});

report("mount-stream", [
  figure({
    what: "head of an idle watch",
    value: heads.ratio(["ours", "direct"], "ms"),
    unit: "ratio",
    rival: "the direct way",
    atMost: 2,
  }),
  figure({ what: "head of an idle watch", value: heads.of("ours", "ms"), unit: "ms" }),
  figure({ what: "until the target knows who has left", value: median(lags), unit: "ms" }),
  figure({
    what: `connections and requests left of ${LEAVING} watches whose clients left`,
    value: left,
    unit: "count",
    exactly: 0,
  }),
  figure({
    what: `lists within which the target died that look whole, of ${DEATHS}`,
    value: whole,
    unit: "count",
    exactly: 0,
  }),
  figure({ what: `heap and buffers per idle watch, of ${WATCHES}`, value: own.held, unit: "KiB" }),
  figure({ what: "the same", value: own.held / theirs.held, unit: "ratio", rival: "http-proxy" }),
  figure({ what: `RSS per idle watch, of ${WATCHES}`, value: own.rss, unit: "KiB" }),
  figure({ what: "the same, http-proxy", value: theirs.rss, unit: "KiB" }),
  figure({
    what: "20 MB lists, bytes per second",
    value: rates.ratio(["ours", "http-proxy"], "rate"),
    unit: "ratio",
    rival: "http-proxy",
    atLeast: 1,
  }),
  figure({ what: "the same", value: rates.ratio(["ours", "direct"], "rate"), unit: "ratio", rival: "the direct way" }),
]);

/** What the view still has open once it has had time to hear that all have left. */
async function remaining(): Promise<number> {
  for (let patience = performance.now() + 5_000; ; ) {
    const { connections, active, longRunning } = await ours.ask("open");
    const sum = connections + active + longRunning;
    if (sum === 0 || performance.now() > patience) return sum;
  }
}

function requestOf(name: string): Buffer {
  return getRequest(pathOf(name, LIST), headers);
}

/** A watch whose head has come, on a connection of its own. */
async function watched(name: string): Promise<ClientRequest> {
  const watch = asked(name, WATCH);
  const [{ statusCode }] = (await once(watch, "response")) as [IncomingMessage];
  assert.equal(statusCode, 200);
  return watch.on("error", () => undefined);
}

function asked(name: string, path: string): ClientRequest {
  return request({ port: port[name], host: "127.0.0.1", path: pathOf(name, path), headers, agent: false }).end();
}

/** Whether a client takes what has come for an answer to its end. */
async function isWhole(path: string): Promise<boolean> {
  const [res] = (await once(asked("ours", path), "response")) as [IncomingMessage];
  res.resume();
  await once(res, "close").catch(() => undefined);
  return res.complete;
}

/** What each of many watches takes, KiB. `http-proxy` sends no head before there is an event: it is asked, and not waited for. */
async function held(name: "ours" | "http-proxy"): Promise<{ held: number; rss: number }> {
  const server = name === "ours" ? ours : (package_ as unknown as typeof ours);
  const idle = await server.ask("memory");
  const watches: ClientRequest[] = [];
  const before = await target.ask("open");
  for (let left = WATCHES; left > 0; left -= AT_ONCE) {
    const more = Array.from({ length: Math.min(left, AT_ONCE) }, () => asked(name, WATCH).on("error", () => undefined));
    watches.push(...more);
    while ((await target.ask("open")) < before + watches.length);
  }
  const busy = await server.ask("memory");
  for (const watch of watches) watch.destroy();
  if (name === "ours") await target.ask("left"); // of the other it never hears
  const per = (key: "held" | "rss"): number => (busy[key] - idle[key]) / WATCHES / KIB;
  return { held: per("held"), rss: per("rss") };
}
