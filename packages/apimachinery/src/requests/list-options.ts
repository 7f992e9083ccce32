import { ApiError } from "../meta/api-error.ts";
import { fieldForbidden, fieldNotSupported } from "../meta/field-cause.ts";
import type { StatusCause } from "../meta/status.ts";
import { type FieldSelector, parseFieldSelector } from "../selectors/fields.ts";
import { type LabelSelector, parseLabelSelector } from "../selectors/labels.ts";
import { parseShardSelector, type ShardSelector } from "../selectors/shards.ts";
import { quote } from "../text/go-format.ts";
import { queryBoolean, queryInteger } from "./query-values.ts";

/** Meaning of `resourceVersion` (metav1.ResourceVersionMatch). */
export type ResourceVersionMatch = "Exact" | "NotOlderThan";

/** Query of a list or watch (metav1.ListOptions), with parsed selectors. */
export interface ListOptions {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  /** Absent for all objects. */
  readonly shardSelector?: ShardSelector;
  /** Maximum number of objects in one answer; absent for no limit. */
  readonly limit?: number;
  /** Token of the next page, from an earlier answer. */
  readonly continue?: string;
  /** Absent when unset; "0" for any version; else canonical (`isResourceVersion`). */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** Seconds after which a watch ends; absent or 0 for the server's default. */
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks: boolean;
  /** Absent if the client does not set it: see `withListDefaults`. */
  readonly sendInitialEvents?: boolean;
  readonly watch: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const UINT64_MAX = 2n ** 64n - 1n;

/**
 * Parses the options of a query string, converted as in Kubernetes: the first of a repeated parameter counts, a boolean is
 * false only if absent, `0` or `false`, and unknown parameters are ignored.
 * @throws ApiError 400 for a malformed selector, number or resource version.
 */
export function parseListOptions(query: URLSearchParams): ListOptions {
  const options: Mutable<ListOptions> = {
    labelSelector: parseLabelSelector(query.get("labelSelector") ?? ""),
    fieldSelector: parseFieldSelector(query.get("fieldSelector") ?? ""),
    allowWatchBookmarks: queryBoolean(query.get("allowWatchBookmarks")) ?? false,
    watch: queryBoolean(query.get("watch")) ?? false,
  };
  const shards = query.get("shardSelector");
  const timeoutSeconds = queryInteger(query.get("timeoutSeconds"));
  const limit = queryInteger(query.get("limit"));
  const token = query.get("continue");
  const version = resourceVersion(query.get("resourceVersion"));
  const match = query.get("resourceVersionMatch");
  const sendInitialEvents = queryBoolean(query.get("sendInitialEvents"));
  if (shards) options.shardSelector = parseShardSelector(shards);
  if (limit !== undefined && limit > 0) options.limit = limit;
  if (token) options.continue = token;
  if (version) options.resourceVersion = version;
  if (match) options.resourceVersionMatch = match as ResourceVersionMatch; // validateListOptions rejects unknown values.
  if (timeoutSeconds !== undefined) options.timeoutSeconds = timeoutSeconds;
  if (sendInitialEvents !== undefined) options.sendInitialEvents = sendInitialEvents;
  return options;
}

/**
 * Sets Kubernetes' defaults: a watch from no version or "0" begins with the present objects, as with `sendInitialEvents`
 * (internalversion.SetListOptionsDefaults with WatchList on). Call it before `validateListOptions`.
 */
export function withListDefaults(options: ListOptions): ListOptions {
  const { watch, resourceVersion: version = "0", resourceVersionMatch, sendInitialEvents } = options;
  if (!watch || version !== "0" || resourceVersionMatch !== undefined || sendInitialEvents !== undefined)
    return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
}

/** Returns the canonical form, without leading zeros. */
function resourceVersion(value: string | null): string | null {
  if (value === null || value === "" || value === "0") return value;
  const fault = (what: string): ApiError => {
    const reason = `strconv.ParseUint: parsing ${quote(value)}: ${what}`;
    return ApiError.badRequest(`invalid resource version: resourceVersion: Invalid value: ${quote(value)}: ${reason}`);
  };
  if (!/^[0-9]+$/.test(value)) throw fault("invalid syntax");
  const canonical = value.replace(/^0+(?=[0-9])/, "");
  if (canonical.length > 20 || BigInt(canonical) > UINT64_MAX) throw fault("value out of range");
  return canonical;
}

const KIND = { group: "meta.k8s.io", kind: "ListOptions" };
const MATCH = "resourceVersionMatch";

/**
 * Rejects contradictory options, like apimachinery's internalversion validation (with WatchList on).
 * @throws ApiError 422 `ListOptions.meta.k8s.io "" is invalid`, with a cause for each broken rule.
 */
export function validateListOptions(options: ListOptions, { isWatch }: { readonly isWatch: boolean }): void {
  const causes = isWatch ? watchProblems(options) : listProblems(options);
  if (causes.length > 0) throw ApiError.invalid({ kind: KIND, name: "", causes });
}

function listProblems(options: ListOptions): StatusCause[] {
  const causes = options.resourceVersionMatch === undefined ? [] : listMatchProblems(options);
  if (options.sendInitialEvents !== undefined) {
    causes.push(fieldForbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return causes;
}

function listMatchProblems({ resourceVersionMatch: match, ...options }: ListOptions): StatusCause[] {
  const causes: StatusCause[] = [];
  if (options.resourceVersion === undefined) {
    causes.push(fieldForbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
  }
  if (options.continue !== undefined) causes.push(forbiddenWithContinue());
  if (match !== "Exact" && match !== "NotOlderThan") {
    causes.push(fieldNotSupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
  }
  if (match === "Exact" && options.resourceVersion === "0") {
    causes.push(fieldForbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
  }
  return causes;
}

function watchProblems({ resourceVersionMatch: match, ...options }: ListOptions): StatusCause[] {
  const causes: StatusCause[] = [];
  if (options.sendInitialEvents !== undefined && match !== "NotOlderThan") {
    causes.push(fieldForbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
  }
  if (match === undefined) return causes;
  if (options.sendInitialEvents === undefined) {
    causes.push(fieldForbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== "NotOlderThan") causes.push(fieldNotSupported(MATCH, match, ["NotOlderThan"]));
  if (options.continue !== undefined) causes.push(forbiddenWithContinue());
  return causes;
}

function forbiddenWithContinue(): StatusCause {
  return fieldForbidden(MATCH, `${MATCH} is forbidden when continue is provided`);
}
