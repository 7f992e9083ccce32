import { fieldInvalid, fieldRequired, type GroupResource, type StatusCause } from "@virtual-workspaces/apimachinery";
import {
  everyLabel,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from "@virtual-workspaces/apimachinery/selectors";

/** Resource of a permission claim, and the identity of its export. Missing fields count as empty. */
export interface ClaimReference {
  readonly group?: string | undefined;
  readonly resource: string;
  readonly identityHash?: string | undefined;
}

/** Returns a map key, equal for claims with the same reference (kcp's EqualGRI). Its form may change. */
export function claimKey({ group = "", resource, identityHash = "" }: ClaimReference): string {
  return `${group}/${resource}/${identityHash}`;
}

/** Returns whether two claims have the same group, resource and identity (kcp's EqualGRI). */
export function sameClaim(a: ClaimReference, b: ClaimReference): boolean {
  return claimKey(a) === claimKey(b);
}

/** Formats a claim as kcp's messages do: `configmaps`, `widgets.example.dev:<identity>`. */
export function formatClaim({ group = "", resource, identityHash = "" }: ClaimReference): string {
  if (group === "") return resource;
  return identityHash === "" ? `${resource}.${group}` : `${resource}.${group}:${identityHash}`;
}

/**
 * Returns the resource by which a request for events is compared with claims: `events.k8s.io` becomes the core group (kcp's
 * NormalizeEventGroupResource). Claims are not normalized, so one on `events.k8s.io` grants nothing.
 */
export function normalizedGroupResource(resource: GroupResource): GroupResource {
  const isEvents = resource.resource === "events" && resource.group === "events.k8s.io";
  return isEvents ? { group: "", resource: "events" } : resource;
}

/** Selector of the claimed objects of a resource (kcp's PermissionClaimSelector). */
export interface ClaimSelector {
  readonly matchAll?: boolean | undefined;
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[]
    | undefined;
}

/**
 * Returns a claim's selector as a label selector. It matches everything with `matchAll` and also, as in kcp, when no field is set,
 * which {@link claimSelectorProblems} rejects.
 *
 * @throws ApiError 400 on an invalid key, operator or value. Such a claim grants nothing
 */
export function claimLabelSelector({ matchAll, matchLabels, matchExpressions }: ClaimSelector): LabelSelector {
  if (matchAll === true) return everyLabel;
  return labelSelectorFromObject({ matchLabels, matchExpressions } as LabelSelectorObject);
}

/** Returns whether a claim selects an object with these labels. A claim with an invalid selector selects no object. */
export function claimMatches(selector: ClaimSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  try {
    return claimLabelSelector(selector).matches(labels);
  } catch {
    return false;
  }
}

/**
 * Returns the problems of a claim's selector beyond its schema: `matchAll` excludes the other fields, and one field must be set.
 *
 * @param path Field path of the selector: `spec.permissionClaims[0].selector`
 */
export function claimSelectorProblems(selector: ClaimSelector, path: string): StatusCause[] {
  const { matchAll, matchLabels = {}, matchExpressions = [] } = selector;
  const given = [
    ...(Object.keys(matchLabels).length > 0 ? ["matchLabels"] : []),
    ...(matchExpressions.length > 0 ? ["matchExpressions"] : []),
  ];
  if (matchAll === true)
    return given.map((name) => fieldInvalid(`${path}.${name}`, selector, `${name} cannot be used with matchAll`));
  if (given.length > 0) return [];
  return [fieldRequired(path, "either one of matchAll, matchLabels, or matchExpressions must be set")];
}

/** Claim with the verbs that it allows. */
export interface ClaimedVerbs extends ClaimReference {
  readonly verbs: readonly string[];
}

/**
 * Returns the verbs that a claim grants: the verbs of the binding's claim that are also in the export's first claim with the same
 * reference. As in kcp, `*` is compared like any other verb: `*` on one side and `get` on the other grant nothing.
 *
 * @param claims Claims of the export
 */
export function grantedVerbs(claim: ClaimedVerbs, claims: readonly ClaimedVerbs[]): ReadonlySet<string> {
  const exported = claims.find((other) => sameClaim(claim, other));
  return new Set(claim.verbs.filter((verb) => exported?.verbs.includes(verb) === true));
}

/** Returns whether the granted verbs contain this verb or `*`. */
export function verbIsGranted(verb: string, granted: ReadonlySet<string>): boolean {
  return granted.has(verb) || granted.has("*");
}
