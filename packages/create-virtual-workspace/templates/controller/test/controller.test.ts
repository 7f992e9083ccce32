import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestServer } from "@virtual-workspaces/testing";
import { startController } from "../src/controller.ts";
import { ConfigMap, manifests, Site } from "../src/site.ts";

test("creates the page of a Site, and restores it", async () => {
  await using server = await startTestServer({ crds: manifests });
  const { client } = server;
  await using running = startController(client);
  await running.started;

  const sites = client.resource(Site).in("default");
  const pages = client.resource(ConfigMap).in("default");
  await sites.create({ metadata: { name: "home" }, spec: { title: "Hello" } });
  for await (const { type, object } of sites.watch({ fields: "metadata.name=home" }))
    if (type !== "BOOKMARK" && object.status?.page !== undefined) break;
  const page = await pages.get("page-home");
  assert.equal(page.data?.["index.html"], "<h1>Hello</h1>");

  await pages.delete("page-home");
  for await (const { type, object } of pages.watch({ fields: "metadata.name=page-home" }))
    if (type === "ADDED" && object.metadata.uid !== page.metadata.uid) break;
});

test("tries again after a conflict", async () => {
  await using server = await startTestServer({ crds: manifests });
  const { client } = server;
  const fault = server.faults.add({ fault: "conflict", verb: "patch", resource: "configmaps" });
  await using running = startController(client);
  await running.started;

  const sites = client.resource(Site).in("default");
  await sites.create({ metadata: { name: "home" }, spec: { title: "Hello" } });
  for await (const { type, object } of sites.watch({ fields: "metadata.name=home" }))
    if (type !== "BOOKMARK" && object.status?.page !== undefined) break;
  assert.equal(fault.used, 1);
});
