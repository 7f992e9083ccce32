import { fieldInvalid, fieldRequired, type GroupResource, type StatusCause } from "@virtual-workspaces/apimachinery";
import {
  everyLabel,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from "@virtual-workspaces/apimachinery/selectors";

/** What a permission claim is about: a resource, and whose. Fields that are missing are empty. */
export interface ClaimReference {
  readonly group?: string | undefined;
  readonly resource: string;
  readonly identityHash?: string | undefined;
}

/** The same for two claims exactly if they are about the same (kcp's EqualGRI). For maps; its form is nothing to rely on. */
export function claimKey({ group = "", resource, identityHash = "" }: ClaimReference): string {
  return `${group}/${resource}/${identityHash}`;
}

/** Whether two claims are about the same: group, resource and identity (kcp's EqualGRI). */
export function sameClaim(a: ClaimReference, b: ClaimReference): boolean {
  return claimKey(a) === claimKey(b);
}

/** A claim as kcp's messages name it: `configmaps`, `widgets.example.dev:<identity>`. */
export function formatClaim({ group = "", resource, identityHash = "" }: ClaimReference): string {
  if (group === "") return resource;
  return identityHash === "" ? `${resource}.${group}` : `${resource}.${group}:${identityHash}`;
}

/**
 * The resource by which a request on events is compared with claims: those of `events.k8s.io` are the core group's
 * (kcp's NormalizeEventGroupResource). The claim is compared as it stands: one on `events.k8s.io` gives nothing.
 */
export function normalizedGroupResource(resource: GroupResource): GroupResource {
  const isEvents = resource.resource === "events" && resource.group === "events.k8s.io";
  return isEvents ? { group: "", resource: "events" } : resource;
}

/** Which objects of a claimed resource are meant (kcp's PermissionClaimSelector). */
export interface ClaimSelector {
  readonly matchAll?: boolean | undefined;
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[]
    | undefined;
}

/**
 * A claim's selector, to be asked about labels. Matches everything with `matchAll`, and also, as in kcp, if nothing is
 * set, which {@link claimSelectorProblems} refuses.
 *
 * @throws ApiError 400 when a key, operator or value is not valid. Such a claim gives nothing
 */
export function claimLabelSelector({ matchAll, matchLabels, matchExpressions }: ClaimSelector): LabelSelector {
  if (matchAll === true) return everyLabel;
  return labelSelectorFromObject({ matchLabels, matchExpressions } as LabelSelectorObject);
}

/** Whether a claim means an object with these labels. One whose selector is not valid means none. */
export function claimMatches(selector: ClaimSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  try {
    return claimLabelSelector(selector).matches(labels);
  } catch {
    return false;
  }
}

/**
 * What is wrong with a claim's selector, beyond its schema: `matchAll` excludes the others, one must be set.
 *
 * @param path Where it is: `spec.permissionClaims[0].selector`
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

/** A claim with what may be done by it. */
export interface ClaimedVerbs extends ClaimReference {
  readonly verbs: readonly string[];
}

/**
 * The verbs that a claim gives: those of the binding's claim that the first claim of the export about the same has too.
 * As in kcp, `*` is compared like any other: `*` on one side and `get` on the other have nothing in common.
 *
 * @param claims The claims of the export
 */
export function grantedVerbs(claim: ClaimedVerbs, claims: readonly ClaimedVerbs[]): ReadonlySet<string> {
  const exported = claims.find((other) => sameClaim(claim, other));
  return new Set(claim.verbs.filter((verb) => exported?.verbs.includes(verb) === true));
}

/** Whether granted verbs hold one, or `*`. */
export function verbIsGranted(verb: string, granted: ReadonlySet<string>): boolean {
  return granted.has(verb) || granted.has("*");
}
