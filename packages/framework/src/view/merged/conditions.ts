import type { Member } from "./member.ts";
import { second } from "./member-state.ts";
import type { SourceCondition } from "./options.ts";

/** What matters most of how a source does for several streams comes first. One more that begins changes nothing. */
const WORST = ["Unreachable", "Forbidden", "Connected", "Connecting"] as const;

/** How a source does, from how it does for each stream; `since` is when it was added. */
export function conditionOf(source: string, members: readonly Member[], since: Date): SourceCondition {
  const reason = WORST.find((one) => members.some(({ state }) => state.reason === one));
  const state = members.find((member) => member.state.reason === reason)?.state;
  const status =
    reason === "Connected" ? "True" : reason === undefined || reason === "Connecting" ? "Unknown" : "False";
  return {
    source,
    type: "Reachable",
    status,
    reason: reason ?? "Unread",
    message: state?.message ?? "",
    lastTransitionTime: second(state?.since ?? since),
  };
}
