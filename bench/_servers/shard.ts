// The server behind a front proxy: a workspace server that takes everybody for its administrator, so that a bare relay can ask it too.
import { generateKeyPairSync } from "node:crypto";
import { Client } from "@virtual-workspaces/client";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { Workspace } from "@virtual-workspaces/kcp";
import { memoryStore } from "@virtual-workspaces/store";
import { ConfigMap, createWorkspaceServer, ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { serveCommands } from "../_harness/commands.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

const signing = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const ADMIN = authenticatedUser({ name: "admin", groups: ["system:masters"] });

const commands = {
  ...peakMemory,
  /** Serves a workspace `root:a` with a ConfigMap of so many bytes. @returns the port, and the path of that in a workspace */
  listen: async (size: number): Promise<{ readonly port: number; readonly path: string }> => {
    const server = createWorkspaceServer({
      store: memoryStore(),
      authentication: [{ name: "everybody", authenticate: () => ADMIN }],
      serviceAccountKeys: new ServiceAccountKeys({ signing: signing.toString() }),
      rootCa: () => "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
      log: ({ level, message, ...rest }) => {
        if (level === "error") throw new Error(`${message}: ${JSON.stringify(rest)}`);
      },
    });
    const { port, url } = await server.listen({ port: 0 });
    await using root = new Client({ upstream: { url }, cluster: "root" });
    const workspaces = root.resource(Workspace);
    await workspaces.create({ metadata: { name: "a" }, spec: { type: { name: "universal", path: "root" } } });
    for await (const { type, object } of workspaces.watch({ fields: "metadata.name=a" }))
      if (type !== "BOOKMARK" && (object as Workspace).status?.phase === "Ready") break;
    const maps = root.cluster("root:a").resource(ConfigMap).in("default");
    await maps.create({ metadata: { name: "a", namespace: "default" }, data: { text: "x".repeat(size) } });
    return { port, path: "/api/v1/namespaces/default/configmaps/a" };
  },
};

export type Shard = typeof commands;

serveCommands(commands);
