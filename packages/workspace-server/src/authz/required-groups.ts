import {
  BOOTSTRAPPER_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  isServiceAccount,
  KCP_ADMIN_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
} from "@virtual-workspaces/kcp";
import type { Asked } from "./cluster-request.ts";
import { denied, next, noOpinion, type Step, type Verdict } from "./verdict.ts";

/** Who may enter a workspace whose administrators want their users to be in certain groups. */
export const requiredGroups: Step = { key: "01-requiredgroups", decide };

function decide(asked: Asked): Verdict {
  if (asked.deep) return next("deep SAR request");
  if (asked.cluster === "") return noOpinion("empty cluster name");
  if (asked.in(LOGICAL_CLUSTER_ADMIN_GROUP)) return next("logical cluster admin access");
  if (isServiceAccount(asked.question.user)) return next("service account access to logical cluster");
  const found = asked.state.logicalCluster(asked.cluster);
  if (found === undefined) return noOpinion("logical cluster not found");
  if (asked.in(EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP)) return next("external logical cluster admin access");
  const { requiredGroups: value } = found;
  if (value === undefined) return next("logical cluster does not require groups");
  const clauses = [...value.split(";"), KCP_ADMIN_GROUP, BOOTSTRAPPER_GROUP];
  const holds = clauses.some((clause) => clause.split(",").every((group) => asked.in(group)));
  return holds
    ? next(() => `user is member of required groups: ${value}`)
    : denied(() => `user is not a member of required groups: ${value}`);
}
