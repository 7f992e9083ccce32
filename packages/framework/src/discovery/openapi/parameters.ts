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

/** The path parameter of namespaced kinds. */
export const NAMESPACE: Parameter = path("namespace", "object name and auth scope, such as for teams and projects");

/** The path parameter of a single object. */
export function nameParameter(kind: string): Parameter {
  return path("name", `name of the ${kind}`);
}

const VERSION = query(
  "resourceVersion",
  "string",
  "How fresh the answer must be: unset for the newest state, 0 for any, else no older than this version. " +
    "See https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions",
);

const SELECTION: readonly Parameter[] = [
  query("fieldSelector", "string", "Restricts to objects whose fields match, as field=value,field!=value."),
  query("labelSelector", "string", "Restricts to objects whose labels match, as key=value,key in (a,b),!key."),
  VERSION,
  query(
    "resourceVersionMatch",
    "string",
    "How resourceVersion is meant: Exact or NotOlderThan. Required with sendInitialEvents.",
  ),
  query("timeoutSeconds", "integer", "Seconds after which the call ends, whatever happens meanwhile."),
];

const PAGING: readonly Parameter[] = [
  query(
    "continue",
    "string",
    "Token from the list metadata of the page before. Pages taken with it are of one moment. A token that is too old is " +
      "answered with 410.",
  ),
  query("limit", "integer", "The most objects to return. More follow if the list metadata has a continue token."),
];

const WATCHING: readonly Parameter[] = [
  query("watch", "boolean", "Instead of a list, answers with a stream of changes that happen after resourceVersion."),
  query("allowWatchBookmarks", "boolean", "Sends BOOKMARK events now and then, to tell how far the stream has come."),
  query(
    "sendInitialEvents",
    "boolean",
    "Begins a watch with an ADDED event for each object there is, ended by a BOOKMARK with the annotation " +
      'k8s.io/initial-events-end: "true".',
  ),
];

const DRY_RUN = query("dryRun", "string", "If it is All, everything is checked and nothing is stored.");
const WRITING: readonly Parameter[] = [
  DRY_RUN,
  query("fieldManager", "string", "Name under which the change is recorded in managedFields."),
  query("fieldValidation", "string", "What to do about unknown and duplicate fields: Ignore, Warn or Strict."),
];

const DELETING: readonly Parameter[] = [
  DRY_RUN,
  query("gracePeriodSeconds", "integer", "Seconds before the object is removed; zero removes at once."),
  query("orphanDependents", "boolean", "Replaced by propagationPolicy; not both may be set."),
  query("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
];

/** Query parameters of a verb. A watch is a list with more of them, so a GET of a collection has those of both. */
export const VERB_PARAMETERS: Readonly<Record<Verb, readonly Parameter[]>> = {
  get: [VERSION],
  list: [...SELECTION, ...PAGING],
  watch: [...SELECTION, ...WATCHING],
  create: WRITING,
  update: WRITING,
  patch: [...WRITING, query("force", "boolean", "Takes fields over from other managers. Only with an apply patch.")],
  delete: DELETING,
  deletecollection: [...SELECTION, ...PAGING, ...DELETING],
};
