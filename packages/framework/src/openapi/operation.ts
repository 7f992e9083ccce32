import type { GroupVersionKind } from "@virtual-workspaces/apimachinery";
import type { OpenAPIV3 } from "openapi-types";

/** What Kubernetes says of an operation beside OpenAPI's own words. */
export interface OperationExtensions {
  "x-kubernetes-action"?: string;
  "x-kubernetes-group-version-kind"?: GroupVersionKind;
}

export type Method = "get" | "put" | "post" | "delete" | "patch";

/** An operation of OpenAPI v3 with what ours have; v2's is derived from it. */
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

/** The media types, each of the component `name`. */
export function contentOf(name: string, types: readonly string[]): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: { $ref: `${PREFIX}${name}` } }]));
}

/** The component whose schema a content has; the first media type stands for all. */
export function componentOf(content: Content): string | undefined {
  const [media] = Object.values(content);
  return media && nameIn(media);
}

/** The components that paths refer to. */
export function componentsIn(paths: Paths): Set<string> {
  const operations = Object.values(paths).flatMap(({ parameters, ...methods }) => Object.values(methods));
  const contents = operations.flatMap(({ requestBody, responses }) => [
    requestBody?.content ?? {},
    ...Object.values(responses).map(({ content = {} }) => content),
  ]);
  const names = contents.flatMap((content) => Object.values(content)).map(nameIn);
  return new Set(names.filter((name) => name !== undefined));
}

function nameIn({ schema }: OpenAPIV3.MediaTypeObject): string | undefined {
  return schema !== undefined && "$ref" in schema ? schema.$ref.slice(PREFIX.length) : undefined;
}
