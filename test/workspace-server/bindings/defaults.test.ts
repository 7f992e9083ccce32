// Why: workspaces get the bindings of their type, created as their creator and maintained by the server.
import { isDeepStrictEqual } from "node:util";
import {
  API_BINDINGS_INITIALIZER,
  APIExport,
  defaultBindingName,
  LogicalCluster,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { RESOURCE_BINDINGS_ANNOTATION, WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { expect } from "chai";
import { ensure, modify } from "../../../packages/workspace-server/src/state/modify.ts";
import { logicalClusterKey } from "../../../packages/workspace-server/src/state/shard-state.ts";
import { until } from "../../_support/until.ts";
import { type Status, said, TestShard } from "./support/shard.ts";

const CLAIM = { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] };

describe("default bindings", () => {
  const provide = async (shard: TestShard, name: string, claims: readonly (typeof CLAIM)[] = []): Promise<void> => {
    const key = { cluster: "provider", namespace: "", name };
    await ensure(shard.objects.of(APIExport), key, () => ({
      metadata: { annotations: { "kcp.io/path": "root:provider" } },
      spec: { resources: [], permissionClaims: [...claims] },
    }));
  };
  const type = async (shard: TestShard, name: string, spec: object): Promise<void> => {
    const key = { cluster: "provider", namespace: "", name };
    await ensure(shard.objects.of(WorkspaceType), key, () => ({
      metadata: { annotations: { "kcp.io/path": "root:provider" } },
      spec,
    }));
    await until(() => shard.state.workspaceTypes.store.by("type", `provider:${name}`).length === 1);
  };
  const workspace = async (shard: TestShard, cluster: string, name: string): Promise<void> => {
    await ensure(shard.objects.of(LogicalCluster), logicalClusterKey(cluster), () => ({
      metadata: { annotations: { [WORKSPACE_TYPE_ANNOTATION]: `root:provider:${name}` } },
      spec: { createdBy: { username: "ann", groups: ["team"] } },
      status: { phase: "Initializing" as const, initializers: [API_BINDINGS_INITIALIZER, "root:other"] },
    }));
  };
  const status = (shard: TestShard, cluster: string): Status & { initializers?: string[] } =>
    shard.state.logicalCluster(cluster)?.status as never;
  const bound = (shard: TestShard, cluster: string): string[] =>
    shard.state.apiBindings.store
      .list(cluster)
      .map(({ spec }) => spec.reference.export?.name ?? "")
      .sort();

  it("are created as the creator, base types first, and complete the initialization when bound", async () => {
    const asked: string[] = [];
    await using shard = await new TestShard({
      mayBind: ({ name, groups }, cluster, { verb, name: of }) => {
        asked.push(`${name} of ${groups} may ${verb} ${of} in ${cluster}`);
        return true;
      },
    }).start();
    await shard.clusters("provider");
    await provide(shard, "first", [CLAIM]);
    await provide(shard, "second");
    await type(shard, "base", { defaultAPIBindings: [{ path: "root:provider", export: "first" }] });
    await type(shard, "team", {
      extend: {
        with: [
          { path: "root:provider", name: "base" },
          { path: "root:provider", name: "team" },
        ],
      },
      defaultAPIBindings: [{ export: "second" }, { path: "root:provider", export: "first" }],
    });
    await workspace(shard, "ws", "team");
    await until(() => status(shard, "ws")?.initializers?.length === 1);
    expect(status(shard, "ws").initializers).to.deep.equal(["root:other"]);
    expect(bound(shard, "ws")).to.deep.equal(["first", "second"]);
    expect(asked).to.deep.equal(["ann of team may bind first in provider", "ann of team may bind second in provider"]);
    const [first] = shard.state.apiBindings.store.by("export", "root:provider:first");
    expect(first?.spec.permissionClaims).to.deep.equal([{ ...CLAIM, selector: { matchAll: true }, state: "Accepted" }]);
    expect(said(first as never, "PermissionClaimsApplied")).to.equal("True");
  });

  it("are not created if the creator may not bind, which a condition reports", async () => {
    await using shard = await new TestShard({ mayBind: () => false }).start();
    await shard.clusters("provider");
    await provide(shard, "first");
    await type(shard, "team", { defaultAPIBindings: [{ path: "root:provider", export: "first" }] });
    await workspace(shard, "ws", "team");
    await until(() => said({ status: status(shard, "ws") }, "APIBindingsInitialized").includes("APIBindingErrors"));
    expect(said({ status: status(shard, "ws") }, "APIBindingsInitialized")).to.match(
      /^False APIBindingErrors encountered errors: apibindings.apis.kcp.io "first-[0-9a-z]{5}" is forbidden: unable to create APIBinding: no permission to bind to export root:provider:first$/,
    );
    expect(bound(shard, "ws")).to.deep.equal([]);
    await workspace(shard, "lost", "nothing");
    await until(() =>
      said({ status: status(shard, "lost") }, "APIBindingsInitialized").includes("WorkspaceTypesInvalid"),
    );
  });

  it("keep their locks while they are expected, and no longer", async () => {
    await using shard = await new TestShard({ mayBind: () => false }).start();
    await shard.clusters("provider");
    await provide(shard, "first");
    await type(shard, "team", { defaultAPIBindings: [{ path: "root:provider", export: "first" }] });
    const n = defaultBindingName({ cluster: "ws", exportPath: "root:provider", exportName: "first" });
    const [widgets, others] = [{ "widgets.example.dev": { n } }, { "others.example.dev": { n: "other" } }];
    const locks = (): unknown =>
      JSON.parse(shard.state.logicalCluster("ws")?.metadata.annotations?.[RESOURCE_BINDINGS_ANNOTATION] ?? "null");
    await ensure(shard.objects.of(LogicalCluster), logicalClusterKey("ws"), () => ({
      metadata: {
        annotations: {
          [WORKSPACE_TYPE_ANNOTATION]: "root:provider:team",
          [RESOURCE_BINDINGS_ANNOTATION]: JSON.stringify({ ...widgets, ...others }),
        },
      },
      spec: { createdBy: { username: "ann" } },
      status: { phase: "Initializing" as const, initializers: [API_BINDINGS_INITIALIZER, "root:other"] },
    }));
    await until(() => said({ status: status(shard, "ws") }, "APIBindingsInitialized").includes("APIBindingErrors"));
    await until(() => isDeepStrictEqual(locks(), widgets));
    await modify(shard.objects.of(LogicalCluster), logicalClusterKey("ws"), (there) => ({
      ...there,
      status: { ...there.status, initializers: ["root:other"] },
    }));
    await until(() => isDeepStrictEqual(locks(), {}));
  });

  it("wait for a missing export", async () => {
    await using shard = await new TestShard().start();
    await shard.clusters("provider");
    await type(shard, "team", { defaultAPIBindings: [{ path: "root:provider", export: "late" }] });
    await workspace(shard, "ws", "team");
    await until(() => said({ status: status(shard, "ws") }, "APIBindingsInitialized").includes("unable to find"));
    await provide(shard, "late");
    await until(() => status(shard, "ws")?.initializers?.length === 1);
    expect(bound(shard, "ws")).to.deep.equal(["late"]);
  });

  it("are corrected if the type says Maintain", async () => {
    await using shard = await new TestShard().start();
    await shard.clusters("provider");
    await provide(shard, "first");
    await provide(shard, "second");
    const bindings = [{ path: "root:provider", export: "first" }];
    await type(shard, "kept", { defaultAPIBindings: bindings, defaultAPIBindingLifecycle: "Maintain" });
    await type(shard, "once", { defaultAPIBindings: bindings });
    await workspace(shard, "a", "kept");
    await workspace(shard, "b", "once");
    await until(() => ["a", "b"].every((cluster) => status(shard, cluster)?.initializers?.length === 1));
    const more = [...bindings, { path: "root:provider", export: "second" }];
    for (const name of ["once", "kept"])
      await modify(shard.objects.of(WorkspaceType), { cluster: "provider", namespace: "", name }, (found) => ({
        ...found,
        spec: { ...found.spec, defaultAPIBindings: more },
      }));
    await until(() => bound(shard, "a").length === 2);
    expect(bound(shard, "b")).to.deep.equal(["first"]);
  });
});
