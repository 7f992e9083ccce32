import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Replaces a file atomically, with access for its owner only. */
export function writePrivately(path: string, text: string): void {
  const beside = temporaryPath(path);
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
}

/** Creates a file atomically, with access for its owner only. @returns false if it exists */
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

/** Returns the text of a file, or `undefined` if it does not exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** Returns the object in a JSON file, or `undefined` if it does not exist. */
export function objectIn(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(readIfThere(path) ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the code of a system error, or "" for any other. */
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

/** A random suffix, since two managers may write at once. */
const temporaryPath = (path: string): string => `${path}.${randomBytes(6).toString("hex")}.new`;
