import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { KubeconfigOptions } from "./config.ts";
import { type ConfigEntry, KubeconfigError, stringIn } from "./config.ts";

/** Returns the existing kubeconfigs, the most important first. @throws KubeconfigError for an unreadable file */
export async function kubeconfigs({
  file,
  env = process.env,
}: KubeconfigOptions): Promise<{ file: string; content: JsonObject }[]> {
  if (file !== undefined) return [{ file, content: await parsed(file, await read(file)) }];
  const found: { file: string; content: JsonObject }[] = [];
  for (const path of kubeconfigPaths(env)) {
    const text = await read(path).catch((error: KubeconfigError) => {
      // Like kubectl, treat a missing file as empty.
      if ((error.cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    });
    if (text !== undefined) found.push({ file: path, content: await parsed(path, text) });
  }
  return found;
}

/** Returns the paths of kubeconfigs, the most important first, whether they exist or not. */
export function kubeconfigPaths(env: NonNullable<KubeconfigOptions["env"]>): readonly string[] {
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  return listed.length > 0 ? [...new Set(listed)] : [join(env["HOME"] ?? homedir(), ".kube", "config")];
}

/** Returns the path in an entry's field, "" if it is missing. */
export function pathOf({ value, at, file }: ConfigEntry, field: string): string {
  const path = stringIn(value, field, at);
  return path === "" || isAbsolute(path) ? path : join(dirname(file), path);
}

/**
 * Returns PEM from an entry: base64 in one field, or the path of a file in the other.
 * @throws KubeconfigError if it is unreadable, or both are set
 */
export async function pemOf(entry: ConfigEntry, field: string): Promise<string> {
  const { value, at } = entry;
  const data = stringIn(value, `${field}-data`, at);
  const path = pathOf(entry, field);
  if (data !== "" && path !== "")
    throw new KubeconfigError(`${at}: ${field} and ${field}-data are both set: remove one`);
  if (path !== "") return await read(path, `${at}.${field}`);
  const pem = Buffer.from(data, "base64").toString("utf8");
  if (data !== "" && !pem.includes("-----BEGIN "))
    throw new KubeconfigError(`${at}: ${field}-data is not PEM in base64: encode the PEM file with base64`);
  return pem;
}

async function read(path: string, at = "kubeconfig"): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new KubeconfigError(`${at}: ${path} cannot be read: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}

async function parsed(file: string, text: string): Promise<JsonObject> {
  if (text.trim() === "") return {};
  const content = text.trimStart().startsWith("{") ? jsonOf(text) : undefined;
  const value = content ?? (await yamlOf(file, text));
  if (!isJsonObject(value))
    throw new KubeconfigError(`${file}: not a kubeconfig: it must begin with apiVersion: v1 and kind: Config`);
  return value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function yamlOf(file: string, text: string): Promise<unknown> {
  // Loaded on demand: most clients read no kubeconfig in YAML.
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  // Security: messages of the parser quote the file, which may hold a key.
  const document = parseDocument(text, { merge: true, prettyErrors: false, logLevel: "silent", lineCounter: lines });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) {
    const { line, col } = lines.linePos(problem.pos[0]);
    throw new KubeconfigError(`${file}: invalid YAML in line ${line}, column ${col} (${problem.code}): correct it`);
  }
  try {
    return document.toJS();
  } catch {
    throw new KubeconfigError(
      `${file}: an alias has no anchor, or there are too many aliases: write the values instead`,
    );
  }
}
