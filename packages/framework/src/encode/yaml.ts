import { createRequire } from "node:module";

/** YAML of a JSON document, as Kubernetes' own serializer writes it: keys in their order, no anchors, no folding. */
export function yamlOf(json: Buffer): Buffer {
  // Loaded when first asked for: most servers never are.
  const { stringify } = createRequire(import.meta.url)("yaml") as typeof import("yaml");
  return Buffer.from(stringify(JSON.parse(json.toString("utf8")), { aliasDuplicateObjects: false, lineWidth: 0 }));
}
