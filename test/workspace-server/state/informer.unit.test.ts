// Informers over a collection, and changes by the server's own controllers.
import { defineResource } from "@virtual-workspaces/framework";
import { memoryStore, persistent } from "@virtual-workspaces/store";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { Informer } from "../../../packages/workspace-server/src/state/informers/informer.ts";
import { ensure, modify, remove } from "../../../packages/workspace-server/src/state/modify.ts";
import { until } from "../../_support/until.ts";

const Task = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Task",
  scope: "Namespaced",
  spec: { type: "object", properties: { text: { type: "string" }, of: { type: "string" } } },
  status: { type: "object", properties: { done: { type: "boolean" } } },
});
const key = (name: string, cluster = "root") => ({ cluster, namespace: "a", name });

function start() {
  const store = memoryStore();
  const tasks = Task.collection(persistent(store, { history: { events: 4 } }));
  const tracked = new Informer(tasks, { of: ({ spec }) => (spec.of === undefined ? [] : [spec.of]) });
  const told: string[] = [];
  const stack = new AsyncDisposableStack();
  stack.use(store);
  stack.use(tracked);
  const follow = (): void => {
    tracked.on({
      added: ({ metadata }) => told.push(`added ${metadata.name}`),
      updated: ({ spec }, before) => told.push(`updated ${before.spec.text} to ${spec.text}`),
      deleted: ({ metadata }) => told.push(`deleted ${metadata.name}`),
    });
  };
  return { tasks, tracked, told, follow, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe("an informer", () => {
  it("notifies of existing objects first, and finds objects by key, logical cluster and index", async () => {
    await using system = start();
    const { tasks, tracked, told, follow } = system;
    await tasks.in("root", "a").set("one", { text: "x", of: "ann" });
    await tracked.start();
    await tracked.synced;
    follow();
    await tasks.in("root", "a").set("one", { text: "y", of: "bob" });
    await tasks.in("other", "a").set("two", { text: "z", of: "bob" });
    await until(() => told.length === 3);
    expect(told).to.deep.equal(["added one", "updated x to y", "added two"]);
    expect(tracked.store.get(key("one"))?.spec.text).to.equal("y");
    expect(tracked.store.get(key("two"))).to.equal(undefined);
    expect(tracked.store.keysBy("of", "ann")).to.deep.equal([]);
    expect(tracked.store.keysBy("of", "bob")).to.deep.equal([key("one"), key("two", "other")]);
    expect(tracked.store.list("other").map(({ metadata }) => metadata.name)).to.deep.equal(["two"]);
    await tasks.in("root", "a").delete("one");
    await until(() => told.length === 4);
    expect(told.at(-1)).to.equal("deleted one");
    expect([tracked.store.size, tracked.store.list().length, tracked.store.by("of", "bob").length]).to.deep.equal([
      1, 1, 1,
    ]);
    expect(() => tracked.store.by("nothing", "x")).to.throw('unknown index "nothing"');
  });

  it("notifies gathered handlers object by object, and handlers of keys with keys only", async () => {
    await using system = start();
    const { tasks, tracked, told } = system;
    await tasks.in("root", "a").set("one", { text: "x" });
    await tasks.in("root", "a").set("two", { text: "y" });
    await tracked.start();
    {
      using _together = tracked.gather();
      for (const who of ["first", "second"])
        tracked.on({ added: ({ metadata }) => told.push(`${who} ${metadata.name}`) });
      tracked.on({ added: () => told.push("has left") })[Symbol.dispose]();
      expect(told).to.deep.equal([]);
    }
    expect(told.splice(0)).to.deep.equal(["first one", "second one", "first two", "second two"]);
    const keys: string[] = [];
    const following = tracked.onKey(({ key: { name } }) => keys.push(name));
    expect(keys).to.deep.equal(["one", "two"]);
    await tasks.in("root", "a").set("one", { text: "z" });
    await tasks.in("root", "a").delete("two");
    await until(() => keys.length === 4);
    expect(keys).to.deep.equal(["one", "two", "one", "two"]);
    following[Symbol.dispose]();
    await tasks.in("root", "a").set("three", { text: "x" });
    await until(() => told.length === 2);
    expect(keys).to.have.length(4);
  });

  it("does not notify disposed handlers", async () => {
    await using system = start();
    const { tasks, tracked, told } = system;
    await tracked.start();
    const following = tracked.on({ added: ({ metadata }) => told.push(metadata.name ?? "") });
    await tasks.in("root", "a").set("one", {});
    await until(() => tracked.store.size === 1);
    following[Symbol.dispose]();
    await tasks.in("root", "a").set("two", {});
    await until(() => tracked.store.size === 2);
    expect(told).to.deep.equal(["one"]);
  });
});

describe("changes by the server itself", () => {
  it("start from the stored object, and are skipped when nothing differs", async () => {
    await using system = start();
    const { tasks } = system;
    const first = await ensure(tasks, key("one"), () => ({ spec: { text: "0" }, metadata: { labels: { a: "b" } } }));
    expect([first.created, first.object.metadata.generation]).to.deep.equal([true, 1]);
    expect((await ensure(tasks, key("one"), () => ({ spec: {} }))).created).to.equal(false);
    const count = (): Promise<unknown> =>
      modify(tasks, key("one"), (task) => ({ ...task, spec: { text: `${Number(task.spec.text) + 1}` } }));
    await Promise.all(Array.from({ length: 10 }, count));
    const { metadata, spec } = (await tasks.in("root", "a").get("one")) ?? expect.fail();
    expect([spec.text, metadata.generation, metadata.labels]).to.deep.equal(["10", 11, { a: "b" }]);
    const same = await modify(tasks, key("one"), (task) => task);
    expect(same?.metadata.resourceVersion).to.equal(metadata.resourceVersion);
    const done = await modify(tasks, key("one"), (task) => ({ ...task, status: { done: true } }));
    expect([done?.metadata.generation, done?.status]).to.deep.equal([11, { done: true }]);
    expect(await modify(tasks, key("nothing"), (task) => task)).to.equal(undefined);
  });

  it("increase the generation only of kinds that have one", async () => {
    await using store = memoryStore();
    const maps = ConfigMap.collection(persistent(store));
    const { object } = await ensure(maps, key("one"), () => ({ data: { a: "b" } }));
    expect(object.metadata).to.include({ name: "one" }).and.not.to.have.property("generation");
    const changed = await modify(maps, key("one"), (map) => ({ ...map, data: { a: "c" } }));
    expect([changed?.data, changed?.metadata.generation]).to.deep.equal([{ a: "c" }, undefined]);
  });

  it("mark an object with finalizers, which goes with the last of them", async () => {
    await using system = start();
    const { tasks } = system;
    const { object } = await ensure(tasks, key("one"), () => ({ spec: {}, metadata: { finalizers: ["test.dev/a"] } }));
    expect(await remove(tasks, key("one"), "another")).to.equal(false);
    expect(await remove(tasks, key("one"), object.metadata.uid)).to.equal(true);
    expect(await remove(tasks, key("one"))).to.equal(true);
    const marked = await tasks.in("root", "a").get("one");
    expect(marked?.metadata).to.include({ deletionGracePeriodSeconds: 0, generation: 2 });
    const left = await modify(tasks, key("one"), (task) => ({
      ...task,
      metadata: { ...task.metadata, finalizers: [] },
    }));
    expect(left).to.equal(undefined);
    expect(await tasks.in("root", "a").get("one")).to.equal(undefined);
    expect(await remove(tasks, key("one"))).to.equal(false);
  });
});
