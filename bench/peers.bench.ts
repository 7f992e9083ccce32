// kcp's server and front proxy, given by KCP_KUBECONFIG and KCP_FRONT_PROXY (kubeconfigs), against `start` and `front-proxy` in turns; ours alone without them
import assert from "node:assert/strict";
import { cpus, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type Body, type Peer, type PeerServer, peerOf, startOurs } from "./_harness/peers.ts";
import { readRecorded, writeRecorded } from "./_harness/recorded.ts";
import { type Figure, figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { tempFolder } from "./_harness/temp-folder.ts";

const short = process.argv.includes("--short");
/** Workspaces that bind the export, and objects in each: the list of all is some 20 MB. */
const [BOUND, OBJECTS] = short ? [2, 50] : [10, 1000];
const WORKSPACES = short ? 4 : 24;
const ROUNDS = short ? 2 : 12;
/** As long as it takes to compile what runs, ms; and time of a round, ms. */
const [WARM, ROUND] = short ? [200, 200] : [4000, 1000];
const TEXT = "x".repeat(1500);
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const WORKSPACE = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const APIS = "/apis/apis.kcp.io/v1alpha2";
const CLAIM = { resource: "configmaps", verbs: ["*"] };
const RIVAL = "kcp";
const NGINX = "nginx, one worker";

await using ours = await startOurs(tempFolder());
const { KCP_KUBECONFIG: shard, KCP_FRONT_PROXY: front } = process.env;
const peers: readonly Peer[] = shard === undefined ? [ours] : [ours, await peerOf(RIVAL, shard, front)];
/** Names of this run: a peer may have objects of an earlier one. */
const run = `bench-${Date.now().toString(36)}`;

/** What a peer holds for the measurements. */
interface Place {
  readonly peer: Peer;
  /** Logical clusters with objects. */
  readonly clusters: readonly string[];
  /** Path of all objects in the APIExport view. */
  readonly view: PeerServer;
  readonly made: { readonly workspaces: number; readonly binds: number; readonly creates: number };
}

const places = new Map<string, Place>();
const figures: Figure[] = [];
for (const peer of peers) places.set(peer.name, await prepare(peer));

compare("workspaces made and Ready per second, 4 clients", "per second", ({ made }) => made.workspaces);
compare("APIExports bound per second, one client", "per second", ({ made }) => made.binds);
compare("creates of 1.5 KiB per second, 16 clients", "per second", ({ made }) => made.creates);
await rounds("GET in a workspace", ({ peer, clusters }) => [peer.shard, `/clusters/${clusters[0]}${CONFIG_MAPS}/o-1`]);
await rounds(
  "GET through the APIExport view",
  ({ view, clusters }) => [view, `/clusters/${clusters[0]}${CONFIG_MAPS}/o-1`],
  {
    process: ({ peer }) => peer.shard,
  },
);
await rounds("LIST of all workspaces through the view", ({ view }) => [view, "/clusters/*/api/v1/configmaps"], {
  connections: 1,
  process: ({ peer }) => peer.shard,
  beside: { "our server's own LIST": { ...(places.get(ours.name) as Place), view: ours.shard } },
});
if (peers.every((peer) => peer.front !== undefined)) {
  compare("RSS of the front proxy, idle", "MiB", ({ peer }) => frontOf(peer).rss);
  const path = ({ clusters }: Place): string => `/clusters/${clusters[0]}${CONFIG_MAPS}`;
  // The answers differ in what the front proxy decides: who the caller is, where the workspace is, and what it may not say.
  const beside = ours.nginx && {
    [NGINX]: { ...(places.get(ours.name) as Place), peer: { ...ours, front: ours.nginx } },
  };
  await rounds("GET through the front proxy", (place) => [frontOf(place.peer), `${path(place)}/o-1`], {
    atMost: 0.75,
    beside,
  });
  await rounds(`LIST of ${OBJECTS} objects through the front proxy`, (place) => [frontOf(place.peer), path(place)], {
    connections: 4,
    atMost: 1,
    beside,
  });
  compare("RSS of the front proxy, after this load", "MiB", ({ peer }) => frontOf(peer).rss);
}
report("peers", figures);
if (shard === undefined) showRecorded();
const version = process.argv.find((arg) => arg.startsWith("--record="))?.slice("--record=".length);
if (version !== undefined) {
  assert.ok(shard, "--record needs a kcp: set KCP_KUBECONFIG and KCP_FRONT_PROXY");
  const machine = `Node.js ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[1]?.toFixed(0)}`;
  const date = new Date().toISOString().slice(0, 10);
  console.log(`Recorded in ${writeRecorded({ date, kcp: version, machine, figures }).join(" and ")}.`);
}
for (const { shard: server, front: proxy } of peers.slice(1)) {
  await server[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
}

function frontOf({ front }: Peer): PeerServer {
  assert.ok(front);
  return front;
}

/** Prints the ratios of the last run against a kcp. */
function showRecorded(): void {
  const recorded = readRecorded();
  if (recorded === undefined || process.argv.includes("--json")) return;
  console.log(`\nRecorded on ${recorded.date} against kcp ${recorded.kcp} (${recorded.machine}):`);
  report(
    "peers, recorded",
    recorded.figures.filter(({ unit, rival }) => unit === "ratio" && rival === RIVAL),
  );
}

/** Adds what each peer came to, and the ratio. */
function compare(what: string, unit: string, of: (place: Place) => number): void {
  const values = peers.map(({ name }) => of(places.get(name) as Place));
  const [own = Number.NaN, theirs] = values;
  if (theirs !== undefined) add({ what, value: own / theirs, unit: "ratio", rival: RIVAL });
  for (const [nth, value] of values.entries()) add({ what: `${what}, ${peers[nth]?.name}`, value, unit });
}

/** A process of another machine has no figures. */
function add(measured: Parameters<typeof figure>[0]): void {
  if (!Number.isNaN(measured.value)) figures.push(figure(measured));
}

interface Load {
  readonly connections?: number;
  /** Goal of the ratio of CPU. */
  readonly atMost?: number;
  /** Process whose CPU counts. @default the one that gets the requests */
  readonly process?: (place: Place) => PeerServer;
  /** Others that take part in the rounds, for orientation. */
  readonly beside?: Readonly<Record<string, Place>> | undefined;
}

/** Measures the same GET at all peers in turns: CPU and time. */
async function rounds(
  what: string,
  target: (place: Place) => readonly [server: PeerServer, path: string],
  { connections = 16, process: counted, atMost, beside = {} }: Load = {},
): Promise<void> {
  const names = [...peers.map(({ name }) => name), ...Object.keys(beside)];
  const measure = async (name: string, milliseconds: number): Promise<{ cpu: number; rate: number }> => {
    const place = beside[name] ?? (places.get(name) as Place);
    const [server, path] = target(place);
    const busy = counted?.(place) ?? server;
    const before = busy.cpu;
    const began = performance.now();
    let answers = 0;
    const client = async (): Promise<void> => {
      do {
        const answer = await server.upstream.send({ path, headers: ["Accept", "application/json"] });
        assert.equal(answer.status, 200, `${name}: ${path}: ${answer.body.toString("utf8", 0, 300)}`);
        answers += 1;
      } while (performance.now() - began < milliseconds);
    };
    await Promise.all(Array.from({ length: connections }, client));
    const seconds = (performance.now() - began) / 1000;
    return { cpu: (busy.cpu - before) / answers, rate: answers / seconds };
  };
  await interleave(names, 1, (name) => measure(name, WARM));
  const measured = await interleave(names, ROUNDS, (name) => measure(name, ROUND));
  for (const [value, unit, title] of [
    ["cpu", "µs", `${what}, CPU`],
    ["rate", "per second", `${what}, rate`],
  ] as const) {
    for (const rival of names.slice(1))
      add({
        ...{ what: title, value: measured.ratio(["ours", rival], value), unit: "ratio", rival },
        ...(value === "cpu" && rival === RIVAL && atMost !== undefined && { atMost }),
      });
    for (const name of names) add({ what: `${title}, ${name}`, value: measured.of(name, value), unit });
  }
}

/** Makes the workspaces, the export with its consumers, and the objects. */
async function prepare(peer: Peer): Promise<Place> {
  const { shard } = peer;
  const began = performance.now();
  const names = Array.from({ length: WORKSPACES }, (_, nth) => `${run}-${nth}`);
  const clusters: string[] = [];
  await atOnce(4, names, async (name) => {
    clusters.push(await workspace(shard, name));
  });
  const workspaces = WORKSPACES / ((performance.now() - began) / 1000);

  const [provider = ""] = clusters;
  const export_ = {
    apiVersion: "apis.kcp.io/v1alpha2",
    kind: "APIExport",
    metadata: { name: "maps" },
    spec: { permissionClaims: [CLAIM] },
  };
  await shard.send("POST", `/clusters/${provider}${APIS}/apiexports`, export_);
  const consumers = clusters.slice(0, BOUND);
  const bindsFrom = performance.now();
  for (const cluster of consumers) await bind(shard, cluster, provider);
  const binds = BOUND / ((performance.now() - bindsFrom) / 1000);

  const keys = consumers.flatMap((cluster) =>
    Array.from({ length: OBJECTS }, (_, nth) => ({ cluster, name: `o-${nth}` })),
  );
  const createsFrom = performance.now();
  await atOnce(16, keys, async ({ cluster, name }) => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { text: TEXT } };
    await shard.send("POST", `/clusters/${cluster}${CONFIG_MAPS}`, object);
  });
  const creates = keys.length / ((performance.now() - createsFrom) / 1000);

  const view = await viewOf(peer, provider);
  await until(async () => {
    const { items = [] } = await view.send("GET", "/clusters/*/api/v1/configmaps");
    return items.filter(({ metadata }) => metadata?.name?.startsWith("o-") === true).length === keys.length;
  });
  return { peer, clusters: consumers, view, made: { workspaces, binds, creates } };
}

/** @returns its logical cluster, when it is Ready */
async function workspace(server: PeerServer, name: string): Promise<string> {
  const path = `/clusters/root${WORKSPACE}`;
  await server.send("POST", path, {
    apiVersion: "tenancy.kcp.io/v1alpha1",
    kind: "Workspace",
    metadata: { name },
    spec: {},
  });
  let found: Body = {};
  await until(async () => {
    found = await server.send("GET", `${path}/${name}`);
    return found.status?.phase === "Ready";
  });
  return found.spec?.cluster ?? "";
}

async function bind(server: PeerServer, cluster: string, provider: string): Promise<void> {
  const path = `/clusters/${cluster}${APIS}/apibindings`;
  const permissionClaims = [{ ...CLAIM, state: "Accepted", selector: { matchAll: true } }];
  const spec = { reference: { export: { path: provider, name: "maps" } }, permissionClaims };
  const object = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "maps" }, spec };
  await server.send("POST", path, object);
  await until(async () => (await server.send("GET", `${path}/maps`)).status?.phase === "Bound");
}

/** Returns the APIExport view, at its published URL. */
async function viewOf({ shard, name }: Peer, provider: string): Promise<PeerServer> {
  const path = `/clusters/${provider}/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/maps`;
  let url = "";
  await until(async () => {
    url = (await shard.send("GET", path)).status?.endpoints?.[0]?.url ?? "";
    return url !== "";
  });
  assert.ok(URL.canParse(url), `${name}: ${url}`);
  return shard.at(url);
}

async function atOnce<T>(clients: number, all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const client = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Waits for what controllers do: at most a minute. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const began = performance.now(); !(await holds()); await delay(10))
    assert.ok(performance.now() - began < 60_000, `not within a minute: ${holds}`);
}
