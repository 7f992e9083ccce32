import { createRequire } from "node:module";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";

/** Go parses `yes` and `012` as YAML 1.1, so such strings must be quoted. */
const STYLE = { aliasDuplicateObjects: false, lineWidth: 0, version: "1.1" } as const;

/** Converts a JSON document to YAML like Kubernetes' own serializer: keys in their order, no anchors, no folding. */
export function yamlOf(json: Buffer): Buffer {
  return Buffer.from(stringify(parsed(json)));
}

/**
 * Converts a list of at least one item to the bytes of {@link yamlOf}, in pieces of one item each.
 *
 * @param frame the list without items, as JSON; its last member is the empty array
 */
export function* yamlList(frame: Buffer, items: Iterable<Buffer>): Generator<Buffer, void> {
  const others = parsed(frame) as JsonObject;
  const name = Object.keys(others).at(-1) as string;
  delete others[name];
  yield Buffer.from(`${Object.keys(others).length > 0 ? stringify(others) : ""}${name}:\n`);
  for (const item of items) yield Buffer.from(`  ${stringify([parsed(item)]).replace(/\n(?=[^\n])/g, "\n  ")}`);
}

const parsed = (json: Buffer): unknown => parseOwnJson(json.toString("utf8"));

function stringify(value: unknown): string {
  // Loaded on first use: most servers never need it.
  const yaml = createRequire(import.meta.url)("yaml") as typeof import("yaml");
  return yaml.stringify(value, STYLE);
}
