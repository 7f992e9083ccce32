import { createRequire } from "node:module";
import { parseOwnJson } from "@virtual-workspaces/apimachinery";

/** Go's YAML reads `yes` and `012` as YAML 1.1 does: texts like these must be quoted for it. */
const STYLE = { aliasDuplicateObjects: false, lineWidth: 0, version: "1.1" } as const;

/** YAML of a JSON document, as Kubernetes' own serializer writes it: keys in their order, no anchors, no folding. */
export function yamlOf(json: Buffer): Buffer {
  // Loaded when first asked for: most servers never are.
  const { stringify } = createRequire(import.meta.url)("yaml") as typeof import("yaml");
  return Buffer.from(stringify(parseOwnJson(json.toString("utf8")), STYLE));
}
