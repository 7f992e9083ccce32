import { apiVersionOf, type GroupVersion } from "@virtual-workspaces/apimachinery";
import type { OpenAPIV3 } from "openapi-types";
import type { Advertised } from "../../resource/served.ts";
import { kindComponents, kindName } from "./kind-schemas.ts";
import { answerComponents, DISCOVERY_COMPONENTS } from "./meta-answer-schemas.ts";
import { OBJECT_COMPONENTS } from "./meta-object-schemas.ts";
import { componentsOf, contentsIn, type OperationExtensions, type Paths } from "./operation.ts";
import { resourcePaths, rootOf } from "./resource-paths.ts";
import { groupVersionPath, rootPaths } from "./root-paths.ts";
import { type Components, mapSchema, mapValues, reachable, type Schema } from "./schema.ts";

export type Document = OpenAPIV3.Document<OperationExtensions>;

/** Title and version of every document; its paths tell what it describes. */
export const INFO: OpenAPIV3.InfoObject = { title: "Virtual workspace", version: "v1" };

/** Document that is built on demand. */
export interface DocumentSource {
  /** Resources whose content, with the document's name, determines the content. */
  readonly resources: readonly Advertised[];
  readonly make: () => Document;
}

/** Returns the OpenAPI documents of a view by their names in the index of `/openapi/v3`. */
export function v3Documents(resources: readonly Advertised[]): Readonly<Record<string, DocumentSource>> {
  const groups = Map.groupBy(resources, ({ definition }) => rootOf(definition.group, definition.version).slice(1));
  const roots = mapValues(rootPaths(resources), (paths) => ({ resources: [], make: () => v3Document(paths(), []) }));
  const versions = mapValues(Object.fromEntries(groups), (members) => ({
    resources: members,
    make: () => groupVersionDocument(members),
  }));
  return { ...roots, ...versions };
}

/** Builds the document of one group version's resources. */
export function groupVersionDocument(resources: readonly Advertised[]): Document {
  return v3Document(resourcesPaths(resources), resources);
}

/** Returns the paths of all resources, and of their group versions' discovery. */
export function resourcesPaths(resources: readonly Advertised[]): Paths {
  const paths: Paths = {};
  const seen = new Set<string>();
  for (const resource of resources) {
    const { group, version, kind, plural } = resource.definition;
    const name = kindName(resource.definition);
    Object.assign(paths, groupVersionPath(group, version), resourcePaths(resource, seen.has(name) ? plural : kind));
    seen.add(name);
  }
  return paths;
}

/** Returns the components of a document: the ones it refers to, and the served kinds, which clients look up by name. */
export function componentsFor(resources: readonly Advertised[], referred: readonly string[]): Components {
  const definitions = resources.map(({ definition }) => definition);
  const ofSubresources = resources.flatMap(({ subresources }) => subresources.map(({ kind }) => kind));
  const groupVersions = new Map(definitions.map((one): [string, GroupVersion] => [apiVersionOf(one), one]));
  const known = {
    ...DISCOVERY_COMPONENTS,
    ...OBJECT_COMPONENTS,
    ...answerComponents([...groupVersions.values()]),
    ...kindComponents([...definitions, ...ofSubresources]),
  };
  return reachable(known, [...definitions.map(kindName), ...referred]);
}

function v3Document(paths: Paths, resources: readonly Advertised[]): Document {
  const components = componentsFor(resources, contentsIn(paths).flatMap(componentsOf));
  const schemas = mapValues(components, (schema) => mapSchema(schema, v3Schema) as unknown as OpenAPIV3.SchemaObject);
  return { openapi: "3.0.0", info: INFO, paths, components: { schemas } };
}

/** OpenAPI 3.0 ignores siblings of a `$ref`, so a reference with a description becomes the only member of an `allOf`. */
function v3Schema(schema: Schema): Schema {
  const { $ref, ...rest } = schema;
  if ($ref !== undefined) {
    return Object.keys(rest).length > 0 ? { ...rest, allOf: [{ $ref }] } : { $ref: `#/components/schemas/${$ref}` };
  }
  return isBareIntOrString(schema) ? { ...schema, anyOf: [{ type: "integer" }, { type: "string" }] } : schema;
}

function isBareIntOrString(schema: Schema): boolean {
  return schema["x-kubernetes-int-or-string"] === true && schema.anyOf === undefined && schema.allOf === undefined;
}
