import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestServer } from "@virtual-workspaces/testing";
import view, { Gauge } from "../src/view.ts";

test("shows the gauges, and their changes in a watch", async () => {
  await using server = await startTestServer({ virtualWorkspaces: [view], users: { ann: {} } });
  const gauges = server.user("ann").clientAt("/services/my-view/clusters/root").resource(Gauge);

  const { items, metadata } = await gauges.list();
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["load", "memory", "processors"],
  );

  for await (const { type, object } of gauges.watch({ resourceVersion: metadata.resourceVersion ?? "" })) {
    if (type === "BOOKMARK") continue;
    assert.equal(type, "MODIFIED");
    assert.equal(typeof object.spec.value, "number");
    break;
  }
});
