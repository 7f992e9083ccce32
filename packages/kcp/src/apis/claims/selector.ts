import {
  everyLabel,
  fieldInvalid,
  fieldRequired,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";

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
