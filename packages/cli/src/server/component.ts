import type { Component } from "@virtual-workspaces/framework/server";
import type { Flag, FlagSet } from "../flags/table.ts";
import { version } from "../process/programs.ts";
import type { Gates } from "./gates.ts";

/** Word in place of a secret value, as in Kubernetes. */
const CLASSIFIED = "CLASSIFIED";

/** Returns what a command shows at `/statusz` and `/flagz`, unless gates turn them off. */
export function componentOf(
  name: string,
  { flags, values }: { readonly flags: FlagSet; readonly values: object },
  gates: Pick<Gates, "statusz" | "flagz">,
): Omit<Component, "authorize"> {
  return {
    name,
    version: version(),
    statusz: gates.statusz,
    ...(gates.flagz && { flags: printedFlags(flags, values as Readonly<Record<string, unknown>>) }),
  };
}

/** Formats flags as Go does. A flag without a value is "", as there. Security: without secrets, and passwords in URLs. */
function printedFlags(flags: FlagSet, values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, printed(flag, values[name])]));
}

function printed({ type, otherwise, classified = false }: Flag, value: unknown): string {
  if (type === "switch") return String(value ?? otherwise === "true");
  if (classified) return CLASSIFIED;
  if (type === "list" || type === "texts")
    return withoutPasswords(`[${((value ?? []) as readonly string[]).join(",")}]`);
  if (value === undefined) return "";
  return type === "duration" ? duration(value as number) : withoutPasswords(String(value));
}

/** Security: a URL may contain a user and a password. */
function withoutPasswords(text: string): string {
  return text.replace(/\/\/[^/?#\s]*@/g, `//${CLASSIFIED}@`);
}

/** Formats a duration as Go: `1m30s`, `500ms`, `0s`. */
function duration(ms: number): string {
  if (ms > 0 && ms < 1000) return `${ms}ms`;
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000];
  const head = hours > 0 ? `${hours}h${minutes}m` : minutes > 0 ? `${minutes}m` : "";
  return `${head}${seconds}s`;
}
