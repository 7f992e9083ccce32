import { createHash } from "node:crypto";
import { apiVersionOf, type GroupVersion } from "@virtual-workspaces/apimachinery";
import {
  aggregatedDiscoveryDocument,
  apiGroupDocument,
  apiGroupListDocument,
  apiResourceListDocument,
  apiVersionsDocument,
  type DiscoveredResource,
  type DiscoveredSubresource,
  type GroupOrder,
} from "@virtual-workspaces/apimachinery/discovery";
import type { ResourceDefinition } from "../definition.ts";
import { keptBytes } from "../encode/pieces.ts";
import { yamlOf } from "../encode/yaml.ts";
import type { Advertised } from "../resource/served.ts";
import type { AdvertisedSubresource } from "../resource/subresources.ts";
import { BoundedCache } from "../util/bounded-cache.ts";
import {
  DISCOVERY_MEDIA_TYPES,
  type DiscoveryFormat,
  discoveryContentType,
  negotiateDiscovery,
} from "./negotiation.ts";

export interface DiscoveryRequest {
  /** Path below the view: `/apis/example.dev/v1`. A trailing slash is ignored. */
  readonly path: string;
  readonly accept: string | undefined;
  /** Order of the groups. @default by name */
  readonly order?: GroupOrder | undefined;
  /** As `plainDiscovery` of a virtual workspace. @default false */
  readonly plain?: boolean | undefined;
  /** Host and port of the server, for clients. @default none */
  readonly address?: string | undefined;
}

/** Encoded document. It depends on `Accept`, so send `Vary: Accept` with it. */
export interface DiscoveryDocument {
  readonly contentType: string;
  readonly body: Buffer;
  /** ETag, including its quotes. */
  readonly etag: string;
}

export type DiscoveryAnswer =
  | ({ readonly kind: "document" } & DiscoveryDocument)
  /** 404: not a discovery path, or nothing is served there. */
  | { readonly kind: "not-found" }
  /** 406: `supported` lists the media types for the message. */
  | { readonly kind: "not-acceptable"; readonly supported: readonly string[] };

export interface DiscoveryDocumentsOptions {
  /** Limit of cached documents, in bytes. @default 8 MiB */
  readonly cacheBytes?: number;
}

/**
 * Discovery documents of any number of views, as Kubernetes' API servers have them. All lists of resources with equal content
 * share one document, which stays cached while it is in use.
 */
export class DiscoveryDocuments {
  readonly #cache: BoundedCache<DiscoveryDocument>;

  constructor({ cacheBytes = 8 * 2 ** 20 }: DiscoveryDocumentsOptions = {}) {
    this.#cache = new BoundedCache({ capacity: cacheBytes, weigh: ({ body }) => body.length });
  }

  /** Returns the document at a path of a view that serves `resources`. */
  answer(request: DiscoveryRequest, resources: readonly Advertised[]): DiscoveryAnswer {
    const { path, accept, order = "name", plain = false, address = "" } = request;
    const place = placeOf({ path, order, plain, address }, resources);
    if (place === undefined) return { kind: "not-found" };
    const format = negotiateDiscovery(accept, place.aggregates);
    if (format === undefined) return { kind: "not-acceptable", supported: DISCOVERY_MEDIA_TYPES };
    const available = resources.filter(({ missing }) => missing !== true);
    const key = [place.name, order, plain, address, format.encoding, format.aggregated, contentKey(available)].join(
      " ",
    );
    return { kind: "document", ...this.#cache.get(key, () => write(place, format, available.map(discovered))) };
  }
}

/** Location of a document. */
interface Place {
  readonly name: string;
  readonly aggregates: boolean;
  readonly core: boolean;
  readonly order: GroupOrder;
  readonly legacy: (resources: readonly DiscoveredResource[]) => object | undefined;
}

function placeOf(
  {
    path,
    order,
    plain,
    address,
  }: Pick<DiscoveryRequest, "path"> & {
    readonly order: GroupOrder;
    readonly plain: boolean;
    readonly address: string;
  },
  resources: readonly Advertised[],
): Place | undefined {
  const name = path.replace(/\/$/, "");
  const [empty, root, ...rest] = name.split("/");
  const core = root === "api";
  if (empty !== "" || (!core && root !== "apis")) return undefined;
  const [group, version, ...extra] = core ? ["", ...rest] : rest;
  if (extra.length > 0 || rest.includes("")) return undefined;
  const place = { name, core, order, aggregates: rest.length === 0 && !plain };
  const addresses = address === "" ? [] : [{ clientCIDR: "0.0.0.0/0", serverAddress: address }];
  if (rest.length === 0 && core)
    return {
      ...place,
      legacy: (all) => apiVersionsDocument(plain || all.some((resource) => resource.group === ""), addresses),
    };
  if (rest.length === 0) return { ...place, legacy: (all) => apiGroupListDocument(all, order, addresses) };
  const within = resources.filter(({ definition }) => definition.group === group);
  if (version === undefined) {
    return within.length === 0 ? undefined : { ...place, legacy: (all) => apiGroupDocument(all, group ?? "") };
  }
  if (!within.some(({ definition }) => definition.version === version)) return undefined;
  return { ...place, legacy: (all) => resourceList(all, { group: group ?? "", version }) };
}

/** The list may be empty when no resource is currently known. */
function resourceList(resources: readonly DiscoveredResource[], gv: GroupVersion): object {
  const apiVersion = gv.group !== "" && { apiVersion: "v1" };
  const none = { kind: "APIResourceList", ...apiVersion, groupVersion: apiVersionOf(gv), resources: [] };
  return apiResourceListDocument(resources, gv) ?? none;
}

function write(place: Place, format: DiscoveryFormat, resources: readonly DiscoveredResource[]): DiscoveryDocument {
  const { encoding, aggregated: version } = format;
  const document =
    version === undefined
      ? place.legacy(resources)
      : aggregatedDiscoveryDocument(resources, { version, core: place.core, order: place.order });
  const json = Buffer.from(`${JSON.stringify(document)}\n`);
  const body = keptBytes(encoding === "yaml" ? yamlOf(json) : json);
  return { contentType: discoveryContentType(format), body, etag: etagOf(body) };
}

/**
 * Returns the discovery entry of a served resource. Its verbs are those of the resource, so it lists none that the routes lack.
 */
function discovered({
  definition,
  verbs,
  listedVerbs = verbs,
  subresources,
  storedAs = definition,
  storageVersionHash = hashOf(storedAs),
}: Advertised): DiscoveredResource {
  const { group, version, kind, plural, singular, scope, shortNames, categories } = definition;
  return {
    group,
    version,
    kind,
    plural,
    singular,
    namespaced: scope === "Namespaced",
    shortNames,
    categories,
    verbs: listedVerbs,
    storageVersionHash,
    subresources: subresources.map((one) => discoveredSubresource(one, definition)),
  };
}

/** Group and version are set only if they differ from the resource's. */
function discoveredSubresource(
  { name, verbs, kind: { group, version, kind } }: AdvertisedSubresource,
  definition: ResourceDefinition,
): DiscoveredSubresource {
  const same = group === definition.group && version === definition.version;
  return { name, verbs, kind, ...(same ? {} : { group, version }) };
}

/** Returns equal keys for two lists exactly when their discovery and OpenAPI documents are equal. */
export function contentKey(resources: readonly Advertised[]): string {
  return resources.map(resourceKey).join(";");
}

function resourceKey({
  definition,
  verbs,
  listedVerbs = verbs,
  subresources,
  storedAs = definition,
  storageVersionHash = "",
}: Advertised): string {
  const own = subresources.map(({ name, form, kind, verbs: of }) => `${name}:${form}:${kind.hash}:${of.join(",")}`);
  return [
    `${definition.hash}:${storedAs.version}:${storageVersionHash}:${verbs.join(",")}:${listedVerbs.join(",")}`,
    ...own,
  ].join("/");
}

/** Returns Kubernetes' hash of the storage version: eight bytes of a SHA-256, in base64. */
function hashOf({ group, version, kind }: ResourceDefinition): string {
  return createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64");
}

/** Returns the hash that Kubernetes uses in ETags and OpenAPI URLs: SHA-512 in upper-case hexadecimal. */
export function contentHash(content: string | Uint8Array): string {
  return createHash("sha512").update(content).digest("hex").toUpperCase();
}

/** Returns a strong ETag of the content, including its quotes. */
export function etagOf(content: string | Uint8Array): string {
  return `"${contentHash(content)}"`;
}

/** Returns whether an `If-None-Match` header matches `etag` (weak comparison, RFC 9110), so that the response is 304. */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
