import type { Completion, CompletionContext, CompletionSource } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { type Place, placeAt } from "../schema/place.ts";
import type { FieldSchema } from "../schema/schema.ts";

/** Completes names of fields and, where the schema lists them, values. */
export function completeFields(schemaOf: () => FieldSchema | undefined): CompletionSource {
  return (context) => {
    const schema = schemaOf();
    const place = schema === undefined ? undefined : placeOf(context);
    if (schema === undefined || place === undefined) return null;
    if (!context.explicit && place.typed === "" && place.key === undefined) return null;
    const map = schema.at(place.parent);
    const options = place.key === undefined ? names(map, place, context) : values(map?.field(place.key));
    if (options.length === 0) return null;
    return { from: context.pos - place.typed.length, options, validFor: /^[\w./-]*$/ };
  };
}

/** No fields are completed within comments, quotes and blocks of text. */
function placeOf({ state, pos }: CompletionContext): Place | undefined {
  if (/Comment|BlockLiteralContent|Quoted/.test(syntaxTree(state).resolveInner(pos, -1).name)) return undefined;
  const line = state.doc.lineAt(pos);
  return placeAt(state.doc.toString().split("\n"), line.number - 1, line.text.slice(0, pos - line.from));
}

function names(map: FieldSchema | undefined, place: Place, { state, pos }: CompletionContext): Completion[] {
  if (map === undefined) return [];
  const line = state.doc.lineAt(pos);
  const hasColon = /^[\w./-]*\s*:/.test(line.text.slice(pos - line.from));
  const found: Completion[] = [];
  for (const name of map.names) {
    const field = map.field(name);
    if (field === undefined || place.siblings.has(name)) continue;
    const isRequired = map.required.includes(name);
    found.push({
      label: name,
      detail: isRequired ? `${field.typeName}, required` : field.typeName,
      apply: hasColon ? name : name + suffixOf(field, place.indent),
      boost: isRequired ? 1 : 0,
      ...(field.description !== "" && { info: field.description }),
    });
  }
  return found;
}

function suffixOf({ type }: FieldSchema, indent: number): string {
  if (type === "object") return `:\n${" ".repeat(indent + 2)}`;
  return type === "array" ? `:\n${" ".repeat(indent)}- ` : ": ";
}

function values(field: FieldSchema | undefined): Completion[] {
  if (field === undefined) return [];
  const all = field.type === "boolean" ? ["true", "false"] : field.values.map(String);
  return all.map((label) => ({ label, ...(String(field.default) === label && { detail: "default" }) }));
}
