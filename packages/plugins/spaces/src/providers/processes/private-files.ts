import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Writes a file for its owner alone, so that a reader sees the old one or the new one, never a part. */
export function writePrivately(path: string, text: string): void {
  const beside = temporaryPath(path);
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
}

/** Makes a file for its owner alone, whole or not at all. @returns whether there was none */
export function createPrivately(path: string, text: string): boolean {
  const beside = temporaryPath(path);
  writeFileSync(beside, text, { mode: 0o600 });
  try {
    linkSync(beside, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(beside, { force: true });
  }
}

/** The text of a file; `undefined`: there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** The object in a file of JSON; `undefined`: there is none. */
export function objectIn(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(readIfThere(path) ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Of an error of the system; "" of others. */
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

/** Two managers write at once. */
const temporaryPath = (path: string): string => `${path}.${randomBytes(6).toString("hex")}.new`;
