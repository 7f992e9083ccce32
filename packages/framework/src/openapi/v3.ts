import { apiVersionOf, type GroupVersion } from "@virtual-workspaces/apimachinery";
import type { OpenAPIV3 } from "openapi-types";
import type { ServedResource } from "../served.ts";
import { kindComponents } from "./kind-schemas.ts";
import { answerComponents } from "./meta-answer-schemas.ts";
import { DISCOVERY_COMPONENTS } from "./meta-discovery-schemas.ts";
import { OBJECT_COMPONENTS } from "./meta-object-schemas.ts";
import { componentsOf, contentsIn, type OperationExtensions, type Paths } from "./operation.ts";
import { resourcePaths, rootOf } from "./resource-paths.ts";
import { groupVersionPath, rootPaths } from "./root-paths.ts";
import { type Components, mapSchema, mapValues, reachable, type Schema } from "./schema.ts";

export type Document = OpenAPIV3.Document<OperationExtensions>;

/** Title and version of every document; what they describe is in their paths. */
export const INFO: OpenAPIV3.InfoObject = { title: "Virtual workspace", version: "v1" };

/**
 * The OpenAPI documents of a view by the name under which the index of `/openapi/v3` lists them. Each is made when
 * it is asked for.
 */
export function v3Documents(resources: readonly ServedResource[]): Readonly<Record<string, () => Document>> {
  const roots = mapValues(rootPaths(resources), (paths) => () => v3Document(paths, []));
  const versions = mapValues(byGroupVersion(resources), (members) => () => groupVersionDocument(members));
  return { ...roots, ...versions };
}

/** Served resources by the name of their document: `api/v1`, `apis/example.dev/v1`. */
export function byGroupVersion(resources: readonly ServedResource[]): Record<string, readonly ServedResource[]> {
  const groups = Map.groupBy(resources, ({ definition }) => rootOf(definition.group, definition.version).slice(1));
  return Object.fromEntries(groups);
}

/** The document of the resources of one group version. */
export function groupVersionDocument(resources: readonly ServedResource[]): Document {
  return v3Document(resourcesPaths(resources), resources);
}

/** Paths of all resources, and of the discovery of their group versions. */
export function resourcesPaths(resources: readonly ServedResource[]): Paths {
  const paths: Paths = {};
  const nouns = new Set<string>();
  for (const resource of resources) {
    const { group, version, kind, plural } = resource.definition;
    const known = nouns.has(`${group}/${version}/${kind}`);
    nouns.add(`${group}/${version}/${kind}`);
    Object.assign(paths, groupVersionPath(group, version), resourcePaths(resource, known ? plural : kind));
  }
  return paths;
}

/** All components that documents of `resources` may refer to. */
export function componentsFor(resources: readonly ServedResource[]): Components {
  const definitions = resources.map(({ definition }) => definition);
  const groupVersions = new Map(definitions.map((one): [string, GroupVersion] => [apiVersionOf(one), one]));
  return {
    ...DISCOVERY_COMPONENTS,
    ...OBJECT_COMPONENTS,
    ...answerComponents([...groupVersions.values()]),
    ...kindComponents(definitions),
  };
}

function v3Document(paths: Paths, resources: readonly ServedResource[]): Document {
  const components = reachable(componentsFor(resources), contentsIn(paths).flatMap(componentsOf));
  const schemas = mapValues(components, (schema) => mapSchema(schema, v3Schema) as unknown as OpenAPIV3.SchemaObject);
  return { openapi: "3.0.0", info: INFO, paths, components: { schemas } };
}

/** In OpenAPI 3.0 nothing counts beside a `$ref`, so one with a description becomes the only member of an `allOf`. */
function v3Schema(schema: Schema): Schema {
  const { $ref, ...rest } = schema;
  if ($ref !== undefined) {
    return Object.keys(rest).length > 0 ? { ...rest, allOf: [{ $ref }] } : { $ref: `#/components/schemas/${$ref}` };
  }
  const choice =
    schema["x-kubernetes-int-or-string"] === true && schema.anyOf === undefined && schema.allOf === undefined;
  return choice ? { ...schema, anyOf: [{ type: "integer" }, { type: "string" }] } : schema;
}
