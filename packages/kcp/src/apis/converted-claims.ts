import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { type ClaimSelector, claimKey } from "./claims.ts";

/** Claim in v1alpha1, in any field of an APIExport or APIBinding. */
export interface OlderClaim {
  group?: string;
  resource: string;
  identityHash?: string;
  all?: boolean;
  resourceSelector?: { name?: string; namespace?: string }[];
  state?: "Accepted" | "Rejected";
}

/** Claim in v1alpha2, in any field of an APIExport or APIBinding. */
export interface NewerClaim {
  group?: string;
  resource: string;
  identityHash?: string;
  verbs: string[];
  defaultSelector?: ClaimSelector;
  selector?: ClaimSelector;
  state?: "Accepted" | "Rejected";
}

/** Differences between the fields that hold claims. */
interface ClaimForm {
  /** Whether claims in this field have a selector in v1alpha2. */
  readonly scoped: boolean;
  /** Whether v1alpha1 defaults the group as well, which is part of the key of its claims. */
  readonly grouped: boolean;
}

/** Claims of an APIExport's spec. */
export const EXPORT_CLAIM: ClaimForm = { scoped: false, grouped: true };
/** Claims of an APIBinding that its owner accepted or rejected. */
export const BOUND_CLAIM: ClaimForm = { scoped: true, grouped: false };
/** Claims of an export, as the status of its bindings repeats them. */
export const TOLD_CLAIM: ClaimForm = { scoped: false, grouped: false };

/** Converted claims, and the original claims that the new version cannot express in full. */
interface ConvertedClaims<Claim> {
  readonly claims: Claim[] | undefined;
  readonly aside: object[];
}

/**
 * Converts claims to v1alpha1.
 *
 * @param known v1alpha1 claims from the annotation
 */
export function olderClaims<Claim extends OlderClaim>(
  claims: readonly NewerClaim[] | undefined,
  known: readonly JsonObject[],
  form: ClaimForm,
): ConvertedClaims<Claim> {
  const recall = new Recall(known.filter(isOlderClaim));
  const converted = claims?.map((claim): OlderClaim => {
    const made = older(claim, form);
    const was = recall.of(claim);
    if (was === undefined) return made;
    const { all: _all, resourceSelector: _selector, ...rest } = made;
    return { ...rest, ...given("all", was.all), ...given("resourceSelector", was.resourceSelector) };
  });
  const comesBack = (claim: NewerClaim): boolean => equalJson(newer(older(claim, form), form), withKey(claim));
  return { claims: converted as Claim[] | undefined, aside: aside(claims, comesBack).map(newerMembers) };
}

/**
 * Converts claims to v1alpha2.
 *
 * @param known v1alpha2 claims from the annotation. The schema validates their content
 */
export function newerClaims<Claim extends NewerClaim>(
  claims: readonly OlderClaim[] | undefined,
  known: readonly JsonObject[],
  form: ClaimForm,
): ConvertedClaims<Claim> {
  const recall = new Recall(known.filter(isNewerClaim));
  const converted = claims?.map((claim): NewerClaim => {
    const made = newer(claim, form);
    const was = recall.of(claim);
    if (was === undefined) return made;
    return {
      ...made,
      ...given("verbs", was.verbs),
      ...given("defaultSelector", was.defaultSelector),
      ...(form.scoped ? given("selector", was.selector) : {}),
    };
  });
  const comesBack = (claim: OlderClaim, at: number): boolean => {
    const made = converted?.[at];
    return made !== undefined && equalJson(older(made, form), shownKey(claim, form));
  };
  return { claims: converted as Claim[] | undefined, aside: aside(claims, comesBack).map(olderMembers) };
}

/** Converts a claim to v1alpha1, which has no verbs and no selector other than `all`. */
function older(
  { verbs: _verbs, defaultSelector: _default, selector, ...claim }: NewerClaim,
  form: ClaimForm,
): OlderClaim {
  const rest = shownKey(claim, form);
  return selector?.matchAll === true ? { ...rest, all: true } : rest;
}

/** Converts a claim that only v1alpha1 knows. Its `resourceSelector` never limited anything. */
function newer({ all: _all, resourceSelector: _selector, ...claim }: OlderClaim, { scoped }: ClaimForm): NewerClaim {
  return { ...withKey(claim), verbs: ["*"], ...(scoped ? { selector: { matchAll: true } } : {}) };
}

/** Adds the defaults of v1alpha2. */
function withKey<Claim extends OlderClaim | NewerClaim>(claim: Claim): Claim {
  return { ...claim, group: claim.group ?? "", identityHash: claim.identityHash ?? "" };
}

/** Removes empty fields, except those that v1alpha1 would default again. */
function shownKey({ group = "", identityHash, ...claim }: OlderClaim, { grouped }: ClaimForm): OlderClaim {
  return { ...claim, ...(grouped || group !== "" ? { group } : {}), ...(identityHash && { identityHash }) };
}

/** Returns the claims that would change when converted back, and all claims with the same key, so that their order distinguishes them. */
function aside<Claim extends OlderClaim | NewerClaim>(
  claims: readonly Claim[] = [],
  comesBack: (claim: Claim, at: number) => boolean,
): Claim[] {
  const keys = new Set(claims.filter((claim, at) => !comesBack(claim, at)).map(claimKey));
  return claims.filter((claim) => keys.has(claimKey(claim)));
}

/** Claims by key. Claims with the same key keep their order. */
class Recall<Claim extends OlderClaim | NewerClaim> {
  readonly #claims = new Map<string, Claim[]>();

  constructor(claims: readonly Claim[]) {
    for (const claim of claims) {
      const same = this.#claims.get(claimKey(claim));
      if (same === undefined) this.#claims.set(claimKey(claim), [claim]);
      else same.push(claim);
    }
  }

  /** Returns the next claim with the same key. The last one serves all further calls. */
  of(claim: OlderClaim | NewerClaim): Claim | undefined {
    const same = this.#claims.get(claimKey(claim));
    return same !== undefined && same.length > 1 ? same.shift() : same?.[0];
  }
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [N in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [N in Name]?: Value });
}

function isReference({ group = "", resource, identityHash = "" }: JsonObject): boolean {
  return [group, resource, identityHash].every((text) => typeof text === "string");
}

/** Returns whether a value is a claim of v1alpha2. Its schema validates the content when it is written. */
function isNewerClaim(claim: JsonObject): claim is JsonObject & NewerClaim {
  return isReference(claim);
}

/** Returns whether a value is a valid claim of v1alpha1, since reads are not validated. */
function isOlderClaim(claim: JsonObject): claim is JsonObject & OlderClaim {
  const { all = false, resourceSelector = [] } = claim;
  return isReference(claim) && typeof all === "boolean" && isResourceSelector(resourceSelector);
}

function isResourceSelector(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const texts = (item: unknown): boolean => {
    if (!isJsonObject(item)) return false;
    const { name = "", namespace = "", ...rest } = item;
    return typeof name === "string" && typeof namespace === "string" && Object.keys(rest).length === 0;
  };
  return value.every(texts);
}

// These functions order the fields as kcp does in its annotations, and leave out empty ones.

function olderMembers({ group, resource, all, resourceSelector, identityHash, state }: OlderClaim): object {
  return {
    group: unlessEmpty(group),
    resource,
    all,
    resourceSelector: resourceSelector?.map(({ name, namespace }) => ({ name, namespace })),
    identityHash: unlessEmpty(identityHash),
    state,
  };
}

function newerMembers(claim: NewerClaim): object {
  const { group, resource, verbs, identityHash, defaultSelector, selector, state } = claim;
  return {
    group: unlessEmpty(group),
    resource,
    verbs,
    identityHash: unlessEmpty(identityHash),
    defaultSelector: defaultSelector && selectorMembers(defaultSelector),
    selector: selector && selectorMembers(selector),
    state,
  };
}

function selectorMembers({ matchLabels, matchExpressions, matchAll }: ClaimSelector): object {
  return {
    matchLabels: matchLabels && sorted(matchLabels),
    matchExpressions: matchExpressions?.map(({ key, operator, values }) => ({ key, operator, values })),
    matchAll,
  };
}

function sorted(labels: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function unlessEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
