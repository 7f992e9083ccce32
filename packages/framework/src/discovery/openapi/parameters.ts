import type { OpenAPIV3 } from "openapi-types";
import type { Verb } from "../../definition.ts";

type Parameter = OpenAPIV3.ParameterObject;

const query = (name: string, type: "string" | "boolean" | "integer", description: string): Parameter => ({
  name,
  in: "query",
  description,
  schema: { type },
});

const path = (name: string, description: string): Parameter => ({
  name,
  in: "path",
  description,
  required: true,
  schema: { type: "string" },
});

/** Path parameter of namespaced kinds. */
export const NAMESPACE: Parameter = path("namespace", "object name and auth scope, such as for teams and projects");

/** Returns the path parameter of a single object. */
export function nameParameter(kind: string): Parameter {
  return path("name", `name of the ${kind}`);
}

const VERSION = query(
  "resourceVersion",
  "string",
  "Required freshness of the response: unset for the newest state, 0 for any, else no older than this version. " +
    "See https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions",
);

const SELECTION: readonly Parameter[] = [
  query("fieldSelector", "string", "Selects objects by their fields, such as field=value,field!=value."),
  query("labelSelector", "string", "Selects objects by their labels, such as key=value,key in (a,b),!key."),
  query(
    "shardSelector",
    "string",
    "Selects a share of the objects by a hash, such as " +
      "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000'). Several ranges are joined by ||. " +
      "The field is object.metadata.uid or object.metadata.namespace, the hash FNV-1a of 64 bits.",
  ),
  VERSION,
  query(
    "resourceVersionMatch",
    "string",
    "How resourceVersion is matched: Exact or NotOlderThan. Required with sendInitialEvents.",
  ),
  query("timeoutSeconds", "integer", "Seconds after which the server ends the call."),
];

const PAGING: readonly Parameter[] = [
  query(
    "continue",
    "string",
    "Token from the list metadata of the previous page. All pages have the same resource version. An expired token gets " +
      "a 410.",
  ),
  query("limit", "integer", "Maximum number of objects. There are more if the list metadata has a continue token."),
];

const WATCHING: readonly Parameter[] = [
  query("watch", "boolean", "Returns a stream of changes after resourceVersion instead of a list."),
  query("allowWatchBookmarks", "boolean", "Allows BOOKMARK events with the current resource version."),
  query(
    "sendInitialEvents",
    "boolean",
    "Starts a watch with an ADDED event for each existing object, followed by a BOOKMARK with the annotation " +
      'k8s.io/initial-events-end: "true".',
  ),
];

const DRY_RUN = query("dryRun", "string", "If it is All, the request is validated and nothing is stored.");
const WRITING: readonly Parameter[] = [
  DRY_RUN,
  query("fieldManager", "string", "Name under which the change is recorded in managedFields."),
  query("fieldValidation", "string", "How to handle unknown and duplicate fields: Ignore, Warn or Strict."),
];

const DELETING: readonly Parameter[] = [
  DRY_RUN,
  query("gracePeriodSeconds", "integer", "Seconds before the object is removed; zero removes it at once."),
  query("orphanDependents", "boolean", "Deprecated in favor of propagationPolicy; set only one of the two."),
  query("propagationPolicy", "string", "What happens to dependents: Orphan, Background or Foreground."),
];

/** Query parameters of a verb. A watch is a list with additional ones, so a GET of a collection has both. */
export const VERB_PARAMETERS: Readonly<Record<Verb, readonly Parameter[]>> = {
  get: [VERSION],
  list: [...SELECTION, ...PAGING],
  watch: [...SELECTION, ...WATCHING],
  create: WRITING,
  update: WRITING,
  patch: [...WRITING, query("force", "boolean", "Takes over fields from other managers. Only with an apply patch.")],
  delete: DELETING,
  deletecollection: [...SELECTION, ...PAGING, ...DELETING],
};
