// The members of claims in the order in which kcp writes them into annotations, empty ones left out as there.
import type { ClaimSelector } from "../claims/selector.ts";
import type { NewerClaim, OlderClaim } from "./claims.ts";

export function olderText({ group, resource, all, resourceSelector, identityHash, state }: OlderClaim): object {
  return {
    group: unlessEmpty(group),
    resource,
    all,
    resourceSelector: resourceSelector?.map(({ name, namespace }) => ({ name, namespace })),
    identityHash: unlessEmpty(identityHash),
    state,
  };
}

export function newerText(claim: NewerClaim): object {
  const { group, resource, verbs, identityHash, defaultSelector, selector, state } = claim;
  return {
    group: unlessEmpty(group),
    resource,
    verbs,
    identityHash: unlessEmpty(identityHash),
    defaultSelector: defaultSelector && selectorText(defaultSelector),
    selector: selector && selectorText(selector),
    state,
  };
}

function selectorText({ matchLabels, matchExpressions, matchAll }: ClaimSelector): object {
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
