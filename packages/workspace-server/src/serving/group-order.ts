import type { ServedResource } from "@virtual-workspaces/framework";

/** Kubernetes' own groups as kcp's discovery has them; what workspaces define and bind comes behind. */
const GROUPS: readonly string[] = [
  "",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "rbac.authorization.k8s.io",
  "admissionregistration.k8s.io",
  "events.k8s.io",
];

/** In the order by which clients choose: `kubectl get events` are those of the core group. */
export function inGroupOrder(resources: readonly ServedResource[]): readonly ServedResource[] {
  const rank = ({ definition }: ServedResource): number => {
    const at = GROUPS.indexOf(definition.group);
    return at === -1 ? GROUPS.length : at;
  };
  return resources.toSorted((a, b) => rank(a) - rank(b));
}
