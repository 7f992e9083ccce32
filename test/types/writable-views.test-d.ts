// Misuse of writable views and of versions must not compile. If it compiles, the compiler reports its `@ts-expect-error` as
// unused.
import { converted, defineResource, view } from "@virtual-workspaces/framework";

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Expect<T extends true> = T;

const Task = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Task",
  scope: "Cluster",
  spec: { type: "object", required: ["title"], properties: { title: { type: "string" }, done: { type: "boolean" } } },
});
const Chore = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Chore",
  scope: "Cluster",
  spec: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
});
type TaskContent = { spec: { title: string; done?: boolean } };
const tasks = Task.collection();

const readOnly = view({ from: tasks, select: ({ spec }) => spec.done === true });
export type ReadOnlyHasNoWay = Expect<Equals<Extract<keyof typeof readOnly, "create" | "update" | "delete">, never>>;
const lens = view({
  from: tasks,
  to: Chore,
  varyBy: ({ identity }) => identity.name,
  map: ({ spec }) => ({ spec: { text: spec.title } }),
  mapToSource: ({ spec }, { source, variant }) => ({
    spec: { ...source?.spec, title: `${spec.text} ${variant.toUpperCase()}` },
  }),
});
export type LensHas = Expect<
  Equals<Extract<keyof typeof lens, "create" | "update" | "delete">, "create" | "update" | "delete">
>;
// A writable view of a writable view.
Chore.serve(view({ from: lens, mapToSource: (object) => object }));

// @ts-expect-error the way back from what cannot be written
view({ from: readOnly, mapToSource: (object: TaskContent) => object });
view({
  from: tasks,
  to: Chore,
  map: ({ spec }) => ({ spec: { text: spec.title } }),
  // @ts-expect-error a way back to something else than the source's kind
  mapToSource: ({ spec }) => ({ spec }),
});
view({
  from: tasks,
  to: Chore,
  map: ({ spec }) => ({ spec: { text: spec.title } }),
  // @ts-expect-error a field that the view does not have
  mapToSource: ({ spec }) => ({ spec: { title: spec.title } }),
});
// @ts-expect-error there need not be a source: one that is created has none
view({ from: tasks, mapToSource: ({ spec }, { source }) => ({ spec: { ...spec, done: source.spec.done } }) });
// @ts-expect-error what may leave must be written first
view({ from: tasks, allowLeavingView: true });

const TaskV2 = defineResource({
  group: "test.dev",
  version: "v2",
  kind: "Task",
  scope: "Cluster",
  spec: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
});
const newer = converted({
  from: tasks,
  to: TaskV2,
  read: ({ spec }) => ({ spec: { name: spec.title } }),
  write: ({ spec }) => ({ spec: { title: spec.name } }),
});
TaskV2.serve(newer);
view({ from: newer, mapToSource: (object) => object });
// @ts-expect-error versions of different form need functions
converted({ from: tasks, to: TaskV2 });
// @ts-expect-error one way is not enough
converted({ from: tasks, to: TaskV2, read: ({ spec }) => ({ spec: { name: spec.title } }) });
converted({
  from: tasks,
  to: TaskV2,
  // @ts-expect-error not what the version holds
  read: ({ spec }) => ({ spec: { title: spec.title } }),
  write: ({ spec }) => ({ spec: { title: spec.name } }),
});
// @ts-expect-error another version served as the one that is kept
Task.serve(newer);
// @ts-expect-error what cannot be written cannot be converted back
converted({ from: readOnly, to: Task });
