import { INITIALIZER_GROUP_PREFIX, TERMINATOR_GROUP_PREFIX } from "@virtual-workspaces/kcp";

/** What views of starting and ending workspaces add to a request that they have authorized. */
export const LIFECYCLE_GROUP_PREFIXES: readonly string[] = [INITIALIZER_GROUP_PREFIX, TERMINATOR_GROUP_PREFIX];
