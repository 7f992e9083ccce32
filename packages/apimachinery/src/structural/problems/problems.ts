import { boundedCauses, type Causes, fieldForbidden, fieldInvalid, OMITTED_VALUE } from "../../meta/field-cause.ts";
import type { StatusCause } from "../../meta/status.ts";
import type { JsonSchema } from "../../schema.ts";
import { compileNode } from "../compile-node.ts";
import { nativePattern, type PatternCompiler } from "../node.ts";
import { defaultProblems } from "./defaults.ts";
import { keywordProblems, keywordsOf, unsupportedKeywords } from "./keywords.ts";
import { shapeProblems } from "./shape.ts";
import { structureProblems } from "./structure.ts";

/** Options of {@link structuralProblems}. */
export interface StructuralProblemsOptions {
  /** Path of the schema, prefix of every cause. Default: `schema`. */
  readonly path?: string;
  /** As for {@link compileSchema}: a pattern that it rejects is a problem. Default: ECMAScript's, with flag `u`. */
  readonly pattern?: PatternCompiler;
  /** Whether the kind has a status subresource, which limits the keywords of the root. Default: no. */
  readonly statusSubresource?: boolean;
}

/**
 * Returns why an API server would reject a schema in a CustomResourceDefinition (apiextensions'
 * ValidateCustomResourceDefinition). It does not check the expressions of `x-kubernetes-validations`. A schema without
 * problems can be compiled.
 *
 * @returns the causes, up to a thousand; empty for a valid schema
 */
export function structuralProblems(
  schema: JsonSchema,
  { path = "schema", pattern = nativePattern, statusSubresource = false }: StructuralProblemsOptions = {},
): StatusCause[] {
  const malformed = boundedCauses(shapeProblems(schema, path));
  return malformed.length > 0 ? malformed : boundedCauses(problems(schema, { path, pattern, statusSubresource }));
}

function* problems(schema: JsonSchema, options: Required<StructuralProblemsOptions>): Causes {
  const { path, pattern, statusSubresource } = options;
  if (statusSubresource) yield* statusProblems(schema, path);
  if (schema.nullable === true) yield fieldForbidden(`${path}.nullable`, "nullable cannot be true at the root");
  if (isConvertible(schema)) yield* structureAndDefaults(schema, path, pattern);
  yield* keywordProblems(schema, path);
}

/** Checks defaults only if the schema is structural. */
function* structureAndDefaults(schema: JsonSchema, path: string, pattern: PatternCompiler): Causes {
  const causes = boundedCauses(structureProblems(schema, path, pattern));
  if (causes.length > 0) yield* causes;
  else yield* defaultProblems(compileNode(schema, { pattern, forDefaults: true }), path);
}

/** Whether Kubernetes can read the structure of a schema; keywords that prevent it are reported as problems of their own. */
function isConvertible(schema: JsonSchema): boolean {
  if (unsupportedKeywords(schema).length > 0 || schema["x-kubernetes-preserve-unknown-fields"] === false) return false;
  const { additionalProperties: rest } = schema;
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(typeof rest === "object" ? [rest] : []),
    ...[schema.items, schema.not].filter((child) => child !== undefined),
    ...[schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => list ?? []),
  ];
  return children.every(isConvertible);
}

/** Fields allowed at the root with a status subresource, whose schema is used alone. Go's names, as in the message. */
const ROOT_FIELDS =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";
const ROOT_KEYWORDS: ReadonlySet<string> = new Set(
  ROOT_FIELDS.split(" ").map((name) =>
    name.startsWith("X")
      ? name.replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? "x-kubernetes" : `-${letter.toLowerCase()}`))
      : name.charAt(0).toLowerCase() + name.slice(1),
  ),
);

function* statusProblems(schema: JsonSchema, path: string): Causes {
  const { type = "" } = schema as { readonly type?: string };
  if (type !== "" && type !== "object") {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    yield fieldInvalid(`${path}.type`, type, detail);
    return;
  }
  const allowed = keywordsOf(schema).every((keyword) => ROOT_KEYWORDS.has(keyword));
  if (allowed && schema.additionalProperties === undefined) return;
  const detail = `only [${ROOT_FIELDS}] fields are allowed at the root of the schema if the status subresource is enabled`;
  yield fieldInvalid(path, OMITTED_VALUE, detail);
}
