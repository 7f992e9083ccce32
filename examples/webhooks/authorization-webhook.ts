// A webhook that authorizes: only members of the group `oncall` may delete. It has no opinion about anything else, so that the
// permissions of the workspaces decide.
//
//   node examples/webhooks/authorization-webhook.ts 8443
//
// docs/how-to/authorization-webhooks.md explains it.
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import express, { type Express } from "express";

/** Part of a SubjectAccessReview that this webhook reads. */
interface Review {
  readonly spec: {
    readonly user: string;
    readonly groups?: readonly string[];
    readonly resourceAttributes?: { readonly verb: string };
  };
}

/** The webhook as an Express application. */
export function createApp(): Express {
  const app = express();
  app.use(express.json({ limit: "1mb" })); // a user may be in thousands of groups
  app.post("/authorize", (req, res) => {
    const { groups = [], resourceAttributes } = (req.body as Review).spec;
    const deletes = resourceAttributes?.verb.startsWith("delete") === true;
    const denied = deletes && !groups.includes("oncall");
    res.json({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      status: denied ? { allowed: false, denied, reason: "ask the engineer on call to delete it" } : { allowed: false },
    });
  });
  return app;
}

if (import.meta.main) {
  const { tls } = await generatedTls({ dir: "tls" });
  const server = createServer(tls, createApp());
  await once(server.listen(Number(process.argv[2] ?? 8443), "127.0.0.1"), "listening");
  console.log(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
  server.close();
  server.closeIdleConnections();
}
