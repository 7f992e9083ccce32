import type { ClusterRequest } from "./cluster-request.ts";

/** For auditors, as kcp words it; made when it is read, since most never are. */
export type Reason = string | (() => string);

/** What one step says: it decides, has no opinion, or leaves it to the next. */
export interface Verdict {
  readonly decision: "Allowed" | "Denied" | "NoOpinion" | "next";
  readonly reason: Reason;
}

/** One link of the chain. @throws what the state throws */
export interface Step {
  /** As audit annotations name it. */
  readonly key: string;
  readonly decide: (asked: ClusterRequest) => Verdict;
}

/** Yes. */
export function granted(reason: Reason): Verdict {
  return { decision: "Allowed", reason };
}

/** No, whoever else might say yes. */
export function denied(reason: Reason): Verdict {
  return { decision: "Denied", reason };
}

/** Not by this. */
export function noOpinion(reason: Reason): Verdict {
  return { decision: "NoOpinion", reason };
}

/** Nothing against it: the steps behind it decide. */
export function next(why: Reason): Verdict {
  return { decision: "next", reason: why };
}

export function textOf(reason: Reason): string {
  return typeof reason === "string" ? reason : reason();
}
