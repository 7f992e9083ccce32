import type { AggregatedDiscoveryVersion } from "@virtual-workspaces/apimachinery/discovery";
import { accepts, type MediaRange, parseAccept } from "../encode/representation.ts";

/** Format of a discovery document. */
export interface DiscoveryFormat {
  readonly encoding: "json" | "yaml";
  /** Version of the aggregated document; undefined for the legacy documents. */
  readonly aggregated: AggregatedDiscoveryVersion | undefined;
}

/** Media types of discovery documents, as listed in a 406. */
export const DISCOVERY_MEDIA_TYPES: readonly string[] = ["application/json", "application/yaml"];

const AGGREGATED = { g: "apidiscovery.k8s.io", as: "APIGroupDiscoveryList" };

/**
 * Returns the format for an `Accept` header; undefined means 406. As in Kubernetes, the aggregated document is sent if any
 * range names it, and ranges with another conversion (a Table, another version) are skipped.
 *
 * @param aggregates whether the path has an aggregated document: `/api` and `/apis` do
 */
export function negotiateDiscovery(header: string | undefined, aggregates: boolean): DiscoveryFormat | undefined {
  const ranges = parseAccept(header);
  const aggregated = aggregates ? first(ranges, aggregatedVersion) : undefined;
  return aggregated ?? first(ranges, (range) => (isConversion(range) ? undefined : "legacy"));
}

/** Returns whether the client wants the aggregated document, where there is one. */
export function isAggregated(header: string | undefined): boolean {
  return negotiateDiscovery(header, true)?.aggregated !== undefined;
}

/** Returns the `Content-Type` of a format, with the parameters that identify the aggregated document. */
export function discoveryContentType({ encoding, aggregated }: DiscoveryFormat): string {
  const type = `application/${encoding}`;
  return aggregated === undefined ? type : `${type};g=${AGGREGATED.g};v=${aggregated};as=${AGGREGATED.as}`;
}

function first(
  ranges: readonly MediaRange[],
  form: (range: MediaRange) => AggregatedDiscoveryVersion | "legacy" | undefined,
): DiscoveryFormat | undefined {
  for (const range of ranges) {
    const wanted = form(range);
    const encoding = encodingOf(range);
    if (wanted === undefined || encoding === undefined) continue;
    return { encoding, aggregated: wanted === "legacy" ? undefined : wanted };
  }
  return undefined;
}

function encodingOf(range: MediaRange): DiscoveryFormat["encoding"] | undefined {
  if (accepts(range, "application", "json")) return "json";
  return accepts(range, "application", "yaml") ? "yaml" : undefined;
}

function aggregatedVersion({ parameters: { g, v, as } }: MediaRange): AggregatedDiscoveryVersion | undefined {
  return g === AGGREGATED.g && as === AGGREGATED.as && (v === "v2" || v === "v2beta1") ? v : undefined;
}

function isConversion({ parameters: { g, v, as } }: MediaRange): boolean {
  return g !== undefined || v !== undefined || as !== undefined;
}
