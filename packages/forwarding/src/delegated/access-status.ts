import type { JsonObject } from "@virtual-workspaces/apimachinery";
import { allow, type Decision } from "@virtual-workspaces/framework";
import { ReviewFailure } from "./review-failure.ts";

/** The longest reason that is shown. */
const LONGEST = 500;

export interface ReadTerms {
  readonly from: string;
  readonly showReason: boolean;
}

/** @throws ReviewFailure on a status that says neither yes nor no, or both */
export function decisionOf(status: JsonObject, { from, showReason }: ReadTerms): Decision {
  const { allowed, denied = false, reason = "" } = status;
  const failure = (text: string): ReviewFailure =>
    new ReviewFailure(`${from}: a SubjectAccessReview was answered that decides nothing: ${text}`, {
      transient: false,
    });
  if (typeof allowed !== "boolean") throw failure("allowed is neither true nor false");
  if (typeof denied !== "boolean") throw failure("denied is neither true nor false");
  if (allowed && denied) throw failure("it is both allowed and denied");
  if (allowed) return allow();
  const text = showReason && typeof reason === "string" ? reason.slice(0, LONGEST) : "";
  return denied ? { allowed: false, reason: text, final: true } : { allowed: false, reason: text };
}
