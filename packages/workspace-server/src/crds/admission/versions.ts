import {
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  type JsonSchema,
  OMITTED_VALUE,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { resolveFieldPath } from "@virtual-workspaces/apimachinery/schema";
import { schemaProblems } from "@virtual-workspaces/framework/resource";
import type { CrdColumn, CrdSelectableField, CrdSpec, CrdSubresources, CrdVersion } from "../definition/definition.ts";

type Causes = Generator<StatusCause, void>;

/** Options of version validation. */
export interface VersionRules {
  readonly shared: SharedFields;
  /** Previous spec; `undefined` for a new definition. */
  readonly before: CrdSpec | undefined;
}

/** Validates each version, except for fields that all versions share. */
export function* versionProblems({ versions = [] }: CrdSpec, { shared, before }: VersionRules): Causes {
  for (const [at, version] of versions.entries()) {
    const path = `spec.versions[${at}]`;
    const old = before?.versions.find(({ name }) => name === version.name);
    yield* labelCause(`${path}.name`, version.name);
    yield* deprecationProblems(version, path);
    if (!shared.schema) yield* schemaOf(version, { path: `${path}.schema`, old, status: hasStatus(version) });
    if (!shared.subresources) yield* subresourceProblems(version.subresources ?? {}, `${path}.subresources`);
    if (!shared.additionalPrinterColumns) yield* columnsOf(version, path);
    if (shared.selectableFields) continue;
    if (shared.schema && version.selectableFields !== undefined)
      yield fieldInvalid(`${path}.selectableFields`, "", UNSHARED);
    else yield* selectableOf(version, { path, old });
  }
}

/** Validates the fields that all versions share. */
export function* sharedProblems({ versions = [] }: CrdSpec, { shared, before }: VersionRules): Causes {
  const [first] = versions;
  if (first === undefined) return;
  const old = before?.versions.find(({ name }) => name === first.name);
  if (shared.schema) {
    const status = versions.some(hasStatus);
    yield* schemaOf(first, { path: "spec.validation", old, status });
  }
  if (shared.subresources) yield* subresourceProblems(first.subresources ?? {}, "spec.subresources");
  if (shared.additionalPrinterColumns) yield* columnsOf(first, "spec");
  if (!shared.selectableFields || first.selectableFields === undefined) return;
  if (shared.schema) yield* selectableOf(first, { path: "spec", old });
  else yield fieldInvalid("spec.selectableFields", "", "may only be set when validations.schema is included");
}

/** Message of Kubernetes, for a limit of its internal type. */
const UNSHARED = "may only be set when `version.schema.openAPIV3Schema` is not included";

function hasStatus({ subresources }: CrdVersion): boolean {
  return subresources?.status !== undefined;
}

interface SchemaPlace {
  readonly path: string;
  readonly old: CrdVersion | undefined;
  readonly status: boolean;
}

/** A previously accepted schema is accepted again, since a server of another release may have had other limits. */
function* schemaOf({ schema }: CrdVersion, { path, old, status }: SchemaPlace): Causes {
  const given = schema?.openAPIV3Schema;
  if (given === undefined) return;
  if (old !== undefined && hasStatus(old) === status && equalJson(old.schema ?? null, schema ?? null)) return;
  yield* schemaProblems(given, { path: `${path}.openAPIV3Schema`, statusSubresource: status });
}

function* columnsOf({ additionalPrinterColumns = [] }: CrdVersion, path: string): Causes {
  for (const [at, column] of additionalPrinterColumns.entries())
    yield* columnProblems(column, `${path}.additionalPrinterColumns[${at}]`);
}

function* selectableOf(
  { selectableFields = [], schema }: CrdVersion,
  { path, old }: { readonly path: string; readonly old: CrdVersion | undefined },
): Causes {
  if (selectableFields.length === 0) return;
  const given: JsonSchema | undefined = schema?.openAPIV3Schema;
  if (given === undefined) {
    yield fieldInvalid(`${path}.selectableFields`, "", UNSHARED);
    return;
  }
  const unchanged = equalJson(old?.selectableFields ?? null, selectableFields);
  yield* selectableProblems(selectableFields, { schema: given, path: `${path}.selectableFields`, unchanged });
}

/** Reports versions without a schema, where one is required. */
export function* missingSchemas({ versions = [] }: CrdSpec): Causes {
  if (versions.some(({ schema }) => schema?.openAPIV3Schema === undefined))
    for (const [at, { schema }] of versions.entries())
      if (schema?.openAPIV3Schema === undefined) yield fieldRequired(`spec.versions[${at}].schema.openAPIV3Schema`);
}

function* deprecationProblems({ deprecated, deprecationWarning: text }: CrdVersion, path: string): Causes {
  if (text === undefined) return;
  const invalid = (detail: string): StatusCause => fieldInvalid(`${path}.deprecationWarning`, text, detail);
  if (deprecated !== true) {
    yield invalid("can only be set for deprecated versions");
    return;
  }
  if (Buffer.byteLength(text) > 256) yield invalid("must be <= 256 characters long");
  if (text === "") yield invalid("must not be an empty string");
  const bad = /[^\P{C}]|[^\P{Z} ]/u.exec(text);
  if (bad === null) return;
  const at = Buffer.byteLength(text.slice(0, bad.index));
  const only = "must only contain printable UTF-8 characters";
  yield invalid(`${only}; non-printable character found at index ${at}`);
}

/** Validates the list of versions as a whole. */
export function* versionsProblems({ versions = [] }: CrdSpec): Causes {
  const invalid = (detail: string): StatusCause =>
    fieldInvalid("spec.versions", versions.length === 0 ? [] : OMITTED_VALUE, detail);
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    yield invalid("must contain unique version names");
  if (versions.filter(({ storage }) => storage).length !== 1)
    yield invalid("must have exactly one version marked as storage version");
  // Kubernetes' internal type has a separate field for the first version.
  const [first] = versions;
  if (first !== undefined && first.name !== "") yield* labelCause("spec.version", first.name);
}

const TYPES = ["boolean", "date", "integer", "number", "string"];
const FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Validates a printer column (ValidateCustomResourceColumnDefinition). */
function* columnProblems(column: CrdColumn, path: string): Generator<StatusCause, void> {
  const { name, type, format = "", jsonPath } = column;
  const types = `must be one of ${TYPES.join(",")}`;
  if (name === "") yield fieldRequired(`${path}.name`);
  if (type === "") yield fieldRequired(`${path}.type`, types);
  else if (!TYPES.includes(type)) yield fieldInvalid(`${path}.type`, type, types);
  if (format !== "" && !FORMATS.includes(format))
    yield fieldInvalid(`${path}.format`, format, `must be one of ${FORMATS.join(",")}`);
  // Kubernetes' messages use the Go name of this field.
  if (jsonPath === "") yield fieldRequired(`${path}.JSONPath`);
  else yield* pathProblems(jsonPath, `${path}.JSONPath`);
}

/** Maximum number of selectable fields of a version. */
const MOST = 8;

const SCALAR =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";

/** Validates selectable fields (ValidateCustomResourceSelectableFields). `unchanged`: as many fields as before. */
function* selectableProblems(
  fields: readonly CrdSelectableField[],
  { schema, path, unchanged }: { readonly schema: JsonSchema; readonly path: string; readonly unchanged: boolean },
): Generator<StatusCause, void> {
  const known = new Set<string>();
  for (const [at, { jsonPath }] of fields.entries()) {
    const field = `${path}[${at}].jsonPath`;
    if (jsonPath === "") {
      yield fieldRequired(field);
      continue;
    }
    const found = resolveFieldPath(jsonPath, schema, { brackets: false });
    if (typeof found === "string") {
      yield fieldInvalid(field, jsonPath, `is an invalid path: ${found}`);
      continue;
    }
    if (/^metadata(?![^.[])/.test(found.path))
      yield fieldInvalid(field, jsonPath, "must not point to fields in metadata");
    if (!["string", "boolean", "integer"].includes(found.schema?.type ?? ""))
      yield fieldInvalid(field, jsonPath, SCALAR);
    if (known.has(found.path)) yield fieldDuplicate(field, jsonPath);
    known.add(found.path);
  }
  if (known.size > MOST && !unchanged) yield fieldTooMany(path, known.size, MOST);
}

const RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Returns why a string is not a DNS-1035 label of at most 63 bytes, in apimachinery's words; empty if it is one. */
function labelProblems(text: string): string[] {
  const problems = Buffer.byteLength(text) > 63 ? ["must be no more than 63 characters"] : [];
  if (!/^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(text)) problems.push(RULE);
  return problems;
}

/** Returns the problems of a DNS-1035 label as one cause, or none. */
export function* labelCause(field: string, text: string, prefix = ""): Generator<StatusCause, void> {
  const problems = labelProblems(prefix === "" ? text : text.toLowerCase());
  if (problems.length > 0) yield fieldInvalid(field, text, prefix + problems.join(","));
}

/** Field of a version that Kubernetes' internal type can have once for all versions. */
type SharedField = "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields";

/**
 * Fields that are equal in all versions. Kubernetes validates its internal type, which has such fields beside the
 * versions, so that its messages name them there (`spec.validation` for a schema).
 */
type SharedFields = { readonly [Field in SharedField]: boolean };

export function sharedFields({ versions = [] }: Pick<CrdSpec, "versions">): SharedFields {
  const [first, ...others] = versions;
  const shared = (field: SharedField): boolean =>
    first !== undefined && others.every((version) => equalJson(plain(version, field), plain(first, field)));
  return {
    schema: shared("schema"),
    subresources: shared("subresources"),
    additionalPrinterColumns: shared("additionalPrinterColumns"),
    selectableFields: shared("selectableFields"),
  };
}

function plain(version: CrdVersion, field: SharedField): unknown {
  return version[field] ?? null;
}

/** Validates the start of a JSON path, which is all that Kubernetes checks. */
function* pathProblems(path: string, field: string): Causes {
  if (!path.startsWith(".")) yield fieldInvalid(field, path, "must be a simple json path starting with .");
}

/** Validates the paths of the scale subresource (ValidateCustomResourceDefinitionSubresources). */
function* subresourceProblems({ scale }: CrdSubresources, path: string): Causes {
  if (scale === undefined) return;
  yield* scaleProblems(scale.specReplicasPath, { field: `${path}.scale.specReplicasPath`, below: [".spec"] });
  yield* scaleProblems(scale.statusReplicasPath, { field: `${path}.scale.statusReplicasPath`, below: [".status"] });
  const { labelSelectorPath = "" } = scale;
  const selector = { field: `${path}.scale.labelSelectorPath`, below: [".spec", ".status"] };
  if (labelSelectorPath !== "") yield* scaleProblems(labelSelectorPath, selector);
}

function* scaleProblems(
  path: string,
  { field, below }: { readonly field: string; readonly below: readonly string[] },
): Causes {
  if (path === "") yield fieldRequired(field);
  else if (!path.startsWith(".")) yield* pathProblems(path, field);
  else if (!below.some((part) => path.startsWith(`${part}.`))) {
    const either = below.length > 1 ? "either " : "";
    yield fieldInvalid(field, path, `should be a json path under ${either}${below.join(" or ")}`);
  }
}
