import { Optional } from "@marcbachmann/cel-js";
import { CelError } from "../values/formatted.ts";
import { ObjectPartValue, ObjectValue, PatchValue } from "../values/object-value.ts";
import type { FunctionSpec } from "./signature.ts";

/** Functions that replace the literals of `Object` and `JSONPatch`, which the library cannot parse. */
export const LITERAL_FUNCTIONS = { root: "__Object", part: "__ObjectPart", patch: "__JSONPatch" } as const;

/** Prefix of the key of an optional field: `Object{?spec: …}`. */
export const OPTIONAL_FIELD = "?";

/** Functions of expressions that evaluate to patches. */
export const PATCHES: readonly FunctionSpec[] = [
  [`${LITERAL_FUNCTIONS.root}(dyn) object`, (fields: unknown) => new ObjectValue("Object", fieldsOf(fields))],
  [
    `${LITERAL_FUNCTIONS.part}(string, dyn) objectPart`,
    (type: string, fields: unknown) => new ObjectPartValue(type, fieldsOf(fields)),
  ],
  [`${LITERAL_FUNCTIONS.patch}(dyn) patch`, (fields: unknown) => new PatchValue(patchFields(fieldsOf(fields)))],
  ["jsonpatch.escapeKey(string) string", (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1")],
];

function fieldsOf(entries: unknown): ReadonlyMap<string, unknown> {
  if (!(entries instanceof Map)) throw new CelError("no such overload");
  const fields = new Map<string, unknown>();
  for (const [key, value] of entries as Map<string, unknown>) {
    if (!key.startsWith(OPTIONAL_FIELD)) fields.set(key, value);
    else if (!(value instanceof Optional)) throw new CelError("no such overload");
    else if (value.hasValue()) fields.set(key.slice(OPTIONAL_FIELD.length), value.value());
  }
  return fields;
}

const TEXTS: readonly string[] = ["op", "path", "from"];

function patchFields(fields: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  for (const [name, value] of fields) {
    if (name === "value") continue;
    if (!TEXTS.includes(name)) throw new CelError(`unexpected JSONPatchType field: ${name}`);
    if (typeof value !== "string") throw new CelError(`unexpected type for JSONPatchType '${name}' field`);
  }
  return fields;
}
