import { createHash } from "node:crypto";
import type { DiscoveredResource } from "@virtual-workspaces/apimachinery";
import type { Advertised } from "../served.ts";

/** What discovery tells of a served resource: its own verbs, so that it cannot differ from what is routed. */
export function discovered({ definition, verbs }: Advertised): DiscoveredResource {
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
    verbs,
    storageVersionHash: storageVersionHash(group, version, kind),
  };
}

/** Equal for two lists exactly when discovery and OpenAPI say the same of them. */
export function contentKey(resources: readonly Advertised[]): string {
  return resources.map(({ definition, verbs }) => `${definition.hash}:${verbs.join(",")}`).join(";");
}

/** Kubernetes' hash of the version in which objects are stored: eight bytes of a SHA-256, in base64. */
function storageVersionHash(group: string, version: string, kind: string): string {
  return createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64");
}
