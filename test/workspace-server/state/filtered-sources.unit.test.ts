// Sources of controllers that drop events which need no reconcile.
import { defineResource } from "@virtual-workspaces/framework";
import { memoryStore, persistent } from "@virtual-workspaces/store";
import { expect } from "chai";
import { filterStates, filterUpdates } from "../../../packages/workspace-server/src/controllers/sources.ts";
import { Informer } from "../../../packages/workspace-server/src/state/informers/informer.ts";
import { until } from "../../_support/until.ts";

const Task = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Task",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});

/** Writes some states of two tasks, and returns the events that arrive. */
async function events(filter: (informer: Informer<{ spec: { text?: string } }>) => Pick<typeof informer, "on">) {
  await using store = memoryStore();
  const tasks = Task.collection(persistent(store));
  using informer = new Informer(tasks);
  const seen: string[] = [];
  await tasks.in("root").set("old", { text: "wait" });
  await informer.start();
  let all = 0;
  filter(informer as never).on({
    added: ({ spec }) => seen.push(`added ${spec.text}`),
    updated: ({ spec }) => seen.push(`updated ${spec.text}`),
    deleted: ({ spec }) => seen.push(`deleted ${spec.text}`),
  });
  informer.on({ updated: () => void all++, deleted: () => void all++ });
  for (const text of ["do", "do more", "throw", "wait"]) await tasks.in("root").set("old", { text });
  await tasks.in("root").set("new", { text: "do" });
  await tasks.in("root").delete("new");
  await until(() => all === 5);
  return seen;
}

function isDue(text = ""): boolean {
  if (text === "throw") throw new Error("a fault of the check");
  return text.startsWith("do");
}

describe("filtered sources", () => {
  it("queue objects only in states that need a reconcile or whose check throws, and keep deletions", async () => {
    const seen = await events((informer) => filterStates(informer, ({ spec }) => isDue(spec.text)));
    expect(seen).to.deep.equal(["updated do", "updated do more", "updated throw", "added do", "deleted do"]);
  });

  it("drop only updates that do not matter", async () => {
    const seen = await events((informer) =>
      filterUpdates(informer, ({ spec }, before) => isDue(spec.text) && !isDue(before.spec.text)),
    );
    expect(seen).to.deep.equal(["added wait", "updated do", "updated throw", "added do", "deleted do"]);
  });

  it("drop new objects that do not matter", async () => {
    const never = (): boolean => false;
    const seen = await events((informer) => filterUpdates(informer, never, ({ spec }) => isDue(spec.text)));
    expect(seen).to.deep.equal(["added do", "deleted do"]);
  });
});
