import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { formatCauses, isJsonObject, type JsonObject, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import { siblingModule } from "../../util/worker/pool.ts";

const GROUP = "apiserver.config.k8s.io";
/** Limit of the text after alias expansion, in bytes, far above any real file. */
const MOST_BYTES = 1024 * 1024;

/** Schema of a text. */
export const TEXT: JsonSchema = { type: "string" };

/** Returns the schema of an object with these fields. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties };
}

/** Returns the schema of a list. */
export function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

/** Kind of a configuration file. */
export interface ConfigurationKind {
  readonly kind: string;
  readonly versions: readonly string[];
  /** Schema of the fields, without `kind` and `apiVersion`. */
  readonly schema: JsonSchema;
}

/**
 * Reads a configuration file of an API server, of the group `apiserver.config.k8s.io`; YAML or JSON. It is as strict as
 * Kubernetes: unknown and duplicate fields are errors.
 *
 * @throws Error with Kubernetes' text
 */
export function readConfiguration(text: string, { kind, versions, schema: fields }: ConfigurationKind): JsonObject {
  const document = documentOf(text, kind);
  const { apiVersion, kind: own } = document;
  if (typeof own !== "string" || own === "") throw new Error(`kind is missing: set kind to ${kind}`);
  if (own !== kind || !versions.some((version) => apiVersion === `${GROUP}/${version}`))
    throw new Error(`no kind "${own}" is registered for version "${String(apiVersion ?? "")}"`);
  const schema = compileSchema(fields);
  const unknown = schema.prune(document);
  if (unknown.length > 0) refuseStrictly(unknown.map((path) => `unknown field "${path}"`));
  const causes = schema.validate(document);
  if (causes.length > 0) throw new Error(formatCauses(causes));
  return document;
}

function documentOf(text: string, kind: string): JsonObject {
  // Loaded with the first file.
  const file = fileURLToPath(siblingModule("parse", import.meta.url));
  const { parseYaml } = createRequire(import.meta.url)(file) as typeof import("./parse.ts");
  const { value, duplicates } = parseYaml(text, MOST_BYTES);
  if (duplicates.length > 0) refuseStrictly(duplicates);
  if (!isJsonObject(value)) throw new Error(`document is not an object: write an object of kind ${kind}`);
  return value;
}

function refuseStrictly(problems: readonly string[]): never {
  throw new Error(`strict decoding error: ${problems.join(", ")}`);
}
