/** Media type in which Kubernetes' typed Go clients send built-in kinds, without checking that the server accepts it. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/**
 * Fields of a Kubernetes protobuf message to read, by field number (from its `generated.proto`). Other fields are skipped.
 */
export interface ProtobufMessage {
  readonly [field: number]: ProtobufField;
}

/**
 * Types of values in their JSON form. The type `bytes` is base64; `integer` has 32 or 64 bits. Values of `time` and
 * `microTime` are RFC 3339 in UTC with seconds or microseconds (null when empty). The types `quantity` and `intOrString` are
 * Kubernetes'. A `json` is a message with JSON in field 1, such as RawExtension, FieldsV1 and apiextensions' JSON.
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

/** Field of a message, with its JSON name. */
export interface ProtobufField {
  readonly name: string;
  /** Type of the value; a recursive message is given by a function. @default "text" */
  readonly of?: ProtobufScalar | ProtobufMessage | (() => ProtobufMessage);
  /** Repetition of the field. @default a single value; the last one counts */
  readonly form?: "list" | "map";
  /**
   * Whether an empty value (`""`, 0, false, an empty time) is kept: for pointers and fields that JSON does not omit.
   * @default omitted, as in JSON: clients send such fields whether they are set or not
   */
  readonly empty?: "kept";
  /** Converts a message whose JSON form is not an object: `({ items }) => items`. */
  readonly to?: (message: Readonly<Record<string, unknown>>) => unknown;
}

/** Error for an invalid message. */
export class ProtobufFault extends Error {
  override readonly name: string = "ProtobufFault";
}
