import {
  ApiError,
  isApiError,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  normalizeMetadata,
  quote,
} from "@virtual-workspaces/apimachinery";
import { applyOfCbor, type DecodedBody, type DecodeOptions, decodeBody } from "../body/decode.ts";
import { PROTOBUF_DELETE_OPTIONS } from "../body/protobuf/meta.ts";
import { readBody } from "../body/read.ts";
import type { ResourceDefinition } from "../definition.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { hasBody } from "../listener/malformed.ts";
import type { WriteOptions } from "../storage.ts";
import { checkType } from "../write/identity.ts";
import { APPLY_CBOR } from "../write/patch-types.ts";
import { type Findings, once, reportFindings } from "../write/strict.ts";

/** An object as a client sent it, with the findings of strict decoding except fields outside the schema. */
export interface SentObject {
  readonly object: KubeObject;
  readonly findings: Findings;
}

/** Reads and parses the body of a request. */
async function sentBody(exchange: AuthorizedExchange, expected: Expected = {}): Promise<DecodedBody> {
  const { req, res, cancellation } = exchange;
  return decoded(exchange, await readBody(req, { res, cancellation }), expected);
}

/** Reads and parses an optional body. Returns `undefined` when it is missing or empty. */
export async function sentOptions(
  exchange: AuthorizedExchange,
  { protobuf }: Pick<ResourceDefinition, "protobuf">,
): Promise<DecodedBody["value"] | undefined> {
  const { req, res, cancellation } = exchange;
  if (!hasBody(req)) return undefined;
  const body = await readBody(req, { res, cancellation });
  return body.length === 0 ? undefined : (await decoded(exchange, body, protobuf === undefined ? {} : OPTIONS)).value;
}

/** Reads the body of a patch. An apply in CBOR becomes JSON. @throws ApiError 400, 413 */
export async function sentPatch({ req, res, cancellation }: AuthorizedExchange): Promise<Buffer> {
  const body = await readBody(req, { res, cancellation });
  return req.headers["content-type"]?.split(";", 1)[0]?.trim() === APPLY_CBOR ? applyOfCbor(body) : body;
}

/** Clients that send a kind in protobuf also send its DeleteOptions in protobuf. */
const OPTIONS: Expected = { protobuf: PROTOBUF_DELETE_OPTIONS };

/** Kind and protobuf message that the decoder expects. */
type Expected = Pick<DecodeOptions, "kind" | "protobuf">;

async function decoded(exchange: AuthorizedExchange, body: Buffer, expected: Expected): Promise<DecodedBody> {
  const { req, core } = exchange;
  const read = await decodeBody(body, req.headers["content-type"], { yaml: core.yaml, request: exchange, ...expected });
  exchange.audited?.sent(read.value);
  return read;
}

/** Options for reading the objects of a kind. */
export interface Reading {
  /** Checks the type of the object. @default rejects a missing or different one */
  readonly check?: (object: JsonObject, definition: ResourceDefinition) => void;
  /** Normalizes the object in place and returns the names of its unknown fields. @default normalizes its metadata alone */
  readonly normalize?: (object: JsonObject) => string[];
}

/** Reads the object in the body. @throws ApiError 400 when it is not of the kind, 413, 415 */
export async function sentObject(
  exchange: AuthorizedExchange,
  definition: ResourceDefinition,
  { check = checkType, normalize = normalizeMetadata }: Reading = {},
): Promise<SentObject> {
  const { kind, protobuf } = definition;
  const expected = protobuf === undefined ? { kind } : { kind, protobuf };
  const { value, duplicates, others, lenient } = await sentBody(exchange, expected);
  if (!isJsonObject(value)) throw ApiError.badRequest("the body of the request must be an object");
  check(value, definition);
  const unknown = named(definition, () => normalize(value));
  return { object: value as KubeObject, findings: { duplicates, others, unknown, ...(lenient && { lenient }) } };
}

/** Names the expected type in errors about an object, as Kubernetes does. */
function named<R>({ kind, version }: ResourceDefinition, read: () => R): R {
  try {
    return read();
  } catch (error) {
    if (!isApiError(error) || error.reason !== "BadRequest") throw error;
    throw ApiError.badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${error.message}`);
  }
}

/** Returns a function that reports all findings: the known ones and, once the schema is applied, the unknown fields. */
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
