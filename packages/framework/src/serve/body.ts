import {
  ApiError,
  isApiError,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  normalizeMetadata,
  quote,
} from "@virtual-workspaces/apimachinery";
import { type DecodedBody, type DecodeOptions, decodeBody } from "../body/decode.ts";
import { PROTOBUF_DELETE_OPTIONS } from "../body/protobuf/meta.ts";
import { readBody } from "../body/read.ts";
import type { ResourceDefinition } from "../definition.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { hasBody } from "../listener/malformed.ts";
import type { WriteOptions } from "../storage.ts";
import { checkType } from "../write/identity.ts";
import { type Findings, once, reportFindings } from "../write/strict.ts";

/** An object as a client sent it, and what strict decoding will complain about besides fields that the kind has not. */
export interface SentObject {
  readonly object: KubeObject;
  readonly findings: Findings;
}

/** The body of a request, read and parsed. */
async function sentBody(exchange: AuthorizedExchange, expected: Expected = {}): Promise<DecodedBody> {
  const { req, res, signal } = exchange;
  return decoded(exchange, await readBody(req, { res, signal }), expected);
}

/** What a body holds that need not be there; `undefined` when it is not, or is empty. */
export async function sentOptions(
  exchange: AuthorizedExchange,
  { protobuf }: Pick<ResourceDefinition, "protobuf">,
): Promise<DecodedBody["value"] | undefined> {
  const { req, res, signal } = exchange;
  if (!hasBody(req)) return undefined;
  const body = await readBody(req, { res, signal });
  return body.length === 0 ? undefined : (await decoded(exchange, body, protobuf === undefined ? {} : OPTIONS)).value;
}

/** Whoever sends a kind in protobuf sends the options of its deletion so. */
const OPTIONS: Expected = { protobuf: PROTOBUF_DELETE_OPTIONS };

/** What is to be read. */
type Expected = Pick<DecodeOptions, "kind" | "protobuf">;

async function decoded(exchange: AuthorizedExchange, body: Buffer, expected: Expected): Promise<DecodedBody> {
  const { req, signal, core } = exchange;
  const read = await decodeBody(body, req.headers["content-type"], { yaml: core.yaml, signal, ...expected });
  exchange.audited?.sent(read.value);
  return read;
}

/** How objects of a kind are read. */
export interface Reading {
  /** @default one that does not say what it is is refused */
  readonly check?: (object: JsonObject, definition: ResourceDefinition) => void;
  /** Makes one well-formed, in place, and names what is unknown in it. @default its metadata alone */
  readonly normalize?: (object: JsonObject) => string[];
}

/** The object that a request brings. @throws ApiError 400 when it is none of the kind, 413, 415 */
export async function sentObject(
  exchange: AuthorizedExchange,
  definition: ResourceDefinition,
  { check = checkType, normalize = normalizeMetadata }: Reading = {},
): Promise<SentObject> {
  const { kind, protobuf } = definition;
  const expected = protobuf === undefined ? { kind } : { kind, protobuf };
  const { value, duplicates, others } = await sentBody(exchange, expected);
  if (!isJsonObject(value)) throw ApiError.badRequest("the body of the request must be an object");
  check(value, definition);
  const unknown = named(definition, () => normalize(value));
  return { object: value as KubeObject, findings: { duplicates, others, unknown } };
}

/** Says of what is wrong with an object what it should have been, as Kubernetes does. */
function named<R>({ kind, version }: ResourceDefinition, read: () => R): R {
  try {
    return read();
  } catch (error) {
    if (!isApiError(error) || error.reason !== "BadRequest") throw error;
    throw ApiError.badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${error.message}`);
  }
}

/** Reports everything that strict decoding finds: what is known already and, when the schema has been applied, the rest. */
export function reporter(
  { unknown: known, ...found }: Findings,
  definition: ResourceDefinition,
  options: WriteOptions,
): (unknown: readonly string[]) => void {
  const { fieldValidation, warn } = options;
  const { kind, version } = definition;
  const refuse = (problem: string): ApiError =>
    ApiError.badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${problem}`);
  return once((unknown) =>
    reportFindings({ ...found, unknown: [...known, ...unknown] }, { fieldValidation, warn, refuse }),
  );
}
