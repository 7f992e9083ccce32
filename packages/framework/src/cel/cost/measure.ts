import { isJsonObject, memberOf } from "@virtual-workspaces/apimachinery";
import { unescapeName } from "../types/escape.ts";
import type { Reads } from "../values/json.ts";
import type { Caps } from "./size.ts";

/** More values than that are not counted: they are too many to be looked at in place. */
export const MAX_NODES = 20_000;

/** How large the parts of values are that an expression reads. */
export function measure(parts: readonly (readonly [json: unknown, reads: Reads])[]): Caps {
  const caps = { list: 1, text: 1, nodes: 0 };
  const visit = (json: unknown, reads: Reads): void => {
    if (++caps.nodes > MAX_NODES) return;
    if (typeof json === "string") caps.text = Math.max(caps.text, json.length);
    else if (Array.isArray(json)) {
      caps.list = Math.max(caps.list, json.length);
      for (let at = 0; at < json.length && caps.nodes <= MAX_NODES; at++) visit(json[at], "all");
    } else if (isJsonObject(json)) {
      if (reads !== "all") {
        for (const [name, inner] of reads) visit(memberOf(json, unescapeName(name) ?? name), inner);
        return;
      }
      const names = Object.keys(json);
      caps.list = Math.max(caps.list, names.length);
      for (const name of names) {
        if (caps.nodes > MAX_NODES) return;
        caps.text = Math.max(caps.text, name.length);
        visit(json[name], "all");
      }
    }
  };
  for (const [json, reads] of parts) visit(json, reads);
  return caps;
}
