import type { ResourceDefinition } from "../definition.ts";
import { METHOD_VERBS } from "../request/request-info.ts";
import type { Verb } from "./served.ts";
import type { AnyNamed } from "./check-named.ts";
import { SCALE } from "./scale/scale-kind.ts";

/** What discovery and OpenAPI tell of a subresource. */
export interface AdvertisedSubresource {
  readonly name: string;
  /** Alphabetical. What discovery advertises and what is answered; anything else is 405. */
  readonly verbs: readonly Verb[];
  /** Whose objects it takes and answers; of one that connects, the resource's own. */
  readonly kind: ResourceDefinition;
  readonly form: "status" | "scale" | "kind" | "connect";
}

/** The verbs of those parts of an object that are read and written as it is. */
const PART_VERBS: readonly Verb[] = ["get", "patch", "update"];

/** What else decides which subresources there are. */
export interface OwnSubresources {
  readonly named: Readonly<Record<string, AnyNamed>>;
  /** Whether the storage takes whole objects: a Scale is nothing that it could patch. */
  readonly updates: boolean;
  /** Of `/status`. */
  readonly statusVerbs: readonly Verb[];
}

/** The subresources of a resource that is served with these verbs, by name. */
export function advertisedSubresources(
  definition: ResourceDefinition,
  verbs: readonly Verb[],
  { named, updates, statusVerbs }: OwnSubresources,
): readonly AdvertisedSubresource[] {
  const { status, scale } = definition.subresources;
  const part = PART_VERBS.filter((verb) => verbs.includes(verb));
  const all: AdvertisedSubresource[] = Object.entries(named).map(([name, one]) => ({
    name,
    verbs: verbsOf(one),
    kind: one.kind ?? definition,
    form: one.kind === undefined ? "connect" : "kind",
  }));
  const told = PART_VERBS.filter((verb) => statusVerbs.includes(verb));
  if (status && told.length > 0) all.push({ name: "status", verbs: told, kind: definition, form: "status" });
  const scaled = part.filter((verb) => verb === "get" || updates);
  if (scale !== undefined && scaled.length > 0) all.push({ name: "scale", verbs: scaled, kind: SCALE, form: "scale" });
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function verbsOf(subresource: AnyNamed): readonly Verb[] {
  if (subresource.kind !== undefined) return KIND_VERBS.filter((verb) => subresource[verb] !== undefined);
  const { methods = ["GET"] } = subresource;
  return [...new Set(methods.flatMap((method) => METHOD_VERBS.get(method) ?? []))].sort();
}

const KIND_VERBS = ["create", "get", "update"] as const;
