import { isUtf8 } from "node:buffer";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import type { Awaitable } from "../util/awaitable.ts";
import { BODY_LIMITS } from "../util/limits.ts";
import { PROTOBUF, ProtobufFault, type ProtobufMessage } from "./protobuf/message.ts";
import { readProtobuf } from "./protobuf/protobuf-reader.ts";
import { YamlFault } from "./yaml/fault.ts";
import { readShortYaml, type YamlReader } from "./yaml/yaml-reader.ts";

/** What a request's body says. */
export interface DecodedBody {
  /** JSON. Integers of 64 bits beyond 2^53 are `bigint`. */
  readonly value: unknown;
  /** The paths of members that JSON gives more than once, of which the last counts: `spec.ports[0].name`. The first hundred. */
  readonly duplicates: readonly string[];
  /** What else strict decoding complains of, in words. Of YAML, its duplicates: `line 3: key "a" already set in map`. */
  readonly others: readonly string[];
}

export interface DecodeOptions {
  /**
   * Reads YAML: one for all requests, since it owns the threads in which long texts are read. @default none: short texts
   * are read all the same, long ones are 413
   */
  readonly yaml?: YamlReader;
  /** What media types may be sent here, in the order that a 415 lists them. @default JSON and YAML */
  readonly accepted?: readonly string[];
  /** What the kind is in protobuf, which is then taken as well. @default 415 */
  readonly protobuf?: ProtobufMessage;
  /** The kind that is expected, for errors. @default none is named */
  readonly kind?: string;
  /** Aborts when the client leaves. */
  readonly signal?: AbortSignal;
}

/**
 * Reads a body by its media type: JSON, also when none is named, and YAML, `application/apply-patch+yaml` included, which
 * clients send JSON as. Takes what a stranger sends: the process is not stalled by it.
 *
 * @throws ApiError 400 for what is malformed, in Kubernetes' words and with the place; 413 for what is too much to read;
 *   415 for another media type; 429 when too much YAML waits to be read
 */
export function decodeBody(
  body: Buffer,
  contentType: string | undefined,
  options: DecodeOptions,
): Awaitable<DecodedBody> {
  const { accepted = OBJECT_MEDIA_TYPES, protobuf } = options;
  const mediaType = mediaTypeOf(contentType, protobuf === undefined ? accepted : [...accepted, PROTOBUF]);
  if (protobuf !== undefined && mediaType === PROTOBUF) return decodeProtobuf(body, protobuf, options.kind);
  if (isYaml(mediaType)) return decodeYaml(body, mediaType, options);
  return isPatch(mediaType) ? decodeJsonPatch(body) : decodeJson(body, options.kind);
}

/** Reads a patch that is JSON, of whichever kind. @throws ApiError 400, 413 */
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
    return { value: readProtobuf(body, message), duplicates: [], others: [] };
  } catch (error) {
    if (error instanceof RangeError) throw ApiError.requestEntityTooLarge(error.message);
    if (!(error instanceof ProtobufFault)) throw error;
    throw unrecognized(`protobuf: ${error.message}`, body, kind);
  }
}

async function decodeYaml(
  body: Buffer,
  mediaType: string,
  { yaml, kind, signal }: DecodeOptions,
): Promise<DecodedBody> {
  const asJson = jsonOf(body);
  if (asJson !== undefined) return asJson;
  try {
    if (!isUtf8(body)) throw new YamlFault("yaml: the body is not UTF-8");
    const text = body.toString("utf8");
    const { value, duplicates } = await (yaml === undefined ? readShortYaml(text) : yaml.read(text, signal));
    return { value, duplicates: [], others: duplicates };
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    if (error.tooLarge) throw ApiError.requestEntityTooLarge(error.message);
    if (isPatch(mediaType)) throw ApiError.badRequest(`error encoding patch: ${error.message}`);
    throw unrecognized(error.message, body, kind);
  }
}

const BRACE = "{".charCodeAt(0);

/** YAML that is JSON: what clients send. Not with duplicates, which YAML tells by line. */
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

/** As Kubernetes says that it does not know an object. */
function unrecognized(fault: string, body: Buffer, kind: string | undefined): ApiError {
  if (kind === undefined) return ApiError.badRequest(fault);
  const what = `the object provided is unrecognized (must be of type ${kind})`;
  return ApiError.badRequest(`${what}: ${fault} (${summary(body)})`);
}

/** The beginning of a body: as text if it is an object's, else in hexadecimal digits. */
function summary(body: Buffer): string {
  if (body.length === 0) return "<empty>";
  const head = body.subarray(0, 30).toString(body[0] === BRACE ? "utf8" : "hex");
  return body.length > 30 ? `${head} ...` : head;
}

/** What objects and options are sent as. Kubernetes takes protobuf too for its own kinds, and CBOR where it is enabled. */
const OBJECT_MEDIA_TYPES: readonly string[] = ["application/json", "application/yaml"];

/** A media type without its parameters, of those that are accepted; none is JSON, where that is accepted. @throws ApiError 415 */
function mediaTypeOf(contentType: string | undefined, accepted: readonly string[]): string {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const named = type === "" ? "application/json" : type;
  if (!accepted.includes(named)) throw ApiError.unsupportedMediaType(accepted);
  return named;
}

const isYaml = (mediaType: string): boolean => /[/+]yaml$/.test(mediaType);
const isPatch = (mediaType: string): boolean => mediaType.includes("-patch+");
