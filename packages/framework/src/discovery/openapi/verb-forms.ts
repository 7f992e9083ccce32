import type { OpenAPIV3 } from "openapi-types";
import type { ResourceDefinition, Verb } from "../../definition.ts";
import { patchTypes } from "../../write/patch-types.ts";
import { kindName } from "./kind-schemas.ts";
import { metaName } from "./meta-object-schemas.ts";
import { contentOf, type Method } from "./operation.ts";

/** OpenAPI operation of a verb. */
export interface VerbForm {
  readonly method: Method;
  /** Value of `x-kubernetes-action`. */
  readonly action: string;
  /** First word of the operation id. */
  readonly operation: string;
  /** Words before the kind in the operation id. */
  readonly of?: string;
  /** @param part `status of ` for an operation on a subresource, else "" */
  readonly description: (kind: string, part: string) => string;
  readonly answers: "object" | "list" | "events" | "status";
  readonly body?: "object" | "patch" | "options";
  /** Whether 201 is a possible response too. */
  readonly created?: true;
  /** Whether 202 is a possible response too. */
  readonly accepted?: true;
}

/** Operation of each verb. */
export const VERB_FORMS: Readonly<Record<Verb, VerbForm>> = {
  get: {
    method: "get",
    action: "get",
    operation: "read",
    description: (kind, part) => `read ${part}the specified ${kind}`,
    answers: "object",
  },
  list: {
    method: "get",
    action: "list",
    operation: "list",
    description: (kind) => `list objects of kind ${kind}`,
    answers: "list",
  },
  watch: {
    method: "get",
    action: "watch",
    operation: "watch",
    description: (kind) => `watch changes of objects of kind ${kind}`,
    answers: "events",
  },
  create: {
    method: "post",
    action: "post",
    operation: "create",
    description: (kind, part) => `create ${part}${article(kind)} ${kind}`,
    answers: "object",
    body: "object",
    created: true,
    accepted: true,
  },
  update: {
    method: "put",
    action: "put",
    operation: "replace",
    description: (kind, part) => `replace ${part}the specified ${kind}`,
    answers: "object",
    body: "object",
    created: true,
  },
  patch: {
    method: "patch",
    action: "patch",
    operation: "patch",
    description: (kind, part) => `partially update ${part}the specified ${kind}`,
    answers: "object",
    body: "patch",
    created: true,
  },
  delete: {
    method: "delete",
    action: "delete",
    operation: "delete",
    description: (kind) => `delete ${article(kind)} ${kind}`,
    answers: "status",
    body: "options",
    accepted: true,
  },
  deletecollection: {
    method: "delete",
    action: "deletecollection",
    operation: "delete",
    of: "Collection",
    description: (kind) => `delete collection of ${kind}`,
    answers: "status",
  },
};

function article(kind: string): string {
  return /^[aeiou]/i.test(kind) ? "an" : "a";
}

/** Media types of objects. */
export const OBJECT_TYPES: readonly string[] = ["application/json", "application/yaml"];

/** Returns the request body of an operation on objects of a kind. */
export function requestBody(definition: ResourceDefinition, verb: Verb): OpenAPIV3.RequestBodyObject | undefined {
  switch (VERB_FORMS[verb].body) {
    case "object":
      return { content: contentOf(kindName(definition), OBJECT_TYPES), required: true };
    case "options":
      return { content: contentOf(metaName("DeleteOptions"), OBJECT_TYPES) };
    case "patch":
      return { content: contentOf(metaName("Patch"), patchTypes(definition).sort()), required: true };
    default:
      return undefined;
  }
}
