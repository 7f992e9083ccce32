// Views: computed, live, and truthful about what enters and leaves.
import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  SOURCE_VERSION_ANNOTATION,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label, startPlain } from "../_support/plain.ts";

const Task = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Task",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["done"],
    properties: { done: { type: "boolean" }, owner: { type: "string" }, secret: { type: "string" } },
  },
});
const Todo = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Todo",
  scope: "Cluster",
  spec: { type: "object", properties: { who: { type: "string" } } },
  columns: { Who: ".spec.who" },
  selectableFields: [".spec.who"],
});
const Grant = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Grant",
  scope: "Cluster",
  spec: { type: "object", required: ["to"], properties: { to: { type: "array", items: { type: "string" } } } },
});
const TODOS = "/services/todos/clusters/root/apis/test.dev/v1/todos";
const TASKS = "/services/todos/clusters/root/apis/test.dev/v1/tasks";
const INITIAL = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

function todos() {
  const tasks = Task.collection();
  const open = view({
    from: tasks,
    to: Todo,
    select: ({ spec }) => !spec.done,
    map: ({ spec }) => ({ spec: { who: spec.owner ?? "nobody" } }),
  });
  return { tasks: tasks.in("root"), other: tasks.in("other"), resource: Todo.serve(open), open };
}

function served(...resources: ServedResource[]): VirtualWorkspace[] {
  return [defineVirtualWorkspace({ name: "todos", path: "/clusters/:cluster", authorize: () => allow(), resources })];
}

describe("a view", () => {
  it("shows what it selects, as it maps it, and nothing else of the source", async () => {
    const { tasks, other, resource } = todos();
    tasks.set("a", { done: false, owner: "ann", secret: "s3cret" }, { labels: { x: "y" } });
    tasks.set("b", { done: true });
    other.set("c", { done: false });
    await using server = await startPlain(served(resource));
    const { text, body } = await server.get(TODOS);
    expect(body.items).to.have.length(1);
    expect(body.items[0]).to.include({ kind: "Todo", apiVersion: "test.dev/v1" });
    expect(body.items[0].spec).to.deep.equal({ who: "ann" });
    expect(body.items[0].metadata.labels).to.deep.equal({ x: "y" });
    expect(text).not.to.contain("s3cret");
    const source = tasks.get("a")?.metadata.resourceVersion;
    expect(body.items[0].metadata.annotations[SOURCE_VERSION_ANNOTATION]).to.equal(source);
    expect((await server.get(`${TODOS}/a`)).body).to.deep.equal(body.items[0]);
    expect((await server.get(`${TODOS}/b`)).status).to.equal(404);
    expect((await server.get(`${TODOS}?fieldSelector=spec.who%3Dann`)).body.items).to.have.length(1);
  });

  it("tells what enters, changes and leaves, with versions that resume", async () => {
    const { tasks, resource } = todos();
    await using server = await startPlain(served(resource));
    await using watch = await server.watch(`${TODOS}?${INITIAL}`);
    await watch.next();
    tasks.set("a", { done: true });
    tasks.set("a", { done: false, owner: "ann" });
    tasks.set("a", { done: false, owner: "bob" });
    tasks.set("a", { done: true });
    tasks.set("a", { done: false });
    tasks.delete("a");
    const events = await watch.until(
      ({ type, object }) =>
        type === "DELETED" && object["spec"] !== undefined && (object["spec"] as { who: string }).who === "nobody",
    );
    expect(events.map(label)).to.deep.equal(["ADDED a", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a"]);
    expect(events[2]?.object["spec"]).to.deep.equal({ who: "bob" });
    const versions = events.map(({ object }) => BigInt(object.metadata.resourceVersion ?? 0));
    expect(versions).to.deep.equal([...versions].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(versions).size).to.equal(5);
    await using resumed = await server.watch(`${TODOS}?watch=true&resourceVersion=${versions[1]}`);
    expect(await resumed.take(3)).to.deep.equal(["DELETED a", "ADDED a", "DELETED a"]);
  });

  it("keeps equal versions while nothing changes, and pages over one state", async () => {
    const { tasks, resource } = todos();
    for (const name of ["a", "b", "c"]) tasks.set(name, { done: false });
    await using server = await startPlain(served(resource));
    const first = await server.get(`${TODOS}?limit=2`);
    tasks.set("c", { done: true });
    tasks.set("d", { done: false });
    const rest = await server.get(`${TODOS}?limit=2&continue=${first.body.metadata.continue}`);
    expect([...first.body.items, ...rest.body.items].map(({ metadata }) => metadata.name)).to.deep.equal([
      "a",
      "b",
      "c",
    ]);
    expect(rest.body.metadata.resourceVersion).to.equal(first.body.metadata.resourceVersion);
    const again = [await server.get(TODOS), await server.get(TODOS)];
    expect(again[0]?.text).to.equal(again[1]?.text);
  });

  it("by: callers with equal values share one stream, others see their own", async () => {
    const tasks = Task.collection();
    let computed = 0;
    const mine = view({
      from: tasks,
      varyBy: ({ identity }) => identity.name,
      select: ({ spec }, { variant }) => {
        computed += 1;
        return spec.owner === variant;
      },
    });
    tasks.in("root").set("a", { done: false, owner: "alice" });
    await using server = await startPlain(served(Task.serve(mine)));
    await using alice = await server.watch(`${TASKS}?watch=true`);
    await using aliceAgain = await server.watch(`${TASKS}?watch=true`);
    await using bob = await server.watch(`${TASKS}?watch=true`, { user: "bob" });
    expect(await alice.take(1)).to.deep.equal(["ADDED a"]);
    expect(await aliceAgain.take(1)).to.deep.equal(["ADDED a"]);
    expect(computed).to.equal(2);
    tasks.in("root").set("a", { done: false, owner: "bob" });
    expect(await alice.take(1)).to.deep.equal(["DELETED a"]);
    expect(await aliceAgain.take(1)).to.deep.equal(["DELETED a"]);
    expect(await bob.take(1)).to.deep.equal(["ADDED a"]);
    expect(computed).to.equal(4);
    expect((await server.get(TASKS)).body.items).to.deep.equal([]);
  });

  it("inputs: a permission that changes is an object that enters or leaves", async () => {
    const tasks = Task.collection();
    const grants = Grant.collection();
    const granted = view({
      from: tasks,
      inputs: { grants },
      varyBy: ({ identity }) => identity.name,
      select: ({ metadata }, { variant, inputs }) =>
        inputs.grants.get(metadata.name ?? "")?.spec.to.includes(variant) === true,
    });
    tasks.in("root").set("a", { done: false });
    tasks.in("root").set("b", { done: false });
    await using server = await startPlain(served(Task.serve(granted)));
    await using watch = await server.watch(`${TASKS}?${INITIAL}`);
    expect((await watch.next()).type).to.equal("BOOKMARK");
    grants.in("root").set("a", { to: ["alice", "bob"] });
    expect((await server.get(TASKS)).body.items, "list at once").to.have.length(1);
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    grants.in("root").set("b", { to: ["alice"] });
    grants.in("root").set("a", { to: ["bob"] });
    expect((await watch.take(2)).sort()).to.deep.equal(["ADDED b", "DELETED a"]);
    grants.in("other").set("a", { to: ["alice"] });
    expect(
      (await server.get(TASKS)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ).to.deep.equal(["b"]);
  });

  it("a select that throws hides the object and says so", async () => {
    const tasks = Task.collection();
    const told: string[] = [];
    const picky = view({
      from: tasks,
      select: ({ spec }) => spec.owner?.startsWith("a") ?? thrown(),
      onError: (error, object) => void told.push(`${object}: ${String(error)}`),
    });
    tasks.in("root").set("a", { done: false, owner: "ann" });
    tasks.in("root").set("b", { done: false });
    await using server = await startPlain(served(Task.serve(picky)));
    expect((await server.get(TASKS)).body.items).to.have.length(1);
    expect(told).to.deep.equal(["root//b: Error: no owner"]);
  });

  it("a map that makes no object hides the object and says so, where it was shown before too", async () => {
    const tasks = Task.collection();
    const told: string[] = [];
    const odd = view({
      from: tasks,
      to: Todo,
      map: ({ spec }) => {
        const made: { spec: { who: string; itself?: object } } = { spec: { who: "x" } };
        if (spec.owner === "cycle") made.spec.itself = made;
        return spec.owner === "none" ? (undefined as never) : made;
      },
      onError: (error, object) => void told.push(`${object}: ${String(error)}`),
    });
    tasks.in("root").set("a", { done: false, secret: "s3cret" });
    await using server = await startPlain(served(Todo.serve(odd)));
    await using watch = await server.watch(`${TODOS}?watch=true`);
    for (const owner of ["cycle", "none"]) {
      expect(label(await watch.next())).to.equal("ADDED a");
      tasks.in("root").set("a", { done: false, owner, secret: "s3cret" });
      const { body, text } = await server.get(TODOS);
      expect(body.items, owner).to.deep.equal([]);
      expect(text).not.to.contain("s3cret");
      expect(label(await watch.next())).to.equal("DELETED a");
      tasks.in("root").set("a", { done: false });
    }
    expect(told).to.have.length(2);
    expect(told[0]).to.match(/^root\/\/a: TypeError: .*circular/);
    expect(told[1]).to.equal("root//a: Error: map must return an object");
  });

  it("a view of a view that differs by caller differs by caller", async () => {
    const tasks = Task.collection();
    const mine = view({
      from: tasks,
      varyBy: ({ identity }) => identity.name,
      select: ({ spec }, { variant }) => spec.owner === variant,
    });
    const open = view({ from: mine, select: ({ spec }) => !spec.done });
    const withInput = view({
      from: tasks,
      inputs: { mine },
      select: ({ metadata }, { inputs }) => inputs.mine.get(metadata.name ?? "") !== undefined,
    });
    tasks.in("root").set("a", { done: false, owner: "alice" });
    tasks.in("root").set("b", { done: false, owner: "bob" });
    for (const storage of [open, withInput]) {
      await using server = await startPlain(served(Task.serve(storage)));
      for (const [user, name] of [
        ["alice", "a"],
        ["bob", "b"],
      ] as const) {
        const { body } = await server.get(TASKS, { user });
        expect(
          body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
          user,
        ).to.deep.equal([name]);
      }
    }
  });

  it("views of views follow through", async () => {
    const { tasks, open } = todos();
    const named = view({ from: open, select: ({ spec }) => spec.who !== "nobody" });
    await using server = await startPlain(served(Todo.serve(named)));
    await using watch = await server.watch(`${TODOS}?watch=true`);
    tasks.set("a", { done: false });
    tasks.set("b", { done: false, owner: "bob" });
    tasks.set("a", { done: false, owner: "ann" });
    tasks.set("b", { done: true, owner: "bob" });
    expect(await watch.take(3)).to.deep.equal(["ADDED b", "ADDED a", "DELETED b"]);
  });
});

function thrown(): never {
  throw new Error("no owner");
}
