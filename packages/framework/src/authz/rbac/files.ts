import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { siblingModule } from "../../util/worker/pool.ts";
import { checkedObject } from "./check.ts";
import type { RbacObject } from "./objects.ts";

/** How much a file's text may come to: files are the operator's own. */
const MAX_BYTES = 64 * 2 ** 20;

/** The objects in a file, or in the files of a folder, by name. @throws Error that names the file and the document */
export function readObjects(path: string): readonly RbacObject[] {
  const files = statSync(path).isDirectory() ? filesIn(path) : [path];
  return files.flatMap((file) => documents(file).flatMap(({ value, place }) => objectsIn(value, place)));
}

function filesIn(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/i.test(name));
  if (names.length === 0) throw new Error(`rbac: there is no .yaml, .yml or .json file in ${folder}`);
  return names.sort().map((name) => join(folder, name));
}

interface Document {
  readonly value: unknown;
  readonly place: string;
}

function documents(file: string): readonly Document[] {
  const { parseYaml } = yaml();
  let lines = 0;
  return readFileSync(file, "utf8")
    .split(/^---(?=\s|$)/m)
    .flatMap((text, at) => {
      // As many empty lines as were before it, so that a fault names the line of the file.
      const padded = "\n".repeat(lines) + text;
      lines += text.split("\n").length - 1;
      const place = `${file}, document ${at + 1}`;
      const { value, duplicates } = named(place, () => parseYaml(padded, MAX_BYTES));
      if (duplicates.length > 0) throw new Error(`rbac: ${place}: ${duplicates.join("; ")}`);
      return value === undefined || value === null ? [] : [{ value, place }];
    });
}

/** A list's objects, of whatever kind of list. */
function objectsIn(value: unknown, place: string): readonly RbacObject[] {
  if (!isJsonObject(value) || !Array.isArray(value["items"])) return [named(place, () => checkedObject(value))];
  const kind = String(value["kind"]);
  return value["items"].map((item: unknown, at) =>
    named(`${place}, items[${at}]`, () => checkedObject(typed(item, kind))),
  );
}

/** Objects of a RoleList need not say what they are. */
function typed(item: unknown, list: string): unknown {
  if (!isJsonObject(item) || item["kind"] !== undefined || list === "List") return item;
  return { ...item, kind: list.replace(/List$/, "") };
}

function named<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`rbac: ${place}: ${message.replace(/^rbac: /, "")}`, { cause: error });
  }
}

/** Loaded with the first file: its library would take as long to load as much of the rest. */
function yaml(): typeof import("../../body/yaml/parse.ts") {
  const file = fileURLToPath(siblingModule("../../body/yaml/parse", import.meta.url));
  return createRequire(import.meta.url)(file) as typeof import("../../body/yaml/parse.ts");
}
