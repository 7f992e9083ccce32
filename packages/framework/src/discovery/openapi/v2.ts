import type { OpenAPIV2, OpenAPIV3 } from "openapi-types";
import type { Advertised } from "../../resource/served.ts";
import {
  type Content,
  componentsOf,
  contentsIn,
  type Operation,
  type OperationExtensions,
  type PathItem,
  type Paths,
} from "./operation.ts";
import { rootPaths } from "./root-paths.ts";
import { type Components, mapSchema, mapValues, type Schema } from "./schema.ts";
import { componentsFor, INFO, resourcesPaths } from "./v3.ts";

/** OpenAPI v2 document with the fields that are used here. */
export interface SwaggerDocument {
  readonly swagger: "2.0";
  readonly info: OpenAPIV2.InfoObject;
  readonly paths: Readonly<Record<string, SwaggerPath>>;
  readonly definitions: Components;
}

export interface SwaggerPath extends Partial<Record<"get" | "put" | "post" | "delete" | "patch", SwaggerOperation>> {
  readonly parameters?: readonly SwaggerParameter[];
}

export interface SwaggerOperation extends OperationExtensions {
  readonly tags: readonly string[];
  readonly description: string;
  readonly operationId: string;
  readonly produces: readonly string[];
  readonly consumes?: readonly string[];
  readonly parameters?: readonly SwaggerParameter[];
  readonly responses: Readonly<Record<string, SwaggerResponse>>;
}

export interface SwaggerParameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly type?: string;
  readonly schema?: Schema;
}

export interface SwaggerResponse {
  readonly description: string;
  readonly schema?: Schema;
}

/** Returns the single OpenAPI v2 document of a view. */
export function swaggerDocument(resources: readonly Advertised[]): SwaggerDocument {
  const roots = Object.values(rootPaths(resources)).map((paths) => paths());
  const paths: Paths = Object.assign({}, ...roots, resourcesPaths(resources));
  const components = componentsFor(resources, contentsIn(paths).flatMap(mainComponent));
  return {
    swagger: "2.0",
    info: INFO,
    paths: mapValues(sorted(paths), pathItem),
    definitions: mapValues(components, (schema) => v2Kind(schema)),
  };
}

function sorted(paths: Paths): Paths {
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pathItem({ parameters, ...methods }: PathItem): SwaggerPath {
  return { ...mapValues(methods, operation), ...(parameters && { parameters: parameters.map(parameter) }) };
}

function operation({ parameters = [], requestBody, responses, ...rest }: Operation): SwaggerOperation {
  const produces = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content));
  const all = [...parameters.map(parameter), ...(requestBody ? [bodyParameter(requestBody)] : [])];
  return {
    ...rest,
    produces: [...new Set(produces)],
    ...(requestBody && { consumes: Object.keys(requestBody.content) }),
    ...(all.length > 0 && { parameters: all }),
    responses: mapValues(responses, response),
  };
}

/** Moves the fields of a v3 parameter's schema into the v2 parameter. */
function parameter({ schema, ...rest }: OpenAPIV3.ParameterObject): SwaggerParameter {
  const { type } = schema as OpenAPIV3.NonArraySchemaObject;
  return { ...rest, ...(type && { type }) };
}

function bodyParameter({ content, required }: OpenAPIV3.RequestBodyObject): SwaggerParameter {
  return { name: "body", in: "body", ...(required && { required }), schema: schemaOf(content) };
}

function response({ description, content }: OpenAPIV3.ResponseObject): SwaggerResponse {
  return { description, ...(content && { schema: schemaOf(content) }) };
}

function schemaOf(content: Content): Schema {
  const [component] = mainComponent(content);
  if (component !== undefined) return { $ref: `#/definitions/${component}` };
  // Connections transfer bytes.
  return Object.keys(content).length === 0 ? {} : { type: "string" };
}

/** Takes the first media type's schema, since v2 has one for all. */
function mainComponent(content: Content): string[] {
  return componentsOf(content).slice(0, 1);
}

/**
 * Converts a schema to OpenAPI v2 and drops what v2 lacks, as Kubernetes does (apiextensions' ToStructuralOpenAPIV2). Clients
 * that validate with it must never reject what the server accepts, so the type is dropped where v2 would be too strict.
 */
export function v2Schema(schema: Schema): Schema {
  return mapSchema(schema, (node) => reference(widened(withoutJunctors(node))));
}

/** Converts a whole kind. With unknown fields allowed it gets no properties, since kubectl takes those as complete. */
export function v2Kind(schema: Schema): Schema {
  if (schema["x-kubernetes-preserve-unknown-fields"] !== true) return v2Schema(schema);
  const { description, "x-kubernetes-group-version-kind": kinds } = schema;
  return {
    type: "object",
    ...(description && { description }),
    ...(kinds && { "x-kubernetes-group-version-kind": kinds }),
  };
}

function reference(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : { ...schema, $ref: `#/definitions/${schema.$ref}` };
}

function withoutJunctors({ allOf, anyOf, oneOf, not, ...rest }: Schema): Schema {
  return rest;
}

function widened(schema: Schema): Schema {
  const { nullable, ...node } = withOptionalNullables(schema);
  const open = node["x-kubernetes-preserve-unknown-fields"] === true;
  if (nullable === true || open) {
    const { type, items, properties, required, ...rest } = node;
    const keepsType = open && nullable !== true && type !== "object" && type !== "array";
    return { ...rest, ...(keepsType && type !== undefined && { type }) };
  }
  if (node.type === "array" && node.items === undefined) {
    const { type, ...rest } = node;
    return rest;
  }
  return node;
}

/** A required nullable field is not required in v2, which treats null as missing. */
function withOptionalNullables(schema: Schema): Schema {
  const { required, properties = {}, additionalProperties } = schema;
  if (required === undefined) return schema;
  const values = typeof additionalProperties === "object" && additionalProperties.nullable === true;
  const kept = values ? [] : required.filter((name) => properties[name]?.nullable !== true);
  if (kept.length > 0) return { ...schema, required: kept };
  const { required: none, ...rest } = schema;
  return rest;
}
