import { parseApiVersion } from "../api-version.ts";
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../field-cause.ts";
import { equalJson } from "../json/value.ts";
import type { ObjectMeta, OwnerReference } from "../meta.ts";
import { dnsLabelProblems, labelKeyProblems, labelValueProblems } from "../names.ts";
import { quote } from "../quote.ts";
import type { StatusCause } from "../status.ts";

/** What decides whether metadata is valid besides itself. */
export interface ObjectMetaRules {
  readonly namespaced: boolean;
  /** Why a text is no name for this kind; `prefix` says that characters will follow, as behind `generateName`. */
  readonly name: (text: string, prefix: boolean) => readonly string[];
}

/** The finalizers by which the garbage collector is asked for more than to delete what depends on an object later. */
export const ORPHAN_FINALIZER = "orphan";
/** As {@link ORPHAN_FINALIZER}: dependents are deleted first. */
export const FOREGROUND_FINALIZER = "foregroundDeletion";

/** What annotations may be long, keys and values together, in bytes. */
const ANNOTATIONS_BYTES = 256 * 1024;

/** What is wrong with the metadata of an object that is to be kept (apimachinery's ValidateObjectMeta). */
export function objectMetaProblems(meta: ObjectMeta, rules: ObjectMetaRules): StatusCause[] {
  const { name = "", generateName = "", namespace = "" } = meta;
  const causes = (generateName === "" ? [] : rules.name(generateName, true)).map((problem) =>
    fieldInvalid("metadata.generateName", generateName, problem),
  );
  if (name === "") causes.push(fieldRequired("metadata.name", "name or generateName is required"));
  else for (const problem of rules.name(name, false)) causes.push(fieldInvalid("metadata.name", name, problem));
  if (!rules.namespaced) {
    if (namespace !== "") causes.push(fieldForbidden("metadata.namespace", "not allowed on this type"));
  } else if (namespace === "") causes.push(fieldRequired("metadata.namespace"));
  else
    for (const problem of dnsLabelProblems(namespace))
      causes.push(fieldInvalid("metadata.namespace", namespace, problem));
  return [...causes, ...commonProblems(meta), ...finalizerProblems(meta.finalizers ?? [])];
}

/** What is wrong with a change of metadata (apimachinery's ValidateObjectMetaUpdate). */
export function objectMetaUpdateProblems(next: ObjectMeta, before: ObjectMeta): StatusCause[] {
  const causes: StatusCause[] = [];
  if (before.deletionTimestamp !== undefined) {
    const known = before.finalizers ?? [];
    const added = [...new Set(next.finalizers ?? [])].filter((finalizer) => !known.includes(finalizer)).sort();
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

function commonProblems(meta: ObjectMeta): StatusCause[] {
  return [
    ...labelProblems(meta.labels ?? {}),
    ...annotationProblems(meta.annotations ?? {}),
    ...ownerProblems(meta.ownerReferences ?? []),
    ...managedFieldsProblems(meta),
  ];
}

function labelProblems(labels: Readonly<Record<string, string>>): StatusCause[] {
  const field = "metadata.labels";
  return Object.entries(labels).flatMap(([key, value]) => [
    ...labelKeyProblems(key).map((problem) => fieldInvalid(field, key, problem)),
    ...labelValueProblems(value).map((problem) => fieldInvalid(field, value, problem)),
  ]);
}

function annotationProblems(annotations: Readonly<Record<string, string>>): StatusCause[] {
  const field = "metadata.annotations";
  const causes: StatusCause[] = [];
  let units = 0;
  for (const [key, value] of Object.entries(annotations)) {
    for (const problem of labelKeyProblems(key.toLowerCase())) causes.push(fieldInvalid(field, key, problem));
    units += key.length + value.length;
  }
  // A third of the limit in UTF-16 units cannot exceed it in bytes.
  if (units * 3 > ANNOTATIONS_BYTES && utf8Bytes(annotations) > ANNOTATIONS_BYTES) {
    const message = `Too long: may not be more than ${ANNOTATIONS_BYTES} bytes`;
    causes.push({ reason: "FieldValueTooLong", field, message });
  }
  return causes;
}

function utf8Bytes(texts: Readonly<Record<string, string>>): number {
  const encoder = new TextEncoder();
  return Object.entries(texts).reduce((sum, pair) => sum + encoder.encode(pair.join("")).length, 0);
}

function ownerProblems(owners: readonly OwnerReference[]): StatusCause[] {
  const field = "metadata.ownerReferences";
  const causes = owners.flatMap((owner, at) => ownerReferenceProblems(owner, `${field}[${at}]`));
  const controllers = owners.filter(({ controller }) => controller === true);
  const [first] = controllers;
  for (const other of controllers.slice(1)) {
    const names = `${first?.kind}/${first?.name} and ${other.kind}/${other.name}`;
    causes.push(
      fieldInvalid(
        field,
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ${names}`,
      ),
    );
  }
  return causes;
}

function ownerReferenceProblems(owner: OwnerReference, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (isBlank(owner.apiVersion)) causes.push(fieldRequired(`${field}.apiVersion`, "must not be empty"));
  else if (!isApiVersion(owner.apiVersion))
    causes.push(fieldInvalid(`${field}.apiVersion`, owner.apiVersion, "must be <group>/<version> or <version>"));
  for (const name of ["kind", "name", "uid"] as const) {
    if (isBlank(owner[name])) causes.push(fieldRequired(`${field}.${name}`, "must not be empty"));
  }
  if (owner.apiVersion === "v1" && owner.kind === "Event")
    causes.push(fieldInvalid(field, owner, "/v1, Kind=Event is disallowed from being an owner"));
  return causes;
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

function finalizerProblems(finalizers: readonly string[]): StatusCause[] {
  const field = "metadata.finalizers";
  const causes = finalizers.flatMap((finalizer) =>
    labelKeyProblems(finalizer).map((problem) => fieldInvalid(field, finalizer, problem)),
  );
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    const both = `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`;
    causes.push(fieldInvalid(field, finalizers, both));
  }
  return causes;
}

function managedFieldsProblems({ managedFields = [] }: ObjectMeta): StatusCause[] {
  return managedFields.flatMap(({ operation, fieldsType = "" }, at) => {
    const field = `metadata.managedFields[${at}]`;
    const causes: StatusCause[] = [];
    if (operation === undefined) causes.push(fieldRequired(`${field}.operation`, "must not be empty"));
    else if (operation !== "Apply" && operation !== "Update")
      causes.push(fieldNotSupported(`${field}.operation`, operation, ["Apply", "Update"]));
    if (fieldsType !== "" && fieldsType !== "FieldsV1")
      causes.push(fieldInvalid(`${field}.fieldsType`, fieldsType, "must be `FieldsV1`"));
    return causes;
  });
}

/** Finalizers that need no domain: their meaning is Kubernetes' own. */
const STANDARD_FINALIZERS: readonly string[] = ["kubernetes", ORPHAN_FINALIZER, FOREGROUND_FINALIZER];

/** What Kubernetes says of new finalizers whose name could be anybody's. */
export function finalizerWarnings(next: ObjectMeta, before?: ObjectMeta): string[] {
  const known = [...STANDARD_FINALIZERS, ...(before?.finalizers ?? [])];
  const added = new Set((next.finalizers ?? []).filter((finalizer) => !known.includes(finalizer)));
  return [...added]
    .sort()
    .filter((finalizer) => !finalizer.includes("/"))
    .map((finalizer) => {
      const remedy = `prefer a domain-qualified finalizer name ${finalizer.includes(".") ? "including a path (/) " : ""}`;
      return `metadata.finalizers: ${quote(finalizer)}: ${remedy}to avoid accidental conflicts with other finalizer writers`;
    });
}
