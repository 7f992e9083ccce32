// Whoever follows Spaces: lists across them beside the same lists one by one, a watch across them beside watches of some of them.
import assert from "node:assert/strict";
import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { followSpaces, type Spaces } from "@virtual-workspaces/spaces";
import { anonymousMemory } from "../_harness/anonymous-memory.ts";
import { serveCommands } from "../_harness/commands.ts";
import { sharedNow } from "./tick.ts";

interface Data {
  readonly data: Readonly<Record<"space" | "text", string>>;
}
const MAP: KindReference<Data> = {
  ...{ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" },
};
/** Renewals are no part of what is measured. */
const QUIET = { renewEvery: 3_600 } as const;
/** How many are asked at a time, as lists across Spaces do. */
const AT_ONCE = 16;

interface Target {
  readonly port: number;
  readonly ca: string;
}

let target: Target;
let spaces: Spaces;
/** Those who ask Spaces themselves, by number. */
const direct: Client[] = [];
let synced = 0;
let changed: (() => void) | undefined;
/** Of each change: when it was, and when it was seen by the one and the other; by its object's name. */
let seen = { merged: new Map<string, number>(), direct: new Map<string, number>(), at: new Map<string, number>() };

function clientOf(path: string): Client {
  const { port, ca } = target;
  const credential = { headers: ["Authorization", "Bearer bench"] };
  return new Client({
    upstream: { url: `https://127.0.0.1:${port}${path}`, tls: { ca }, credentials: { get: () => credential } },
  });
}

function note(by: "merged" | "direct", object: ObjectOf<Data>): void {
  const { name = "" } = object.metadata;
  seen.at.set(name, Number(object.data.text));
  seen[by].set(name, sharedNow());
}

async function follow(): Promise<void> {
  for await (const event of spaces.watch(MAP, QUIET)) {
    if (event.type === "SYNCED") synced += 1;
    else if (event.type === "MODIFIED") note("merged", event.object);
    changed?.();
  }
}

/** Resolves when it has begun. */
async function watchAlone(space: number): Promise<void> {
  const maps = clientOf(`/s/${space}`).resource(MAP);
  const { resourceVersion = "" } = (await maps.list({ limit: 1 })).metadata;
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    for await (const event of maps.watch({ resourceVersion, onOpen: resolve })) {
      if (event.type === "MODIFIED") note("direct", event.object);
      changed?.();
    }
  };
  void read();
  await promise;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds())
    await new Promise<void>((resolve) => {
      changed = resolve;
    });
}

async function timed(work: () => Promise<number>): Promise<{ readonly ms: number; readonly items: number }> {
  const begun = performance.now();
  const items = await work();
  return { ms: performance.now() - begun, items };
}

const commands = {
  ...anonymousMemory,
  open: async (at: Target): Promise<void> => {
    target = at;
    const onError = ({ error }: { readonly error: unknown }): never => {
      throw error;
    };
    spaces = followSpaces({ client: clientOf("/management"), onError });
    await spaces.synced;
  },
  /** Begins to watch; resolves when so many are synced. @returns how long it took, ms */
  watch: async (count: number): Promise<number> => {
    const begun = performance.now();
    void follow();
    await until(() => synced >= count);
    return performance.now() - begun;
  },
  /** Resolves when so many are synced. */
  synced: (count: number): Promise<void> => until(() => synced >= count),
  /** Across all: as `list` does it, as direct lists do one after the other, and as many at a time. */
  list: async (way: "across" | "one by one" | "at once") => {
    while (direct.length < spaces.engaged.length) direct.push(clientOf(`/s/${direct.length}`));
    if (way === "across")
      return timed(async () => {
        const { items, failed } = await spaces.list(MAP);
        assert.equal(failed.length, 0);
        return items.length;
      });
    const waiting = direct.values();
    // Whoever wants them all keeps them all.
    const found: object[] = [];
    const work = async (): Promise<void> => {
      for (const client of waiting) for (const item of (await client.resource(MAP).all()).items) found.push(item);
    };
    const workers = way === "at once" ? AT_ONCE : 1;
    return timed(async () => {
      await Promise.all(Array.from({ length: workers }, work));
      return found.length;
    });
  },
  /** What a list across Spaces gives is in the right ones, and what they have themselves. */
  check: async (): Promise<void> => {
    const { items } = await spaces.list(MAP);
    const [first] = items;
    const own = await clientOf("/s/0").resource(MAP).all();
    assert.deepEqual(
      items.filter(({ space }) => space === first?.space).map(({ object }) => object),
      own.items,
    );
    for (const { space, object } of items) assert.equal(space, `default/s${object.data.space.padStart(4, "0")}`);
  },
  /** Watches some Spaces besides, each by itself. */
  beside: async ({ from, count }: { readonly from: number; readonly count: number }): Promise<void> => {
    const waiting = Array.from({ length: count }, (_, at) => from + at).values();
    const work = async (): Promise<void> => {
      for (const space of waiting) await watchAlone(space);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  },
  /** Waits until so many changes were seen. @returns how long each took until it was seen, ms; and begins anew */
  latencies: async ({ count, beside }: { readonly count: number; readonly beside: boolean }) => {
    await until(() => seen.merged.size >= count && (!beside || seen.direct.size >= count));
    const of = (times: ReadonlyMap<string, number>) =>
      Float64Array.from([...times].map(([name, at]) => at - (seen.at.get(name) ?? Number.NaN))).sort();
    const latencies = { merged: of(seen.merged), direct: of(seen.direct) };
    seen = { merged: new Map(), direct: new Map(), at: new Map() };
    return latencies;
  },
};

export type SpacesFollower = typeof commands;

serveCommands(commands);
