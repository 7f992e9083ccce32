import { base62, goJson, sha224 } from "./hashes.ts";

/** On Workspace and LogicalCluster: its phase, so that it can be selected by (kcp's `WorkspacePhaseLabel`). */
export const PHASE_LABEL = "tenancy.kcp.io/phase";

/** Labels of a LogicalCluster that begin so name its initializers, see `initializerLabel` (`WorkspaceInitializerLabelPrefix`). */
export const INITIALIZER_LABEL_PREFIX = "initializer.internal.kcp.io/";

/** Labels of a LogicalCluster that begin so name its terminators, see `terminatorLabel` (`WorkspaceTerminatorLabelPrefix`). */
export const TERMINATOR_LABEL_PREFIX = "terminator.internal.kcp.io/";

/** Labels of an object that begin so say which exports' claims cover it, see `claimLabel` (`APIExportPermissionClaimLabelPrefix`). */
export const CLAIM_LABEL_PREFIX = "claimed.internal.apis.kcp.io/";

/** On an APIBinding: the hash of its export, see `exportHash` (`InternalAPIBindingExportLabelKey`). */
export const BINDING_EXPORT_LABEL = "internal.apis.kcp.io/export";

/** On a Shard: its own name, for selectors. */
export const SHARD_NAME_LABEL = "name";

/** On Shards, and copied to the Workspaces on them. */
export const REGION_LABEL = "region";

/** One label, as it is written on an object and as selectors ask for it. */
export interface Label {
  /** With its prefix. */
  readonly key: string;
  /** A hash. */
  readonly value: string;
}

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

/** The hash of a claim of `apis.kcp.io/v1alpha2`: of its JSON in Go's order of fields, verbs and selector emptied. */
export function claimHash({ group = "", resource, identityHash = "" }: ClaimedResource): string {
  const members = [`"resource":${goJson(resource)}`, '"verbs":null'];
  if (group !== "") members.unshift(`"group":${goJson(group)}`);
  if (identityHash !== "") members.push(`"identityHash":${goJson(identityHash)}`);
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
const REFLEXIVE_HASH = base62(Uint8Array.from({ length: 28 }, (_, index) => index % 10));

/** The label of APIBindings to the export when no claim covers them (kcp's `ToReflexiveAPIBindingLabelKeyAndValue`). */
export const reflexiveLabel = (of: ExportReference): Label => ({
  key: CLAIM_LABEL_PREFIX + exportHash(of),
  value: REFLEXIVE_HASH,
});

/** kcp counts the prefix to what a label's name may have, although Kubernetes does not. */
const LONGEST_LABEL_NAME = 63;

/**
 * A label of a LogicalCluster that is about one of its types, by the hash of what the type's initializer is called: made as kcp makes its own.
 *
 * @param prefix begins the key, and ends with a slash
 */
export function lifecycleLabel(prefix: string, name: string): Label {
  const hash = sha224(name).toString("hex");
  return { key: prefix + hash.slice(0, LONGEST_LABEL_NAME - prefix.length), value: hash };
}

/** The label of a LogicalCluster that still waits for this initializer (kcp's `InitializerToLabel`). */
export const initializerLabel = (initializer: string): Label => lifecycleLabel(INITIALIZER_LABEL_PREFIX, initializer);

/** The label of a LogicalCluster that still waits for this terminator (kcp's `TerminatorToLabel`). */
export const terminatorLabel = (terminator: string): Label => lifecycleLabel(TERMINATOR_LABEL_PREFIX, terminator);
