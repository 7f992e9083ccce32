// What is measured: a workspace server in memory, with or without webhook configurations in its workspaces.
import { generateKeyPairSync } from "node:crypto";
import { staticTokens } from "@virtual-workspaces/framework";
import { memoryStore } from "@virtual-workspaces/store";
import { createWorkspaceServer, ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { serveCommands } from "../_harness/commands.ts";

const signing = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });

const commands = {
  /** Serves it. @returns the port */
  listen: async (): Promise<number> => {
    const server = createWorkspaceServer({
      store: memoryStore(),
      authentication: [staticTokens({ "bench-token": { name: "bench", groups: ["system:masters"] } })],
      serviceAccountKeys: new ServiceAccountKeys({ signing: signing.toString() }),
      tls: false,
      rootCa: () => "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
      admissionWebhooks: { dial: () => Promise.reject(new Error("no rule matches what is measured")) },
      log: () => undefined,
    });
    return (await server.listen({ port: 0 })).port;
  },
};

export type Admission = typeof commands;
serveCommands(commands);
