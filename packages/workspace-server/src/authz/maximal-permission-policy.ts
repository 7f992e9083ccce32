import { prefixedUser } from "@virtual-workspaces/kcp";
import type { Asked } from "./cluster-request.ts";
import { effectiveUsers } from "./effective-users.ts";
import { judged } from "./rbac-grants.ts";
import type { BoundResource } from "./authorizer-state.ts";
import { next, noOpinion, type Step, type Verdict } from "./verdict.ts";

/** What users of a bound resource may do at most, whatever roles their own workspace gives them: the exporter's word. */
export const maximalPermissionPolicy: Step = { key: "04-maxpermissionpolicy", decide };

function decide(asked: Asked): Verdict {
  const { question, state, cluster } = asked;
  if (asked.deep) return next("deep SAR request");
  const bound = question.isResource ? state.binding(cluster, question.group, question.resource) : undefined;
  if (bound === undefined) return next("no relevant binding found");
  const { reference, export: exported } = bound;
  if (exported === undefined) return next(() => `APIExport ${quoted(reference)} not found`);
  if (!exported.policy) return next(() => `no local maximum permission policy in API Export ${exportName(exported)}`);
  return judge(asked, exported);
}

/** Bindings in namespaces count of the exporter's workspace, of the bootstrap roles not. */
function judge(asked: Asked, exported: NonNullable<BoundResource["export"]>): Verdict {
  const { question, state, cluster } = asked;
  const users = effectiveUsers(prefixedUser(question.user), cluster);
  const own = asked.policies(exported.cluster);
  const sources = [...own, state.bootstrap].map((policy, at, all) =>
    policy.grants(users, at < own.length ? question.namespace : "", all.toSpliced(at, 1)),
  );
  const { grant, reason } = judged(sources, question, users);
  const told = () => `API export ${exportName(exported)} policy: ${reason()}`;
  return grant === undefined ? noOpinion(told) : next(told);
}

function quoted({ path, name }: BoundResource["reference"]): string {
  return `${JSON.stringify(path)}:${JSON.stringify(name)}`;
}

function exportName({ cluster, name }: { readonly cluster: string; readonly name: string }): string {
  return `${JSON.stringify(cluster)}|${JSON.stringify(name)}`;
}
