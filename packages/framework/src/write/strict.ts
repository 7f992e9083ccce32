import type { ApiError } from "@virtual-workspaces/apimachinery";
import type { FieldValidation } from "@virtual-workspaces/apimachinery/requests";

/** Findings of strict decoding in a body. */
export interface Findings {
  /** Paths of duplicate members. */
  readonly duplicates: readonly string[];
  /** Paths of members that the kind does not have; they are dropped. */
  readonly unknown: readonly string[];
  /** Other findings, as text. */
  readonly others?: readonly string[];
  /** Whether to report nothing: the body was not decoded strictly. */
  readonly lenient?: boolean;
}

/** Options for handling findings. */
export interface Strictness {
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
  /** Returns the error for a client that requests `Strict`. */
  readonly refuse: (problem: string) => ApiError;
}

/**
 * Applies Kubernetes' field validation: ignores findings, warns of each, or rejects the body.
 *
 * @throws ApiError of `refuse`, when the client requests `Strict`
 */
export function reportFindings(findings: Findings, { fieldValidation, warn, refuse }: Strictness): void {
  const { duplicates, unknown, others = [], lenient = false } = findings;
  if (lenient || fieldValidation === "Ignore" || duplicates.length + unknown.length + others.length === 0) return;
  const texts = [
    ...others,
    ...duplicates.map((path) => `duplicate field "${path}"`),
    ...unknown.map((path) => `unknown field "${path}"`),
  ];
  if (fieldValidation === "Strict") throw refuse(`strict decoding error: ${texts.join(", ")}`);
  for (const text of texts) warn(text);
}

/** Runs an action once, however often it is called: a retried write finds the same faults in its body. */
export function once<A extends readonly unknown[]>(action: (...args: A) => void): (...args: A) => void {
  let done = false;
  return (...args) => {
    if (done) return;
    done = true;
    action(...args);
  };
}
