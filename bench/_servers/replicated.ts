// What is measured: a workspace server in memory with the view of cached resources, as `virtual-workspaces start` has both.
import { generateKeyPairSync } from "node:crypto";
import { staticTokens } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import { memoryStore } from "@virtual-workspaces/store";
import { createWorkspaceServer, loopback, ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { kcpViews } from "../../packages/cli/src/views/kcp-views.ts";
import { serveCommands } from "../_harness/commands.ts";

const signing = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const admin = { name: "admin", groups: ["system:masters"] };
const errors: unknown[] = [];

const commands = {
  /** Serves it to administrators. @returns the port */
  listen: async (): Promise<number> => {
    const log: Log = ({ level, message, ...rest }) => {
      if (level === "error" || level === "warn") errors.push({ message, ...rest });
    };
    const own = loopback();
    const server = createWorkspaceServer({
      store: memoryStore(),
      loopback: own,
      virtualWorkspaces: kcpViews({ ...own, cachedResources: true }, log),
      cachedResources: true,
      authentication: [staticTokens({ admin, "token-a": admin, "token-b": { ...admin, name: "other" } })],
      serviceAccountKeys: new ServiceAccountKeys({ signing: signing.toString() }),
      tls: false,
      rootCa: () => "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
      log,
    });
    return (await server.listen({ port: 0 })).port;
  },
  /** What was logged, warnings and worse. */
  errors: (): unknown[] => errors,
};

export type ReplicatedServer = typeof commands;

serveCommands(commands);
