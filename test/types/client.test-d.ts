// Misuse of the client must not compile. This file is compiled but never run. If a misuse compiles, the compiler reports its
// directive below as unused.
import { Client } from "@virtual-workspaces/client";
import { defineResource } from "@virtual-workspaces/framework";

const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  spec: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
  status: { type: "object", properties: { seen: { type: "integer" } } },
});
const client = new Client({ upstream: { url: "http://localhost" } });
const quotes = client.resource(Quote);

export const text: string = (await quotes.get("a")).spec.text;
export const seen: number | undefined = (await quotes.status.get("a")).status?.seen;
await quotes.create({ metadata: { name: "a" }, spec: { text: "x" } });
// @ts-expect-error a field that the schema does not have
(await quotes.get("a")).spec.txt;
// @ts-expect-error a field of another type
await quotes.create({ metadata: { name: "a" }, spec: { text: 1 } });
// @ts-expect-error a field that the schema does not have
await quotes.apply({ metadata: { name: "a" }, spec: { text: "x", txt: "y" } });
// @ts-expect-error an object without metadata
await quotes.create({ spec: { text: "x" } });
// @ts-expect-error a patch without its kind
await quotes.patch("a", {});
// @ts-expect-error a JSON patch is a list
await quotes.jsonPatch("a", { spec: {} });
// @ts-expect-error a step that there is not
await quotes.jsonPatch("a", [{ op: "set", path: "/spec/text", value: "x" }]);
// @ts-expect-error a merge patch is an object
await quotes.mergePatch("a", [{ op: "remove", path: "/spec/text" }]);
// @ts-expect-error times are text
(await quotes.get("a")).metadata.creationTimestamp = new Date();
// @ts-expect-error an option that there is not
await quotes.list({ labelSelector: "a=b" });
for await (const event of quotes.watch()) {
  // @ts-expect-error a bookmark has no spec that is a quote's
  event.object.spec.text;
  if (event.type !== "BOOKMARK") event.object.spec.text.trim();
}
// Kind without a definition in this file.
const pods = client.resource({ group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" });
export const anything: unknown = (await pods.get("a"))["spec"];
