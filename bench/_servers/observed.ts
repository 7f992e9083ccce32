// A view of a collection with token authentication, watched or not: by an audit log, by metrics.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authenticated, createServer, type Server } from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import { metrics } from "@virtual-workspaces/framework/server";
import { serveCommands } from "../_harness/commands.ts";
import { tokens, view, widgets } from "./widget-view.ts";

const folder = mkdtempSync(join(tmpdir(), "virtual-workspaces-bench-"));
const file = join(folder, "audit.log");
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const everyStage = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] } as const;
/** As in the example of Kubernetes' documentation: a request that is done says all that one that has come says. */
const ends = { ...everyStage, omitStages: ["RequestReceived"] } as const;
let server: Server | undefined;

const commands = {
  listen: async (by: { readonly audit?: "ends" | "every-stage"; readonly metrics?: boolean }): Promise<number> => {
    widgets.in("").set("w", { text: "x".repeat(1900) });
    server = createServer({
      virtualWorkspaces: [view],
      authentication: [tokens],
      ...(by.audit && {
        audit: audit({ policy: by.audit === "ends" ? ends : everyStage, to: { path: file, maxBackups: 1 } }),
      }),
      ...(by.metrics && { metrics: metrics({ authorize: authenticated() }) }),
    });
    return (await server.listen({ port: 0 })).port;
  },
  /** Closes, and gives the last lines of the audit log. */
  close: async (): Promise<readonly string[]> => {
    await server?.close();
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-4);
  },
};

export type Observed = typeof commands;

serveCommands(commands);
