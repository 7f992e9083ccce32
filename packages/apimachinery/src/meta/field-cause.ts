import { Bounded } from "../json/bounded.ts";
import { goJson, goNumber, quote } from "../text/go-format.ts";
import type { StatusCause } from "./status.ts";

/** As the value of a cause, leaves the value out of the message, like field.OmitValueType. */
export const OMITTED_VALUE: unique symbol = Symbol("omitted value");

/** Cause for a value that breaks a rule, like apimachinery's field.Invalid. */
export function fieldInvalid(field: string, value: unknown, detail: string): StatusCause {
  return cause("FieldValueInvalid", field, `Invalid value${printed(value)}${suffix(detail)}`);
}

/** Cause for a value of the wrong type, like field.TypeInvalid. */
export function fieldTypeInvalid(field: string, value: unknown, detail: string): StatusCause {
  return cause("FieldValueTypeInvalid", field, `Invalid value${printed(value)}${suffix(detail)}`);
}

/** Cause for a value that is not allowed here, like field.Forbidden. */
export function fieldForbidden(field: string, detail: string): StatusCause {
  return cause("FieldValueForbidden", field, `Forbidden${suffix(detail)}`);
}

/** Cause for a missing value, like field.Required. */
export function fieldRequired(field: string, detail = ""): StatusCause {
  return cause("FieldValueRequired", field, `Required value${suffix(detail)}`);
}

/** Cause for a value that occurs twice, like field.Duplicate. */
export function fieldDuplicate(field: string, value: unknown): StatusCause {
  return cause("FieldValueDuplicate", field, `Duplicate value${printed(value)}`);
}

/** Cause for a value outside the supported ones, like field.NotSupported. */
export function fieldNotSupported(field: string, value: unknown, supported: readonly string[]): StatusCause {
  const known = supported.length === 0 ? "" : `supported values: ${supported.map(quote).join(", ")}`;
  return cause("FieldValueNotSupported", field, `Unsupported value${printed(value)}${suffix(known)}`);
}

/** Cause for a text that is too long, like field.TooLong, which says bytes for characters too. */
export function fieldTooLong(field: string, most: number): StatusCause {
  return cause("FieldValueTooLong", field, `Too long: may not be more than ${most} ${most === 1 ? "byte" : "bytes"}`);
}

/** Cause for a list or map with too many members, like field.TooMany. */
export function fieldTooMany(field: string, count: number, most: number): StatusCause {
  const detail = `must have at most ${most} ${most === 1 ? "item" : "items"}`;
  return cause("FieldValueTooMany", field, `Too many: ${count}: ${detail}`);
}

/** Formats one cause as field.Error does: `spec.text: Required value`. */
export function formatCause(cause: StatusCause): string {
  return cause.field === undefined || cause.field === ""
    ? (cause.message ?? "")
    : `${cause.field}: ${cause.message ?? ""}`;
}

/** Formats several causes as an apimachinery aggregate: a single one plain, several in brackets, repeated ones once. */
export function formatCauses(causes: readonly StatusCause[]): string {
  const texts = [...new Set(causes.map(formatCause))];
  return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
}

function cause(reason: NonNullable<StatusCause["reason"]>, field: string, message: string): StatusCause {
  return { reason, message, field };
}

function suffix(detail: string): string {
  return detail === "" ? "" : `: ${detail}`;
}

/** Formats texts as Go's `%q`, numbers as its `%v`, and all other values as JSON. */
function printed(value: unknown): string {
  if (value === OMITTED_VALUE) return "";
  if (typeof value === "string") return `: ${quote(value)}`;
  return `: ${typeof value === "number" ? goNumber(value) : goJson(value)}`;
}

/** Causes one by one: each is formatted when the consumer takes it. */
export type Causes = Generator<StatusCause, void>;

/** Bounded list of causes, for values that may have very many. */
export class BoundedCauses extends Bounded<StatusCause> {
  constructor() {
    super(({ field = "", message = "" }) => field.length + message.length);
  }
}

/** Takes causes, formatted one by one, until the limit is reached. */
export function boundedCauses(causes: Iterable<StatusCause>): StatusCause[] {
  return new BoundedCauses().add(causes).items;
}
