// Kills a process repeatedly while workspaces are created, bound and deleted, and checks what the last one finds.

import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../../_setup/tree.ts";
import { Random } from "../../../_support/random.ts";
import { Start } from "../../../cli/support/start.ts";
import { Admin, type Body } from "./admin.ts";
import { problemsOf } from "./integrity.ts";
import { Storm } from "./storm.ts";
import { paths } from "./tree.ts";

export interface Killing {
  readonly rounds: number;
  readonly seed: number;
  /** Flags that select the store. @default on disk, in the root directory */
  readonly flags?: readonly string[];
  /** Opens the store of `root`, or of another shard, when the process has ended. */
  readonly store: (server: Start, shard?: string) => Promise<Store>;
  /** Shards besides `root`, which the flags configure. @default none */
  readonly shards?: readonly string[];
}

/** Maximum of writes in a server's life, and its longest life after the last write in milliseconds, while controllers continue. */
const MOST = { writes: 60, after: 60 };

/** Kills a server `rounds` times, each at a different moment; then expects that everything is finished, without leftovers. */
export async function killAgainAndAgain({ rounds, seed, flags = [], store, shards = [] }: Killing): Promise<void> {
  const random = new Random(seed);
  const storm = new Storm(random);
  using folder = tree({});
  for (let round = 0; round < rounds; round++) {
    await using server = await Start.ready({ in: folder.path, flags });
    using admin = new Admin(server);
    if (round === 0) await storm.prepare(admin);
    const after = random.below(MOST.after);
    const killed = storm
      .more(1 + random.below(MOST.writes))
      .then(() => delay(after))
      .then(() => server.signal("SIGKILL"));
    await Promise.all([storm.blow(admin), killed]);
    await server.ended;
  }
  await using server = await Start.ready({ in: folder.path, flags });
  {
    using admin = new Admin(server);
    await storm.expectKept(admin);
    using others = new DisposableStack();
    const all = [admin];
    for (const shard of shards) all.push(others.use(await atShard(server, admin, shard)));
    // Twice, since a workspace of one shard may have a logical cluster on another one checked before.
    for (const each of [...all, ...all]) await finished(each, admin);
    for (const each of all) await swept(each);
    await storm.expectKept(admin);
  }
  expect(server.stderr.split("\n").filter((line) => line.includes(" error "))).to.deep.equal([]);
  expect(await server.end("SIGTERM")).to.equal(0);
  await using stack = new AsyncDisposableStack();
  const kept: Store[] = [];
  for (const shard of [undefined, ...shards]) kept.push(stack.use(await store(server, shard)));
  for (const each of kept) expect(await each.head(), "writes of a shard").to.be.greaterThan(50);
  expect(await problemsOf(...kept)).to.deep.equal([]);
  expect(storm.acknowledged, "what came of it").to.be.greaterThan(rounds);
}

/** Returns the administrator's client at a shard's own address. */
async function atShard(server: Start, admin: Admin, shard: string): Promise<Admin> {
  const { spec } = await admin.ok("GET", `/clusters/root/apis/core.kcp.io/v1alpha1/shards/${shard}`);
  return new Admin({ url: spec.baseURL, text: (name) => server.text(name), token: (user) => server.token(user) });
}

/** Waits until every workspace of a shard is Ready or gone, with its content. @param atRoot client of the shard with `root` */
export async function settled(admin: Admin, atRoot = admin): Promise<void> {
  await finished(admin, atRoot);
  await swept(admin);
}

async function finished(admin: Admin, atRoot: Admin): Promise<void> {
  const tenancy = await atRoot.ok("GET", `/clusters/root${paths.EXPORTS}/tenancy.kcp.io`);
  const done: Readonly<Record<string, (object: Body) => boolean>> = {
    [`${paths.WORKSPACES}:${tenancy.status.identityHash}`]: ({ status }) => status?.phase === "Ready",
    [paths.NAMESPACES]: ({ status }) => status?.phase === "Active",
    [paths.BINDINGS]: ({ status }) => status?.phase === "Bound",
    [paths.EXPORTS]: ({ status }) => status?.identityHash !== undefined,
    [paths.CRDS]: ({ status }) => status?.conditions?.some(({ type }: Body) => type === "Established") === true,
    "/apis/core.kcp.io/v1alpha1/logicalclusters": ({ status }) => status?.phase === "Ready",
  };
  const { items: bindings } = await admin.ok("GET", `/clusters/*${paths.BINDINGS}`);
  for (const [path, is] of Object.entries(done))
    await admin.until(`/clusters/*${path}`, ({ status, body }) => {
      // A shard serves only bound kinds: no Workspaces without a workspace on it, or while bindings are in progress.
      if (status === 404 && path.startsWith(paths.WORKSPACES)) return bindings.length === 0;
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.items.every((one: Body) => one.metadata.deletionTimestamp === undefined && is(one));
    });
}

/** Waits until objects written into a namespace during its deletion are deleted too. */
async function swept(admin: Admin): Promise<void> {
  const { items } = await admin.ok("GET", `/clusters/*${paths.NAMESPACES}`);
  const there = new Set(items.map(({ metadata }: Body) => `${clusterOf(metadata)}/${metadata.name}`));
  for (const kept of ["serviceaccounts", "configmaps"])
    await admin.until(`/clusters/*/api/v1/${kept}`, ({ body }) =>
      body.items.every(({ metadata }: Body) => there.has(`${clusterOf(metadata)}/${metadata.namespace}`)),
    );
}

const clusterOf = ({ annotations }: Body): string => annotations["kcp.io/cluster"];
