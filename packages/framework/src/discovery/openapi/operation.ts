import type { GroupVersionKind } from "@virtual-workspaces/apimachinery";
import type { OpenAPIV3 } from "openapi-types";

/** Kubernetes' extensions of an OpenAPI operation. */
export interface OperationExtensions {
  "x-kubernetes-action"?: string;
  "x-kubernetes-group-version-kind"?: GroupVersionKind;
}

export type Method = "get" | "put" | "post" | "delete" | "patch";

/** OpenAPI v3 operation with the fields that are used here; v2's is derived from it. */
export interface Operation extends OperationExtensions {
  tags: string[];
  description: string;
  operationId: string;
  parameters?: OpenAPIV3.ParameterObject[];
  requestBody?: OpenAPIV3.RequestBodyObject;
  responses: Record<string, OpenAPIV3.ResponseObject>;
}

export type PathItem = Partial<Record<Method, Operation>> & { parameters?: OpenAPIV3.ParameterObject[] };

export type Paths = Record<string, PathItem>;

export type Content = Record<string, OpenAPIV3.MediaTypeObject>;

const PREFIX = "#/components/schemas/";

/** Returns content with these media types, each with the component `name` as its schema. */
export function contentOf(name: string, types: readonly string[]): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: { $ref: `${PREFIX}${name}` } }]));
}

/** Returns the content of all requests and responses of the paths. */
export function contentsIn(paths: Paths): Content[] {
  const operations = Object.values(paths).flatMap(({ parameters, ...methods }) => Object.values(methods));
  return operations.flatMap(({ requestBody, responses }) => [
    requestBody?.content ?? {},
    ...Object.values(responses).map(({ content = {} }) => content),
  ]);
}

/** Returns the components that a content refers to, by media type. */
export function componentsOf(content: Content): string[] {
  return Object.values(content).flatMap(({ schema = {} }) =>
    "$ref" in schema ? schema.$ref.slice(PREFIX.length) : [],
  );
}

/** Forms of `example.dev` and `v1` in Kubernetes' operation ids (`ExampleDevV1`) and tags (`exampleDev_v1`). */
interface OperationNames {
  readonly infix: string;
  readonly tag: string;
}

/** Returns the names for a group, or a group and version, as Kubernetes' GetOperationIDAndTags makes them. */
export function operationNames(group: string, version?: string): OperationNames {
  const short = group === "" ? "core" : group.replace(/\.k8s\.io$/, "");
  const parts = version === undefined ? [short] : [short, version];
  return { infix: parts.map(pascalCase).join(""), tag: parts.map(camelCase).join("_") };
}

/** Keeps only letters and digits, and capitalizes each letter that follows another character. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

function camelCase(text: string): string {
  const pascal = pascalCase(text);
  return text.slice(0, 1) + pascal.slice(1);
}
