import { dirname } from "node:path";
import { Failure } from "../usage.ts";

/** The stack without what is Node's and ours: the mistake is in between. */
export function problemOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  if (!(error instanceof Error)) return String(error);
  const ours = dirname(import.meta.dirname);
  const lines = (error.stack ?? error.message).split("\n");
  return lines.filter((line) => !(/^ +at /.test(line) && (line.includes("node:") || line.includes(ours)))).join("\n");
}
