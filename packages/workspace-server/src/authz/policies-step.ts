import type { RbacPolicy } from "@virtual-workspaces/framework";
import type { Asked } from "./cluster-request.ts";
import { judged, reasonOf } from "./rbac-grants.ts";
import { granted, noOpinion, type Step, type Verdict } from "./verdict.ts";

/** What the bindings of `system:admin` give in every workspace. */
export const bootstrapPolicy: Step = {
  key: "05-bootstrap",
  decide: (asked) => judge(asked, asked.state.bootstrap, { source: "bootstrap policy", also: [] }),
};

/** What the workspace's own bindings give, of its own roles and of bootstrap roles. */
export const localPolicy: Step = {
  key: "05-local",
  decide: (asked) => ofCluster(asked, asked.state.policy(asked.cluster), "local"),
};

/** What bindings give that another shard has replicated. */
export const globalPolicy: Step = {
  key: "05-global",
  decide: (asked) => ofCluster(asked, asked.state.replicated?.(asked.cluster), "global"),
};

function ofCluster(asked: Asked, policy: RbacPolicy | undefined, kind: "local" | "global"): Verdict {
  if (asked.cluster === "") return noOpinion("empty cluster name");
  const source = `${kind} cluster ${JSON.stringify(asked.cluster)} policy`;
  return judge(asked, policy, { source, also: [asked.state.bootstrap] });
}

interface Judged {
  readonly source: string;
  /** Whose roles count as well. */
  readonly also: readonly RbacPolicy[];
}

function judge({ users, question }: Asked, policy: RbacPolicy | undefined, { source, also }: Judged): Verdict {
  const grants = policy?.grants(users, question.isResource ? question.namespace : "", also) ?? [];
  const judgement = judged([grants], question, users);
  const reason = reasonOf(source, judgement);
  return judgement.grant === undefined ? noOpinion(reason) : granted(reason);
}
