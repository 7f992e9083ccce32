import { acceptChecks } from "./accept.ts";
import { applyChecks } from "./apply.ts";
import { applyOwnerChecks } from "./apply-owners.ts";
import { bodyChecks } from "./bodies.ts";
import type { Check } from "./check.ts";
import { createChecks } from "./create.ts";
import { deleteChecks } from "./delete.ts";
import { deleteCollectionChecks } from "./delete-collection.ts";
import { discoveryChecks } from "./discovery.ts";
import { errorChecks } from "./errors.ts";
import { expiredChecks } from "./expired.ts";
import { garbageChecks } from "./garbage.ts";
import { identityChecks, identityHeaderChecks } from "./identity.ts";
import { namespaceChecks } from "./namespaces.ts";
import { openApiChecks } from "./openapi.ts";
import { orderChecks } from "./order.ts";
import { pageChecks } from "./pages.ts";
import { patchChecks } from "./patch.ts";
import { representationChecks } from "./representations.ts";
import { resourceVersionChecks } from "./resource-versions.ts";
import { reviewChecks } from "./reviews.ts";
import { routingChecks } from "./routing.ts";
import { securityChecks } from "./security.ts";
import { shardChecks } from "./shards.ts";
import { statusChecks } from "./status.ts";
import { transitionChecks } from "./transitions.ts";
import { updateChecks } from "./update.ts";
import { watchListChecks } from "./watch-list.ts";
import { watchChecks } from "./watches.ts";

/** Title of each group of checks by the first part of their ids, in the order of the suite. */
export const GROUPS: Readonly<Record<string, string>> = Object.freeze({
  T1: "WatchList",
  T2: "versions that are too old",
  T3: "resourceVersion and pages",
  T4: "one sequence of versions",
  T5: "entering and leaving a selector",
  T6: "Accept",
  T7: "discovery",
  T8: "OpenAPI",
  T9: "server-side apply",
  T10: "deletecollection, owners, namespaces",
  T12: "identities",
  T13: "identity headers",
  T14: "namespaces of other users",
  T15: "shards",
  T20: "reviews",
  E: "errors",
  S: "unauthenticated clients",
  W: "watches",
  V: "writes",
  P1: "provider",
  P2: "spaces",
  P3: "missing spaces and invalid requests",
  P4: "unauthenticated clients of the provider",
  P5: "kubeconfigs",
  P6: "changes",
  P7: "creation and deletion of spaces",
});

/** All checks, in order. */
export const checks: readonly Check[] = [
  ...watchListChecks,
  ...expiredChecks,
  ...resourceVersionChecks,
  ...pageChecks,
  ...shardChecks,
  ...orderChecks,
  ...acceptChecks,
  ...representationChecks,
  ...discoveryChecks,
  ...routingChecks,
  ...openApiChecks,
  ...errorChecks,
  ...securityChecks,
  ...identityChecks,
  ...identityHeaderChecks,
  ...namespaceChecks,
  ...reviewChecks,
  ...watchChecks,
  ...transitionChecks,
  ...applyChecks,
  ...applyOwnerChecks,
  ...deleteCollectionChecks,
  ...garbageChecks,
  ...createChecks,
  ...updateChecks,
  ...patchChecks,
  ...deleteChecks,
  ...bodyChecks,
  ...statusChecks,
].sort((a, b) => rank(a) - rank(b));

/** Returns the group of a check: `T1` for `T1.4`, `P1` for `P1.2`, `W` for `W2`. */
export function groupOf(id: string): string {
  return /^([TP]\d+|[A-Z])/.exec(id)?.[0] ?? "";
}

function rank({ id }: Check): number {
  const group = groupOf(id);
  return Object.keys(GROUPS).indexOf(group) * 100 + Number(id.slice(group.length).replace(".", ""));
}
