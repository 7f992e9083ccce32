import {
  equalJson,
  fieldInvalid,
  fieldRequired,
  type JsonSchema,
  OMITTED_VALUE,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { schemaProblems } from "@virtual-workspaces/framework";
import type { CrdSpec, CrdVersion } from "../definition/definition.ts";
import { columnProblems } from "./columns.ts";
import { labelCause } from "./label.ts";
import { subresourceProblems } from "./paths.ts";
import { selectableProblems } from "./selectable.ts";
import type { SharedFields } from "./shared-fields.ts";

type Causes = Generator<StatusCause, void>;

/** What versions are checked with. */
export interface VersionRules {
  readonly shared: SharedFields;
  /** What it was before; `undefined` for a new one. */
  readonly before: CrdSpec | undefined;
}

/** What is wrong with the versions one by one, each with what it does not share with all others. */
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

/** The same of what all versions share. */
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

/** Kubernetes' own words, and a limit of its internal form. */
const UNSHARED = "may only be set when `version.schema.openAPIV3Schema` is not included";

function hasStatus({ subresources }: CrdVersion): boolean {
  return subresources?.status !== undefined;
}

interface SchemaPlace {
  readonly path: string;
  readonly old: CrdVersion | undefined;
  readonly status: boolean;
}

/** What was taken before is taken again: a server of another release may have had other limits. */
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

/** Where each version must have a schema. */
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

/** What is wrong with the versions together. */
export function* versionsProblems({ versions = [] }: CrdSpec): Causes {
  const invalid = (detail: string): StatusCause =>
    fieldInvalid("spec.versions", versions.length === 0 ? [] : OMITTED_VALUE, detail);
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    yield invalid("must contain unique version names");
  if (versions.filter(({ storage }) => storage).length !== 1)
    yield invalid("must have exactly one version marked as storage version");
  // In Kubernetes' internal form the first one has a name of its own.
  const [first] = versions;
  if (first !== undefined && first.name !== "") yield* labelCause("spec.version", first.name);
}
