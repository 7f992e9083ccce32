import { issueCertificate } from "@virtual-workspaces/framework";
import type { GroupTrust } from "./messages.ts";

/** The name by which workers ask for one another: no name that clients could be led to. */
export const WORKER_NAME = "worker.virtual-workspaces.internal";

/** Makes what workers of one start know one another by. */
export async function groupTrust(now: Date): Promise<GroupTrust> {
  const subject = { name: WORKER_NAME, groups: [] };
  const authority = await issueCertificate({ subject, purpose: { kind: "authority" }, now });
  const [server, client] = await Promise.all([
    issueCertificate({ subject, purpose: { kind: "server", hosts: [WORKER_NAME], addresses: [] }, now }, authority),
    issueCertificate({ subject, purpose: { kind: "client" }, now }, authority),
  ]);
  return { ca: authority.cert, server, client };
}
