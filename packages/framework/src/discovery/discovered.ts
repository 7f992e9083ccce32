import { createHash } from "node:crypto";
import type { DiscoveredResource, DiscoveredSubresource } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { Advertised } from "../resource/served.ts";
import type { AdvertisedSubresource } from "../resource/advertised.ts";

/** What discovery tells of a served resource: its own verbs, so that it cannot differ from what is routed. */
export function discovered({ definition, verbs, subresources, storedAs = definition }: Advertised): DiscoveredResource {
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
    storageVersionHash: storageVersionHash(storedAs),
    subresources: subresources.map((one) => discoveredSubresource(one, definition)),
  };
}

/** Its group and version are told where they are not the resource's. */
function discoveredSubresource(
  { name, verbs, kind: { group, version, kind } }: AdvertisedSubresource,
  definition: ResourceDefinition,
): DiscoveredSubresource {
  const same = group === definition.group && version === definition.version;
  return { name, verbs, kind, ...(same ? {} : { group, version }) };
}

/** Equal for two lists exactly when discovery and OpenAPI say the same of them. */
export function contentKey(resources: readonly Advertised[]): string {
  return resources.map(resourceKey).join(";");
}

function resourceKey({ definition, verbs, subresources, storedAs = definition }: Advertised): string {
  const own = subresources.map(({ name, form, kind, verbs: of }) => `${name}:${form}:${kind.hash}:${of.join(",")}`);
  return [`${definition.hash}:${storedAs.version}:${verbs.join(",")}`, ...own].join("/");
}

/** Kubernetes' hash of the version in which objects are stored: eight bytes of a SHA-256, in base64. */
function storageVersionHash({ group, version, kind }: ResourceDefinition): string {
  return createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64");
}
