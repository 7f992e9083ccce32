// A shard that joins during a request has read nothing yet: its objects are neither gone nor unknown.
import { LogicalCluster, ROOT_SHARD } from "@virtual-workspaces/kcp";
import { PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { accountsOf } from "../../../packages/workspace-server/src/service-accounts/accounts-of.ts";
import type { ShardContext } from "../../../packages/workspace-server/src/state/context.ts";
import { inProcessPeer } from "../../../packages/workspace-server/src/state/in-process-peer.ts";
import { ensure } from "../../../packages/workspace-server/src/state/modify.ts";
import { ShardObjects } from "../../../packages/workspace-server/src/state/objects.ts";
import { ShardRegistry } from "../../../packages/workspace-server/src/state/shard-registry.ts";
import { logicalClusterKey, ShardState } from "../../../packages/workspace-server/src/state/shard-state.ts";
import { EVERYWHERE, HeldStore } from "./start/support/held-store.ts";

/** Starts a shard that reads the content of workspaces on demand. */
async function begun(name: string, store: Store, registry: ShardRegistry): Promise<ShardContext> {
  const objects = new ShardObjects(new HeldStore(store, EVERYWHERE).store);
  const state = new ShardState(objects);
  await objects.begin();
  const url = `https://${name}.test`;
  const urls = { baseURL: url, externalURL: url, virtualWorkspaceURL: url };
  return { name, urls, objects, state, registry } as Partial<ShardContext> as ShardContext;
}

describe("a shard that joins", () => {
  for (const runsShards of [true, false])
    it(`is unavailable to the first requests, ${runsShards ? "with other shards" : "alone"}, so that no account seems missing`, async () => {
      const registry = new ShardRegistry({ runsShards });
      const asked = async () => accountsOf(registry).serviceAccount("far", "default", "bot");
      const told = await asked().catch((error: unknown) => error);
      expect(told).to.have.nested.include({ "status.code": 503, "status.details.retryAfterSeconds": 1 });
      await using store = memoryStore();
      const root = await begun(ROOT_SHARD, store, registry);
      using stack = new DisposableStack();
      stack.use(root.objects);
      stack.use(registry.join(inProcessPeer(root)));
      expect(await asked()).to.equal(undefined);
    });

  it("is included in a load that has already started", async () => {
    await using near = memoryStore();
    await using far = memoryStore();
    {
      using objects = new ShardObjects(far);
      const metadata = { annotations: { [PATH_ANNOTATION]: "root:far" } };
      await ensure(objects.of(LogicalCluster), logicalClusterKey("far"), () => ({
        metadata,
        spec: { directlyDeletable: false },
      }));
    }
    const registry = new ShardRegistry({ runsShards: true });
    const one = await begun("one", near, registry);
    const two = await begun("two", far, registry);
    using stack = new DisposableStack();
    for (const { objects } of [one, two]) stack.use(objects);
    stack.use(registry.join(inProcessPeer(one)));
    const asked = registry.load("far");
    stack.use(registry.join(inProcessPeer(two)));
    await asked;
    expect(registry.shardWith("far")?.name).to.equal("two");
  });
});
