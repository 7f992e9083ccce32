import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { KubeconfigOptions } from "./config.ts";
import { type ConfigEntry, KubeconfigError, stringIn } from "./config.ts";

/** The kubeconfigs that there are, the one that counts most first. @throws KubeconfigError on one that cannot be read */
export async function kubeconfigs({
  file,
  env = process.env,
}: KubeconfigOptions): Promise<{ file: string; content: JsonObject }[]> {
  if (file !== undefined) return [{ file, content: await parsed(file, await read(file)) }];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  const paths = listed.length > 0 ? [...new Set(listed)] : [join(env["HOME"] ?? homedir(), ".kube", "config")];
  const found: { file: string; content: JsonObject }[] = [];
  for (const path of paths) {
    const text = await read(path).catch((error: KubeconfigError) => {
      // As kubectl has it: a file that is not there is an empty one.
      if ((error.cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    });
    if (text !== undefined) found.push({ file: path, content: await parsed(path, text) });
  }
  return found;
}

/** The path that an entry gives, "" if it gives none. */
export function pathOf({ value, at, file }: ConfigEntry, field: string): string {
  const path = stringIn(value, field, at);
  return path === "" || isAbsolute(path) ? path : join(dirname(file), path);
}

/** PEM that an entry holds in base64, or has the path of. @throws KubeconfigError on what cannot be read, or is given twice */
export async function pemOf(entry: ConfigEntry, field: string): Promise<string> {
  const { value, at } = entry;
  const data = stringIn(value, `${field}-data`, at);
  const path = pathOf(entry, field);
  if (data !== "" && path !== "")
    throw new KubeconfigError(`${at}: ${field} and ${field}-data are both given: leave one out`);
  if (path !== "") return await read(path, `${at}.${field}`);
  const pem = Buffer.from(data, "base64").toString("utf8");
  if (data !== "" && !pem.includes("-----BEGIN "))
    throw new KubeconfigError(`${at}: ${field}-data is no base64 of PEM`);
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
    throw new KubeconfigError(`${file}: it is no kubeconfig, which begins with apiVersion: v1 and kind: Config`);
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
  // Takes 70 MiB and half a second: nobody is to pay for it who reads no YAML.
  const { loadYaml } = await import("@kubernetes/client-node");
  try {
    return loadYaml<unknown>(text);
  } catch (error) {
    // Its message shows what stands around the place, which may be a key, and its reason quotes from there.
    const { reason = "it is no YAML", mark } = error as { reason?: string; mark?: { line: number; column: number } };
    const place = mark === undefined ? "" : ` in line ${mark.line + 1}, column ${mark.column + 1}`;
    throw new KubeconfigError(`${file}: ${reason.replace(/["<].*/s, "…")}${place}`);
  }
}
