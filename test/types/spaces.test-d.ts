// Misuse of lists and watches across spaces must not compile. This file is compiled but never run. If a misuse compiles, the
// compiler reports its directive below as unused.
import { Client } from "@virtual-workspaces/client";
import { defineResource } from "@virtual-workspaces/framework";
import { followSpaces } from "@virtual-workspaces/spaces";

const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  spec: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
});
const client = new Client({ upstream: { url: "http://localhost" } });
const spaces = followSpaces({ client, onError: () => undefined });

const { items, cursor } = await spaces.list(Quote);
export const texts: string[] = items.map(({ object }) => object.spec.text);
// @ts-expect-error a field that the schema does not have
items[0]?.object.spec.txt;

for await (const event of spaces.watch(Quote, { cursor })) {
  event.space.trim();
  event.cursor.trim();
  // @ts-expect-error not every event has an object
  event.object;
  if (event.type === "ADDED") event.object.spec.text.trim();
  // @ts-expect-error a field that the schema does not have
  if (event.type === "MODIFIED") event.object.spec.txt;
  if (event.type === "RESET") event.reason.trim();
  // @ts-expect-error a reset has no object
  if (event.type === "RESET") event.object;
  if (event.type === "LEFT") event.how.trim();
  // @ts-expect-error an event that there is not
  if (event.type === "ERROR") break;
  if (event.type === "DELETED") await spaces.client(event.space).resource(Quote).update(event.object);
}
for await (const page of spaces.pages(Quote, { limit: 10 })) page.items[0]?.object.spec.text.trim();
// @ts-expect-error a watch goes on from a cursor, and not from a version
spaces.watch(Quote, { resourceVersion: "1" });
// @ts-expect-error a watch has no pages
spaces.watch(Quote, { limit: 1 });
// Kind without a definition in this file.
const Pod = { group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" } as const;
for await (const event of spaces.watch(Pod))
  if (event.type === "ADDED") {
    const anything: unknown = event.object["spec"];
    anything?.toString();
  }
