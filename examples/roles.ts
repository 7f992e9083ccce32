// Who may do what, by roles and bindings as Kubernetes has them: everybody views, operators edit, alice edits the attic.
import { defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { rbac } from "@virtual-workspaces/framework/authz";

const Runbook = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Runbook",
  scope: "Namespaced",
  description: "What to do when something breaks.",
  spec: { type: "object", required: ["steps"], properties: { steps: { type: "array", items: { type: "string" } } } },
  status: { type: "object", properties: { lastUsed: { type: "string" } } },
});

export const runbooks = Runbook.collection();
runbooks.in("root", "default").set("restart", { steps: ["Turn it off.", "Turn it on again."] });
runbooks.in("root", "attic").set("fax", { steps: ["Feed the paper."] });

const runbook = { apiGroups: ["example.dev"], resources: ["runbooks"] };

export default defineVirtualWorkspace({
  name: "roles",
  path: "/clusters/:cluster",
  authorize: rbac({
    objects: [
      {
        kind: "ClusterRole",
        metadata: { name: "viewer" },
        rules: [
          { ...runbook, verbs: ["get", "list", "watch"] },
          { verbs: ["get"], nonResourceURLs: ["*"] }, // discovery
        ],
      },
      {
        kind: "ClusterRole",
        metadata: { name: "editor" },
        rules: [{ ...runbook, verbs: ["create", "update", "patch", "delete"] }],
      },
      {
        kind: "ClusterRoleBinding",
        metadata: { name: "everybody-views" },
        roleRef: { kind: "ClusterRole", name: "viewer" },
        subjects: [{ kind: "Group", name: "system:authenticated" }],
      },
      {
        kind: "ClusterRoleBinding",
        metadata: { name: "operators-edit" },
        roleRef: { kind: "ClusterRole", name: "editor" },
        subjects: [{ kind: "Group", name: "system:masters" }],
      },
      {
        kind: "RoleBinding",
        metadata: { name: "alice-edits-the-attic", namespace: "attic" },
        roleRef: { kind: "ClusterRole", name: "editor" },
        subjects: [{ kind: "User", name: "alice" }],
      },
    ],
  }),
  resources: [Runbook.serve(runbooks)],
});
