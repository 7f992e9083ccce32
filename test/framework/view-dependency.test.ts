// Views that depend on something besides collections: here, on permissions.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { allow, defineResource, defineVirtualWorkspace, type ObjectOf, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import { until } from "../_support/until.ts";

const Task = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Task",
  scope: "Cluster",
  spec: { type: "object", required: ["done"], properties: { done: { type: "boolean" } } },
});
type Task = ObjectOf<{ spec: { done: boolean } }>;
type Key = { readonly cluster: string; readonly namespace: string; readonly name: string };

const at = (name: string, cluster = "root"): Key => ({ cluster, namespace: "", name });
const TASKS = "/services/tasks/clusters/root/apis/test.dev/v1/tasks";

/** Permissions of users for tasks, which the framework cannot watch. */
class Permissions {
  readonly given = new Map<string, Set<string>>();
  readonly asked: string[] = [];
  readonly again = new Map<string, (key?: Key) => void>();
  /** Called when a reader confirms freshness. */
  late: (() => void) | undefined;

  allow(user: string, ...names: string[]): this {
    this.given.set(user, new Set(names));
    return this;
  }

  follow(user: string, again: (key?: Key) => void) {
    this.again.set(user, again);
    return {
      confirm: async () => {
        this.late?.();
      },
      [Symbol.dispose]: () => void this.again.delete(user),
    };
  }

  sees(user: string, { metadata: { name = "" } }: Task): boolean {
    this.asked.push(`${user} ${name}`);
    return this.given.get(user)?.has(name) === true;
  }
}

async function start(permissions: Permissions, options: { computations?: number; linger?: number } = {}) {
  const tasks = Task.collection();
  for (const name of ["a", "b", "c"]) tasks.in("root").set(name, { done: false });
  tasks.in("other").set("a", { done: false });
  const seen = view({
    from: tasks,
    varyBy: ({ identity }) => identity.name,
    depends: permissions,
    select: (task, { variant }) => permissions.sees(variant, task),
    ...options,
  });
  const tasksView = defineVirtualWorkspace({
    name: "tasks",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Task.serve(seen)],
  });
  const server = await startPlain([tasksView]);
  const names = async (user: string): Promise<string[]> => {
    const { status, text, body } = await server.get(TASKS, { user });
    expect(status, text).to.equal(200);
    return body.items.map(({ metadata }: Task) => metadata.name);
  };
  return { tasks, server, names, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe("a view that depends on something of its own", () => {
  it("recomputes on a notification, and sends the changes to open watches", async () => {
    const permissions = new Permissions().allow("alice", "a");
    await using started = await start(permissions);
    const { body } = await started.server.get(TASKS, { user: "alice" });
    expect(body.items).to.have.length(1);
    await using watch = await started.server.watch(
      `${TASKS}?watch=true&resourceVersion=${body.metadata.resourceVersion}`,
      { user: "alice" },
    );
    permissions.asked.length = 0;
    permissions.allow("alice", "b");
    const again = permissions.again.get("alice") ?? expect.fail();
    again(at("a"));
    again(at("b"));
    again(at("b"));
    again(at("none"));
    again(at("a", "other"));
    expect(await watch.take(2)).to.deep.equal(["DELETED a", "ADDED b"]);
    expect(permissions.asked, "each once, and no others").to.deep.equal(["alice a", "alice b"]);
    permissions.allow("alice", "b", "c");
    again();
    again(at("c"));
    expect(await watch.take(1)).to.deep.equal(["ADDED c"]);
    started.tasks.in("root").set("b", { done: true });
    expect(await watch.take(1)).to.deep.equal(["MODIFIED b"]);
    expect(await started.names("alice")).to.deep.equal(["b", "c"]);
  });

  it("is as fresh as the dependency at the time of a read, even if the notification is late", async () => {
    const permissions = new Permissions().allow("alice", "a");
    await using started = await start(permissions);
    expect(await started.names("alice")).to.deep.equal(["a"]);
    permissions.allow("alice", "b");
    permissions.late = () => permissions.again.get("alice")?.();
    expect(await started.names("alice")).to.deep.equal(["b"]);
  });

  it("follows the dependency while there are readers, and some time longer", async () => {
    const permissions = new Permissions().allow("alice", "a").allow("bob", "b");
    await using started = await start(permissions, { linger: 0 });
    await using watch = await started.server.watch(`${TASKS}?watch=true`, { user: "alice" });
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    expect(await started.names("bob")).to.deep.equal(["b"]);
    await until(() => !permissions.again.has("bob"));
    expect([...permissions.again.keys()]).to.deep.equal(["alice"]);
  });

  it("has a limited number of computations: idle ones make room", async () => {
    const permissions = new Permissions().allow("alice", "a").allow("bob", "b").allow("admin", "c");
    await using started = await start(permissions, { computations: 2 });
    await using _alice = await started.server.watch(`${TASKS}?watch=true`, { user: "alice" });
    expect(await started.names("bob")).to.deep.equal(["b"]);
    expect(await started.names("admin")).to.deep.equal(["c"]);
    expect([...permissions.again.keys()], "bob's is gone").to.have.members(["alice", "admin"]);
    await using _admin = await started.server.watch(`${TASKS}?watch=true`, { user: "admin" });
    const { status, body, headers } = await started.server.get(TASKS, { user: "bob" });
    const expected = ApiError.tooManyRequests("too many different users read tasks here at once", 10).status;
    expect([status, body.message, headers["retry-after"]]).to.deep.equal([429, expected.message, "10"]);
    expect(await started.names("alice"), "who has one keeps it").to.deep.equal(["a"]);
  });
});
