// A request that finds another target closes the connections to the former one, even before any change event.
import { connect } from "node:net";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { anonymous } from "@virtual-workspaces/framework/authn";
import { encodeObject } from "@virtual-workspaces/framework/storage";
import type { LogicalCluster, Workspace } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { loopback } from "../../../packages/workspace-server/src/loopback/loopback.ts";
import { Mounts } from "../../../packages/workspace-server/src/mounts/mounts.ts";
import { keyText } from "../../../packages/workspace-server/src/state/informers/key-index.ts";
import { ObjectCache } from "../../../packages/workspace-server/src/state/informers/object-cache.ts";
import { mountedWorkspaceOf } from "../../../packages/workspace-server/src/state/mounted-workspace.ts";
import type { ShardPeer } from "../../../packages/workspace-server/src/state/shard-peer.ts";
import { ShardRegistry } from "../../../packages/workspace-server/src/state/shard-registry.ts";
import { testLog } from "../../_setup/log.ts";
import { startPlain } from "../../_support/plain.ts";
import { Wire } from "../../_support/wire.ts";

/** Objects read during the start: known at once, with events later. */
class Untold<T extends object> extends ObjectCache<T> {
  #revision = 0;

  constructor() {
    super({});
  }

  read(object: KubeObject): void {
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    const encoded = encodeObject({ ...object, metadata }, "root");
    this.set(keyText(encoded.key), encoded, true);
  }
}

const mounted = (host: string) => ({
  apiVersion: "tenancy.kcp.io/v1alpha1",
  kind: "Workspace",
  metadata: { name: "lab", annotations: { "kcp.io/cluster": "root" } },
  spec: {
    mount: { ref: { apiVersion: "example.dev/v1", kind: "RemoteCluster", name: "lab" } },
    URL: `http://${host}/services/echo/clusters/x`,
  },
  status: { phase: "Ready" },
});

describe("a mount that changed before any event", () => {
  it("closes the connections to its former target with the next request", async () => {
    const echo = defineVirtualWorkspace({
      name: "echo",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      handle: (_, res) => void res.end("{}"),
      upgrade: (_, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
        socket.pipe(socket);
      },
    });
    await using other = await startPlain([echo], { authentication: [anonymous()] });
    const dialled: string[] = [];
    const dial = async ({ host }: { readonly host: string }) => {
      dialled.push(host);
      return connect({ port: Number(new URL(other.url).port), host: "127.0.0.1" });
    };
    const registry = new ShardRegistry();
    using workspaces = new Untold<Workspace>();
    using logicalClusters = new Untold<LogicalCluster>();
    const state = { workspaces, logicalClusters, logicalCluster: () => undefined };
    const urls = { baseURL: "https://own", externalURL: "https://own", virtualWorkspaceURL: "https://own" };
    using _joined = registry.join({ name: "root", urls, state } as unknown as ShardPeer);
    const metadata = { name: "cluster", annotations: { "kcp.io/cluster": "root" } };
    logicalClusters.read({ apiVersion: "core.kcp.io/v1alpha1", kind: "LogicalCluster", metadata });
    workspaces.read(mounted("first.test"));
    await using own = loopback();
    await using mounts = new Mounts({
      registry,
      workspaces: own,
      others: { dial, mayAskPlain: () => true },
      log: testLog().log,
    });
    const front = defineVirtualWorkspace({
      name: "clusters",
      prefix: "/clusters",
      path: "/:cluster",
      locate: (said) => registry.locate(said),
      authorize: () => allow(),
      handleWhen: ({ params }) => mountedWorkspaceOf(params) !== undefined,
      handle: mounts.handle,
      upgrade: mounts.upgrade,
    });
    await using server = await startPlain([front]);

    using wire = await Wire.open(Number(new URL(server.url).port));
    const lines = ["Host: x", "Authorization: Bearer alice", "Connection: Upgrade", "Upgrade: test"];
    wire.request("GET /clusters/root:lab/x HTTP/1.1", ...lines);
    const head = "HTTP/1.1 101 Switching Protocols\r\n";
    expect(String(await wire.read(head.length))).to.equal(head);
    await wire.begun();
    workspaces.read(mounted("second.test"));
    expect((await server.get("/clusters/root:lab/api")).status).to.equal(200);
    expect(dialled).to.deep.equal(["first.test", "second.test"]);
    await wire.cut();
  });
});
