import { CLAIM_LABEL_PREFIX } from "../well-known/labels.ts";
import { base62 } from "./digits.ts";
import type { Label } from "./label.ts";
import { sha224 } from "./sha.ts";

/** Which APIExport. */
export interface ExportReference {
  /** The name of the logical cluster that it is in; a path hashes to something else that matches nothing. */
  readonly cluster: string;
  /** The object's name. */
  readonly name: string;
}

/** What of a permission claim says which resource it is about. Verbs and selectors may change, and are not hashed. */
export interface ClaimedResource {
  /** Its API group. Default `""`, the core group; events are claimed there. */
  readonly group?: string | undefined;
  /** Its plural name. */
  readonly resource: string;
  /** Whose resource, if it comes from an export. Default `""`: a built-in one, or one of `apis.kcp.io`. */
  readonly identityHash?: string | undefined;
}

/** The value of the label `internal.apis.kcp.io/export` of an APIBinding to this export (kcp's `ToAPIBindingExportLabelValue`). */
export const exportHash = ({ cluster, name }: ExportReference): string => base62(sha224(`${cluster}:${name}`));

/** Go's encoding/json writes these five as escapes. */
const ESCAPED = /[<>&\u2028\u2029]/g;
const goText = (text: string): string =>
  JSON.stringify(text).replace(ESCAPED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The hash of a claim of `apis.kcp.io/v1alpha2`: of its JSON in Go's order of fields, verbs and selector emptied. */
export function claimHash({ group = "", resource, identityHash = "" }: ClaimedResource): string {
  const members = [`"resource":${goText(resource)}`, '"verbs":null'];
  if (group !== "") members.unshift(`"group":${goText(group)}`);
  if (identityHash !== "") members.push(`"identityHash":${goText(identityHash)}`);
  return base62(sha224(`{${members.join(",")}}`));
}

/**
 * The label by which the export finds the objects of a claim that is accepted (kcp's `ToLabelKeyAndValue`). Whoever may
 * set it decides what the provider sees: admission must take it off and put it on.
 */
export const claimLabel = (of: ExportReference, claim: ClaimedResource): Label => ({
  key: CLAIM_LABEL_PREFIX + exportHash(of),
  value: claimHash(claim),
});

/** 0 to 9, 0 to 9, 0 to 7. */
const REFLEXIVE = base62(Uint8Array.from({ length: 28 }, (_, index) => index % 10));

/** The label of APIBindings to the export when no claim covers them (kcp's `ToReflexiveAPIBindingLabelKeyAndValue`). */
export const reflexiveLabel = (of: ExportReference): Label => ({
  key: CLAIM_LABEL_PREFIX + exportHash(of),
  value: REFLEXIVE,
});
