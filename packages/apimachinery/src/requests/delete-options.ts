import { isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import { ApiError } from "../meta/api-error.ts";
import { fieldInvalid, fieldNotSupported } from "../meta/field-cause.ts";
import { queryBoolean, queryInteger } from "./query-values.ts";
import { dryRunProblems, throwIfInvalid } from "./write-options.ts";

/** Fate of an object's dependents. */
export type PropagationPolicy = "Orphan" | "Background" | "Foreground";

/** Conditions that the object must meet to be deleted. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Options of a delete (metav1.DeleteOptions). */
export interface DeleteQuery {
  readonly dryRun: boolean;
  /** Seconds for a graceful end of the object, if its kind supports one. Below 0 counts as 1. */
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  /** Older form of {@link propagationPolicy}. */
  readonly orphanDependents?: boolean;
  readonly preconditions?: Preconditions;
}

const POLICIES: readonly PropagationPolicy[] = ["Foreground", "Background", "Orphan"];
const DEFAULT_DELETE_QUERY: DeleteQuery = { dryRun: false };

/**
 * Parses the options of a delete from its body or, without one, from its query, as in Kubernetes.
 *
 * @throws ApiError 400 for a body that is not a DeleteOptions, 422 for invalid options
 */
export function parseDeleteOptions(query: URLSearchParams, body: unknown): DeleteQuery {
  if (!isThere(body) && query.size === 0) return DEFAULT_DELETE_QUERY;
  const raw = !isThere(body) ? fromQuery(query) : fromBody(body);
  throwIfInvalid("DeleteOptions", [
    ...(raw.orphanDependents !== undefined && raw.propagationPolicy !== undefined
      ? [
          fieldInvalid(
            "propagationPolicy",
            raw.propagationPolicy,
            "orphanDependents and deletionPropagation cannot be both set",
          ),
        ]
      : []),
    ...(raw.propagationPolicy !== undefined && !isPolicy(raw.propagationPolicy)
      ? [fieldNotSupported("propagationPolicy", raw.propagationPolicy, [...POLICIES, "nil"])]
      : []),
    ...dryRunProblems(raw.dryRun),
  ]);
  const { gracePeriodSeconds: grace, orphanDependents, propagationPolicy, preconditions } = raw;
  return {
    dryRun: raw.dryRun.length > 0,
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace < 0 ? 1 : grace }),
    ...(propagationPolicy !== undefined && isPolicy(propagationPolicy) ? { propagationPolicy } : {}),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(preconditions === undefined ? {} : { preconditions }),
  };
}

function isThere(body: unknown): boolean {
  return body !== undefined && body !== null;
}

interface RawOptions {
  readonly dryRun: readonly string[];
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: Preconditions | undefined;
}

function fromQuery(query: URLSearchParams): RawOptions {
  return {
    dryRun: query.getAll("dryRun"),
    gracePeriodSeconds: queryInteger(query.get("gracePeriodSeconds")),
    propagationPolicy: query.get("propagationPolicy") ?? undefined,
    orphanDependents: queryBoolean(query.get("orphanDependents")),
    preconditions: undefined,
  };
}

function fromBody(body: unknown): RawOptions {
  if (!isJsonObject(body)) throw ApiError.badRequest("the body of a delete must be a DeleteOptions object");
  if ((memberOf(body, "kind") ?? "DeleteOptions") !== "DeleteOptions")
    throw ApiError.badRequest("decoded object cannot be converted to DeleteOptions");
  const preconditions = field(body, "preconditions", [isJsonObject, "an object"]);
  return {
    dryRun: field(body, "dryRun", [isTexts, "a list of strings"]) ?? [],
    gracePeriodSeconds: field(body, "gracePeriodSeconds", [isInteger, "a number of seconds"]),
    propagationPolicy: field(body, "propagationPolicy", [isText, "a string"]),
    orphanDependents: field(body, "orphanDependents", [isBoolean, "a boolean"]),
    preconditions: preconditions === undefined ? undefined : preconditionsOf(preconditions),
  };
}

function preconditionsOf(given: JsonObject): Preconditions {
  const uid = field(given, "uid", [isText, "a string"]);
  const resourceVersion = field(given, "resourceVersion", [isText, "a string"]);
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

type FieldCheck<T> = readonly [is: (value: unknown) => value is T, what: string];

function field<T>(object: JsonObject, name: string, [is, what]: FieldCheck<T>): T | undefined {
  const value = memberOf(object, name);
  if (value === undefined || value === null) return undefined;
  if (!is(value)) throw ApiError.badRequest(`DeleteOptions: ${name} must be ${what}`);
  return value;
}

function isPolicy(text: string): text is PropagationPolicy {
  return (POLICIES as readonly string[]).includes(text);
}
