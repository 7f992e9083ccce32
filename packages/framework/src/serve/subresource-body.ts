import {
  ApiError,
  apiVersionOf,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  quote,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import { named, type SentObject, sentBody } from "./body.ts";

/**
 * The object of a subresource's own kind that a request brings. One that does not say what it is is taken for one.
 *
 * @param normalize makes it well-formed, in place, and names what is unknown in it
 * @throws ApiError 400 when it is another or malformed, 413, 415
 */
export async function sentOfKind(
  exchange: Exchange,
  definition: ResourceDefinition,
  normalize: (object: JsonObject) => string[],
): Promise<SentObject> {
  const { value, duplicates, others } = await sentBody(exchange, { kind: definition.kind });
  if (!isJsonObject(value)) throw ApiError.badRequest("the body of the request must be an object");
  checkKind(value, definition);
  const unknown = named(definition, () => normalize(value));
  return { object: value as KubeObject, findings: { duplicates, others, unknown } };
}

/** Makes sure that an object is of the kind that is served here, if it says so at all. @throws ApiError 400 */
export function checkKind(object: JsonObject, definition: ResourceDefinition): void {
  const expected = apiVersionOf(definition);
  const { apiVersion = expected, kind = definition.kind } = object;
  if (apiVersion === expected && kind === definition.kind) {
    Object.assign(object, { apiVersion, kind });
    return;
  }
  const [what, version] = [kind, apiVersion].map((text) =>
    typeof text === "string" ? quote(text) : "what is no text",
  );
  throw ApiError.badRequest(
    `no kind ${what} is registered for version ${version} here: it must be ${definition.kind} of ${expected}`,
  );
}
