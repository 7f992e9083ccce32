// Concurrent clients with a store that fails at random: acknowledged writes were committed, rejected ones were not, and every
// watcher ends with the state of a list, wherever the watch was cut.
import type { StoreErrorCode } from "@virtual-workspaces/store";
import { expect } from "chai";
import type { Answer, PlainServer, WatchEvent } from "../../_support/plain.ts";
import { Random } from "../../_support/random.ts";
import { FailingStore } from "./failing-store.ts";
import { NOTES, note, startNotes } from "./notes.ts";

const NAMES = ["a", "b", "c", "d"] as const;
const LAST = "last";

/** Failures of a commit, and whether it takes effect anyway. */
const FAILURES: readonly { readonly code: StoreErrorCode; readonly done: boolean }[] = [
  { code: "Unavailable", done: false },
  { code: "NoSpace", done: false },
  { code: "Unknown", done: false },
  { code: "Unknown", done: true },
];

/** Responses to writes, each of which has a unique number. */
class Told {
  readonly done = new Map<number, { readonly name: string; readonly version: number }>();
  readonly refused = new Set<number>();
  #next = 0;

  number(): number {
    this.#next += 1;
    return this.#next;
  }

  note(n: number, name: string, { status, body }: Answer): void {
    if (status === 200 || status === 201) this.done.set(n, { name, version: Number(body.metadata.resourceVersion) });
    else if (status !== 504) this.refused.add(n);
    expect(status).to.be.oneOf([200, 201, 404, 409, 503, 504, 507]);
  }
}

async function act(server: PlainServer, random: Random, told: Told): Promise<void> {
  const name = random.pick(NAMES);
  const path = `${NOTES}/${name}` as const;
  const n = told.number();
  const chance = random.below(10);
  if (chance < 3) return told.note(n, name, await server.send(`POST ${NOTES}`, note(name, n)));
  if (chance === 9) {
    expect((await server.send(`DELETE ${path}`)).status).to.be.oneOf([200, 404, 409, 503, 504, 507]);
    return undefined;
  }
  const { status, body } = await server.get(path);
  if (status !== 200) return undefined;
  return told.note(n, name, await server.send(`PUT ${path}`, { ...body, spec: { n } }));
}

/** Client like client-go: it lists, watches from there, resumes, and lists again only after 410. */
async function follow(server: PlainServer): Promise<{ readonly objects: unknown[]; readonly lists: number }> {
  const objects = new Map<string, WatchEvent["object"]>();
  for (let lists = 1, version = ""; ; ) {
    if (version === "") {
      const { status, body } = await server.get(NOTES);
      if (status !== 200) continue;
      objects.clear();
      for (const item of body.items) objects.set(item.metadata.name, item);
      version = body.metadata.resourceVersion;
      if (objects.has(LAST)) return { objects: [...objects.values()], lists };
    }
    await using watch = await server.watch(`${NOTES}?watch=true&resourceVersion=${version}&timeoutSeconds=1`);
    if (watch.status !== 200) continue;
    for (const { type, object } of await untilLastOrEnd(watch)) {
      if (type === "ERROR") {
        // The store may fail while it reads the past: the watch ends, and the client resumes.
        expect(object.code).to.be.oneOf([410, 503]);
        if (object.code === 503) break;
        version = "";
        lists += 1;
        break;
      }
      const { name = "", resourceVersion = "" } = object.metadata;
      expect(Number(resourceVersion)).to.be.above(Number(version));
      expect(objects.has(name), `${type} ${name}`).to.equal(type !== "ADDED");
      version = resourceVersion;
      if (type === "DELETED") objects.delete(name);
      else objects.set(name, object);
    }
    if (objects.has(LAST)) return { objects: [...objects.values()], lists };
  }
}

async function untilLastOrEnd(watch: { next(): Promise<WatchEvent> }): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  try {
    do events.push(await watch.next());
    while (events.at(-1)?.object.metadata?.name !== LAST);
  } catch {
    // Ended cleanly, or by an error received before.
  }
  return events;
}

const byName = (objects: readonly unknown[]): unknown[] =>
  [...(objects as WatchEvent["object"][])].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));

describe("histories with a failing store", function () {
  this.timeout(60_000);
  for (const seed of [1, 2, 3, 4]) {
    it(`are consistent (seed ${seed})`, async () => {
      await using store = new FailingStore();
      const dice = new Random(seed);
      await using server = await startNotes(store, { history: { events: 16 }, linger: 0, onError: () => undefined });
      const told = new Told();
      store.disturb((call) => {
        if (call === "commit" && dice.below(5) === 0) return dice.pick(FAILURES);
        return call !== "commit" && dice.below(40) === 0 ? { code: "Unavailable", done: false } : undefined;
      });
      const followers = [follow(server), follow(server), follow(server)];
      const client = async (at: number): Promise<void> => {
        const random = new Random(100 * seed + at);
        for (let step = 0; step < 100; step++) {
          await act(server, random, told);
          if (random.below(25) === 0) store.cut(random.below(3) === 0 ? "Compacted" : "Unavailable");
        }
      };
      await Promise.all([1, 2, 3, 4].map(client));
      store.disturb(() => undefined);
      expect((await server.send(`POST ${NOTES}`, note(LAST, 0))).status).to.equal(201);

      const { items } = (await server.get(NOTES)).body;
      for (const { objects } of await Promise.all(followers)) expect(byName(objects)).to.deep.equal(byName(items));
      await isTrue(store, told);
      expect([told.done.size, told.refused.size].every((count) => count > 50)).to.equal(true);
    });
  }
});

/** Compares responses with the store's complete history. */
async function isTrue(store: FailingStore, told: Told): Promise<void> {
  const happened = new Map<number, { readonly name: string; readonly version: number }>();
  const head = await store.inner.head();
  const watch = store.inner.watch({ from: "test.dev/", to: "test.dev0" }, { after: 1 });
  watch.requestProgress();
  for await (const { revision, events } of watch) {
    for (const { key, entry } of events) {
      const n = Number(/"n":(\d+)/.exec(entry?.value.toString() ?? "")?.[1]);
      if (entry !== undefined) happened.set(n, { name: key.split("/").at(-1) ?? "", version: revision });
    }
    if (revision >= head) break;
  }
  for (const [n, done] of told.done) expect(happened.get(n), `write ${n}`).to.deep.equal(done);
  for (const n of told.refused) expect(happened.has(n), `write ${n}, refused`).to.equal(false);
}
