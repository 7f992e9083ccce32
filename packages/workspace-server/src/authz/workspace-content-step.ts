import type { User } from "@virtual-workspaces/framework";
import { isServiceAccount, LOGICAL_CLUSTER_ADMIN_GROUP } from "@virtual-workspaces/kcp";
import type { Asked } from "./cluster-request.ts";
import { isInScope } from "./effective-users.ts";
import { allowingGrant } from "./rbac-grants.ts";
import { denied, granted, next, noOpinion, type Step, type Verdict } from "./verdict.ts";
import { LIFECYCLE_GROUP_PREFIXES } from "./well-known.ts";

/** Who may enter a workspace at all: without it, what every user has by bootstrap roles means nothing there. */
export const content: Step = { key: "02-content", decide };

const ENTERED: ReadonlySet<string> = new Set(["Initializing", "Ready", "Inactive", "Terminating", "Deleting"]);
const LIFECYCLE: ReadonlySet<string> = new Set(["Initializing", "Terminating", "Deleting"]);

function decide(asked: Asked): Verdict {
  const { question, cluster, state } = asked;
  const { user } = question;
  if (!question.isResource && question.path === "/metrics") return next("shard-level path");
  if (cluster === "" || cluster.startsWith("system:")) return noOpinion("empty or system workspace");
  if (asked.deep) return next("deep SAR request");
  if (asked.in(LOGICAL_CLUSTER_ADMIN_GROUP)) return next("logical cluster admin access");
  const found = state.logicalCluster(cluster);
  if (found === undefined) return denied("LogicalCluster not found");
  const { phase } = found;
  if (!ENTERED.has(phase)) return noOpinion(() => `not permitted due to phase ${JSON.stringify(phase)}`);
  if (LIFECYCLE.has(phase) && isOfLifecycle(user)) return granted("lifecycle VW pre-authorized access");
  if (isServiceAccount(user) && isInScope(user, cluster)) return next("local service account access");
  return mayEnter(asked) ? next("user logical cluster access") : noOpinion("no verb=access permission on /");
}

/** The groups as they came: a warrant is no view's word. */
function isOfLifecycle({ groups }: User): boolean {
  return groups.some((group) => LIFECYCLE_GROUP_PREFIXES.some((prefix) => group.startsWith(prefix)));
}

const ACCESS = {
  isResource: false,
  verb: "access",
  path: "/",
  group: "",
  resource: "",
  subresource: "",
  name: "",
} as const;

/** Here, unlike behind this step, bindings of bootstrap roles have the workspace's rules of that name as well. */
function mayEnter(asked: Asked): boolean {
  const { users, state, cluster } = asked;
  const all = [...asked.policies(cluster), state.bootstrap];
  return all.some((policy) => {
    const also = all.filter((other) => other !== policy);
    return allowingGrant(policy.grants(users, "", also), ACCESS) !== undefined;
  });
}
