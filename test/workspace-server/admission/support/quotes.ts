// A kind that one workspace exports and others bind.
import { defineResource } from "@virtual-workspaces/framework";
import { exportManifests } from "@virtual-workspaces/kcp";
import type { Calls } from "../../../_support/plain.ts";
import { ClusterClient } from "../../support/objects.ts";

const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});
export const QUOTES = "/apis/example.dev/v1/quotes";
const APIS = "/apis/apis.kcp.io/v1alpha2";
export const quote = (name: string): object => ({
  apiVersion: "example.dev/v1",
  kind: "Quote",
  metadata: { name },
  spec: {},
});

export async function exportQuotes(server: Calls, provider: string): Promise<void> {
  const of = new ClusterClient(server, provider);
  for (const object of exportManifests({ name: "quotes", resources: [Quote] }))
    await of.create(`/apis/${object.apiVersion}/${object.kind.toLowerCase()}s`, object);
}

export async function bindQuotes(server: Calls, consumer: string, provider: string): Promise<ClusterClient> {
  const client = new ClusterClient(server, consumer);
  const about = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "quotes" } };
  await client.create(`${APIS}/apibindings`, {
    ...about,
    spec: { reference: { export: { path: provider, name: "quotes" } } },
  });
  await client.until(`${APIS}/apibindings/quotes`, ({ body }) => body.status?.phase === "Bound");
  return client;
}
