import {
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  type JsonSchema,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { resolveFieldPath, structuralProblems } from "@virtual-workspaces/apimachinery/schema";
import type { APIResourceSchema } from "../kinds/api-resource-schema.ts";

type Spec = NonNullable<APIResourceSchema["spec"]>;
type Version = Spec["versions"][number];
type Column = NonNullable<Version["additionalPrinterColumns"]>[number];
type Scale = NonNullable<NonNullable<Version["subresources"]>["scale"]>;

/** Additional rules for an APIResourceSchema. */
export interface SchemaRules {
  /**
   * Returns the problems of a version's schema, given its field path and whether the version has `/status`.
   * @default `structuralProblems`, which does not compile the expressions of `x-kubernetes-validations`
   */
  readonly schemaProblems?: (
    schema: JsonSchema,
    options: { readonly path: string; readonly statusSubresource: boolean },
  ) => readonly StatusCause[];
}

const TYPES = ["boolean", "date", "integer", "number", "string"];
const FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const MOST_SELECTABLE = 8;

/** Returns the problems of one version (apiextensions' rules for a version of a CustomResourceDefinition). */
export function versionProblems(version: Version, path: string, rules: SchemaRules): StatusCause[] {
  const { subresources, additionalPrinterColumns = [] } = version;
  return [
    ...warningProblems(version).map((why) =>
      fieldInvalid(`${path}.deprecationWarning`, version.deprecationWarning ?? "", why),
    ),
    ...schemaProblemsOf(version, `${path}.schema`, rules),
    ...scaleProblems(subresources?.scale, `${path}.subresources.scale`),
    ...additionalPrinterColumns.flatMap((column, at) =>
      columnProblems(column, `${path}.additionalPrinterColumns[${at}]`),
    ),
    ...selectableProblems(version, `${path}.selectableFields`),
  ];
}

function schemaProblemsOf({ schema, subresources }: Version, path: string, rules: SchemaRules): readonly StatusCause[] {
  if (Object.keys(schema).length === 0) return [fieldRequired(path)];
  const { schemaProblems = structuralProblems } = rules;
  const statusSubresource = subresources?.status !== undefined;
  return schemaProblems(schema as JsonSchema, { path: `${path}.openAPIV3Schema`, statusSubresource });
}

function warningProblems({ deprecated = false, deprecationWarning: warning }: Version): string[] {
  if (warning === undefined) return [];
  if (!deprecated) return ["can only be set for deprecated versions"];
  const bytes = new TextEncoder().encode(warning);
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  return [
    ...(bytes.length > 256 ? ["must be <= 256 characters long"] : []),
    ...(warning === "" ? ["must not be an empty string"] : []),
    ...(odd === null ? [] : [notPrintable(new TextEncoder().encode(warning.slice(0, odd.index)).length)]),
  ];
}

function notPrintable(index: number): string {
  return `must only contain printable UTF-8 characters; non-printable character found at index ${index}`;
}

function scaleProblems(scale: Scale | undefined, path: string): StatusCause[] {
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = "" } = scale;
  return [
    ...scalePathProblems(specReplicasPath, `${path}.specReplicasPath`, ["spec"]),
    ...scalePathProblems(statusReplicasPath, `${path}.statusReplicasPath`, ["status"]),
    ...(labelSelectorPath === ""
      ? []
      : scalePathProblems(labelSelectorPath, `${path}.labelSelectorPath`, ["spec", "status"])),
  ];
}

function scalePathProblems(text: string, path: string, roots: readonly string[]): StatusCause[] {
  if (text === "") return [fieldRequired(path)];
  if (!text.startsWith(".")) return [notSimple(text, path)];
  if (roots.some((root) => text.startsWith(`.${root}.`))) return [];
  const under = roots.map((root) => `.${root}`).join(" or ");
  return [fieldInvalid(path, text, `should be a json path under ${roots.length > 1 ? "either " : ""}${under}`)];
}

function columnProblems({ name, type, format = "", jsonPath }: Column, path: string): StatusCause[] {
  const types = `must be one of ${TYPES.join(",")}`;
  return [
    ...(name === "" ? [fieldRequired(`${path}.name`)] : []),
    ...(type === "" ? [fieldRequired(`${path}.type`, types)] : []),
    ...(type === "" || TYPES.includes(type) ? [] : [fieldInvalid(`${path}.type`, type, types)]),
    ...(format === "" || FORMATS.includes(format)
      ? []
      : [fieldInvalid(`${path}.format`, format, `must be one of ${FORMATS.join(",")}`)]),
    ...(jsonPath === "" ? [fieldRequired(`${path}.JSONPath`)] : []),
    ...(jsonPath === "" || jsonPath.startsWith(".") ? [] : [notSimple(jsonPath, `${path}.JSONPath`)]),
  ];
}

function notSimple(text: string, path: string): StatusCause {
  return fieldInvalid(path, text, "must be a simple json path starting with .");
}

function selectableProblems({ schema, selectableFields = [] }: Version, path: string): StatusCause[] {
  const seen = new Set<string>();
  const problems = selectableFields.flatMap(({ jsonPath }, at): StatusCause[] => {
    const where = `${path}[${at}].jsonPath`;
    if (jsonPath === "") return [fieldRequired(where)];
    const found = resolveFieldPath(jsonPath, schema as JsonSchema, { brackets: false });
    if (typeof found === "string") return [fieldInvalid(where, jsonPath, `is an invalid path: ${found}`)];
    const isDuplicate = seen.has(found.path);
    seen.add(found.path);
    return [
      ...(found.path.split(/[.[]/, 1)[0] === "metadata"
        ? [fieldInvalid(where, jsonPath, "must not point to fields in metadata")]
        : []),
      ...(["string", "boolean", "integer"].includes(found.schema?.type ?? "")
        ? []
        : [fieldInvalid(where, jsonPath, SELECTABLE)]),
      ...(isDuplicate ? [fieldDuplicate(where, jsonPath)] : []),
    ];
  });
  return seen.size > MOST_SELECTABLE ? [...problems, fieldTooMany(path, seen.size, MOST_SELECTABLE)] : problems;
}

const SELECTABLE =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
