import { randomInt, randomUUID } from "node:crypto";
import {
  ApiError,
  dnsLabelProblems,
  formatTime,
  type KubeObject,
  nameProblems,
  type ObjectMeta,
  type ObjectMetaRules,
  objectMetaProblems,
  objectMetaUpdateProblems,
  pathSegmentProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition, Strategy } from "../definition.ts";

/** Removes the fields of a new object that clients may not set, before anything uses it. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  for (const field of SYSTEM_FIELDS) if (metadata[field] !== undefined) delete metadata[field];
}

const SYSTEM_FIELDS = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "generation",
] as const satisfies readonly (keyof ObjectMeta)[];

/** Sets what Kubernetes' registry sets on a new object, and removes a status that only `/status` may set. */
export function prepareCreate(object: KubeObject, definition: ResourceDefinition, now: Date): void {
  const { metadata } = object;
  wipeSystemFields(object);
  if (metadata.resourceVersion !== undefined) delete metadata.resourceVersion;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = formatTime(now);
  if (definition.strategy?.generation !== false) metadata.generation = 1;
  if (metadata.name === undefined && metadata.generateName !== undefined)
    metadata.name = generateName(metadata.generateName);
  if (definition.subresources.status) delete object["status"];
  definition.strategy?.prepare?.(object, undefined, "");
}

/** As in Kubernetes: no vowels and no similar characters, so that no words result. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const RANDOM = 5;
/** Generated names fit into a DNS label, whatever the kind allows. */
const LONGEST_BASE = 63 - RANDOM;

/** Returns a name that begins with `base` (Kubernetes' SimpleNameGenerator). */
function generateName(base: string): string {
  let suffix = "";
  for (let at = 0; at < RANDOM; at++) suffix += ALPHABET[randomInt(ALPHABET.length)];
  return base.slice(0, LONGEST_BASE) + suffix;
}

/** Returns the errors in an object's metadata; `before` is the object that it replaces. */
export function metadataProblems(
  { metadata }: KubeObject,
  before: KubeObject | undefined,
  definition: ResourceDefinition,
): StatusCause[] {
  const problems = objectMetaProblems(metadata, rulesOf(definition));
  return before === undefined ? problems : [...problems, ...objectMetaUpdateProblems(metadata, before.metadata)];
}

function rulesOf({ scope, strategy }: ResourceDefinition): ObjectMetaRules {
  return { namespaced: scope === "Namespaced", name: NAMES[strategy?.names ?? "subdomain"] };
}

type NameRule = ObjectMetaRules["name"];

/** A prefix may end in a dash, since something follows it. */
function dns(problems: (text: string) => string[]): NameRule {
  return (text, prefix) => problems(prefix && text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);
}

const NAMES: Readonly<Record<NonNullable<Strategy["names"]>, NameRule>> = {
  subdomain: dns(nameProblems),
  label: dns(dnsLabelProblems),
  segment: pathSegmentProblems,
};

/** Returns the error of a name that is taken. It tells clients that wait for the name if it will be free. */
export function taken(error: ApiError, there: KubeObject | undefined): ApiError {
  if (there?.metadata.deletionTimestamp === undefined) return error;
  return new ApiError({ ...error.status, message: `object is being deleted: ${error.status.message}` });
}
