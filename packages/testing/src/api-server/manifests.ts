import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { parseAllDocuments } from "yaml";
import type { ManifestSource, Manifests } from "./options.ts";

/**
 * Reads objects, those of a `List` one by one.
 *
 * @param what name of the option, for errors
 * @throws Error on a missing file, a pattern without files, invalid YAML, and an object without apiVersion, kind or name
 */
export function readManifests(manifests: Manifests, what: string): readonly KubeObject[] {
  const sources: readonly ManifestSource[] = Array.isArray(manifests) ? manifests : [manifests as ManifestSource];
  return sources.flatMap((source) => objectsIn(source, what));
}

function objectsIn(source: ManifestSource, what: string): readonly KubeObject[] {
  if (source instanceof URL) return filesAt(fileURLToPath(source), what).flatMap((file) => objectsOfFile(file, what));
  if (typeof source !== "string") return listed(source, what);
  if (source.includes("\n")) return objectsOfText(source, what);
  return filesAt(source, what).flatMap((file) => objectsOfFile(file, what));
}

/** Returns the files of a path or pattern, in the order of their names. */
function filesAt(path: string, what: string): readonly string[] {
  if (path.includes("*")) {
    const files = globSync(path).sort();
    if (files.length > 0) return files;
    throw new Error(`${what}: no file matches ${JSON.stringify(path)} in ${process.cwd()}: correct the pattern`);
  }
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined)
    throw new Error(
      `${what}: file or folder ${JSON.stringify(path)} does not exist in ${process.cwd()}: correct the path, or add a line break to YAML text`,
    );
  if (!found.isDirectory()) return [path];
  const files = readdirSync(path).filter((name) => /\.(ya?ml|json)$/.test(name));
  if (files.length === 0) throw new Error(`${what}: folder ${JSON.stringify(path)} has no .yaml, .yml or .json file`);
  return files.sort().map((name) => join(path, name));
}

function objectsOfFile(file: string, what: string): readonly KubeObject[] {
  return objectsOfText(readFileSync(file, "utf8"), `${what}: ${file}`);
}

function objectsOfText(text: string, what: string): readonly KubeObject[] {
  return parseAllDocuments(text, { version: "1.1", merge: true }).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(`${what}: ${problem.message}`);
    const value: unknown = document.toJS();
    return value === null ? [] : listed(value, what);
  });
}

function listed(value: unknown, what: string): readonly KubeObject[] {
  const { apiVersion, kind, metadata, items } = (value ?? {}) as Partial<KubeObject> & { readonly items?: unknown };
  if (typeof apiVersion !== "string" || typeof kind !== "string")
    throw new Error(`${what}: object without apiVersion and kind: ${JSON.stringify(value)?.slice(0, 80)}`);
  if (kind.endsWith("List") && Array.isArray(items)) return items.flatMap((item) => listed(item, what));
  if (typeof metadata?.name !== "string") throw new Error(`${what}: ${kind} without metadata.name: give it a name`);
  return [value as KubeObject];
}
