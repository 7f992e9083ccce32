import type { DecisionAnnotations } from "@virtual-workspaces/framework";
import type { Asked } from "./cluster-request.ts";
import { content } from "./workspace-content-step.ts";
import { maximalPermissionPolicy } from "./maximal-permission-policy.ts";
import { bootstrapPolicy, globalPolicy, localPolicy } from "./policies-step.ts";
import { requiredGroups } from "./required-groups.ts";
import { systemCrds } from "./system-crds.ts";
import { type Step, textOf, type Verdict } from "./verdict.ts";

/** kcp's order, outermost first. Each of these passes on, decides, or has no opinion, which ends it. */
const GUARDS: readonly Step[] = [requiredGroups, content, systemCrds, maximalPermissionPolicy];
/** Of these the first that allows decides. */
const POLICIES: readonly Step[] = [bootstrapPolicy, localPolicy, globalPolicy];

/** What the chain decided, and how. */
export class Outcome {
  readonly decision: "Allowed" | "Denied" | "NoOpinion";
  readonly #said: readonly Said[];

  constructor(decision: Outcome["decision"], said: readonly Said[]) {
    this.decision = decision;
    this.#said = said;
  }

  /** What kcp writes into audit events. @param domain `request.auth.kcp.io`, of SubjectAccessReviews `sar.auth.kcp.io` */
  annotations(domain: string): DecisionAnnotations {
    return Object.fromEntries(
      this.#said.flatMap(({ key, verdict: { decision, reason } }) => [
        [`${domain}/${key}-decision`, decision === "next" ? this.decision : decision],
        [`${domain}/${key}-reason`, decision === "next" ? `delegating due to ${textOf(reason)}` : textOf(reason)],
      ]),
    );
  }
}

interface Said {
  readonly key: string;
  readonly verdict: Verdict;
}

/** Whether the steps that guard a logical cluster as a whole let somebody in, whatever they may do there. @throws what the state throws */
export function letsIn(asked: Asked): boolean {
  return [requiredGroups, content].every(({ decide }) => {
    const { decision } = decide(asked);
    return decision === "next" || decision === "Allowed";
  });
}

/** Asks the steps. @throws what the state throws */
export function askChain(asked: Asked): Outcome {
  const said: Said[] = [];
  for (const { key, decide } of GUARDS) {
    const verdict = decide(asked);
    said.push({ key, verdict });
    if (verdict.decision !== "next") return new Outcome(verdict.decision, said);
  }
  for (const { key, decide } of POLICIES) {
    const verdict = decide(asked);
    said.push({ key, verdict });
    if (verdict.decision === "Allowed") return new Outcome("Allowed", said);
  }
  return new Outcome("NoOpinion", said);
}
