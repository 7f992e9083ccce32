// A server of admission webhooks: workspaces call it before they store a Widget. It sets the color of widgets that have none,
// and rejects widgets of a size that is not in stock.
//
//   node examples/webhooks/admission-webhook.ts 8443
//
// docs/how-to/admission-webhooks.md explains it.
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import express, { type Express } from "express";

interface Widget {
  readonly spec: { readonly size: number; readonly color?: string };
}

/** Part of an AdmissionReview that these webhooks read. Of a delete, `object` is null. */
interface Review {
  readonly request: { readonly uid: string; readonly object: Widget | null };
}

/** Answers with an AdmissionReview that has the uid of the request. */
const answer = ({ request: { uid } }: Review, response: object): object => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  response: { uid, ...response },
});

/** The webhooks as an Express application. */
export function createApp(): Express {
  const app = express();
  app.use(express.json({ limit: "4mb" })); // above the largest object
  app.post("/default", (req, res) => {
    const review = req.body as Review;
    const patch = [{ op: "add", path: "/spec/color", value: "red" }];
    const hasColor = review.request.object?.spec.color !== undefined;
    const patched = { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
    res.json(answer(review, { allowed: true, ...(!hasColor && patched) }));
  });
  app.post("/validate", (req, res) => {
    const review = req.body as Review;
    const size = review.request.object?.spec.size ?? 1;
    const status = { code: 422, reason: "Invalid", message: `spec.size: ${size} is not in stock: use 1 to 9` };
    res.json(answer(review, size >= 1 && size <= 9 ? { allowed: true } : { allowed: false, status }));
  });
  return app;
}

if (import.meta.main) {
  const { tls } = await generatedTls({ dir: "tls" }); // workspaces call webhooks over HTTPS only
  const server = createServer(tls, createApp());
  await once(server.listen(Number(process.argv[2] ?? 8443), "127.0.0.1"), "listening");
  console.log(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
  server.close();
  server.closeIdleConnections();
}
