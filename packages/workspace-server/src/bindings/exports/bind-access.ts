import type { AskedAccess } from "../../authz/access.ts";

/** The question whether somebody may bind an export, which is asked in the export's logical cluster. */
export function bindAttributes(name: string): AskedAccess {
  return { verb: "bind", group: "apis.kcp.io", version: "v1alpha1", resource: "apiexports", name };
}
