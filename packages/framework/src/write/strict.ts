import type { ApiError } from "@virtual-workspaces/apimachinery";
import type { FieldValidation } from "@virtual-workspaces/apimachinery/requests";

/** What strict decoding found in a body. */
export interface Findings {
  /** Paths of members that were given twice. */
  readonly duplicates: readonly string[];
  /** Paths of members that the kind does not have; they are dropped. */
  readonly unknown: readonly string[];
  /** What else there is, in words. */
  readonly others?: readonly string[];
}

/** What is done about what was found. */
export interface Strictness {
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
  /** The error for a client that wants none of it. */
  readonly refuse: (problem: string) => ApiError;
}

/**
 * Kubernetes' field validation: silence, a warning for each finding, or no.
 *
 * @throws ApiError what `refuse` makes of it, when the client asked for `Strict`
 */
export function reportFindings(findings: Findings, { fieldValidation, warn, refuse }: Strictness): void {
  const { duplicates, unknown, others = [] } = findings;
  if (fieldValidation === "Ignore" || duplicates.length + unknown.length + others.length === 0) return;
  const texts = [
    ...others,
    ...duplicates.map((path) => `duplicate field "${path}"`),
    ...unknown.map((path) => `unknown field "${path}"`),
  ];
  if (fieldValidation === "Strict") throw refuse(`strict decoding error: ${texts.join(", ")}`);
  for (const text of texts) warn(text);
}

/** Runs something once, however often it is asked: a write that is tried again finds the same faults in its body. */
export function once<A extends readonly unknown[]>(action: (...args: A) => void): (...args: A) => void {
  let done = false;
  return (...args) => {
    if (done) return;
    done = true;
    action(...args);
  };
}
