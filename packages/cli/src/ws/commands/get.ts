import { formatGroupResource, isApiError, isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { DiscoveredKind } from "@virtual-workspaces/client";
import { Failure, UsageError } from "../../usage.ts";
import { AtOnce } from "../at-once.ts";
import { note, say, type WsCommand } from "../command.ts";
import type { Values } from "../flags.ts";
import { type Asked, isUnserved, pagesOf } from "../get/lists.ts";
import { type Found, objectsOf, tableOf } from "../get/table.ts";
import type { Session } from "../session.ts";
import { ownPaths, problemsIn } from "../tree/node.ts";
import { treeAt } from "../tree/read.ts";

/** How many workspaces are asked at once. */
const AT_ONCE = 8;
const FORMATS: readonly string[] = ["", "wide", "name", "json", "yaml"];

export const get: WsCommand = {
  usage: "get <kind> -r [-l <labels>] [-n <namespace> | -A] [-o wide|name|json|yaml] [-w <workspace>]",
  flags: ["recursive", "output", "selector", "all-namespaces", "workspace"],
  words: [1, 1],
  async run(session, [resource = ""], values) {
    const { recursive, output = "" } = values;
    if (recursive !== true)
      throw new UsageError("for one workspace kubectl get does this: give -r for all that are below as well");
    if (!FORMATS.includes(output)) throw new UsageError(`-o ${output}: give wide, name, json or yaml`);
    const tree = await treeAt(session, session.pathOf(values.workspace));
    for (const { path, problem } of problemsIn(tree)) note(`${path} cannot be looked into: ${problem}`);
    const found = await lookedFor(session, ownPaths(tree), { resource, values });
    await show(found, { values, path: tree.path });
  },
};

interface Search {
  readonly resource: string;
  readonly values: Values;
}

/** In the order of the workspaces. @throws Failure when none of them has such a kind */
async function lookedFor(session: Session, paths: readonly string[], search: Search): Promise<readonly Found[]> {
  const atOnce = new AtOnce(AT_ONCE);
  const answers = await Promise.all(paths.map((path) => atOnce.run(() => foundIn(session, path, search))));
  const found = answers.filter((one) => one !== undefined);
  if (found.length > 0) return found;
  throw new Failure(`no workspace here has a resource ${JSON.stringify(search.resource)}, or lets you list it`);
}

/** `undefined`: there is no such kind there, or not for this user, who is told so. */
async function foundIn(session: Session, path: string, { resource, values }: Search): Promise<Found | undefined> {
  try {
    // A workspace may have another version of a kind, or another kind of that name.
    const kind = await session.client(path).discovery().findResource(resource, session.patience);
    if (kind === undefined) return undefined;
    return { path, kind, pages: await pagesOf(session, path, askedOf(session, kind, values)) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (!isUnserved(error)) note(`${path}: ${error.message}`);
    return undefined;
  }
}

function askedOf(session: Session, kind: DiscoveredKind, values: Values): Asked {
  const { output = "", selector: labels } = values;
  const as = output === "" || output === "wide" ? "Table" : "objects";
  return { kind, namespace: values["all-namespaces"] ? "" : session.namespace, labels, as };
}

async function show(
  found: readonly Found[],
  { values, path }: { readonly values: Values; readonly path: string },
): Promise<void> {
  const { output = "" } = values;
  if (output === "json" || output === "yaml") {
    const list = { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "" }, items: found.flatMap(objectsOf) };
    if (output === "json") say(JSON.stringify(list, undefined, 4));
    else say((await import("yaml")).stringify(list, { version: "1.1" }).trimEnd());
  } else if (found.every((one) => objectsOf(one).length === 0)) note(`No resources found in ${path} and below.`);
  else if (output === "name") {
    for (const one of found) for (const object of objectsOf(one)) say(`${one.path} ${nameOf(one.kind, object)}`);
  } else {
    const namespaces = values["all-namespaces"] === true && found.some(({ kind }) => kind.scope === "Namespaced");
    say(tableOf(found, { wide: output === "wide", namespaces }));
  }
}

/** `deployment.apps/web`, as kubectl has it. */
function nameOf({ group, singular, kind }: DiscoveredKind, { metadata }: JsonObject): string {
  const resource = formatGroupResource({ group, resource: singular || kind.toLowerCase() });
  return `${resource}/${isJsonObject(metadata) ? metadata["name"] : ""}`;
}
