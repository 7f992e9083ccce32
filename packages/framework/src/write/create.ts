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

/** Removes what a client may not set on a new object, before anything is made of it. */
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

/** Fills in what Kubernetes' registry gives a new object; a status that only `/status` may set goes. */
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

/** As Kubernetes': no vowels, and nothing that looks like another, so that no words come out. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const RANDOM = 5;
/** Names are kept to a DNS label, whatever the kind allows. */
const LONGEST_BASE = 63 - RANDOM;

/** A name that begins with `base` (Kubernetes' SimpleNameGenerator). */
function generateName(base: string): string {
  let suffix = "";
  for (let at = 0; at < RANDOM; at++) suffix += ALPHABET[randomInt(ALPHABET.length)];
  return base.slice(0, LONGEST_BASE) + suffix;
}

/** What is wrong with an object's metadata; `before` is what it replaces. */
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

/** Behind a prefix something is to follow, so that it may end in a dash. */
function dns(problems: (text: string) => string[]): NameRule {
  return (text, prefix) => problems(prefix && text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);
}

const NAMES: Readonly<Record<NonNullable<Strategy["names"]>, NameRule>> = {
  subdomain: dns(nameProblems),
  label: dns(dnsLabelProblems),
  segment: pathSegmentProblems,
};

/** The error of a name that is taken: one who waits for it to be free learns that it will be. */
export function taken(error: ApiError, there: KubeObject | undefined): ApiError {
  if (there?.metadata.deletionTimestamp === undefined) return error;
  return new ApiError({ ...error.status, message: `object is being deleted: ${error.status.message}` });
}
