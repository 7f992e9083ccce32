// All objects of a store through one watch.
import { defineResource } from "@virtual-workspaces/framework";
import {
  memoryStore,
  ObjectFeed,
  persistent,
  type Store,
  type StoredPlace,
  StoreError,
  type Watch,
} from "@virtual-workspaces/store";
import { expect } from "chai";
import { until } from "../../_support/until.ts";

const note = (plural: string, group = "test.dev") =>
  defineResource({
    group,
    version: "v1",
    kind: "Note",
    plural,
    scope: "Namespaced",
    spec: { type: "object", properties: { text: { type: "string" } } },
  });

/** Store whose watches fail on demand. */
function failing(store: Store): { readonly store: Store; fail(error: Error): void } {
  let rejected = Promise.withResolvers<never>();
  rejected.promise.catch(() => undefined);
  const watch: Store["watch"] = (range, options) => {
    const inner = store.watch(range, options);
    const failure = rejected.promise;
    const batches = async function* () {
      const iterator = inner[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await Promise.race([iterator.next(), failure]);
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        void iterator.return?.();
      }
    };
    return { requestProgress: () => inner.requestProgress(), [Symbol.asyncIterator]: batches } as Watch;
  };
  const proxy = new Proxy(store, {
    get(target, name) {
      if (name === "watch") return watch;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return {
    store: proxy,
    fail: (error) => {
      const before = rejected;
      rejected = Promise.withResolvers<never>();
      rejected.promise.catch(() => undefined);
      before.reject(error);
    },
  };
}

function follow(feed: ObjectFeed): string[] {
  const told: string[] = [];
  const name = ({ space, key }: StoredPlace): string => `${space} ${key.cluster} ${key.namespace} ${key.name}`;
  feed.on({
    began: () => told.push("began"),
    set: (object) => told.push(`${name(object)}: ${JSON.parse(object.bytes.toString()).spec.text}`),
    deleted: (place) => told.push(`${name(place)} deleted`),
    synced: () => told.push("synced"),
  });
  return told;
}

describe("ObjectFeed", () => {
  it("delivers existing objects, then changes, of every kind, key space and logical cluster", async () => {
    await using store = memoryStore();
    const notes = note("notes").collection(persistent(store));
    const apart = note("notes").collection(persistent(store, { keySpace: "crd-1" }));
    await notes.in("one", "a").set("x", { text: "1" });
    await apart.in("two", "b").set("y", { text: "2" });
    await store.commit({
      conditions: [],
      operations: [{ type: "put", key: "others/use/it", value: Buffer.from("?") }],
    });
    await using feed = new ObjectFeed({ store, onError: (error) => expect.fail(String(error)) });
    const told = follow(feed);
    feed.start();
    await feed.synced;
    await notes.in("one", "a").set("x", { text: "3" });
    await apart.in("two", "b").delete("y");
    await until(() => told.length === 6);
    expect(told).to.deep.equal([
      "began",
      "@crd-1 two b y: 2",
      "test.dev/notes one a x: 1",
      "synced",
      "test.dev/notes one a x: 3",
      "@crd-1 two b y deleted",
    ]);
    expect([notes.space, apart.space]).to.deep.equal(["test.dev/notes", "@crd-1"]);
  });

  it("resumes after a failure of the store, and lists again after a gap", async () => {
    await using inner = memoryStore();
    const { store, fail } = failing(inner);
    const notes = note("notes").collection(persistent(inner));
    const errors: string[] = [];
    await using feed = new ObjectFeed({ store, onError: (error) => errors.push(String(error)) });
    const told = follow(feed);
    feed.start();
    await feed.synced;
    await notes.in("one", "a").set("x", { text: "1" });
    await until(() => told.length === 3);
    fail(new StoreError("Unavailable", "it is away"));
    await notes.in("one", "a").set("x", { text: "2" });
    await until(() => told.length === 4);
    fail(new StoreError("Compacted", "it is gone"));
    await until(() => told.length === 7);
    expect(told).to.deep.equal([
      "began",
      "synced",
      "test.dev/notes one a x: 1",
      "test.dev/notes one a x: 2",
      "began",
      "test.dev/notes one a x: 2",
      "synced",
    ]);
    expect(errors).to.have.length(1);
    expect(feed.isSynced).to.equal(true);
  });
});

describe("objects of a part of a collection", () => {
  it("are read from the store, of one logical cluster or namespace only", async () => {
    await using store = memoryStore();
    const notes = note("notes").collection(persistent(store));
    for (const [cluster, namespace] of [
      ["one", "a"],
      ["one", "b"],
      ["one-more", "a"],
    ] as const)
      for (let at = 0; at < 40; at++) await notes.in(cluster, namespace).set(`n${at}`, {});
    const count = async (cluster: string, namespace: string): Promise<number> => {
      let read = 0;
      for await (const { key } of notes.objectsIn({ cluster, namespace })) {
        expect(key.cluster).to.equal(cluster);
        read++;
      }
      return read;
    };
    expect([await count("one", ""), await count("one", "b"), await count("one", "c")]).to.deep.equal([80, 40, 0]);
  });
});
