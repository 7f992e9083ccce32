import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@virtual-workspaces/client";
import { startTestServer } from "@virtual-workspaces/testing";
import view, { Gauge, gauges } from "../src/view.ts";

test("shows the gauges, and each change in a watch", async () => {
  await using server = await startTestServer([view]);
  const headers = ["Authorization", `Bearer ${server.credentials.token}`];
  const upstream = { url: `${server.url}/services/my-view`, credentials: { get: () => ({ headers }) } };
  await using client = new Client({ upstream, cluster: "root" });
  const all = client.resource(Gauge);

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
