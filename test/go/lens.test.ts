// Real clients write through views, and in a version that is not stored: they must not notice a difference.
import { type Collection, converted, defineResource, type ServedResource, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { building } from "./support/build.ts";
import type { GoCommand } from "./support/client.ts";
import { Stage } from "./support/stage.ts";
import { Task, type TaskContent, TaskStage } from "./support/tasks.ts";
import { Quote, quotesView } from "./support/views.ts";

type Tasks = Collection<TaskContent>;
type Serve = (tasks: Tasks) => readonly ServedResource[];

const { title: _title, ...properties } = Task.schema.properties?.["spec"]?.properties ?? {};
const label = { type: "string", maxLength: 100 } as const;
const form = {
  group: "example.dev",
  scope: "Namespaced",
  schema: {
    type: "object",
    required: ["spec"],
    properties: {
      spec: { type: "object", required: ["label"], properties: { label, ...properties } },
      status: Task.schema.properties?.["status"] ?? {},
    },
  },
  subresources: Task.subresources,
} as const;
/** The same object as a task, under another kind and with another field for its title. */
const Job = defineResource({ ...form, version: "v1", kind: "Job" });
const TaskV2 = defineResource({ ...form, version: "v2", kind: "Task" });

interface Titled {
  readonly spec: { readonly title: string };
}
interface Labelled {
  readonly spec: { readonly label: string };
}
const toTask = ({ spec: { label: title, ...spec }, ...object }: Labelled) =>
  ({ ...object, spec: { title, ...spec } }) as never;
const fromTask = ({ spec: { title, ...spec }, ...object }: Titled) =>
  ({ ...object, spec: { label: title, ...spec } }) as never;
const content = ({ spec, status }: { spec: unknown; status?: unknown }) =>
  ({ spec, ...(status === undefined ? {} : { status }) }) as never;

const WAYS: Readonly<Record<string, Serve>> = {
  "a view of the same kind": (tasks) => [
    Task.serve(
      view({
        from: tasks,
        select: ({ metadata }) => metadata.namespace === "default",
        mapToSource: (object) => object,
      }),
    ),
  ],
  "a view of another kind": () => [
    Task.serve(
      view({
        from: Job.collection(),
        to: Task,
        map: (job) => toTask(content(job as never)),
        mapToSource: (task) => fromTask(content(task as never)),
      }) as never,
    ),
  ],
  "a view of a view": (tasks) => {
    const below = view({ from: tasks, mapToSource: (object) => object });
    return [Task.serve(view({ from: below, mapToSource: (object) => object }))];
  },
  "another version than the one that is kept": () => {
    const kept = TaskV2.collection();
    const old = converted({ from: kept, to: Task, read: toTask as never, write: fromTask as never });
    return [TaskV2.serve(kept), Task.serve(old as never)];
  },
};

/** Returns the results of a client's steps. */
async function stepsOf(command: GoCommand, serve?: Serve): Promise<unknown[]> {
  await using stage = await TaskStage.start(serve);
  await using client = stage.client(command);
  await client.event("done", undefined, 30_000);
  expect(client.noise()).to.deep.equal([]);
  await client.end();
  const steps = client.all("step").map(({ at: _at, ...told }) => told);
  return JSON.parse(JSON.stringify(steps).replace(/in record \([0-9a-f-]{36}\)/g, "in record (<uid>)"));
}

describe("clients that write", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const command of ["writes", "dynamic", "scale"] as const) {
    let direct: Promise<unknown[]> | undefined;
    for (const [name, serve] of Object.entries(WAYS)) {
      it(`${command}: reports the same for ${name} as for the objects themselves`, async () => {
        direct ??= stepsOf(command);
        expect(await stepsOf(command, serve)).to.deep.equal(await direct);
      });
    }
  }

  for (const [name, serve] of Object.entries(WAYS)) {
    it(`count correctly through ${name}`, async () => {
      await using stage = await TaskStage.start(serve);
      await using client = stage.client("increment");
      const { count, expected } = await client.event("counted", undefined, 45_000);
      expect(count).to.equal(expected);
      expect(client.all("request").filter(({ code }) => code !== 409 && code >= 300)).to.deep.equal([]);
      await client.end();
    });
  }

  it("reconcile through a view, with finalizers and status", async () => {
    await using stage = await TaskStage.start(WAYS["a view of the same kind"]);
    for (const name of ["a", "b"]) stage.tasks.set(name, { title: name, steps: 3 });
    await using operator = stage.client("operator");
    const settled = (name: string) => operator.event("settled", ({ key, done }) => key === name && done === 3, 30_000);
    await Promise.all(["a", "b"].map(settled));
    stage.tasks.delete("a");
    await operator.event("cleaned", ({ key }) => key === "a");
    await operator.until("the answer", () => stage.tasks.get("a") === undefined);
    expect(stage.tasks.get("b")?.status).to.include({ phase: "Done", done: 3 });
    expect(operator.noise()).to.deep.equal([]);
    await operator.end();
  });
});

describe("informers of a version that is not stored", function () {
  this.timeout(60_000);
  before(building("clients"));

  for (const command of ["informer", "typed-informer", "metadata-informer"] as const) {
    it(`${command}: see writes in the other version`, async () => {
      const names = { group: "example.dev", kind: "Quote", scope: "Cluster" } as const;
      const words = { type: "array", items: { type: "string" } } as const;
      const QuoteV2 = defineResource({
        ...names,
        version: "v2",
        spec: { type: "object", required: ["words"], properties: { words } },
      });
      const kept = QuoteV2.collection();
      const root = kept.in("root");
      const old = converted({
        from: kept,
        to: Quote,
        read: ({ spec }) => ({ spec: { text: spec.words.join(" ") } }),
        write: ({ spec }) => ({ spec: { words: spec.text.split(" ") } }),
      });
      const served = [QuoteV2.serve(kept), Quote.serve(old)];
      await using stage = await Stage.start({ view: () => quotesView(served) });
      root.set("a", { words: ["edit", "me"] });
      await using client = stage.client(command);
      await client.event("synced");
      const b = root.set("b", { words: ["new"] });
      const a = root.set("a", { words: ["edited", "now"] });
      root.delete("b");
      const c = root.set("c", { words: ["last"] });
      const version = ({ metadata }: typeof a): string => metadata.resourceVersion ?? "";
      await client.holds(
        new Map([
          ["a", version(a)],
          ["c", version(c)],
        ]),
      );
      expect(client.all("added").map(({ key }) => key)).to.include.members(["a", "b", "c"]);
      expect(BigInt(version(b)) < BigInt(version(a))).to.equal(true);
      if (command !== "metadata-informer") {
        const { objects } = await client.state();
        expect(objects.a.spec).to.deep.equal({ text: "edited now" });
      }
      expect(client.noise()).to.deep.equal([]);
      await client.end();
    });
  }
});
