// What is measured: a workspace that is mounted by a Mount of type URL, in the embedded workspace server, with token authentication.
import { generateKeyPairSync } from "node:crypto";
import type { KindReference, KubeObject } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { staticTokens } from "@virtual-workspaces/framework";
import { Mount, Workspace } from "@virtual-workspaces/kcp";
import { mountManifests, mountsView, workspaceMounts } from "@virtual-workspaces/mounts";
import { memoryStore } from "@virtual-workspaces/store";
import { createWorkspaceServer, loopback, ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { serveCommands } from "../_harness/commands.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

const signing = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const USERS = { "bench-token": { name: "alice", groups: ["system:kcp:admin"] } };
const TARGET = { namespace: "default", name: "target" };
const own = loopback();
const { upstream } = own;

const commands = {
  ...peakMemory,
  /** Serves it once it is ready. @param target the port of the other server @returns the port, and the path of the workspace */
  listen: async (target: number): Promise<{ readonly port: number; readonly path: string }> => {
    const server = createWorkspaceServer({
      store: memoryStore(),
      loopback: own,
      virtualWorkspaces: [mountsView({ upstream, allow: ["127.0.0.1"] })],
      authentication: [staticTokens(USERS)],
      urls: ({ port }) => ({ baseURL: urlAt(port), externalURL: urlAt(port), virtualWorkspaceURL: urlAt(port) }),
      serviceAccountKeys: new ServiceAccountKeys({ signing: signing.toString() }),
      rootCa: () => "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
      log: ({ level, message, ...rest }) => {
        if (level === "error") throw new Error(`${message}: ${JSON.stringify(rest)}`);
      },
    });
    const { port } = await server.listen({ port: 0 });
    workspaceMounts({ upstream });
    const root = new Client({ upstream, cluster: "root" });
    for (const object of mountManifests()) await applied(root, object);
    await applied(root, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIBinding",
      metadata: { name: "mounts" },
      spec: { reference: { export: { path: "root", name: "proxy.kcp.io" } } },
    } as KubeObject);
    await applied(root, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: TARGET,
      stringData: { kubeconfig: JSON.stringify(kubeconfigOf(urlAt(target))) },
    } as KubeObject);
    const ref = { apiVersion: "v1", kind: "Secret", ...TARGET };
    await served(root, "mounts");
    await root.resource(Mount).create({ metadata: { name: "there" }, spec: { ref } });
    const mount = { ref: { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name: "there" } };
    await root.resource(Workspace).create({ metadata: { name: "there" }, spec: { mount } });
    await ready(root);
    return { port, path: "/clusters/root:there" };
  },
};

export type MountedWorkspace = typeof commands;

serveCommands(commands);

function urlAt(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function kubeconfigOf(server: string): object {
  return {
    "current-context": "c",
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "c", user: { token: "impersonator" } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
  };
}

async function applied(client: Client, object: KubeObject): Promise<void> {
  const kind = await served(client, object.kind);
  await client.resource(kind).apply(object as never, { force: true });
}

/** A kind, once it is served. */
async function served(client: Client, name: string): Promise<KindReference> {
  for (;;) {
    const found = await client.discovery().findResource(name);
    if (found !== undefined) return found;
  }
}

async function ready(client: Client): Promise<void> {
  for await (const { type, object } of client.resource(Workspace).watch({ fields: "metadata.name=there" }))
    if (type !== "BOOKMARK" && (object as Workspace).status?.phase === "Ready") return;
}
