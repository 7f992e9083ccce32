import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { readFlags } from "../flags/read.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { MANIFESTS, type ManifestsFlags } from "./flags.ts";
import { imported } from "./modules.ts";
import { readRbac } from "./rbac.ts";

/** Runs `virtual-workspaces manifests`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { values, words } = readFlags(args, MANIFESTS);
  const { output, rbac, apply } = values;
  if (words.length === 0 && rbac !== true)
    throw new UsageError(
      "no module given: name files of views, or packages, as in virtual-workspaces manifests ./view.ts",
    );
  if (output !== "yaml" && output !== "json")
    throw new UsageError(`invalid value "${output}" for --output: use yaml or json`);
  if (rbac !== true) refuseNeedless(values, "rbac", ["user", "group", "name"]);
  if (apply !== true) refuseNeedless(values, "apply", ["kubeconfig", "context", "timeout"]);
  const items = rbac === true ? await readRbac(words, values) : await readManifests(words);
  if (apply === true) return (await import("./apply.ts")).applied(items, values);
  const text =
    output === "json"
      ? `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, undefined, 2)}\n`
      : items.map(yamlOf).join("---\n");
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  return 0;
}

/** @throws UsageError for a flag that needs another one */
function refuseNeedless(flags: ManifestsFlags, main: string, names: readonly (keyof ManifestsFlags)[]): void {
  const needless = names.find((name) => flags[name] !== undefined);
  if (needless !== undefined) throw new UsageError(`--${needless} has no effect without --${main}: set both`);
}

const REMEDY = "Write `export const manifests: Manifests = [ … ]`, with the type from @virtual-workspaces/workspaces.";

/** Returns the named export `manifests` of the modules. @throws Failure naming the module and the problem */
async function readManifests(modules: readonly string[]): Promise<readonly KubeObject[]> {
  const all = new Map<string, { readonly object: KubeObject; readonly text: string; readonly from: string }>();
  for (const name of modules) {
    for (const object of await manifestsOf(name)) {
      const [id, text] = [idOf(object), JSON.stringify(object)];
      const known = all.get(id);
      if (known !== undefined && known.text !== text)
        throw new Failure(
          `${name}: its ${id} differs from that of ${known.from}: the two modules cannot be installed together`,
        );
      all.set(id, { object, text, from: name });
    }
  }
  return [...all.values()].map(({ object }) => object).sort((one, other) => turnOf(one) - turnOf(other));
}

async function manifestsOf(name: string): Promise<readonly KubeObject[]> {
  const { manifests } = await imported(name);
  if (manifests === undefined) throw new Failure(`${name} has no export "manifests". ${REMEDY}`);
  if (!Array.isArray(manifests)) throw new Failure(`${name}: its export "manifests" is not a list. ${REMEDY}`);
  return manifests.map((object: unknown, at) => {
    const problem = problemIn(object);
    if (problem !== undefined) throw new Failure(`${name}: manifests[${at}] ${problem}`);
    return object as KubeObject;
  });
}

function problemIn(object: unknown): string | undefined {
  if (!isJsonObject(object)) return "is not an object";
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

/** Kinds that others depend on come first. */
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

/** Text without quotes that YAML 1.1 and 1.2 both read as a string. */
const PLAIN = /^(?!e[-\d])[a-z/][a-z0-9._/-]*$/i;
const WORDS: ReadonlySet<string> = new Set(["true", "false", "yes", "no", "on", "off", "null", "y", "n"]);

/** Formats a JSON value as a YAML document that ends with a newline. Ambiguous strings are in double quotes, as in JSON. */
export function yamlOf(value: unknown): string {
  return block(value, "").replace(/^\n?/, "").replace(/^ /, "").concat("\n");
}

/** Returns the text after `key:` or `-`. */
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

/** Indents lists like their key, as `kubectl` does. */
function deeper(value: unknown, indent: string): string {
  return Array.isArray(value) ? indent : `${indent}  `;
}

/** The first line of an item follows its dash. */
function inItem(item: unknown, indent: string): string {
  const text = block(item, indent);
  return text.startsWith("\n") ? ` ${text.slice(1 + indent.length)}` : text;
}

function scalar(value: unknown): string {
  if (typeof value === "string" && PLAIN.test(value) && !WORDS.has(value.toLowerCase())) return value;
  return JSON.stringify(value);
}
