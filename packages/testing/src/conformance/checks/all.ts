import type { Check } from "../check.ts";
import { acceptChecks } from "./accept.ts";
import { discoveryChecks } from "./discovery.ts";
import { errorChecks } from "./errors.ts";
import { expiredChecks } from "./expired.ts";
import { openApiChecks } from "./openapi.ts";
import { orderChecks } from "./order.ts";
import { pageChecks } from "./pages.ts";
import { representationChecks } from "./representations.ts";
import { resourceVersionChecks } from "./resource-versions.ts";
import { routingChecks } from "./routing.ts";
import { securityChecks } from "./security.ts";
import { watchListChecks } from "./watch-list.ts";
import { watchChecks } from "./watches.ts";

/** What the first part of a check's id stands for, in the order of the suite. */
export const GROUPS: Readonly<Record<string, string>> = Object.freeze({
  T1: "WatchList",
  T2: "too old",
  T3: "resourceVersion and pages",
  T4: "one line of versions",
  T6: "Accept",
  T7: "discovery",
  T8: "OpenAPI",
  E: "errors",
  S: "strangers",
  W: "watches",
});

/** The whole suite, in order. */
export const checks: readonly Check[] = [
  ...watchListChecks,
  ...expiredChecks,
  ...resourceVersionChecks,
  ...pageChecks,
  ...orderChecks,
  ...acceptChecks,
  ...representationChecks,
  ...discoveryChecks,
  ...routingChecks,
  ...openApiChecks,
  ...errorChecks,
  ...securityChecks,
  ...watchChecks,
].sort((a, b) => rank(a) - rank(b));

/** The group of a check: `T1` of `T1.4`, `W` of `W2`. */
export function groupOf(id: string): string {
  return /^(T\d+|[A-Z])/.exec(id)?.[0] ?? "";
}

function rank({ id }: Check): number {
  const group = groupOf(id);
  return Object.keys(GROUPS).indexOf(group) * 100 + Number(id.slice(group.length).replace(".", ""));
}
