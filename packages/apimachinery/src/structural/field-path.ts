import type { JsonSchema } from "../schema.ts";

/** Field that a path leads to. */
export interface SchemaField {
  /** Path as in field errors: `spec.ports`, `labels[app]`. */
  readonly path: string;
  readonly schema: JsonSchema | undefined;
}

/** Syntax that a path may use. */
export interface FieldPathOptions {
  /** Whether `['name']` is allowed for `.name` and for keys of maps. Default: yes. */
  readonly brackets?: boolean;
}

/** Step of a path: `.name`, or a name in brackets and single quotes; a quote after a backslash is part of it. */
const STEP = /\.(?<name>[.[\]]|[^.[\]]+)|\[(?<quoted>'(?:[^']|(?<=\\)')*(?<!\\)')\]/y;

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

/**
 * Follows the path of a rule's `fieldPath` or of a selectable field, like `.spec.labels['app']`, through a schema
 * (apiextensions' cel.ValidFieldPath). Lists have no paths.
 *
 * @returns the field, or the reason why there is none
 */
export function resolveFieldPath(
  text: string,
  schema: JsonSchema,
  { brackets = true }: FieldPathOptions = {},
): SchemaField | string {
  let field: SchemaField = { path: "", schema };
  for (let at = 0; at < text.length; ) {
    STEP.lastIndex = at;
    const step = STEP.exec(text);
    if (text[at] === "[" && !brackets) return "array notation is not allowed";
    if (step === null) return `expected [ or . but got: ${/^[^.[\]]+/.exec(text.slice(at))?.[0] ?? text[at]}`;
    at += step[0].length;
    const { name, quoted } = step.groups ?? {};
    const plain = quoted === undefined ? name : unescaped(quoted.slice(1, -1));
    if (plain === undefined) return `invalid string literal: ${quoted}`;
    const next = memberOf(field, plain);
    if (typeof next === "string") return next;
    field = next;
  }
  return field;
}

const NO_FIELD = "does not refer to a valid field";

function memberOf({ path, schema }: SchemaField, name: string): SchemaField | string {
  const { properties = {}, additionalProperties: rest } = schema ?? {};
  if (Object.keys(properties).length > 0) {
    if (!Object.hasOwn(properties, name)) return NO_FIELD;
    return { path: path === "" ? name : `${path}.${name}`, schema: properties[name] };
  }
  if (rest === undefined) return NO_FIELD;
  return { path: `${path}[${name}]`, schema: typeof rest === "object" ? rest : undefined };
}

function unescaped(text: string): string | undefined {
  let known = true;
  const plain = text.replace(/\\([\s\S])/g, (_escape, letter: string) => {
    known &&= Object.hasOwn(ESCAPES, letter);
    return ESCAPES[letter] ?? "";
  });
  return known ? plain : undefined;
}
