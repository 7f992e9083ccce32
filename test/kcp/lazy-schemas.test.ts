// Schemas that are compiled with the first object are never seen to be wrong at a start: here they are.
import { Resource } from "@virtual-workspaces/framework";
import { schemaProblems } from "@virtual-workspaces/framework/resource";
import * as kcp from "@virtual-workspaces/kcp";
import { builtInKinds } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";

const shipped = [...Object.values(kcp), ...builtInKinds.map(({ resource }) => resource)];
const lazy = shipped.filter((value): value is Resource => value instanceof Resource && value.lazySchema);

describe("schemas that are compiled with the first object", () => {
  it("are those of kcp's own kinds", () => {
    expect(lazy.map(({ kind }) => kind)).to.include.members(["APIBinding", "APIExport", "LogicalCluster", "Workspace"]);
  });

  for (const { kind, version, schema } of lazy)
    it(`are such as Kubernetes takes: ${kind} ${version}`, () => expect(schemaProblems(schema)).to.deep.equal([]));
});
