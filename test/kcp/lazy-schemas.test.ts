// Schemas that are compiled with the first object cause no error at the start. This test checks them all.
import { Resource } from "@virtual-workspaces/framework";
import { schemaProblems } from "@virtual-workspaces/framework/resource";
import * as kcp from "@virtual-workspaces/kcp";
import { builtInKinds } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";

const shipped = [...Object.values(kcp), ...builtInKinds.map(({ resource }) => resource)];
const lazy = shipped.filter((value): value is Resource => value instanceof Resource && value.lazySchema);

describe("schemas that are compiled with the first object", () => {
  it("include those of kcp's own kinds", () => {
    expect(lazy.map(({ kind }) => kind)).to.include.members(["APIBinding", "APIExport", "LogicalCluster", "Workspace"]);
  });

  for (const { kind, version, schema } of lazy)
    it(`are valid for Kubernetes: ${kind} ${version}`, () => expect(schemaProblems(schema)).to.deep.equal([]));
});
