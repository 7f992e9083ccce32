import type { GroupResource, ObjectKey } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import type { APIBinding, APIExport } from "@virtual-workspaces/kcp";
import { type ClaimReference, claimKey, isReview } from "@virtual-workspaces/kcp/apis";
import type { ClaimIndex } from "../claims/claim-index.ts";
import { type KindsOf, relabel } from "../claims/claim-labels.ts";
import type { Exports } from "../exports/exports.ts";
import { CLAIMS_APPLIED, CLAIMS_VALID, type StatusDraft } from "./draft.ts";

type ExportClaim = NonNullable<NonNullable<APIExport["spec"]>["permissionClaims"]>[number];
type BindingClaim = NonNullable<APIBinding["spec"]["permissionClaims"]>[number];
type Applied = NonNullable<NonNullable<APIBinding["status"]>["appliedPermissionClaims"]>[number];

const MOST_INVALID = 10;
const MOST_MISMATCHED = 5;

/** Options of {@link applyClaims}. */
export interface ClaimsOptions {
  readonly claims: ClaimIndex;
  readonly kindsOf: KindsOf;
  readonly exports: Pick<Exports, "provides">;
}

/** Binding whose claims are applied. */
export interface Applying {
  readonly binding: APIBinding;
  readonly key: ObjectKey;
  readonly found: APIExport;
  readonly draft: StatusDraft;
  readonly signal: AbortSignal;
}

/**
 * Adds and removes the labels of a binding's accepted claims. Sets in the status which claims are applied, which the
 * export does not have, and which differ from the export's.
 *
 * @returns the errors; retry
 */
export async function applyClaims(options: ClaimsOptions, applying: Applying): Promise<readonly string[]> {
  const { binding, found, draft } = applying;
  const exported = byKey<ExportClaim>(found.spec?.permissionClaims ?? []);
  const accepted = byKey((binding.spec.permissionClaims ?? []).filter(({ state }) => state === "Accepted"));
  const applied = byKey<Applied>(binding.status?.appliedPermissionClaims ?? []);
  const expected = [...accepted.keys()].filter((key) => exported.has(key));
  const changed = new Map<string, ClaimReference>();
  for (const key of expected) {
    const [now, before] = [accepted.get(key) as BindingClaim, applied.get(key)];
    if (before === undefined || !equalJson(now.selector, before.selector)) changed.set(key, now);
  }
  for (const [key, claim] of applied) if (!accepted.has(key)) changed.set(key, claim);
  const failed = new Map<string, string>();
  for (const [key, claim] of inOrder(changed)) {
    const error = await labelled(options, applying, claim);
    if (error !== undefined) failed.set(key, error);
  }
  judge(draft, { exported, accepted, expected });
  const done = inOrder(new Map(expected.map((key) => [key, accepted.get(key) as BindingClaim])));
  draft.applied(done.filter(([key]) => !failed.has(key)).map(([, { state: _state, ...claim }]) => claim));
  const errors = [...failed.values()];
  if (errors.length === 0) draft.holds(CLAIMS_APPLIED);
  else {
    const shown = errors.slice(0, MOST_INVALID);
    const message = `Permission claims have not been fully applied: ${aggregate(shown)}`;
    draft.fails(CLAIMS_APPLIED, ["Error", "InternalError", message]);
  }
  return errors;
}

async function labelled(
  { claims, kindsOf, exports }: ClaimsOptions,
  { key, signal }: Applying,
  { group = "", resource, identityHash = "" }: ClaimReference,
): Promise<string | undefined> {
  const of: GroupResource = { group, resource };
  if (isReview(of)) return undefined;
  const { cluster } = key;
  const kinds = kindsOf(cluster, of);
  const about = `group=${JSON.stringify(group)}, resource=${JSON.stringify(resource)}`;
  if (kinds === undefined) {
    // No workspace of the shard has bound it, so there is nothing to label. Admission labels what comes later.
    if (exports.provides(identityHash, of)) return undefined;
    return `error getting informer for ${about}: unable to find informer for ${group}.${resource}`;
  }
  // The binding's own label is written with its status.
  const except = group === "apis.kcp.io" && resource === "apibindings" ? key : undefined;
  try {
    await relabel(claims, { cluster, resource: of, kinds, except, signal });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return `error listing ${about}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

interface Claims {
  readonly exported: ReadonlyMap<string, ExportClaim>;
  readonly accepted: ReadonlyMap<string, BindingClaim>;
  readonly expected: readonly string[];
}

function judge(draft: StatusDraft, { exported, accepted, expected }: Claims): void {
  const unexpected = inOrder(accepted)
    .filter(([key]) => !exported.has(key))
    .map(
      ([, { group = "", resource, identityHash = "" }]) =>
        `unexpected/invalid claim for ${resource}.${group} (identity ${JSON.stringify(identityHash)})`,
    );
  const mismatches = [...expected].sort().flatMap((key) => {
    const [mine, theirs] = [accepted.get(key), exported.get(key)];
    return mine === undefined || theirs === undefined ? [] : mismatch(mine, theirs);
  });
  if (mismatches.length > 0) {
    const shown = mismatches.slice(0, MOST_MISMATCHED);
    const text = `${mismatches.length} permission claim(s) have mismatched verbs or selectors (showing first ${shown.length}): ${shown.join(", ")}`;
    draft.fails(CLAIMS_VALID, ["Warning", "PermissionClaimsMismatch", text]);
  } else if (unexpected.length > 0) {
    const shown = unexpected.slice(0, MOST_INVALID);
    const text = `${unexpected.length} unexpected and/or invalid permission claims (showing first ${shown.length}): ${aggregate(shown)}`;
    draft.fails(CLAIMS_VALID, ["Error", "InvalidPermissionClaims", text]);
  } else draft.holds(CLAIMS_VALID);
}

function mismatch(mine: BindingClaim, theirs: ExportClaim): string[] {
  const parts: string[] = [];
  if (!mine.verbs.includes("*") && !theirs.verbs.includes("*") && !sameSet(mine.verbs, theirs.verbs))
    parts.push(`verbs: accepted [${mine.verbs.join(" ")}], exported [${theirs.verbs.join(" ")}]`);
  if (theirs.defaultSelector !== undefined && !equalJson(mine.selector, theirs.defaultSelector))
    parts.push("selector differs from defaultSelector");
  return parts.length === 0 ? [] : [`${mine.resource}.${mine.group ?? ""} (${parts.join("; ")})`];
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}

function byKey<Claim extends ClaimReference>(claims: readonly Claim[]): Map<string, Claim> {
  return new Map(claims.map((claim) => [claimKey(claim), claim]));
}

/** Sorts by resource, group and identity, as kcp does. */
function inOrder<Claim extends ClaimReference>(claims: ReadonlyMap<string, Claim>): [string, Claim][] {
  const text = ({ group = "", resource, identityHash = "" }: Claim): string => `${resource}/${group}/${identityHash}`;
  return [...claims].sort(([, one], [, other]) => (text(one) < text(other) ? -1 : 1));
}

/** Formats several errors as Go's aggregate. */
function aggregate(texts: readonly string[]): string {
  const [one = "", ...others] = new Set(texts);
  return others.length === 0 ? one : `[${[one, ...others].join(", ")}]`;
}
