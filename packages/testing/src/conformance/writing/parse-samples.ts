import { parseAllDocuments } from "yaml";
import { isObject, type JsonObject, textAt } from "../json.ts";

/**
 * The objects of a text in YAML, several documents long or one, or in JSON: for {@link ConformanceWrites.samples}.
 *
 * @throws Error on a text that is no YAML, and on a document that is no object with an apiVersion and a kind
 */
export function parseSamples(text: string): readonly Readonly<Record<string, unknown>>[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(`it is no YAML: ${problem.message}`);
    return sampleIn(document.toJS());
  });
}

function sampleIn(object: unknown): JsonObject {
  if (isObject(object) && textAt(object, "apiVersion") !== "" && textAt(object, "kind") !== "") return object;
  throw new Error("every document must be an object with an apiVersion and a kind");
}
