import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { readFlags } from "../flags/read.ts";
import { Failure, problemOf, UsageError } from "../process/failure.ts";
import { hookModules } from "../views/load.ts";
import { MANIFESTS } from "./flags.ts";

/** Runs `virtual-workspaces manifests`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { values, words } = readFlags(args, MANIFESTS);
  const { output } = values;
  if (words.length === 0)
    throw new UsageError("name files of views, or packages: virtual-workspaces manifests ./view.ts");
  if (output !== "yaml" && output !== "json") throw new UsageError(`-o ${output}: give yaml or json`);
  const items = await readManifests(words);
  const text =
    output === "json"
      ? `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, undefined, 2)}\n`
      : items.map(yamlOf).join("---\n");
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  return 0;
}

const REMEDY = "Write `export const manifests: Manifests = [ … ]`, with the type from @virtual-workspaces/kcp.";

/**
 * What modules say that they need: their named export `manifests`. A module is a file, or a package that is found from the working
 * directory; it is imported, and runs with the rights of this process.
 *
 * @throws Failure naming the module and what is wrong
 */
async function readManifests(modules: readonly string[]): Promise<readonly KubeObject[]> {
  hookModules(() => undefined);
  const all = new Map<string, { readonly object: KubeObject; readonly text: string; readonly from: string }>();
  for (const name of modules) {
    for (const object of await manifestsOf(name)) {
      const [id, text] = [idOf(object), JSON.stringify(object)];
      const known = all.get(id);
      if (known !== undefined && known.text !== text)
        throw new Failure(
          `${name}: its ${id} is another than that of ${known.from}: both cannot be installed together`,
        );
      all.set(id, { object, text, from: name });
    }
  }
  return [...all.values()].map(({ object }) => object).sort((one, other) => turnOf(one) - turnOf(other));
}

async function manifestsOf(name: string): Promise<readonly KubeObject[]> {
  const { manifests } = await imported(name);
  if (manifests === undefined) throw new Failure(`${name}: it does not say what it needs. ${REMEDY}`);
  if (!Array.isArray(manifests)) throw new Failure(`${name}: its manifests are no list. ${REMEDY}`);
  return manifests.map((object: unknown, at) => {
    const problem = problemIn(object);
    if (problem !== undefined) throw new Failure(`${name}: manifests[${at}] ${problem}`);
    return object as KubeObject;
  });
}

async function imported(name: string): Promise<{ readonly manifests?: unknown }> {
  const place = moduleUrl(name);
  try {
    return (await import(place)) as { readonly manifests?: unknown };
  } catch (error) {
    throw new Failure(`${name} cannot be loaded: ${problemOf(error)}`, { cause: error });
  }
}

function moduleUrl(name: string): string {
  if (existsSync(name)) return pathToFileURL(resolve(name)).href;
  try {
    return pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href;
  } catch {
    throw new Failure(`${name}: there is no such file or package in ${process.cwd()}`);
  }
}

function problemIn(object: unknown): string | undefined {
  if (!isJsonObject(object)) return "is no object";
  const { apiVersion, kind, metadata } = object;
  if (!isName(apiVersion) || !isName(kind)) return "has no apiVersion or no kind";
  if (!isJsonObject(metadata) || !isName(metadata["name"])) return `of kind ${kind} has no metadata.name`;
  return undefined;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function idOf({ apiVersion, kind, metadata }: KubeObject): string {
  const place = metadata.namespace === undefined ? "" : `${metadata.namespace}/`;
  return `${kind}.${apiVersion} ${place}${metadata.name}`;
}

/** What others need comes first. */
const ORDER: readonly string[] = [
  "Namespace",
  "CustomResourceDefinition",
  "APIResourceSchema",
  "APIExport",
  "ServiceAccount",
  "ClusterRole",
  "Role",
  "ClusterRoleBinding",
  "RoleBinding",
];

function turnOf({ kind = "" }: KubeObject): number {
  const at = ORDER.indexOf(kind);
  return at < 0 ? ORDER.length : at;
}

/** Read alike by YAML 1.1 and 1.2, and by nobody as something else than a text. */
const PLAIN = /^(?!e[-\d])[a-z/][a-z0-9._/-]*$/i;
const WORDS: ReadonlySet<string> = new Set(["true", "false", "yes", "no", "on", "off", "null", "y", "n"]);

/** A value of JSON as a document of YAML, with a line's end. Texts that could be anything else are in double quotes, as in JSON. */
export function yamlOf(value: unknown): string {
  return block(value, "").replace(/^\n?/, "").replace(/^ /, "").concat("\n");
}

/** What comes behind `key:` or `-`. */
function block(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return " []";
    return value.map((item: unknown) => `\n${indent}-${inItem(item, `${indent}  `)}`).join("");
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    if (members.length === 0) return " {}";
    return members
      .map(([key, member]) => `\n${indent}${scalar(key)}:${block(member, deeper(member, indent))}`)
      .join("");
  }
  return ` ${scalar(value)}`;
}

/** Lists stand as far left as their key, as `kubectl` prints them. */
function deeper(value: unknown, indent: string): string {
  return Array.isArray(value) ? indent : `${indent}  `;
}

/** The first line of an item is behind its dash. */
function inItem(item: unknown, indent: string): string {
  const text = block(item, indent);
  return text.startsWith("\n") ? ` ${text.slice(1 + indent.length)}` : text;
}

function scalar(value: unknown): string {
  if (typeof value === "string" && PLAIN.test(value) && !WORDS.has(value.toLowerCase())) return value;
  return JSON.stringify(value);
}
