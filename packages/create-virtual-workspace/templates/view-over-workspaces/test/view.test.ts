import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestServer } from "@virtual-workspaces/testing";
import { isApiError } from "@virtual-workspaces/workspaces";
import view, { ConfigMap } from "../src/view.ts";

// Ann may read the ConfigMaps of the workspace root. Bob may not.
const role = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "reader" },
  rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }],
};
const binding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: "reader" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }],
};
const options = {
  workspaces: true,
  objects: [role, binding],
  users: { ann: {}, bob: {} },
  virtualWorkspaces: [view],
} as const;
const PATH = "/services/my-view/clusters/root";

test("shows the ConfigMaps that are published, and those that become so", async () => {
  await using server = await startTestServer(options);
  const own = server.client.resource(ConfigMap).in("default");
  await own.create({ metadata: { name: "draft" }, data: { soup: "?" } });
  await own.create({ metadata: { name: "menu", labels: { published: "yes" } }, data: { soup: "leek" } });

  const shown = server.user("ann").clientAt(PATH).resource(ConfigMap);
  const { items, metadata } = await shown.list();
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["menu"],
  );

  await own.mergePatch("draft", { metadata: { labels: { published: "yes" } } });
  for await (const { type, object } of shown.watch({ resourceVersion: metadata.resourceVersion ?? "" })) {
    if (type === "BOOKMARK") continue;
    assert.deepEqual([type, object.metadata.name], ["ADDED", "draft"]);
    break;
  }
});

test("shows them only to users who may read them in the workspace", async () => {
  await using server = await startTestServer(options);
  const shown = server.user("bob").clientAt(PATH).resource(ConfigMap);
  await assert.rejects(shown.list(), (error) => isApiError(error) && error.code === 403);
});
