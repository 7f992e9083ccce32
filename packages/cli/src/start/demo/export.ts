import type { Client } from "@virtual-workspaces/client";
import { defineResource, type Resource } from "@virtual-workspaces/framework";
import {
  APIBinding,
  APIExport,
  APIExportEndpointSlice,
  APIResourceSchema,
  exportManifests,
} from "@virtual-workspaces/kcp";
import { once } from "../once.ts";
import { DISHES } from "./place.ts";

/** What a workspace exports to others. */
export const Dish: Resource<{ spec: { price?: string } }> = defineResource({
  group: "menu.example.dev",
  version: "v1",
  kind: "Dish",
  plural: DISHES,
  scope: "Cluster",
  spec: { type: "object", properties: { price: { type: "string" } } },
  columns: { Price: ".spec.price" },
});

/** Who exports it, from where, and a dish for each workspace that binds it. */
export interface Menu {
  readonly provider: Client;
  readonly path: string;
  /** By path of the workspace. */
  readonly dishes: Readonly<Record<string, { readonly name: string; readonly price: string }>>;
}

/**
 * Makes an export and the bindings to it, with an object in each workspace that has one, and leaves what is there as it is.
 *
 * @returns the URL of the export's view, once it is published
 * @throws ApiError, TransportError
 */
export async function makeExport({ provider, path, dishes }: Menu): Promise<string> {
  for (const object of exportManifests({ name: DISHES, resources: [Dish] })) {
    const kind = object.kind === APIExport.kind ? APIExport : APIResourceSchema;
    await provider.resource(kind as typeof APIExport).apply(object as never);
  }
  await Promise.all(
    Object.entries(dishes).map(async ([workspace, { name, price }]) => {
      const consumer = provider.cluster(workspace);
      const bindings = consumer.resource(APIBinding);
      await bindings.apply({ metadata: { name: DISHES }, spec: { reference: { export: { path, name: DISHES } } } });
      await once(bindings, DISHES, ({ status }) => (status?.phase === "Bound" ? true : undefined));
      await consumer.resource(Dish).apply({ metadata: { name }, spec: { price } });
    }),
  );
  const slices = provider.resource(APIExportEndpointSlice);
  return once(slices, DISHES, ({ status }) => status?.endpoints?.[0]?.url);
}
