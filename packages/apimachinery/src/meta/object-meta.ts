import { equalJson } from "../json/value.ts";
import { quote } from "../text/go-format.ts";
import { ApiError } from "./api-error.ts";
import {
  boundedCauses,
  type Causes,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
} from "./field-cause.ts";
import { dnsLabelProblems, labelKeyProblems, labelValueProblems } from "./names.ts";
import type { StatusCause } from "./status.ts";
import type { GroupVersion, ManagedFieldsEntry, ObjectMeta, OwnerReference } from "./types.ts";

/** Rules for metadata that depend on the kind. */
export interface ObjectMetaRules {
  readonly namespaced: boolean;
  /** Returns why a text is not a name for this kind. `prefix` means that characters will follow, as after `generateName`. */
  readonly name: (text: string, prefix: boolean) => readonly string[];
}

/** Finalizer of a delete with propagation policy Orphan: the garbage collector detaches dependents and keeps them. */
export const ORPHAN_FINALIZER = "orphan";
/** Finalizer of a foreground delete: the garbage collector deletes dependents first. */
export const FOREGROUND_FINALIZER = "foregroundDeletion";

/** Maximum size of annotations, keys and values together, in bytes. */
const ANNOTATIONS_BYTES = 256 * 1024;

/** Returns the faults in the metadata of an object to store (apimachinery's ValidateObjectMeta): up to a thousand causes. */
export function objectMetaProblems(meta: ObjectMeta, rules: ObjectMetaRules): StatusCause[] {
  return boundedCauses(problemsOf(meta, rules));
}

function* problemsOf(meta: ObjectMeta, rules: ObjectMetaRules): Causes {
  const { labels, annotations, ownerReferences, managedFields, finalizers } = meta;
  yield* identityProblems(meta, rules);
  // A generator costs as much as the checks of a short list: most objects have none of these.
  if (labels !== undefined) yield* labelProblems(labels);
  if (annotations !== undefined) yield* annotationProblems(annotations);
  if (ownerReferences !== undefined) yield* ownerProblems(ownerReferences);
  if (managedFields !== undefined) yield* managedFieldsProblems(managedFields);
  if (finalizers !== undefined) yield* finalizerProblems(finalizers);
}

function* identityProblems(meta: ObjectMeta, rules: ObjectMetaRules): Causes {
  const { name = "", generateName = "", namespace = "" } = meta;
  if (generateName !== "") yield* invalid("metadata.generateName", generateName, rules.name(generateName, true));
  if (name === "") yield fieldRequired("metadata.name", "name or generateName is required");
  else yield* invalid("metadata.name", name, rules.name(name, false));
  if (!rules.namespaced) {
    if (namespace !== "") yield fieldForbidden("metadata.namespace", "not allowed on this type");
  } else if (namespace === "") yield fieldRequired("metadata.namespace");
  else yield* invalid("metadata.namespace", namespace, dnsLabelProblems(namespace));
}

/** Most names are valid: without a problem there is no generator. */
function invalid(field: string, value: string, problems: readonly string[]): Iterable<StatusCause> {
  return problems.length === 0 ? NONE : invalidCauses(field, value, problems);
}

const NONE: readonly StatusCause[] = [];

function* invalidCauses(field: string, value: string, problems: readonly string[]): Causes {
  for (const problem of problems) yield fieldInvalid(field, value, problem);
}

/** Returns the faults of a metadata change (apimachinery's ValidateObjectMetaUpdate). */
export function objectMetaUpdateProblems(next: ObjectMeta, before: ObjectMeta): StatusCause[] {
  const causes: StatusCause[] = [];
  if (before.deletionTimestamp !== undefined) {
    const added = [...new Set(next.finalizers).difference(new Set(before.finalizers))].sort();
    if (added.length > 0)
      causes.push(
        fieldForbidden(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map(quote).join(", ")}}`,
        ),
      );
  }
  for (const name of [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
  ] as const) {
    if (!equalJson(next[name] ?? null, before[name] ?? null))
      causes.push(fieldInvalid(`metadata.${name}`, next[name] ?? null, "field is immutable"));
  }
  return causes;
}

function* labelProblems(labels: Readonly<Record<string, string>>): Causes {
  const field = "metadata.labels";
  // With very many members, entries take three times as long as names.
  for (const key of Object.keys(labels)) {
    const value = labels[key] ?? "";
    for (const problem of labelKeyProblems(key)) yield fieldInvalid(field, key, problem);
    for (const problem of labelValueProblems(value)) yield fieldInvalid(field, value, problem);
  }
}

function* annotationProblems(annotations: Readonly<Record<string, string>>): Causes {
  const field = "metadata.annotations";
  let units = 0;
  for (const key of Object.keys(annotations)) {
    for (const problem of labelKeyProblems(key.toLowerCase())) yield fieldInvalid(field, key, problem);
    units += key.length + (annotations[key] ?? "").length;
  }
  // A UTF-16 unit is one to three bytes.
  const mayBeLong = units * 3 > ANNOTATIONS_BYTES;
  if (units > ANNOTATIONS_BYTES || (mayBeLong && utf8Bytes(annotations) > ANNOTATIONS_BYTES))
    yield fieldTooLong(field, ANNOTATIONS_BYTES);
}

function utf8Bytes(texts: Readonly<Record<string, string>>): number {
  return new TextEncoder().encode(Object.entries(texts).flat().join("")).length;
}

function* ownerProblems(owners: readonly OwnerReference[]): Causes {
  const field = "metadata.ownerReferences";
  for (const [at, owner] of owners.entries()) yield* ownerReferenceProblems(owner, `${field}[${at}]`);
  const controllers = owners.filter(({ controller }) => controller === true);
  const [first] = controllers;
  for (const other of controllers.slice(1)) {
    const names = `${first?.kind}/${first?.name} and ${other.kind}/${other.name}`;
    yield fieldInvalid(
      field,
      owners,
      `Only one reference can have Controller set to true. Found "true" in references for ${names}`,
    );
  }
}

function* ownerReferenceProblems(owner: OwnerReference, field: string): Causes {
  if (isBlank(owner.apiVersion)) yield fieldRequired(`${field}.apiVersion`, "must not be empty");
  else if (!isApiVersion(owner.apiVersion))
    yield fieldInvalid(`${field}.apiVersion`, owner.apiVersion, "must be <group>/<version> or <version>");
  for (const name of ["kind", "name", "uid"] as const) {
    if (isBlank(owner[name])) yield fieldRequired(`${field}.${name}`, "must not be empty");
  }
  if (owner.apiVersion === "v1" && owner.kind === "Event")
    yield fieldInvalid(field, owner, "/v1, Kind=Event is disallowed from being an owner");
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text === "";
}

function isApiVersion(text: string): boolean {
  try {
    return parseApiVersion(text).version !== "";
  } catch {
    return false;
  }
}

function* finalizerProblems(finalizers: readonly string[]): Causes {
  const field = "metadata.finalizers";
  for (const finalizer of finalizers)
    for (const problem of labelKeyProblems(finalizer)) yield fieldInvalid(field, finalizer, problem);
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    const both = `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`;
    yield fieldInvalid(field, finalizers, both);
  }
}

function* managedFieldsProblems(managedFields: readonly ManagedFieldsEntry[]): Causes {
  for (let at = 0; at < managedFields.length; at++) {
    const { operation, fieldsType = "" } = managedFields[at] ?? {};
    if ((operation === "Apply" || operation === "Update") && (fieldsType === "" || fieldsType === "FieldsV1")) continue;
    const field = `metadata.managedFields[${at}]`;
    if (operation === undefined) yield fieldRequired(`${field}.operation`, "must not be empty");
    else if (operation !== "Apply" && operation !== "Update")
      yield fieldNotSupported(`${field}.operation`, operation, ["Apply", "Update"]);
    if (fieldsType !== "" && fieldsType !== "FieldsV1")
      yield fieldInvalid(`${field}.fieldsType`, fieldsType, "must be `FieldsV1`");
  }
}

/** Finalizers that need no domain: Kubernetes defines them. */
const STANDARD_FINALIZERS: readonly string[] = ["kubernetes", ORPHAN_FINALIZER, FOREGROUND_FINALIZER];

/** Returns Kubernetes' warnings about new finalizers without a qualified name. */
export function finalizerWarnings(next: ObjectMeta, before?: ObjectMeta): string[] {
  const unqualified = next.finalizers?.filter((finalizer) => !finalizer.includes("/")) ?? [];
  if (unqualified.length === 0) return [];
  const known = new Set([...STANDARD_FINALIZERS, ...(before?.finalizers ?? [])]);
  return [...new Set(unqualified).difference(known)].sort().map((finalizer) => {
    const remedy = `prefer a domain-qualified finalizer name ${finalizer.includes(".") ? "including a path (/) " : ""}`;
    return `metadata.finalizers: ${quote(finalizer)}: ${remedy}to avoid accidental conflicts with other finalizer writers`;
  });
}

/**
 * Parses an `apiVersion` into group and version, like schema.ParseGroupVersion: "" gives empty parts, `v1` is the core group.
 * @throws ApiError 400 for more than one slash.
 */
export function parseApiVersion(text: string): GroupVersion {
  if (text === "" || text === "/") return { group: "", version: "" };
  const slash = text.indexOf("/");
  if (slash < 0) return { group: "", version: text };
  if (text.includes("/", slash + 1)) throw ApiError.badRequest(`unexpected GroupVersion string: ${text}`);
  return { group: text.slice(0, slash), version: text.slice(slash + 1) };
}
