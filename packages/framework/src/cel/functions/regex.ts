import { CelError } from "../cel-error.ts";
import { type LinearPattern, PatternCache } from "../pattern.ts";
import type { FunctionSpec } from "./signature.ts";

/** How many patterns of rules are kept compiled. */
const KEPT = 200;

/** Regular expressions, all of them matched in linear time. */
export function regexFunctions(): readonly FunctionSpec[] {
  const cache = new PatternCache(KEPT);
  const compiled = (source: string): LinearPattern => {
    try {
      return cache.get(source);
    } catch (error) {
      throw new CelError(error instanceof Error ? error.message : String(error));
    }
  };
  const matches = (text: string, pattern: string): boolean => compiled(pattern).test(text);
  return [
    ["matches(string, string) bool", matches],
    [".matches(string, string) bool", matches],
    [".find(string, string) string", (text: string, pattern: string) => compiled(pattern).findAll(text, 1)[0] ?? ""],
    [
      ".findAll(string, string) list(string)",
      (text: string, pattern: string) => compiled(pattern).findAll(text, Number.POSITIVE_INFINITY),
    ],
    [
      ".findAll(string, string, int) list(string)",
      (text: string, pattern: string, limit: bigint) =>
        compiled(pattern).findAll(text, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)),
    ],
  ];
}
