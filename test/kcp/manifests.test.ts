// Why: schemas are immutable. The same name for another schema would leave the old one in use.
import { defineResource } from "@virtual-workspaces/framework";
import { crdManifest, exportManifests, schemaManifest } from "@virtual-workspaces/kcp";
import { expect } from "chai";

const widget = (spec: Record<string, { type: "string" | "integer" }> = { size: { type: "integer" } }) =>
  defineResource({
    group: "example.dev",
    version: "v1",
    kind: "Widget",
    scope: "Namespaced",
    spec: { type: "object", properties: spec },
  });
const ada = { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "ada" } as const;

describe("manifests", () => {
  it("of a kind are its CustomResourceDefinition and a schema that is named by its content", () => {
    const [one, same, other] = [widget(), widget(), widget({ text: { type: "string" } })].map(schemaManifest);
    expect(one?.metadata.name).to.match(/^v1-[0-9a-f]{9}\.widgets\.example\.dev$/);
    expect(same).to.deep.equal(one);
    expect(other?.metadata.name).to.not.equal(one?.metadata.name);
    expect(crdManifest(widget())).to.deep.include({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.dev" },
    });
  });

  it("of an export are its schemas, the export, and roles to bind and use it", () => {
    const claims = [{ group: "", resource: "configmaps", verbs: ["get"] }];
    const all = exportManifests({
      name: "widgets",
      resources: [widget()],
      permissionClaims: claims,
      maximalPermissionPolicy: { local: {} },
      mayBind: [{ ...ada, kind: "Group", name: "system:authenticated" }],
      mayUse: [ada],
    });
    expect(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).to.deep.equal([
      `APIResourceSchema ${schemaManifest(widget()).metadata.name}`,
      "APIExport widgets",
      "ClusterRole widgets-bind",
      "ClusterRoleBinding widgets-bind",
      "ClusterRole widgets-content",
      "ClusterRoleBinding widgets-content",
    ]);
    expect(all[1]).to.deep.equal({
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIExport",
      metadata: { name: "widgets" },
      spec: {
        resources: [
          {
            group: "example.dev",
            name: "widgets",
            schema: schemaManifest(widget()).metadata.name,
            storage: { crd: {} },
          },
        ],
        permissionClaims: claims,
        maximalPermissionPolicy: { local: {} },
      },
    });
    expect(all[4]).to.have.deep.property("rules", [
      { apiGroups: ["apis.kcp.io"], resourceNames: ["widgets"], resources: ["apiexports/content"], verbs: ["*"] },
      {
        apiGroups: ["apis.kcp.io"],
        resourceNames: ["widgets"],
        resources: ["apiexportendpointslices"],
        verbs: ["get", "list", "watch"],
      },
    ]);
    expect(exportManifests({ name: "empty" })).to.deep.equal([
      { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIExport", metadata: { name: "empty" }, spec: {} },
    ]);
  });
});
