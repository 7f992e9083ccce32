// A provider's workspace with a cluster-scoped kind, and objects of `cache.kcp.io` about it.
import { defineResource } from "@virtual-workspaces/framework";
import { crdManifest, schemaManifest } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import type { Answer } from "../../../_support/plain.ts";
import { define, makeWorkspace } from "../../support/logical-clusters.ts";
import { type Body, ClusterClient } from "../../support/objects.ts";
import type { Workspaces } from "../../support/workspaces.ts";
import { bindingOf } from "./shard.ts";

const CACHE = "/apis/cache.kcp.io/v1alpha1";
export const CACHED = `${CACHE}/clustercachedresources`;
export const CACHED_SLICES = `${CACHE}/clustercachedresourceendpointslices`;
const APIS = "/apis/apis.kcp.io/v1alpha2";

/** Flavors that a provider offers. */
export const Flavor = defineResource({
  group: "cloud.example.dev",
  version: "v1",
  kind: "Flavor",
  scope: "Cluster",
  spec: { type: "object", properties: { cpus: { type: "integer" } } },
});
const Limit = defineResource({
  group: "cloud.example.dev",
  version: "v1",
  kind: "Limit",
  scope: "Namespaced",
  spec: { type: "object", properties: { cpus: { type: "integer" } } },
});
export const FLAVORS = "/apis/cloud.example.dev/v1/flavors";

export const flavor = (name: string, labels: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: "cloud.example.dev/v1",
  kind: "Flavor",
  metadata: { name, labels },
  spec: { cpus: 2 },
});

/** A provider's workspace. */
export class CachedProvider extends ClusterClient {
  readonly server: Workspaces;
  readonly cluster: string;

  constructor(server: Workspaces, cluster: string) {
    super(server, cluster);
    this.server = server;
    this.cluster = cluster;
  }

  /** Creates `root:<name>`, which serves flavors. */
  static async make(
    server: Workspaces,
    name = "provider",
    place: (name: string) => Promise<string> = (at) => makeWorkspace(server, at),
  ): Promise<CachedProvider> {
    const made = new CachedProvider(server, await place(name));
    await define(server, made.cluster, [crdManifest(Flavor), crdManifest(Limit)]);
    return made;
  }

  /** Binds an export here, or in another workspace. */
  async bind(name: string, path: string, cluster = this.cluster): Promise<void> {
    const there = new ClusterClient(this.server, cluster);
    await there.create(`${APIS}/apibindings`, bindingOf(name, `${path}:${name}`));
    await there.until(`${APIS}/apibindings/${name}`, ({ body }) => body.status?.phase === "Bound");
  }

  /** Creates a ClusterCachedResource of flavors. */
  async cache(name = "flavors", spec: object = {}): Promise<Answer> {
    const of = { group: "cloud.example.dev", version: "v1", resource: "flavors" };
    return this.send("POST", CACHED, cachedResource(name, { ...of, ...spec }));
  }

  /** Waits for a ClusterCachedResource. */
  async cached(is: (object: Body) => boolean, name = "flavors"): Promise<Body> {
    return (await this.until(`${CACHED}/${name}`, ({ status, body }) => status === 200 && is(body))).body;
  }

  /** Waits for the slice. */
  async slice(is: (object: Body) => boolean, name = "flavors"): Promise<Body> {
    return (await this.until(`${CACHED_SLICES}/${name}`, ({ status, body }) => status === 200 && is(body))).body;
  }

  /** Creates the schema, the slice and the export of the cached flavors. @returns the export */
  async export(identityHash: string, { slice = "flavors" }: { readonly slice?: string } = {}): Promise<Body> {
    const schema = schemaManifest(Flavor);
    await this.create("/apis/apis.kcp.io/v1alpha1/apiresourceschemas", schema);
    await this.create(CACHED_SLICES, cachedSlice(slice));
    const reference = { apiGroup: "cache.kcp.io", kind: "ClusterCachedResourceEndpointSlice", name: slice };
    return this.create(`${APIS}/apiexports`, {
      apiVersion: "apis.kcp.io/v1alpha2",
      kind: "APIExport",
      metadata: { name: "compute" },
      spec: {
        resources: [
          {
            group: "cloud.example.dev",
            name: "flavors",
            schema: schema.metadata.name,
            storage: { virtual: { reference, identityHash } },
          },
        ],
      },
    });
  }

  /** Publishes flavors: caches them, and exports the cache. */
  async publish(spec: object = {}): Promise<void> {
    const { status, text } = await this.cache("flavors", spec);
    expect(status, text).to.equal(201);
    const { status: cached } = await this.cached(({ status: now }) => now?.phase === "Ready");
    await this.export(cached.identityHash);
  }

  /** Creates the workspace `root:<name>`, which binds the export. @returns its logical cluster, once it has the flavors */
  async consumer(
    name: string,
    place: (name: string) => Promise<string> = (at) => makeWorkspace(this.server, at),
  ): Promise<string> {
    const cluster = await place(name);
    await this.bind("compute", this.cluster, cluster);
    await new ClusterClient(this.server, cluster).until(FLAVORS, ({ status }) => status === 200);
    return cluster;
  }
}

export const cachedResource = (name: string, spec: object): object => ({
  apiVersion: "cache.kcp.io/v1alpha1",
  kind: "ClusterCachedResource",
  metadata: { name },
  spec,
});

export const cachedSlice = (name: string, spec: object = {}): object => ({
  apiVersion: "cache.kcp.io/v1alpha1",
  kind: "ClusterCachedResourceEndpointSlice",
  metadata: { name },
  spec: { clusterCachedResource: { name: "flavors" }, export: { name: "compute" }, ...spec },
});

/** Returns a condition as `True`, or as `False <reason>: <message>`. */
export function stateOf({ status }: Body, type: string): string | undefined {
  const found = status?.conditions?.find((one: Body) => one.type === type);
  return found && (found.status === "True" ? "True" : `${found.status} ${found.reason}: ${found.message}`);
}
