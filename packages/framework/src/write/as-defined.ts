import { apiVersionOf, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import { kindRules } from "./kind.ts";
import type { KindVersions } from "./kind-versions.ts";

/**
 * An object that was kept when its kind was defined otherwise, as the kind is defined now: in its version, without what
 * the schema does not know, defaults filled in (what Kubernetes does with every custom resource that it reads). Of a
 * version that nobody converts only the name changes, as with the conversion `None`. Changes what it is given.
 *
 * @throws ApiError what a conversion throws
 */
export function asDefined(object: KubeObject, definition: ResourceDefinition, versions: KindVersions): KubeObject {
  const apiVersion = apiVersionOf(definition);
  const converted = object.apiVersion === apiVersion ? object : versions.convert(object, apiVersion);
  const result = { ...converted, apiVersion, kind: definition.kind };
  const rules = kindRules(definition, versions);
  rules.prune(result);
  rules.fillDefaults(result);
  return result;
}
