import type { OpenAPIV3 } from "openapi-types";
import type { Verb } from "../../definition.ts";
import type { Advertised } from "../../resource/served.ts";
import { kindName, listOf } from "./kind-schemas.ts";
import { metaName } from "./meta-object-schemas.ts";
import {
  type Content,
  contentOf,
  type Operation,
  operationNames,
  type PathItem,
  type Paths,
  pascalCase,
} from "./operation.ts";
import { NAMESPACE, nameParameter, VERB_PARAMETERS } from "./parameters.ts";
import { subresourcePaths } from "./subresource-paths.ts";
import { OBJECT_TYPES, requestBody, VERB_FORMS } from "./verb-forms.ts";

const OF_COLLECTION: readonly Verb[] = ["list", "watch", "create", "deletecollection"];
const OF_ALL_NAMESPACES: readonly Verb[] = ["list", "watch"];
const OF_OBJECT: readonly Verb[] = ["get", "update", "patch", "delete"];

const WATCH_TYPES = ["application/json;stream=watch"];

/** Returns the root of a group version: `/apis/example.dev/v1`, or `/api/v1` for the core group. */
export function rootOf(group: string, version: string): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

/**
 * Returns the paths of a resource, with exactly the operations of its verbs.
 *
 * @param noun name of the resource in operation ids, which must be unique in a document
 */
export function resourcePaths(subject: Advertised, noun: string): Paths {
  const { group, version, plural, kind, scope } = subject.definition;
  const root = rootOf(group, version);
  const name = nameParameter(kind);
  if (scope === "Cluster") {
    return withoutEmpty({
      [`${root}/${plural}`]: pathItem(subject, OF_COLLECTION, noun),
      [`${root}/${plural}/{name}`]: { ...pathItem(subject, OF_OBJECT, noun), parameters: [name] },
      ...subresourcePaths(subject, { path: `${root}/${plural}/{name}`, noun, parameters: [name] }),
    });
  }
  const within = `${root}/namespaces/{namespace}/${plural}`;
  return withoutEmpty({
    [`${root}/${plural}`]: pathItem(subject, OF_ALL_NAMESPACES, `${noun}ForAllNamespaces`),
    [within]: { ...pathItem(subject, OF_COLLECTION, `Namespaced${noun}`), parameters: [NAMESPACE] },
    [`${within}/{name}`]: { ...pathItem(subject, OF_OBJECT, `Namespaced${noun}`), parameters: [name, NAMESPACE] },
    ...subresourcePaths(subject, {
      path: `${within}/{name}`,
      noun: `Namespaced${noun}`,
      parameters: [name, NAMESPACE],
    }),
  });
}

function withoutEmpty(paths: Paths): Paths {
  return Object.fromEntries(
    Object.entries(paths).filter(([, { parameters, ...methods }]) => Object.keys(methods).length > 0),
  );
}

function pathItem(subject: Advertised, wanted: readonly Verb[], noun: string): PathItem {
  const listed = subject.verbs.includes("list");
  // A watch is the list operation with `watch=true`; it is an operation of its own only if there is no list.
  const served = wanted.filter((verb) => subject.verbs.includes(verb) && !(verb === "watch" && listed));
  return Object.fromEntries(served.map((verb) => [VERB_FORMS[verb].method, operation(subject, verb, noun)]));
}

function operation(subject: Advertised, verb: Verb, noun: string): Operation {
  const { group, version, kind } = subject.definition;
  const { infix, tag } = operationNames(group, version);
  const form = VERB_FORMS[verb];
  const content = answer(subject, verb);
  const body = requestBody(subject.definition, verb);
  return {
    tags: [tag],
    description: form.description(kind, ""),
    operationId: `${form.operation}${infix}${form.of ?? ""}${pascalCase(noun)}`,
    parameters: parameters(subject, verb),
    ...(body && { requestBody: body }),
    responses: {
      200: { description: "OK", content },
      ...(form.created && { 201: { description: "Created", content } }),
      ...(form.accepted && { 202: { description: "Accepted", content } }),
      401: { description: "Unauthorized" },
    },
    "x-kubernetes-action": form.action,
    "x-kubernetes-group-version-kind": { group, kind, version },
  };
}

function parameters(subject: Advertised, verb: Verb): OpenAPIV3.ParameterObject[] {
  const all = [...VERB_PARAMETERS[verb], ...(watches(subject, verb) ? VERB_PARAMETERS.watch : [])];
  const byName = new Map(all.map((parameter) => [parameter.name, parameter]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function watches({ verbs }: Advertised, verb: Verb): boolean {
  return verb === "watch" || (verb === "list" && verbs.includes("watch"));
}

function answer(subject: Advertised, verb: Verb): Content {
  const { definition } = subject;
  const events = watches(subject, verb) ? contentOf(metaName("WatchEvent"), WATCH_TYPES) : {};
  switch (VERB_FORMS[verb].answers) {
    case "events":
      return events;
    case "list":
      return { ...contentOf(kindName(listOf(definition)), OBJECT_TYPES), ...events };
    case "object":
      return contentOf(kindName(definition), OBJECT_TYPES);
    case "status":
      return contentOf(metaName("Status"), OBJECT_TYPES);
  }
}
