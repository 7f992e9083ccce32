export type { WorkspaceMountsOptions } from "./options.ts";
export { WorkspaceMounts, workspaceMounts } from "./workspace-mounts.ts";
