// seeds N logical clusters through the engine; measures anonymous memory after gc, boot time
import { readFileSync, rmSync, mkdtempSync } from "node:fs";
import { lmdbStore, memoryStore } from "@virtual-workspaces/store";
import { LogicalCluster } from "@virtual-workspaces/kcp";
import { startWorkspaces } from "./test/workspace-server/support/workspaces.ts";
import { ShardObjects } from "./packages/workspace-server/src/shard/objects.ts";
import { ensure } from "./packages/workspace-server/src/shard/modify.ts";
import { Namespace } from "./packages/workspace-server/src/kinds/core/namespace.ts";
import { ClusterRoleBinding } from "./packages/workspace-server/src/kinds/rbac/kinds.ts";
const [n, engine = "memory", mode = "all", dirArg] = process.argv.slice(2);
const N = Number(n);
const dir = dirArg ?? mkdtempSync("/dev/shm/mem-");
const open = async () => (engine === "memory" ? memoryStore() : lmdbStore({ dir, wait: 10000 }));
const anon = async () => {
  for (let i = 0; i < 6; i++) { globalThis.gc?.(); await new Promise((r) => setTimeout(r, 100)); }
  const text = readFileSync("/proc/self/smaps_rollup", "utf8");
  const kb = Number(/Anonymous:\s+(\d+)/.exec(text)?.[1]);
  const m = process.memoryUsage();
  return { anonKB: kb, heapKB: Math.round(m.heapUsed / 1024), extKB: Math.round(m.external / 1024), abKB: Math.round(m.arrayBuffers/1024) };
};
const store = await open();
let t = performance.now();
if (mode !== "boot") {
  const objects = new ShardObjects(store);
  const one = async (at: number) => {
    const cluster = `c${at.toString(36).padStart(12, "0")}`;
    const key = (name: string) => ({ cluster, namespace: "", name });
    await ensure(objects.of(LogicalCluster), key("cluster"), () => ({ metadata: { annotations: { "kcp.io/path": `root:${cluster}`, "internal.tenancy.kcp.io/type": "root:universal", "experimental.tenancy.kcp.io/owner": JSON.stringify({ username: "alice", groups: ["system:authenticated"] }) }, finalizers: ["core.kcp.io/logicalcluster-deletion"] }, spec: { directlyDeletable: false, owner: { apiVersion: "tenancy.kcp.io/v1alpha1", resource: "workspaces", name: cluster, cluster: "root", uid: "7d4a3c70-1111-4222-8333-abcdefabcdef" } }, status: { phase: "Ready", URL: `https://127.0.0.1:6443/clusters/${cluster}` } }) as never);
    await ensure(objects.of(Namespace), key("default"), () => ({ metadata: { labels: { "kubernetes.io/metadata.name": "default" } }, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } }) as never);
    await ensure(objects.of(ClusterRoleBinding), key("workspace-admin"), () => ({ roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" }, subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }] }) as never);
  };
  for (let at = 0; at < N; at += 64) await Promise.all(Array.from({ length: Math.min(64, N - at) }, (_, i) => one(at + i)));
  objects[Symbol.dispose]();
  console.log("seeded", N, Math.round(performance.now() - t), "ms", JSON.stringify(await anon()));
}
t = performance.now();
const before = await anon();
t = performance.now();
const server = await startWorkspaces(store);
const boot = performance.now() - t;
const after = await anon();
console.log(engine, N, "boot ms", Math.round(boot), JSON.stringify(before), JSON.stringify(after));
if (N > 10) { const r = await server.get("/clusters/c000000000001/api/v1/namespaces/default", { user: "alice" }); console.log(r.status, r.text.slice(0, 100)); 
  const t2 = performance.now(); for (let i=0;i<N&&i<2000;i++) await server.get(`/clusters/c${i.toString(36).padStart(12,"0")}/api/v1/namespaces/default`, { user: "root" }); console.log("2000 gets", Math.round(performance.now()-t2), JSON.stringify(await anon())); }
if (process.env.SNAP) { const v8 = await import("node:v8"); v8.writeHeapSnapshot(process.env.SNAP); }
await server[Symbol.asyncDispose]();
await store[Symbol.asyncDispose]();
