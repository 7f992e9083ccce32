import { type Label, lifecycleLabel } from "@virtual-workspaces/kcp";

/** On a WorkspaceType, `"true"`: its workspaces, and those of types that extend it, want to be prepared. */
export const PREPARES_ANNOTATION = "virtual-workspaces.io/prepares";

/** Labels of a LogicalCluster that begin so say which types it has been prepared for, see {@link preparedLabel}. */
const PREPARED_LABEL_PREFIX = "prepared.virtual-workspaces.io/";

/**
 * The label of a LogicalCluster that has been prepared for a type. Without it the workspace wants to be prepared again; whoever
 * sets it there does without.
 *
 * @param holder `<logical cluster of the type>:<type>`, as the type's initializer is called
 */
export const preparedLabel = (holder: string): Label => lifecycleLabel(PREPARED_LABEL_PREFIX, holder);
