import type { AggregatedDiscoveryVersion } from "@virtual-workspaces/apimachinery/discovery";
import { accepts, type MediaRange, parseAccept } from "../encode/representation.ts";

/** In which words a discovery document is written. */
export interface DiscoveryFormat {
  readonly encoding: "json" | "yaml";
  /** The version of the aggregated document; undefined for the legacy documents. */
  readonly aggregated: AggregatedDiscoveryVersion | undefined;
}

/** The media types of discovery documents; what clients see in a 406. */
export const DISCOVERY_MEDIA_TYPES: readonly string[] = ["application/json", "application/yaml"];

const AGGREGATED = { g: "apidiscovery.k8s.io", as: "APIGroupDiscoveryList" };

/**
 * What to answer to an `Accept` header; undefined is 406. As Kubernetes does, the aggregated document is given to
 * whoever names it at all, and ranges that ask for any other conversion (a Table, another version) are passed over.
 *
 * @param aggregates whether there is an aggregated document at the path: at `/api` and `/apis`
 */
export function negotiateDiscovery(header: string | undefined, aggregates: boolean): DiscoveryFormat | undefined {
  const ranges = parseAccept(header);
  const aggregated = aggregates ? first(ranges, aggregatedVersion) : undefined;
  return aggregated ?? first(ranges, (range) => (isConversion(range) ? undefined : "legacy"));
}

/** Whether it is the aggregated document that is wanted where there is one. */
export function isAggregated(header: string | undefined): boolean {
  return negotiateDiscovery(header, true)?.aggregated !== undefined;
}

/** The `Content-Type` of a format, with the parameters that the aggregated document is recognised by. */
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
