import { type GroupVersion, isApiError, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { Requests } from "../http/requests.ts";
import { aggregatedKinds, type DiscoveredKind, groupVersionsIn, listedKinds, texts } from "./kinds.ts";

const AGGREGATED = "as=APIGroupDiscoveryList";
const ACCEPT = [
  `application/json;g=apidiscovery.k8s.io;v=v2;${AGGREGATED}`,
  `application/json;g=apidiscovery.k8s.io;v=v2beta1;${AGGREGATED}`,
  "application/json",
].join(",");

/** One of the two discovery documents (`/api`, `/apis`), parsed. */
export interface DiscoveryDocument {
  readonly etag: string | undefined;
  readonly kinds: readonly DiscoveredKind[];
  /** Group versions whose backend did not answer. */
  readonly missing: readonly string[];
}

interface Asked {
  readonly path: "/api" | "/apis";
  /** Cached document, returned if nothing has changed. */
  readonly known: DiscoveryDocument | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Requests a document. Without aggregated discovery it sends one request per group version. */
export async function discoveryDocument(
  requests: Requests,
  { path, known, signal }: Asked,
): Promise<DiscoveryDocument> {
  const etag = known?.etag === undefined ? [] : ["If-None-Match", known.etag];
  const request = { path, headers: ["Accept", ACCEPT, ...etag], ...(signal && { signal }) };
  const answer = await requests.answer(request).catch((error: unknown) => {
    // A view may serve no core group, or only that.
    if (isApiError(error) && error.code === 404) return undefined;
    throw error;
  });
  if (answer === undefined) return { etag: undefined, kinds: [], missing: [] };
  if (answer.status === 304 && known !== undefined) return known;
  if (answer.body["kind"] === "APIGroupDiscoveryList")
    return { etag: answer.etag, kinds: aggregatedKinds(answer.body), missing: [] };
  const versions = path === "/api" ? texts(answer.body["versions"]) : groupVersionsIn(answer.body);
  const lists = await inTurn(versions, (version) => resources(requests, { path: `${path}/${version}`, signal }));
  return {
    etag: undefined,
    kinds: lists.flatMap((list, at) => (list === undefined ? [] : listedKinds(list, versions[at] ?? ""))),
    missing: versions.filter((_version, at) => lists[at] === undefined),
  };
}

/** Returns the kinds of one group version, none if it is not served. @throws as any request */
export async function kindsIn(
  requests: Requests,
  { group, version, signal }: GroupVersion & { readonly signal: AbortSignal | undefined },
): Promise<readonly DiscoveredKind[]> {
  const name = group === "" ? version : `${group}/${version}`;
  const path = `/${group === "" ? "api" : "apis"}/${name}`;
  try {
    return listedKinds(await requests.json({ path, ...(signal && { signal }) }), name);
  } catch (error) {
    if (isApiError(error) && error.code === 404) return [];
    throw error;
  }
}

/** Returns `undefined` if the backend of a group version does not answer: the other groups stay available. */
async function resources(
  requests: Requests,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal | undefined },
): Promise<JsonObject | undefined> {
  try {
    return await requests.json({ path, ...(signal && { signal }) });
  } catch (error) {
    if (isApiError(error) && (error.code === 404 || error.code >= 500)) return undefined;
    throw error;
  }
}

/** Maximum number of concurrent requests for groups. */
const AT_ONCE = 8;

async function inTurn<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(ask))));
  return results;
}
