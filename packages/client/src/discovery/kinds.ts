import { isJsonObject, type JsonObject, type KindReference, parseApiVersion } from "@virtual-workspaces/apimachinery";

/** Kind in a server's discovery. {@link Client.resource} accepts it. */
export interface DiscoveredKind extends KindReference {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** Names of the subresources, such as `status` and `scale`. */
  readonly subresources: readonly string[];
}

/** Returns the kinds in an aggregated document: groups in its order, preferred versions first. */
export function aggregatedKinds(document: JsonObject): DiscoveredKind[] {
  return objects(document["items"]).flatMap((item) => {
    const group = text(objectIn(item, "metadata"), "name");
    return objects(item["versions"]).flatMap((one) =>
      objects(one["resources"])
        // Entries without a kind come from a group whose backend did not answer.
        .filter((resource) => text(objectIn(resource, "responseKind"), "kind") !== "")
        .map((resource) => ({
          group,
          version: text(one, "version"),
          kind: text(objectIn(resource, "responseKind"), "kind"),
          plural: text(resource, "resource"),
          scope: resource["scope"] === "Namespaced" ? ("Namespaced" as const) : ("Cluster" as const),
          singular: text(resource, "singularResource"),
          shortNames: texts(resource["shortNames"]),
          categories: texts(resource["categories"]),
          verbs: texts(resource["verbs"]),
          subresources: objects(resource["subresources"]).map((subresource) => text(subresource, "subresource")),
        })),
    );
  });
}

/** Returns the kinds of one group version from an `APIResourceList`. */
export function listedKinds(document: JsonObject, groupVersion: string): DiscoveredKind[] {
  const { group = "", version = "" } = parseApiVersion(groupVersion) ?? {};
  const all = objects(document["resources"]);
  return all
    .filter((resource) => !text(resource, "name").includes("/"))
    .map((resource) => {
      const plural = text(resource, "name");
      const below = all.map((one) => text(one, "name")).filter((name) => name.startsWith(`${plural}/`));
      return {
        group,
        version,
        kind: text(resource, "kind"),
        plural,
        scope: resource["namespaced"] === true ? ("Namespaced" as const) : ("Cluster" as const),
        singular: text(resource, "singularName"),
        shortNames: texts(resource["shortNames"]),
        categories: texts(resource["categories"]),
        verbs: texts(resource["verbs"]),
        subresources: below.map((name) => name.slice(plural.length + 1)),
      };
    });
}

/** Returns the group versions of an `APIGroupList`, preferred versions first. */
export function groupVersionsIn(document: JsonObject): string[] {
  return objects(document["groups"]).flatMap((group) => {
    const preferred = text(objectIn(group, "preferredVersion"), "groupVersion");
    const versions = objects(group["versions"]).map((version) => text(version, "groupVersion"));
    return [...new Set([preferred, ...versions])].filter((name) => name !== "");
  });
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : {};
}

function text(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}
