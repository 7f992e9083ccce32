import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { yamlTexts } from "../editor/texts.ts";
import type { TextProblem } from "../yaml/parse.ts";
import type { Bounds, FieldSchema } from "./schema.ts";

/** At most so many problems are shown: a text of another kind has one in each line. */
const MOST = 200;

/** Fields that the schema does not have, values of wrong types and missing required fields, with their places. */
export function checkAgainst(document: Document.Parsed, schema: FieldSchema): readonly TextProblem[] {
  const problems: TextProblem[] = [];
  check(document.contents, schema, { problems, owner: document.contents });
  checkName(document, problems);
  return problems;
}

/** A name that is still to be typed. The server makes one for `generateName`. */
function checkName(document: Document.Parsed, problems: TextProblem[]): void {
  const metadata = document.get("metadata", true);
  if (!isMap(metadata) || metadata.get("generateName")) return;
  const pair = metadata.items.find(({ key }) => isScalar(key) && key.value === "name");
  if (pair === undefined || metadata.get("name")) return;
  add({ problems, owner: null }, pair.key as Node, yamlTexts.noName);
}

interface Context {
  readonly problems: TextProblem[];
  /** Node that shows what is missing in its value: the key. */
  readonly owner: Node | null;
}

function check(node: Node | null, schema: FieldSchema, context: Context): void {
  if (context.problems.length >= MOST || node === null || isAlias(node)) return;
  const wanted = schema.type;
  if (isMap(node)) {
    if (wanted === "object" || wanted === "") checkMap(node, schema, context);
    else wrongType(node, schema, { context, found: "object" });
  } else if (isSeq(node)) {
    if (wanted === "array" || wanted === "") checkItems(node, schema, context);
    else wrongType(node, schema, { context, found: "array" });
  } else if (isScalar(node) && node.value !== null) {
    // Kubernetes reads null as "not set".
    checkScalar(node, schema, context);
  }
}

function checkItems(node: YAMLSeq, { item, bounds }: FieldSchema, context: Context): void {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = bounds;
  const place = context.owner ?? node;
  if (node.items.length < minItems) add(context, place, yamlTexts.tooFew(minItems));
  if (node.items.length > maxItems) add(context, place, yamlTexts.tooMany(maxItems));
  if (item === undefined) return;
  for (const one of node.items) check(one as Node | null, item, { ...context, owner: one as Node | null });
}

function checkMap(node: YAMLMap, schema: FieldSchema, context: Context): void {
  const found = new Set<string>();
  for (const { key, value } of node.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    found.add(name);
    const field = schema.field(name);
    if (field !== undefined) check(value as Node | null, field, { ...context, owner: key });
    else if (schema.isClosed) add(context, key, yamlTexts.unknownField(name));
  }
  for (const name of schema.required)
    if (!found.has(name)) add(context, context.owner ?? node, yamlTexts.missingField(name));
}

function checkScalar(node: Scalar, schema: FieldSchema, context: Context): void {
  const { value } = node;
  const found = typeOf(value);
  if (!accepts(schema.type, found)) {
    wrongType(node, schema, { context, found });
    return;
  }
  const { values } = schema;
  if (values.length > 0 && !values.some((one) => String(one) === String(value)))
    add(context, node, yamlTexts.notInEnum(values.map(String)));
  const problem = typeof value === "string" ? textProblem(value, schema.bounds) : numberProblem(value, schema.bounds);
  if (problem !== undefined) add(context, node, problem);
}

function numberProblem(value: unknown, bounds: Bounds): string | undefined {
  if (typeof value !== "number" && typeof value !== "bigint") return undefined;
  const { minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false, multipleOf } = bounds;
  const words = yamlTexts;
  if (minimum !== undefined && (value < minimum || (exclusiveMinimum && Number(value) === minimum)))
    return exclusiveMinimum ? words.notAbove(minimum) : words.tooSmall(minimum);
  if (maximum !== undefined && (value > maximum || (exclusiveMaximum && Number(value) === maximum)))
    return exclusiveMaximum ? words.notBelow(maximum) : words.tooLarge(maximum);
  if (multipleOf !== undefined && !isMultiple(Number(value), multipleOf)) return words.notMultiple(multipleOf);
  return undefined;
}

/** Whether a number is a multiple of another, of which 0.3 is one of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function textProblem(value: string, { minLength = 0, maxLength, pattern }: Bounds): string | undefined {
  const words = yamlTexts;
  // As the server counts: characters, not units of UTF-16.
  const length = [...value].length;
  if (length < minLength) return words.tooShort(minLength);
  if (maxLength !== undefined && length > maxLength) return words.tooLong(maxLength);
  return pattern !== undefined && matches(pattern, value) === false ? words.noMatch(pattern) : undefined;
}

/** Whether a text matches; undefined for a pattern of Go that JavaScript does not have. */
function matches(pattern: string, value: string): boolean | undefined {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return undefined;
  }
}

function typeOf(value: unknown): string {
  if (typeof value === "bigint") return "integer";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function accepts(wanted: string, found: string): boolean {
  if (wanted === "" || wanted === found) return true;
  if (wanted === "number") return found === "integer";
  return wanted === "int-or-string" && (found === "integer" || found === "string");
}

function wrongType(
  node: Node,
  schema: FieldSchema,
  { context, found }: { readonly context: Context; readonly found: string },
): void {
  const place = isScalar(node) ? node : (context.owner ?? node);
  add(context, place, yamlTexts.wrongType(schema.typeName, found));
}

function add({ problems }: Context, node: Node, message: string): void {
  const [from, to] = node.range ?? [0, 0];
  problems.push({ from, to: Math.max(from, to), severity: "warning", message });
}
