import type { Discovery, Resource } from "../api/discovery.ts";
import type { ObjectAddress } from "../api/objects.ts";
import { routeHash, routeTo } from "../route.ts";

/** Link to the page of an object. */
export function linkTo({ workspace, resource, namespace, name }: ObjectAddress): string {
  const { group, version, resource: plural } = resource;
  return routeHash(routeTo({ workspace, resource: { group, version, resource: plural }, object: { namespace, name } }));
}

/** The resource that serves a kind. */
export function resourceOfKind({ resources }: Discovery, apiVersion: string, kind: string): Resource | undefined {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const all = resources.filter((one) => one.kind === kind && one.group === group);
  return all.find((one) => one.version === version) ?? all[0];
}
