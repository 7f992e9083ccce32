import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { type ClaimSelector, claimKey } from "./claims.ts";

/** A claim of v1alpha1, wherever it is. */
export interface OlderClaim {
  group?: string;
  resource: string;
  identityHash?: string;
  all?: boolean;
  resourceSelector?: { name?: string; namespace?: string }[];
  state?: "Accepted" | "Rejected";
}

/** A claim of v1alpha2, wherever it is. */
export interface NewerClaim {
  group?: string;
  resource: string;
  identityHash?: string;
  verbs: string[];
  defaultSelector?: ClaimSelector;
  selector?: ClaimSelector;
  state?: "Accepted" | "Rejected";
}

/** What differs between the places where claims are. */
interface ClaimForm {
  /** Whether claims have a selector in v1alpha2. */
  readonly scoped: boolean;
  /** Whether v1alpha1 completes the group too, by which it then finds claims. */
  readonly grouped: boolean;
}

/** Claims of an APIExport. */
export const EXPORT_CLAIM: ClaimForm = { scoped: false, grouped: true };
/** Claims that were decided on. */
export const BOUND_CLAIM: ClaimForm = { scoped: true, grouped: false };
/** Claims of an export as its bindings tell them. */
export const TOLD_CLAIM: ClaimForm = { scoped: false, grouped: false };

/** Converted claims, and those that the new version says too little of. */
interface ConvertedClaims<Claim> {
  readonly claims: Claim[] | undefined;
  readonly aside: object[];
}

/**
 * Claims as v1alpha1 has them.
 *
 * @param known Claims of v1alpha1 that were kept aside
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
 * Claims as v1alpha2 has them.
 *
 * @param known Claims of v1alpha2 that were kept aside; the schema judges what they say
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

/** What v1alpha1 can say of a claim: it knows no verbs, and of selectors only all. */
function older(
  { verbs: _verbs, defaultSelector: _default, selector, ...claim }: NewerClaim,
  form: ClaimForm,
): OlderClaim {
  const rest = shownKey(claim, form);
  return selector?.matchAll === true ? { ...rest, all: true } : rest;
}

/** What v1alpha2 makes of a claim that v1alpha1 alone knows: `resourceSelector` never limited anything. */
function newer({ all: _all, resourceSelector: _selector, ...claim }: OlderClaim, { scoped }: ClaimForm): NewerClaim {
  return { ...withKey(claim), verbs: ["*"], ...(scoped ? { selector: { matchAll: true } } : {}) };
}

/** As v1alpha2 completes it by its defaults. */
function withKey<Claim extends OlderClaim | NewerClaim>(claim: Claim): Claim {
  return { ...claim, group: claim.group ?? "", identityHash: claim.identityHash ?? "" };
}

/** As v1alpha1 has it: what is empty is left out, but what it would complete again. */
function shownKey({ group = "", identityHash, ...claim }: OlderClaim, { grouped }: ClaimForm): OlderClaim {
  return { ...claim, ...(grouped || group !== "" ? { group } : {}), ...(identityHash && { identityHash }) };
}

/** The claims that would come back as others, and those about the same, so that they can be told apart by their order. */
function aside<Claim extends OlderClaim | NewerClaim>(
  claims: readonly Claim[] = [],
  comesBack: (claim: Claim, at: number) => boolean,
): Claim[] {
  const keys = new Set(claims.filter((claim, at) => !comesBack(claim, at)).map(claimKey));
  return claims.filter((claim) => keys.has(claimKey(claim)));
}

/** Claims by what they are about; several about the same in their order. */
class Recall<Claim extends OlderClaim | NewerClaim> {
  readonly #claims = new Map<string, Claim[]>();

  constructor(claims: readonly Claim[]) {
    for (const claim of claims) {
      const same = this.#claims.get(claimKey(claim));
      if (same === undefined) this.#claims.set(claimKey(claim), [claim]);
      else same.push(claim);
    }
  }

  /** The next about the same; the last is for all that follow. */
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

/** What a claim of v1alpha2 says is judged when it is written, by its schema. */
function isNewerClaim(claim: JsonObject): claim is JsonObject & NewerClaim {
  return isReference(claim);
}

/** Whether something is a claim as v1alpha1 may show it: nobody judges what is read. */
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

// The members of claims in the order in which kcp writes them into annotations, empty ones left out as there.

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
