import {
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  type JsonSchema,
  resolveFieldPath,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { CrdSelectableField } from "../definition/definition.ts";

/** How many fields of a version selectors may name. */
const MOST = 8;

const SCALAR =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";

/** What is wrong with selectable fields (ValidateCustomResourceSelectableFields). `unchanged`: there were as many before. */
export function* selectableProblems(
  fields: readonly CrdSelectableField[],
  { schema, path, unchanged }: { readonly schema: JsonSchema; readonly path: string; readonly unchanged: boolean },
): Generator<StatusCause, void> {
  const known = new Set<string>();
  for (const [at, { jsonPath }] of fields.entries()) {
    const field = `${path}[${at}].jsonPath`;
    if (jsonPath === "") {
      yield fieldRequired(field);
      continue;
    }
    const found = resolveFieldPath(jsonPath, schema, { brackets: false });
    if (typeof found === "string") {
      yield fieldInvalid(field, jsonPath, `is an invalid path: ${found}`);
      continue;
    }
    if (/^metadata(?![^.[])/.test(found.path))
      yield fieldInvalid(field, jsonPath, "must not point to fields in metadata");
    if (!["string", "boolean", "integer"].includes(found.schema?.type ?? ""))
      yield fieldInvalid(field, jsonPath, SCALAR);
    if (known.has(found.path)) yield fieldDuplicate(field, jsonPath);
    known.add(found.path);
  }
  if (known.size > MOST && !unchanged) yield fieldTooMany(path, known.size, MOST);
}
