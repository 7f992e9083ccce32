import { type Ask, type Breakage, type JsonObject, refusal, rewritten, sent } from "./breakage.ts";

const collects = true;
const ABSENT = "00000000-0000-4000-8000-00000000000a";
const ANOTHER = "00000000-0000-4000-8000-00000000000b";

/** Replaces the propagation policy of a delete. */
const mistaking = (policy: string, propagationPolicy: string): NonNullable<Breakage["body"]> =>
  sent((it) => (it["propagationPolicy"] === policy ? { ...it, propagationPolicy } : it));

/** Removes matching owner references from created objects. */
const forgettingOwners = (is: (uid: string, ask: Ask) => boolean): NonNullable<Breakage["body"]> =>
  sent((it, ask) => {
    const { ownerReferences, ...metadata } = (it["metadata"] ?? {}) as JsonObject;
    const [owner] = (ownerReferences ?? []) as readonly { readonly uid: string }[];
    return owner !== undefined && ask.method === "POST" && is(owner.uid, ask) ? { ...it, metadata } : it;
  });

/** Faults of garbage collection and namespace deletion. */
export const garbageBreakages: readonly Breakage[] = [
  { name: "leaves dependents of a deleted owner", fails: ["T10.9"], collects, body: mistaking("Background", "Orphan") },
  {
    name: "does not wait for blocking dependents",
    fails: ["T10.10"],
    collects,
    body: mistaking("Foreground", "Background"),
  },
  { name: "deletes orphans", fails: ["T10.11"], collects, body: mistaking("Orphan", "Background") },
  {
    name: "keeps objects whose owners never existed",
    fails: ["T10.12"],
    collects,
    body: forgettingOwners((uid) => uid === ABSENT),
  },
  {
    name: "identifies owners by name",
    fails: ["T10.13"],
    collects,
    body: forgettingOwners((uid) => uid === ANOTHER),
  },
  {
    name: "accepts owners in other namespaces",
    fails: ["T10.14"],
    collects,
    body: forgettingOwners((_, { path }) => !path.includes("/namespaces/default/")),
  },
  {
    name: "omits the cause when a namespace rejects objects",
    fails: ["T10.15"],
    collects,
    reply: (reply, { method }) => (method === "POST" && reply.status === 403 ? refusal(403, "Forbidden") : reply),
  },
  {
    name: "never shows a namespace as Terminating",
    fails: ["T10.15"],
    collects,
    reply: (reply, { path }) =>
      /\/namespaces\/[^/]+$/.test(path) && reply.status === 200
        ? rewritten(reply, (it) => ({ ...it, status: { phase: "Active" } }))
        : reply,
  },
];
