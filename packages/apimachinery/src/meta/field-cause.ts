import { Bounded } from "../json/bounded.ts";
import { goJson, goNumber, quote } from "../text/go-format.ts";
import type { StatusCause } from "./status.ts";

/** Given as the value of a cause, it leaves the value out of the message, as field.OmitValueType. */
export const OMITTED_VALUE: unique symbol = Symbol("omitted value");

/** A value that breaks a rule, as apimachinery's field.Invalid. */
export function fieldInvalid(field: string, value: unknown, detail: string): StatusCause {
  return cause("FieldValueInvalid", field, `Invalid value${printed(value)}${suffix(detail)}`);
}

/** A value of the wrong type, as field.TypeInvalid. */
export function fieldTypeInvalid(field: string, value: unknown, detail: string): StatusCause {
  return cause("FieldValueTypeInvalid", field, `Invalid value${printed(value)}${suffix(detail)}`);
}

/** A value that may not be given here, as field.Forbidden. */
export function fieldForbidden(field: string, detail: string): StatusCause {
  return cause("FieldValueForbidden", field, `Forbidden${suffix(detail)}`);
}

/** A value that is missing, as field.Required. */
export function fieldRequired(field: string, detail = ""): StatusCause {
  return cause("FieldValueRequired", field, `Required value${suffix(detail)}`);
}

/** A value that is there already, as field.Duplicate. */
export function fieldDuplicate(field: string, value: unknown): StatusCause {
  return cause("FieldValueDuplicate", field, `Duplicate value${printed(value)}`);
}

/** A value that is none of the supported ones, as field.NotSupported. */
export function fieldNotSupported(field: string, value: unknown, supported: readonly string[]): StatusCause {
  const known = supported.length === 0 ? "" : `supported values: ${supported.map(quote).join(", ")}`;
  return cause("FieldValueNotSupported", field, `Unsupported value${printed(value)}${suffix(known)}`);
}

/** A text that is too long, as field.TooLong, which says bytes whatever is counted. */
export function fieldTooLong(field: string, most: number): StatusCause {
  return cause("FieldValueTooLong", field, `Too long: may not be more than ${most} ${most === 1 ? "byte" : "bytes"}`);
}

/** A list or map with more members than it may have, as field.TooMany. */
export function fieldTooMany(field: string, count: number, most: number): StatusCause {
  const detail = `must have at most ${most} ${most === 1 ? "item" : "items"}`;
  return cause("FieldValueTooMany", field, `Too many: ${count}: ${detail}`);
}

/** One cause as text, as field.Error prints itself: `spec.text: Required value`. */
export function formatCause(cause: StatusCause): string {
  return cause.field === undefined || cause.field === ""
    ? (cause.message ?? "")
    : `${cause.field}: ${cause.message ?? ""}`;
}

/** Several causes as text, as an apimachinery aggregate: one plain, several in brackets, repeated ones once. */
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

/** Texts quoted as Go's `%q`, numbers as its `%v`, everything else as JSON. */
function printed(value: unknown): string {
  if (value === OMITTED_VALUE) return "";
  if (typeof value === "string") return `: ${quote(value)}`;
  return `: ${typeof value === "number" ? goNumber(value) : goJson(value)}`;
}

/** Causes one by one: each is worded when it is asked for. */
export type Causes = Generator<StatusCause, void>;

/** Causes of which there may be very many. */
export class BoundedCauses extends Bounded<StatusCause> {
  constructor() {
    super(({ field = "", message = "" }) => field.length + message.length);
  }
}

/** The causes that come, worded one by one, until there are enough. */
export function boundedCauses(causes: Iterable<StatusCause>): StatusCause[] {
  return new BoundedCauses().add(causes).items;
}
