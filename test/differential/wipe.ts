// Deletes the objects of earlier cases from a server, for all kinds in the last case.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import type { Caller } from "./caller.ts";
import type { Step } from "./step.ts";

interface Found {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly finalizers?: readonly string[] };
}

/** Deletes all objects of the kinds in `steps`, even with finalizers. */
export async function wipe(caller: Caller, steps: readonly Step[]): Promise<void> {
  if (caller.target.reset !== undefined) return caller.target.reset();
  for (const { version, plural } of kindsIn(steps)) {
    const { status, text } = await caller.call({ method: "GET", path: `${version}/${plural}`, headers: {} });
    if (status === 404) continue; // the kind of the case does not exist
    const list = parseOwnJson(text);
    if (!isJsonObject(list) || !Array.isArray(list["items"])) throw new Error(`cannot list ${plural}: ${text}`);
    for (const { metadata } of list["items"] as Found[]) {
      const { name, namespace, finalizers } = metadata;
      const path = `${version}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plural}/${name}`;
      const headers = { "content-type": "application/json-patch+json" };
      const body = JSON.stringify([{ op: "remove", path: "/metadata/finalizers" }]);
      if (finalizers !== undefined) await caller.call({ method: "PATCH", path, headers, body });
      await caller.call({ method: "DELETE", path, headers: {} });
    }
    await caller.call({ method: "GET", path: `${version}/${plural}`, headers: {} }); // updates watch caches
  }
}

function kindsIn(steps: readonly Step[]): { version: string; plural: string }[] {
  const kinds = new Map<string, { version: string; plural: string }>();
  for (const step of steps) {
    const path = "send" in step ? step.send : "watch" in step ? step.watch : "";
    const [, version, plural] =
      /(\/apis\/oracle\.dev\/v1)\w*(?:\/namespaces\/[^/?]+)?\/(\w+s)(?=[/?]|$)/.exec(path) ?? [];
    if (version !== undefined && plural !== undefined) kinds.set(plural, { version, plural });
  }
  return [...kinds.values()];
}
