// Finds the differences between the answers of two servers.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { Answer } from "./play.ts";
import { type Case, describeStep } from "./step.ts";

/** Member with different values, undefined where it is missing. */
export interface Difference {
  /** `<step, from 1>/body/metadata/name`. */
  readonly at: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Returns all differences, in the order of the steps. */
export function differences(expected: readonly Answer[], actual: readonly Answer[]): Difference[] {
  return expected.flatMap((answer, step) => [...walk(`${step + 1}`, answer, actual[step])]);
}

function* walk(at: string, expected: unknown, actual: unknown): Generator<Difference> {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) yield { at, expected, actual };
    else for (const [index, item] of expected.entries()) yield* walk(`${at}/${index}`, item, actual[index]);
  } else if (isJsonObject(expected) && isJsonObject(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)]))
      yield* walk(`${at}/${name}`, expected[name], actual[name]);
  } else if (expected !== actual) yield { at, expected, actual };
}

/** Describes the requests and the differing answers. */
export function explain({ steps }: Case, found: readonly Difference[]): string {
  const sent = steps.map((step, at) => `  ${at + 1} ${describeStep(step)}${bodyOf(step)}`);
  const lines = found.map(
    ({ at, expected, actual }) => `  ${at}\n    oracle ${show(expected)}\n    ours   ${show(actual)}`,
  );
  return `\n${sent.join("\n")}\nAnswers differ:\n${lines.join("\n")}`;
}

function bodyOf(step: object): string {
  const { body, text, base } = step as { body?: unknown; text?: string; base?: string };
  const shown = body === undefined ? text : stringifyJson(body);
  return `${base === undefined ? "" : ` ${base} with`}${shown === undefined ? "" : ` ${shown.slice(0, 300)}`}`;
}

function show(value: unknown): string {
  const text = value === undefined ? "nothing" : stringifyJson(value);
  return text.length > 1200 ? `${text.slice(0, 1200)}…` : text;
}
