import type { FailureDetails } from "./expect.ts";

/** Resource under check, as discovery describes it. */
export interface ConformanceResource {
  /** API group, "" for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural name, as in URLs. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** Passed, failed, or not applicable. {@link CheckResult.reason} explains the last. */
export type CheckOutcome = "passed" | "failed" | "skipped";

/** Result of one check for the server or for one resource. */
export interface CheckResult {
  /** `T1.1`: letter and number are those of the documentation. */
  readonly id: string;
  /** Behavior that holds when the check passes. */
  readonly title: string;
  /** Harm to users when the behavior does not hold. */
  readonly protects: string;
  /** `quotes.v1.example.dev`; `undefined` when the check is about the server. */
  readonly resource: string | undefined;
  readonly outcome: CheckOutcome;
  /** Reason why the check was skipped. */
  readonly reason?: string;
  /** Details of the failure. */
  readonly failure?: FailureDetails;
  /** Duration in milliseconds. */
  readonly duration: number;
}

/** Results of a whole run. Contains no credentials. */
export interface ConformanceReport {
  readonly url: string;
  /** `gitVersion` of `/version`, or "" when it cannot be read. */
  readonly serverVersion: string;
  /** Names of the resources, such as `quotes.v1.example.dev`. */
  readonly resources: readonly string[];
  /** Results in the order of the suite. */
  readonly results: readonly CheckResult[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Objects that the run created and could not delete, as `quotes.v1.example.dev default/name`. */
  readonly left: readonly string[];
  /** Duration in milliseconds. */
  readonly duration: number;
}

/** Returns `quotes.v1.example.dev`, or `pods.v1` for the core group: kubectl's name of a resource with its version. */
export function resourceName({
  name,
  version,
  group,
}: Pick<ConformanceResource, "name" | "version" | "group">): string {
  return group === "" ? `${name}.${version}` : `${name}.${version}.${group}`;
}

/** Returns `/apis/example.dev/v1`, or `/api/v1` for the core group. */
export function groupVersionPath({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}
