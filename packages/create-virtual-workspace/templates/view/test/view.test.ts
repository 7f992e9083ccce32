import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestServer } from "@virtual-workspaces/testing";
import view, { Gauge, gauges } from "../src/view.ts";

test("shows the gauges, and each change in a watch", async () => {
  await using server = await startTestServer({ virtualWorkspaces: [view], users: { ann: {} } });
  const all = server.user("ann").clientAt("/services/my-view/clusters/root").resource(Gauge);

  const { items } = await all.list();
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["load", "memory", "processors"],
  );

  const seen: unknown[] = [];
  gauges.in("root").set("answer", { value: 42, unit: "" });
  for await (const { type, object } of all.watch({ fields: "metadata.name=answer" })) {
    if (type === "BOOKMARK") continue;
    seen.push([type, object.spec.value]);
    if (seen.length === 2) break;
    gauges.in("root").delete("answer");
  }
  assert.deepEqual(seen, [
    ["ADDED", 42],
    ["DELETED", 42],
  ]);
});
