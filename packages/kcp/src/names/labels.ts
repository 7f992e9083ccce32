import { base62, goJson, remembered, sha224 } from "./hashes.ts";

/** On Workspace and LogicalCluster: phase, for selectors (kcp's `WorkspacePhaseLabel`). */
export const PHASE_LABEL = "tenancy.kcp.io/phase";

/** Prefix of a LogicalCluster's labels for its initializers, see `initializerLabel` (`WorkspaceInitializerLabelPrefix`). */
export const INITIALIZER_LABEL_PREFIX = "initializer.internal.kcp.io/";

/** Prefix of a LogicalCluster's labels for its terminators, see `terminatorLabel` (`WorkspaceTerminatorLabelPrefix`). */
export const TERMINATOR_LABEL_PREFIX = "terminator.internal.kcp.io/";

/** Prefix of labels for the claims that cover an object, see `claimLabel` (`APIExportPermissionClaimLabelPrefix`). */
export const CLAIM_LABEL_PREFIX = "claimed.internal.apis.kcp.io/";

/** On an APIBinding: hash of its export, see `exportHash` (`InternalAPIBindingExportLabelKey`). */
export const BINDING_EXPORT_LABEL = "internal.apis.kcp.io/export";

/** On a Shard: its own name, for selectors. */
export const SHARD_NAME_LABEL = "name";

/** On Shards, and copied to their Workspaces. */
export const REGION_LABEL = "region";

/** Label on an object and in selectors. */
export interface Label {
  /** Key with its prefix. */
  readonly key: string;
  /** Hash. */
  readonly value: string;
}

/** Reference to an APIExport. */
export interface ExportReference {
  /** Name of the export's logical cluster. A path has another hash, which matches nothing. */
  readonly cluster: string;
  /** Name of the APIExport. */
  readonly name: string;
}

/** Resource of a permission claim. Verbs and selectors may change, and are not part of the hash. */
export interface ClaimedResource {
  /** API group. Default `""`, the core group, which events are claimed in. */
  readonly group?: string | undefined;
  /** Plural name. */
  readonly resource: string;
  /** Identity of the resource's export. Default `""` for a built-in resource, or one of `apis.kcp.io`. */
  readonly identityHash?: string | undefined;
}

/** Returns the label value of `internal.apis.kcp.io/export` on APIBindings to this export (kcp's `ToAPIBindingExportLabelValue`). */
export const exportHash = ({ cluster, name }: ExportReference): string => hashOf(`${cluster}:${name}`);

const hashOf = remembered((text) => base62(sha224(text)));

/** Returns the hash of an `apis.kcp.io/v1alpha2` claim: of its JSON in Go's field order, with empty verbs and selector. */
export function claimHash({ group = "", resource, identityHash = "" }: ClaimedResource): string {
  const members = [`"resource":${goJson(resource)}`, '"verbs":null'];
  if (group !== "") members.unshift(`"group":${goJson(group)}`);
  if (identityHash !== "") members.push(`"identityHash":${goJson(identityHash)}`);
  return base62(sha224(`{${members.join(",")}}`));
}

/**
 * Returns the label by which an export finds the objects of an accepted claim (kcp's `ToLabelKeyAndValue`). Security: it decides
 * what the provider sees, so admission must strip and set it.
 */
export const claimLabel = (of: ExportReference, claim: ClaimedResource): Label => ({
  key: CLAIM_LABEL_PREFIX + exportHash(of),
  value: claimHash(claim),
});

/** Bytes 0 to 9, 0 to 9, 0 to 7. */
const REFLEXIVE_HASH = base62(Uint8Array.from({ length: 28 }, (_, index) => index % 10));

/** Returns the label of APIBindings to the export that no claim covers (kcp's `ToReflexiveAPIBindingLabelKeyAndValue`). */
export const reflexiveLabel = (of: ExportReference): Label => ({
  key: CLAIM_LABEL_PREFIX + exportHash(of),
  value: REFLEXIVE_HASH,
});

/** kcp includes the prefix in the maximum length of a label's name, unlike Kubernetes. */
const LONGEST_LABEL_NAME = 63;

/**
 * Returns a LogicalCluster's label for one of its types, with kcp's hash of the initializer's name.
 *
 * @param prefix start of the key, with a trailing slash
 */
export function lifecycleLabel(prefix: string, name: string): Label {
  const hash = hexHashOf(name);
  return { key: prefix + hash.slice(0, LONGEST_LABEL_NAME - prefix.length), value: hash };
}

const hexHashOf = remembered((name) => sha224(name).toString("hex"));

/** Returns the label of LogicalClusters that wait for this initializer (kcp's `InitializerToLabel`). */
export const initializerLabel = (initializer: string): Label => lifecycleLabel(INITIALIZER_LABEL_PREFIX, initializer);

/** Returns the label of LogicalClusters that wait for this terminator (kcp's `TerminatorToLabel`). */
export const terminatorLabel = (terminator: string): Label => lifecycleLabel(TERMINATOR_LABEL_PREFIX, terminator);
