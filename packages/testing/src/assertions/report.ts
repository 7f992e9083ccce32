import type { FailureDetails } from "./expect.ts";

/** A resource that checks run on, as discovery has it. */
export interface ConformanceResource {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, as it stands in URLs. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** Passed, failed, or nothing to say: why stands in {@link CheckResult.reason}. */
export type CheckOutcome = "passed" | "failed" | "skipped";

/** What one check says of the server, or of one resource. */
export interface CheckResult {
  /** `T1.1`: the letter and number are those of the documentation. */
  readonly id: string;
  /** What holds when it passes. */
  readonly title: string;
  /** What users suffer when it does not hold. */
  readonly protects: string;
  /** `quotes.v1.example.dev`; `undefined` when the check is about the server. */
  readonly resource: string | undefined;
  readonly outcome: CheckOutcome;
  /** Why it was skipped. */
  readonly reason?: string;
  /** What is wrong, when it failed. */
  readonly failure?: FailureDetails;
  /** Milliseconds. */
  readonly duration: number;
}

/** All that a run found. Holds no credentials. */
export interface ConformanceReport {
  readonly url: string;
  /** `gitVersion` of `/version`; "" when it cannot be read. */
  readonly serverVersion: string;
  /** As `quotes.v1.example.dev`. */
  readonly resources: readonly string[];
  /** In the order of the suite. */
  readonly results: readonly CheckResult[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What the run made and could not delete, as `quotes.v1.example.dev default/name`. */
  readonly left: readonly string[];
  /** Milliseconds. */
  readonly duration: number;
}

/** `quotes.v1.example.dev`, `pods.v1` in the core group: kubectl's way to name a resource with its version. */
export function resourceName({
  name,
  version,
  group,
}: Pick<ConformanceResource, "name" | "version" | "group">): string {
  return group === "" ? `${name}.${version}` : `${name}.${version}.${group}`;
}

/** `/apis/example.dev/v1`, `/api/v1`. */
export function groupVersionPath({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}
