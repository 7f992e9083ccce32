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

/**
 * Passed, failed, disturbed by another client, or not applicable. {@link CheckResult.reason} explains the last two. A
 * disturbed check says nothing about the server: repeat it while no other client writes.
 */
export type CheckOutcome = "passed" | "failed" | "disturbed" | "skipped";

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
  /** Reason why the check was skipped, or which write of another client disturbed it. */
  readonly reason?: string;
  /** Details of the failure, also of a disturbed check. */
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
  /** Checks that failed while another client wrote objects of the same resource. */
  readonly disturbed: number;
  readonly skipped: number;
  /** Objects that the run created and could not delete, as `quotes.v1.example.dev default/name`. */
  readonly left: readonly string[];
  /**
   * Reason why the server stopped answering. The run then ended early: {@link results} has only the checks before, and
   * {@link left} all names of objects that may exist. `undefined` if the server answered to the end.
   */
  readonly unreachable?: string;
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
