import { isUtf8 } from "node:buffer";
import { ApiError, isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import type { Awaitable } from "../util/awaitable.ts";
import { BODY_LIMITS } from "../util/limits.ts";
import { bytesOf } from "../watch/cache/encoded.ts";
import { CBOR, CborFault, readCbor } from "./cbor/cbor-reader.ts";
import { PROTOBUF, ProtobufFault, type ProtobufMessage } from "./protobuf/message.ts";
import { readProtobuf } from "./protobuf/protobuf-reader.ts";
import { YamlFault } from "./yaml/fault.ts";
import { readShortYaml, type YamlReader } from "./yaml/yaml-reader.ts";

/** Decoded body of a request. */
export interface DecodedBody {
  /** JSON value. 64-bit integers beyond 2^53 are `bigint`. */
  readonly value: unknown;
  /** Paths of duplicate JSON members, of which the last counts: `spec.ports[0].name`. At most the first hundred. */
  readonly duplicates: readonly string[];
  /** Other errors of strict decoding, as text. For YAML its duplicates: `line 3: key "a" already set in map`. */
  readonly others: readonly string[];
  /** Whether strict decoding does not apply: protobuf. As in Kubernetes, unknown fields are dropped without a report. */
  readonly lenient?: boolean;
}

export interface DecodeOptions {
  /**
   * YAML reader, shared by all requests because it owns the worker threads for long documents.
   * @default none: short documents are read anyway, long ones get 413
   */
  readonly yaml?: YamlReader;
  /** Accepted media types, in the order in which a 415 lists them. @default JSON and YAML */
  readonly accepted?: readonly string[];
  /** Protobuf schema of the kind; protobuf is accepted if it is set. @default 415 */
  readonly protobuf?: ProtobufMessage;
  /** Expected kind, for error messages. @default none */
  readonly kind?: string;
  /** Request, whose signal aborts when the client disconnects. Only long YAML documents read the signal. */
  readonly request?: { readonly signal: AbortSignal };
}

/**
 * Decodes a body by its media type: JSON, also without a media type, CBOR, and YAML, including `application/apply-patch+yaml`,
 * which clients use for JSON. Security: the input is untrusted and cannot stall the process.
 *
 * @throws ApiError 400 for a malformed body, with Kubernetes' text and the position; 413 for one that is too large; 415 for
 * another media type; 429 when too much YAML is queued
 */
export function decodeBody(
  body: Buffer,
  contentType: string | undefined,
  options: DecodeOptions,
): Awaitable<DecodedBody> {
  const { accepted = OBJECT_MEDIA_TYPES, protobuf } = options;
  const mediaType = mediaTypeOf(contentType, protobuf === undefined ? accepted : [...accepted, PROTOBUF]);
  if (mediaType === CBOR) return decodeCbor(body, options.kind);
  if (protobuf !== undefined && mediaType === PROTOBUF) return decodeProtobuf(body, protobuf, options.kind);
  if (isYaml(mediaType)) return decodeYaml(body, mediaType, options);
  return isPatch(mediaType) ? decodeJsonPatch(body) : decodeJson(body, options.kind);
}

/** Decodes a JSON patch of any kind. @throws ApiError 400, 413 */
export function decodeJsonPatch(body: Buffer): DecodedBody {
  try {
    return parse(body.toString("utf8"));
  } catch (error) {
    throw error instanceof SyntaxError ? ApiError.badRequest(`invalid JSON patch: ${error.message}`) : error;
  }
}

function decodeJson(body: Buffer, kind: string | undefined): DecodedBody {
  try {
    return parse(body.toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unrecognized(`couldn't get version/kind; json parse error: ${error.message}`, body, kind);
  }
}

function decodeProtobuf(body: Buffer, message: ProtobufMessage, kind: string | undefined): DecodedBody {
  try {
    return { value: readProtobuf(body, message), duplicates: [], others: [], lenient: true };
  } catch (error) {
    if (error instanceof RangeError) throw ApiError.requestEntityTooLarge(error.message);
    if (!(error instanceof ProtobufFault)) throw error;
    throw unrecognized(`protobuf: ${error.message}`, body, kind);
  }
}

/** As in Kubernetes, duplicate keys are rejected and not reported. */
function decodeCbor(body: Buffer, kind: string | undefined): DecodedBody {
  try {
    return { value: readCbor(body), duplicates: [], others: [] };
  } catch (error) {
    if (error instanceof RangeError) throw ApiError.requestEntityTooLarge(error.message);
    if (!(error instanceof CborFault)) throw error;
    throw unrecognized(`CBOR: ${error.message}`, body, kind);
  }
}

/** Returns the JSON of an apply in CBOR, so that it is read like every other. @throws ApiError 400, 413 */
export function applyOfCbor(body: Buffer): Buffer {
  try {
    return bytesOf(decodeCbor(body, undefined).value as KubeObject);
  } catch (error) {
    if (!isApiError(error) || error.code !== 400) throw error;
    throw ApiError.badRequest(`error decoding patch: ${error.message}`);
  }
}

async function decodeYaml(
  body: Buffer,
  mediaType: string,
  { yaml, kind, request }: DecodeOptions,
): Promise<DecodedBody> {
  const asJson = jsonOf(body);
  if (asJson !== undefined) return asJson;
  try {
    if (!isUtf8(body)) throw new YamlFault("yaml: the body is not UTF-8");
    const text = body.toString("utf8");
    const { value, duplicates } = await (yaml === undefined ? readShortYaml(text) : yaml.read(text, request?.signal));
    return { value, duplicates: [], others: duplicates };
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    if (error.tooLarge) throw ApiError.requestEntityTooLarge(error.message);
    if (isPatch(mediaType)) throw ApiError.badRequest(`error encoding patch: ${error.message}`);
    throw unrecognized(error.message, body, kind);
  }
}

const BRACE = "{".charCodeAt(0);

/** Decodes YAML that is JSON, which most clients send. Not with duplicates, which YAML reports by line. */
function jsonOf(body: Buffer): DecodedBody | undefined {
  if (body[0] !== BRACE) return undefined;
  try {
    const parsed = parse(body.toString("utf8"));
    return parsed.duplicates.length === 0 ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parse(text: string): DecodedBody {
  try {
    return { ...parseJson(text, BODY_LIMITS), others: [] };
  } catch (error) {
    throw error instanceof RangeError ? ApiError.requestEntityTooLarge(error.message) : error;
  }
}

/** Returns Kubernetes' error for an unrecognized object. */
function unrecognized(fault: string, body: Buffer, kind: string | undefined): ApiError {
  if (kind === undefined) return ApiError.badRequest(fault);
  const what = `the object provided is unrecognized (must be of type ${kind})`;
  return ApiError.badRequest(`${what}: ${fault} (${summary(body)})`);
}

/** Returns the start of a body: as text if it is an object, else as hexadecimal digits. */
function summary(body: Buffer): string {
  if (body.length === 0) return "<empty>";
  const head = body.subarray(0, 30).toString(body[0] === BRACE ? "utf8" : "hex");
  return body.length > 30 ? `${head} ...` : head;
}

/** Media types of objects and options that a 415 lists, as Kubernetes does where CBOR is off. */
const OBJECT_MEDIA_TYPES: readonly string[] = ["application/json", "application/yaml"];

/** Returns the accepted media type without parameters; a missing one means JSON, if accepted. @throws ApiError 415 */
function mediaTypeOf(contentType: string | undefined, accepted: readonly string[]): string {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const named = type === "" ? "application/json" : type;
  if (named === CBOR && accepted.includes("application/json")) return named;
  if (!accepted.includes(named)) throw ApiError.unsupportedMediaType(accepted);
  return named;
}

const isYaml = (mediaType: string): boolean => /[/+]yaml$/.test(mediaType);
const isPatch = (mediaType: string): boolean => mediaType.includes("-patch+");
