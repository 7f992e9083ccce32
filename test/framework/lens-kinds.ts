// Tasks, and two writable views of them: unchanged, and as chores that hide half of a task.
import {
  allow,
  type Collection,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  view,
} from "@virtual-workspaces/framework";
import { type PlainServer, startPlain } from "../_support/plain.ts";

export const Task = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Task",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["title"],
    properties: {
      title: { type: "string", maxLength: 20 },
      done: { type: "boolean", default: false },
      owner: { type: "string" },
      secret: { type: "string" },
      count: { type: "integer" },
    },
  },
  status: { type: "object", properties: { phase: { type: "string" } } },
});
export type TaskContent = {
  spec: { title: string; done?: boolean; owner?: string; secret?: string; count?: number };
  status?: { phase?: string };
};
export type Tasks = Collection<TaskContent>;

/** The public part of an open task. */
export const Chore = defineResource({
  group: "view.dev",
  version: "v1",
  kind: "Chore",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["text"],
    properties: { text: { type: "string" }, count: { type: "integer" }, done: { type: "boolean" } },
  },
});

export function chores(tasks: Tasks, options: { readonly allowLeavingView?: boolean } = {}) {
  return view({
    from: tasks,
    to: Chore,
    select: ({ spec }) => spec.done !== true,
    map: ({ spec }) => ({ spec: { text: spec.title, ...(spec.count === undefined ? {} : { count: spec.count }) } }),
    mapToSource: ({ spec }, { source }) => {
      const { count: _count, ...kept } = source?.spec ?? {};
      return {
        spec: {
          ...kept,
          title: spec.text,
          ...(spec.count === undefined ? {} : { count: spec.count }),
          ...(spec.done === undefined ? {} : { done: spec.done }),
        },
      };
    },
    ...options,
  });
}

/** The caller's tasks, unchanged; new ones become the caller's. */
export function mine(tasks: Tasks) {
  return view({
    from: tasks,
    varyBy: ({ identity }) => identity.name,
    select: ({ spec }, { variant }) => spec.owner === variant,
    mapToSource: ({ spec, status }, { source, variant }) => ({
      spec: source === undefined ? { ...spec, owner: variant } : spec,
      ...(status === undefined ? {} : { status }),
    }),
  });
}

export const TASKS = "/services/tasks/clusters/root/apis/test.dev/v1/tasks";
export const CHORES = "/services/view/clusters/root/apis/view.dev/v1/chores";
export const MINE = "/services/view/clusters/root/apis/test.dev/v1/tasks";

/** Serves tasks unchanged, and `resources` beside them. */
export function serve(tasks: Tasks, ...resources: readonly ServedResource[]): Promise<PlainServer> {
  const common = { path: "/clusters/:cluster", wildcard: true, authorize: () => allow() } as const;
  return startPlain(
    [
      defineVirtualWorkspace({ ...common, name: "tasks", resources: [Task.serve(tasks)] }),
      defineVirtualWorkspace({ ...common, name: "view", resources }),
    ],
    { bookmarkEvery: 5 },
  );
}

export const chore = (name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: "view.dev/v1",
  kind: "Chore",
  metadata: { name, ...metadata },
  spec,
});

export const task = (name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: "test.dev/v1",
  kind: "Task",
  metadata: { name, ...metadata },
  spec,
});

export { APPLY, MERGE } from "../_support/patches.ts";
export { outcome } from "../_support/plain.ts";
