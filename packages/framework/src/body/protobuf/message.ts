/** The media type under which Kubernetes' typed Go clients send built-in kinds, without asking whether it is taken. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/**
 * What is read of a message of Kubernetes' protobuf, by field number (those of its `generated.proto`). Fields that are not
 * named are skipped.
 */
export interface ProtobufMessage {
  readonly [field: number]: ProtobufField;
}

/**
 * Kinds of values, as they are in JSON: `bytes` is base64, `integer` of 32 or 64 bits, `time` and `microTime` are RFC 3339 in
 * UTC with seconds or microseconds (null when empty), `quantity` and `intOrString` are Kubernetes', and `json` is a message
 * that holds JSON in its field 1, as RawExtension, FieldsV1 and apiextensions' JSON do.
 */
export type ProtobufScalar =
  | "text"
  | "bytes"
  | "integer"
  | "boolean"
  | "double"
  | "time"
  | "microTime"
  | "quantity"
  | "intOrString"
  | "json";

/** One field of a message, by its name in JSON. */
export interface ProtobufField {
  readonly name: string;
  /** What it holds; a message that holds itself is given by a function. @default "text" */
  readonly of?: ProtobufScalar | ProtobufMessage | (() => ProtobufMessage);
  /** @default a single value; the last one counts */
  readonly form?: "list" | "map";
  /**
   * Whether an empty value (`""`, 0, false, an empty time) is a value: of pointers, and of what JSON does not omit.
   * @default it is not there, as JSON has no member for it: such fields are sent whether they are set or not
   */
  readonly empty?: "kept";
  /** What a message is in JSON, where it is no object: `({ items }) => items`. */
  readonly to?: (message: Readonly<Record<string, unknown>>) => unknown;
}

/** What is no such message. */
export class ProtobufFault extends Error {
  override readonly name: string = "ProtobufFault";
}
