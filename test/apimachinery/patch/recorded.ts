// Why: results of patches were recorded once from Kubernetes' own libraries, and are replayed here without Go.
import { readFileSync } from "node:fs";
import { type ApiError, isApiError, type JsonObject } from "@virtual-workspaces/apimachinery";
import { equalJson, parseJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";

/** Recorded result of one patch. */
export interface Recorded {
  readonly kind: "json" | "merge" | "strategic";
  /** Schema of strategic merge patches. */
  readonly type?: "Pod" | "Deployment";
  readonly what?: string;
  readonly doc: JsonObject;
  readonly patch: unknown;
  readonly code: number;
  readonly error?: string;
  /** Faults that strict decoding found. */
  readonly strict?: readonly string[];
  readonly result?: unknown;
}

/** Returns the pairs in a file beside this one. */
export function recorded(file: string): readonly Recorded[] {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  return parseJson(text).value as readonly Recorded[];
}

/** Returns a title for a pair. */
export function titleOf({ what, patch, doc, code }: Recorded): string {
  const text = what ?? `${stringifyJson(patch)} on ${stringifyJson(doc)}`;
  return `${code} ${text.length > 110 ? `${text.slice(0, 110)}…` : text}`;
}

/** Applies a pair and checks that `apply` throws only ApiErrors and changes none of its arguments. */
export function outcomeOf(apply: () => unknown, ...args: readonly unknown[]): { result?: unknown; error?: ApiError } {
  const before = args.map(stringifyJson);
  try {
    return { result: apply() };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { error };
  } finally {
    expect(args.map(stringifyJson), "the arguments").to.deep.equal(before);
  }
}

/** Compares by JSON's own equality: members named `__proto__` count, their order does not. */
export function expectJson(value: unknown, expected: unknown): void {
  if (!equalJson(value, expected)) expect(stringifyJson(value)).to.equal(stringifyJson(expected));
}
