// Recorded results of Kubernetes' own packages (k8s.io/apiextensions-apiserver 0.37.2) for the same schemas and objects:
// written by hand, or generated at random and kept for their new results.
import { readFileSync } from "node:fs";
import type { JsonObject, JsonSchema, StatusCause } from "@virtual-workspaces/apimachinery";
import { parseJson } from "@virtual-workspaces/apimachinery/json";

export interface ValueCase {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  readonly expect: {
    readonly malformed?: true;
    readonly unknown: readonly string[];
    readonly object: JsonObject;
    readonly causes: readonly StatusCause[];
    readonly status?: readonly StatusCause[];
  };
}

export interface ProblemCase {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly status: boolean;
  readonly causes: readonly StatusCause[];
}

export interface FormatCase {
  readonly format: string;
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

export interface RuleCase {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly object: JsonObject;
  readonly old: JsonObject;
  readonly faults: readonly string[];
  readonly uncorrelatable: readonly string[];
}

interface Cases {
  readonly values: ValueCase;
  readonly problems: ProblemCase;
  readonly formats: FormatCase;
  readonly rules: RuleCase;
}

export function load<K extends keyof Cases>(name: K): readonly Cases[K][] {
  const text = readFileSync(new URL(`./cases/${name}.snapshot.json`, import.meta.url), "utf8");
  return parseJson(text).value as readonly Cases[K][];
}

/** Sorts causes independently of the order of members, which Kubernetes does not keep. */
export function sorted(causes: readonly StatusCause[]): StatusCause[] {
  const key = ({ field, message, reason }: StatusCause): string => `${field}\0${message}\0${reason}`;
  return [...causes].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
