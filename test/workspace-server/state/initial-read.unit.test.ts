// Objects read in several ways at once, which complete in any order: the newest state wins.
import { defineResource } from "@virtual-workspaces/framework";
import { memoryStore, persistent, type Store, StoreError, type Watch } from "@virtual-workspaces/store";
import { Pace } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { Informer } from "../../../packages/workspace-server/src/state/informers/informer.ts";
import { notifyAll } from "../../../packages/workspace-server/src/state/informers/object-cache.ts";
import { until } from "../../_support/until.ts";

const Task = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Task",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});

/** Blocks while it is closed. */
class Gate {
  #opened = Promise.resolve();
  #open: () => void = () => undefined;

  shut(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#opened, this.#open] = [promise, resolve];
  }

  open(): void {
    this.#open();
  }

  through(): Promise<void> {
    return this.#opened;
  }
}

/** A store with delayed responses: reads and events arrive when the test lets them. */
class SlowStore {
  readonly inner: Store = memoryStore({ revision: 1 });
  readonly ranges = new Gate();
  /** Watches in the order of opening. */
  readonly watches: Gate[] = [];
  /** Breaks all open watches. */
  #cut = Promise.withResolvers<never>();
  readonly store: Store = new Proxy(this.inner, {
    get: (target, name) => {
      if (name === "range") return this.#range;
      if (name === "watch") return this.#watch;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

  readonly #range: Store["range"] = async (...asked) => {
    const found = await this.inner.range(...asked);
    await this.ranges.through();
    return found;
  };

  readonly #watch: Store["watch"] = (...asked) => {
    const gate = new Gate();
    this.watches.push(gate);
    return new SlowWatch(this.inner.watch(...asked), gate, this.#cut.promise);
  };

  cut(error: Error): void {
    const { reject } = this.#cut;
    this.#cut = Promise.withResolvers<never>();
    reject(error);
  }
}

class SlowWatch implements Watch {
  readonly #inner: Watch;
  readonly #gate: Gate;
  readonly #cut: Promise<never>;

  constructor(inner: Watch, gate: Gate, cut: Promise<never>) {
    cut.catch(() => undefined);
    [this.#inner, this.#gate, this.#cut] = [inner, gate, cut];
  }

  requestProgress(): void {
    this.#inner.requestProgress();
  }

  async *[Symbol.asyncIterator]() {
    const batches = this.#inner[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await Promise.race([batches.next(), this.#cut]);
        if (done === true) return;
        await Promise.race([this.#gate.through(), this.#cut]);
        yield value;
      }
    } finally {
      void batches.return?.();
    }
  }
}

async function start() {
  const slow = new SlowStore();
  const stack = new AsyncDisposableStack();
  stack.use(slow.inner);
  const tasks = Task.collection(persistent(slow.store));
  const tracked = stack.use(new Informer(tasks));
  const [told, known]: [string[], string[]] = [[], []];
  const handlers = (into: string[]) => ({
    added: ({ metadata, spec }: Task, { initial }: { readonly initial?: boolean }) =>
      into.push(`${initial === true ? "was" : "added"} ${metadata.name} ${spec.text}`),
    updated: ({ metadata, spec }: Task) => into.push(`updated ${metadata.name} ${spec.text}`),
    deleted: ({ metadata }: Task) => into.push(`deleted ${metadata.name}`),
  });
  const set = (name: string, text: string) => tasks.in("a", "").set(name, { text });
  const there = () => tracked.store.list("a").map(({ metadata, spec }) => `${metadata.name} ${spec.text}`);
  const load = () => tracked.load("a", { signal: new AbortController().signal, isOld: true });
  const begin = async () => {
    const head = () => slow.inner.head();
    tracked.begin(await head(), { held: Promise.resolve(), head, onError: () => undefined });
    tracked.on(handlers(told));
    tracked.mirror(handlers(known));
  };
  const gone = (name: string) => tasks.in("a", "").delete(name);
  return {
    slow,
    tracked,
    told,
    known,
    set,
    gone,
    there,
    load,
    begin,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface Task {
  readonly metadata: { readonly name?: string };
  readonly spec: { readonly text?: string };
}

describe("an informer during the initial read", () => {
  it("knows a loaded logical cluster, and notifies of its objects later, as initial ones", async () => {
    await using system = await start();
    const { tracked, told, known, set, there, load, begin } = system;
    await set("one", "x");
    await set("two", "x");
    await begin();
    expect([there(), tracked.knows("a")]).to.deep.equal([[], false]);
    await load();
    expect([there(), tracked.knows("a"), tracked.knows("b")]).to.deep.equal([["one x", "two x"], true, false]);
    await set("two", "y");
    await until(() => told.length === 1);
    expect([told.splice(0), known.splice(0)]).to.deep.equal([
      ["updated two y"],
      ["added one x", "added two x", "updated two y"],
    ]);
    await tracked.readAll(new Pace());
    expect([tracked.knows("b"), told]).to.deep.equal([true, []]);
    await notifyAll([tracked], new Pace());
    expect([told, known]).to.deep.equal([["was one x", "was two y"], []]);
  });

  it("notifies one logical cluster after the other, and parses only objects that a handler needs", async () => {
    await using store = memoryStore();
    const tasks = Task.collection(persistent(store));
    for (const [cluster, name] of [
      ["a", "one"],
      ["b", "two"],
      ["a", "held"],
    ] as const)
      await tasks.create(
        { cluster, namespace: "" } as never,
        {
          apiVersion: "test.dev/v1",
          kind: "Task",
          metadata: { name, finalizers: ["test.dev/held"] },
          spec: {},
        } as never,
      );
    await tasks.in("a").delete("held");
    const [first, second, unread] = [new Informer(tasks), new Informer(tasks), new Informer(tasks)];
    const notified: string[] = [];
    const keys: string[] = [];
    const begun = await store.head();
    for (const informer of [first, second, unread])
      informer.begin(begun, {
        held: Promise.resolve(),
        head: (options) => store.head(options),
        onError: () => undefined,
      });
    first.on({ added: ({ metadata }, { key }) => notified.push(`first ${key.cluster} ${metadata.name}`) });
    second.on(
      { added: ({ metadata }, { key }) => notified.push(`second ${key.cluster} ${metadata.name}`) },
      { existing: "deleting" },
    );
    unread.on({ added: () => notified.push("unread") }, { existing: "none" });
    unread.onKey(({ key }) => keys.push(key.name));
    for (const informer of [first, second, unread]) await informer.readAll(new Pace());
    const parse = JSON.parse;
    let parsed = 0;
    JSON.parse = (...args) => {
      parsed++;
      return parse(...args);
    };
    try {
      await notifyAll([first, second, unread], new Pace());
    } finally {
      JSON.parse = parse;
    }
    expect(notified).to.deep.equal(["first a held", "first a one", "second a held", "first b two"]);
    expect([keys, parsed]).to.deep.equal([["held", "one", "two"], 4]);
    for (const informer of [first, second, unread]) informer[Symbol.dispose]();
  });

  it("does not restore objects deleted while a logical cluster is read", async () => {
    await using system = await start();
    const { slow, told, set, gone, there, load, begin } = system;
    await set("one", "x");
    await set("two", "x");
    await begin();
    slow.ranges.shut();
    const loading = load();
    await set("two", "y");
    await gone("one");
    await set("three", "x");
    await until(() => told.length === 2);
    slow.ranges.open();
    await loading;
    expect(there().sort()).to.deep.equal(["three x", "two y"]);
    expect(told).to.deep.equal(["added two y", "added three x"]);
  });

  it("notifies of objects when their events arrive, even if they were read before", async () => {
    await using system = await start();
    const { slow, told, set, gone, there, load, begin } = system;
    await set("old", "x");
    await begin();
    await until(() => slow.watches.length === 1);
    slow.watches[0]?.shut();
    await set("new", "x");
    await set("gone", "x");
    await gone("gone");
    await load();
    expect([there().sort(), told]).to.deep.equal([["new x", "old x"], []]);
    slow.watches[0]?.open();
    await set("last", "x");
    await until(() => told.length === 2);
    expect([there().sort(), told]).to.deep.equal([
      ["last x", "new x", "old x"],
      ["added new x", "added last x"],
    ]);
  });

  it("does not restore deleted objects when all are read", async () => {
    await using system = await start();
    const { slow, tracked, known, set, gone, there, load, begin } = system;
    for (const name of ["kept", "loaded", "heard"]) await set(name, "x");
    await begin();
    slow.ranges.shut();
    const reading = tracked.readAll(new Pace());
    await until(() => slow.watches.length === 1);
    await gone("heard");
    await set("kept", "y");
    await gone("loaded");
    await set("loaded", "again");
    await until(() => known.length === 2);
    slow.ranges.open();
    await load();
    await reading;
    expect(there().sort()).to.deep.equal(["kept y", "loaded again"]);
    expect(known).not.to.include("added heard x");
  });

  it("forgets what it knew after missed changes, and is correct after the next read", async () => {
    await using system = await start();
    const { slow, tracked, told, set, gone, there, load, begin } = system;
    await set("one", "x");
    await set("two", "x");
    await begin();
    await load();
    await until(() => slow.watches.length === 1);
    slow.watches[0]?.shut();
    await gone("one");
    await set("two", "y");
    const compacted = new StoreError("Compacted", "cut by a test");
    slow.cut(compacted);
    await until(() => slow.watches.length === 2);
    expect(tracked.knows("a")).to.equal(false);
    await load();
    expect([there(), tracked.knows("a")]).to.deep.equal([["two y"], true]);
    await set("two", "z");
    await until(() => told.includes("updated two z"));
    slow.watches[1]?.shut();
    await gone("two");
    await set("three", "x");
    slow.cut(compacted);
    await until(() => slow.watches.length === 3);
    await tracked.readAll(new Pace());
    expect(there()).to.deep.equal(["three x"]);
  });
});
