import type { Document } from "yaml";
import type { StatusError } from "../../api/client.ts";
import { type Path, rangeOf, type TextProblem } from "../yaml/parse.ts";

/** The errors of the server that name fields, at the places of these fields. */
export function problemsOf(error: StatusError, document: Document.Parsed | undefined): readonly TextProblem[] {
  if (document === undefined) return [];
  const found: { readonly path: Path; readonly message: string }[] = [];
  for (const { field, message = "" } of error.status.details?.causes ?? [])
    if (field !== undefined && field !== "" && field !== "<nil>") found.push({ path: parseField(field), message });
  // Strict validation names fields in its message only.
  for (const [message, field = ""] of error.message.matchAll(STRICT)) found.push({ path: parseField(field), message });
  return found.map(({ path, message }) => ({ ...rangeOf(document, path), severity: "error", message }));
}

/** Whether all that the server says is beside a line: the text of the error then repeats it. */
export function areAllPlaced({ status, message }: StatusError, placed: readonly TextProblem[]): boolean {
  if (placed.length === 0) return false;
  const causes = status.details?.causes ?? [];
  if (causes.length > 0) return causes.every(({ field }) => field !== undefined && field !== "" && field !== "<nil>");
  // What is left of the message of strict validation is its beginning and commas.
  return /strict decoding error: [\s,]*$/.test(message.replaceAll(STRICT, ""));
}

const STRICT = /(?:unknown|duplicate) field "([^"]+)"/g;

/** Steps of a field as the server writes it, such as `spec.containers[0].name` or `data[app.yaml]`. */
function parseField(field: string): Path {
  return [...field.matchAll(/\[([^\]]*)\]|[^.[\]]+/g)].map(([text, index]) => {
    if (index === undefined) return text;
    return /^\d+$/.test(index) ? Number(index) : index.replace(/^"(.*)"$/, "$1");
  });
}
