import { expectCode, expectJson, fail } from "../assertions/expect.ts";
import { at, type JsonObject, listAt, textAt } from "../assertions/json.ts";
import { type ConformanceResource, groupVersionPath } from "../assertions/report.ts";
import type { Answer } from "../http/answer.ts";
import type { HttpClient } from "../http/client.ts";

/** Resource or subresource in discovery: the fields that legacy and aggregated documents share. */
export interface Advertised extends ConformanceResource {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** Group as `/apis` lists it. The core group is "". */
export interface AdvertisedGroup {
  readonly name: string;
  readonly versions: readonly string[];
  readonly preferred: string;
}

/** Groups and resources that a server advertises. */
export interface Discovery {
  readonly groups: readonly AdvertisedGroup[];
  readonly resources: readonly Advertised[];
}

/** Reads discovery group by group, like clients before 1.26. @throws CheckFailure for an invalid document */
export async function readLegacy(client: HttpClient): Promise<Discovery> {
  const groups = [...(await coreGroup(client)), ...(await namedGroups(client))];
  const lists = await Promise.all(versionsOf(groups).map((version) => resourcesOf(client, version)));
  return { groups, resources: lists.flat() };
}

/** Reads as much of discovery as possible. Checks report what is wrong with the rest. */
export async function readReadable(client: HttpClient): Promise<Discovery> {
  const nothing = (): readonly never[] => [];
  const groups = [...(await coreGroup(client).catch(nothing)), ...(await namedGroups(client).catch(nothing))];
  const lists = await Promise.all(versionsOf(groups).map((version) => resourcesOf(client, version).catch(nothing)));
  return { groups, resources: lists.flat() };
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

function versionsOf(groups: readonly AdvertisedGroup[]): readonly GroupVersion[] {
  return groups.flatMap(({ name, versions }) => versions.map((version) => ({ group: name, version })));
}

/** A server that has only named groups may lack `/api`. */
async function coreGroup(client: HttpClient): Promise<readonly AdvertisedGroup[]> {
  const answer = await client.call("/api");
  if (answer.status === 404) return [];
  const document = expectKind(answer, "APIVersions");
  const versions = texts(document, "versions");
  const [preferred] = versions;
  return preferred === undefined ? [] : [{ name: "", versions, preferred }];
}

async function namedGroups(client: HttpClient): Promise<readonly AdvertisedGroup[]> {
  const document = expectKind(await client.call("/apis"), "APIGroupList");
  return listAt(document, "groups").map(readGroup);
}

export function readGroup(group: unknown): AdvertisedGroup {
  return {
    name: textAt(group, "name"),
    versions: listAt(group, "versions").map((version) => textAt(version, "version")),
    preferred: textAt(group, "preferredVersion", "version"),
  };
}

async function resourcesOf(client: HttpClient, place: GroupVersion): Promise<readonly Advertised[]> {
  const answer = await client.call(groupVersionPath(place));
  const document = expectKind(answer, "APIResourceList");
  const told = textAt(document, "groupVersion");
  const wanted = place.group === "" ? place.version : `${place.group}/${place.version}`;
  if (told !== wanted) fail(answer.request, `groupVersion ${wanted}`, told);
  return listAt(document, "resources").map((resource) => ({
    ...place,
    name: textAt(resource, "name"),
    kind: textAt(resource, "kind"),
    namespaced: at(resource, "namespaced") === true,
    verbs: texts(resource, "verbs").toSorted(),
    singular: textAt(resource, "singularName"),
    shortNames: texts(resource, "shortNames"),
    categories: texts(resource, "categories"),
  }));
}

function expectKind(answer: Answer, kind: string): JsonObject {
  expectCode(answer, [200]);
  const document = expectJson(answer);
  if (document["kind"] !== kind) fail(answer.request, `kind ${kind}`, JSON.stringify(document).slice(0, 300));
  return document;
}

/** Reads the aggregated document of `/api` or `/apis`, in either version. */
export function readAggregated(document: JsonObject): Discovery {
  const groups: AdvertisedGroup[] = [];
  const resources: Advertised[] = [];
  for (const group of listAt(document, "items")) {
    const name = textAt(group, "metadata", "name");
    // kubectl takes its own kind List from an empty core group; older documents should not have one.
    const served = listAt(group, "versions").filter(
      (version) => name !== "" || listAt(version, "resources").length > 0,
    );
    const versions = served.map((version) => textAt(version, "version"));
    if (versions.length > 0) groups.push({ name, versions, preferred: versions[0] ?? "" });
    for (const version of served) {
      const place = { group: name, version: textAt(version, "version") };
      for (const resource of listAt(version, "resources")) resources.push(...aggregatedResource(place, resource));
    }
  }
  return { groups, resources };
}

function aggregatedResource(place: GroupVersion, resource: unknown): Advertised[] {
  const name = textAt(resource, "resource");
  const namespaced = textAt(resource, "scope") === "Namespaced";
  const main = {
    ...place,
    name,
    kind: textAt(resource, "responseKind", "kind"),
    namespaced,
    verbs: texts(resource, "verbs").toSorted(),
    singular: textAt(resource, "singularResource"),
    shortNames: texts(resource, "shortNames"),
    categories: texts(resource, "categories"),
  };
  const subresources = listAt(resource, "subresources").map((subresource) => ({
    ...place,
    name: `${name}/${textAt(subresource, "subresource")}`,
    kind: textAt(subresource, "responseKind", "kind"),
    namespaced,
    verbs: texts(subresource, "verbs").toSorted(),
    singular: "",
    shortNames: [],
    categories: [],
  }));
  // A parent without verbs exists only for its subresources, and legacy discovery does not list it.
  return main.verbs.length === 0 ? subresources : [main, ...subresources];
}

function texts(value: unknown, field: string): readonly string[] {
  return listAt(value, field).filter((text) => typeof text === "string");
}

/** Returns the resources that can be checked, without subresources, which have no lists. */
export function checkable(resources: readonly Advertised[]): readonly ConformanceResource[] {
  return resources.filter(
    ({ name, verbs }) => !name.includes("/") && (verbs.includes("list") || verbs.includes("watch")),
  );
}
