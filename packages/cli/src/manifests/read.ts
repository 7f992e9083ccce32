import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { hookModules } from "../dev/modules.ts";
import { problemOf } from "../dev/problem.ts";
import { Failure } from "../usage.ts";

const REMEDY = "Write `export const manifests: Manifests = [ … ]`, with the type from @virtual-workspaces/kcp.";

/**
 * What modules say that they need: their named export `manifests`. A module is a file, or a package that is found from the working
 * directory; it is imported, and runs with the rights of this process.
 *
 * @throws Failure naming the module and what is wrong
 */
export async function readManifests(modules: readonly string[]): Promise<readonly KubeObject[]> {
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
  const place = placeOf(name);
  try {
    return (await import(place)) as { readonly manifests?: unknown };
  } catch (error) {
    throw new Failure(`${name} cannot be loaded: ${problemOf(error)}`, { cause: error });
  }
}

function placeOf(name: string): string {
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
