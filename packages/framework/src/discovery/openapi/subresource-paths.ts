import type { OpenAPIV3 } from "openapi-types";
import type { Verb } from "../../definition.ts";
import type { Advertised } from "../../resource/served.ts";
import type { AdvertisedSubresource } from "../../resource/subresources.ts";
import { kindName } from "./kind-schemas.ts";
import { contentOf, type Operation, operationNames, type Paths, pascalCase } from "./operation.ts";
import { VERB_PARAMETERS } from "./parameters.ts";
import { OBJECT_TYPES, requestBody, VERB_FORMS } from "./verb-forms.ts";

/** Object whose subresources are described. */
export interface ObjectPath {
  readonly path: string;
  /** Name of the object in operation ids. */
  readonly noun: string;
  readonly parameters: OpenAPIV3.ParameterObject[];
}

/** Returns the paths of a resource's subresources, with exactly the operations of their verbs. */
export function subresourcePaths(subject: Advertised, { path, noun, parameters }: ObjectPath): Paths {
  const items = subject.subresources.map((part) => {
    const about = { subject, part, noun };
    const operations = part.verbs.map((verb) => [
      VERB_FORMS[verb].method,
      part.form === "connect" ? connecting(about, verb) : operating(about, verb),
    ]);
    return [`${path}/${part.name}`, { ...Object.fromEntries(operations), parameters }];
  });
  return Object.fromEntries(items);
}

interface About {
  readonly subject: Advertised;
  readonly part: AdvertisedSubresource;
  readonly noun: string;
}

function operating({ subject, part, noun }: About, verb: Verb): Operation {
  const { group, version, kind } = subject.definition;
  const { infix, tag } = operationNames(group, version);
  const form = VERB_FORMS[verb];
  const content = contentOf(kindName(part.kind), OBJECT_TYPES);
  const body = requestBody(part.kind, verb);
  // A custom subresource defines its own query parameters.
  const parameters = part.form === "kind" && verb === "get" ? [] : VERB_PARAMETERS[verb];
  return {
    tags: [tag],
    description: form.description(kind, `${part.name} of `),
    operationId: `${form.operation}${infix}${pascalCase(noun)}${pascalCase(part.name)}`,
    ...(parameters.length > 0 && { parameters: [...parameters].sort((a, b) => (a.name < b.name ? -1 : 1)) }),
    ...(body && { requestBody: body }),
    responses: {
      // Only a subresource with a kind of its own is created.
      ...(verb === "create" ? { 201: { description: "Created", content } } : { 200: { description: "OK", content } }),
      401: { description: "Unauthorized" },
    },
    "x-kubernetes-action": form.action,
    "x-kubernetes-group-version-kind": kindOf(part.form === "kind" ? part.kind : subject.definition),
  };
}

function connecting({ subject, part, noun }: About, verb: Verb): Operation {
  const { group, version, kind } = subject.definition;
  const { infix, tag } = operationNames(group, version);
  const { method } = VERB_FORMS[verb];
  return {
    tags: [tag],
    description: `connect ${method.toUpperCase()} requests to ${part.name} of ${kind}`,
    operationId: `connect${infix}${pascalCase(method)}${pascalCase(noun)}${pascalCase(part.name)}`,
    responses: {
      200: { description: "OK", content: { "*/*": { schema: { type: "string" } } } },
      401: { description: "Unauthorized" },
    },
    "x-kubernetes-action": "connect",
    "x-kubernetes-group-version-kind": kindOf(subject.definition),
  };
}

function kindOf({
  group,
  version,
  kind,
}: Advertised["definition"]): NonNullable<Operation["x-kubernetes-group-version-kind"]> {
  return { group, kind, version };
}
