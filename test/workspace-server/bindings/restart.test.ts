// Why: a server that stops between any two writes leaves a state that the next one completes.
import { APIBinding, APIExport, APIResourceSchema, LogicalCluster } from "@virtual-workspaces/kcp";
import { memoryStore, type Store, StoreError } from "@virtual-workspaces/store";
import { expect } from "chai";
import { ensure, remove } from "../../../packages/workspace-server/src/state/modify.ts";
import { until } from "../../_support/until.ts";
import { bindingOf, ConfigMap, exportOf, pathOf, said, schemaOf, TestShard } from "./support/shard.ts";

const CLAIM = { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] };
const key = (cluster: string, name: string, namespace = "") => ({ cluster, namespace, name });

/** Returns a store that fails all writes after the first `left`, as if the process had been killed. */
function dying(store: Store, left: { writes: number }): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "commit")
        return (...args: Parameters<Store["commit"]>) => {
          if (left.writes-- > 0) return target.commit(...args);
          return Promise.reject(new StoreError("Unavailable", "killed"));
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function prepare(store: Store): Promise<void> {
  await using shard = await new TestShard({ store }).start();
  await shard.clusters("provider", "a");
  const kept = <T>(object: object): T => object as T;
  await shard.bindings[Symbol.asyncDispose]();
  await ensure(shard.objects.of(APIResourceSchema), key("provider", "v1.widgets.example.dev"), () =>
    kept(schemaOf("v1")),
  );
  await ensure(
    shard.objects.of(APIExport),
    key("provider", "widgets"),
    () =>
      ({
        ...kept<{ spec: object }>(exportOf("widgets", ["v1.widgets.example.dev"], { permissionClaims: [CLAIM] })),
        metadata: { annotations: { "kcp.io/path": pathOf("provider") } },
      }) as never,
  );
  await ensure(shard.objects.of(ConfigMap), key("a", "one", "default"), () => ({}));
  const claims = [{ ...CLAIM, selector: { matchAll: true }, state: "Accepted" }];
  await ensure(
    shard.objects.of(APIBinding),
    key("a", "w"),
    () =>
      ({
        ...kept<{ spec: object }>(bindingOf("w", `${pathOf("provider")}:widgets`, claims)),
        metadata: { finalizers: ["apis.kcp.io/apibinding-finalizer"] },
      }) as never,
  );
}

const isBound = (shard: TestShard): boolean => {
  const binding = shard.binding("a", "w") as never;
  return said(binding, "BindingUpToDate") === "True" && said(binding, "PermissionClaimsApplied") === "True";
};
const labels = async (shard: TestShard): Promise<number> =>
  Object.keys((await shard.objects.of(ConfigMap).in("a", "default").get("one"))?.metadata.labels ?? {}).length;

describe("bindings over restarts", function () {
  this.timeout(60_000);

  it("become bound, wherever the server was killed", async () => {
    let killed = true;
    for (let writes = 0; killed; writes++) {
      await using store = memoryStore();
      await prepare(store);
      const left = { writes };
      {
        await using shard = await new TestShard({ store: dying(store, left) }).start();
        await until(() => left.writes < 0 || isBound(shard));
        killed = left.writes < 0;
      }
      await using shard = await new TestShard({ store }).start();
      await until(() => isBound(shard), { what: () => JSON.stringify(shard.binding("a", "w")) });
      expect(shard.state.apiBindings.store.list().length).to.equal(1);
      expect(await labels(shard)).to.equal(1);
      expect(shard.bindings.servedIn("a").length).to.equal(2);
    }
  });

  it("are deleted with their objects, wherever the server was killed", async () => {
    let killed = true;
    for (let writes = 0; killed; writes++) {
      await using store = memoryStore();
      await prepare(store);
      {
        await using shard = await new TestShard({ store }).start();
        await until(() => isBound(shard));
        const [served] = shard.bindings.servedIn("a");
        const objects = served?.storage as unknown as {
          in(cluster: string): { set(name: string, o: object): Promise<unknown> };
        };
        for (const name of ["x", "y"]) await objects.in("a").set(name, { spec: { size: 1 } });
        await shard.bindings[Symbol.asyncDispose]();
        await remove(shard.objects.of(APIBinding), key("a", "w"));
      }
      const left = { writes };
      {
        await using shard = await new TestShard({ store: dying(store, left) }).start();
        await until(() => left.writes < 0 || shard.binding("a", "w") === undefined);
        killed = left.writes < 0;
      }
      await using shard = await new TestShard({ store }).start();
      await until(() => shard.binding("a", "w") === undefined);
      await until(() => {
        const locks = shard.state.logicalCluster("a")?.metadata.annotations;
        return locks?.["internal.apis.kcp.io/resource-bindings"] === "{}";
      });
      expect(await labels(shard)).to.equal(0);
      const { entries } = await store.range({ from: "@kind-", to: "@kind-~" });
      expect(entries).to.deep.equal([]);
      expect(await shard.objects.of(LogicalCluster).in("a").get("cluster")).to.not.equal(undefined);
    }
  });
});
