import { INITIALIZER_GROUP_PREFIX, TERMINATOR_GROUP_PREFIX } from "@virtual-workspaces/kcp";

/** What views of starting and ending workspaces add to a request that they have authorized. */
export const LIFECYCLE_GROUP_PREFIXES: readonly string[] = [INITIALIZER_GROUP_PREFIX, TERMINATOR_GROUP_PREFIX];
/** Before `<namespace>:<name>`: a service account, as its tokens name it. */
export const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";
