import { type JsonSchema, nameProblems, nearest } from "@virtual-workspaces/apimachinery";
import { isComputed, jsonPathSteps } from "@virtual-workspaces/apimachinery/tables";
import type { ResourceDefinition } from "../definition.ts";

/**
 * Checks names as Kubernetes checks those of a CustomResourceDefinition, and the paths of columns and selectable fields
 * against the schema: a misspelled path would show an empty column, a malformed one would fail each `kubectl get`.
 *
 * @param paths JSON paths of selectable fields
 * @throws Error that names the kind, the option, the value and the remedy
 */
export function checkDefinition(definition: ResourceDefinition, paths: readonly string[]): void {
  const { kind } = definition;
  for (const [option, value, { isValid, remedy }] of namesOf(definition))
    if (!isValid(value))
      throw new Error(
        `${kind === "" ? "defineResource" : kind}: invalid ${option} ${JSON.stringify(value)}: ${remedy}`,
      );
  for (const column of definition.columns) {
    if (isComputed(column)) continue;
    const problem = pathProblem(definition, column.jsonPath);
    if (problem !== undefined) throw new Error(`${kind}: column ${JSON.stringify(column.name)}: ${problem}`);
  }
  for (const path of paths) {
    const problem = pathProblem(definition, path);
    if (problem !== undefined) throw new Error(`${kind}: selectableFields: ${problem}`);
  }
}

interface NameRule {
  readonly isValid: (name: string) => boolean;
  readonly remedy: string;
}

/** DNS-1035 label: it may be part of a URL and of a name of a CustomResourceDefinition. */
const LABEL = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

const GROUP: NameRule = {
  isValid: (name) => name === "" || nameProblems(name).length === 0,
  remedy: 'use a DNS name in lower case, as "example.dev", or "" for the core group',
};
const VERSION: NameRule = {
  isValid: (name) => LABEL.test(name),
  remedy: 'use lower case letters and digits, as "v1" or "v1alpha1"',
};
/** Kubernetes also accepts lower case letters and "-" in kinds, which generators of clients do not. */
const KIND: NameRule = {
  isValid: (name) => /^[A-Z][A-Za-z0-9]*$/.test(name),
  remedy: 'use letters and digits that begin with an upper case letter, as "Quote"',
};
const PLURAL: NameRule = {
  isValid: (name) => LABEL.test(name) && name.length <= 63,
  remedy: 'use lower case letters, digits and "-", beginning with a letter, as "quotes"',
};

function namesOf(definition: ResourceDefinition): readonly (readonly [option: string, value: string, NameRule])[] {
  const { group, version, kind, listKind, plural, singular, shortNames, categories } = definition;
  return [
    ["group", group, GROUP],
    ["version", version, VERSION],
    ["kind", kind, KIND],
    ["listKind", listKind, KIND],
    ["plural", plural, PLURAL],
    ["singular", singular, PLURAL],
    ...shortNames.map((name) => ["shortNames", name, PLURAL] as const),
    ...categories.map((name) => ["categories", name, PLURAL] as const),
  ];
}

/** Fields of metav1.ObjectMeta. */
const METADATA: readonly string[] = [
  "annotations",
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "finalizers",
  "generateName",
  "generation",
  "labels",
  "managedFields",
  "name",
  "namespace",
  "ownerReferences",
  "resourceVersion",
  "selfLink",
  "uid",
];

const EVERY_OBJECT: JsonSchema = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object", properties: Object.fromEntries(METADATA.map((name) => [name, {}])) },
  },
};

type Step = ReturnType<typeof jsonPathSteps>[number];

/** Returns why a path leads to no field of the kind, with the remedy. */
function pathProblem({ schema }: ResourceDefinition, path: string): string | undefined {
  let steps: readonly Step[];
  try {
    steps = jsonPathSteps(path);
  } catch (error) {
    return malformedPath(path, error as Error);
  }
  const [first] = steps;
  const isCommon = typeof first === "string" && Object.hasOwn(EVERY_OBJECT.properties ?? {}, first);
  let at: JsonSchema = isCommon ? EVERY_OBJECT : schema;
  let before = "";
  for (const step of steps) {
    if (isOpen(at)) return undefined;
    const next = child(at, step);
    if (next === undefined) return missing(path, before, { step, schema: at });
    before += typeof step === "string" ? `.${step}` : "[]";
    at = next;
  }
  return undefined;
}

/** Returns the message about a path that does not parse, with the remedy for a missing dot. */
export function malformedPath(path: string, { message }: Error): string {
  return /^[A-Za-z]/.test(path) ? `${message}: write .${path}` : message;
}

/** Whether values may have fields that the schema does not name. */
function isOpen(schema: JsonSchema): boolean {
  const { type, properties, items, additionalProperties } = schema;
  if (schema["x-kubernetes-preserve-unknown-fields"] === true || schema["x-kubernetes-embedded-resource"] === true)
    return true;
  return properties === undefined && items === undefined && additionalProperties === undefined && isLoose(type);
}

/** A schema without a type, or of an object without properties, may describe any value. */
function isLoose(type: JsonSchema["type"]): boolean {
  return type === undefined || type === "object" || type === "array";
}

function child(schema: JsonSchema, step: Step): JsonSchema | undefined {
  const { properties, items, additionalProperties } = schema;
  const rest = additionalProperties === true ? {} : additionalProperties || undefined;
  if (typeof step === "string")
    return properties !== undefined && Object.hasOwn(properties, step) ? properties[step] : rest;
  if (typeof step === "number") return items;
  // The fields of an object may have different schemas.
  return items ?? rest ?? (properties === undefined ? undefined : {});
}

/** A step of a path, and the schema of the value before it. */
interface Place {
  readonly step: Step;
  readonly schema: JsonSchema;
}

function missing(path: string, before: string, { step, schema }: Place): string {
  const { properties = {}, items } = schema;
  const parent = before === "" ? "the object" : before;
  const misfit = `${path} does not fit the schema: ${parent}`;
  if (typeof step !== "string") return `${misfit} is no list`;
  if (items !== undefined) return `${misfit} is a list: use [0] or [*]`;
  const names = Object.keys(properties);
  const meant = nearest(step, names);
  if (names.length === 0) return `${path} is not in the schema: ${parent} has no fields`;
  const remedy =
    meant === undefined
      ? `use one of ${names.map((name) => `.${name}`).join(", ")}`
      : `did you mean ${before}.${meant}?`;
  return `${path} is not in the schema: ${parent} has no field .${step}: ${remedy}`;
}
