// Objects that reach a namespace or logical cluster after it was emptied. They are written to the store directly, like a
// request admitted earlier, or one of another process.

import { memoryStore, persistent, type Store, type Transaction } from "@virtual-workspaces/store";
import { ClusterRole, ConfigMap } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { ClusterClient } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";

interface Place {
  readonly cluster: string;
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
}

async function put(store: Store, { cluster, namespace }: Place, metadata: object = {}): Promise<void> {
  const about = { name: "late", uid: `late-${namespace}`, ...metadata };
  const scope = { cluster, namespace } as never;
  if (namespace === "") {
    const roles = ClusterRole.collection(persistent(store));
    await roles.create(scope, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: about,
    } as never);
  } else {
    const maps = ConfigMap.collection(persistent(store));
    await maps.create(scope, { apiVersion: "v1", kind: "ConfigMap", metadata: { ...about, namespace } } as never);
  }
}

/** Returns a store that awaits `write` before the first deletion of an object whose key satisfies `is`. */
function storeThatFirst(store: Store, is: (key: string) => boolean, write: () => Promise<void>): Store {
  let done = false;
  const commit: Store["commit"] = async (transaction: Transaction) => {
    if (!done && transaction.operations.some(({ type, key }) => type === "delete" && is(key))) {
      done = true;
      await write();
    }
    return store.commit(transaction);
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "commit") return commit;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Resolves when the store has no objects of a logical cluster. */
async function nothingLeft(store: Store, cluster: string): Promise<void> {
  let left: readonly string[] = [];
  await until(
    async () => {
      const { entries } = await store.range({ from: " ", to: "~" });
      left = entries.map(({ key }) => key).filter((key) => key.includes(cluster));
      return left.length === 0;
    },
    { what: () => `no objects of ${cluster}, there are ${left}` },
  );
}

describe("a late write", function () {
  this.timeout(30_000);

  it("into a deleted namespace is deleted once its finalizers are gone, now or after a restart", async () => {
    await using store = memoryStore();
    {
      await using server = await startWorkspaces(store);
      const client = new ClusterClient(server);
      await client.namespace("brief");
      await client.delete("/api/v1/namespaces/brief");
      await client.gone("/api/v1/namespaces/brief");
      const late = "/api/v1/namespaces/brief/configmaps/late";
      await put(store, { cluster: "root", namespace: "brief" });
      await client.gone(late);
      await put(store, { cluster: "root", namespace: "brief" }, { finalizers: ["example.dev/hold"] });
      await client.until(late, ({ body }) => body.metadata?.deletionTimestamp !== undefined);
      await client.patch(late, { metadata: { finalizers: null } });
      await client.gone(late);
      await put(store, { cluster: "root", namespace: "default" });
      expect((await client.get("/api/v1/namespaces/default/configmaps/late")).status).to.equal(200);
    }
    await put(store, { cluster: "root", namespace: "brief" });
    await using server = await startWorkspaces(store);
    await new ClusterClient(server).gone("/api/v1/namespaces/brief/configmaps/late");
  });

  it("into a deleted logical cluster is deleted despite finalizers, in a namespace or not", async () => {
    await using store = memoryStore();
    await using server = await startWorkspaces(store);
    const client = new ClusterClient(server);
    const cluster = await makeWorkspace(server, "brief");
    await client.delete(`${WORKSPACES}/brief`);
    await client.gone(`${WORKSPACES}/brief`);
    for (const namespace of ["", "default"])
      await put(store, { cluster, namespace }, { finalizers: ["example.dev/hold"] });
    await nothingLeft(store, cluster);
  });

  it("into a namespace of a logical cluster deleted before the start is deleted", async () => {
    await using store = memoryStore();
    let cluster = "";
    {
      await using server = await startWorkspaces(store);
      const client = new ClusterClient(server);
      cluster = await makeWorkspace(server, "brief");
      await client.delete(`${WORKSPACES}/brief`);
      await client.gone(`${WORKSPACES}/brief`);
    }
    await put(store, { cluster, namespace: "default" });
    await using server = await startWorkspaces(store);
    expect((await server.get("/readyz")).status).to.equal(200);
    await nothingLeft(store, cluster);
  });

  it("into a namespace just found empty is deleted with it", async () => {
    await using store = memoryStore();
    const place = { cluster: "root", namespace: "brief" };
    const isIt = (key: string): boolean => key === "/namespaces/root//brief";
    await using server = await startWorkspaces(storeThatFirst(store, isIt, () => put(store, place)));
    const client = new ClusterClient(server);
    await client.namespace("brief");
    await client.delete("/api/v1/namespaces/brief");
    await client.gone("/api/v1/namespaces/brief");
    await client.gone("/api/v1/namespaces/brief/configmaps/late");
  });

  it("into a logical cluster just found empty is deleted with it, in a namespace or not", async () => {
    await using store = memoryStore();
    let cluster = "";
    const isIt = (key: string): boolean => cluster !== "" && key.includes("logicalclusters") && key.includes(cluster);
    const write = async (): Promise<void> => {
      for (const namespace of ["", "default"])
        await put(store, { cluster, namespace }, { finalizers: ["example.dev/hold"] });
    };
    await using server = await startWorkspaces(storeThatFirst(store, isIt, write));
    const client = new ClusterClient(server);
    cluster = await makeWorkspace(server, "brief");
    await client.delete(`${WORKSPACES}/brief`);
    await client.gone(`${WORKSPACES}/brief`);
    await nothingLeft(store, cluster);
  });
});
