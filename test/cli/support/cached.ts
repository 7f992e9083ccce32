// Flavors of a provider's workspace, which an export shows in workspaces of other shards.
import { crdManifest, schemaManifest } from "@virtual-workspaces/kcp";
import { until } from "../../_support/until.ts";
import { cachedResource, cachedSlice, Flavor, flavor } from "../../workspace-server/bindings/support/cached.ts";
import { made, workspace } from "./exported.ts";
import type { Start } from "./start.ts";

const APIS = "apis.kcp.io/v1alpha2";
const CACHE = "cache.kcp.io/v1alpha1";
export const FLAVORS = "apis/cloud.example.dev/v1/flavors";

// biome-ignore lint/suspicious/noExplicitAny: bodies of tests
type Body = any;

/** Waits for an object. */
async function untilIs(server: Start, path: string, is: (body: Body) => boolean): Promise<Body> {
  return until(
    async () => {
      const { body } = await server.get(path, { token: "root-token" });
      const object = JSON.parse(body) as Body;
      return is(object) ? object : undefined;
    },
    { what: path },
  );
}

/** Binds an export in `root:<name>`. */
async function bindExport(server: Start, name: string, to: { readonly path: string; readonly name: string }) {
  const bindings = `/clusters/root:${name}/apis/${APIS}/apibindings`;
  const about = { apiVersion: APIS, kind: "APIBinding", metadata: { name: to.name } };
  await made(server, bindings, { ...about, spec: { reference: { export: to } } });
  await untilIs(server, `${bindings}/${to.name}`, ({ status }) => status?.phase === "Bound");
}

/** Creates `root:provider` on a shard, with the flavor `small`, and exports its flavors. @returns its logical cluster */
export async function publishFlavors(server: Start, shard: string): Promise<string> {
  const cluster = await workspace(server, "provider", shard);
  const at = (path: string): string => `/clusters/root:provider/${path}`;
  await made(server, at("apis/apiextensions.k8s.io/v1/customresourcedefinitions"), crdManifest(Flavor));
  await untilIs(server, at(FLAVORS), ({ kind }) => kind === "FlavorList");
  await made(server, at(FLAVORS), flavor("small"));
  const resource = { group: "cloud.example.dev", version: "v1", resource: "flavors" };
  await made(server, at(`apis/${CACHE}/clustercachedresources`), cachedResource("flavors", resource));
  const cached = at(`apis/${CACHE}/clustercachedresources/flavors`);
  const { status } = await untilIs(server, cached, (body) => body.status?.phase === "Ready");
  await made(server, at(`apis/${CACHE}/clustercachedresourceendpointslices`), cachedSlice("flavors"));
  const schema = schemaManifest(Flavor);
  await made(server, at("apis/apis.kcp.io/v1alpha1/apiresourceschemas"), schema);
  const reference = { apiGroup: "cache.kcp.io", kind: "ClusterCachedResourceEndpointSlice", name: "flavors" };
  const storage = { virtual: { reference, identityHash: status.identityHash } };
  const exported = { group: "cloud.example.dev", name: "flavors", schema: schema.metadata.name, storage };
  await made(server, at(`apis/${APIS}/apiexports`), {
    apiVersion: APIS,
    kind: "APIExport",
    metadata: { name: "compute" },
    spec: { resources: [exported] },
  });
  return cluster;
}

/** Creates `root:<name>` on a shard, which binds the export. @returns its logical cluster */
export async function consumeFlavors(server: Start, name: string, shard: string): Promise<string> {
  const cluster = await workspace(server, name, shard);
  await bindExport(server, name, { path: "root:provider", name: "compute" });
  await until(
    async () => {
      const slice = `/clusters/root:provider/apis/${CACHE}/clustercachedresourceendpointslices/flavors`;
      const endpoints: Body[] =
        JSON.parse((await server.get(slice, { token: "root-token" })).body).status?.endpoints ?? [];
      return endpoints.length > 0;
    },
    { what: "a published URL" },
  );
  return cluster;
}
